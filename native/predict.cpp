#include "predict.hpp"

#include <algorithm>
#include <vector>

#include "categories.hpp"

namespace planewise {

namespace {

// A plane with all it needs in one place. Shorter planes are filled up with their own first feature at weight zero:
// that adds nothing, and is missing only when the plane is.
template <int terms>
struct PackedPlane {
    std::int32_t feature[terms];
    float weight[terms];
    float threshold;
    std::uint32_t missing_right;

    PackedPlane(const TreeView &tree, std::int32_t plane)
        : threshold(tree.threshold[plane]), missing_right(tree.missing_right[plane] != 0) {
        const std::int32_t first = tree.term_start[plane], end = tree.term_start[plane + 1];
        for (int t = 0; t < terms; ++t) {
            const bool there = first + t < end;
            feature[t] = tree.term_feature[there ? first + t : first];
            weight[t] = there ? tree.term_weight[first + t] : 0.0f;
        }
    }
    std::uint32_t right(const float *x) const {
        float v = weight[0] * x[feature[0]];
        for (int t = 1; t < terms; ++t) v += weight[t] * x[feature[t]];
        return static_cast<std::uint32_t>(v >= threshold) | (static_cast<std::uint32_t>(v != v) & missing_right);
    }
};

// Planes of any length, read where they are, and planes on categories.
struct LongPlane {
    const TreeView *tree;
    std::int32_t plane;
    bool by_category;
    CategorySet set;

    LongPlane(const TreeView &of, std::int32_t number)
        : tree(&of),
          plane(number),
          by_category(of.set_start[number + 1] > of.set_start[number]),
          set(of.set_category + of.set_start[number],
              static_cast<std::size_t>(of.set_start[number + 1] - of.set_start[number])) {}
    std::uint32_t right(const float *x) const {
        std::int32_t term = tree->term_start[plane];
        const std::int32_t end = tree->term_start[plane + 1];
        const float first = x[tree->term_feature[term]];
        float v = tree->term_weight[term] * (by_category ? set.read(first) : first);
        for (++term; term < end; ++term) v += tree->term_weight[term] * x[tree->term_feature[term]];
        return static_cast<std::uint32_t>(v >= tree->threshold[plane]) |
               (static_cast<std::uint32_t>(v != v) & (tree->missing_right[plane] != 0));
    }
};

template <class Plane>
void descend(const TreeView &tree, const std::vector<Plane> &planes, const float *x, std::size_t rows,
             std::size_t columns, std::int32_t *leaf) {
    constexpr std::size_t together = 8;  // rows that wait for memory side by side
    for (std::size_t begin = 0; begin < rows; begin += together) {
        const std::size_t here = std::min(together, rows - begin);
        std::int32_t node[together] = {};
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t r = 0; r < here; ++r) {
                const std::int32_t at = node[r], first = tree.plane_start[at], last = tree.plane_start[at + 1];
                const float *row = x + (begin + r) * columns;
                std::uint32_t code = 0;
                for (std::int32_t plane = first; plane < last; ++plane)
                    code |= planes[static_cast<std::size_t>(plane)].right(row) << (plane - first);
                // Itself: a leaf, or a cell no training row fell into.
                node[r] = tree.children[tree.child_start[at] + static_cast<std::int32_t>(code)];
                moved |= node[r] != at;
            }
        }
        std::copy(node, node + here, leaf + begin);
    }
}

template <class Plane>
void apply_with(const TreeView &tree, const float *x, std::size_t rows, std::size_t columns, Threads &threads,
                std::int32_t *leaf) {
    std::vector<Plane> planes;
    planes.reserve(tree.planes);
    for (std::size_t k = 0; k < tree.planes; ++k) planes.emplace_back(tree, static_cast<std::int32_t>(k));
    constexpr std::size_t chunk = 4096;
    threads.each((rows + chunk - 1) / chunk, [&](std::size_t k, int) {
        const std::size_t begin = k * chunk, end = std::min(rows, begin + chunk);
        descend(tree, planes, x + begin * columns, end - begin, columns, leaf + begin);
    });
}

}  // namespace

TreeView view_of(const Tree &tree) {
    return {tree.planes(),         tree.plane_start.data(), tree.child_start.data(),
            tree.children.data(),  tree.term_start.data(),  tree.term_feature.data(),
            tree.threshold.data(), tree.term_weight.data(), tree.missing_right.data(),
            tree.set_start.data(), tree.set_category.data()};
}

void apply(const TreeView &tree, const float *x, std::size_t rows, std::size_t columns, Threads &threads,
           std::int32_t *leaf) {
    std::int32_t longest = 0;
    for (std::size_t k = 0; k < tree.planes; ++k)
        longest = std::max(longest, tree.term_start[k + 1] - tree.term_start[k]);
    if (tree.set_start[tree.planes] > 0) return apply_with<LongPlane>(tree, x, rows, columns, threads, leaf);
    if (longest <= 1) return apply_with<PackedPlane<1>>(tree, x, rows, columns, threads, leaf);
    if (longest == 2) return apply_with<PackedPlane<2>>(tree, x, rows, columns, threads, leaf);
    if (longest == 3) return apply_with<PackedPlane<3>>(tree, x, rows, columns, threads, leaf);
    apply_with<LongPlane>(tree, x, rows, columns, threads, leaf);
}

}  // namespace planewise
