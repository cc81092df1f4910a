#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "leaf_search.hpp"
#include "neighbours.hpp"
#include "point_layout.hpp"

namespace planewise {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// Distances that differ by less are equal: values on a grid are no longer exactly so once they are standardised.
constexpr float equal_from = 1 - 1e-5f, equal_to = 1 + 1e-5f;

// The points of the k nearest rows so far and all that are as far away as the last of them, as whole numbers that rise
// with the distance. Twice as many rows are gathered before the further ones are dropped.
class NearestAndTied {
  public:
    // single: every point is one row.
    void reset(std::size_t k, bool single) {
        k_ = k;
        single_ = single;
        rows_ = 0;
        room_ = 2 * k;
        keys_.clear();
        reach_ = infinity;
    }
    // No point with a larger squared distance can be one of them.
    float reach() const { return reach_; }
    // rows_of(point) is how many rows are there.
    template <class RowsOf>
    void consider(float square, std::size_t point, RowsOf rows_of) {
        keys_.push_back(static_cast<std::uint64_t>(bits_of(std::sqrt(square))) << 32 | point);
        rows_ += single_ ? 1 : rows_of(point);
        if (rows_ < room_) return;
        const double last = equal_to * static_cast<double>(drop_further(rows_of));
        reach_ = std::nextafter(static_cast<float>(std::min(last * last * (1 + 1e-6), 3e38)), infinity);
        room_ = rows_ + std::max(k_, keys_.size());
    }
    // Keeps the points of the k nearest rows and those as far away as the last, whose distance is the answer: infinite
    // if there are fewer.
    template <class RowsOf>
    float drop_further(RowsOf rows_of) {
        if (rows_ < k_) return infinity;
        std::size_t at = k_ - 1;
        if (single_) {
            std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(at), keys_.end());
        } else {
            std::sort(keys_.begin(), keys_.end());
            at = 0;
            for (std::size_t found = rows_of(point_of(keys_[0])); found < k_;) found += rows_of(point_of(keys_[++at]));
        }
        const float last = distance_of(keys_[at]), most = last * equal_to;
        const auto further = std::remove_if(keys_.begin() + static_cast<std::ptrdiff_t>(at + 1), keys_.end(),
                                            [&](std::uint64_t key) { return distance_of(key) > most; });
        keys_.erase(further, keys_.end());
        rows_ = keys_.size();
        if (!single_) {
            rows_ = 0;
            for (const std::uint64_t key : keys_) rows_ += rows_of(point_of(key));
        }
        return last;
    }
    // visit(distance, point) for each, in no particular order.
    template <class Visit>
    void each(Visit visit) const {
        for (const std::uint64_t key : keys_) visit(distance_of(key), point_of(key));
    }

  private:
    static std::uint32_t bits_of(float distance) {
        std::uint32_t bits;
        std::memcpy(&bits, &distance, sizeof bits);
        return bits;
    }
    static float distance_of(std::uint64_t key) {
        const auto bits = static_cast<std::uint32_t>(key >> 32);
        float distance;
        std::memcpy(&distance, &bits, sizeof distance);
        return distance;
    }
    static std::size_t point_of(std::uint64_t key) { return key & 0xffffffffu; }

    std::vector<std::uint64_t> keys_;
    std::size_t k_ = 1, rows_ = 0, room_ = 2;
    bool single_ = true;
    float reach_ = infinity;
};

// The rows around a query: how many, and the weights of the labels.
struct Tally {
    std::vector<std::int64_t> nearer, tied;
    std::size_t n_nearer = 0, n_tied = 0;

    void reset(std::size_t labels) {
        nearer.assign(labels, 0);
        tied.assign(labels, 0);
        n_nearer = n_tied = 0;
    }
    void add(bool is_tied, std::size_t label, std::size_t rows, std::int64_t weight) {
        (is_tied ? n_tied : n_nearer) += rows;
        (is_tied ? tied : nearer)[label] += weight;
    }
    std::size_t found() const { return n_nearer + n_tied; }
    // Of each row at the k-th distance, how much counts.
    double share(std::size_t k) const {
        return n_tied == 0 ? 0.0 : static_cast<double>(k - n_nearer) / static_cast<double>(n_tied);
    }
};

// A point that was found: one row of the table, or all rows of a label at one place of a view.
struct Gathered {
    std::size_t label, rows;
    std::int64_t weight;
};

// Fills the tally from what a search has gathered; about(point) says what a point is.
template <class About>
void count(NearestAndTied &list, About about, Tally &tally) {
    const float last = list.drop_further([&](std::size_t point) { return about(point).rows; });
    list.each([&](float distance, std::size_t point) {
        const Gathered each = about(point);
        tally.add(distance >= last * equal_from, each.label, each.rows, each.weight);
    });
}

// All that one thread needs, kept from query to query.
struct Workspace {
    ViewLayout view;
    std::vector<std::int64_t> weight;  // of the points of the view
    std::vector<std::int32_t> label;
    bool single = true;  // every point is one row
    NearestAndTied list;
    Tally tally;
    std::vector<float> query;

    void arrange(const SortedColumns &rows, const std::int32_t *label_of_row, const std::int32_t *column,
                 std::size_t dimensions, const std::vector<std::int64_t> &weight_of_row) {
        view.arrange(rows, column, dimensions, 0);
        label.resize(view.points());
        for (std::size_t g = 0; g < view.points(); ++g) label[g] = label_of_row[view.row[g]];
        weight.assign(view.points(), 0);
        for (std::size_t i = 0; i < weight_of_row.size(); ++i)
            if (view.point_of_row[i] >= 0) weight[static_cast<std::size_t>(view.point_of_row[i])] += weight_of_row[i];
        single = std::all_of(view.copies.begin(), view.copies.end(), [](std::int32_t copies) { return copies == 1; });
        query.resize(dimensions);
    }

    void begin(std::size_t k, std::size_t labels) {
        list.reset(k, single);
        tally.reset(labels);
    }

    // Without one row, unless it is -1.
    void find(std::int32_t exclude, const std::vector<std::int64_t> &weight_of_row) {
        constexpr auto none = static_cast<std::size_t>(-1);
        std::size_t own = none;
        if (exclude >= 0 && view.point_of_row[static_cast<std::size_t>(exclude)] >= 0)
            own = static_cast<std::size_t>(view.point_of_row[static_cast<std::size_t>(exclude)]);
        const auto rows_of = [&](std::size_t g) { return static_cast<std::size_t>(view.copies[g] - (g == own)); };
        const Boxes &leaves = view.boxes[ViewLayout::leaf];
        float square[ViewLayout::leaf_size];
        walk(
            view, reach_of(view, query.data()), [&](float gap) { return gap <= list.reach(); },
            [&](std::size_t leaf, float) {
                leaf_squares(view, leaf, query.data(), square);
                const std::size_t begin = leaves.start[leaf], size = leaves.start[leaf + 1] - begin;
                for (std::size_t l = 0; l < size; ++l)
                    if (square[l] <= list.reach() && rows_of(begin + l) > 0)
                        list.consider(square[l], begin + l, rows_of);
            });
        const auto about = [&](std::size_t g) {
            const std::int64_t left_out = g == own ? weight_of_row[static_cast<std::size_t>(exclude)] : 0;
            return Gathered{static_cast<std::size_t>(label[g]), rows_of(g), weight[g] - left_out};
        };
        count(list, about, tally);
    }
};

// The unit in which all weights together are below 2^62: a power of two, so that whole numbers stay exact.
double unit_of(const double *weight, std::size_t rows) {
    double largest = 0;
    for (std::size_t i = 0; i < rows; ++i) largest = std::max(largest, weight[i]);
    int exponent = 0;
    std::frexp(largest * static_cast<double>(rows), &exponent);
    return std::ldexp(1.0, std::clamp(exponent - 61, -1000, 1000));
}

}  // namespace

struct NearestWeights::Search {
    const float *query;  // queries x columns
    std::size_t queries;
    const std::int32_t *exclude;  // may be null
    std::size_t k;

    std::int32_t excluded(std::size_t q) const { return exclude ? exclude[q] : -1; }
};

NearestWeights::NearestWeights(const Points &points, const std::int32_t *label, const double *weight)
    : points_(points), label_(label), weight_(points.rows), unit_(unit_of(weight, points.rows)) {
    for (std::size_t i = 0; i < points.rows; ++i) {
        if (label[i] < 0) throw std::invalid_argument("labels must not be negative");
        labels_ = std::max(labels_, static_cast<std::size_t>(label[i]) + 1);
        weight_[i] = std::llround(weight[i] / unit_);
    }
}

NearestWeights::~NearestWeights() = default;

// Calls answer(view, query, tally) for each of them.
template <class Answer>
void NearestWeights::search(const Views &views, const Search &wanted, Threads &threads, const Pause &pause,
                            Answer answer) {
    if (wanted.queries <= few_queries)
        look_at_every_row(views, wanted, threads, pause, answer);
    else
        search_layouts(views, wanted, threads, pause, answer);
}

template <class Answer>
void NearestWeights::look_at_every_row(const Views &views, const Search &wanted, Threads &threads, const Pause &pause,
                                       Answer answer) {
    std::vector<Workspace> workspaces(static_cast<std::size_t>(threads.count()));
    const std::size_t pieces = views.count() * wanted.queries;
    threads.each(pieces, 4 * pieces * points_.rows, [&](std::size_t piece, int thread) {
        if (thread == 0) pause();
        const std::size_t v = piece / wanted.queries, q = piece % wanted.queries;
        const float *query = wanted.query + q * points_.columns;
        Workspace &work = workspaces[static_cast<std::size_t>(thread)];
        work.begin(wanted.k, labels_);
        for (std::size_t i = 0; i < points_.rows; ++i) {
            const float square =
                squared_distance(points_, views.columns(v), views.dimensions(v), query, points_.row(i));
            if (square <= work.list.reach() && static_cast<std::int32_t>(i) != wanted.excluded(q))
                work.list.consider(square, i, [](std::size_t) { return std::size_t{1}; });
        }
        const auto about = [&](std::size_t i) { return Gathered{static_cast<std::size_t>(label_[i]), 1, weight_[i]}; };
        count(work.list, about, work.tally);
        answer(v, q, work.tally);
    });
}

template <class Answer>
void NearestWeights::search_layouts(const Views &views, const Search &wanted, Threads &threads, const Pause &pause,
                                    Answer answer) {
    if (!rows_) {
        std::vector<std::int32_t> all(points_.rows);
        std::iota(all.begin(), all.end(), 0);
        rows_ = std::make_unique<SortedColumns>(points_, label_, std::move(all));
    }
    rows_->sort(views.column, threads, pause);
    std::vector<Workspace> workspaces(static_cast<std::size_t>(threads.count()));
    // Few views are cut, so that all threads have work; each share lays its view out again.
    const std::size_t shares = std::min(shares_of_views(views.count(), threads), wanted.queries / few_queries);
    threads.each(views.count() * shares, Threads::large, [&](std::size_t piece, int thread) {
        const std::size_t v = piece / shares, share = piece % shares, dimensions = views.dimensions(v);
        Workspace &work = workspaces[static_cast<std::size_t>(thread)];
        work.arrange(*rows_, label_, views.columns(v), dimensions, weight_);
        for (std::size_t q = wanted.queries * share / shares; q < wanted.queries * (share + 1) / shares; ++q) {
            if (thread == 0 && q % 1024 == 0) pause();
            bool complete = true;
            for (std::size_t d = 0; d < dimensions; ++d) {
                work.query[d] = wanted.query[q * points_.columns + static_cast<std::size_t>(views.columns(v)[d])];
                complete &= work.query[d] == work.query[d];
            }
            work.begin(wanted.k, labels_);
            if (complete) work.find(wanted.excluded(q), weight_);
            answer(v, q, work.tally);
        }
    });
}

void NearestWeights::own_and_other(const Views &views, const std::vector<std::int32_t> &queries, std::size_t k,
                                   float *own, float *other, Threads &threads, const Pause &pause) {
    std::vector<float> query;
    query.reserve(queries.size() * points_.columns);
    for (const std::int32_t q : queries) {
        const float *row = points_.row(static_cast<std::size_t>(q));
        query.insert(query.end(), row, row + points_.columns);
    }
    const Search wanted{query.data(), queries.size(), queries.data(), k};  // no row is its own neighbour
    search(views, wanted, threads, pause, [&](std::size_t v, std::size_t q, const Tally &tally) {
        const auto mine = static_cast<std::size_t>(label_[queries[q]]);
        std::int64_t nearer = 0, tied = 0;
        for (std::size_t label = 0; label < tally.nearer.size(); ++label)
            if (label != mine) {
                nearer += tally.nearer[label];
                tied += tally.tied[label];
            }
        const double share = tally.share(k);
        const auto sum = [&](std::int64_t whole, std::int64_t shared) {
            if (tally.found() == 0) return missing;
            return static_cast<float>(unit_ * static_cast<double>(whole) + unit_ * static_cast<double>(shared) * share);
        };
        own[v * queries.size() + q] = sum(tally.nearer[mine], tally.tied[mine]);
        other[v * queries.size() + q] = sum(nearer, tied);
    });
}

void NearestWeights::by_class(const Views &views, const ByClass &wanted, Threads &threads, const Pause &pause) {
    const Search rows{wanted.query, wanted.queries, wanted.exclude, wanted.k};
    search(views, rows, threads, pause, [&](std::size_t v, std::size_t q, const Tally &tally) {
        const std::size_t at = v * wanted.queries + q;
        wanted.nearer[at] = static_cast<std::int32_t>(tally.n_nearer);
        wanted.tied[at] = static_cast<std::int32_t>(tally.n_tied);
        double *weight = wanted.weight + at * wanted.classes;
        std::fill_n(weight, wanted.classes, 0.0);
        const double share = tally.share(wanted.k);
        for (std::size_t label = 0; label < labels_; ++label)
            weight[label] = unit_ * static_cast<double>(tally.nearer[label]) +
                            unit_ * static_cast<double>(tally.tied[label]) * share;
    });
}

}  // namespace planewise
