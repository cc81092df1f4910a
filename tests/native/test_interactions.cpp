// interactions.hpp, and what drawing and growing make of it.
#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>

#include "check.hpp"
#include "grow.hpp"
#include "interactions.hpp"
#include "propose.hpp"
#include "tables.hpp"

using namespace planewise;

namespace {

using Columns = std::vector<std::int32_t>;
using Groups = std::vector<Columns>;

bool never() { return false; }
bool allowed(const Path &path, const Columns &columns) { return path.allows(columns.data(), columns.size()); }
void use(Path &path, const Columns &columns) { path.use(columns.data(), columns.size()); }

Matrix scales_only(std::size_t columns) {
    Matrix matrix{nullptr, 0, columns, {}, {}};
    matrix.scale.assign(columns, 1.0);
    return matrix;
}

DrawOptions draw_options(bool shared) {
    DrawOptions options;
    options.n_projections = 200;
    options.rounds = {{3, 0.1, 0.2}, {2, 0.0, 0.0}};
    options.shared_subspace = shared;
    return options;
}

Columns terms_of(const Directions &from, std::size_t d) {
    return {from.feature.begin() + from.begin(d), from.feature.begin() + from.end(d)};
}

// Whether the columns on every path from the root may meet, by a new walk from the root for every node.
bool obeys(const Forest &tree, const Interactions &rules) {
    for (std::size_t node = 0; node < tree.nodes(); ++node) {
        Columns used;
        for (auto at = static_cast<std::int32_t>(node); at >= 0; at = tree.parent[static_cast<std::size_t>(at)]) {
            const auto first = static_cast<std::size_t>(tree.plane_start[static_cast<std::size_t>(at)]),
                       last = static_cast<std::size_t>(tree.plane_start[static_cast<std::size_t>(at) + 1]);
            used.insert(used.end(), tree.term_feature.begin() + tree.term_start[first],
                        tree.term_feature.begin() + tree.term_start[last]);
        }
        if (!allowed(Path(rules), used)) return false;
    }
    return true;
}

}  // namespace

TEST("without rules any columns may meet") {
    Path path;
    CHECK(!path.is_limited());
    use(path, {0, 5});
    CHECK(allowed(path, {1, 2, 3}));
}

TEST("columns lie in one group, and those used leave only the groups that hold them all") {
    const Interactions rules(6, 0, {{0, 1, 2}, {3, 2}, {4, 5}}, {});
    Path path(rules);
    CHECK(allowed(path, {0, 1, 2}));
    CHECK(allowed(path, {2, 3}));
    CHECK(!allowed(path, {0, 3}));
    CHECK(!allowed(path, {1, 2, 3}));
    use(path, {2});
    CHECK((path.groups() == Columns{0, 1}));
    CHECK(!path.allows(4));
    CHECK(path.allows(3));
    use(path, {3});
    CHECK((path.groups() == Columns{1}));
    CHECK(!path.allows(0));
    CHECK(allowed(path, {2, 3}));
}

TEST("a number of columns may meet, and a column counts as its source") {
    const Interactions rules(5, 2, {}, {0, 1, 2, 2, 2});
    Path path(rules);
    CHECK(allowed(path, {0, 1}));
    CHECK(allowed(path, {1, 2, 3, 4}));
    CHECK(!allowed(path, {0, 1, 3}));
    use(path, {3});
    CHECK((path.sources() == Columns{2}));
    CHECK(allowed(path, {0, 4}));
    CHECK(!allowed(path, {0, 1}));
    use(path, {0});
    CHECK(allowed(path, {0, 2, 3, 4}));
    CHECK(!path.allows(1));
}

TEST("groups of columns that are not there are refused") {
    CHECK(THROWS(std::invalid_argument, Interactions(2, 0, {{0, 2}}, {})));
    CHECK(THROWS(std::invalid_argument, Interactions(2, 0, {{-1}}, {})));
    CHECK(THROWS(std::invalid_argument, Interactions(2, 2, {}, {0})));
    CHECK(THROWS(std::invalid_argument, Interactions(2, 2, {}, {0, 2})));
}

TEST("directions are drawn inside what may meet, and all of it is drawn from") {
    const Matrix matrix = scales_only(12);
    const Ranking ranked{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    const Interactions grouped(12, 0, {{0, 1}, {2, 3, 4, 5}, {5, 6}, {7}, {8}, {9}, {10}, {11}}, {});
    const Interactions pairs(12, 2, {}, {});
    Path second(pairs);
    use(second, {4});
    for (const bool shared : {false, true}) {
        std::set<Columns> met;
        std::size_t drawn = 0;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            Directions out;
            Random random(seed, 0);
            Proposer(matrix).draw(ranked, draw_options(shared), random, out, nullptr, Path(grouped));
            for (std::size_t d = 0; d < out.size(); ++d) {
                CHECK(allowed(Path(grouped), terms_of(out, d)));
                met.insert(terms_of(out, d));
            }
            drawn += out.size();
        }
        CHECK(met.count({0, 1}) == 1 && met.count({5, 6}) == 1 && met.count({2, 3}) == 1);
        CHECK(drawn > 20 * 40);  // none of 400 lost to columns without company
    }
    Directions out;
    Random random(3, 0);
    Proposer proposer(matrix);
    proposer.draw(ranked, draw_options(false), random, out, nullptr, Path(pairs));
    CHECK(out.size() > 200);
    for (std::size_t d = 0; d < out.size(); ++d) CHECK(out.terms(d) == 2);
    out.clear();
    proposer.draw(ranked, draw_options(false), random, out, nullptr, second);
    CHECK(out.size() > 150);
    for (std::size_t d = 0; d < out.size(); ++d) CHECK(allowed(second, terms_of(out, d)));
}

TEST("known directions are recalled where their columns may meet") {
    const Matrix matrix = scales_only(6);
    const Interactions rules(6, 0, {{0, 1, 2}, {3, 4, 5}}, {});
    Directions known;
    for (std::uint32_t k = 0; k < most_known; ++k) {
        for (const std::int32_t column : k % 2 == 0 ? Columns{0, 2} : Columns{2, 3}) known.add_term(column, 5, 1.0);
        known.close();
    }
    Directions out;
    Random random(1, 0);
    Proposer(matrix).draw({5, 4, 3, 2, 1, 0}, draw_options(false), random, out, &known, Path(rules));
    CHECK(out.size() > 60);
    bool recalled = false;
    for (std::size_t d = 0; d < out.size(); ++d) {
        CHECK(allowed(Path(rules), terms_of(out, d)));
        recalled = recalled || terms_of(out, d) == Columns{0, 2};
    }
    CHECK(recalled);
}

TEST("trees of any statistics obey the rules, on any number of threads") {
    tables::Table table(700, 6);
    table.fill(5, 20);
    const std::vector<double> y = tables::numbers(table, 5);
    const std::vector<std::int32_t> label = tables::labels(table, 3, 5);
    std::vector<double> g(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) g[i] = -y[i];
    Gradients numbers = Gradients::squared_error();
    numbers.assign(g.data(), table.weight().data(), y.size());
    ClassCounts counts(3, Criterion::entropy);
    counts.assign(label.data(), table.weight().data(), label.size());
    const Matrix &matrix = table.matrix();
    Threads alone(1), three(3);
    for (const auto &rules : {std::make_shared<const Interactions>(6, 0, Groups{{0, 1}, {1, 2, 3}, {4, 5}}, Columns{}),
                              std::make_shared<const Interactions>(6, 2, Groups{}, Columns{}),
                              std::make_shared<const Interactions>(6, 1, Groups{}, Columns{0, 0, 2, 3, 4, 5})})
        for (const PlaneChoice choice : {PlaneChoice::joint, PlaneChoice::cosine})
            for (const std::int64_t leaves : {0, 9}) {
                GrowOptions options;
                options.seed = 3;
                options.draw.n_projections = 24;
                options.draw.rounds = {{3, 0.1, 0.1}};
                options.choose.max_planes = 3;
                options.choose.plane_choice = choice;
                options.choose.min_relative_gain = 0.1;
                options.max_leaf_nodes = leaves;
                options.max_features = 3;
                options.interactions = rules;
                const Forest tree = grow(matrix, numbers, options, alone, never).tree;
                const Forest parallel = grow(matrix, numbers, options, three, never).tree;
                CHECK(tree.planes() > 2);
                CHECK(obeys(tree, *rules));
                CHECK(tables::same_bytes(tree.term_feature, parallel.term_feature));
                CHECK(tables::same_bytes(tree.threshold, parallel.threshold));
                CHECK(obeys(grow(matrix, counts, options, alone, never).tree, *rules));
            }
}

TEST("the share of two classes within bounds is worth what its loss says") {
    const std::vector<double> weight{1.0, 0.5, 2.0, 1.5};
    const std::vector<std::int32_t> label{0, 1, 1, 0};
    for (const Criterion criterion : {Criterion::entropy, Criterion::gini}) {
        ClassCounts counts(2, criterion);
        counts.assign(label.data(), weight.data(), weight.size());
        std::vector<std::int64_t> sum(counts.channels(), 0);
        for (std::size_t i = 0; i < weight.size(); ++i) counts.add(counts.data()[i], sum.data());
        const auto loss = [&](double p) {
            return criterion == Criterion::gini ? 2 * (2.5 * (1 - p) * (1 - p) + 2.5 * p * p)
                                                : -2.5 * std::log(p) - 2.5 * std::log(1 - p);
        };
        const Bounds free, high{-1e9, 0.3}, low{0.8, 1e9};
        CHECK(counts.bounded_score(sum.data(), free) == counts.score(sum.data()));
        CHECK(tables::close(counts.score(sum.data()), -loss(0.5), 1e-9));
        CHECK(tables::close(counts.bounded_score(sum.data(), high), -loss(0.3), 1e-9));
        CHECK(tables::close(counts.bounded_score(sum.data(), low), -loss(0.8), 1e-9));
        CHECK(counts.bounded_value(sum.data(), high) == 0.3);
    }
}

TEST("held values follow the signs in every tree of a forest, of one value or two classes") {
    tables::Table table(600, 3);
    table.fill(8);
    const std::vector<std::int32_t> label = tables::labels(table, 2, 8);
    ClassCounts counts(2, Criterion::entropy);
    counts.assign(label.data(), table.weight().data(), label.size());
    const Matrix &matrix = table.matrix();
    Threads alone(1);
    GrowOptions options;
    options.draw.n_projections = 12;
    options.draw.rounds = {{2, 0, 0}};
    options.choose.max_planes = 1;
    options.max_depth = 6;
    options.monotone = {1, -1, 0};
    Forest forest;
    for (options.seed = 0; options.seed < 3; ++options.seed)
        forest.append(grow(matrix, counts, options, alone, never).tree);
    for (double &value : forest.value) value += 0.2 * std::sin(1000 * value);  // as smoothing and the like may do
    forest.hold_monotone(options.monotone);
    std::size_t wrong = 0, shares = 0, compared = 0;
    for (std::size_t tree = 0; tree < 3; ++tree)
        for (std::int32_t leaf = forest.node_start[tree]; leaf < forest.node_start[tree + 1]; ++leaf) {
            const auto root = forest.node_start[tree];
            const double *here = &forest.value[2 * static_cast<std::size_t>(leaf)];
            shares += here[0] != 1 - here[1];
            // Against every node below a sibling that a constrained plane parts it from.
            std::int32_t below = leaf;
            for (auto at = forest.parent[static_cast<std::size_t>(leaf)]; at >= 0;
                 at = forest.parent[static_cast<std::size_t>(root + at)]) {
                const auto node = static_cast<std::size_t>(root + at);
                const auto plane = static_cast<std::size_t>(forest.plane_start[node]);
                const auto term = static_cast<std::size_t>(forest.term_start[plane]);
                const int sign = sign_of(options.monotone, &forest.term_feature[term], &forest.term_coefficient[term],
                                         static_cast<std::size_t>(forest.term_start[plane + 1]) - term);
                const std::int32_t *child = &forest.children[static_cast<std::size_t>(forest.child_start[node])];
                const bool right = root + child[1] == below;
                const double other = forest.value[2 * static_cast<std::size_t>(root + child[right ? 0 : 1]) + 1];
                if (sign != 0) ++compared, wrong += (right ? sign : -sign) * (here[1] - other) < 0;
                below = static_cast<std::int32_t>(node);
            }
        }
    CHECK(compared > 20);
    CHECK(wrong == 0);
    CHECK(shares == 0);
}
