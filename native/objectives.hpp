// Losses that boosting can lower: gradient and Hessian in the raw score, and leaf values where Newton's step is no
// good.
#pragma once

#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace planewise {

enum class Loss { squared, absolute, huber, quantile, poisson, logistic, softmax };

struct Objective {
    Loss loss = Loss::squared;
    double alpha = 0.5;       // quantile: its level; huber: share of residuals that count squared
    std::size_t outputs = 1;  // softmax: classes

    // score and gradients are rows x outputs; the target of logistic and softmax is the number of the class.
    void derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                     double *gradient, double *hessian, Threads &threads) const;
    // Weighted mean loss.
    double mean_loss(const double *score, const double *target, const double *weight, std::size_t rows) const;
    // Absolute and quantile loss: the best constant for these residuals replaces the leaf's Newton step.
    bool renews_leaves() const { return loss == Loss::absolute || loss == Loss::quantile; }
    // Scores are logarithms of what is predicted.
    bool has_log_link() const { return loss == Loss::poisson; }
    double best_constant(std::vector<double> residual, const std::vector<double> &weight) const;
};

}  // namespace planewise
