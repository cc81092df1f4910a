// What the programs of the minimal complexity machine (the linear one, and the one with a norm) do row by row.
#pragma once

#include <cstddef>
#include <limits>

namespace planewise {

constexpr std::size_t ceiling_variable = static_cast<std::size_t>(-1);
constexpr double infinity = std::numeric_limits<double>::infinity();
// By which a row may rise over its ceiling; far less than the shifts.
constexpr double leeway = 1e-10;
// What moves slower than this, compared with the fastest, does not move: it would make a system near singular.
constexpr double standing = 1e-9;

// Rows are shifted by random amounts of about 1e-8, so that no two events coincide and no walk goes in circles; the
// optimum moves by no more than this, relatively, and the caller measures the true gap. The same for every run.
double random_shift(std::size_t k);

void add_multiple(double *to, const double *from, double by, std::size_t n);
// Four columns at once: the sum is read and written a quarter as often.
void add_multiples(double *to, const double *a, double by_a, const double *b, double by_b, const double *c, double by_c,
                   const double *d, double by_d, std::size_t n);
double product(const double *a, const double *b, std::size_t n);
double largest_size(const double *a, std::size_t n);
double smallest(const double *a, std::size_t n);
// How far each row is from its ceiling along the edge; infinitely far if it does not near it, or is tight (no room).
void ways_to_ceiling(const double *score, const double *rate, const double *room, double ceiling, double ceiling_rate,
                     double least, double *out, std::size_t n);
// How far each row is from its kink along the edge; infinitely far if it moves away or is tight (side 0).
void ways_to_kink(const double *score, const double *rate, const double *kink, const double *side, double least,
                  double *out, std::size_t n);

}  // namespace planewise
