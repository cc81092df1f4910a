// program_path.hpp, bridge_program.hpp and calibration.hpp: paths of machines with and without a price of the norm, and
// the slope of their probabilities.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "calibration.hpp"
#include "check.hpp"
#include "program_path.hpp"

using namespace planewise;

namespace {

void never() {}

// Rows on a line, labels by the side of 0 with some noise, a Gaussian kernel.
struct Line {
    std::vector<double> matrix;
    PathData data;
    std::size_t rows;

    explicit Line(std::size_t n) : rows(n) {
        std::mt19937 random(1);
        std::normal_distribution<double> normal;
        std::vector<double> x(n);
        for (double &each : x) each = normal(random);
        for (double each : x) data.sign.push_back(each + 0.5 * normal(random) > 0 ? 1.0 : -1.0);
        for (double one : x)
            for (double other : x) matrix.push_back(std::exp(-(one - other) * (one - other)));
        data.weight.assign(n, 1.0);
        data.handicap.assign(n, 0.0);
        data.centre.resize(n);
        std::iota(data.centre.begin(), data.centre.end(), std::size_t{0});
        data.column = data.centre;
    }
    Design design() const { return {matrix.data(), rows, rows}; }
    double value(const Machine &machine, const Prices &prices) const {
        double h = 1, slack = 0, size = 0, norm = 0;
        std::vector<double> f(rows, machine.intercept);
        for (std::size_t k = 0; k < machine.chosen.size(); ++k) {
            size += std::fabs(machine.coefficients[k]);
            for (std::size_t i = 0; i < rows; ++i)
                f[i] += machine.coefficients[k] * matrix[i * rows + machine.chosen[k]];
        }
        for (std::size_t k = 0; k < machine.chosen.size(); ++k)
            norm += machine.coefficients[k] * (f[machine.chosen[k]] - machine.intercept);
        for (std::size_t i = 0; i < rows; ++i) {
            h = std::max(h, data.sign[i] * f[i]);
            slack += std::max(0.0, 1 - data.sign[i] * f[i]) / static_cast<double>(rows);
        }
        return h + prices.slack * slack + prices.coefficient * size + prices.norm * norm;
    }
};

bool near(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance * std::fabs(b); }

}  // namespace

TEST("a machine with a norm has the value it states, and its bound meets it") {
    const Line line(70);
    ProgramPath<BridgeProgram> path(line.data);
    for (const double mu : {3.0, 0.3, 0.03, 0.0}) {
        const Prices prices{100, mu, 0.5};
        const Machine machine = path.solve(line.design(), prices, 1e-8, 10'000, never);
        CHECK(machine.converged);
        CHECK(near(line.value(machine, prices), machine.objective, 1e-8));
        CHECK(near(machine.dual, machine.objective, 1e-5));
        CHECK(machine.dual <= machine.objective * (1 + 1e-7));
    }
}

TEST("a dearer norm gives a smaller one") {
    const Line line(60);
    double before = 1e300;
    for (const double rho : {0.01, 0.1, 1.0, 10.0}) {
        ProgramPath<BridgeProgram> path(line.data);
        const Machine machine = path.solve(line.design(), {100, 0.1, rho}, 1e-8, 10'000, never);
        CHECK(machine.norm < before);
        before = machine.norm;
    }
}

TEST("a norm that costs next to nothing leaves the linear program") {
    const Line line(60);
    ProgramPath<BridgeProgram> with(line.data);
    ProgramPath<ComplexityProgram> without(line.data);
    const Machine one = with.solve(line.design(), {100, 1, 1e-9}, 1e-8, 10'000, never);
    const Machine other = without.solve(line.design(), {100, 1, 0}, 1e-8, 10'000, never);
    CHECK(near(one.objective, other.objective, 1e-6));
}

TEST("relaxed coefficients belong to the chosen columns and lower what is left of the program") {
    const Line line(60);
    ProgramPath<BridgeProgram> path(line.data);
    const Machine whole = path.solve(line.design(), {100, 2, 0.2}, 1e-8, 10'000, never);
    const Prices less{100, 0.2, 0.2};
    const Machine relaxed = path.relax(whole, less, 10'000, never);
    CHECK(std::includes(whole.chosen.begin(), whole.chosen.end(), relaxed.chosen.begin(), relaxed.chosen.end()));
    CHECK(line.value(relaxed, less) < line.value(whole, less));
}

TEST("a walk that runs out of steps says so") {
    const Line line(60);
    ProgramPath<BridgeProgram> path(line.data);
    const Machine machine = path.solve(line.design(), {100, 0.01, 0.1}, 1e-8, 5, never);
    CHECK(!machine.converged && !machine.reached);
    CHECK(machine.steps <= 5);
}

TEST("the slope of probabilities is where the loss is smallest") {
    const std::vector<double> scores = {2, 0, 1, 0, 1, 0.5, -1, 0, 2, 0.1, 0.3, 0};
    const std::vector<std::int32_t> label = {0, 1, 2, 0};
    const std::vector<double> weight = {1, 2, 1, 0.5};
    const Scored rows{scores.data(), 4, 3, label.data()};
    const double slope = calibration_slope(rows, weight.data());
    double usual = 0;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t c = 0; c < 3; ++c) usual += weight[i] * std::fabs(scores[3 * i + c]) / 3 / 4.5;
    const auto loss = [&](double at) {
        std::vector<double> own(4);
        log_losses(rows, at, own.data());
        double sum = std::log1p(std::exp(-at * usual)) + std::log1p(std::exp(at * usual));
        for (std::size_t i = 0; i < 4; ++i) sum += weight[i] * own[i];
        return sum;
    };
    CHECK(loss(slope) <= loss(slope * 1.001) && loss(slope) <= loss(slope * 0.999));
}
