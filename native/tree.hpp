// A fitted tree as flat arrays. Nodes are numbered level by level, node 0 is the root.
#pragma once

#include <cstdint>
#include <vector>

namespace planewise {

struct Tree {
    // Node i has the planes plane_start[i] .. plane_start[i+1]; a leaf has none. With q planes it has 2^q entries in
    // `children` from child_start[i] on, one for every code; an entry that names the node itself is a cell no training
    // row fell into, and there the node's own value holds. A leaf has one entry, itself.
    std::vector<std::int32_t> plane_start{0}, child_start{0}, children;
    std::vector<std::int32_t> parent, depth;
    std::vector<std::int64_t> rows;
    std::vector<double> weight, impurity, gain;
    std::vector<double> value;  // nodes x outputs
    // Plane k is sum of term_weight * x[term_feature] over terms term_start[k] .. term_start[k+1], compared >=
    // threshold.
    std::vector<std::int32_t> term_start{0};
    std::vector<float> threshold;
    std::vector<std::uint8_t> missing_right;
    std::vector<double> plane_gain;
    std::vector<std::int32_t> term_feature, term_coefficient;
    std::vector<float> term_weight;
    // A plane on a categorical column has the categories set_start[k] .. set_start[k+1], and its term reads 1 for a row
    // whose category is among them, else 0. Other planes have none.
    std::vector<std::int32_t> set_start{0}, set_category;
    std::size_t outputs = 1;

    std::size_t nodes() const { return plane_start.size() - 1; }
    std::size_t planes() const { return threshold.size(); }
};

}  // namespace planewise
