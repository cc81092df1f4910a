#include "boost_rows.hpp"

#include <algorithm>

#include "predict.hpp"

namespace planewise {

namespace {

constexpr std::size_t block = 256;  // rows whose derivatives and leaves stay in the cache

// Calls work(begin, end, thread) for blocks of rows.
template <class Work>
void in_blocks(std::size_t rows, Threads::Cost cost_per_row, Threads &threads, Work work) {
    threads.each((rows + Threads::stretch - 1) / Threads::stretch, rows * cost_per_row,
                 [&](std::size_t piece, int thread) {
                     const std::size_t last = std::min(rows, (piece + 1) * Threads::stretch);
                     for (std::size_t begin = piece * Threads::stretch; begin < last; begin += block)
                         work(begin, std::min(last, begin + block), thread);
                 });
}

}  // namespace

BoostRows::BoostRows(const float *values, std::size_t columns, const double *target, const double *weight,
                     std::vector<double> score, const Objective &objective, std::uint64_t first)
    : values_(values),
      columns_(columns),
      target_(target),
      weight_(weight),
      score_(std::move(score)),
      objective_(objective),
      first_(first) {}

void BoostRows::derivatives(std::size_t begin, std::size_t end, double *gradient, double *hessian) const {
    const std::size_t count = (end - begin) * outputs();
    if (gradient_ != nullptr) {
        std::copy_n(gradient_ + begin * outputs(), count, gradient);
        std::copy_n(hessian_ + begin * outputs(), count, hessian);
    } else {
        objective_.derivatives(&score_[begin * outputs()], target_ + begin * objective_.targets(), weight_ + begin,
                               end - begin, bound_, gradient, hessian);
    }
}

std::vector<GradientSizes> BoostRows::sizes(Threads &threads) const {
    const std::size_t width = outputs();
    std::vector<std::vector<GradientSizes>> found(static_cast<std::size_t>(threads.count()),
                                                  std::vector<GradientSizes>(width));
    in_blocks(rows(), 8 * width, threads, [&](std::size_t begin, std::size_t end, int thread) {
        std::vector<double> g((end - begin) * width), h(g.size());
        derivatives(begin, end, g.data(), h.data());
        GradientSizes *here = found[static_cast<std::size_t>(thread)].data();
        for (std::size_t i = 0; i < end - begin; ++i)
            for (std::size_t k = 0; k < width; ++k)
                here[k].square = std::max(here[k].square, here[k].add(g[i * width + k], h[i * width + k]));
    });
    for (const auto &other : found)
        for (std::size_t k = 0; k < width; ++k) found[0][k].join(other[k]);
    return found[0];
}

std::vector<float> BoostRows::values_of(const std::uint32_t *named, std::size_t count, Threads &threads) const {
    std::vector<float> out(count * columns_);
    threads.stretches(count, 50 + columns_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) std::copy_n(row(named[k]), columns_, &out[k * columns_]);
    });
    return out;
}

BoostRows::Slopes BoostRows::slopes_of(const std::uint32_t *named, std::size_t count, Threads &threads) const {
    const std::size_t width = outputs();
    Slopes out{std::vector<double>(count * width), std::vector<double>(count * width), std::vector<double>(count)};
    threads.stretches(count, 50 + 16 * width, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            derivatives(named[k], named[k] + 1, &out.gradient[k * width], &out.hessian[k * width]);
            out.weight[k] = weight_[named[k]];
        }
    });
    return out;
}

std::vector<std::int64_t> BoostRows::route(const Forest &trees, const std::vector<GradientSizes> &sizes, const Bag &bag,
                                           Threads &threads) {
    const std::size_t count = trees.trees(), outs = outputs();
    const std::vector<GradientGrid> grid(sizes.begin(), sizes.end());
    const Predictor predictor(trees);
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(threads.count()));
    leaf_.resize(rows() * count);
    in_blocks(rows(), (16 + 8 * outs) * count, threads, [&](std::size_t begin, std::size_t end, int thread) {
        std::vector<std::int64_t> &sums = found[static_cast<std::size_t>(thread)];
        sums.resize(trees.nodes() * sum_width, 0);
        double g[block], h[block];
        std::vector<double> many;  // where a block has several outputs
        double *gradient = g, *hessian = h;
        if (outs > 1) {
            many.resize(2 * block * outs);
            gradient = many.data(), hessian = gradient + block * outs;
        }
        derivatives(begin, end, gradient, hessian);
        Threads alone(1);
        predictor.apply(row(begin), end - begin, columns_, alone, &leaf_[begin * count]);
        for (std::size_t i = 0; i < end - begin; ++i) {
            if (!bag.has(first_ + begin + i)) continue;
            for (std::size_t t = 0; t < count; ++t) {
                const auto node = static_cast<std::size_t>(trees.node_start[t] + leaf_[(begin + i) * count + t]);
                std::int64_t *sum = &sums[node * sum_width];
                sum[0] += GradientGrid::rounded(gradient[i * outs + t] * grid[t].to_g);
                sum[1] += GradientGrid::rounded(hessian[i * outs + t] * grid[t].to_h);
                sum[2] += 1;
            }
        }
    });
    std::vector<std::int64_t> sums(trees.nodes() * sum_width, 0);
    for (const auto &part : found)
        for (std::size_t k = 0; k < part.size(); ++k) sums[k] += part[k];
    return sums;
}

void BoostRows::move(const Forest &trees, Threads &threads) {
    const std::size_t count = trees.trees(), outs = outputs();
    threads.stretches(rows(), 4 * count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t t = 0; t < count; ++t) {
                const auto node = static_cast<std::size_t>(trees.node_start[t] + leaf_[i * count + t]);
                score_[i * outs + t % outs] += trees.value_at(node);
            }
    });
}

void BoostRows::follow(const Forest &trees, Threads &threads) {
    Predictor(trees).add(values_, rows(), columns_, 0, trees.trees(), threads, score_.data());
}

LossSums BoostRows::loss_sums(Threads &threads) const {
    std::vector<LossSums> found(static_cast<std::size_t>(threads.count()));
    in_blocks(rows(), 20 * outputs(), threads, [&](std::size_t begin, std::size_t end, int thread) {
        found[static_cast<std::size_t>(thread)].add(objective_.loss_sums(
            &score_[begin * outputs()], target_ + begin * objective_.targets(), weight_ + begin, end - begin, bound_));
    });
    for (std::size_t k = 1; k < found.size(); ++k) found[0].add(found[k]);
    return found[0];
}

double BoostRows::mean_loss(Threads &threads) const {
    if (objective_.loss == Loss::ranking || objective_.loss == Loss::huber)
        return objective_.mean_loss(score_.data(), target_, weight_, rows());
    return loss_sums(threads).mean();
}

}  // namespace planewise
