// choose.hpp and feature_test.hpp: the best threshold of a direction, and the planes of a node.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "choose.hpp"
#include "feature_test.hpp"
#include "tables.hpp"

using namespace planewise;
using tables::close;

namespace {

Gradients squared_error(const std::vector<double> &y, double lambda = 0.0) {
    const double centre = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
    std::vector<double> g(y.size()), h(y.size(), 1.0);
    for (std::size_t i = 0; i < y.size(); ++i) g[i] = centre - y[i];
    Gradients statistics(lambda, 1.0);
    statistics.assign(g.data(), h.data(), y.size());
    return statistics;
}

ClassCounts classes_of(const std::vector<std::int32_t> &label, std::size_t classes) {
    const std::vector<double> weight(label.size(), 1.0);
    ClassCounts statistics(classes, Criterion::entropy);
    statistics.assign(label.data(), weight.data(), label.size());
    return statistics;
}

// A node of all rows of a table.
template <class S>
struct Node {
    Node(tables::Table &from, const S &what, const ChooseOptions &how)
        : table(from), statistics(what), options(how), matrix(from.matrix()), sample(matrix), chooser(what, options) {
        std::vector<std::uint32_t> rows(matrix.rows);
        std::iota(rows.begin(), rows.end(), 0u);
        sample.draw(rows.data(), rows.size(), rows.size(), 0);
        sample.gather(tables::all_features(matrix));
        chooser.open(sample);
    }
    void measure_axes() {
        for (std::size_t j = 0; j < matrix.columns; ++j)
            Proposer::add_axis(matrix, static_cast<std::int32_t>(j), directions);
        measure_all();
    }
    void measure_all() {
        for (std::size_t d = 0; d < directions.size(); ++d) chooser.measure(sample, matrix, directions, d);
    }
    std::vector<Plane> choose(double grown = 1.0) {
        std::vector<Plane> planes;
        chooser.choose(sample, directions, grown, planes);
        return planes;
    }
    std::vector<float> values(std::size_t d) {
        std::vector<float> out(matrix.rows);
        project(sample, directions, d, out.data());
        return out;
    }
    // Rise of the score when the rows marked go right.
    double gain(const std::vector<char> &right) {
        std::vector<std::int64_t> all(statistics.channels(), 0), side[2] = {all, all};
        for (std::size_t i = 0; i < right.size(); ++i) {
            statistics.add(statistics.data()[i], all.data());
            statistics.add(statistics.data()[i], side[right[i] != 0].data());
        }
        for (const auto &each : side)
            if (statistics.rows(each.data()) < options.min_samples_leaf) return 0;
        return statistics.score(side[0].data()) + statistics.score(side[1].data()) - statistics.score(all.data());
    }
    std::vector<char> right_of(const Plane &plane) {
        const auto f = values(plane.direction);
        std::vector<char> right(f.size());
        for (std::size_t i = 0; i < f.size(); ++i)
            right[i] = f[i] != f[i] ? plane.missing_right : f[i] >= plane.threshold;
        return right;
    }
    // The 1-D test the slow way.
    double best_on_edges(std::size_t d) {
        const auto f = values(d);
        float low = tables::infinity, high = -tables::infinity;
        for (float v : f)
            if (v == v) low = std::min(low, v), high = std::max(high, v);
        const float per_width = 1.0f / ((high - low) / static_cast<float>(options.n_bins));
        double best = 0;
        for (int b = 0; b < options.n_bins; ++b)  // edge 0: the missing values against all others
            for (bool missing_right : {false, true}) {
                std::vector<char> right(f.size());
                for (std::size_t i = 0; i < f.size(); ++i)
                    right[i] = f[i] != f[i]
                                   ? missing_right
                                   : std::min(static_cast<int>((f[i] - low) * per_width), options.n_bins - 1) >= b;
                best = std::max(best, gain(right));
            }
        return best;
    }

    tables::Table &table;
    const S &statistics;
    ChooseOptions options;
    const Matrix &matrix;
    Sample sample;
    Chooser<S> chooser;
    Directions directions;
};

void add_pairs(const Matrix &matrix, Directions &directions) {
    for (std::size_t j = 1; j < matrix.columns; ++j) {
        directions.add_term(static_cast<std::int32_t>(j - 1), 2, matrix.scale[j - 1]);
        directions.add_term(static_cast<std::int32_t>(j), -3, matrix.scale[j]);
        directions.close();
    }
}

template <class S>
void check_best_cuts(tables::Table &table, const S &statistics) {
    for (int bins : {2, 16, 255})
        for (std::int64_t least : {1, 20}) {
            ChooseOptions options;
            options.n_bins = bins;
            options.min_samples_leaf = least;
            Node<S> node(table, statistics, options);
            add_pairs(node.matrix, node.directions);
            node.measure_axes();
            bool same = true;
            for (std::size_t d = 0; d < node.directions.size(); ++d)
                same = same && node.chooser.splittable(d) && node.chooser.gain(d) == node.best_on_edges(d);
            CHECK(same);
        }
}

template <class S>
void check_first_plane(tables::Table &table, const S &statistics, const std::vector<Bins> &ways) {
    for (Bins bins : ways)
        for (int n_bins : {2, 16, 255})
            for (std::int64_t least : {1, 15}) {
                ChooseOptions options;
                options.bins = bins;
                options.n_bins = n_bins;
                options.max_planes = 1;
                options.min_samples_leaf = least;
                Node<S> node(table, statistics, options);
                add_pairs(node.matrix, node.directions);
                node.measure_axes();
                const auto planes = node.choose();
                CHECK(planes.size() == 1);
                if (planes.empty()) continue;
                CHECK(std::isfinite(planes[0].threshold));
                CHECK(planes[0].gain >= node.chooser.gain(planes[0].direction));
                CHECK(planes[0].gain == node.gain(node.right_of(planes[0])));
            }
}

}  // namespace

TEST("the best cut of a direction is the best of its edges and sides of the missing") {
    for (std::uint32_t missing_every : {0u, 8u}) {
        tables::Table table(300, 4);
        table.fill(1, missing_every);
        check_best_cuts(table, squared_error(tables::numbers(table, 1)));
        check_best_cuts(table, classes_of(tables::labels(table, 3, 1), 3));
    }
}

TEST("a cut's gain has the penalty on the values of both sides") {
    tables::Table table(300, 4);
    table.fill(1, 8);
    check_best_cuts(table, squared_error(tables::numbers(table, 1), 20.0));
}

TEST("the first plane gains what it says, no less than its best edge") {
    for (std::uint32_t missing_every : {0u, 8u}) {
        tables::Table table(400, 4);
        table.fill(2, missing_every);
        check_first_plane(table, squared_error(tables::numbers(table, 2)), {Bins::uniform, Bins::quantile});
        check_first_plane(table, classes_of(tables::labels(table, 3, 2), 3), {Bins::uniform, Bins::quantile});
    }
}

TEST("quantile bins stay true when an outlier is a billion bins away") {
    for (int outliers : {1, 3}) {
        tables::Table table(400, 1);
        std::vector<std::int32_t> label(400);
        for (std::size_t i = 0; i < 400; ++i) {
            table.at(i, 0) = static_cast<float>(1e-12 * static_cast<double>((i * 37) % 400));
            label[i] = (i * 37) % 400 >= 210;
        }
        for (int k = 0; k < outliers; ++k)
            table.at(static_cast<std::size_t>(50 * k), 0) = 1.0f, label[static_cast<std::size_t>(50 * k)] = 0;
        check_first_plane(table, classes_of(label, 2), {Bins::quantile});
    }
}

TEST("two separate groups are cut in the middle of their gap") {
    tables::Table table(40, 1);
    std::vector<std::int32_t> label(40);
    for (std::size_t i = 0; i < 40; ++i) {
        table.at(i, 0) = static_cast<float>(i) + (i < 10 ? 0.0f : 5.0f);
        label[i] = i >= 10;
    }
    const ClassCounts statistics = classes_of(label, 2);
    Node<ClassCounts> node(table, statistics, {});
    node.measure_axes();
    const auto planes = node.choose();
    CHECK(planes.size() == 1);
    CHECK(close(planes[0].threshold / node.directions.weight[0], 12.0, 1e-5));
    CHECK(close(planes[0].gain, statistics.impurity(node.chooser.total()), 1e-9));
    CHECK(planes[0].missing_right);  // none is missing: the heavier side
}

TEST("missing values go to the side they belong to") {
    for (int side : {0, 1}) {
        tables::Table table(60, 1);
        std::vector<std::int32_t> label(60);
        for (std::size_t i = 0; i < 60; ++i) {
            label[i] = i >= 30;
            table.at(i, 0) = static_cast<float>(i) + (i < 30 ? 0.0f : 9.0f);
            if (label[i] == side && i % 2) table.at(i, 0) = tables::missing;
        }
        const ClassCounts statistics = classes_of(label, 2);
        Node<ClassCounts> node(table, statistics, {});
        node.measure_axes();
        const auto planes = node.choose();
        CHECK(planes.size() == 1 && planes[0].missing_right == (side == 1));
        CHECK(close(planes[0].gain, statistics.impurity(node.chooser.total()), 1e-9));
    }
}

TEST("the missing can be told from all others") {
    tables::Table table(60, 1);
    std::vector<std::int32_t> label(60);
    for (std::size_t i = 0; i < 60; ++i) {
        table.at(i, 0) = i % 3 == 0 ? tables::missing : static_cast<float>(i % 5);
        label[i] = i % 3 == 0;
    }
    const ClassCounts statistics = classes_of(label, 2);
    for (Bins bins : {Bins::uniform, Bins::quantile})
        for (bool refine : {false, true}) {
            ChooseOptions options;
            options.bins = bins;
            options.refine = refine;
            Node<ClassCounts> node(table, statistics, options);
            node.measure_axes();
            const auto planes = node.choose();
            CHECK(planes.size() == 1);
            if (planes.empty()) continue;
            CHECK(close(planes[0].gain, statistics.impurity(node.chooser.total()), 1e-9));
            CHECK(planes[0].gain == node.gain(node.right_of(planes[0])));
        }
}

TEST("directions without spread, or wholly missing, cannot be split") {
    tables::Table table(50, 3);
    table.fill(3);
    for (std::size_t i = 0; i < 50; ++i) table.at(i, 1) = tables::missing;
    const Gradients statistics = squared_error(tables::numbers(table, 3));
    Matrix matrix = table.matrix();
    matrix.scale[1] = 1;  // as if another node had known its values
    Sample sample(matrix);
    // A node whose rows agree in column 0.
    const std::vector<std::uint32_t> rows(20, 7);
    sample.draw(rows.data(), rows.size(), rows.size(), 0);
    sample.gather(tables::all_features(matrix));
    ChooseOptions options;
    Chooser<Gradients> chooser(statistics, options);
    chooser.open(sample);
    Directions directions;
    for (std::int32_t j : {0, 1}) {
        Proposer::add_axis(matrix, j, directions);
        chooser.measure(sample, matrix, directions, static_cast<std::size_t>(j));
        CHECK(!chooser.splittable(static_cast<std::size_t>(j)) && chooser.gain(static_cast<std::size_t>(j)) == 0);
    }
    std::vector<Plane> planes{{}};
    chooser.choose(sample, directions, 1.0, planes);
    CHECK(planes.empty());
}

TEST("planes chosen jointly carve quadrants") {
    tables::Table table(400, 3);
    table.fill(4);
    std::vector<std::int32_t> label(400);
    for (std::size_t i = 0; i < 400; ++i) {
        for (std::size_t j : {0u, 2u}) table.at(i, j) += table.at(i, j) > 0.1f ? 2.0f : -2.0f;
        label[i] = (table.at(i, 0) > 0) + 2 * (table.at(i, 2) > 0);
    }
    const ClassCounts statistics = classes_of(label, 4);
    ChooseOptions options;
    options.max_planes = 8;
    Node<ClassCounts> node(table, statistics, options);
    node.measure_axes();
    const auto planes = node.choose();
    CHECK(planes.size() == 2);
    double gain = 0;
    for (const Plane &plane : planes) gain += plane.gain;
    CHECK(close(gain, statistics.impurity(node.chooser.total()), 1e-9));
    CHECK(planes[0].direction + planes[1].direction == 2);
}

TEST("a node has no more planes than allowed, up to eight") {
    tables::Table table(1500, 6);
    table.fill(5);
    const Gradients statistics = squared_error(tables::numbers(table, 5));
    for (PlaneChoice choice : {PlaneChoice::joint, PlaneChoice::cosine})
        for (int bins : {2, 16, 255})
            for (int most : {1, 2, 3, 8}) {
                ChooseOptions options;
                options.n_bins = bins;
                options.max_planes = most;
                options.plane_choice = choice;
                options.min_relative_gain = 0;
                options.max_cosine = 1;
                Node<Gradients> node(table, statistics, options);
                add_pairs(node.matrix, node.directions);
                node.measure_axes();
                const auto planes = node.choose();
                CHECK(!planes.empty() && planes.size() <= static_cast<std::size_t>(most));
                CHECK(std::all_of(planes.begin(), planes.end(), [](const Plane &p) { return p.gain > 0; }));
                if (choice == PlaneChoice::joint && bins == 16) CHECK(planes.size() == static_cast<std::size_t>(most));
            }
}

TEST("planes chosen by cosine keep their distance") {
    tables::Table table(1000, 6);
    table.fill(6);
    const Gradients statistics = squared_error(tables::numbers(table, 6));
    for (double most : {0.0, 0.3, 0.7}) {
        ChooseOptions options;
        options.max_planes = 4;
        options.plane_choice = PlaneChoice::cosine;
        options.max_cosine = most;
        options.min_relative_gain = 0;
        Node<Gradients> node(table, statistics, options);
        add_pairs(node.matrix, node.directions);
        node.measure_axes();
        const auto planes = node.choose();
        CHECK(planes.size() > 1);
        const Directions &all = node.directions;
        double largest = 0;
        for (std::size_t a = 0; a < planes.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                double dot = 0, aa = 0, bb = 0;
                std::vector<double> dense[2] = {std::vector<double>(6, 0.0), std::vector<double>(6, 0.0)};
                for (int side : {0, 1}) {
                    const std::uint32_t d = planes[side ? a : b].direction;
                    for (std::uint32_t t = all.begin(d); t < all.end(d); ++t)
                        dense[side][static_cast<std::size_t>(all.feature[t])] = all.coefficient[t];
                }
                for (std::size_t j = 0; j < 6; ++j)
                    dot += dense[0][j] * dense[1][j], aa += dense[0][j] * dense[0][j], bb += dense[1][j] * dense[1][j];
                largest = std::max(largest, std::fabs(dot) / std::sqrt(aa * bb));
            }
        CHECK(largest <= most + 1e-12);
    }
}

TEST("a split must be worth its price") {
    tables::Table table(200, 3);
    table.fill(7);
    const Gradients statistics = squared_error(tables::numbers(table, 7));
    ChooseOptions options;
    options.max_planes = 1;
    Node<Gradients> free_of_charge(table, statistics, options);
    free_of_charge.measure_axes();
    const double gain = free_of_charge.choose().at(0).gain;
    options.min_split_gain = 3 * gain;
    Node<Gradients> dear(table, statistics, options);
    dear.measure_axes();
    CHECK(dear.choose(1.0).empty());
    CHECK(dear.choose(4.0).size() == 1);  // the node has four times the rows of the sample
    options.min_split_gain = 0;
    options.noise_margin = 1e9;
    Node<Gradients> doubtful(table, statistics, options);
    doubtful.measure_axes();
    CHECK(doubtful.choose().empty());
    options.noise_margin = 0;
    options.min_child_weight = 150;  // two such children would need 300 rows
    Node<Gradients> heavy(table, statistics, options);
    heavy.measure_axes();
    CHECK(heavy.choose().empty());
}

// ---------------------------------------------------------------------------------------------------- feature test

TEST("the feature test finds every feature's best edge, in the feature's own units") {
    tables::Table table(500, 5);
    table.fill(8, 9);
    for (std::size_t i = 0; i < 500; ++i) {
        table.at(i, 1) = 1000 + 50 * table.at(i, 1);
        table.at(i, 3) = 4;  // constant
    }
    const Gradients statistics = squared_error(tables::numbers(table, 8));
    ChooseOptions options;
    Node<Gradients> node(table, statistics, options);
    node.measure_axes();
    const double whole = statistics.impurity(node.chooser.total());
    Threads one(1);
    const FeatureTest test = test_features(node.matrix, statistics, options, one, [] { return false; });
    for (std::size_t j = 0; j < 5; ++j) {
        if (j == 3) {
            CHECK(test.loss[j] == whole && test.threshold[j] != test.threshold[j]);
            continue;
        }
        CHECK(test.loss[j] == whole - node.best_on_edges(j));
        CHECK(test.loss[j] >= 0 && test.loss[j] < whole);
        float low = tables::infinity, high = -tables::infinity;
        for (std::size_t i = 0; i < 500; ++i)
            if (table.at(i, j) == table.at(i, j))
                low = std::min(low, table.at(i, j)), high = std::max(high, table.at(i, j));
        const double place = static_cast<double>(test.threshold[j] - low) / static_cast<double>(high - low) * 16;
        CHECK(place > -0.1 && place < 15.1 && close(place, std::nearbyint(place), 1e-3));
    }
    for (int count : {2, 5}) {
        Threads threads(count);
        const FeatureTest again = test_features(node.matrix, statistics, options, threads, [] { return false; });
        CHECK(tables::same_bytes(test.loss, again.loss) && tables::same_bytes(test.threshold, again.threshold));
    }
}

TEST("the feature test of classes: a perfect feature has no loss left, noise keeps most") {
    tables::Table table(300, 3);
    table.fill(9);
    std::vector<std::int32_t> label(300);
    for (std::size_t i = 0; i < 300; ++i) {
        label[i] = static_cast<std::int32_t>(i % 2);
        table.at(i, 1) = static_cast<float>(label[i]) * 100 - 3;
    }
    const ClassCounts statistics = classes_of(label, 2);
    Threads threads(2);
    const Matrix &matrix = table.matrix();
    const FeatureTest test = test_features(matrix, statistics, {}, threads, [] { return false; });
    const double whole = 300 * std::log(2.0);
    CHECK(close(test.loss[1], 0, 1e-9) && test.threshold[1] > -3 && test.threshold[1] <= 97);
    CHECK(test.loss[0] > 0.9 * whole && test.loss[2] > 0.9 * whole && test.loss[0] <= whole);
}

TEST("the lowest bit of a word is found, whatever stands above it") {
    Random random(5, 1);
    for (std::size_t bit = 0; bit < 64; ++bit) {
        CHECK(lowest_bit(std::uint64_t{1} << bit) == bit);
        CHECK(lowest_bit((random.next() | 1) << bit) == bit);
    }
}
