// forest.hpp: packed forests add up what a plain walk adds up.
#include "check.hpp"
#include "forests.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

std::vector<double> plain_sums(const forests::Random &of, const tables::Table &table, std::size_t first,
                               std::size_t last) {
    std::vector<double> out(table.rows() * of.outputs, 0.25);
    for (std::size_t row = 0; row < table.rows(); ++row)
        for (std::size_t tree = first; tree < last; ++tree) {
            const std::size_t node = forests::end_of(of.forest, tree, table.values() + row * table.columns());
            for (std::size_t k = 0; k < of.values; ++k)
                out[row * of.outputs + (of.values == 1 ? tree % of.outputs : k)] +=
                    static_cast<double>(of.value[node * of.values + k]);
        }
    return out;
}

std::vector<double> packed_sums(const forests::Random &of, const tables::Table &table, std::size_t first,
                                std::size_t last) {
    std::vector<double> out(table.rows() * of.outputs, 0.25);
    pack(of.view())->add(table.values(), table.rows(), table.columns(), first, last, out.data());
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
                const forests::Random of({planes, terms, sets, 1, 5, 40}, 12, 1, 100 * planes + 10 * terms + sets);
                const tables::Table &table = sets ? mixed : numbers;
                CHECK(!sets || of.forest.all.set_category.size() > 0);
                CHECK(tables::same_bytes(packed_sums(of, table, 0, 12), plain_sums(of, table, 0, 12)));
            }
}

TEST("trees take turns with the outputs, or hold a number for each") {
    tables::Table table(130, 5);
    forests::fill(table, true, 3);
    for (std::uint32_t planes : {1u, 2u, 3u, 4u})
        for (bool sets : {false, true}) {
            const forests::Random turns({planes, 3, sets, 1, 5, 40}, 12, 3, planes);
            CHECK(turns.outputs == 3);
            CHECK(tables::same_bytes(packed_sums(turns, table, 0, 12), plain_sums(turns, table, 0, 12)));
            const forests::Random vectors({planes, 2, sets, 4, 5, 40}, 6, 1, planes + 50);
            CHECK(vectors.outputs == 4);
            CHECK(tables::same_bytes(packed_sums(vectors, table, 0, 6), plain_sums(vectors, table, 0, 6)));
        }
}

TEST("any number of rows and any stretch of the trees add up") {
    const forests::Random packed({2, 3, true, 1, 5, 40}, 9, 3, 4), plain({4, 5, false, 1, 5, 40}, 9, 3, 5);
    for (std::size_t rows : {0u, 1u, 7u, 8u, 9u, 127u, 128u, 129u, 263u}) {
        tables::Table table(rows, 5);
        forests::fill(table, true, 6);
        for (const forests::Random *of : {&packed, &plain}) {
            CHECK(tables::same_bytes(packed_sums(*of, table, 0, 9), plain_sums(*of, table, 0, 9)));
            CHECK(tables::same_bytes(packed_sums(*of, table, 3, 6), plain_sums(*of, table, 3, 6)));
            CHECK(tables::same_bytes(packed_sums(*of, table, 4, 4), std::vector<double>(rows * 3, 0.25)));
        }
    }
}

TEST("a forest of leaves needs no planes") {
    Tree leaf;
    leaf.plane_start = {0, 0};
    leaf.child_start = {0, 1};
    leaf.children = {0};
    leaf.parent = {-1};
    leaf.depth = {0};
    leaf.value = {1.5};
    forests::Random of({}, 0, 1, 0);
    of.forest.append(leaf);
    of.forest.append(leaf);
    of.value = {1.5f, 1.5f};
    tables::Table table(20, 5);
    forests::fill(table, false, 1);
    CHECK(tables::same_bytes(packed_sums(of, table, 0, 2), std::vector<double>(20, 3.25)));
}

TEST("appended trees keep their planes, sets and children") {
    Random random(1, 1);
    const Tree first = forests::tree({2, 2, true, 1, 5, 40}, random),
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
    CHECK(forest.all.plane_start.back() == static_cast<std::int32_t>(first.planes() + second.planes()));
    CHECK(forest.all.set_start.back() == static_cast<std::int32_t>(forest.all.set_category.size()));
    CHECK(forest.all.term_start.back() == static_cast<std::int32_t>(forest.all.term_feature.size()));
    CHECK(forest.all.child_start.back() == static_cast<std::int32_t>(forest.all.children.size()));
}
