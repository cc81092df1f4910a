// The training table: float32 rows in the user's own units, and one scale per column.
//
// Rows lie together: a node looks at scattered rows but at most of their columns, so a row costs one or two misses of
// the cache instead of one per column. It also is what users hand over: float32 rows need no copy.
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

// The columns that have two values and none missing, as bits. One-hot tables have many of them, and most of their bits
// are clear: adding up the set ones costs far less than going through every column.
struct TwoValued {
    static constexpr std::int32_t no_bit = -1;

    std::vector<std::int32_t> bit;     // by column: its bit, or no_bit
    std::vector<std::int32_t> column;  // by bit
    std::vector<float> clear, set;     // by bit: its values, the rarer one set
    std::size_t words = 0;             // of 64 bits, a row; 0: too few such columns to matter
    std::vector<std::uint64_t> bits;   // row by row

    bool has(std::size_t j) const { return words > 0 && bit[j] != no_bit; }
    const std::uint64_t *row(std::size_t i) const { return &bits[i * words]; }
};

struct Matrix {
    const float *values;  // row-major
    std::size_t rows, columns;
    std::vector<double> scale;   // standard deviation of each column; 0 marks a constant one, of no use
    std::vector<char> may_miss;  // whether a column has missing values
    std::vector<std::int32_t> categories =
        {};                        // by column: how many, their values 0, 1, ...; 0, or none given: numbers
    std::vector<float> mean = {};  // of each column; NaN for categories

    // By column: where most of its values lie, with less than one in 24 below and one in 24 above. Empty until found.
    std::vector<float> body_low = {}, body_high = {};

    TwoValued two_valued = {};
    std::vector<char> has_infinite = {};  // whether it has infinities, which are values beyond all others

    bool may_be_infinite(std::size_t j) const { return !has_infinite.empty() && has_infinite[j] != 0; }
    bool is_categorical(std::size_t j) const { return !categories.empty() && categories[j] > 0; }

    const float *row(std::size_t i) const { return values + i * columns; }

    // Fills scale, mean, may_miss and has_infinite from the rows with their weights; missing values and infinities do
    // not count.
    void find_scales(const double *weight, Threads &threads);
    void find_two_valued(Threads &threads);
    void find_bodies(const double *weight, Threads &threads);
};

}  // namespace planewise
