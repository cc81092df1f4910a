// The inverse of a small dense matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace planewise {

// In place, of `n` rows one after another: Gauss-Jordan elimination, the largest pivot of each column. False if a pivot
// is not larger than `least_pivot`; the matrix is then of no use.
bool invert(std::vector<double> &matrix, std::size_t n, double least_pivot);

}  // namespace planewise
