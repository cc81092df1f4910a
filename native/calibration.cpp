#include "calibration.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace planewise {

namespace {

constexpr double least_slope = 1e-6, most_slope = 1e6;  // in units of one over the usual margin
constexpr std::size_t most_steps = 100;
constexpr double settled = 1e-9;  // a relative change of the slope

double expit(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

// log(1 + exp(x))
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// By how much the other classes are ahead of the row's own, times `by`; returns how many they are.
std::size_t losing(const Scored &scored, std::size_t row, double by, double *out) {
    const double *own = scored.scores + row * scored.columns;
    if (scored.columns == 1) {
        out[0] = by * (scored.label[row] == 1 ? -own[0] : own[0]);
        return 1;
    }
    std::size_t count = 0;
    const std::size_t label = static_cast<std::size_t>(scored.label[row]);
    for (std::size_t c = 0; c < scored.columns; ++c)
        if (c != label) out[count++] = by * (own[c] - own[label]);
    return count;
}

struct Derivatives {
    double first = 0, second = 0;
};

// Of the loss, by the slope; it is convex.
Derivatives derivatives(const Scored &scored, const double *weight, double unit, double slope,
                        std::vector<double> &ahead) {
    Derivatives sum;
    for (std::size_t i = 0; i < scored.rows; ++i) {
        const std::size_t count = losing(scored, i, 1 / unit, ahead.data());
        double mean = 0, square = 0;
        if (count == 1) {
            const double p = expit(slope * ahead[0]);
            mean = p * ahead[0];
            square = p * ahead[0] * ahead[0];
        } else {
            double top = 0;  // the row's own class, against which the others are measured
            for (std::size_t c = 0; c < count; ++c) top = std::max(top, slope * ahead[c]);
            double total = std::exp(-top);
            for (std::size_t c = 0; c < count; ++c) {
                const double e = std::exp(slope * ahead[c] - top);
                total += e;
                mean += e * ahead[c];
                square += e * ahead[c] * ahead[c];
            }
            mean /= total;
            square /= total;
        }
        sum.first += weight[i] * mean;
        sum.second += weight[i] * (square - mean * mean);
    }
    const double even = expit(slope);
    sum.first += 2 * even - 1;
    sum.second += 2 * even * (1 - even);
    return sum;
}

}  // namespace

// Newton's steps, kept between bounds that close in.
double calibration_slope(const Scored &scored, const double *weight) {
    double usual = 0, total = 0;
    for (std::size_t i = 0; i < scored.rows; ++i) {
        double size = 0;
        for (std::size_t c = 0; c < scored.columns; ++c) size += std::fabs(scored.scores[i * scored.columns + c]);
        usual += weight[i] * size / static_cast<double>(scored.columns);
        total += weight[i];
    }
    usual = usual > 0 ? usual / total : 1.0;
    std::vector<double> ahead(std::max<std::size_t>(1, scored.columns));
    double low = least_slope, high = most_slope, slope = 1;
    for (std::size_t step = 0; step < most_steps; ++step) {
        const Derivatives by = derivatives(scored, weight, usual, slope, ahead);
        (by.first > 0 ? high : low) = slope;
        double next = slope - by.first / std::max(by.second, 1e-300);
        if (!(next > low && next < high)) next = std::sqrt(low * high);
        const bool done = std::fabs(next - slope) <= settled * slope;
        slope = next;
        if (done) break;
    }
    return slope / usual;
}

void log_losses(const Scored &scored, double slope, double *out) {
    std::vector<double> ahead(std::max<std::size_t>(1, scored.columns));
    for (std::size_t i = 0; i < scored.rows; ++i) {
        const std::size_t count = losing(scored, i, slope, ahead.data());
        if (count == 1) {
            out[i] = softplus(ahead[0]);
            continue;
        }
        double top = 0;
        for (std::size_t c = 0; c < count; ++c) top = std::max(top, ahead[c]);
        double sum = std::exp(-top);
        for (std::size_t c = 0; c < count; ++c) sum += std::exp(ahead[c] - top);
        out[i] = top + std::log(sum);
    }
}

}  // namespace planewise
