// How much views of one or two columns could explain of what is left: sums of derivatives in the cells of a grid.
//
// The cells of two columns are those of their bins or, for two numeric columns, of a grid along the diagonals: columns
// that rise together part the rows across the diagonal more finely than any bins of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace planewise {

struct BinnedColumns {
    const std::uint8_t *bin;                // columns x rows
    const float *place;                     // columns x rows: normal scores; NaN if missing
    const double *weight;                   // of the rows
    std::vector<std::int32_t> bins;         // how many each column has
    std::vector<std::int32_t> numeric;      // whether it is a number
    std::vector<std::int32_t> has_missing;  // whether the last bin is that of missing values
    std::size_t rows, columns;
};

// One column (twice the same) or two.
using View = std::pair<std::int32_t, std::int32_t>;

struct Derivatives {
    const double *gradient, *hessian;  // outputs x rows, with the weights of the rows
    std::vector<double> noise;         // by output: what one more cell gains by chance
    std::size_t outputs;
    double lambda;  // is added to the Hessian of every cell
};

// For each view, what fitting its cells gains beyond what chance would; a view of numbers may use either grid.
std::vector<double> view_gains(const BinnedColumns &table, const Derivatives &left, const std::vector<View> &views,
                               Threads &threads);

}  // namespace planewise
