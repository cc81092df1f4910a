// The training table: float32 rows in the user's own units, and one scale a column.
//
// Rows lie together: a node looks at scattered rows but at most of their columns, so a row costs one or two misses of
// the cache instead of one a column. It also is what users hand over: float32 rows need no copy.
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
    const float *values;  // row-major
    std::size_t rows, columns;
    std::vector<double> scale;   // standard deviation of each column; 0 marks a constant one, of no use
    std::vector<char> may_miss;  // whether a column has missing values
    std::vector<std::int32_t> categories =
        {};                        // by column: how many, their values 0, 1, ...; 0, or none given: numbers
    std::vector<float> mean = {};  // of each column; NaN for categories

    bool is_categorical(std::size_t j) const { return !categories.empty() && categories[j] > 0; }

    const float *row(std::size_t i) const { return values + i * columns; }

    // Fills scale, mean and may_miss from the rows with their weights; missing values do not count.
    void find_scales(const double *weight, Threads &threads);
};

}  // namespace planewise
