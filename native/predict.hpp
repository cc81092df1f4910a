// Where rows end in fitted trees, and what they get there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "categories.hpp"
#include "forest.hpp"
#include "parallel.hpp"
#include "plane.hpp"
#include "small_trees.hpp"

namespace planewise {

// The planes of a forest read where they are, one row at a time: any number of planes and terms.
class PlainWalk {
  public:
    explicit PlainWalk(const Forest &forest);

    // The plane's sum for row x; of a plane on categories the row's part in its set.
    float sum(std::size_t plane, const float *x) const {
        const auto first = static_cast<std::size_t>(forest_.term_start[plane]);
        if (by_category(plane)) return forest_.term_weight[first] * sets_[plane].read(x[forest_.term_feature[first]]);
        return plane_sum<1>(&forest_.term_feature[first], &forest_.term_weight[first],
                            static_cast<std::size_t>(forest_.term_start[plane + 1]) - first - 1, x);
    }
    std::uint32_t side(std::size_t plane, float sum) const {
        return side_of(sum, forest_.threshold[plane], forest_.missing_right[plane]);
    }
    // The child (counted within the tree) to which row x goes from a node (counted over the forest); itself: it ends.
    std::int32_t child(std::size_t node, const float *x) const {
        const auto first = static_cast<std::size_t>(forest_.plane_start[node]),
                   last = static_cast<std::size_t>(forest_.plane_start[node + 1]);
        std::uint32_t code = 0;
        for (std::size_t plane = first; plane < last; ++plane) code |= side(plane, sum(plane, x)) << (plane - first);
        return forest_.children[static_cast<std::size_t>(forest_.child_start[node]) + code];
    }
    bool by_category(std::size_t plane) const { return forest_.set_start[plane] < forest_.set_start[plane + 1]; }

  private:
    const Forest &forest_;
    std::vector<CategorySet> sets_;  // by plane, if there are any
};

// The planes that one row meets in a tree.
struct Trace {
    std::vector<std::int32_t> node, plane;  // counted within the tree; over the forest
    std::vector<float> value;               // the plane's sum; of a plane on categories the row's category
    std::vector<std::uint8_t> right;
};

// Answers for many rows. All a node needs lies in one place, every node has the same number of planes and terms (filled
// up with ones that change nothing), and rows go down side by side without a branch. The forest must outlive it.
class Predictor {
  public:
    explicit Predictor(const Forest &forest) : forest_(forest) {}
    Predictor(const Predictor &) = delete;
    Predictor &operator=(const Predictor &) = delete;

    // node[row * trees + t]: the node of tree t in which a row of the row-major x ends, counted within the tree.
    void apply(const float *x, std::size_t rows, std::size_t columns, Threads &threads, std::int32_t *node) const;
    // out[row * n_outputs + k] += the values of trees first .. last-1 for output k.
    void add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
             Threads &threads, double *out) const;
    bool has_small_trees() const { return small_trees() != nullptr; }
    Trace trace(const float *x, std::size_t tree) const;

    // How rows go down: the packed form, or for large nodes the plain one.
    class Walk {
      public:
        virtual ~Walk() = default;
        // The node in which each row ends, counted over the forest.
        virtual void find(std::size_t tree, const float *x, std::size_t rows, std::size_t columns,
                          std::int32_t *node) const = 0;
    };

  private:
    template <class Value>
    void add_values(const std::vector<Value> &value, const float *x, std::size_t rows, std::size_t columns,
                    std::size_t first, std::size_t last, double *out) const;

    // For these rows. Planes are filled up with weights of zero, which infinities do not bear.
    const Walk &walk(const float *x, std::size_t rows, std::size_t columns) const;
    const SmallTrees *small_trees() const;

    const Forest &forest_;
    // Made when first needed.
    mutable std::once_flag walk_made_, plain_made_, small_trees_made_;
    mutable std::unique_ptr<const Walk> walk_, plain_;
    mutable std::unique_ptr<const SmallTrees> small_trees_;
};

}  // namespace planewise
