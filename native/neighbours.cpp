#include "neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "leaf_search.hpp"
#include "point_layout.hpp"

namespace planewise {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The k nearest so far, by distance and then by row: kept as whole numbers in that order, for distances are not
// negative and the bits of such floats rise with them. Twice as many are gathered before the further half is dropped:
// putting each into its place would cost more than all distances.
class Nearest {
  public:
    void reset(std::size_t k) {
        k_ = k;
        keys_.clear();
        reach_ = infinity;
    }
    // No row with a larger squared distance can be one of them. Squares that differ may have equal roots, which are a
    // tie for the lower row: hence a little more than the square of the last one.
    float reach() const { return reach_; }
    void consider(float square, std::int32_t row) {
        keys_.push_back(static_cast<std::uint64_t>(bits_of(std::sqrt(square))) << 32 | static_cast<std::uint32_t>(row));
        if (keys_.size() < 2 * k_) return;
        drop_further();
        const double last = distance_of(keys_[k_ - 1]);
        reach_ = std::nextafter(static_cast<float>(std::min(last * last * (1 + 1e-6), 3e38)), infinity);
    }
    void write(std::int32_t *row, float *distance) {
        drop_further();
        std::sort(keys_.begin(), keys_.end());
        for (std::size_t i = 0; i < k_; ++i) {
            row[i] = i < keys_.size() ? row_of(keys_[i]) : -1;
            distance[i] = i < keys_.size() ? distance_of(keys_[i]) : infinity;
        }
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
    static std::int32_t row_of(std::uint64_t key) { return static_cast<std::int32_t>(key & 0xffffffffu); }
    void drop_further() {
        if (keys_.size() <= k_) return;
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), keys_.end());
        keys_.resize(k_);
    }

    std::vector<std::uint64_t> keys_;
    std::size_t k_ = 1;
    float reach_ = infinity;
};

// What is searched for: k nearest rows of each class, at most, to queries that are complete rows of the table's width.
struct Wanted {
    const float *query;
    std::size_t queries;
    const std::int32_t *exclude;
    std::size_t classes, k;
};

// Calls answer(view, query, class, list) for each of them.
template <class Answer>
void look_at_every_row(const Points &points, const std::int32_t *label, const Views &views, const Wanted &wanted,
                       Threads &threads, const Pause &pause, Answer answer) {
    threads.each(views.count() * wanted.queries, 4 * views.count() * wanted.queries * points.rows,
                 [&](std::size_t piece, int thread) {
                     if (thread == 0) pause();
                     const std::size_t v = piece / wanted.queries, q = piece % wanted.queries;
                     const float *query = wanted.query + q * points.columns;
                     std::vector<Nearest> lists(wanted.classes);
                     for (Nearest &list : lists) list.reset(wanted.k);
                     for (std::size_t i = 0; i < points.rows; ++i) {
                         Nearest &list = lists[static_cast<std::size_t>(label ? label[i] : 0)];
                         const float square =
                             squared_distance(points, views.columns(v), views.dimensions(v), query, points.row(i));
                         const auto row = static_cast<std::int32_t>(i);
                         if (square <= list.reach() && !(wanted.exclude && wanted.exclude[q] == row))
                             list.consider(square, row);
                     }
                     for (std::size_t c = 0; c < wanted.classes; ++c) answer(v, q, c, lists[c]);
                 });
}

// All that one thread needs for a view, kept from view to view.
struct Workspace {
    ViewLayout view;
    Nearest list;
    std::vector<float> query;

    void find(const SortedColumns &rows, std::int32_t exclude) {
        const Boxes &leaves = view.boxes[ViewLayout::leaf];
        float square[ViewLayout::leaf_size];
        walk(
            view, reach_of(view, query.data()), [&](float gap) { return gap <= list.reach(); },
            [&](std::size_t leaf, float) {
                leaf_squares(view, leaf, query.data(), square);
                const std::size_t begin = leaves.start[leaf], count = leaves.start[leaf + 1] - begin;
                for (std::size_t l = 0; l < count; ++l) {
                    if (!(square[l] <= list.reach())) continue;
                    const std::int32_t row = rows.row(view.row[begin + l]);
                    if (row != exclude) list.consider(square[l], row);
                }
            });
    }
};

// The same with the rows of one class laid out in each view.
template <class Answer>
void search_class(SortedColumns &rows, std::size_t which, const Views &views, const Wanted &wanted, Threads &threads,
                  const Pause &pause, Answer answer) {
    const std::size_t columns = rows.points().columns;
    rows.sort(views.column, threads, pause);
    std::vector<Workspace> workspaces(static_cast<std::size_t>(threads.count()));
    // Few views are cut, so that all threads have work; each share lays its view out again.
    const std::size_t shares = std::min(shares_of_views(views.count(), threads), wanted.queries / few_queries);
    threads.each(views.count() * shares, Threads::large, [&](std::size_t piece, int thread) {
        const std::size_t v = piece / shares, share = piece % shares, dimensions = views.dimensions(v);
        Workspace &work = workspaces[static_cast<std::size_t>(thread)];
        work.view.arrange(rows, views.columns(v), dimensions, wanted.k + 1);  // one of them may be excluded
        work.query.resize(dimensions);
        for (std::size_t q = wanted.queries * share / shares; q < wanted.queries * (share + 1) / shares; ++q) {
            if (thread == 0 && q % 1024 == 0) pause();
            bool complete = true;
            for (std::size_t d = 0; d < dimensions; ++d) {
                work.query[d] = wanted.query[q * columns + static_cast<std::size_t>(views.columns(v)[d])];
                complete &= work.query[d] == work.query[d];
            }
            work.list.reset(wanted.k);
            if (complete) work.find(rows, wanted.exclude ? wanted.exclude[q] : -1);
            answer(v, q, which, work.list);
        }
    });
}

}  // namespace

void class_neighbours(const Points &points, const std::int32_t *label, const Views &views,
                      const ClassNeighbours &wanted, Threads &threads, const Pause &pause) {
    const Wanted search{wanted.query, wanted.queries, wanted.exclude, wanted.classes, wanted.k};
    const auto write = [&](std::size_t v, std::size_t q, std::size_t c, Nearest &list) {
        const std::size_t at = ((v * wanted.queries + q) * wanted.classes + c) * wanted.k;
        list.write(wanted.row + at, wanted.distance + at);
    };
    if (wanted.queries <= few_queries) return look_at_every_row(points, label, views, search, threads, pause, write);
    std::vector<std::vector<std::int32_t>> members(wanted.classes);
    for (std::size_t i = 0; i < points.rows; ++i)
        members[static_cast<std::size_t>(label ? label[i] : 0)].push_back(static_cast<std::int32_t>(i));
    for (std::size_t c = 0; c < wanted.classes; ++c) {
        SortedColumns rows(points, nullptr, std::move(members[c]));
        search_class(rows, c, views, search, threads, pause, write);
    }
}

}  // namespace planewise
