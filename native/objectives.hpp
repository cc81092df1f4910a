// Losses that boosting can lower: gradient and Hessian in the raw score, and leaf values where Newton's step is no
// good.
#pragma once

#include <cstddef>
#include <vector>

#include "parallel.hpp"
#include "ranking.hpp"

namespace planewise {

enum class Loss { squared, absolute, huber, quantile, poisson, gamma, tweedie, logistic, softmax, ranking };

struct Objective {
    Loss loss = Loss::squared;
    double alpha = 0.5;            // quantile: its level; huber: share of residuals that count squared
    std::size_t outputs = 1;       // softmax: classes
    std::size_t targets = 1;       // numbers to predict per row: one, or as many as outputs
    double power = 1.5;            // tweedie: the variance is proportional to this power of the mean
    std::vector<double> levels{};  // several quantiles of one target: the level of each output, increasing

    QueryRanking ranking{};  // of rows in queries

    // score and gradients are rows x outputs, target is rows x targets; that of logistic and softmax is the number of
    // the class, that of ranking as `QueryRanking` has it.
    void derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                     double *gradient, double *hessian, Threads &threads) const;
    // Weighted mean loss, averaged over the outputs; that of several quantiles after sorting them.
    double mean_loss(const double *score, const double *target, const double *weight, std::size_t rows) const;
    // Absolute and quantile loss: the best constant for these residuals replaces the leaf's Newton step.
    bool renews_leaves() const { return loss == Loss::absolute || loss == Loss::quantile; }
    // Scores are logarithms of what is predicted.
    bool has_log_link() const { return loss == Loss::poisson || loss == Loss::gamma || loss == Loss::tweedie; }
    double best_constant(std::vector<double> residual, const std::vector<double> &weight, std::size_t output = 0) const;
    double level(std::size_t output) const { return levels.empty() ? alpha : levels[output]; }
    // Where the target of an output is in `target`.
    std::size_t place(std::size_t row, std::size_t output) const { return targets == 1 ? row : row * targets + output; }
};

}  // namespace planewise
