// Rows of a boosting fit, or one part of them: features where they lie, targets, weights and scores, and what a round
// asks of them. Derivatives are computed when they are needed, not kept: a row costs its target, weight, scores and the
// node it ended in.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "objectives.hpp"
#include "rounds.hpp"
#include "statistics.hpp"

namespace planewise {

class BoostRows {
  public:
    // `values` are rows x columns, `target` rows x targets of the objective, and like `weight` they must outlive this.
    // `score` is rows x outputs; `first` is the number of the first row among all rows.
    BoostRows(const float *values, std::size_t columns, const double *target, const double *weight,
              std::vector<double> score, const Objective &objective, std::uint64_t first = 0);

    std::size_t rows() const { return score_.size() / outputs(); }
    std::size_t columns() const { return columns_; }
    std::size_t outputs() const { return objective_.outputs; }
    const float *row(std::size_t i) const { return values_ + i * columns_; }
    const std::vector<double> &score() const { return score_; }
    std::vector<double> &score() { return score_; }
    const double *target() const { return target_; }
    const double *weight() const { return weight_; }
    const std::vector<std::int32_t> &leaves() const { return leaf_; }  // of the round's trees, rows x trees

    // The round's derivatives are the caller's (rows x outputs) rather than the objective's; null: the objective's.
    void use_derivatives(const double *gradient, const double *hessian) { gradient_ = gradient, hessian_ = hessian; }
    // Huber's loss: what only all rows together know.
    void find_bound() { bound_ = objective_.bound(score_.data(), target_, weight_, rows()); }

    // Derivatives at the scores now of rows begin .. end-1.
    void derivatives(std::size_t begin, std::size_t end, double *gradient, double *hessian) const;
    // Their largest ones, by output.
    std::vector<GradientSizes> sizes(Threads &threads) const;
    // Features of some rows; their derivatives and weights.
    std::vector<float> values_of(const std::uint32_t *named, std::size_t count, Threads &threads) const;
    struct Slopes {
        std::vector<double> gradient, hessian, weight;
    };
    Slopes slopes_of(const std::uint32_t *named, std::size_t count, Threads &threads) const;
    // Sends all rows down a round's trees, and adds up those in the bag by the node in which they end, on the grid of
    // these sizes (by tree): nodes x sum_width.
    std::vector<std::int64_t> route(const Forest &trees, const std::vector<GradientSizes> &sizes, const Bag &bag,
                                    Threads &threads);
    // Moves the scores by the values of the nodes that rows were sent to.
    void move(const Forest &trees, Threads &threads);
    // Sends all rows down any number of trees and adds their values, as `route` and `move` do for each round.
    void follow(const Forest &trees, Threads &threads);

    LossSums loss_sums(Threads &threads) const;
    double mean_loss(Threads &threads) const;

  private:
    const float *values_;
    std::size_t columns_;
    const double *target_, *weight_;
    std::vector<double> score_;
    Objective objective_;
    std::uint64_t first_;
    double bound_ = 0;
    const double *gradient_ = nullptr, *hessian_ = nullptr;
    std::vector<std::int32_t> leaf_;
};

}  // namespace planewise
