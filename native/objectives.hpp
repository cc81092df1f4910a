// Losses that boosting can lower: gradient and Hessian in the raw score, and leaf values where Newton's step is no
// good.
#pragma once

#include <cstddef>
#include <vector>

#include "exact_sum.hpp"
#include "parallel.hpp"
#include "ranking.hpp"

namespace planewise {

enum class Loss { squared, absolute, huber, quantile, poisson, gamma, tweedie, logistic, softmax, ranking };

// The same in whatever order rows are added up.
struct LossSums {
    ExactSum loss, weight;  // weighted
    void add(const LossSums &other) {
        loss.add(other.loss);
        weight.add(other.weight);
    }
    double mean() const {
        const double total = weight.value();
        return total > 0 ? loss.value() / total : 0.0;
    }
};

struct Objective {
    Loss loss = Loss::squared;
    double alpha = 0.5;       // quantile: its level; huber: share of residuals that count squared
    std::size_t outputs = 1;  // softmax: classes; all others have one
    double power = 1.5;       // tweedie: the variance is proportional to this power of the mean

    QueryRanking ranking{};  // of rows in queries

    // Numbers that the target has per row.
    std::size_t targets() const { return loss == Loss::ranking ? QueryRanking::targets : 1; }
    // score and gradients are rows x outputs, target is rows x targets; that of logistic and softmax is the number of
    // the class, that of ranking as `QueryRanking` has it.
    void derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                     double *gradient, double *hessian, Threads &threads) const;
    // Of some rows; not for ranking, where rows depend on each other. `bound` is that of all rows.
    void derivatives(const double *score, const double *target, const double *weight, std::size_t rows, double bound,
                     double *gradient, double *hessian) const;
    // Huber's loss: where a residual stops counting squared: the alpha-quantile of their sizes now.
    double bound(const double *score, const double *target, const double *weight, std::size_t rows) const;
    // Weighted mean loss.
    double mean_loss(const double *score, const double *target, const double *weight, std::size_t rows) const;
    // Its sums, which can be added up over parts of the rows; not for ranking.
    LossSums loss_sums(const double *score, const double *target, const double *weight, std::size_t rows,
                       double bound) const;
    // Absolute and quantile loss: the best constant for these residuals replaces the leaf's Newton step.
    bool renews_leaves() const { return loss == Loss::absolute || loss == Loss::quantile; }
    // Scores are logarithms of what is predicted.
    bool has_log_link() const { return loss == Loss::poisson || loss == Loss::gamma || loss == Loss::tweedie; }
    double best_constant(std::vector<double> residual, const std::vector<double> &weight) const;
};

}  // namespace planewise
