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
#include <utility>
#include <vector>

#include "exact_sum.hpp"

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

// What some rows say of their columns. Those of the parts of a table are joined, in any order.
struct ColumnRanges {
    explicit ColumnRanges(std::size_t columns = 0);

    std::size_t rows = 0, counting = 0;  // all, and those of any weight
    double largest_weight = 0;
    ExactSum weight;
    std::vector<float> low, high;             // of the values that are there; low is above high if there are none
    std::vector<char> missing, below, above;  // whether there are missing values, and infinities
    std::vector<float> one, two;              // up to two different finite values ...
    std::vector<std::size_t> n_one, n_two;    // ... and how many rows have each
    std::vector<char> is_other;               // whether there are other values than these, or missing ones

    std::size_t columns() const { return low.size(); }
    void add(const float *x, const double *weights, std::size_t count);
    void join(const ColumnRanges &other);
    // As numbers that can be sent elsewhere, and back.
    std::vector<double> numbers() const;
    static ColumnRanges from(const std::vector<double> &numbers);

  private:
    void add_value(std::size_t j, float value, std::size_t count);
};

ColumnRanges ranges_of(const float *values, std::size_t rows, std::size_t columns, const double *weight,
                       Threads &threads);

// By column, sums over the values that are there, on a grid that the ranges of all rows decide: the same in any order.
struct ColumnSums {
    std::vector<WideSum> weight, moment;  // `moment`: of weight * value, or of weight * (value - centre)^2
    void join(const ColumnSums &other);
};
ColumnSums column_sums(const float *values, std::size_t rows, const double *weight, const ColumnRanges &ranges,
                       const std::vector<double> *centre, Threads &threads);
std::vector<double> column_centres(const ColumnSums &sums, const ColumnRanges &ranges);

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

    // Fills scale, mean, may_miss, has_infinite and two_valued from the rows with their weights; missing values and
    // infinities do not count.
    void find_scales(const double *weight, Threads &threads);
    void find_bodies(const double *weight, Threads &threads);

    // The same in steps, for rows that lie in parts: what is known of all of them.
    void set_scales(const ColumnRanges &ranges, const ColumnSums &sums, const ColumnSums &squares);
    // Some of the rows, picked by their values, so that a row given twice counts twice: one in so many.
    static std::uint32_t body_step(const ColumnRanges &ranges);
    std::vector<std::uint32_t> body_rows(std::uint32_t step, Threads &threads) const;
    void begin_bodies() {
        body_low.assign(columns, 0.0f);
        body_high.assign(columns, 0.0f);
    }
    // From the values of a column and their weights. False if they are too few; then all of the column are wanted.
    bool set_body(std::size_t j, std::vector<std::pair<float, double>> values, bool are_all);

    // Other rows of the same table.
    Matrix with_rows(const float *other, std::size_t count, Threads &threads) const;

  private:
    void set_two_valued(const ColumnRanges &ranges);
    void find_bits(Threads &threads);
};

}  // namespace planewise
