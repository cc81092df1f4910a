// statistics.hpp: what sums are worth, against the formulas in double and by the laws they obey.
#include <cfloat>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "statistics.hpp"
#include "tables.hpp"

using namespace planewise;
using tables::close;

namespace {

const double magnitudes[] = {1e-30, 1e-10, 1.0, 3.0, 1e10, 1e30};

struct Targets {
    std::vector<double> g, h;
};

Targets random_targets(std::size_t n, double size_g, double size_h, std::uint64_t seed) {
    Random random(seed, 31);
    Targets out;
    for (std::size_t i = 0; i < n; ++i) {
        out.g.push_back(size_g * tables::bell(random));
        out.h.push_back(size_h * (0.1 + random.uniform()));
    }
    return out;
}

template <class S>
std::vector<std::int64_t> sum_of(const S &statistics, std::size_t from, std::size_t to) {
    std::vector<std::int64_t> sum(statistics.channels(), 0);
    for (std::size_t i = from; i < to; ++i) statistics.add(statistics.data()[i], sum.data());
    return sum;
}

template <class S>
double gain_of_cut(const S &statistics, std::size_t at) {
    return statistics.score(sum_of(statistics, 0, at).data()) +
           statistics.score(sum_of(statistics, at, statistics.size()).data()) -
           statistics.score(sum_of(statistics, 0, statistics.size()).data());
}

ClassCounts counts_of(const std::vector<std::int32_t> &label, const std::vector<double> &weight, std::size_t classes,
                      Criterion criterion) {
    ClassCounts statistics(classes, criterion);
    statistics.assign(label.data(), weight.data(), label.size());
    return statistics;
}

double naive_class_impurity(const std::vector<double> &weight, Criterion criterion) {
    double total = 0, out = 0;
    for (double w : weight) total += w;
    if (!(total > 0)) return 0;
    for (double w : weight)
        if (w > 0) out += criterion == Criterion::entropy ? -w * std::log(w / total) : w * (1 - w / total);
    return out;
}

}  // namespace

TEST("the grid's unit is the power of two that just holds the largest value") {
    for (double largest : {DBL_MIN, 1e-200, 1e-30, 0.7, 1.0, 2.0, 1e30, 1e200, DBL_MAX}) {
        const double scale = grid_scale(largest, 30);
        int exponent;
        CHECK(std::frexp(scale, &exponent) == 0.5);
        CHECK(std::isfinite(1 / scale) && 1 / scale > 0);
        CHECK(largest * scale <= std::ldexp(1.0, 30));
        if (largest > 1e-270) CHECK(largest * scale >= std::ldexp(1.0, 29));
    }
    CHECK(grid_scale(0, 30) == 1.0);
    CHECK(grid_scale(std::numeric_limits<double>::quiet_NaN(), 30) == 1.0);
    CHECK(std::isfinite(grid_scale(std::numeric_limits<double>::denorm_min(), 30)));
}

TEST("scores, losses and values of gradients agree with the formulas at any magnitude") {
    const std::size_t n = 500;
    for (double size_g : magnitudes)
        for (double size_h : magnitudes)
            for (double relative_lambda : {0.0, 3.0})
                for (double factor : {0.5, 1.0}) {
                    const Targets targets = random_targets(n, size_g, size_h, 1);
                    const double lambda = relative_lambda * size_h;
                    Gradients statistics(lambda, factor);
                    statistics.assign(targets.g.data(), targets.h.data(), n);
                    const auto sum = sum_of(statistics, 0, n);
                    double g = 0, h = 0, squares = 0;
                    for (std::size_t i = 0; i < n; ++i) {
                        g += targets.g[i], h += targets.h[i];
                        squares += targets.g[i] * targets.g[i] / targets.h[i];
                    }
                    const double score = factor * g * g / (h + lambda);
                    const double unit = size_g * size_g / size_h;
                    CHECK(statistics.rows(sum.data()) == static_cast<std::int64_t>(n));
                    CHECK(close(statistics.weight(sum.data()), h, 1e-7 * h));
                    CHECK(close(statistics.score(sum.data()), score, 1e-6 * unit));
                    CHECK(close(statistics.impurity(sum.data()), factor * squares - score, 1e-4 * unit));
                    double value;
                    statistics.value(sum.data(), &value);
                    CHECK(close(value, -g / (h + lambda), 1e-7 * size_g / size_h));
                }
}

TEST("with nothing added to the Hessian no cut loses") {
    for (double size_g : magnitudes)
        for (double size_h : magnitudes) {
            const Targets targets = random_targets(300, size_g, size_h, 2);
            Gradients statistics(0.0, 1.0);
            statistics.assign(targets.g.data(), targets.h.data(), 300);
            const double whole = statistics.impurity(sum_of(statistics, 0, 300).data());
            bool never = true;
            for (std::size_t at = 0; at <= 300; at += 7) {
                const double gain = gain_of_cut(statistics, at);
                never = never && gain >= -1e-12 * whole && gain <= whole * (1 + 1e-6);
            }
            CHECK(never);
        }
}

TEST("gradients a power of two larger are the same integers") {
    const Targets targets = random_targets(200, 1.0, 1.0, 3);
    Gradients one(0.0, 1.0), other(0.0, 1.0);
    one.assign(targets.g.data(), targets.h.data(), 200);
    for (double by : {0x1p-90, 0x1p-3, 0x1p40, 0x1p100}) {
        Targets scaled = targets;
        for (double &g : scaled.g) g *= by;
        other.assign(scaled.g.data(), scaled.h.data(), 200);
        CHECK(sum_of(one, 0, 200) == sum_of(other, 0, 200));
        double a, b;
        one.value(sum_of(one, 0, 200).data(), &a);
        other.value(sum_of(other, 0, 200).data(), &b);
        CHECK(a * by == b);
    }
}

TEST("rounding to the grid moves no gradient by more than half a unit") {
    const Targets targets = random_targets(1000, 5.0, 1.0, 4);
    Gradients statistics(0.0, 1.0);
    statistics.assign(targets.g.data(), targets.h.data(), 1000);
    double largest = 0;
    for (double g : targets.g) largest = std::max(largest, std::fabs(g));
    const double to = grid_scale(largest, 30);
    bool near = true;
    for (std::size_t i = 0; i < 1000; ++i)
        near = near && std::fabs(targets.g[i] * to - statistics.data()[i].part[0]) <= 0.5;
    CHECK(near);
}

TEST("a constant target is pure, and so is an empty sum") {
    for (double size : magnitudes) {
        const std::vector<double> g(100, -size), h(100, 1.0), zero(100, 0.0);
        Gradients statistics(0.0, 1.0);
        statistics.assign(g.data(), h.data(), 100);
        CHECK(statistics.impurity(sum_of(statistics, 0, 100).data()) == 0);
        statistics.assign(zero.data(), h.data(), 100);
        CHECK(statistics.impurity(sum_of(statistics, 0, 100).data()) == 0);
        const auto nothing = sum_of(statistics, 0, 0);
        double value = 1;
        statistics.value(nothing.data(), &value);
        CHECK(value == 0 && statistics.score(nothing.data()) == 0 && statistics.impurity(nothing.data()) == 0);
    }
}

TEST("rows without a Hessian count for their number only") {
    const std::vector<double> g{1, -2, 0}, h{1, 2, 0};
    Gradients with(0.0, 1.0), without(0.0, 1.0);
    with.assign(g.data(), h.data(), 3);
    without.assign(g.data(), h.data(), 2);
    const auto a = sum_of(with, 0, 3), b = sum_of(without, 0, 2);
    CHECK(with.score(a.data()) == without.score(b.data()) && with.weight(a.data()) == without.weight(b.data()));
    CHECK(with.rows(a.data()) == 3 && without.rows(b.data()) == 2);
    Gradients none(0.0, 1.0);
    const std::vector<double> zero(3, 0.0);
    none.assign(zero.data(), zero.data(), 3);
    CHECK(none.score(sum_of(none, 0, 3).data()) == 0);
}

TEST("the chance of gradients is what is left, a row and spent degree of freedom") {
    const Targets targets = random_targets(50, 1.0, 1.0, 5);
    Gradients statistics(0.0, 1.0);
    statistics.assign(targets.g.data(), targets.h.data(), 50);
    const auto sum = sum_of(statistics, 0, 50);
    const double impurity = statistics.impurity(sum.data());
    CHECK(close(statistics.chance(sum.data(), 0.25 * impurity, 2), 0.75 * impurity / 48, 1e-12));
    CHECK(statistics.chance(sum.data(), 2 * impurity, 2) == 0);
    CHECK(statistics.chance(sum.data(), 0, 50) == 0 && statistics.chance(sum.data(), 0, 60) == 0);
    CHECK(statistics.dof(sum.data()) == 1);
}

TEST("scores of class counts agree with the formulas at any magnitude of weight") {
    const std::size_t n = 600, classes = 4;
    Random random(1, 41);
    std::vector<std::int32_t> label(n);
    for (auto &l : label) l = static_cast<std::int32_t>(random.below(classes));
    for (Criterion criterion : {Criterion::entropy, Criterion::gini})
        for (double size : magnitudes) {
            std::vector<double> weight(n), by_class(classes, 0.0);
            double total = 0;
            for (std::size_t i = 0; i < n; ++i) {
                weight[i] = size * (0.1 + random.uniform());
                by_class[static_cast<std::size_t>(label[i])] += weight[i], total += weight[i];
            }
            const ClassCounts statistics = counts_of(label, weight, classes, criterion);
            const auto sum = sum_of(statistics, 0, n);
            const double impurity = naive_class_impurity(by_class, criterion);
            CHECK(statistics.rows(sum.data()) == static_cast<std::int64_t>(n));
            CHECK(close(statistics.weight(sum.data()), total, 1e-7 * total));
            CHECK(close(statistics.impurity(sum.data()), impurity, 1e-6 * impurity));
            CHECK(close(statistics.score(sum.data()), -impurity, 1e-6 * impurity));
            double value[classes], sum_of_values = 0;
            statistics.value(sum.data(), value);
            bool near = true;
            for (std::size_t c = 0; c < classes; ++c) {
                sum_of_values += value[c];
                near = near && close(value[c], by_class[c] / total, 1e-7);
            }
            CHECK(near && close(sum_of_values, 1.0, 1e-12));
            bool never = true;
            for (std::size_t at = 0; at <= n; at += 11) {
                const double gain = gain_of_cut(statistics, at);
                never = never && gain >= -1e-10 * impurity && gain <= impurity * (1 + 1e-9);
            }
            CHECK(never);
        }
}

TEST("the table of n ln n meets the logarithm where it ends") {
    for (int many : {8190, 8191, 8192, 8193, 8194, 20000}) {
        std::vector<std::int32_t> label(static_cast<std::size_t>(many) + 10, 1);
        for (std::size_t i = 0; i < 10; ++i) label[i] = 0;
        const ClassCounts statistics = counts_of(label, std::vector<double>(label.size(), 1.0), 2, Criterion::entropy);
        const double wanted = naive_class_impurity({10.0, static_cast<double>(many)}, Criterion::entropy);
        CHECK(close(statistics.impurity(sum_of(statistics, 0, label.size()).data()), wanted, 1e-9 * wanted));
    }
}

TEST("a whole weight is as good as that many rows") {
    for (Criterion criterion : {Criterion::entropy, Criterion::gini}) {
        const ClassCounts weighted = counts_of({0, 1, 2}, {3, 1, 2}, 3, criterion);
        const ClassCounts repeated = counts_of({0, 0, 0, 1, 2, 2}, std::vector<double>(6, 1.0), 3, criterion);
        const auto a = sum_of(weighted, 0, 3), b = sum_of(repeated, 0, 6);
        CHECK(weighted.score(a.data()) == repeated.score(b.data()));
        CHECK(weighted.weight(a.data()) == 6 && weighted.rows(a.data()) == 3 && repeated.rows(b.data()) == 6);
    }
}

TEST("one class is pure, and so is an empty sum") {
    for (Criterion criterion : {Criterion::entropy, Criterion::gini}) {
        const ClassCounts statistics = counts_of({1, 1, 1, 1}, {0.1, 0.7, 0.3, 1e-9}, 3, criterion);
        const auto sum = sum_of(statistics, 0, 4), nothing = sum_of(statistics, 0, 0);
        CHECK(statistics.impurity(sum.data()) == 0 && statistics.impurity(nothing.data()) == 0);
        CHECK(statistics.score(nothing.data()) == 0);
        double value[3];
        statistics.value(nothing.data(), value);
        CHECK(value[0] == 0 && value[1] == 0 && value[2] == 0);
        CHECK(std::isfinite(statistics.chance(nothing.data(), 0, 2)));
    }
}

TEST("degrees of freedom are the classes present less one, at least one") {
    const ClassCounts statistics = counts_of({0, 2, 3, 3}, std::vector<double>(4, 1.0), 5, Criterion::entropy);
    CHECK(statistics.dof(sum_of(statistics, 0, 4).data()) == 2);
    CHECK(statistics.dof(sum_of(statistics, 2, 4).data()) == 1);
    CHECK(statistics.chance(sum_of(statistics, 0, 4).data(), 0, 2) == 0.5);
}
