// How deep trees are grown, and how strongly their values are shrunk towards those of the nodes above: both found by
// rows a tree was not grown from.
//
// Data with noise wants shallow trees and much shrinkage, data without neither, and the loss on the training rows
// cannot tell them apart. So now and then some rows are set aside while a tree is grown one level deeper than usual,
// and every depth and strength is asked what it would have done for them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace planewise {

class TreeTrials {
  public:
    static constexpr std::array<double, 8> strengths{0, 0.5, 1, 2, 4, 8, 16, 32};
    static constexpr int usual_depth = 3, deepest = 6;  // levels
    static constexpr std::size_t every = 4;             // trees per output from one trial to the next
    static constexpr double aside = 0.25;               // the share of rows set aside in a trial
    // By strength and by depth, 1 .. deepest. The last depth stands for a tree as deep as it was grown.
    using Losses = std::array<double, strengths.size() * deepest>;

    // A depth or a strength that is given is not searched; none is given as a negative number.
    TreeTrials(int depth, double strength) : depth_(depth), strength_(strength) {}

    double strength() const { return strength_ < 0 ? strengths[choice() / deepest] : strength_; }
    int depth() const { return depth_ < 0 ? static_cast<int>(choice() % deepest) + 1 : depth_; }
    int depth_on_trial() const { return depth_ < 0 ? std::min(depth() + 1, deepest) : depth_; }

    // The sums of each node over what the tree was grown from, and over the rest. `share` scales the strengths to what
    // Hessian is left.
    void judge(const Gradients &inside, const Gradients &outside, const Forest &tree, const std::int64_t *sums_inside,
               const std::int64_t *sums_outside, double share) {
        // Half a step: a whole one would be the last word of the tree, and in boosting others follow.
        constexpr double step = 0.5, memory = 0.7;
        const std::size_t width = inside.channels();
        std::vector<double> value(tree.nodes());
        for (double &loss : losses_) loss *= memory;
        for (std::size_t k = 0; k < strengths.size(); ++k) {
            const double strength = strength_ < 0 ? strengths[k] : strength_;
            for (std::size_t node = 0; node < tree.nodes(); ++node) {
                double *here = &value[node];
                const double *above = node == 0 ? nullptr : &value[static_cast<std::size_t>(tree.parent[node])];
                inside.value(sums_inside + node * width, here, above, node == 0 ? 0.0 : strength * share);
                add(k, tree.depth[node], tree.is_leaf(node), outside.loss(sums_outside + node * width, here, step));
            }
        }
    }

    const Losses &losses() const { return losses_; }
    void set_losses(const Losses &losses) { losses_ = losses; }

  private:
    // A leaf ends the way of its rows in trees of its depth and of all deeper ones; another node only where a tree ends
    // at its depth.
    void add(std::size_t strength, int depth, bool leaf, double loss) {
        const int first = std::clamp(depth, 1, deepest), last = leaf ? deepest : depth;
        if (!leaf && (depth < 1 || depth >= deepest)) return;
        for (int d = first; d <= last; ++d) losses_[strength * deepest + static_cast<std::size_t>(d) - 1] += loss;
    }

    std::size_t best_strength(int depth) const {
        constexpr std::size_t usual = 5;
        const auto at = [&](std::size_t k) { return k * deepest + static_cast<std::size_t>(depth) - 1; };
        std::size_t best = usual;
        for (std::size_t k = 0; k < strengths.size(); ++k)
            if (losses_[at(k)] < losses_[at(best)]) best = k;
        return at(best);
    }

    // From the usual depth a level at a time, as long as it is clearly better: in the first rounds nearly everything is
    // better with more cells, and what they got wrong stays.
    std::size_t choice() const {
        if (depth_ >= 0) return best_strength(deepest);
        constexpr double clearly = 0.05;
        std::size_t best = best_strength(usual_depth);
        const auto try_depth = [&](int depth) {
            const std::size_t other = best_strength(depth);
            if (losses_[other] < losses_[best] - clearly * std::fabs(losses_[best])) best = other;
        };
        for (int depth = usual_depth + 1; depth <= deepest; ++depth) try_depth(depth);
        for (int depth = usual_depth - 1; depth >= 1; --depth) try_depth(depth);
        return best;
    }

    int depth_;
    double strength_;
    Losses losses_{};  // of the rows set aside, the latest trials counting most
};

}  // namespace planewise
