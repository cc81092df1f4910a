// What tests ask of a grown tree.
#pragma once

#include <algorithm>

#include "predict.hpp"
#include "tables.hpp"

namespace trees {

inline int depth_of(const planewise::Forest &tree) { return *std::max_element(tree.depth.begin(), tree.depth.end()); }

inline std::vector<std::int32_t> apply(const planewise::Forest &tree, const tables::Table &table, int threads = 1) {
    std::vector<std::int32_t> leaf(table.rows(), -1);
    planewise::Threads pool(threads);
    planewise::Predictor(tree).apply(table.values(), table.rows(), table.columns(), pool, leaf.data());
    return leaf;
}

inline std::int64_t leaves(const planewise::Forest &tree) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < tree.nodes(); ++i) count += tree.is_leaf(i);
    return count;
}

// All arrays byte by byte.
inline bool same(const planewise::Forest &a, const planewise::Forest &b) {
    using tables::same_bytes;
    bool equal = a.n_values == b.n_values && a.n_outputs == b.n_outputs && same_bytes(a.parent, b.parent) &&
                 same_bytes(a.depth, b.depth) && same_bytes(a.value, b.value) && same_bytes(a.value32, b.value32);
    planewise::each_array([&](auto array) { equal = equal && same_bytes(array.in(a), array.in(b)); });
    return equal;
}

}  // namespace trees
