#include "row_loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dispatch.hpp"

namespace planewise {

double random_shift(std::size_t k) {  // splitmix64
    std::uint64_t z = (static_cast<std::uint64_t>(k) + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return 1e-8 * (0.5 + 0.5 * static_cast<double>(z >> 11) / 9007199254740992.0);
}

PLANEWISE_CLONES void add_multiple(double *to, const double *from, double by, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] += by * from[i];
}

PLANEWISE_CLONES void add_multiples(double *to, const double *a, double by_a, const double *b, double by_b,
                                    const double *c, double by_c, const double *d, double by_d, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] += (by_a * a[i] + by_b * b[i]) + (by_c * c[i] + by_d * d[i]);
}

PLANEWISE_CLONES double product(const double *a, const double *b, std::size_t n) {
    double sums[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
    double sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

PLANEWISE_CLONES double largest_size(const double *a, std::size_t n) {
    double most[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) {
            const double size = std::fabs(a[i + k]);
            most[k] = size > most[k] ? size : most[k];
        }
    double largest = 0;
    for (std::size_t k = 0; k < 8; ++k) largest = std::max(largest, most[k]);
    for (; i < n; ++i) largest = std::max(largest, std::fabs(a[i]));
    return largest;
}

PLANEWISE_CLONES double smallest(const double *a, std::size_t n) {
    double least[8];
    std::fill(least, least + 8, infinity);
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) least[k] = a[i + k] < least[k] ? a[i + k] : least[k];
    double all = infinity;
    for (std::size_t k = 0; k < 8; ++k) all = std::min(all, least[k]);
    for (; i < n; ++i) all = std::min(all, a[i]);
    return all;
}

PLANEWISE_CLONES void ways_to_ceiling(const double *score, const double *rate, const double *room, double ceiling,
                                      double ceiling_rate, double least, double *out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double speed = rate[i] - ceiling_rate;
        const double time = (ceiling + room[i] - score[i]) / speed;
        out[i] = speed > least ? time : infinity;
    }
}

PLANEWISE_CLONES void ways_to_kink(const double *score, const double *rate, const double *kink, const double *side,
                                   double least, double *out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double speed = side[i] * rate[i];
        const double way = side[i] * (kink[i] - score[i]);
        const double time = (way > 0 ? way : 0.0) / speed;
        out[i] = speed > least ? time : infinity;
    }
}

}  // namespace planewise
