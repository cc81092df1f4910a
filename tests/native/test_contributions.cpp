// contributions.hpp: shares that add up to the forest's sum.
#include "check.hpp"
#include "contributions.hpp"
#include "forests.hpp"
#include "predict.hpp"

using namespace planewise;

namespace {

constexpr std::size_t columns = 5;

struct Explained {
    Forest of;
    std::vector<float> mean;

    Explained(const forests::Shape &shape, std::size_t trees, std::size_t turns, std::uint64_t seed)
        : of(forests::forest(shape, trees, turns, seed)), mean(columns, 0.25f) {
        if (shape.sets) mean[0] = tables::missing;
    }
    std::vector<double> parts(const tables::Table &table, int threads = 1) const {
        std::vector<double> out(table.rows() * of.n_outputs * (columns + 1), 0.0);
        Threads pool(threads);
        add_contributions(of, mean.data(), table.values(), table.rows(), columns, pool, out.data());
        return out;
    }
};

}  // namespace

TEST("contributions add up to the sum over the trees") {
    tables::Table table(150, columns);
    forests::fill(table, true, 1);
    for (std::uint32_t planes : {1u, 2u, 4u})
        for (bool sets : {false, true})
            for (std::size_t values : {1u, 3u}) {
                const Explained it({planes, 3, sets, values, columns, 40}, 9, 3, planes);
                const std::vector<double> parts = it.parts(table);
                std::vector<double> sums(table.rows() * 3, 0.0);
                Threads alone(1);
                Predictor(it.of).add(table.values(), table.rows(), columns, 0, 9, alone, sums.data());
                bool adds_up = true;
                for (std::size_t k = 0; k < sums.size(); ++k) {
                    double sum = 0;
                    for (std::size_t j = 0; j <= columns; ++j) sum += parts[k * (columns + 1) + j];
                    adds_up = adds_up && tables::close(sum, sums[k], 1e-12);
                }
                CHECK(adds_up);
            }
}

TEST("a step is shared by how far each term is from its mean") {
    Forest tree;  // 2 x0 - x1 >= 0, then two leaves
    tree.plane_start = {0, 1, 1, 1};
    tree.child_start = {0, 2, 3, 4};
    tree.children = {1, 2, 1, 2};
    tree.parent = {-1, 0, 0};
    tree.depth = {0, 1, 1};
    tree.term_start = {0, 2};
    tree.term_feature = {0, 1};
    tree.term_coefficient = {2, -3};
    tree.term_weight = {2, -1};
    tree.threshold = {0};
    tree.missing_right = {1};
    tree.set_start = {0, 0};
    tree.value = {0, -1, 5};
    tree.rows = {3, 2, 1};  // the mean of their values is 1
    tree.close_tree();
    const std::vector<float> mean{1, 2};
    Threads alone(1);
    const auto of_row = [&](float a, float b) {
        const float x[2] = {a, b};
        std::vector<double> out(3, 0.0);
        add_contributions(tree, mean.data(), x, 1, 2, alone, out.data());
        return out;
    };
    CHECK(of_row(4, 4) == std::vector<double>{4 * 0.75, 4 * 0.25, 1});    // 6 and 2 apart, one step of 4
    CHECK(of_row(0, 8) == std::vector<double>{-2 * 0.25, -2 * 0.75, 1});  // 2 and 6 apart, one of -2
    CHECK(of_row(1, 2) == std::vector<double>{2, 2, 1});                  // both at their means: half each
    // Missing: as far as its coefficient, 3 deviations; x0 is 3 of its own units times 2 apart.
    const std::vector<double> missing = of_row(4, tables::missing);
    CHECK(tables::close(missing[0], 4.0 * 6 / 9, 1e-12) && tables::close(missing[1], 4.0 * 3 / 9, 1e-12));
}

TEST("any number of threads gives the same contributions") {
    tables::Table table(1500, columns);
    forests::fill(table, true, 4);
    const Explained it({3, 3, true, 1, columns, 40}, 10, 2, 7);
    const std::vector<double> alone = it.parts(table);
    for (int threads : {2, 5}) CHECK(tables::same_bytes(it.parts(table, threads), alone));
}

TEST("a column that no plane asks for contributes nothing") {
    tables::Table table(200, columns);
    forests::fill(table, false, 5);
    const Explained it({2, 3, false, 1, 3, 0}, 8, 1, 3);  // planes on the first three columns
    const std::vector<double> parts = it.parts(table);
    bool nothing = true, something = false;
    for (std::size_t row = 0; row < 200; ++row) {
        nothing = nothing && parts[row * 6 + 3] == 0 && parts[row * 6 + 4] == 0;
        something = something || parts[row * 6] != 0;
    }
    CHECK(nothing && something);
}
