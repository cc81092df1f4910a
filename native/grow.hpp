// The loop: propose, measure, choose, route, level by level (or best node first).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "choose.hpp"
#include "forest.hpp"
#include "interactions.hpp"
#include "matrix.hpp"
#include "parallel.hpp"
#include "propose.hpp"
#include "statistics.hpp"

namespace planewise {

struct GrowOptions {
    int max_depth = 0;  // 0: no limit
    std::int64_t min_samples_split = 2;
    std::int64_t max_leaf_nodes = 0;  // 0: no limit, and growth by levels; else the best node first
    double min_impurity_decrease = 0;
    double min_loss = 0;      // a node whose mean impurity is not above this is a leaf
    double smoothing = 0;     // weight of the parent's value in a node's value, in units of the Hessian
    double prune_margin = 0;  // subtrees whose planes gain less than this times chance are cut back
    std::size_t max_rows_per_node = 4096;
    std::size_t max_features = 0;   // features a node below the root ranks; 0: all
    std::size_t root_features = 0;  // so many that are best at the root are all the tree may use; 0: all
    std::uint64_t seed = 0;
    std::vector<std::int32_t> features;  // columns the tree may use; none named: all
    const Directions *known = nullptr;   // directions that did well before: some of the candidates come from them
    // By column: 1, values may not fall as it rises; -1, not rise; 0, free. None given: all free. Needs one plane per
    // node.
    std::vector<std::int32_t> monotone;
    std::shared_ptr<const Interactions> interactions;  // which columns may meet on a path; none: all
    DrawOptions draw;
    ChooseOptions choose;
};

template <class S>
struct Grown {
    Forest tree;                     // a forest of one
    std::vector<std::int32_t> leaf;  // where each row it was grown on ended; -1 for the others
};

// Grows on the rows named (none: all of them). `stop` is asked now and then; when it says so, Interrupted is thrown.
template <class S>
Grown<S> grow(const Matrix &matrix, const S &statistics, const GrowOptions &options, Threads &threads,
              const std::function<bool()> &stop, std::vector<std::uint32_t> rows = {});

extern template Grown<Gradients> grow(const Matrix &, const Gradients &, const GrowOptions &, Threads &,
                                      const std::function<bool()> &, std::vector<std::uint32_t>);
extern template Grown<ClassCounts> grow(const Matrix &, const ClassCounts &, const GrowOptions &, Threads &,
                                        const std::function<bool()> &, std::vector<std::uint32_t>);

}  // namespace planewise
