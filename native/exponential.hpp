// The exponential function, the same to the bit on every machine and for every vector width, and without a branch, so
// that the compiler has vector code for loops of it. Off by less than one unit in the last place.
#pragma once

#include <cstdint>
#include <cstring>

#include "dispatch.hpp"

namespace planewise {

// Of a whole number that was shifted as below.
PLANEWISE_INLINE double power_of_two(double shifted) {
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return power;
}

PLANEWISE_INLINE double exponential(double x) {
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: the last bit is worth one
    constexpr double lowest = -745.2, highest = 709.782712893384;
    x = x < highest ? x : highest;  // NaN becomes the largest; scores are never that
    x = x > lowest ? x : lowest;
    // x = n ln 2 + r, |r| <= ln 2 / 2; ln 2 in two parts, so that n times the first one is exact.
    const double shifted = x * 1.4426950408889634 + shift;
    const double n = shifted - shift;
    const double r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
    // e^r by its series: what is left out is below 2^-54.
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = 1.0 + (r + r * r * sum);
    // Times 2^n in two steps, because n may go below the exponents of normal numbers. The last bits of a shifted whole
    // number are the number itself.
    const double half = (n * 0.5 + shift) - shift;
    return sum * power_of_two(half + shift) * power_of_two((n - half) + shift);
}

}  // namespace planewise
