// complexity_program.hpp: the linear program of the minimal complexity machine.
#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "complexity_program.hpp"

using namespace planewise;

namespace {

using Outcome = ComplexityProgram::Outcome;

void never() {}

// Rows on a line, labels by the side of 0 with some noise, Gaussian columns.
struct Line {
    std::vector<double> sign, weight, columns, penalty;
    std::size_t rows, width;

    explicit Line(std::size_t n) : rows(n), width(n) {
        std::mt19937 random(1);
        std::normal_distribution<double> normal;
        std::vector<double> x(n);
        for (double &each : x) each = normal(random);
        for (double each : x) sign.push_back(each + 0.5 * normal(random) > 0 ? 1.0 : -1.0);
        weight.assign(n, 1.0);
        penalty.assign(n, 1.0);
        for (double centre : x)
            for (double each : x) columns.push_back(std::exp(-(each - centre) * (each - centre)));
    }
    double value(const std::vector<double> &coefficient, double slack_cost, double price) const {
        double h = 1, sum = 0, size = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            double f = coefficient[0];
            for (std::size_t j = 0; j < width; ++j) f += coefficient[j + 1] * columns[j * rows + i];
            h = std::max(h, sign[i] * f);
            sum += weight[i] * std::max(0.0, 1 - sign[i] * f);
        }
        for (std::size_t j = 0; j < width; ++j) size += std::fabs(coefficient[j + 1]);
        return h + slack_cost * sum + price * size;
    }
};

bool near(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance * std::fabs(b); }

}  // namespace

TEST("without columns the intercept takes the heavier class to its margin") {
    ComplexityProgram program({1, 1, 1, -1}, {1, 1, 1, 1});
    program.set_costs(1.0, 1.0);
    CHECK(program.walk(100, never) == Outcome::optimal);
    CHECK(near(program.coefficients()[0], 1, 1e-12));
    CHECK(near(program.dual_value(), 3, 1e-6));  // h = 1 and a slack of 2
}

TEST("primal and dual values meet, and no price is above the cost of its column") {
    const Line line(80);
    for (const double price : {3.0, 0.3, 0.03}) {
        ComplexityProgram program(line.sign, line.weight);
        program.add_columns(line.columns.data(), line.penalty.data(), line.width);
        program.set_costs(0.5, price);
        CHECK(program.walk(10000, never) == Outcome::optimal);
        CHECK(near(line.value(program.coefficients(), 0.5, price), program.dual_value(), 1e-6));
        const std::vector<double> multiplier = program.multipliers();
        double balance = 0;
        for (double each : multiplier) balance += each;
        CHECK(std::fabs(balance) < 1e-9);
        for (std::size_t j = 0; j < line.width; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < line.rows; ++i) sum += multiplier[i] * line.columns[j * line.rows + i];
            CHECK(std::fabs(sum) <= price * (1 + 1e-6));
        }
    }
}

TEST("columns added later, and costs changed on the way, lead to the same optimum") {
    const Line line(60);
    ComplexityProgram whole(line.sign, line.weight), parts(line.sign, line.weight);
    whole.add_columns(line.columns.data(), line.penalty.data(), line.width);
    whole.set_costs(1.0, 0.1);
    CHECK(whole.walk(10000, never) == Outcome::optimal);
    for (std::size_t j = 0; j < line.width; j += 20) {
        parts.add_columns(line.columns.data() + j * line.rows, line.penalty.data() + j, 20);
        parts.set_costs(0.1 * static_cast<double>(j + 1), 0.5);
        CHECK(parts.walk(10000, never) == Outcome::optimal);
    }
    parts.set_costs(1.0, 0.1);
    CHECK(parts.walk(10000, never) == Outcome::optimal);
    CHECK(near(parts.dual_value(), whole.dual_value(), 1e-9));
}

TEST("a restricted program has the free columns alone, at the same vertex") {
    const Line line(60);
    ComplexityProgram program(line.sign, line.weight);
    program.add_columns(line.columns.data(), line.penalty.data(), line.width);
    program.set_costs(1.0, 0.1);
    CHECK(program.walk(10000, never) == Outcome::optimal);
    const std::vector<std::size_t> kept = program.free_columns();
    ComplexityProgram restricted = program.restricted();
    CHECK(kept.size() < line.width && restricted.columns() == kept.size());
    const std::vector<double> all = program.coefficients(), own = restricted.coefficients();
    for (std::size_t j = 0; j < kept.size(); ++j) CHECK(own[j] == all[kept[j]]);
    const std::size_t before = restricted.steps();
    CHECK(restricted.walk(10000, never) == Outcome::optimal);
    CHECK(restricted.steps() == before);  // it is there already
    restricted.set_costs(1.0, 0.01);
    CHECK(restricted.walk(10000, never) == Outcome::optimal);
    CHECK(restricted.dual_value() < program.dual_value());
}

TEST("running out of steps is told, and a restart begins without coefficients") {
    const Line line(60);
    ComplexityProgram program(line.sign, line.weight);
    program.add_columns(line.columns.data(), line.penalty.data(), line.width);
    program.set_costs(1.0, 0.01);
    CHECK(program.walk(3, never) == Outcome::out_of_steps);
    CHECK(program.steps() == 3);
    program.restart();
    for (std::size_t j = 1; j <= line.width; ++j) CHECK(program.coefficients()[j] == 0);
    CHECK(program.walk(10000, never) == Outcome::optimal);
}

TEST("a caller can end the walk by throwing") {
    const Line line(80);
    ComplexityProgram program(line.sign, line.weight);
    program.add_columns(line.columns.data(), line.penalty.data(), line.width);
    program.set_costs(10.0, 0.001);
    bool ended = false;
    try {
        program.walk(10000, [] { throw 1; });
    } catch (int) {
        ended = true;
    }
    CHECK(ended);
}
