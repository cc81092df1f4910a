// Which leaves of a view a search has to look at: outwards from the query, as long as a nearer row may be found.
//
// Gaps between a query (or the box of several) and a box are put together by the rule of distances, in the same order,
// so that by the monotony of rounding a gap is never larger than the distance of any point in the box: nothing is lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "dispatch.hpp"
#include "point_layout.hpp"

namespace planewise {

// A query, or the box of several, along the axes of a layout.
struct Reach {
    std::array<float, 3> low{}, high{};
};

Reach reach_of(const ViewLayout &view, const float *query);

// The squared distances of a query to the points of a leaf; leaf_size numbers are written even if there are fewer.
void leaf_squares(const ViewLayout &view, std::size_t leaf, const float *query, float *square);

// So few queries are answered sooner by looking at every row than by sorting columns first.
constexpr std::size_t few_queries = 32;

// Of two rows of the table's width in a view; NaN if either lacks a value.
float squared_distance(const Points &points, const std::int32_t *column, std::size_t dimensions, const float *a,
                       const float *b);

// Into how many parts a view is cut, so that few views keep many threads busy.
inline std::size_t shares_of_views(std::size_t views, const Threads &threads) {
    const std::size_t pieces = threads.count() > 1 ? 4 * static_cast<std::size_t>(threads.count()) : 1;
    return views == 0 ? 1 : (pieces + views - 1) / views;
}

// Visits begin .. end-1 outwards from the first box that ends at or above `from`, each way until visit() says no.
template <class Visit>
PLANEWISE_INLINE void outwards(const std::vector<float> &high, std::size_t begin, std::size_t end, float from,
                               Visit visit) {
    const auto first = high.begin();
    const auto start = static_cast<std::size_t>(
        std::lower_bound(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end), from) -
        first);
    for (std::size_t k = start; k < end && visit(k); ++k) {
    }
    for (std::size_t k = start; k-- > begin && visit(k);) {
    }
}

// Calls scan(leaf, gap) for every leaf with near(gap), where gaps are squared.
template <class Near, class Scan>
PLANEWISE_INLINE void walk(const ViewLayout &view, const Reach &reach, Near near, Scan scan) {
    std::array<float, 3> term{};  // in the order of the dimensions
    const auto gap = [&](std::size_t level, std::size_t box) {
        const Boxes &boxes = view.boxes[level];
        float apart = std::max({boxes.low[box] - reach.high[level], reach.low[level] - boxes.high[box], 0.0f});
        if (view.categories[level] > 0 && apart > 0) apart = view.categories[level];
        term[static_cast<std::size_t>(view.place[level])] = apart * apart;
        return (term[0] + term[1]) + term[2];
    };
    const Boxes &slabs = view.boxes[ViewLayout::slab], &strips = view.boxes[ViewLayout::strip],
                &leaves = view.boxes[ViewLayout::leaf];
    outwards(slabs.high, 0, slabs.count(), reach.low[0], [&](std::size_t slab) {
        if (!near(gap(0, slab))) return false;
        outwards(strips.high, slabs.start[slab], slabs.start[slab + 1], reach.low[1], [&](std::size_t strip) {
            if (!near(gap(1, strip))) return false;
            outwards(leaves.high, strips.start[strip], strips.start[strip + 1], reach.low[2], [&](std::size_t leaf) {
                const float apart = gap(2, leaf);
                if (!near(apart)) return false;
                scan(leaf, apart);
                return true;
            });
            term[static_cast<std::size_t>(view.place[2])] = 0;
            return true;
        });
        term[static_cast<std::size_t>(view.place[1])] = 0;
        return true;
    });
}

}  // namespace planewise
