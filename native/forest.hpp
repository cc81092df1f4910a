// Many trees in one set of flat arrays, and the packed form that answers quickly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"
#include "tree.hpp"

namespace planewise {

// Trees one after another: tree t has the nodes node_start[t] .. node_start[t+1]; children are counted within the tree.
struct Forest {
    Tree all;  // plane_start, child_start and term_start run on through all trees
    std::vector<std::int32_t> node_start{0};

    std::size_t trees() const { return node_start.size() - 1; }
    void append(const Tree &tree);
};

// What a packed forest is made from: arrays as somebody else keeps them (see Tree and Forest).
struct ForestView {
    std::size_t trees, nodes, planes;
    std::size_t values;   // numbers a leaf holds
    std::size_t outputs;  // as many; or, when leaves hold one, how many outputs the trees take turns with
    const std::int32_t *node_start, *plane_start, *child_start, *children, *term_start, *term_feature;
    const float *threshold, *term_weight, *value;
    const std::uint8_t *missing_right;
    const std::int32_t *set_start, *set_category;
};

// Sums of leaf values over trees, quickly: all a node needs lies in one place, every node has the same number of planes
// and terms (filled up with ones that change nothing), and rows go down side by side without a branch.
class Predictor {
  public:
    virtual ~Predictor() = default;
    // out[row * outputs + k] += the values of trees first .. last-1 for output k; row-major x. All rows go through one
    // tree before the next, so hand over as many as stay in the cache.
    virtual void add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
                     double *out) const = 0;
};

std::unique_ptr<Predictor> pack(const ForestView &forest);

}  // namespace planewise
