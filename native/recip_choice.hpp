// Which views a set of rows is best served by: the inner loops of RECIP's choice of projections.
//
// Z is views x rows, one local entropy a view and row, small where the row's class is clear. The outer loop, which
// lowers the price delta of views that many rows use, is in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace planewise {

struct LocalEntropies {
    const float *values;  // views x rows
    std::size_t views, rows;
    const float *view(std::size_t j) const { return values + j * rows; }
};

// A row's answer: a share of 1 - `share` on view `first` and `share` on view `second`.
struct RowChoice {
    std::int32_t first, second;
    double share;
    double value;  // z . b
};

// The exact minimum over the simplex of (z . b - least)^2 + lam delta . b, for one row.
//
// `place`, `z` and `delta` are the views that may matter, with delta not falling. At most two views of an optimum are
// not zero: they span an edge of the lower convex hull of the points (z, delta).
class RowSolver {
  public:
    RowChoice solve(const std::int32_t *place, const float *z, const double *delta, std::size_t count, double least,
                    double lam);

  private:
    struct Point {
        double z, delta;
        std::int32_t view;
    };
    std::vector<Point> hull_;
};

// Every row's choice. `order` are the views with a price below 1 by rising price (`delta`); all others cost 1, and of
// them only a row's best view (`best`, with `least` = its z) can matter.
void choose_for_rows(const LocalEntropies &entropy, const float *least, const std::int32_t *best,
                     const std::vector<std::int32_t> &order, const std::vector<double> &delta, double lam,
                     RowChoice *choice, Threads &threads);

// What adding each view would gain: sum_i weight_i max(0, current_i - min(Z_ij, 1)).
void facility_gains(const LocalEntropies &entropy, const double *weight, const float *current, double *gain,
                    Threads &threads);

// The loss of answers when each view joins some others: sum_i weight_i log(1 + least_i largest_i), where least and
// largest are those of row i's entropies in these views. The view with the least entropy speaks for the row's class;
// the one with the largest speaks against it, with one over its entropy, and is believed if that is less still.
// `least` is infinite and `largest` zero where there are no others.
void decision_losses(const LocalEntropies &entropy, const double *weight, const float *least, const float *largest,
                     double *loss, Threads &threads);

}  // namespace planewise
