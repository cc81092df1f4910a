// Where rows end in a fitted tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel.hpp"
#include "tree.hpp"

namespace planewise {

// A tree's arrays as somebody else keeps them (see tree.hpp for what they mean).
struct TreeView {
    std::size_t planes;
    const std::int32_t *plane_start, *child_start, *children, *term_start, *term_feature;
    const float *threshold, *term_weight;
    const std::uint8_t *missing_right;
    const std::int32_t *set_start, *set_category;
};

TreeView view_of(const Tree &tree);

// Row-major X with `columns` columns.
void apply(const TreeView &tree, const float *x, std::size_t rows, std::size_t columns, Threads &threads,
           std::int32_t *leaf);

}  // namespace planewise
