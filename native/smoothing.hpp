// How strongly a tree's values are shrunk towards those of the nodes above: found by rows the tree was not grown from.
//
// Data with noise wants much of it, data without none, and the loss on the training rows cannot tell them apart. So now
// and then some rows are set aside while a tree is grown, and every strength is asked what it would have done for them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace planewise {

class SmoothingSearch {
  public:
    static constexpr std::array<double, 8> strengths{0, 0.5, 1, 2, 4, 8, 16, 32};
    static constexpr std::size_t every = 4;  // trees per output from one trial to the next
    static constexpr double aside = 0.25;    // the share of rows set aside in a trial
    static constexpr std::size_t usual = 5;  // before any trial
    using Losses = std::array<double, strengths.size()>;

    double strength() const {
        std::size_t best = usual;
        for (std::size_t k = 0; k < strengths.size(); ++k)
            if (losses_[k] < losses_[best]) best = k;
        return strengths[best];
    }

    // The sums of each node over what the tree was grown from, and over the rest. `share` scales the strengths to what
    // Hessian is left.
    template <class S>
    void judge(const S &inside, const S &outside, const Forest &tree, const std::int64_t *sums_inside,
               const std::int64_t *sums_outside, double share) {
        // Half a step: a whole one would be the last word of the tree, and in boosting others follow.
        constexpr double step = 0.5, memory = 0.7;
        const std::size_t width = inside.channels(), outputs = tree.n_values;
        std::vector<double> value(tree.nodes() * outputs);
        for (std::size_t k = 0; k < strengths.size(); ++k) {
            double loss = 0;
            for (std::size_t node = 0; node < tree.nodes(); ++node) {
                double *here = &value[node * outputs];
                const double *above =
                    node == 0 ? nullptr : &value[static_cast<std::size_t>(tree.parent[node]) * outputs];
                inside.value(sums_inside + node * width, here, above, node == 0 ? 0.0 : strengths[k] * share);
                if (tree.is_leaf(node)) loss += outside.loss(sums_outside + node * width, here, step);
            }
            losses_[k] = memory * losses_[k] + loss;
        }
    }

    const Losses &losses() const { return losses_; }
    void set_losses(const Losses &losses) { losses_ = losses; }

  private:
    Losses losses_{};  // of the rows set aside, the latest trials counting most
};

}  // namespace planewise
