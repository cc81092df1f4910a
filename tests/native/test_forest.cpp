// forest.hpp: packed forests add up what a plain walk adds up.
#include <functional>
#include <stdexcept>

#include "check.hpp"
#include "forests.hpp"
#include "predict.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

std::vector<double> plain_sums(const Forest &of, const tables::Table &table, std::size_t first, std::size_t last) {
    std::vector<double> out(table.rows() * of.n_outputs, 0.25);
    for (std::size_t row = 0; row < table.rows(); ++row)
        for (std::size_t tree = first; tree < last; ++tree) {
            const std::size_t node = forests::end_of(of, tree, table.values() + row * table.columns());
            for (std::size_t k = 0; k < of.n_values; ++k)
                out[row * of.n_outputs + (of.n_values == 1 ? tree % of.n_outputs : k)] +=
                    of.value_at(node * of.n_values + k);
        }
    return out;
}

std::vector<double> packed_sums(const Forest &of, const tables::Table &table, std::size_t first, std::size_t last,
                                int threads = 1) {
    std::vector<double> out(table.rows() * of.n_outputs, 0.25);
    Threads pool(threads);
    Predictor(of).add(table.values(), table.rows(), table.columns(), first, last, pool, out.data());
    return out;
}

}  // namespace

TEST("a packed forest of any shape adds up what a plain walk adds up") {
    tables::Table numbers(301, 5), mixed(301, 5);
    forests::fill(numbers, false, 1);
    forests::fill(mixed, true, 2);
    for (std::uint32_t planes = 1; planes <= 5; ++planes)
        for (std::uint32_t terms = 1; terms <= 4; ++terms)
            for (bool sets : {false, true}) {
                const Forest of =
                    forests::forest({planes, terms, sets, 1, 5, 40}, 12, 1, 100 * planes + 10 * terms + sets);
                const tables::Table &table = sets ? mixed : numbers;
                CHECK(!sets || of.set_category.size() > 0);
                CHECK(tables::same_bytes(packed_sums(of, table, 0, 12), plain_sums(of, table, 0, 12)));
            }
}

TEST("trees take turns with the outputs, or hold a number for each") {
    tables::Table table(130, 5);
    forests::fill(table, true, 3);
    for (std::uint32_t planes : {1u, 2u, 3u, 4u})
        for (bool sets : {false, true}) {
            const Forest turns = forests::forest({planes, 3, sets, 1, 5, 40}, 12, 3, planes);
            CHECK(turns.n_outputs == 3);
            CHECK(tables::same_bytes(packed_sums(turns, table, 0, 12), plain_sums(turns, table, 0, 12)));
            const Forest vectors = forests::forest({planes, 2, sets, 4, 5, 40}, 6, 1, planes + 50);
            CHECK(vectors.n_outputs == 4);
            CHECK(tables::same_bytes(packed_sums(vectors, table, 0, 6), plain_sums(vectors, table, 0, 6)));
        }
}

TEST("any number of rows and any stretch of the trees add up") {
    const Forest packed = forests::forest({2, 3, true, 1, 5, 40}, 9, 3, 4),
                 plain = forests::forest({4, 5, false, 1, 5, 40}, 9, 3, 5);
    for (std::size_t rows : {0u, 1u, 7u, 8u, 9u, 127u, 128u, 129u, 263u}) {
        tables::Table table(rows, 5);
        forests::fill(table, true, 6);
        for (const Forest *of : {&packed, &plain}) {
            CHECK(tables::same_bytes(packed_sums(*of, table, 0, 9), plain_sums(*of, table, 0, 9)));
            CHECK(tables::same_bytes(packed_sums(*of, table, 3, 6), plain_sums(*of, table, 3, 6)));
            CHECK(tables::same_bytes(packed_sums(*of, table, 4, 4), std::vector<double>(rows * 3, 0.25)));
        }
    }
}

TEST("a forest of leaves needs no planes") {
    Forest leaf, of;
    leaf.plane_start = {0, 0};
    leaf.child_start = {0, 1};
    leaf.children = {0};
    leaf.parent = {-1};
    leaf.depth = {0};
    leaf.value = {1.5};
    leaf.close_tree();
    of.append(leaf);
    of.append(leaf);
    tables::Table table(20, 5);
    forests::fill(table, false, 1);
    CHECK(tables::same_bytes(packed_sums(of, table, 0, 2), std::vector<double>(20, 3.25)));
}

TEST("appended trees keep their planes, sets and children") {
    Random random(1, 1);
    const Forest first = forests::tree({2, 2, true, 1, 5, 40}, random),
                 second = forests::tree({3, 3, true, 1, 5, 40}, random);
    Forest forest;
    forest.append(first);
    forest.append(second);
    CHECK(forest.trees() == 2);
    CHECK(forest.node_start == std::vector<std::int32_t>{0, static_cast<std::int32_t>(first.nodes()),
                                                         static_cast<std::int32_t>(first.nodes() + second.nodes())});
    Forest alone;
    alone.append(second);
    tables::Table table(100, 5);
    forests::fill(table, true, 8);
    for (std::size_t row = 0; row < 100; ++row) {
        const float *x = table.values() + row * 5;
        CHECK(forests::end_of(forest, 1, x) == forests::end_of(alone, 0, x) + first.nodes());
    }
    CHECK(forest.plane_start.back() == static_cast<std::int32_t>(first.planes() + second.planes()));
    CHECK(forest.set_start.back() == static_cast<std::int32_t>(forest.set_category.size()));
    CHECK(forest.term_start.back() == static_cast<std::int32_t>(forest.term_feature.size()));
    CHECK(forest.child_start.back() == static_cast<std::int32_t>(forest.children.size()));
}

TEST("values in float64 are added up as well") {
    Random random(3, 1);
    const Forest tree = forests::tree({2, 3, true, 2, 5, 40}, random);
    tables::Table table(90, 5);
    forests::fill(table, true, 9);
    CHECK(!tree.value.empty());
    CHECK(tables::same_bytes(packed_sums(tree, table, 0, 1), plain_sums(tree, table, 0, 1)));
}

TEST("any number of threads adds up the same") {
    const Forest of = forests::forest({2, 3, true, 1, 5, 40}, 20, 1, 3);
    tables::Table table(3000, 5);
    forests::fill(table, true, 4);
    const auto alone = packed_sums(of, table, 0, 20);
    for (int threads : {2, 5}) CHECK(tables::same_bytes(packed_sums(of, table, 0, 20, threads), alone));
}

TEST("a part of a forest is those trees, and parts make the whole again") {
    for (std::size_t values : {1u, 3u}) {
        const Forest whole = forests::forest({3, 3, true, values, 5, 40}, 7, 1, 2);
        CHECK(whole.set_category.size() > 0);
        Forest again;
        for (auto [first, last] : {std::pair<std::size_t, std::size_t>{0, 2}, {2, 2}, {2, 7}}) {
            const Forest part = whole.part(first, last);
            CHECK(part.trees() == last - first);
            again.append(part);
        }
        CHECK(trees::same(again, whole));
    }
}

TEST("a grown or random forest passes its checks, and parents and levels are found again") {
    Forest forest = forests::forest({3, 3, true, 1, 5, 40}, 7, 1, 2);
    const auto parent = forest.parent, depth = forest.depth;
    forest.parent.clear();
    forest.depth.clear();
    forest.check();
    CHECK(forest.parent == parent);
    CHECK(forest.depth == depth);
    forest.check_columns({40, 0, 0, 0, 0});
}

TEST("whatever could be read out of bounds is refused") {
    const Forest good = forests::forest({2, 2, true, 1, 5, 40}, 3, 1, 1);
    const auto is_refused = [&](const std::function<void(Forest &)> &damage) {
        Forest bad = good;
        damage(bad);
        try {
            bad.check();
            bad.check_columns({40, 0, 0, 0, 0});
        } catch (const std::invalid_argument &) {
            return true;
        }
        return false;
    };
    CHECK(!is_refused([](Forest &) {}));
    each_array([&](auto array) {
        if (array.in(good).empty()) return;
        CHECK(is_refused([&](Forest &bad) { array.in(bad).pop_back(); }));
        CHECK(is_refused([&](Forest &bad) { array.in(bad).push_back(array.in(bad).back()); }));
        if (array.starts) {
            CHECK(is_refused([&](Forest &bad) { array.in(bad)[1] = static_cast<decltype(array.in(bad)[1] + 0)>(-1); }));
            CHECK(is_refused([&](Forest &bad) { ++array.in(bad).back(); }));
        }
    });
    CHECK(is_refused([](Forest &bad) { bad.value32.pop_back(); }));
    CHECK(is_refused([](Forest &bad) { bad.n_outputs = 0; }));
    CHECK(!is_refused([](Forest &fine) { fine.n_outputs = 3; }));
    CHECK(is_refused([](Forest &bad) { bad.n_outputs = 4; }));
    CHECK(is_refused([](Forest &bad) { bad.children[0] = -1; }));
    CHECK(is_refused([](Forest &bad) { bad.children[0] = 1000; }));
    CHECK(is_refused([](Forest &bad) { bad.children.back() = 0; }));
    CHECK(is_refused([](Forest &bad) { bad.term_feature[0] = -1; }));
    CHECK(is_refused([](Forest &bad) { bad.term_feature[0] = 5; }));
    CHECK(is_refused([](Forest &bad) { bad.set_category[0] = -1; }));
    CHECK(is_refused([](Forest &bad) { bad.set_category[0] = 40; }));
    CHECK(is_refused([](Forest &bad) { bad.missing_right[0] = 2; }));
    CHECK(is_refused([](Forest &bad) { bad.term_coefficient[0] = 0; }));
    CHECK(is_refused([](Forest &bad) { bad.threshold[0] = tables::missing; }));
}

TEST("usual values are what the training rows of a node get on average") {
    Forest tree;  // two cells with children, one without
    tree.plane_start = {0, 2, 2, 2};
    tree.child_start = {0, 4, 5, 6};
    tree.children = {1, 2, 0, 2, 1, 2};
    tree.parent = {-1, 0, 0};
    tree.rows = {10, 4, 5};  // one row stayed at the root
    tree.value = {100, 1, 2};
    tree.close_tree();
    CHECK(tree.usual_values() == std::vector<double>{(4 * 1 + 5 * 2 + 1 * 100) / 10.0, 1, 2});
}

TEST("a pruned forest gives rows the values of the nodes where they were cut off") {
    tables::Table table(200, 5);
    forests::fill(table, true, 6);
    for (std::size_t values : {1u, 3u}) {
        const Forest whole = forests::forest({3, 3, true, values, 5, 40}, 7, 1, 2);
        Random random(5, 5);
        std::vector<char> cut(whole.nodes());
        for (char &each : cut) each = random.below(3) == 0;
        Forest pruned = whole;
        const std::vector<std::int32_t> moved = pruned.prune(cut);
        CHECK(pruned.nodes() < whole.nodes() && pruned.planes() < whole.planes());
        Forest checked = pruned;
        checked.check();
        CHECK(trees::same(checked, pruned));
        bool same = true;
        for (std::size_t row = 0; row < 200; ++row)
            for (std::size_t tree = 0; tree < 7; ++tree) {
                const float *x = table.values() + row * 5;
                const std::size_t old = forests::end_of(whole, tree, x), now = forests::end_of(pruned, tree, x);
                same = same && now == static_cast<std::size_t>(pruned.node_start[tree] + moved[old]);
                std::size_t above = old, end = old;  // the highest node on the way that was cut
                const auto root = static_cast<std::size_t>(whole.node_start[tree]);
                for (; above != root; above = root + static_cast<std::size_t>(whole.parent[above]))
                    if (cut[above]) end = above;
                if (cut[root]) end = root;
                for (std::size_t k = 0; k < values; ++k)
                    same = same && pruned.value_at(now * values + k) == whole.value_at(end * values + k);
            }
        CHECK(same);
    }
}

TEST("pruning nothing changes nothing, and roots can be all that is left") {
    const Forest whole = forests::forest({2, 3, true, 1, 5, 40}, 4, 1, 9);
    Forest same = whole, roots = whole;
    same.prune(std::vector<char>(whole.nodes(), 0));
    CHECK(trees::same(same, whole));
    roots.prune(std::vector<char>(whole.nodes(), 1));
    CHECK(roots.nodes() == 4 && roots.planes() == 0 && roots.term_feature.empty() && roots.set_category.empty());
}

TEST("what compact drops is given back, and a part has no more outputs than trees") {
    Forest tree;
    tree.plane_start = {0, 0};
    tree.child_start = {0, 1};
    tree.children = {0};
    tree.rows = {1};
    tree.value = {1, 2, 3};
    tree.n_values = tree.n_outputs = 3;
    for (auto *list : {&tree.weight, &tree.impurity, &tree.gain}) *list = {1};
    tree.close_tree();
    tree.compact(1);
    for (const auto *dropped : {&tree.value, &tree.weight, &tree.impurity, &tree.gain}) CHECK(dropped->capacity() == 0);
    CHECK(tree.value32 == std::vector<float>{3});

    Forest turns = forests::forest({2, 2, true, 1, 5, 40}, 6, 1, 1);
    turns.n_outputs = 3;
    CHECK(turns.part(0, 6).n_outputs == 3 && turns.part(0, 3).n_outputs == 3);
    CHECK(turns.part(1, 2).n_outputs == 1 && turns.part(0, 0).n_outputs == 1);
}
