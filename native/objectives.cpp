#include "objectives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dispatch.hpp"
#include "exponential.hpp"

namespace planewise {

namespace {

constexpr double least_hessian = 1e-16;
constexpr double most = 1e250;  // of an exponential: sums of so many stay finite

// ln(1 + e^x) without overflow.
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

double weighted_quantile(const std::vector<double> &value, const std::vector<double> &weight, double level) {
    std::vector<std::size_t> order(value.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value[a] < value[b]; });
    const double wanted = level * std::accumulate(weight.begin(), weight.end(), 0.0);
    double sum = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        sum += weight[order[k]];
        if (sum > wanted) return value[order[k]];
        // Exactly half on each side: the middle, as for an even number of equal weights.
        if (sum == wanted && k + 1 < order.size()) return (value[order[k]] + value[order[k + 1]]) / 2;
    }
    return order.empty() ? 0.0 : value[order.back()];
}

// y e^x, also where y is zero and the exponential endless.
double times_exp(double y, double x) { return y == 0 ? 0.0 : std::min(y * exponential(x), most); }

PLANEWISE_CLONES void exponentials(const double *x, double top, std::size_t count, double *out) {
    for (std::size_t k = 0; k < count; ++k) out[k] = exponential(x[k] - top);
}

PLANEWISE_CLONES void logistic_derivatives(const double *score, const double *target, const double *weight,
                                           std::size_t rows, double *gradient, double *hessian) {
    for (std::size_t i = 0; i < rows; ++i) {
        const double chance = 1.0 / (1.0 + exponential(-score[i])), spread = chance * (1 - chance);
        gradient[i] = weight[i] * (chance - target[i]);
        hessian[i] = weight[i] * (spread > least_hessian ? spread : least_hessian);
    }
}

void softmax_derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                         std::size_t outputs, double *gradient, double *hessian) {
    for (std::size_t i = 0; i < rows; ++i) {
        const double *f = score + i * outputs;
        double *g = gradient + i * outputs, *h = hessian + i * outputs;
        const double top = *std::max_element(f, f + outputs);
        double total = 0;
        exponentials(f, top, outputs, g);
        for (std::size_t k = 0; k < outputs; ++k) total += g[k];
        for (std::size_t k = 0; k < outputs; ++k) {
            const double p = g[k] / total;
            g[k] = weight[i] * (p - (static_cast<std::size_t>(target[i]) == k ? 1.0 : 0.0));
            h[k] = weight[i] * std::max(2 * p * (1 - p), least_hessian);
        }
    }
}

// Few bits, so that a whole number of rows adds up to the same as one row of that weight.
double coarse(double level) {
    const double rounded = std::nearbyint(std::ldexp(level, 16)) / std::ldexp(1, 16);
    return rounded > 0 && rounded < 1 ? rounded : level;
}

struct Slope {
    double gradient, hessian;
};

// Of a loss with one output, at score f.
Slope slope_at(const Objective &objective, double bound, double f, double y) {
    const double apart = f - y, p = objective.power;
    switch (objective.loss) {
        case Loss::absolute:
            return {apart > 0 ? 1.0 : apart < 0 ? -1.0 : 0.0, 1};
        case Loss::huber:
            return {std::clamp(apart, -bound, bound), 1};
        case Loss::quantile:
            return {apart >= 0 ? 1 - coarse(objective.alpha) : -coarse(objective.alpha), 1};
        case Loss::poisson: {
            const double mean = times_exp(1, f);
            return {mean - y, mean};
        }
        case Loss::gamma: {
            const double ratio = times_exp(y, -f);
            return {1 - ratio, std::max(ratio, least_hessian)};
        }
        case Loss::tweedie: {
            const double part = times_exp(y, (1 - p) * f), rest = times_exp(1, (2 - p) * f);
            return {rest - part, std::max((p - 1) * part + (2 - p) * rest, least_hessian)};
        }
        case Loss::logistic:
        case Loss::squared:
        case Loss::softmax:
        case Loss::ranking:
            break;
    }
    return {apart, 1};
}

void plain_derivatives(const Objective &objective, double bound, const double *score, const double *target,
                       const double *weight, std::size_t rows, double *gradient, double *hessian) {
    for (std::size_t i = 0; i < rows; ++i) {
        const Slope found = slope_at(objective, bound, score[i], target[i]);
        gradient[i] = weight[i] * found.gradient;
        hessian[i] = weight[i] * found.hessian;
    }
}

double softmax_loss(const double *f, std::size_t outputs, double label) {
    const double top = *std::max_element(f, f + outputs);
    double parts = 0;
    for (std::size_t k = 0; k < outputs; ++k) parts += std::exp(f[k] - top);
    return top + std::log(parts) - f[static_cast<std::size_t>(label)];
}

// Of the losses with logarithms as scores: half the deviance.
double loss_at(const Objective &objective, double bound, double f, double y) {
    const double apart = f - y, size = std::fabs(apart), p = objective.power;
    switch (objective.loss) {
        case Loss::squared:
            return apart * apart;
        case Loss::absolute:
            return size;
        case Loss::huber:
            return size <= bound ? 0.5 * apart * apart : bound * (size - 0.5 * bound);
        case Loss::quantile:
            return apart >= 0 ? (1 - objective.alpha) * apart : -objective.alpha * apart;
        case Loss::poisson:
            return times_exp(1, f) - y * f + (y > 0 ? y * std::log(y) - y : 0.0);
        case Loss::gamma:
            return f - std::log(y) + times_exp(y, -f) - 1;
        case Loss::tweedie:
            return std::pow(y, 2 - p) / ((1 - p) * (2 - p)) - times_exp(y, (1 - p) * f) / (1 - p) +
                   times_exp(1, (2 - p) * f) / (2 - p);
        case Loss::logistic:
            return softplus(f) - y * f;
        case Loss::softmax:
        case Loss::ranking:
            break;
    }
    return 0;
}

}  // namespace

double Objective::bound(const double *score, const double *target, const double *weight, std::size_t rows) const {
    if (loss != Loss::huber) return 0.0;
    std::vector<double> size(rows), counts(weight, weight + rows);
    for (std::size_t i = 0; i < rows; ++i) size[i] = std::fabs(target[i] - score[i]);
    const double found = weighted_quantile(size, counts, alpha);
    if (found > 0) return found;
    // Most rows fit already: the others decide, or nothing would be learned from them.
    for (std::size_t i = 0; i < rows; ++i)
        if (size[i] == 0) counts[i] = 0;
    return weighted_quantile(size, counts, alpha);
}

void Objective::derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                            double *gradient, double *hessian, Threads &threads) const {
    if (loss == Loss::ranking) return ranking.derivatives(score, target, weight, rows, gradient, hessian, threads);
    const double found = bound(score, target, weight, rows);
    threads.stretches(rows, 8 * outputs, [&](std::size_t begin, std::size_t end) {
        derivatives(score + begin * outputs, target + begin * targets(), weight + begin, end - begin, found,
                    gradient + begin * outputs, hessian + begin * outputs);
    });
}

void Objective::derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                            double found, double *gradient, double *hessian) const {
    if (loss == Loss::softmax)
        softmax_derivatives(score, target, weight, rows, outputs, gradient, hessian);
    else if (loss == Loss::logistic)
        logistic_derivatives(score, target, weight, rows, gradient, hessian);
    else
        plain_derivatives(*this, found, score, target, weight, rows, gradient, hessian);
}

double Objective::mean_loss(const double *score, const double *target, const double *weight, std::size_t rows) const {
    if (loss == Loss::ranking) return ranking.mean_loss(score, target, weight, rows);
    return loss_sums(score, target, weight, rows, bound(score, target, weight, rows)).mean();
}

LossSums Objective::loss_sums(const double *score, const double *target, const double *weight, std::size_t rows,
                              double found) const {
    LossSums sums;
    for (std::size_t i = 0; i < rows; ++i) {
        const double here = loss == Loss::softmax ? softmax_loss(score + i * outputs, outputs, target[i])
                                                  : loss_at(*this, found, score[i], target[i]);
        sums.loss.add(weight[i] * here);
        sums.weight.add(weight[i]);
    }
    return sums;
}

double Objective::best_constant(std::vector<double> residual, const std::vector<double> &weight) const {
    return weighted_quantile(residual, weight, loss == Loss::quantile ? alpha : 0.5);
}

}  // namespace planewise
