// objectives.hpp: derivatives against finite differences, constants against every other one.
#include <cmath>

#include "check.hpp"
#include "objectives.hpp"
#include "tables.hpp"

using namespace planewise;

namespace {

struct Case {
    Objective objective;
    double per_loss;   // the gradient is this times the derivative of the loss
    double curvature;  // the Hessian is this times the second derivative; 0: it is the weight
};

const std::vector<Case> cases{
    {{Loss::squared, 0.5, 1}, 0.5, 0.5},  {{Loss::absolute, 0.5, 1}, 1, 0}, {{Loss::huber, 0.7, 1}, 1, 0},
    {{Loss::quantile, 0.8, 1}, 1, 0},     {{Loss::poisson, 0.5, 1}, 1, 1},  {{Loss::logistic, 0.5, 1}, 1, 1},
    {{Loss::softmax, 0.5, 3}, 1, 2},      {{Loss::gamma, 0.5, 1}, 1, 1},    {{Loss::tweedie, 0.5, 1, 1.2}, 1, 1},
    {{Loss::tweedie, 0.5, 1, 1.9}, 1, 1},
};

struct Data {
    std::vector<double> score, target, weight;
    std::size_t rows;

    Data(const Objective &objective, std::size_t count, std::uint64_t seed) : rows(count) {
        Random random(seed, 3);
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t k = 0; k < objective.outputs; ++k) score.push_back(tables::bell(random));
            weight.push_back(0.5 + random.uniform());
            target.push_back(target_of(objective, random));
        }
    }
    static double target_of(const Objective &objective, Random &random) {
        const double y = 3 * tables::bell(random);
        switch (objective.loss) {
            case Loss::poisson:
                return std::floor(std::fabs(y));
            case Loss::gamma:
                return std::fabs(y) + 0.1;
            case Loss::tweedie:
                return std::max(y, 0.0);
            case Loss::logistic:
                return random.below(2);
            case Loss::softmax:
                return random.below(static_cast<std::uint32_t>(objective.outputs));
            default:
                return y;
        }
    }
    double loss(const Objective &objective) const {  // summed, not mean
        double total = 0;
        for (double each : weight) total += each;
        return total * objective.mean_loss(score.data(), target.data(), weight.data(), rows);
    }
};

struct Derivatives {
    std::vector<double> gradient, hessian;
    Derivatives(const Objective &objective, const Data &data, int threads = 1)
        : gradient(data.score.size()), hessian(data.score.size()) {
        Threads pool(threads);
        objective.derivatives(data.score.data(), data.target.data(), data.weight.data(), data.rows, gradient.data(),
                              hessian.data(), pool);
    }
};

}  // namespace

TEST("gradients and Hessians are the finite differences of the loss") {
    for (const Case &each : cases) {
        Data data(each.objective, 60, 1);
        const Derivatives found(each.objective, data);
        const double middle = data.loss(each.objective);
        std::size_t wrong_gradients = 0, wrong_hessians = 0;
        for (std::size_t k = 0; k < data.score.size(); ++k) {
            const double kept = data.score[k], step = 1e-4;
            data.score[k] = kept + step;
            const double above = data.loss(each.objective);
            data.score[k] = kept - step;
            const double below = data.loss(each.objective);
            data.score[k] = kept;
            const double slope = each.per_loss * (above - below) / (2 * step);
            const double bend = each.curvature * (above - 2 * middle + below) / (step * step);
            const double weight = data.weight[k / each.objective.outputs];
            wrong_gradients += !tables::close(found.gradient[k], slope, 1e-5 * (1 + std::fabs(slope)));
            wrong_hessians += each.curvature > 0 ? !tables::close(found.hessian[k], bend, 1e-4 * (1 + bend))
                                                 : found.hessian[k] != weight;
        }
        // The row at Huber's bound moves the bound itself; every other one must agree.
        CHECK(wrong_gradients <= (each.objective.loss == Loss::huber ? 1u : 0u));
        CHECK(wrong_hessians == 0);
    }
}

TEST("any number of threads gives the same derivatives") {
    for (const Case &each : cases) {
        const Data data(each.objective, 40000, 2);
        const Derivatives alone(each.objective, data);
        for (int threads : {2, 5}) {
            const Derivatives many(each.objective, data, threads);
            CHECK(tables::same_bytes(many.gradient, alone.gradient));
            CHECK(tables::same_bytes(many.hessian, alone.hessian));
        }
    }
}

TEST("scores far out have finite losses and derivatives") {
    for (Loss loss : {Loss::logistic, Loss::softmax}) {
        const Objective objective{loss, 0.5, loss == Loss::softmax ? 2u : 1u};
        Data data(objective, 4, 3);
        for (std::size_t k = 0; k < data.score.size(); ++k) data.score[k] = k % 2 == 0 ? 800 : -800;
        const Derivatives found(objective, data);
        for (std::size_t k = 0; k < data.score.size(); ++k) {
            CHECK(std::isfinite(found.gradient[k]) && std::fabs(found.gradient[k]) <= 1.5);
            CHECK(std::isfinite(found.hessian[k]) && found.hessian[k] > 0);
        }
        CHECK(std::isfinite(data.loss(objective)));
    }
}

TEST("scores far out of logarithms have finite derivatives") {
    for (const Objective &objective :
         {Objective{Loss::poisson, 0.5, 1}, Objective{Loss::gamma, 0.5, 1}, Objective{Loss::tweedie, 0.5, 1}}) {
        Data data(objective, 8, 3);
        for (std::size_t k = 0; k < 8; ++k) data.score[k] = k % 2 == 0 ? 800 : -800;
        if (objective.loss != Loss::gamma) data.target[0] = data.target[1] = 0;
        const Derivatives found(objective, data);
        for (std::size_t k = 0; k < 8; ++k) {
            CHECK(std::isfinite(found.gradient[k]));
            CHECK(std::isfinite(found.hessian[k]) && found.hessian[k] >= 0);
        }
    }
}

TEST("no constant is better than the best one") {
    for (const Objective &objective :
         {Objective{Loss::absolute, 0.3, 1}, Objective{Loss::quantile, 0.3, 1}, Objective{Loss::quantile, 0.9, 1}}) {
        CHECK(objective.renews_leaves());
        for (std::size_t rows : {1u, 2u, 7u, 40u}) {
            Data data(objective, rows, rows);
            const double best = objective.best_constant(data.target, data.weight);
            std::fill(data.score.begin(), data.score.end(), best);
            const double lowest = data.loss(objective);
            bool none_better = true;
            for (double other : data.target) {
                std::fill(data.score.begin(), data.score.end(), other);
                none_better = none_better && data.loss(objective) >= lowest - 1e-12;
            }
            CHECK(none_better);
        }
    }
    CHECK(!(Objective{Loss::huber, 0.5, 1}.renews_leaves()));
}

TEST("weights count as repeats, and half on each side gives the middle") {
    const Objective median{Loss::absolute, 0.5, 1}, high{Loss::quantile, 0.75, 1};
    CHECK(median.best_constant({3, 1, 2}, {1, 1, 1}) == 2);
    CHECK(median.best_constant({4, 1, 2, 3}, {1, 1, 1, 1}) == 2.5);
    CHECK(median.best_constant({1, 5}, {1, 3}) == 5);
    CHECK(median.best_constant({1, 5}, {1, 3}) == median.best_constant({1, 5, 5, 5}, {1, 1, 1, 1}));
    CHECK(high.best_constant({1, 2, 3, 4}, {1, 1, 1, 1}) == 3.5);
    CHECK(high.best_constant({4, 2}, {1, 3}) == high.best_constant({2, 2, 4, 2}, {1, 1, 1, 1}));
    CHECK(median.best_constant({}, {}) == 0);
}

TEST("Huber learns from the rows that do not fit where most do") {
    const Objective huber{Loss::huber, 0.5, 1};
    Data data(huber, 10, 1);
    data.score = data.target;
    data.score[3] += 2;
    const Derivatives found(huber, data);
    CHECK(tables::close(found.gradient[3], 2 * data.weight[3], 1e-12));
    for (std::size_t i = 0; i < 10; ++i) CHECK(i == 3 || found.gradient[i] == 0);
}
