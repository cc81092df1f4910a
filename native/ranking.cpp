#include "ranking.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace planewise {

namespace {

// Where queries begin, and last the number of rows.
std::vector<std::size_t> starts(const double *target, std::size_t rows) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < rows; ++i)
        if (i == 0 || target[QueryRanking::targets * i + 1] != target[QueryRanking::targets * (i - 1) + 1])
            out.push_back(i);
    out.push_back(rows);
    return out;
}

std::vector<double> gains_of(const QueryRanking &ranking, const double *target, std::size_t rows) {
    std::vector<double> out(rows);
    for (std::size_t i = 0; i < rows; ++i) out[i] = ranking.gain(target[QueryRanking::targets * i]);
    return out;
}

double discount(std::size_t place) { return 1 / std::log2(static_cast<double>(place) + 2); }

// The rows of a query from the highest score to the lowest, in tiers of equal scores.
struct Order {
    std::vector<std::size_t> row;    // by place
    std::vector<std::size_t> tier;   // by place
    std::vector<std::size_t> first;  // by tier: its first place, and last the number of rows

    void sort(const double *score, std::size_t rows) {
        row.resize(rows);
        std::iota(row.begin(), row.end(), std::size_t{0});
        std::stable_sort(row.begin(), row.end(), [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
        tier.resize(rows);
        first.clear();
        for (std::size_t k = 0; k < rows; ++k) {
            if (k == 0 || score[row[k]] != score[row[k - 1]]) first.push_back(k);
            tier[k] = first.size() - 1;
        }
        first.push_back(rows);
    }
};

// What the best order of these rows is worth.
double best_sum(std::vector<double> gains, std::size_t places) {
    std::sort(gains.begin(), gains.end(), std::greater<double>());
    double sum = 0;
    for (std::size_t k = 0; k < std::min(places, gains.size()); ++k) sum += gains[k] * discount(k);
    return sum;
}

// How far the discounts of two rows are apart: of different tiers, that of their means; of one, the mean over all pairs
// of its places.
struct Distances {
    std::vector<double> mean, within;  // by tier

    explicit Distances(const Order &order) {
        for (std::size_t t = 0; t + 1 < order.first.size(); ++t) {
            const std::size_t begin = order.first[t], count = order.first[t + 1] - begin;
            double sum = 0, apart = 0;
            for (std::size_t k = 0; k < count; ++k) {
                sum += discount(begin + k);
                apart += discount(begin + k) * (static_cast<double>(count) - 1 - 2 * static_cast<double>(k));
            }
            const auto n = static_cast<double>(count);
            mean.push_back(sum / n);
            within.push_back(count > 1 ? 2 * apart / (n * (n - 1)) : 0.0);
        }
    }
    double operator()(std::size_t a, std::size_t b) const { return a == b ? within[a] : std::fabs(mean[a] - mean[b]); }
};

void query_derivatives(const QueryRanking &ranking, const double *score, const double *target, const double *weight,
                       std::size_t rows, double *gradient, double *hessian) {
    std::fill_n(gradient, rows, 0.0);
    std::fill_n(hessian, rows, 0.0);
    const std::vector<double> gains = gains_of(ranking, target, rows);
    const double best = best_sum(gains, rows);
    if (!(best > 0)) return;
    Order order;
    order.sort(score, rows);
    const Distances distance(order);
    const std::size_t compared = ranking.truncation == 0 ? rows : ranking.truncation;
    for (std::size_t a = 0; a < rows && order.first[order.tier[a]] < compared; ++a)
        for (std::size_t b = a + 1; b < rows; ++b) {
            std::size_t high = order.row[a], low = order.row[b];
            if (gains[high] == gains[low]) continue;
            if (gains[high] < gains[low]) std::swap(high, low);
            const double at_stake = (gains[high] - gains[low]) * distance(order.tier[a], order.tier[b]) / best;
            const double wrong = 1 / (1 + std::exp(score[high] - score[low]));  // how likely their order is
            gradient[high] -= wrong * at_stake;
            gradient[low] += wrong * at_stake;
            hessian[high] += wrong * (1 - wrong) * at_stake;
            hessian[low] += wrong * (1 - wrong) * at_stake;
        }
    for (std::size_t i = 0; i < rows; ++i) gradient[i] *= weight[i], hessian[i] *= weight[i];
}

}  // namespace

double QueryRanking::gain(double grade) const { return linear_gain ? grade : std::exp2(grade) - 1; }

void QueryRanking::derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                               double *gradient, double *hessian, Threads &threads) const {
    const std::vector<std::size_t> start = starts(target, rows);
    threads.each(start.size() - 1, 64 * rows, [&](std::size_t k, int) {
        const std::size_t at = start[k];
        query_derivatives(*this, score + at, target + targets * at, weight + at, start[k + 1] - at, gradient + at,
                          hessian + at);
    });
}

double QueryRanking::mean_loss(const double *score, const double *target, const double *weight,
                               std::size_t rows) const {
    const std::vector<std::size_t> start = starts(target, rows);
    double total = 0, sum = 0;
    Order order;
    for (std::size_t k = 0; k + 1 < start.size(); ++k) {
        const std::size_t at = start[k], count = start[k + 1] - at, counted = places == 0 ? count : places;
        const std::vector<double> gains = gains_of(*this, target + targets * at, count);
        const double best = best_sum(gains, counted);
        if (!(best > 0)) continue;
        order.sort(score + at, count);
        double reached = 0;
        for (std::size_t t = 0; t + 1 < order.first.size(); ++t) {
            double worth = 0, discounts = 0;
            for (std::size_t place = order.first[t]; place < order.first[t + 1]; ++place) {
                worth += gains[order.row[place]];
                discounts += place < counted ? discount(place) : 0.0;
            }
            reached += worth * discounts / static_cast<double>(order.first[t + 1] - order.first[t]);
        }
        const double weigh = std::accumulate(weight + at, weight + at + count, 0.0) / static_cast<double>(count);
        total += weigh * (1 - reached / best);
        sum += weigh;
    }
    return sum > 0 ? total / sum : 0.0;
}

}  // namespace planewise
