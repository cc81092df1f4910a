#include "recip_choice.hpp"

#include <algorithm>
#include <cmath>

namespace planewise {

namespace {

constexpr std::size_t block = 32;  // rows whose entropies are gathered together: one piece of two cache lines a view

// Whether the middle one of three points of rising z lies on or above the line through the others.
bool above(double za, double da, double zb, double db, double zc, double dc) {
    return (db - da) * (zc - za) >= (dc - da) * (zb - za);
}

}  // namespace

RowChoice RowSolver::solve(const std::int32_t *place, const float *z, const double *delta, std::size_t count,
                           double least, double lam) {
    // In the order of rising price only a view with a smaller z than all before can be worth its price. These come by
    // falling z, and the hull is built along with them.
    hull_.clear();
    for (std::size_t k = 0; k < count; ++k) {
        const double here = z[k];
        if (!hull_.empty() && here >= hull_.back().z) continue;
        if (!hull_.empty() && delta[k] == hull_.back().delta) hull_.pop_back();  // as cheap, and better
        while (hull_.size() > 1) {
            const Point &b = hull_[hull_.size() - 1], &c = hull_[hull_.size() - 2];
            if (!above(here, delta[k], b.z, b.delta, c.z, c.delta)) break;
            hull_.pop_back();
        }
        hull_.push_back({here, delta[k], place[k]});
        if (here <= least) break;  // nothing later is smaller
    }
    // From the smallest z along falling prices, to where the next step costs more than it saves.
    std::size_t at = hull_.size() - 1;
    while (at > 0) {
        const Point &a = hull_[at], &b = hull_[at - 1];
        const double slope = (b.delta - a.delta) / (b.z - a.z);
        const double wanted = least - lam * slope / 2;
        if (wanted <= a.z) break;
        if (wanted < b.z) {
            const double share = (wanted - a.z) / (b.z - a.z);
            return {a.view, b.view, share, a.z + share * (b.z - a.z)};
        }
        --at;
    }
    return {hull_[at].view, hull_[at].view, 0, hull_[at].z};
}

void choose_for_rows(const LocalEntropies &entropy, const float *least, const std::int32_t *best,
                     const std::vector<std::int32_t> &order, const std::vector<double> &delta, double lam,
                     RowChoice *choice, Threads &threads) {
    const std::size_t n = entropy.rows, count = order.size();
    struct Space {
        RowSolver solver;
        std::vector<float> z;
        std::vector<std::int32_t> place;
        std::vector<double> delta;
    };
    std::vector<Space> spaces(static_cast<std::size_t>(threads.count()));
    for (Space &space : spaces) {
        space.z.resize(block * (count + 1));
        space.place.assign(order.begin(), order.end());
        space.place.push_back(0);
        space.delta.assign(delta.begin(), delta.end());
        space.delta.push_back(1);
    }
    threads.each((n + block - 1) / block, 8 * n * (count + 1), [&](std::size_t piece, int thread) {
        Space &space = spaces[static_cast<std::size_t>(thread)];
        const std::size_t begin = piece * block, size = std::min(block, n - begin);
        for (std::size_t k = 0; k < count; ++k) {
            const float *from = entropy.view(static_cast<std::size_t>(order[k])) + begin;
            for (std::size_t i = 0; i < size; ++i) space.z[i * (count + 1) + k] = from[i];
        }
        for (std::size_t i = 0; i < size; ++i) {
            float *z = space.z.data() + i * (count + 1);
            z[count] = least[begin + i];
            space.place[count] = best[begin + i];
            choice[begin + i] =
                space.solver.solve(space.place.data(), z, space.delta.data(), count + 1, least[begin + i], lam);
        }
    });
}

void facility_gains(const LocalEntropies &entropy, const double *weight, const float *current, double *gain,
                    Threads &threads) {
    threads.each(entropy.views, entropy.views * entropy.rows, [&](std::size_t j, int) {
        const float *z = entropy.view(j);
        double total = 0;
        for (std::size_t i = 0; i < entropy.rows; ++i) {
            const float better = current[i] - std::min(z[i], 1.0F);
            total += better > 0 ? weight[i] * static_cast<double>(better) : 0;
        }
        gain[j] = total;
    });
}

void decision_losses(const LocalEntropies &entropy, const double *weight, const float *least, const float *largest,
                     double *loss, Threads &threads) {
    // Rows of equal weight are multiplied before the logarithm is taken: with entropies of at most 10 a factor is below
    // 102, and 64 of them stay far within a double.
    constexpr std::size_t together = 64;
    threads.each(entropy.views, 2 * entropy.views * entropy.rows, [&](std::size_t j, int) {
        const float *z = entropy.view(j);
        double total = 0;
        for (std::size_t begin = 0; begin < entropy.rows; begin += together) {
            const std::size_t end = std::min(entropy.rows, begin + together);
            const bool equal = std::all_of(weight + begin, weight + end, [&](double w) { return w == weight[begin]; });
            double product = 1;
            for (std::size_t i = begin; i < end; ++i) {
                const double against = static_cast<double>(std::min(z[i], least[i])) * std::max(z[i], largest[i]);
                if (equal)
                    product *= 1 + against;
                else
                    total += weight[i] * std::log1p(against);
            }
            if (equal) total += weight[begin] * std::log(product);
        }
        loss[j] = total;
    });
}

}  // namespace planewise
