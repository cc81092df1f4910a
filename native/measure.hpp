// Rows along candidate directions: project, put into bins, add up.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix.hpp"
#include "projection.hpp"
#include "statistics.hpp"

namespace planewise {

// The rows by which a node is judged, their columns gathered side by side when first needed.
class Sample {
  public:
    explicit Sample(const Matrix &matrix)
        : matrix_(matrix), columns_(matrix.columns), reach_(matrix.columns, 0.0f), gathered_(matrix.columns, 0) {}

    // Takes every row, or `most` of them, spread evenly over the node in an order whose every prefix is spread too.
    void draw(const std::uint32_t *rows, std::size_t count, std::size_t most, std::uint64_t noise);

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    const float *column(std::int32_t feature);
    float reach(std::int32_t feature) const { return reach_[static_cast<std::size_t>(feature)]; }  // largest |value|

  private:
    const Matrix &matrix_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::vector<float>> columns_;
    std::vector<float> reach_;
    std::vector<std::uint32_t> gathered_;  // which draw a column was gathered for
    std::uint32_t turn_ = 0;
};

// Values of the sample along one direction, terms added in their stored order.
void project(Sample &sample, const Directions &directions, std::size_t d, float *values);

struct Range {
    float low, high;      // of the values that are there
    std::size_t missing;  // NaN
};
Range range_of(const float *values, std::size_t count, bool may_miss);

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

// sums[slot[i]] += rows[i], each sum `channels` wide; slots below `slots`.
void add_rows(const Gradients &statistics, const Gradients::Row *rows, const std::uint16_t *slot, std::size_t count,
              std::size_t slots, std::int64_t *sums);
void add_rows(const ClassCounts &statistics, const ClassCounts::Row *rows, const std::uint16_t *slot, std::size_t count,
              std::size_t slots, std::int64_t *sums);

}  // namespace planewise
