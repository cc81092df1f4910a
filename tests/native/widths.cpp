// Prints a fingerprint of what each part of the core computes, to be compared between builds for vectors of different
// widths: the same bytes are promised for all of them. See "widths" in CMakeLists.txt.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include "adam.hpp"
#include "boost.hpp"
#include "complexity_program.hpp"
#include "grow.hpp"
#include "neighbours.hpp"
#include "predict.hpp"
#include "tables.hpp"

using namespace planewise;

namespace {

class Fingerprint {  // FNV-1a
  public:
    template <class T>
    Fingerprint &add(const std::vector<T> &values) {
        const auto *bytes = reinterpret_cast<const unsigned char *>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3u;
        return *this;
    }
    Fingerprint &add(const Forest &tree) {
        return add(tree.children)
            .add(tree.value)
            .add(tree.impurity)
            .add(tree.threshold)
            .add(tree.plane_gain)
            .add(tree.term_feature)
            .add(tree.term_weight)
            .add(tree.missing_right)
            .add(tree.set_category);
    }
    void print(const char *name) const { std::printf("%-24s %016llx\n", name, static_cast<unsigned long long>(hash_)); }

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

bool never() { return false; }

GrowOptions usual(Bins bins) {
    GrowOptions options;
    options.seed = 11;
    options.max_depth = 5;
    options.smoothing = 1;
    options.draw.n_projections = 24;
    options.draw.rounds = {{3, 0.1, 0.1}};
    options.choose.min_samples_leaf = 3;
    options.choose.bins = bins;
    return options;
}

void a_tree(Bins bins, const char *name) {
    tables::Table table(3001, 9);  // no multiple of a vector's length
    table.fill(1, 20);
    table.fill_categories(8, 7, 3, 25);
    const std::vector<std::int32_t> label = tables::labels(table, 4, 2);
    ClassCounts statistics(4, Criterion::entropy);
    statistics.assign(label.data(), table.weight().data(), label.size());
    Threads threads(1);
    const auto grown = grow(table.matrix(), statistics, usual(bins), threads, never);
    Fingerprint().add(grown.tree).add(grown.leaf).print(name);
}

void boosting(Loss loss, std::size_t outputs, const char *name) {
    tables::Table table(2003, 7);
    table.fill(5, 20);
    table.fill_categories(6, 11, 3, 25);
    std::vector<double> target = tables::numbers(table, 2);
    if (loss != Loss::squared)
        for (double &y : target) y = std::fmod(std::fabs(std::floor(y)), outputs < 2 ? 2.0 : double(outputs));
    BoostOptions options;
    options.grow = usual(Bins::uniform);
    options.objective = {loss, 0.5, outputs};
    options.find_smoothing = true;
    Booster booster(table.matrix(), target.data(), table.weight().data(),
                    std::vector<double>(target.size() * outputs, 0.0), 0, options);
    Threads threads(1);
    booster.begin_at(std::vector<double>(target.size() * outputs, 0.0).data(), false, threads);
    for (int round = 0; round < 12; ++round) booster.round(threads, never);
    std::vector<double> predicted(target.size() * outputs, 0.0);
    const Forest &forest = booster.forest();
    Predictor(forest).add(table.values(), target.size(), 7, 0, forest.trees(), threads, predicted.data());
    Fingerprint().add(forest).add(booster.score()).add(booster.left_out()).add(predicted).print(name);
}

void a_machine() {
    constexpr std::size_t rows = 301;
    tables::Table table(rows, 2);
    table.fill(9);
    std::vector<double> sign, columns;
    for (const double y : tables::numbers(table, 4)) sign.push_back(y > 0 ? 1 : -1);
    for (std::size_t j = 0; j < rows; ++j)
        for (std::size_t i = 0; i < rows; ++i) {
            const double a = table.at(i, 0) - table.at(j, 0), b = table.at(i, 1) - table.at(j, 1);
            columns.push_back(1 / (1 + a * a + b * b));
        }
    ComplexityProgram program(sign, std::vector<double>(rows, 1.0));
    program.add_columns(columns.data(), std::vector<double>(rows, 1.0).data(), rows);
    Fingerprint found;
    for (const double price : {1.0, 0.1, 0.01}) {
        program.set_costs(0.5, price);
        program.walk(10000, [] {});
        found.add(program.coefficients()).add(program.multipliers());
    }
    found.print("machine");
}

void views() {
    constexpr std::size_t rows = 1501, columns = 6, k = 5;
    tables::Table table(rows, columns);
    table.fill(13, 30);
    const std::vector<std::int32_t> label = tables::labels(table, 3, 2);
    const Points points{table.values(), rows, columns, nullptr};
    Views pairs{{0}, {}};
    for (std::int32_t a = 0; a < 6; ++a)
        for (std::int32_t b = a + 1; b < 6; ++b) {
            pairs.column.insert(pairs.column.end(), {a, b});
            pairs.start.push_back(pairs.column.size());
        }
    std::vector<std::int32_t> queries(rows);
    std::iota(queries.begin(), queries.end(), 0);
    std::vector<float> own(pairs.count() * rows), other(own.size());
    Threads threads(1);
    OwnAndOther(points, label.data()).distances(pairs, queries, k, own.data(), other.data(), threads, [] {});
    Fingerprint found;
    found.add(own).add(other);
    NearestWeights(points, label.data(), table.weight().data())
        .own_and_other(pairs, queries, k, own.data(), other.data(), threads, [] {});
    found.add(own).add(other);
    std::vector<std::int32_t> nearest(pairs.count() * 200 * 3 * k);
    std::vector<float> distance(nearest.size());
    class_neighbours(points, label.data(), pairs, {table.values(), 200, nullptr, 3, k, nearest.data(), distance.data()},
                     threads, [] {});
    found.add(nearest).add(distance).print("views");
}

void adam() {
    constexpr std::size_t count = 1003;
    std::vector<float> value(count), gradient(count), momentum(count), squares(count), average(count);
    Random random(3, 1);
    for (int turn = 0; turn < 20; ++turn) {
        for (float &g : gradient) g = static_cast<float>(tables::bell(random));
        adam_step(value.data(), gradient.data(), momentum.data(), squares.data(), average.data(), count,
                  {0.01f, 0.1f, 0.9f, 0.999f, 0.95f});
    }
    Fingerprint().add(value).add(momentum).add(squares).add(average).print("adam");
}

}  // namespace

int main() {
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2")) {
        std::fputs("this processor has no AVX2\n", stderr);
        return 77;
    }
#endif
    a_tree(Bins::uniform, "tree, uniform bins");
    a_tree(Bins::quantile, "tree, quantile bins");
    boosting(Loss::squared, 1, "boosting, numbers");
    boosting(Loss::logistic, 1, "boosting, two classes");
    boosting(Loss::softmax, 3, "boosting, classes");
    a_machine();
    views();
    adam();
}
