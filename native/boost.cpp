#include "boost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random.hpp"

namespace planewise {

namespace {

constexpr double longest_log_step = 0.7;  // a tree at most doubles a rate

// Rows that were not drawn for a tree find their leaf in the columns themselves.
std::int32_t descend(const Tree &tree, const Matrix &matrix, std::size_t row) {
    for (std::int32_t node = 0;;) {
        const auto at = static_cast<std::size_t>(node);
        std::int32_t code = 0;
        for (std::int32_t plane = tree.plane_start[at]; plane < tree.plane_start[at + 1]; ++plane) {
            const auto k = static_cast<std::size_t>(plane);
            auto term = static_cast<std::size_t>(tree.term_start[k]);
            const auto end = static_cast<std::size_t>(tree.term_start[k + 1]);
            const auto value = [&](std::size_t t) {
                return tree.term_weight[t] * matrix.column(static_cast<std::size_t>(tree.term_feature[t]))[row];
            };
            float v = value(term);
            for (++term; term < end; ++term) v += value(term);
            const bool right = v >= tree.threshold[k] || (v != v && tree.missing_right[k] != 0);
            code |= static_cast<std::int32_t>(right) << (plane - tree.plane_start[at]);
        }
        const std::int32_t next = tree.children[static_cast<std::size_t>(tree.child_start[at] + code)];
        if (next == node) return node;
        node = next;
    }
}

}  // namespace

Booster::Booster(const Matrix &matrix, std::vector<double> target, std::vector<double> weight,
                 std::vector<double> score, std::size_t trees, const BoostOptions &options)
    : matrix_(matrix),
      options_(options),
      target_(std::move(target)),
      weight_(std::move(weight)),
      score_(std::move(score)),
      gradient_(score_.size()),
      hessian_(score_.size()),
      tree_(trees) {}

double Booster::mean_loss() const {
    return options_.objective.mean_loss(score_.data(), target_.data(), weight_.data(), matrix_.rows);
}

void Booster::watch(const Matrix &matrix, std::vector<double> target, std::vector<double> weight,
                    std::vector<double> score) {
    watched_ = {&matrix, std::move(target), std::move(weight), std::move(score)};
}

double Booster::watched_loss() const {
    return options_.objective.mean_loss(watched_.score.data(), watched_.target.data(), watched_.weight.data(),
                                        watched_.target.size());
}

void Booster::round(Threads &threads, const std::function<bool()> &stop) {
    options_.objective.derivatives(score_.data(), target_.data(), weight_.data(), matrix_.rows, gradient_.data(),
                                   hessian_.data());
    round_with(gradient_.data(), hessian_.data(), threads, stop);
}

void Booster::round_with(const double *gradient, const double *hessian, Threads &threads,
                         const std::function<bool()> &stop) {
    const std::size_t rows = matrix_.rows, count = outputs();
    if (count == 1) return grow_one(0, gradient, hessian, threads, stop);
    std::vector<double> g(rows), h(rows);
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < rows; ++i) g[i] = gradient[i * count + k], h[i] = hessian[i * count + k];
        grow_one(k, g.data(), h.data(), threads, stop);
    }
}

void Booster::grow_one(std::size_t output, const double *gradient, const double *hessian, Threads &threads,
                       const std::function<bool()> &stop) {
    Random random(options_.seed, tree_);
    GrowOptions options = options_.grow;
    options.seed = random.next();
    if (options_.colsample < 1) options.features = draw_columns(random);
    Gradients statistics(options_.reg_lambda);
    statistics.assign(gradient, hessian, matrix_.rows);
    const bool sampled = options_.subsample < 1;
    auto grown =
        grow(matrix_, statistics, options, threads, stop, sampled ? draw_rows(random) : std::vector<std::uint32_t>{});
    if (sampled)
        threads.each((matrix_.rows + 16383) / 16384, [&](std::size_t piece, int) {
            const std::size_t end = std::min(matrix_.rows, (piece + 1) * 16384);
            for (std::size_t row = piece * 16384; row < end; ++row)
                if (grown.leaf[row] < 0) grown.leaf[row] = descend(grown.tree, matrix_, row);
        });
    if (options_.objective.renews_leaves()) renew_leaves(grown.leaf, grown.tree);
    if (options_.objective.loss == Loss::poisson)  // Newton's step on an exponential can overshoot without end
        for (double &value : grown.tree.value) value = std::clamp(value, -longest_log_step, longest_log_step);
    // Rounded to what prediction will add, so that scores here and there are the same.
    for (double &value : grown.tree.value)
        value = static_cast<double>(static_cast<float>(options_.learning_rate * value));
    const std::size_t count = outputs();
    for (std::size_t i = 0; i < matrix_.rows; ++i)
        score_[i * count + output] += grown.tree.value[static_cast<std::size_t>(grown.leaf[i])];
    for (std::size_t i = 0; i < watched_.target.size(); ++i)
        watched_.score[i * count + output] +=
            grown.tree.value[static_cast<std::size_t>(descend(grown.tree, *watched_.matrix, i))];
    forest_.append(grown.tree);
    ++tree_;
}

// Inner nodes keep their Newton step: only a row in a cell without training rows will ever see it.
void Booster::renew_leaves(const std::vector<std::int32_t> &leaf, Tree &tree) const {
    const std::size_t nodes = tree.nodes();
    std::vector<std::vector<double>> residual(nodes), weight(nodes);
    for (std::size_t i = 0; i < matrix_.rows; ++i) {
        residual[static_cast<std::size_t>(leaf[i])].push_back(target_[i] - score_[i]);
        weight[static_cast<std::size_t>(leaf[i])].push_back(weight_[i]);
    }
    for (std::size_t node = 0; node < nodes; ++node)
        if (!residual[node].empty())
            tree.value[node] = options_.objective.best_constant(std::move(residual[node]), weight[node]);
}

// Without replacement, in ascending order: each row with the probability that fills the sample.
std::vector<std::uint32_t> Booster::draw_rows(Random &random) const {
    const auto wanted =
        static_cast<std::size_t>(std::max(1.0, std::nearbyint(options_.subsample * static_cast<double>(matrix_.rows))));
    std::vector<std::uint32_t> rows;
    rows.reserve(wanted);
    for (std::size_t i = 0; i < matrix_.rows && rows.size() < wanted; ++i)
        if (random.below(static_cast<std::uint32_t>(matrix_.rows - i)) < wanted - rows.size())
            rows.push_back(static_cast<std::uint32_t>(i));
    return rows;
}

std::vector<std::int32_t> Booster::draw_columns(Random &random) const {
    std::vector<std::int32_t> usable;
    for (std::size_t j = 0; j < matrix_.columns; ++j)
        if (matrix_.scale[j] > 0) usable.push_back(static_cast<std::int32_t>(j));
    const auto wanted = static_cast<std::size_t>(
        std::max(1.0, std::nearbyint(options_.colsample * static_cast<double>(usable.size()))));
    for (std::size_t k = 0; k + 1 < usable.size() && k < wanted; ++k)
        std::swap(usable[k], usable[k + random.below(static_cast<std::uint32_t>(usable.size() - k))]);
    usable.resize(std::min(wanted, usable.size()));
    std::sort(usable.begin(), usable.end());
    return usable;
}

}  // namespace planewise
