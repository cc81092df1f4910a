// Rows along candidate directions: project, put into bins, add up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "directions.hpp"
#include "matrix.hpp"
#include "statistics.hpp"

namespace planewise {

struct Range {
    float low, high;  // of the values that are there; infinities are beyond, and both are zero if there are no others
    std::size_t missing;                // NaN
    bool below = false, above = false;  // whether there are infinities
};

// The rows by which a node is judged, as columns side by side.
class Sample {
  public:
    explicit Sample(const Matrix &matrix) : matrix_(matrix), place_(matrix.columns, 0), range_(matrix.columns) {}

    // Takes every row, or `most` of them, spread evenly over the node in an order whose every prefix is spread too.
    void draw(const std::uint32_t *rows, std::size_t count, std::size_t most, std::uint64_t noise);

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    // Copies these features of the drawn rows; only they can be asked for. Two-valued ones stay bits until they are.
    void gather(const std::vector<std::int32_t> &features);
    const float *column(std::int32_t feature) {
        const auto j = static_cast<std::size_t>(feature);
        if (place_[j] == nowhere) unfold(j);
        return &values_[place_[j] * stride_];
    }
    const std::uint64_t *bits(std::size_t i) const { return &bits_[i * matrix_.two_valued.words]; }
    // Of a gathered column; nothing for two-valued ones.
    const Range *range(std::int32_t feature) const {
        const auto j = static_cast<std::size_t>(feature);
        return matrix_.two_valued.has(j) ? nullptr : &range_[j];
    }
    float reach(std::int32_t feature) const {  // largest |value|
        const Range &range = range_[static_cast<std::size_t>(feature)];
        return range.missing < rows_.size() ? std::max(std::fabs(range.low), std::fabs(range.high)) : 0.0f;
    }

  private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    void unfold(std::size_t feature);

    const Matrix &matrix_;
    std::vector<std::uint32_t> rows_;
    std::vector<float> values_;  // column by column, `stride_` apart
    std::vector<std::uint64_t> bits_;
    std::vector<std::int32_t> numbers_;  // gathered features that are not two-valued
    std::size_t stride_ = 0;
    std::uint32_t gathered_ = 0;
    std::vector<std::uint32_t> place_;  // by feature: which of the gathered columns it is
    std::vector<Range> range_;
};

// Values of the sample along one direction, terms added in their stored order.
void project(Sample &sample, const Directions &directions, std::size_t d, float *values);

Range range_of(const float *values, std::size_t count, bool may_miss, bool may_be_infinite = false);

// The bin of v among `bins` of one width from `low` on is trunc((v - low) * per_width) in float32, no lower than the
// first and no higher than the last; NaN goes to bin `bins`.
// Thresholds are compared with the values themselves later, so rounding here can only blur which edge looks best.
void assign_bins(const float *values, std::size_t count, float low, float per_width, int bins, bool may_miss,
                 std::uint8_t *bin);

// The bin of v is the number of edges not above it (`edges` ascending, one fewer than bins); NaN goes to bin `bins`.
void assign_bins(const float *values, std::size_t count, const float *edges, int bins, bool may_miss,
                 std::uint8_t *bin);

// Largest value of the bins below `edge` and smallest of those from it on.
struct Gap {
    float below, above;
};
Gap gap_at(const float *values, const std::uint8_t *bin, std::size_t count, int edge, int bins);

// code[i] |= bit where the value is not below the threshold, or missing and `missing_right`.
void mark_right(const float *values, std::size_t count, float threshold, bool missing_right, std::uint8_t bit,
                std::uint8_t *code);

// slot[i] = offset[i] + bin[i]: the place of a row's sum, by cell and bin.
void place_rows(const std::uint16_t *offset, const std::uint8_t *bin, std::size_t count, std::uint16_t *slot);

// Adds up a node's rows by slot: sums[slot[i]] += rows[i], each sum `channels` wide.
template <class S>
class Adder {
  public:
    void open(const typename S::Row *rows, std::size_t count) { rows_ = rows, count_ = count; }
    template <class Slot>
    void add(const S &statistics, const Slot *slot, std::size_t, std::int64_t *sums) const {
        const std::size_t channels = statistics.channels();
        for (std::size_t i = 0; i < count_; ++i) statistics.add(rows_[i], sums + channels * slot[i]);
    }

  private:
    const typename S::Row *rows_ = nullptr;
    std::size_t count_ = 0;
};

// Gradients are the hot ones: two numbers per row, g and h with the number of rows below it. Neighbouring rows often
// fall into one slot and would wait for each other's sum, so four sets of sums take turns.
template <>
class Adder<Gradients> {
  public:
    void open(const Gradients::Row *rows, std::size_t count);
    // The last channel, which only whole nodes need, is not filled.
    template <class Slot>
    void add(const Gradients &statistics, const Slot *slot, std::size_t slots, std::int64_t *sums);

  private:
    static constexpr int count_bits = 13;  // 30 bits of h, summed over fewer than 2^13 rows, leave 64
    struct Packed {
        std::int64_t g, h_and_rows;
    };
    const Gradients::Row *rows_ = nullptr;
    std::size_t count_ = 0;
    std::vector<Packed> packed_, sets_;
};
extern template void Adder<Gradients>::add(const Gradients &, const std::uint8_t *, std::size_t, std::int64_t *);
extern template void Adder<Gradients>::add(const Gradients &, const std::uint16_t *, std::size_t, std::int64_t *);

}  // namespace planewise
