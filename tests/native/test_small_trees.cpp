#include "check.hpp"
#include "forests.hpp"
#include "predict.hpp"
#include "small_trees.hpp"

using namespace planewise;

namespace {

// What each row gets, tree by tree, from the plain walk.
std::vector<double> wanted(const Forest &forest, const tables::Table &table, std::size_t columns) {
    std::vector<double> out(table.rows() * forest.n_outputs, 0.25);
    for (std::size_t tree = 0; tree < forest.trees(); ++tree)
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const std::size_t node = forests::end_of(forest, tree, table.values() + row * columns);
            for (std::size_t k = 0; k < forest.n_values; ++k)
                out[row * forest.n_outputs + (forest.n_values == 1 ? tree % forest.n_outputs : k)] +=
                    forest.value_at(node * forest.n_values + k);
        }
    return out;
}

std::vector<double> found(const SmallTrees &trees, const Forest &forest, const tables::Table &table,
                          std::size_t columns) {
    std::vector<double> out(table.rows() * forest.n_outputs, 0.25);
    trees.add(table.values(), table.rows(), columns, 0, forest.trees(), out.data());
    return out;
}

// A tree of one node with one plane, weight * x >= threshold.
Forest one_plane(float weight, float threshold, bool missing_right) {
    Forest tree;
    tree.plane_start = {0, 1, 1, 1};
    tree.child_start = {0, 2, 3, 4};
    tree.children = {1, 2, 1, 2};
    tree.parent = {-1, 0, 0};
    tree.depth = {0, 1, 1};
    tree.term_start = {0, 1};
    tree.term_feature = {0};
    tree.term_weight = {weight};
    tree.threshold = {threshold};
    tree.set_start = {0, 0};
    tree.missing_right = {static_cast<std::uint8_t>(missing_right)};
    tree.value = {0, 1, 2};
    tree.close_tree();
    return tree;
}

}  // namespace

TEST("small trees asked all at once add the same bytes as a walk through them") {
    constexpr std::size_t columns = 7;
    for (std::size_t rows : {1u, 7u, 63u, 64u, 65u, 1000u})
        for (bool sets : {false, true}) {
            tables::Table table(rows, columns);
            forests::fill(table, sets, rows);
            for (std::uint32_t planes : {1u, 2u, 3u, 4u})
                for (std::uint32_t terms : {1u, 2u, 3u, 6u})
                    for (std::size_t values : {1u, 3u}) {
                        // Four planes on each of up to three levels would have too many leaves for one byte.
                        const forests::Shape shape{planes, terms, sets, values, columns, 40};
                        const Forest forest = forests::forest(shape, 5, 2, planes * 10 + terms);
                        const auto trees = SmallTrees::of(forest);
                        CHECK(trees != nullptr || planes > 2);
                        if (trees) CHECK(found(*trees, forest, table, columns) == wanted(forest, table, columns));
                        std::vector<double> out(rows * forest.n_outputs, 0.25);
                        Threads threads(2);
                        Predictor(forest).add(table.values(), rows, columns, 0, 5, threads, out.data());
                        CHECK(out == wanted(forest, table, columns));
                    }
        }
}

TEST("some small trees have nodes of three and four planes") {
    for (std::uint32_t planes : {3u, 4u}) {
        int small = 0;
        for (std::uint64_t seed = 0; seed < 40; ++seed)
            small += SmallTrees::of(forests::forest({planes, 3, true, 1, 7, 40}, 1, 1, seed)) != nullptr;
        CHECK(small > 0);
    }
}

TEST("only the trees asked for are added") {
    tables::Table table(70, 5);
    forests::fill(table, false, 4);
    const Forest forest = forests::forest({2, 3, false, 1, 5, 40}, 6, 3, 1);
    const auto trees = SmallTrees::of(forest);
    std::vector<double> once(70 * 3, 0.5), twice = once;
    trees->add(table.values(), 70, 5, 0, 6, once.data());
    trees->add(table.values(), 70, 5, 0, 2, twice.data());
    trees->add(table.values(), 70, 5, 2, 6, twice.data());
    CHECK(once == twice);
}

TEST("a plane of one term has the same rows on its right side for every weight and threshold") {
    constexpr std::size_t rows = 4096;
    tables::Table table(rows, 1);
    const float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
    const std::vector<float> weights{1, 0.3f, 1.7f, 1e-30f, 1e30f, least, most, -1, -0.3f, 0};
    const std::vector<float> thresholds{0, 0.1f, -0.1f, 3, 1e-38f, -1e-38f, least, -least, 1e38f, most, -most};
    for (float weight : weights)
        for (float threshold : thresholds) {
            float x = std::isfinite(threshold / weight) ? threshold / weight : 1.0f;
            for (int k = 0; k < 8; ++k) x = std::nextafter(x, -most);  // the rows are neighbours of the threshold
            for (std::size_t i = 0; i < rows; ++i, x = std::nextafter(x, most)) table.at(i, 0) = x;
            table.at(20, 0) = tables::missing;
            table.at(21, 0) = most;
            table.at(22, 0) = -most;
            for (bool missing_right : {false, true}) {
                const Forest tree = one_plane(weight, threshold, missing_right);
                CHECK(found(*SmallTrees::of(tree), tree, table, 1) == wanted(tree, table, 1));
            }
        }
}

TEST("large trees are not small") {
    const Forest large = forests::forest({4, 2, false, 1, 5, 40}, 1, 1, 3);
    CHECK(large.planes() > 128);
    CHECK(SmallTrees::of(large) == nullptr);
}
