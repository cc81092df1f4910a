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
    threads.each(columns, [&](std::size_t j, int) {
        const float *x = column(j);
        double total = 0, sum = 0;
        float low = std::numeric_limits<float>::infinity(), high = -low;
        for (std::size_t i = 0; i < rows; ++i) {
            if (x[i] != x[i]) {
                may_miss[j] = 1;
                continue;
            }
            const double v = static_cast<double>(x[i]);
            low = std::min(low, x[i]);
            high = std::max(high, x[i]);
            total += weight[i];
            sum += weight[i] * v;
        }
        if (!(total > 0)) return;
        const double mean = sum / total;
        double squares = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            if (x[i] != x[i]) continue;
            const double apart = static_cast<double>(x[i]) - mean;
            squares += weight[i] * apart * apart;
        }
        const double deviation = std::sqrt(squares / total);
        if (high > low)  // not by the deviation: a weighted mean of equal values may be off by a rounding
            scale[j] = rounded(deviation);
        else if (may_miss[j])
            scale[j] = 1.0;  // one value or none: that it is missing may still say something
    });
}

}  // namespace planewise
