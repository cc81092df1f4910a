// Random forests that nobody grew, and a plain walk through them.
#pragma once

#include <algorithm>

#include "forest.hpp"
#include "random.hpp"
#include "tables.hpp"

namespace forests {

struct Shape {
    std::uint32_t planes = 2, terms = 2;  // the most a node and a plane have; the root has them
    bool sets = false;                    // whether planes ask for categories of column 0
    std::size_t values = 1;               // numbers a leaf holds
    std::uint32_t columns = 5;
    std::uint32_t categories = 40;
};

inline void add_plane(planewise::Forest &tree, const Shape &shape, bool full, planewise::Random &random) {
    if (shape.sets && !full && random.below(2) == 0) {
        const bool right = random.below(2) == 0;
        tree.term_feature.push_back(0);
        tree.term_coefficient.push_back(right ? 1 : -1);
        tree.term_weight.push_back(right ? 1.0f : -1.0f);
        tree.threshold.push_back(right ? 0.5f : -0.5f);
        const auto before = tree.set_category.size();
        for (std::uint32_t c = 0; c < shape.categories; ++c)
            if (random.below(3) == 0) tree.set_category.push_back(static_cast<std::int32_t>(c));
        if (tree.set_category.size() == before) tree.set_category.push_back(7);
    } else {
        const std::uint32_t terms = full ? shape.terms : 1 + random.below(shape.terms);
        std::vector<std::int32_t> free;
        for (std::uint32_t j = shape.sets ? 1 : 0; j < shape.columns; ++j) free.push_back(static_cast<std::int32_t>(j));
        for (std::uint32_t t = 0; t < terms; ++t)
            std::swap(free[t], free[t + random.below(static_cast<std::uint32_t>(free.size()) - t)]);
        std::sort(free.begin(), free.begin() + terms);
        for (std::uint32_t t = 0; t < terms; ++t) {
            const int a = 1 + static_cast<int>(random.below(5));
            tree.term_feature.push_back(free[t]);
            tree.term_coefficient.push_back(random.below(2) == 0 ? a : -a);
            tree.term_weight.push_back(static_cast<float>(tree.term_coefficient.back() * (0.5 + random.uniform())));
        }
        tree.threshold.push_back(static_cast<float>(tables::bell(random)));
    }
    tree.missing_right.push_back(static_cast<std::uint8_t>(random.below(2)));
    tree.term_start.push_back(static_cast<std::int32_t>(tree.term_feature.size()));
    tree.set_start.push_back(static_cast<std::int32_t>(tree.set_category.size()));
}

// Up to three levels below the root; some cells have no child, some share one.
inline planewise::Forest tree(const Shape &shape, planewise::Random &random) {
    planewise::Forest out;
    out.n_values = out.n_outputs = shape.values;
    out.parent = {-1};
    out.depth = {0};
    for (std::size_t node = 0; node < out.depth.size(); ++node) {
        const auto self = static_cast<std::int32_t>(node);
        const bool asks = node == 0 || (out.depth[node] < 3 && random.below(3) > 0);
        if (asks) {
            const std::uint32_t planes = node == 0 ? shape.planes : 1 + random.below(shape.planes);
            for (std::uint32_t k = 0; k < planes; ++k) add_plane(out, shape, node == 0 && k == 0, random);
            for (std::uint32_t code = 0; code < 1u << planes; ++code) {
                const std::uint32_t kind = code == 0 ? 4 : random.below(5);
                if (kind > 1) {
                    out.children.push_back(static_cast<std::int32_t>(out.depth.size()));
                    out.parent.push_back(self);
                    out.depth.push_back(out.depth[node] + 1);
                } else {
                    out.children.push_back(kind == 0 ? self : out.children.back());
                }
            }
        } else {
            out.children.push_back(self);
        }
        out.plane_start.push_back(static_cast<std::int32_t>(out.threshold.size()));
        out.child_start.push_back(static_cast<std::int32_t>(out.children.size()));
        for (std::size_t k = 0; k < shape.values; ++k)
            out.value.push_back(static_cast<double>(static_cast<float>(tables::bell(random))));
        out.rows.push_back(1 + random.below(30));
    }
    out.plane_gain.assign(out.planes(), 1.0);
    out.close_tree();
    return out;
}

// A forest as prediction keeps it.
inline planewise::Forest forest(const Shape &shape, std::size_t trees, std::size_t turns, std::uint64_t seed) {
    planewise::Forest out;
    planewise::Random random(seed, 31);
    for (std::size_t t = 0; t < trees; ++t) out.append(tree(shape, random));
    out.compact(shape.values);
    out.n_outputs = shape.values == 1 ? turns : shape.values;
    return out;
}

inline bool goes_right(const planewise::Forest &all, std::size_t plane, const float *x) {
    const auto set = all.set_category.begin() + all.set_start[plane],
               end = all.set_category.begin() + all.set_start[plane + 1];
    float sum = 0;
    for (auto t = static_cast<std::size_t>(all.term_start[plane]);
         t < static_cast<std::size_t>(all.term_start[plane + 1]); ++t) {
        float v = x[all.term_feature[t]];
        if (set != end && v == v) v = std::find(set, end, static_cast<std::int32_t>(v)) != end ? 1.0f : 0.0f;
        sum = t == static_cast<std::size_t>(all.term_start[plane]) ? all.term_weight[t] * v
                                                                   : sum + all.term_weight[t] * v;
    }
    return sum == sum ? sum >= all.threshold[plane] : all.missing_right[plane] != 0;
}

// The node, counted over the whole forest, in which a row ends.
inline std::size_t end_of(const planewise::Forest &forest, std::size_t tree, const float *x) {
    const planewise::Forest &all = forest;
    const auto root = static_cast<std::size_t>(forest.node_start[tree]);
    for (std::size_t node = root;;) {
        std::size_t code = 0;
        const auto first = static_cast<std::size_t>(all.plane_start[node]);
        for (std::size_t plane = first; plane < static_cast<std::size_t>(all.plane_start[node + 1]); ++plane)
            code |= static_cast<std::size_t>(goes_right(all, plane, x)) << (plane - first);
        const std::size_t next =
            root + static_cast<std::size_t>(all.children[static_cast<std::size_t>(all.child_start[node]) + code]);
        if (next == node) return node;
        node = next;
    }
}

// Rows for such forests: numbers, and in column 0 categories of which some are in no set; values missing everywhere.
inline void fill(tables::Table &table, bool categories, std::uint64_t seed) {
    table.fill(seed, 9);
    if (categories) table.fill_categories(0, 45, seed, 9);
    for (std::size_t i = 0; categories && i < table.rows(); i += 17) table.at(i, 0) = 1000.0f;
}

}  // namespace forests
