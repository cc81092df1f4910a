// categories.hpp: sets, the order of categories, and trees that use both.
#include <limits>

#include "categories.hpp"
#include "check.hpp"
#include "grow.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

bool never() { return false; }

GrowOptions usual() {
    GrowOptions options;
    options.seed = 5;
    options.draw.n_projections = 16;
    options.draw.rounds = {{3, 0.1, 0.1}};
    return options;
}

std::vector<double> target_of(const tables::Table &table, std::size_t column) {
    std::vector<double> y = tables::numbers(table, 3);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += 3 * std::sin(7 * tables::or_zero(table.at(i, column)));
    return y;
}

Gradients gradients_of(const std::vector<double> &y, const std::vector<double> &weight) {
    double total = 0, sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += weight[i], sum += weight[i] * y[i];
    std::vector<double> g(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) g[i] = weight[i] * (sum / total - y[i]);
    Gradients statistics = Gradients::squared_error();
    statistics.assign(g.data(), weight.data(), y.size());
    return statistics;
}

template <class S>
std::vector<std::int64_t> total_of(const S &statistics) {
    std::vector<std::int64_t> total(statistics.channels(), 0);
    for (std::size_t i = 0; i < statistics.size(); ++i) statistics.add(statistics.data()[i], total.data());
    return total;
}

template <class S>
Adder<S> adder_of(const S &statistics) {
    Adder<S> adder;
    adder.open(statistics.data(), statistics.size());
    return adder;
}

}  // namespace

TEST("a set reads one for its members, zero for others and NaN for a missing one") {
    const std::vector<std::int32_t> members{0, 31, 32, 63, 64, 1000, 65534};
    const CategorySet set(members.data(), members.size());
    std::size_t wrong = 0;
    for (std::int32_t c = 0; c < 66000; ++c) {
        const bool in = std::find(members.begin(), members.end(), c) != members.end();
        wrong += set.read(static_cast<float>(c)) != (in ? 1.0f : 0.0f);
    }
    CHECK(wrong == 0);
    CHECK(set.read(0.0f) == 1.0f);
    for (float outside :
         {-1.0f, -0.5f, 1e9f, 1e30f, std::numeric_limits<float>::max(), tables::infinity, -tables::infinity})
        CHECK(set.read(outside) == 0.0f);
    const float nothing = set.read(tables::missing);
    CHECK(nothing != nothing);
}

TEST("an empty set has no members") {
    const CategorySet set(nullptr, 0);
    CHECK(set.read(0.0f) == 0.0f);
    CHECK(set.read(5.0f) == 0.0f);
    CHECK(set.read(tables::missing) != set.read(tables::missing));
}

TEST("categories of numbers are put in the order of their means, drawn to zero where rows are few") {
    //                      0: mean -3    1: none   2: mean 2        3: one row, 4     4: mean 1
    const std::vector<float> x{0, 0, 0, 0, 2, 2, 2, 2, 3, 4, 4, 4, 4, tables::missing};
    const std::vector<double> y{-3, -3, -2, -4, 2, 2, 1, 3, 4, 1, 1, 1, 1, -4}, weight(14, 1.0);
    const Gradients statistics = gradients_of(y, weight);
    const auto total = total_of(statistics);
    Adder<Gradients> adder = adder_of(statistics);
    CategoryOrder order;
    order.arrange(statistics, adder, x.data(), x.size(), 5, total.data());
    CHECK(order.present().size() == 4);
    // Sums over (rows + 10), all around a mean of 0: -12/14, none, 8/14, 4/11, 4/14.
    CHECK(order.present() == std::vector<std::int32_t>{0, 4, 3, 2});
    for (std::size_t k = 0; k < 4; ++k)
        CHECK(order.place(static_cast<float>(order.present()[k])) == static_cast<std::int32_t>(k));
    CHECK(order.place(1.0f) == CategoryOrder::absent);
}

TEST("categories of two classes are put in the order of their shares") {
    Random random(1, 2);
    for (int trial = 0; trial < 30; ++trial) {
        const std::int32_t categories = 2 + static_cast<std::int32_t>(random.below(30));
        std::vector<float> x;
        std::vector<std::int32_t> label;
        std::vector<double> weight, first(static_cast<std::size_t>(categories), 0.0), all = first;
        double ones = 0;
        for (int i = 0; i < 300; ++i) {
            const std::uint32_t c = random.below(static_cast<std::uint32_t>(categories));
            x.push_back(static_cast<float>(c));
            label.push_back(random.below(static_cast<std::uint32_t>(categories)) < c);
            weight.push_back(1.0 + random.below(3));
            all[c] += weight.back();
            first[c] += label.back() * weight.back();
            ones += label.back() * weight.back();
        }
        double whole = 0;
        for (double each : all) whole += each;
        for (Criterion criterion : {Criterion::entropy, Criterion::gini}) {
            ClassCounts statistics(2, criterion);
            statistics.assign(label.data(), weight.data(), label.size());
            const auto total = total_of(statistics);
            Adder<ClassCounts> adder = adder_of(statistics);
            CategoryOrder order;
            order.arrange(statistics, adder, x.data(), x.size(), categories, total.data());
            const auto share = [&](std::int32_t c) {
                const auto k = static_cast<std::size_t>(c);
                return (first[k] + rows_to_trust * ones / whole) / (all[k] + rows_to_trust);
            };
            bool rising = true, falling = true;  // which end is first does not matter to a cut
            const auto &present = order.present();
            for (std::size_t k = 1; k < present.size(); ++k) {
                rising = rising && share(present[k]) >= share(present[k - 1]) - 1e-12;
                falling = falling && share(present[k]) <= share(present[k - 1]) + 1e-12;
            }
            CHECK(rising || falling);
        }
    }
}

TEST("an order can be used again for another node") {
    const std::vector<double> y{1, 2, 3, 4}, weight(4, 1.0);
    const Gradients statistics = gradients_of(y, weight);
    const auto total = total_of(statistics);
    const std::vector<float> many{5, 4, 3, 2}, few{0, 0, 1, 1};
    Adder<Gradients> adder = adder_of(statistics);
    CategoryOrder order;
    order.arrange(statistics, adder, many.data(), 4, 6, total.data());
    CHECK(order.present().size() == 4);
    order.arrange(statistics, adder, few.data(), 4, 2, total.data());
    CHECK(order.present().size() == 2);
    CHECK(order.present() == std::vector<std::int32_t>{0, 1});
}

TEST("a categorical column has a scale of one and no mean") {
    tables::Table table(50, 4);
    table.fill(1);
    table.fill_categories(0, 9, 2);
    table.fill_categories(1, 1, 3);
    table.fill_categories(2, 1, 4, 5);
    const Matrix &matrix = table.matrix();
    CHECK(matrix.scale[0] == 1.0);
    CHECK(matrix.scale[1] == 0.0);  // one category: of no use
    CHECK(matrix.scale[2] == 1.0);  // or missing
    CHECK(matrix.scale[3] > 0 && matrix.scale[3] != 1.0);
    for (std::size_t j = 0; j < 3; ++j) CHECK(matrix.mean[j] != matrix.mean[j]);
    CHECK(matrix.mean[3] == matrix.mean[3]);
}

TEST("a tree asks for categories alone, and rows go where growing sent them") {
    for (std::int32_t categories : {2, 9, 40, 300})
        for (std::uint32_t missing : {0u, 12u})
            for (Bins bins : {Bins::uniform, Bins::quantile}) {
                tables::Table table(1500, 4);
                table.fill(2, missing);
                table.fill_categories(3, categories, 7, missing);
                const Gradients statistics = gradients_of(target_of(table, 3), table.weight());
                GrowOptions options = usual();
                options.choose.bins = bins;
                options.max_rows_per_node = 600;
                Threads alone(1), many(3);
                const auto grown = grow(table.matrix(), statistics, options, alone, never);
                const Forest &tree = grown.tree;
                CHECK(tree.set_category.size() > 0);
                bool apart = true;
                for (std::size_t k = 0; k < tree.planes(); ++k)
                    for (auto t = tree.term_start[k]; t < tree.term_start[k + 1]; ++t)
                        if (tree.term_feature[static_cast<std::size_t>(t)] == 3)
                            apart = apart && tree.term_start[k + 1] - tree.term_start[k] == 1;
                        else
                            apart = apart && tree.set_start[k] == tree.set_start[k + 1];
                CHECK(apart);
                CHECK(trees::apply(tree, table) == grown.leaf);
                CHECK(trees::same(grow(table.matrix(), statistics, options, many, never).tree, tree));
            }
}
