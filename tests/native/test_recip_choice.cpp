#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "random.hpp"
#include "recip_choice.hpp"

using namespace planewise;

namespace {

struct Problem {
    std::vector<std::int32_t> place;
    std::vector<float> z;
    std::vector<double> delta;
    double least;
};

double objective(const Problem &p, std::size_t a, std::size_t b, double share, double lam) {
    const double value = (1 - share) * p.z[a] + share * p.z[b];
    return (value - p.least) * (value - p.least) + lam * ((1 - share) * p.delta[a] + share * p.delta[b]);
}

// Every pair of views, with the best share of each: an optimum has at most two views.
double by_pairs(const Problem &p, double lam) {
    double best = INFINITY;
    for (std::size_t a = 0; a < p.z.size(); ++a)
        for (std::size_t b = 0; b < p.z.size(); ++b) {
            const double dz = static_cast<double>(p.z[b]) - p.z[a], dd = p.delta[b] - p.delta[a];
            double share = dz == 0 ? (dd < 0 ? 1.0 : 0.0) : (p.least - p.z[a] - lam * dd / (2 * dz)) / dz;
            share = std::min(1.0, std::max(0.0, share));
            best = std::min(best, objective(p, a, b, share, lam));
        }
    return best;
}

}  // namespace

TEST("a row's choice among views is the best of all pairs") {
    Random random(7, 1);
    for (int round = 0; round < 2000; ++round) {
        Problem p;
        const std::size_t count = 1 + random.below(8);
        for (std::size_t k = 0; k < count; ++k) {
            p.place.push_back(static_cast<std::int32_t>(k));
            p.z.push_back(static_cast<float>(random.below(20)) / 10);  // with ties
            p.delta.push_back(static_cast<double>(random.below(11)) / 10);
        }
        std::sort(p.delta.begin(), p.delta.end());
        p.least = *std::min_element(p.z.begin(), p.z.end());
        RowSolver solver;
        for (const double lam : {0.0, 0.1, 1.0, 5.0, 50.0}) {
            const RowChoice found = solver.solve(p.place.data(), p.z.data(), p.delta.data(), count, p.least, lam);
            const auto a = static_cast<std::size_t>(found.first), b = static_cast<std::size_t>(found.second);
            CHECK(found.share >= 0 && found.share <= 1);
            CHECK(std::abs(objective(p, a, b, found.share, lam) - by_pairs(p, lam)) < 1e-9);
        }
    }
}

TEST("views not in the order matter only as a row's best") {
    const std::vector<float> z = {2, 1, 0.5F, 3, 0.25F, 1};  // three views of two rows
    const std::vector<float> least = {0.25F, 1};
    const std::vector<std::int32_t> best = {2, 0};
    std::vector<RowChoice> choice(2);
    Threads threads(1);
    choose_for_rows({z.data(), 3, 2}, least.data(), best.data(), {1}, {0.5}, 0, choice.data(), threads);
    CHECK(choice[0].first == 2 && choice[0].share == 0);
    choose_for_rows({z.data(), 3, 2}, least.data(), best.data(), {1}, {0.5}, 100, choice.data(), threads);
    CHECK(choice[0].first == 1 && choice[1].first == 1);
}

TEST("the gain of a view is what rows fall short of it") {
    const std::vector<float> z = {0.5F, 2, 0, 0.75F};
    const std::vector<double> weight = {2, 1};
    const std::vector<float> current = {1, 1};
    std::vector<double> gain(2);
    Threads threads(2);
    facility_gains({z.data(), 2, 2}, weight.data(), current.data(), gain.data(), threads);
    CHECK(gain[0] == 1 && gain[1] == 2.25);
}

TEST("the loss of answers is the same for rows taken together and one by one") {
    Random random(3, 1);
    const std::size_t rows = 150;
    std::vector<float> z(2 * rows), least(rows), largest(rows);
    for (float &value : z) value = static_cast<float>(random.below(1000)) / 100;
    for (std::size_t i = 0; i < rows; ++i) {
        least[i] = i % 3 == 0 ? INFINITY : static_cast<float>(random.below(1000)) / 100;
        largest[i] = i % 3 == 0 ? 0.0F : static_cast<float>(random.below(1000)) / 100;
    }
    for (const bool equal : {true, false}) {
        std::vector<double> weight(rows, 2.0), loss(2);
        if (!equal)
            for (std::size_t i = 0; i < rows; ++i) weight[i] = 1 + static_cast<double>(random.below(3));
        Threads threads(2);
        decision_losses({z.data(), 2, rows}, weight.data(), least.data(), largest.data(), loss.data(), threads);
        for (std::size_t j = 0; j < 2; ++j) {
            double expected = 0;
            for (std::size_t i = 0; i < rows; ++i) {
                const float here = z[j * rows + i];
                const double against =
                    static_cast<double>(std::min(here, least[i])) * static_cast<double>(std::max(here, largest[i]));
                expected += weight[i] * std::log1p(against);
            }
            CHECK(std::abs(loss[j] - expected) < 1e-9 * expected);
        }
    }
}
