#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel.hpp"

namespace planewise {

namespace {

// Twelve significant bits: the order in which a sum was taken, or a row given twice instead of a weight of two, can
// then not change a scale, and a scale needs no more.
double rounded(double x) {
    int exponent;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, 12)), exponent - 12);
}

}  // namespace

void Matrix::find_scales(const double *weight, Threads &threads) {
    scale.assign(columns, 0.0);
    may_miss.assign(columns, 0);
    mean.assign(columns, std::numeric_limits<float>::quiet_NaN());
    constexpr std::size_t together = 16;  // columns of one cache line
    threads.each((columns + together - 1) / together, [&](std::size_t piece, int) {
        const std::size_t first = piece * together, count = std::min(together, columns - first);
        double total[together] = {}, centre[together] = {}, squares[together] = {};
        float low[together], high[together];
        std::fill(low, low + together, std::numeric_limits<float>::infinity());
        std::fill(high, high + together, -std::numeric_limits<float>::infinity());
        for (std::size_t i = 0; i < rows; ++i) {
            const float *x = row(i) + first;
            for (std::size_t j = 0; j < count; ++j) {
                const bool there = x[j] == x[j];
                low[j] = x[j] < low[j] ? x[j] : low[j];
                high[j] = x[j] > high[j] ? x[j] : high[j];
                total[j] += there ? weight[i] : 0.0;
                centre[j] += there ? weight[i] * static_cast<double>(x[j]) : 0.0;
                may_miss[first + j] = static_cast<char>(may_miss[first + j] | !there);
            }
        }
        for (std::size_t j = 0; j < count; ++j) {
            centre[j] = total[j] > 0 ? centre[j] / total[j] : 0.0;
            if (total[j] > 0 && !is_categorical(first + j)) mean[first + j] = static_cast<float>(centre[j]);
        }
        for (std::size_t i = 0; i < rows; ++i) {
            const float *x = row(i) + first;
            for (std::size_t j = 0; j < count; ++j) {
                const double apart = static_cast<double>(x[j]) - centre[j];
                squares[j] += x[j] == x[j] ? weight[i] * apart * apart : 0.0;
            }
        }
        for (std::size_t j = 0; j < count; ++j) {
            if (is_categorical(first + j))
                scale[first + j] = high[j] > low[j] || may_miss[first + j] ? 1.0 : 0.0;
            else if (high[j] >
                     low[j])  // not by the deviation: a weighted mean of equal values may be off by a rounding
                scale[first + j] = rounded(std::sqrt(squares[j] / total[j]));
            else if (may_miss[first + j] && total[j] > 0)
                scale[first + j] = 1.0;  // one value: that it is missing may still say something
        }
    });
}

}  // namespace planewise
