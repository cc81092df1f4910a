// predict.hpp: where rows end in a tree made by hand.
#include "check.hpp"
#include "forests.hpp"
#include "predict.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

// Root with two planes, x0 >= 0 and x0 - 2 x1 >= 1; the code 0b11 has no child. Node 1 has one plane, x1 >= 5.
//   codes of the root: 00 -> 1, 01 -> 2, 10 -> 3, 11 -> the root itself;  of node 1: 0 -> 4, 1 -> 5
Forest by_hand() {
    Forest tree;
    tree.plane_start = {0, 2, 3, 3, 3, 3, 3};
    tree.child_start = {0, 4, 6, 7, 8, 9, 10};
    tree.children = {1, 2, 3, 0, 4, 5, 2, 3, 4, 5};
    tree.parent = {-1, 0, 0, 0, 1, 1};
    tree.depth = {0, 1, 1, 1, 2, 2};
    tree.term_start = {0, 1, 3, 4};
    tree.term_feature = {0, 0, 1, 1};
    tree.term_weight = {1, 1, -2, 1};
    tree.threshold = {0, 1, 5};
    tree.set_start = {0, 0, 0, 0};
    tree.missing_right = {1, 0, 1};
    tree.close_tree();
    return tree;
}

}  // namespace

TEST("rows end where the planes send them") {
    const std::vector<std::vector<float>> x{
        {-1, 0},                // 00, then x1 < 5
        {-1, 7},                // 00, then x1 >= 5
        {-1, 5},                // on the threshold: right
        {0, 0},                 // x0 on its threshold; 0 < 1
        {-1, -3},               // -1 + 6 >= 1
        {3, 1},                 // both: the cell nobody was in
        {tables::missing, 0},   // first plane's missing right, second's left
        {-1, tables::missing},  // second plane missing: left; then node 1's missing right
    };
    const std::vector<std::int32_t> wanted{4, 5, 5, 2, 3, 0, 2, 5};
    tables::Table table(x.size(), 2);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < 2; ++j) table.at(i, j) = x[i][j];
    CHECK(trees::apply(by_hand(), table) == wanted);
}

TEST("planes of any length are added up term by term") {
    for (std::int32_t terms = 1; terms <= 8; ++terms) {
        // A chain of planes of one term up to `terms`, each asked of the rows left of the one before.
        Forest tree;
        Random random(1, static_cast<std::uint64_t>(terms));
        for (std::int32_t k = 0; k < terms; ++k) {
            for (std::int32_t t = 0; t <= k; ++t) {
                tree.term_feature.push_back(t);
                tree.term_weight.push_back(static_cast<float>(tables::bell(random)));
            }
            tree.term_start.push_back(static_cast<std::int32_t>(tree.term_feature.size()));
            tree.set_start.push_back(0);
            tree.threshold.push_back(static_cast<float>(tables::bell(random)));
            tree.missing_right.push_back(static_cast<std::uint8_t>(k % 2));
        }
        // Node 2k asks plane k: left on to node 2k + 2, right to the leaf 2k + 1; the last node is a leaf.
        tree.plane_start.clear(), tree.child_start.clear();
        for (std::int32_t node = 0; node <= 2 * terms; ++node) {
            const bool asks = node % 2 == 0 && node < 2 * terms;
            tree.plane_start.push_back(std::min((node + 1) / 2, terms));
            tree.child_start.push_back(static_cast<std::int32_t>(tree.children.size()));
            tree.depth.push_back((node + 1) / 2);
            if (asks) tree.children.push_back(node + 2);
            tree.children.push_back(asks ? node + 1 : node);
        }
        tree.plane_start.push_back(terms);
        tree.child_start.push_back(static_cast<std::int32_t>(tree.children.size()));
        tree.close_tree();
        tables::Table table(501, 8);
        table.fill(3, 15);
        std::vector<std::int32_t> wanted(501);
        for (std::size_t i = 0; i < 501; ++i) {
            std::int32_t node = 0;
            for (std::int32_t k = 0; k < terms; ++k) {
                const auto plane = static_cast<std::size_t>(k),
                           first = static_cast<std::size_t>(tree.term_start[plane]);
                float v = tree.term_weight[first] * table.at(i, 0);
                for (std::size_t t = 1; t <= plane; ++t) v += tree.term_weight[first + t] * table.at(i, t);
                if (v >= tree.threshold[plane] || (v != v && tree.missing_right[plane])) {
                    node = 2 * k + 1;
                    break;
                }
                node = 2 * k + 2;
            }
            wanted[i] = node;
        }
        CHECK(trees::apply(tree, table, 2) == wanted);
    }
}

TEST("a tree that is one leaf keeps every row at the root") {
    Forest tree;
    tree.plane_start = {0, 0};
    tree.child_start = {0, 1};
    tree.children = {0};
    tree.depth = {0};
    tree.close_tree();
    tables::Table table(10, 3);
    table.fill(1, 3);
    CHECK(trees::apply(tree, table) == std::vector<std::int32_t>(10, 0));
}

TEST("any number of rows and threads gives the same leaves") {
    tables::Table table(20000, 2);
    table.fill(2, 20);
    const auto alone = trees::apply(by_hand(), table, 1);
    for (int threads : {2, 5}) CHECK(trees::apply(by_hand(), table, threads) == alone);
    for (std::size_t rows : {0u, 1u, 4095u, 4096u, 4097u}) {
        tables::Table part(rows, 2);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < 2; ++j) part.at(i, j) = table.at(i, j);
        CHECK(trees::apply(by_hand(), part, 2) ==
              std::vector<std::int32_t>(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(rows)));
    }
}

TEST("rows end in every tree of a forest, counted from its own root") {
    tables::Table table(130, 5);
    forests::fill(table, true, 3);
    for (std::uint32_t planes : {1u, 2u, 4u}) {
        const Forest forest = forests::forest({planes, 3, true, 1, 5, 40}, 6, 1, planes);
        std::vector<std::int32_t> node(130 * 6);
        Threads alone(1);
        Predictor(forest).apply(table.values(), 130, 5, alone, node.data());
        bool same = true;
        for (std::size_t row = 0; row < 130; ++row)
            for (std::size_t tree = 0; tree < 6; ++tree)
                same = same && static_cast<std::size_t>(node[row * 6 + tree] + forest.node_start[tree]) ==
                                   forests::end_of(forest, tree, table.values() + row * 5);
        CHECK(same);
    }
}

TEST("a trace has the planes that a row meets, and leads to where it ends") {
    tables::Table table(130, 5);
    forests::fill(table, true, 5);
    const Forest forest = forests::forest({3, 3, true, 1, 5, 40}, 4, 1, 8);
    const Predictor predictor(forest);
    std::size_t by_category = 0;
    for (std::size_t row = 0; row < 130; ++row)
        for (std::size_t tree = 0; tree < 4; ++tree) {
            const float *x = table.values() + row * 5;
            const Trace trace = predictor.trace(x, tree);
            const auto root = static_cast<std::size_t>(forest.node_start[tree]);
            std::size_t at = root;
            for (std::size_t k = 0; k < trace.node.size();) {
                CHECK(static_cast<std::size_t>(trace.node[k]) + root == at);
                std::size_t code = 0, bit = 0;
                for (; k < trace.node.size() && static_cast<std::size_t>(trace.node[k]) + root == at; ++k, ++bit) {
                    const auto plane = static_cast<std::size_t>(trace.plane[k]);
                    CHECK(trace.plane[k] == forest.plane_start[at] + static_cast<std::int32_t>(bit));
                    CHECK((trace.right[k] == 1) == forests::goes_right(forest, plane, x));
                    if (forest.set_start[plane] < forest.set_start[plane + 1]) {
                        CHECK(trace.value[k] == x[0] || x[0] != x[0]);
                        ++by_category;
                    } else if (trace.value[k] == trace.value[k]) {
                        CHECK((trace.value[k] >= forest.threshold[plane]) == (trace.right[k] == 1));
                    }
                    code |= static_cast<std::size_t>(trace.right[k]) << bit;
                }
                at = root +
                     static_cast<std::size_t>(forest.children[static_cast<std::size_t>(forest.child_start[at]) + code]);
            }
            CHECK(at == forests::end_of(forest, tree, x));
        }
    CHECK(by_category > 0);
}
