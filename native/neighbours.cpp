#include "neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "view_layout.hpp"
#include "view_search.hpp"

namespace planewise {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// So few queries are answered sooner by looking at every row than by sorting columns first.
constexpr std::size_t few_queries = 32;

struct Neighbour {
    float distance;
    std::int32_t row;
    bool operator<(const Neighbour &other) const {
        return distance != other.distance ? distance < other.distance : row < other.row;
    }
};

// The k nearest so far.
class Nearest {
  public:
    void reset(std::size_t k) {
        list_.assign(k, {infinity, -1});
        reach_ = infinity;
    }
    // No row with a larger squared distance can be one of them. Squares that differ may have equal roots, which are a
    // tie for the lower row: hence a little more than the square of the last one.
    float reach() const { return reach_; }
    void consider(float square, std::int32_t row) {
        const Neighbour candidate{std::sqrt(square), row};
        if (!(candidate < list_.back())) return;
        std::size_t at = list_.size() - 1;
        for (; at > 0 && candidate < list_[at - 1]; --at) list_[at] = list_[at - 1];
        list_[at] = candidate;
        const double last = list_.back().distance;
        reach_ = std::nextafter(static_cast<float>(std::min(last * last * (1 + 1e-6), 3e38)), infinity);
        if (list_.back().row < 0) reach_ = infinity;
    }
    void write(std::int32_t *row, float *distance) const {
        for (const Neighbour &neighbour : list_) {
            *row++ = neighbour.row;
            *distance++ = neighbour.distance;
        }
    }

  private:
    std::vector<Neighbour> list_;
    float reach_ = infinity;
};

// NaN if either lacks a value.
float squared_distance(const Points &points, const std::int32_t *column, std::size_t dimensions, const float *a,
                       const float *b) {
    float sum = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
        const std::int32_t j = column[d];
        const float differ = points.difference_of_categories(static_cast<std::size_t>(j));
        float difference = a[j] - b[j];
        if (differ > 0 && difference == difference) difference = difference != 0 ? differ : 0.0f;
        sum += difference * difference;
    }
    return sum;
}

void look_at_every_row(const Points &points, const std::int32_t *label, const Views &views,
                       const ClassNeighbours &wanted, Threads &threads, const Pause &pause) {
    threads.each(views.count() * wanted.queries, [&](std::size_t piece, int thread) {
        if (thread == 0) pause();
        const std::size_t v = piece / wanted.queries, q = piece % wanted.queries;
        const float *query = wanted.query + q * points.columns;
        std::vector<Nearest> lists(wanted.classes);
        for (Nearest &list : lists) list.reset(wanted.k);
        for (std::size_t i = 0; i < points.rows; ++i) {
            Nearest &list = lists[static_cast<std::size_t>(label ? label[i] : 0)];
            const float square = squared_distance(points, views.columns(v), views.dimensions(v), query, points.row(i));
            const auto row = static_cast<std::int32_t>(i);
            if (square <= list.reach() && !(wanted.exclude && wanted.exclude[q] == row)) list.consider(square, row);
        }
        std::size_t at = piece * wanted.classes * wanted.k;
        for (const Nearest &list : lists) {
            list.write(wanted.row + at, wanted.distance + at);
            at += wanted.k;
        }
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

// Rows of one class; results go to its place among the classes.
void search_class(const Points &points, std::vector<std::int32_t> members, std::size_t which, const Views &views,
                  const ClassNeighbours &wanted, Threads &threads, const Pause &pause) {
    SortedColumns rows(points, nullptr, std::move(members));
    rows.sort(views.column, threads, pause);
    std::vector<Workspace> workspaces(static_cast<std::size_t>(threads.count()));
    // Few views are cut, so that all threads have work; each share lays its view out again.
    const std::size_t shares = std::min(shares_of_views(views.count(), threads), wanted.queries / few_queries);
    threads.each(views.count() * shares, [&](std::size_t piece, int thread) {
        const std::size_t v = piece / shares, share = piece % shares, dimensions = views.dimensions(v);
        Workspace &work = workspaces[static_cast<std::size_t>(thread)];
        work.view.arrange(rows, views.columns(v), dimensions, wanted.k + 1);  // one of them may be excluded
        work.query.resize(dimensions);
        for (std::size_t q = wanted.queries * share / shares; q < wanted.queries * (share + 1) / shares; ++q) {
            if (thread == 0 && q % 1024 == 0) pause();
            bool complete = true;
            for (std::size_t d = 0; d < dimensions; ++d) {
                work.query[d] = wanted.query[q * points.columns + static_cast<std::size_t>(views.columns(v)[d])];
                complete &= work.query[d] == work.query[d];
            }
            work.list.reset(wanted.k);
            if (complete) work.find(rows, wanted.exclude ? wanted.exclude[q] : -1);
            const std::size_t at = ((v * wanted.queries + q) * wanted.classes + which) * wanted.k;
            work.list.write(wanted.row + at, wanted.distance + at);
        }
    });
}

}  // namespace

void class_neighbours(const Points &points, const std::int32_t *label, const Views &views,
                      const ClassNeighbours &wanted, Threads &threads, const Pause &pause) {
    if (wanted.queries <= few_queries) return look_at_every_row(points, label, views, wanted, threads, pause);
    std::vector<std::vector<std::int32_t>> members(wanted.classes);
    for (std::size_t i = 0; i < points.rows; ++i)
        members[static_cast<std::size_t>(label ? label[i] : 0)].push_back(static_cast<std::int32_t>(i));
    for (std::size_t c = 0; c < wanted.classes; ++c)
        search_class(points, std::move(members[c]), c, views, wanted, threads, pause);
}

}  // namespace planewise
