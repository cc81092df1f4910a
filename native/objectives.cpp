#include "objectives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace planewise {

namespace {

constexpr double least_hessian = 1e-16;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

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

// Where a residual stops counting squared: the alpha-quantile of their sizes now.
double huber_bound(const double *score, const double *target, const double *weight, std::size_t rows, double alpha) {
    std::vector<double> size(rows);
    for (std::size_t i = 0; i < rows; ++i) size[i] = std::fabs(target[i] - score[i]);
    std::vector<double> counts(weight, weight + rows);
    const double bound = weighted_quantile(size, counts, alpha);
    if (bound > 0) return bound;
    // Most rows fit already: the others decide, or nothing would be learned from them.
    for (std::size_t i = 0; i < rows; ++i)
        if (size[i] == 0) counts[i] = 0;
    return weighted_quantile(size, counts, alpha);
}

void softmax_derivatives(const double *score, const double *target, const double *weight, std::size_t begin,
                         std::size_t end, std::size_t outputs, double *gradient, double *hessian) {
    for (std::size_t i = begin; i < end; ++i) {
        const double *f = score + i * outputs;
        double *g = gradient + i * outputs, *h = hessian + i * outputs;
        const double top = *std::max_element(f, f + outputs);
        double total = 0;
        for (std::size_t k = 0; k < outputs; ++k) total += g[k] = std::exp(f[k] - top);
        for (std::size_t k = 0; k < outputs; ++k) {
            const double p = g[k] / total;
            g[k] = weight[i] * (p - (static_cast<std::size_t>(target[i]) == k ? 1.0 : 0.0));
            h[k] = weight[i] * std::max(2 * p * (1 - p), least_hessian);
        }
    }
}

void plain_derivatives(const Objective &objective, double bound, const double *score, const double *target,
                       const double *weight, std::size_t begin, std::size_t end, double *gradient, double *hessian) {
    const double alpha = objective.alpha;
    for (std::size_t i = begin; i < end; ++i) {
        const double f = score[i], y = target[i], apart = f - y;
        double g = apart, h = 1;
        switch (objective.loss) {
            case Loss::absolute:
                g = apart > 0 ? 1 : apart < 0 ? -1 : 0;
                break;
            case Loss::huber:
                g = std::clamp(apart, -bound, bound);
                break;
            case Loss::quantile:
                g = apart >= 0 ? 1 - alpha : -alpha;
                break;
            case Loss::poisson:
                h = std::exp(f), g = h - y;
                break;
            case Loss::logistic: {
                const double p = sigmoid(f);
                g = p - y, h = std::max(p * (1 - p), least_hessian);
                break;
            }
            case Loss::squared:
            case Loss::softmax:
                break;
        }
        gradient[i] = weight[i] * g;
        hessian[i] = weight[i] * h;
    }
}

}  // namespace

void Objective::derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                            double *gradient, double *hessian, Threads &threads) const {
    const double bound = loss == Loss::huber ? huber_bound(score, target, weight, rows, alpha) : 0.0;
    threads.stretches(rows, 8 * outputs, [&](std::size_t begin, std::size_t end) {
        if (loss == Loss::softmax)
            softmax_derivatives(score, target, weight, begin, end, outputs, gradient, hessian);
        else
            plain_derivatives(*this, bound, score, target, weight, begin, end, gradient, hessian);
    });
}

double Objective::mean_loss(const double *score, const double *target, const double *weight, std::size_t rows) const {
    const double bound = loss == Loss::huber ? huber_bound(score, target, weight, rows, alpha) : 0.0;
    double total = 0, sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const double y = target[i], apart = score[i * outputs] - y, size = std::fabs(apart);
        double here = 0;
        switch (loss) {
            case Loss::squared:
                here = apart * apart;
                break;
            case Loss::absolute:
                here = size;
                break;
            case Loss::huber:
                here = size <= bound ? 0.5 * apart * apart : bound * (size - 0.5 * bound);
                break;
            case Loss::quantile:
                here = apart >= 0 ? (1 - alpha) * apart : -alpha * apart;
                break;
            case Loss::poisson:  // half the deviance
                here = std::exp(score[i]) - y * score[i] + (y > 0 ? y * std::log(y) - y : 0.0);
                break;
            case Loss::logistic:
                here = softplus(score[i]) - y * score[i];
                break;
            case Loss::softmax: {
                const double *f = score + i * outputs;
                const double top = *std::max_element(f, f + outputs);
                double parts = 0;
                for (std::size_t k = 0; k < outputs; ++k) parts += std::exp(f[k] - top);
                here = top + std::log(parts) - f[static_cast<std::size_t>(y)];
                break;
            }
        }
        sum += weight[i] * here;
        total += weight[i];
    }
    return total > 0 ? sum / total : 0.0;
}

double Objective::best_constant(std::vector<double> residual, const std::vector<double> &weight) const {
    return weighted_quantile(residual, weight, loss == Loss::quantile ? alpha : 0.5);
}

}  // namespace planewise
