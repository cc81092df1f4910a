// On which side of a plane a row lies. Growing, prediction and explanations all ask here, and nothing else decides it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dispatch.hpp"

namespace planewise {

// 1 for the right side, 0 for the left. A sum with a missing value goes where the plane sends missing values. There is
// no branch: which side is next cannot be foreseen.
PLANEWISE_INLINE std::uint32_t side_of(float sum, float threshold, std::uint32_t missing_right) {
    return static_cast<std::uint32_t>(sum >= threshold) | (static_cast<std::uint32_t>(sum != sum) & missing_right);
}

// The plane's sum for row x, term by term in float32. The number of terms is known beforehand where it is small: all
// that a loop over rows needs then stays in registers.
template <int terms>
PLANEWISE_INLINE float plane_sum(const std::int32_t *feature, const float *weight, const float *x) {
    float sum = weight[0] * x[feature[0]];
    for (int t = 1; t < terms; ++t) sum += weight[t] * x[feature[t]];
    return sum;
}

// The same for any number of terms: the first `terms` of them, then `more`.
template <int terms>
PLANEWISE_INLINE float plane_sum(const std::int32_t *feature, const float *weight, std::size_t more, const float *x) {
    float sum = plane_sum<terms>(feature, weight, x);
    for (std::size_t t = terms; t < terms + more; ++t) sum += weight[t] * x[feature[t]];
    return sum;
}

}  // namespace planewise
