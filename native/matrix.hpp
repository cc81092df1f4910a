// The training table: float32 columns in the user's own units, and one scale a column.
//
// Nothing is standardised in memory. A direction has integer coefficients on standardised features; dividing each by
// its column's scale gives float32 weights for the raw values, and one dot product serves search, routing and
// prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace planewise {

class Threads;

struct Matrix {
    const float *values;  // column-major: column j starts at values + j * stride
    std::size_t rows, columns, stride;
    std::vector<double> scale;   // standard deviation of each column; 0 marks a constant one, of no use
    std::vector<char> may_miss;  // whether a column has missing values

    const float *column(std::size_t j) const { return values + j * stride; }

    // Fills scale and may_miss from the rows with their weights; missing values do not count.
    void find_scales(const double *weight, Threads &threads);
};

}  // namespace planewise
