// Fitted trees as flat arrays, one tree after another. A single tree is a forest of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace planewise {

struct Forest {
    // Tree t has the nodes node_start[t] .. node_start[t+1], numbered level by level, its root first. Parents and
    // children are counted within their tree; all starts are counted over the whole forest.
    std::vector<std::int32_t> node_start{0};

    // Node i has the planes plane_start[i] .. plane_start[i+1]; a leaf has none. With q planes it has 2^q entries in
    // `children` from child_start[i] on, one for every code; an entry that names the node itself is a cell no training
    // row fell into, and there the node's own value holds. A leaf has one entry, itself.
    std::vector<std::int32_t> plane_start{0}, child_start{0}, children;
    std::vector<std::int32_t> parent, depth;  // the parent of a root is -1
    std::vector<std::int64_t> rows;
    std::vector<double> weight, impurity, gain;  // empty in forests that only predict
    // nodes x n_values: float64 in a tree that stands alone, float32 where trees are added up. One of them is empty.
    std::vector<double> value;
    std::vector<float> value32;

    // Plane k is sum of term_weight * x[term_feature] over terms term_start[k] .. term_start[k+1], compared >=
    // threshold (plane.hpp).
    std::vector<std::int32_t> term_start{0};
    std::vector<float> threshold;
    std::vector<std::uint8_t> missing_right;
    std::vector<double> plane_gain;
    std::vector<std::int32_t> term_feature, term_coefficient;
    std::vector<float> term_weight;
    // A plane on a categorical column has the categories set_start[k] .. set_start[k+1], and its term reads 1 for a row
    // whose category is among them, else 0. Other planes have none.
    std::vector<std::int32_t> set_start{0}, set_category;

    std::size_t n_values = 1;   // numbers per node
    std::size_t n_outputs = 1;  // numbers per row: as many, or how many outputs trees with one value take turns with

    std::size_t trees() const { return node_start.size() - 1; }
    std::size_t nodes() const { return plane_start.size() - 1; }
    std::size_t planes() const { return threshold.size(); }
    bool is_leaf(std::size_t node) const { return plane_start[node] == plane_start[node + 1]; }
    double value_at(std::size_t k) const { return value.empty() ? static_cast<double>(value32[k]) : value[k]; }
    std::size_t columns_used() const;  // how many columns of a table its planes need

    void close_tree() { node_start.push_back(static_cast<std::int32_t>(nodes())); }
    void append(const Forest &other);
    // Trees first .. last-1. If they are fewer than the outputs that they take turns with, there is one output per
    // tree.
    Forest part(std::size_t first, std::size_t last) const;

    // Makes the nodes marked (one entry per node) leaves, without what was below them. Says where each node is now,
    // counted within its tree: itself, or the ancestor that became a leaf.
    std::vector<std::int32_t> prune(const std::vector<char> &cut);

    // Throws std::invalid_argument unless all lists lie inside their arrays and every walk ends, so that nothing
    // native reads out of bounds whatever a file held. Finds `parent` and `depth`, which need not be given.
    void check();
    // The same for a model's columns; `categories` has the number of categories of each, 0 for numbers.
    void check_columns(const std::vector<std::int32_t> &categories) const;

    // Means from per-leaf sums (nodes x (n_values + 1), the weight last), moved by `centre`. Sums go up from the
    // leaves; then values come down from the root, each node's own mean mixed with `smoothing` rows at its parent's
    // value.
    void set_means(const double *totals, double smoothing, double centre);
    void smooth(double strength);
    // Makes values of nodes with one plane follow the signs of the columns (directions.hpp). Two values are the shares
    // of two classes, of which the second follows.
    void hold_monotone(const std::vector<std::int32_t> &monotone);
    // What trees that are added up need: the last `columns` values of each node, in float32. The rest goes.
    void compact(std::size_t columns);

    // The nodes from the root of a tree to each of `nodes`: (start of each list, nodes of the tree).
    std::pair<std::vector<std::int64_t>, std::vector<std::int32_t>> paths_to(std::size_t tree,
                                                                             const std::vector<std::int32_t> &to) const;
    // The mean of the values that the training rows of each node get (nodes x n_values): its own for a leaf.
    std::vector<double> usual_values() const;

    // std::invalid_argument unless every array is as long as the numbers of trees, nodes and planes say.
    void check_lengths() const;

  private:
    void check_planes() const;
    void find_parents();
};

// What an array has one entry for.
enum class Of { trees, nodes, children, planes, terms, categories };

template <class T>
struct ForestArray {
    const char *name;  // as Python sees it
    std::vector<T> Forest::*at;
    Of of;
    bool starts = false;  // where the lists of each begin: one entry more, the last is the end
    Of into = of;         // ... in arrays of these
    bool optional = false;

    std::vector<T> &in(Forest &forest) const { return forest.*at; }
    const std::vector<T> &in(const Forest &forest) const { return forest.*at; }
};

// All arrays but the values and those that follow from others (parent, depth), in order. A new one is added here.
template <class Visit>
void each_array(Visit visit) {
    using Ints = ForestArray<std::int32_t>;
    using Floats = ForestArray<float>;
    using Doubles = ForestArray<double>;
    visit(Ints{"node_start", &Forest::node_start, Of::trees, true, Of::nodes});
    visit(Ints{"plane_start", &Forest::plane_start, Of::nodes, true, Of::planes});
    visit(Ints{"child_start", &Forest::child_start, Of::nodes, true, Of::children});
    visit(Ints{"children", &Forest::children, Of::children});
    visit(ForestArray<std::int64_t>{"n_samples", &Forest::rows, Of::nodes});
    visit(Doubles{"weight", &Forest::weight, Of::nodes, false, Of::nodes, true});
    visit(Doubles{"impurity", &Forest::impurity, Of::nodes, false, Of::nodes, true});
    visit(Doubles{"gain", &Forest::gain, Of::nodes, false, Of::nodes, true});
    visit(Ints{"term_start", &Forest::term_start, Of::planes, true, Of::terms});
    visit(Floats{"threshold", &Forest::threshold, Of::planes});
    visit(ForestArray<std::uint8_t>{"missing_right", &Forest::missing_right, Of::planes});
    visit(Doubles{"plane_gain", &Forest::plane_gain, Of::planes});
    visit(Ints{"term_feature", &Forest::term_feature, Of::terms});
    visit(Ints{"term_coefficient", &Forest::term_coefficient, Of::terms});
    visit(Floats{"term_weight", &Forest::term_weight, Of::terms});
    visit(Ints{"set_start", &Forest::set_start, Of::planes, true, Of::categories});
    visit(Ints{"set_category", &Forest::set_category, Of::categories});
}

}  // namespace planewise
