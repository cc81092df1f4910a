// What tests ask of a grown tree.
#pragma once

#include <algorithm>

#include "predict.hpp"
#include "tables.hpp"
#include "tree.hpp"

namespace trees {

inline int depth_of(const planewise::Tree &tree) { return *std::max_element(tree.depth.begin(), tree.depth.end()); }

inline std::vector<std::int32_t> apply(const planewise::Tree &tree, const tables::Table &table, int threads = 1) {
    std::vector<std::int32_t> leaf(table.rows(), -1);
    planewise::Threads pool(threads);
    planewise::apply(planewise::view_of(tree), table.values(), table.rows(), table.columns(), pool, leaf.data());
    return leaf;
}

inline bool is_leaf(const planewise::Tree &tree, std::size_t node) {
    return tree.plane_start[node] == tree.plane_start[node + 1];
}

inline std::int64_t leaves(const planewise::Tree &tree) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < tree.nodes(); ++i) count += is_leaf(tree, i);
    return count;
}

inline bool same(const planewise::Tree &a, const planewise::Tree &b) {
    using tables::same_bytes;
    return a.outputs == b.outputs && same_bytes(a.plane_start, b.plane_start) &&
           same_bytes(a.child_start, b.child_start) && same_bytes(a.children, b.children) &&
           same_bytes(a.parent, b.parent) && same_bytes(a.depth, b.depth) && same_bytes(a.rows, b.rows) &&
           same_bytes(a.weight, b.weight) && same_bytes(a.impurity, b.impurity) && same_bytes(a.gain, b.gain) &&
           same_bytes(a.value, b.value) && same_bytes(a.term_start, b.term_start) &&
           same_bytes(a.threshold, b.threshold) && same_bytes(a.missing_right, b.missing_right) &&
           same_bytes(a.plane_gain, b.plane_gain) && same_bytes(a.term_feature, b.term_feature) &&
           same_bytes(a.term_coefficient, b.term_coefficient) && same_bytes(a.term_weight, b.term_weight) &&
           same_bytes(a.set_start, b.set_start) && same_bytes(a.set_category, b.set_category);
}

}  // namespace trees
