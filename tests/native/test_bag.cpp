// bag.hpp: trees of a forest on rows drawn with replacement.
#include <numeric>

#include "bag.hpp"
#include "check.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

bool never() { return false; }

struct Bag {
    tables::Table table{400, 4};
    std::vector<std::int32_t> label;
    BagOptions options;

    Bag() {
        table.fill(1, 20);
        table.fill_categories(3, 6, 2, 20);
        label = tables::labels(table, 3, 1);
        options.seed = 9;
        options.grow.draw.n_projections = 12;
        options.grow.draw.rounds = {{2, 0.1, 0.1}};
    }
    Forest grow(std::size_t first, std::size_t last, int threads) {
        Threads pool(threads);
        const std::function<ClassCounts(const double *)> statistics_of = [&](const double *weight) {
            ClassCounts statistics(3, Criterion::entropy);
            statistics.assign(label.data(), weight, label.size());
            return statistics;
        };
        return grow_bag<ClassCounts>(table.matrix(), table.weight().data(), statistics_of, options, first, last, pool,
                                     never);
    }
};

}  // namespace

TEST("rows drawn with replacement add up, some often and some never") {
    for (std::size_t rows : {1u, 10u, 1000u})
        for (std::size_t draws : {0u, 1u, 500u, 3000u}) {
            const auto times = draw_with_replacement(rows, draws, 4, 2);
            CHECK(times.size() == rows);
            CHECK(std::accumulate(times.begin(), times.end(), std::size_t{0}) == draws);
        }
    const auto times = draw_with_replacement(1000, 1000, 4, 2);
    const auto never_drawn = std::count(times.begin(), times.end(), 0u);
    CHECK(never_drawn > 300 && never_drawn < 440);  // about 1000 / e
    CHECK(times == draw_with_replacement(1000, 1000, 4, 2));
    CHECK(times != draw_with_replacement(1000, 1000, 4, 3));
    CHECK(times != draw_with_replacement(1000, 1000, 5, 2));
}

TEST("any number of threads grows the same bag") {
    for (std::size_t draws : {0u, 400u, 150u}) {
        Bag bag;
        bag.options.draws = draws;
        const Forest alone = bag.grow(0, 7, 1);
        CHECK(alone.trees() == 7);
        for (int threads : {2, 5}) CHECK(trees::same(bag.grow(0, 7, threads), alone));
    }
}

TEST("a stretch of a bag's trees are those of the whole bag") {
    Bag bag;
    bag.options.draws = 400;
    const Forest whole = bag.grow(0, 6, 1);
    Forest parts = bag.grow(0, 2, 1);
    const Forest rest = bag.grow(2, 6, 2);
    CHECK(parts.trees() == 2 && rest.trees() == 4);
    const auto nodes = static_cast<std::size_t>(parts.node_start.back());
    CHECK(std::equal(parts.value.begin(), parts.value.end(), whole.value.begin()));
    CHECK(
        std::equal(rest.value.begin(), rest.value.end(), whole.value.begin() + static_cast<std::ptrdiff_t>(nodes * 3)));
    CHECK(std::equal(rest.rows.begin(), rest.rows.end(), whole.rows.begin() + static_cast<std::ptrdiff_t>(nodes)));
}

TEST("a tree of a bag has its drawn rows, as often as they were drawn") {
    Bag bag;
    bag.options.draws = 300;
    const Forest forest = bag.grow(0, 5, 2);
    for (std::size_t tree = 0; tree < 5; ++tree) {
        const auto times = draw_with_replacement(400, 300, 9, tree);
        const auto root = static_cast<std::size_t>(forest.node_start[tree]);
        CHECK(forest.rows[root] == 400 - std::count(times.begin(), times.end(), 0u));
        CHECK(forest.weight[root] == 300);
    }
    bag.options.draws = 0;
    const Forest all = bag.grow(0, 2, 1);
    CHECK(all.rows[0] == 400 && all.weight[0] == 400);
    CHECK(all.node_start[1] > 3);
}
