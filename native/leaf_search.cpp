#include "leaf_search.hpp"

namespace planewise {

Reach reach_of(const ViewLayout &view, const float *query) {
    Reach reach;
    for (std::size_t level = 0; level < 3; ++level)
        if (view.axis[level] >= 0)
            reach.low[level] = reach.high[level] = query[static_cast<std::size_t>(view.axis[level])];
    return reach;
}

PLANEWISE_CLONES void leaf_squares(const ViewLayout &view, std::size_t leaf, const float *query, float *square) {
    constexpr std::size_t size = ViewLayout::leaf_size;
    const std::size_t begin = view.boxes[ViewLayout::leaf].start[leaf];
    float sum[size] = {};
    for (std::size_t d = 0; d < view.dimensions(); ++d) {
        const float x = query[d], differ = view.differ[d];
        const float *to = view.coordinate(d) + begin;
        if (differ > 0) {
            PLANEWISE_LANES for (std::size_t l = 0; l < size; ++l) sum[l] += to[l] != x ? differ * differ : 0.0f;
        } else {
            PLANEWISE_LANES for (std::size_t l = 0; l < size; ++l) sum[l] += (x - to[l]) * (x - to[l]);
        }
    }
    for (std::size_t l = 0; l < size; ++l) square[l] = sum[l];
}

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

}  // namespace planewise
