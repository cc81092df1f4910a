// Send rows to their cells: one comparison per plane, the same float32 dot product as in search and prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "directions.hpp"
#include "matrix.hpp"

namespace planewise {

// The planes of one node, ready to route with.
struct NodePlanes {
    Directions directions;  // one per plane
    std::vector<float> threshold;
    std::vector<std::uint8_t> missing_right;
    std::vector<double> gain, by_chance;  // by_chance: what ordering a plane's categories gains where nothing is known
    std::vector<std::vector<std::int32_t>> set;  // categories of each plane; none for a plane on numbers

    std::size_t size() const { return threshold.size(); }
    void keep(std::size_t count) {
        threshold.resize(count);
        missing_right.resize(count);
        gain.resize(count);
        by_chance.resize(count);
        set.resize(count);
        directions.keep(count);
    }
};

// code[i] = sum of 2^k [plane k: row i is on its right side]
void compute_codes(const Matrix &matrix, const NodePlanes &planes, const std::uint32_t *rows, std::size_t count,
                   std::uint8_t *code);

// Cells under `least` rows join the filled cell nearest in Hamming distance (then the one across the latest plane).
// `rows_in` is the number of rows by code; the answer says for every code which cell it belongs to, -1 for empty ones.
std::vector<int> merge_small_cells(const std::vector<std::int64_t> &rows_in, std::int64_t least);

}  // namespace planewise
