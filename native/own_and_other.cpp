#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dispatch.hpp"
#include "leaf_search.hpp"
#include "neighbours.hpp"
#include "point_layout.hpp"

namespace planewise {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float missing = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t lanes = ViewLayout::leaf_size;
constexpr auto bit = [](std::int32_t label) { return std::uint64_t{1} << (static_cast<std::uint32_t>(label) & 63u); };

// Neighbouring points of a view that search together, one in each lane; the last one fills what is left.
struct Block {
    std::vector<float> coordinate;  // dimensions x lanes
    alignas(32) std::int32_t label[lanes], point[lanes];
    alignas(32) float same[lanes], other[lanes];  // squared distances so far
    Reach reach;
    std::uint64_t labels = 0;
    std::int32_t only = -1;  // the label of all; -1: several
    float furthest_same = infinity, furthest_other = infinity;

    void fill(const ViewLayout &view, const std::int32_t *points, std::size_t count);
};

void Block::fill(const ViewLayout &view, const std::int32_t *points, std::size_t count) {
    coordinate.resize(view.dimensions() * lanes);
    labels = 0;
    only = view.label[static_cast<std::size_t>(points[0])];
    for (std::size_t l = 0; l < lanes; ++l) {
        const auto g = static_cast<std::size_t>(point[l] = points[std::min(l, count - 1)]);
        label[l] = view.label[g];
        same[l] = view.copies[g] > 1 ? 0.0f : infinity;
        other[l] = infinity;
        labels |= bit(label[l]);
        if (label[l] != only) only = -1;
    }
    for (std::size_t d = 0; d < view.dimensions(); ++d)
        for (std::size_t l = 0; l < lanes; ++l)
            coordinate[d * lanes + l] = view.coordinate(d)[static_cast<std::size_t>(point[l])];
    for (std::size_t level = 0; level < 3; ++level) {
        if (view.axis[level] < 0) continue;
        const float *x = coordinate.data() + static_cast<std::size_t>(view.axis[level]) * lanes;
        reach.low[level] = *std::min_element(x, x + lanes);
        reach.high[level] = *std::max_element(x, x + lanes);
    }
    furthest_same = *std::max_element(same, same + lanes);
    furthest_other = infinity;
}

// By halves, which takes a fourth of the steps in a row.
PLANEWISE_INLINE float largest(const float *lane) {
    float half[lanes / 2];
    for (std::size_t l = 0; l < lanes / 2; ++l) half[l] = std::max(lane[l], lane[l + lanes / 2]);
    for (std::size_t width = lanes / 4; width > 0; width /= 2)
        for (std::size_t l = 0; l < width; ++l) half[l] = std::max(half[l], half[l + width]);
    return half[0];
}

constexpr std::size_t any = 0;

// Squared distances of every lane to a point, in any number of dimensions, categories among them.
PLANEWISE_INLINE void find_squares(const ViewLayout &view, std::size_t point, const float *query, float *square) {
    float sum[lanes] = {};
    for (std::size_t d = 0; d < view.dimensions(); ++d) {
        const float x = view.coordinate(d)[point], differ = view.differ[d];
        const float *along = query + d * lanes;
        if (view.any_categories && differ > 0) {
            PLANEWISE_LANES for (std::size_t l = 0; l < lanes; ++l) sum[l] += along[l] != x ? differ * differ : 0.0f;
        } else {
            PLANEWISE_LANES for (std::size_t l = 0; l < lanes; ++l) sum[l] += (along[l] - x) * (along[l] - x);
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) square[l] = sum[l];
}

// Every lane of a block against the points of a leaf, begin .. end-1.
template <std::size_t DIMENSIONS, bool SELF>
PLANEWISE_INLINE void compare(const ViewLayout &view, std::size_t begin, std::size_t end, Block &block) {
    float same[lanes], other[lanes];  // of these points alone; kept in registers
    std::fill_n(same, lanes, infinity);
    std::fill_n(other, lanes, infinity);
    const std::int32_t *label = block.label, *point = block.point;
    const float *query = block.coordinate.data();
    const float *reference[DIMENSIONS == any ? 1 : DIMENSIONS];
    for (std::size_t d = 0; d < DIMENSIONS; ++d) reference[d] = view.coordinate(d);
    for (std::size_t r = begin; r < end; ++r) {
        float square[lanes];
        if (DIMENSIONS == any) find_squares(view, r, query, square);
        const std::int32_t own = view.label[r];
        for (std::size_t l = 0; l < lanes; ++l) {
            float far = DIMENSIONS == any ? square[l] : 0.0f;
            for (std::size_t d = 0; d < DIMENSIONS; ++d) {
                const float difference = query[d * lanes + l] - reference[d][r];
                far = d == 0 ? difference * difference : far + difference * difference;
            }
            if (SELF) far = point[l] == static_cast<std::int32_t>(r) ? infinity : far;
            const float if_same = label[l] == own ? far : infinity, if_other = label[l] == own ? infinity : far;
            same[l] = if_same < same[l] ? if_same : same[l];
            other[l] = if_other < other[l] ? if_other : other[l];
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) {
        block.same[l] = std::min(block.same[l], same[l]);
        block.other[l] = std::min(block.other[l], other[l]);
    }
    block.furthest_same = largest(block.same);
    block.furthest_other = largest(block.other);
}

using Comparison = void (*)(const ViewLayout &, std::size_t, std::size_t, Block &);
#define PLANEWISE_COMPARISON(name, dimensions, self)                                                       \
    PLANEWISE_CLONES void name(const ViewLayout &view, std::size_t begin, std::size_t end, Block &block) { \
        compare<dimensions, self>(view, begin, end, block);                                                \
    }
PLANEWISE_COMPARISON(compare_any, any, false)
PLANEWISE_COMPARISON(compare_1, 1, false)
PLANEWISE_COMPARISON(compare_2, 2, false)
PLANEWISE_COMPARISON(compare_3, 3, false)
PLANEWISE_COMPARISON(compare_any_self, any, true)
PLANEWISE_COMPARISON(compare_1_self, 1, true)
PLANEWISE_COMPARISON(compare_2_self, 2, true)
PLANEWISE_COMPARISON(compare_3_self, 3, true)
#undef PLANEWISE_COMPARISON

void search(const ViewLayout &view, Block &block) {
    constexpr Comparison others[] = {compare_any, compare_1, compare_2, compare_3};
    constexpr Comparison itself[] = {compare_any_self, compare_1_self, compare_2_self, compare_3_self};
    const std::size_t kind = view.any_categories || view.dimensions() > 3 ? any : view.dimensions();
    const Boxes &leaves = view.boxes[ViewLayout::leaf];
    const auto first = static_cast<std::size_t>(block.point[0]),
               last = static_cast<std::size_t>(block.point[lanes - 1]);
    walk(
        view, block.reach, [&](float gap) { return gap < block.furthest_same || gap < block.furthest_other; },
        [&](std::size_t leaf, float gap) {
            const bool may_be_same = gap < block.furthest_same && (view.leaf_labels[leaf] & block.labels) != 0;
            const bool may_be_other =
                gap < block.furthest_other && (block.only < 0 || view.leaf_only[leaf] != block.only);
            if (!may_be_same && !may_be_other) return;
            const std::size_t begin = leaves.start[leaf], end = leaves.start[leaf + 1];
            (first < end && begin <= last ? itself : others)[kind](view, begin, end, block);
        });
}

// The k smallest, rising.
struct Smallest {
    std::vector<float> value;
    void reset(std::size_t k) { value.assign(k, infinity); }
    float last() const { return value.back(); }
    void insert(float x, std::int32_t times) {
        for (; times > 0 && x < value.back(); --times) {
            std::size_t at = value.size() - 1;
            for (; at > 0 && value[at - 1] > x; --at) value[at] = value[at - 1];
            value[at] = x;
        }
    }
};

void search(const ViewLayout &view, std::size_t point, Smallest &same, Smallest &other, std::vector<float> &query) {
    query.resize(view.dimensions());
    for (std::size_t d = 0; d < view.dimensions(); ++d) query[d] = view.coordinate(d)[point];
    const std::int32_t own = view.label[point];
    same.insert(0.0f, view.copies[point] - 1);
    const Boxes &leaves = view.boxes[ViewLayout::leaf];
    walk(
        view, reach_of(view, query.data()), [&](float gap) { return gap < same.last() || gap < other.last(); },
        [&](std::size_t leaf, float gap) {
            const bool may_be_same = gap < same.last() && (view.leaf_labels[leaf] & bit(own)) != 0;
            const bool may_be_other = gap < other.last() && view.leaf_only[leaf] != own;
            if (!may_be_same && !may_be_other) return;
            const std::size_t begin = leaves.start[leaf], count = leaves.start[leaf + 1] - begin;
            float square[lanes];
            leaf_squares(view, leaf, query.data(), square);
            for (std::size_t l = 0; l < count; ++l) {
                Smallest &list = view.label[begin + l] == own ? same : other;
                if (square[l] < list.last() && begin + l != point) list.insert(square[l], view.copies[begin + l]);
            }
        });
}

// All that one thread needs for a view, kept from view to view.
struct Workspace {
    ViewLayout view;
    Block block;
    Smallest same_list, other_list;
    std::vector<float> query, same, other;
    std::vector<std::int32_t> wanted;

    void answer(const std::vector<std::int32_t> &queries, std::size_t k, std::size_t share, std::size_t shares,
                float *same_out, float *other_out);
    void search_together();
    void search_alone(std::size_t k);
};

void Workspace::search_together() {
    const Boxes &strips = view.boxes[ViewLayout::strip], &leaves = view.boxes[ViewLayout::leaf];
    std::size_t at = 0;
    for (std::size_t strip = 0; strip < strips.count(); ++strip) {
        const std::size_t end_of_strip = leaves.start[strips.start[strip + 1]];
        while (at < wanted.size() && static_cast<std::size_t>(wanted[at]) < end_of_strip) {
            std::size_t count = 1;
            while (count < lanes && at + count < wanted.size() &&
                   static_cast<std::size_t>(wanted[at + count]) < end_of_strip)
                ++count;
            block.fill(view, wanted.data() + at, count);
            search(view, block);
            for (std::size_t l = 0; l < count; ++l) {
                const auto g = static_cast<std::size_t>(wanted[at + l]);
                same[g] = block.same[l];
                other[g] = block.other[l];
            }
            at += count;
        }
    }
}

void Workspace::search_alone(std::size_t k) {
    for (const std::int32_t point : wanted) {
        const auto g = static_cast<std::size_t>(point);
        same_list.reset(k);
        other_list.reset(k);
        search(view, g, same_list, other_list, query);
        same[g] = same_list.last();
        other[g] = other_list.last();
    }
}

// For those queries that are among a share of the points of a view that is laid out.
void Workspace::answer(const std::vector<std::int32_t> &queries, std::size_t k, std::size_t share, std::size_t shares,
                       float *same_out, float *other_out) {
    const std::size_t first = view.points() * share / shares, last = view.points() * (share + 1) / shares;
    same.assign(view.points(), missing);
    other.resize(view.points());
    for (const std::int32_t q : queries) {
        const std::int32_t g = view.point_of_row[static_cast<std::size_t>(q)];
        if (g >= 0) same[static_cast<std::size_t>(g)] = 0;
    }
    wanted.clear();
    for (std::size_t g = first; g < last; ++g)
        if (same[g] == same[g]) wanted.push_back(static_cast<std::int32_t>(g));
    if (k == 1 && 4 * wanted.size() >= last - first)
        search_together();
    else
        search_alone(k);
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const std::int32_t point = view.point_of_row[static_cast<std::size_t>(queries[q])];
        const auto g = static_cast<std::size_t>(point);
        if (point < 0) {
            if (share == 0) same_out[q] = other_out[q] = missing;
        } else if (g >= first && g < last) {
            same_out[q] = std::sqrt(same[g]);
            other_out[q] = std::sqrt(other[g]);
        }
    }
}

}  // namespace

OwnAndOther::OwnAndOther(const Points &points, const std::int32_t *label) {
    std::vector<std::int32_t> all(points.rows);
    std::iota(all.begin(), all.end(), 0);
    rows_ = std::make_unique<SortedColumns>(points, label, std::move(all));
}

OwnAndOther::~OwnAndOther() = default;

void OwnAndOther::distances(const Views &views, const std::vector<std::int32_t> &queries, std::size_t k, float *same,
                            float *other, Threads &threads, const Pause &pause) {
    rows_->sort(views.column, threads, pause);
    std::vector<Workspace> workspaces(static_cast<std::size_t>(threads.count()));
    // Few views are cut, so that all threads have work; each share lays its view out again.
    const std::size_t shares = shares_of_views(views.count(), threads);
    threads.each(views.count() * shares, Threads::large, [&](std::size_t piece, int thread) {
        if (thread == 0) pause();
        const std::size_t v = piece / shares;
        Workspace &work = workspaces[static_cast<std::size_t>(thread)];
        work.view.arrange(*rows_, views.columns(v), views.dimensions(v), 0);
        work.answer(queries, k, piece % shares, shares, same + v * queries.size(), other + v * queries.size());
    });
}

}  // namespace planewise
