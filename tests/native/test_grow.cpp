// grow.hpp: whole trees on generated data, judged by the laws every tree obeys.
#include <cfloat>
#include <cmath>
#include <memory>
#include <numeric>

#include "check.hpp"
#include "grow.hpp"
#include "tables.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

bool never() { return false; }

GrowOptions usual() {
    GrowOptions options;
    options.seed = 11;
    options.draw.n_projections = 24;
    options.draw.rounds = {{3, 0.1, 0.1}};
    options.choose.min_samples_leaf = 3;
    return options;
}

Gradients squared_error(const std::vector<double> &y, const std::vector<double> &weight) {
    double total = 0, sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += weight[i], sum += weight[i] * y[i];
    std::vector<double> g(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) g[i] = weight[i] * (sum / total - y[i]);
    Gradients statistics(0.0, 1.0);
    statistics.assign(g.data(), weight.data(), y.size());
    return statistics;
}

ClassCounts classes_of(const std::vector<std::int32_t> &label, std::size_t classes, const std::vector<double> &weight,
                       Criterion criterion = Criterion::entropy) {
    ClassCounts statistics(classes, criterion);
    statistics.assign(label.data(), weight.data(), label.size());
    return statistics;
}

// The laws. Each finding is one bool, so that a broken one is named once.
struct Laws {
    bool shape = true;           // start arrays ascend, 2^q entries a node, a leaf's entry is itself
    bool family = true;          // parents before children, one deeper, each the child of its parent
    bool rows_add_up = true;     // children's rows are the parent's
    bool only_leaves = true;     // rows end in leaves, as many as the leaf says
    bool predicted_same = true;  // apply() sends training rows where growing did
    bool values_fit = true;      // a node's value is that of its rows
    bool numbers = true;         // finite thresholds, weights and gains
    bool limits = true;          // depth, leaves, rows a leaf, planes a node, features there are
};

template <class S>
Laws laws_of(tables::Table &table, const S &statistics, const GrowOptions &options, const Grown<S> &grown) {
    const Forest &tree = grown.tree;
    const std::size_t nodes = tree.nodes();
    Laws laws;
    laws.shape = tree.child_start.size() == nodes + 1 && tree.parent.size() == nodes && tree.depth.size() == nodes &&
                 tree.rows.size() == nodes && tree.weight.size() == nodes && tree.impurity.size() == nodes &&
                 tree.gain.size() == nodes && tree.value.size() == nodes * tree.n_values &&
                 tree.term_start.size() == tree.planes() + 1 && tree.missing_right.size() == tree.planes() &&
                 tree.plane_gain.size() == tree.planes() && tree.term_weight.size() == tree.term_feature.size() &&
                 tree.term_coefficient.size() == tree.term_feature.size() && grown.leaf.size() == table.rows();
    if (!laws.shape) return laws;
    laws.family = tree.parent[0] == -1 && tree.depth[0] == 0;
    laws.rows_add_up = tree.rows[0] == static_cast<std::int64_t>(table.rows());
    std::vector<char> born(nodes, 0);
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto first = tree.child_start[i], last = tree.child_start[i + 1];
        const auto planes = tree.plane_start[i + 1] - tree.plane_start[i];
        if (last - first != 1 << planes) laws.shape = false;
        if (planes > options.choose.max_planes) laws.limits = false;
        if (planes == 0 && tree.children[static_cast<std::size_t>(first)] != static_cast<std::int32_t>(i))
            laws.shape = false;
        if (!(tree.gain[i] > 0) && planes > 0) laws.numbers = false;
        if (i > 0 && tree.rows[i] < options.choose.min_samples_leaf) laws.limits = false;
        if (options.max_depth > 0 && tree.depth[i] > options.max_depth) laws.limits = false;
        std::int64_t rows = 0;
        for (auto c = first; c < last && planes > 0; ++c) {
            const auto child = static_cast<std::size_t>(tree.children[static_cast<std::size_t>(c)]);
            if (child == i || (child < nodes && born[child] && tree.parent[child] == static_cast<std::int32_t>(i)))
                continue;
            if (child >= nodes || child < i || born[child] || tree.parent[child] != static_cast<std::int32_t>(i) ||
                tree.depth[child] != tree.depth[i] + 1) {
                laws.family = false;
                continue;
            }
            born[child] = 1;
            rows += tree.rows[child];
        }
        if (planes > 0 && rows != tree.rows[i]) laws.rows_add_up = false;
    }
    for (std::size_t i = 1; i < nodes; ++i) laws.family = laws.family && born[i];
    if (options.max_leaf_nodes > 0 && trees::leaves(tree) > options.max_leaf_nodes) laws.limits = false;
    for (std::size_t k = 0; k < tree.planes(); ++k) {
        if (!std::isfinite(tree.threshold[k]) || !std::isfinite(tree.plane_gain[k])) laws.numbers = false;
        if (tree.term_start[k + 1] <= tree.term_start[k]) laws.shape = false;
    }
    for (std::size_t t = 0; t < tree.term_feature.size(); ++t) {
        if (!std::isfinite(tree.term_weight[t]) || tree.term_coefficient[t] == 0) laws.numbers = false;
        if (tree.term_feature[t] < 0 || static_cast<std::size_t>(tree.term_feature[t]) >= table.columns())
            laws.limits = false;
    }
    // Sums of the rows that ended in each node, folded up to the parents.
    const std::size_t width = statistics.channels();
    std::vector<std::int64_t> sums(nodes * width, 0), here(nodes, 0);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto leaf = static_cast<std::size_t>(grown.leaf[row]);
        if (leaf >= nodes || !tree.is_leaf(leaf)) {
            laws.only_leaves = false;
            return laws;
        }
        ++here[leaf];
        statistics.add(statistics.data()[row], &sums[leaf * width]);
    }
    std::vector<double> value(tree.n_values);
    for (std::size_t i = nodes; i-- > 0;) {
        if (tree.is_leaf(i) && here[i] != tree.rows[i]) laws.only_leaves = false;
        statistics.value(&sums[i * width], value.data());
        for (std::size_t k = 0; k < tree.n_values; ++k)
            if (value[k] != tree.value[i * tree.n_values + k]) laws.values_fit = false;
        if (statistics.weight(&sums[i * width]) != tree.weight[i] ||
            statistics.impurity(&sums[i * width]) != tree.impurity[i])
            laws.values_fit = false;
        if (i == 0) continue;
        for (std::size_t k = 0; k < width; ++k)
            sums[static_cast<std::size_t>(tree.parent[i]) * width + k] += sums[i * width + k];
    }
    laws.predicted_same = trees::apply(tree, table) == grown.leaf;
    return laws;
}

template <class S>
void check_laws(tables::Table &table, const S &statistics, const GrowOptions &options, const Grown<S> &grown) {
    const Laws laws = laws_of(table, statistics, options, grown);
    CHECK(laws.shape);
    CHECK(laws.family);
    CHECK(laws.rows_add_up);
    CHECK(laws.only_leaves);
    CHECK(laws.predicted_same);
    CHECK(laws.values_fit);
    CHECK(laws.numbers);
    CHECK(laws.limits);
}

// Grows, checks the laws, and returns the tree.
template <class S>
Grown<S> grow_lawful(tables::Table &table, const S &statistics, const GrowOptions &options, int count = 1) {
    Threads threads(count);
    const Grown<S> grown = grow(table.matrix(), statistics, options, threads, never);
    check_laws(table, statistics, options, grown);
    return grown;
}

Grown<Gradients> grow_numbers(tables::Table &table, const GrowOptions &options, int count = 1) {
    return grow_lawful(table, squared_error(tables::numbers(table, 1), table.weight()), options, count);
}

// Every way of growing that takes a branch of its own.
std::vector<GrowOptions> many_ways() {
    std::vector<GrowOptions> ways(1, usual());
    const auto add = [&](auto change) {
        GrowOptions options = usual();
        change(options);
        ways.push_back(options);
    };
    add([](GrowOptions &o) { o.max_leaf_nodes = 12; });
    add([](GrowOptions &o) { o.max_depth = 3, o.choose.max_planes = 1; });
    add([](GrowOptions &o) { o.choose.plane_choice = PlaneChoice::cosine, o.choose.max_planes = 3; });
    add([](GrowOptions &o) { o.choose.bins = Bins::quantile; });
    add([](GrowOptions &o) { o.choose.refine = false, o.choose.n_bins = 7; });
    add([](GrowOptions &o) { o.choose.max_planes = 8, o.max_depth = 2; });
    add([](GrowOptions &o) { o.choose.n_bins = 2; });
    add([](GrowOptions &o) { o.choose.n_bins = 255, o.choose.max_planes = 8, o.max_depth = 2; });
    add([](GrowOptions &o) { o.choose.n_bins = 255, o.choose.bins = Bins::quantile; });
    add([](GrowOptions &o) { o.max_rows_per_node = 64; });
    add([](GrowOptions &o) { o.max_rows_per_node = 1; });
    add([](GrowOptions &o) { o.max_features = 2; });
    add([](GrowOptions &o) { o.prune_margin = 1; });
    add([](GrowOptions &o) { o.choose.noise_margin = 1, o.choose.min_samples_leaf = 40; });
    add([](GrowOptions &o) { o.draw.shared_subspace = true, o.draw.rounds = {{2, 0, 0}, {4, 0.5, 2}}; });
    add([](GrowOptions &o) { o.draw.n_projections = 0; });
    add([](GrowOptions &o) { o.draw.rounds = {{2, 0, 0}}; });
    add([](GrowOptions &o) { o.draw.rounds = {{5, 0, 0}}; });
    add([](GrowOptions &o) { o.draw.rounds.clear(), o.choose.min_samples_leaf = 1; });
    return ways;
}

}  // namespace

TEST("trees of numbers obey the laws, however they are grown") {
    for (std::uint32_t missing_every : {0u, 15u}) {
        tables::Table table(1200, 5);
        table.fill(1, missing_every);
        const Gradients statistics = squared_error(tables::numbers(table, 1), table.weight());
        for (const GrowOptions &options : many_ways()) grow_lawful(table, statistics, options);
    }
}

TEST("trees of classes obey the laws, however they are grown") {
    for (std::uint32_t missing_every : {0u, 15u})
        for (Criterion criterion : {Criterion::entropy, Criterion::gini}) {
            tables::Table table(1200, 5);
            table.fill(2, missing_every);
            const ClassCounts statistics = classes_of(tables::labels(table, 3, 2), 3, table.weight(), criterion);
            for (const GrowOptions &options : many_ways()) grow_lawful(table, statistics, options);
        }
}

TEST("any number of threads grows the same tree") {
    tables::Table table(36000, 5);  // a node is routed in pieces of 16384 rows
    table.fill(3, 30);
    const Gradients regression = squared_error(tables::numbers(table, 3), table.weight());
    const ClassCounts classes = classes_of(tables::labels(table, 3, 3), 3, table.weight());
    for (GrowOptions options : many_ways()) {
        if (options.max_depth == 0) options.max_depth = 4;
        options.max_rows_per_node = std::min<std::size_t>(options.max_rows_per_node, 512);
        options.draw.n_projections = std::min(options.draw.n_projections, 8);
        Threads one(1);
        const auto matrix = table.matrix();
        const auto alone = grow(matrix, regression, options, one, never);
        const auto alone_classes = grow(matrix, classes, options, one, never);
        for (int count : {2, 5}) {
            Threads threads(count);
            const auto shared = grow(matrix, regression, options, threads, never);
            CHECK(trees::same(alone.tree, shared.tree) && alone.leaf == shared.leaf);
            const auto shared_classes = grow(matrix, classes, options, threads, never);
            CHECK(trees::same(alone_classes.tree, shared_classes.tree) && alone_classes.leaf == shared_classes.leaf);
        }
    }
}

TEST("large nodes are routed in pieces and obey the laws") {
    tables::Table table(36000, 3);
    table.fill(4);
    GrowOptions options = usual();
    options.max_depth = 3;
    options.max_rows_per_node = 1024;
    CHECK(grow_numbers(table, options, 3).tree.nodes() > 8);
}

TEST("the same seed grows the same tree, another seed another") {
    tables::Table table(800, 6);
    table.fill(5);
    GrowOptions options = usual();
    const auto one = grow_numbers(table, options), again = grow_numbers(table, options);
    CHECK(trees::same(one.tree, again.tree));
    options.seed = 12;
    CHECK(!trees::same(one.tree, grow_numbers(table, options).tree));
}

TEST("limits of depth, leaves and rows are kept, and used") {
    tables::Table table(2000, 4);
    table.fill(6);
    for (int depth : {1, 2, 5}) {
        GrowOptions options = usual();
        options.max_depth = depth;
        CHECK(trees::depth_of(grow_numbers(table, options).tree) == depth);
    }
    for (std::int64_t leaves : {2, 3, 10, 50}) {
        GrowOptions options = usual();
        options.choose.max_planes = 1;
        options.max_leaf_nodes = leaves;
        CHECK(trees::leaves(grow_numbers(table, options).tree) == leaves);
        options.choose.max_planes = 3;
        CHECK(trees::leaves(grow_numbers(table, options).tree) <= leaves);
    }
    for (std::int64_t least : {1, 7, 300, 1000, 1001}) {
        GrowOptions options = usual();
        options.choose.min_samples_leaf = least;
        const auto grown = grow_numbers(table, options);
        CHECK((grown.tree.nodes() == 1) == (least > 1000) || least == 1000);
    }
    GrowOptions options = usual();
    options.min_samples_split = 2001;
    CHECK(grow_numbers(table, options).tree.nodes() == 1);
    options = usual();
    options.min_impurity_decrease = 1e9;
    CHECK(grow_numbers(table, options).tree.nodes() == 1);
    options = usual();
    options.min_loss = 1e9;
    CHECK(grow_numbers(table, options).tree.nodes() == 1);
}

TEST("pruning by chance leaves noise a single leaf and structure a tree") {
    tables::Table table(600, 4);
    table.fill(7);
    GrowOptions options = usual();
    options.prune_margin = 1.5;
    CHECK(grow_numbers(table, options).tree.nodes() > 3);
    Random random(5, 5);
    std::vector<double> noise(600);
    for (double &y : noise) y = tables::bell(random);
    CHECK(grow_lawful(table, squared_error(noise, table.weight()), options).tree.nodes() < 30);
}

TEST("when asked to stop, growing throws and everything can go on") {
    tables::Table table(600, 4);
    table.fill(8);
    const Gradients statistics = squared_error(tables::numbers(table, 8), table.weight());
    const Matrix &matrix = table.matrix();
    for (int count : {1, 3})
        for (std::int64_t leaves : {0, 20}) {
            GrowOptions options = usual();
            options.max_leaf_nodes = leaves;
            Threads threads(count);
            int asked = 0;
            const auto whole = grow(matrix, statistics, options, threads, [&] { return ++asked < 0; });
            CHECK(asked > 3);
            // With helpers, how often the calling thread asks within a level depends on who takes which node.
            for (int last = 1; last <= (count == 1 ? asked : 3); ++last) {
                int left = last;
                CHECK(THROWS(Interrupted, grow(matrix, statistics, options, threads, [&] { return --left == 0; })));
            }
            CHECK(trees::same(whole.tree, grow(matrix, statistics, options, threads, never).tree));
        }
}

TEST("an exception of the caller's question passes through") {
    tables::Table table(100, 2);
    table.fill(9);
    const Gradients statistics = squared_error(tables::numbers(table, 9), table.weight());
    Threads threads(2);
    CHECK(THROWS(int, grow(table.matrix(), statistics, usual(), threads, []() -> bool { throw 3; })));
}

TEST("data with nothing to split on is one leaf") {
    GrowOptions options = usual();
    options.choose.min_samples_leaf = 1;
    {
        tables::Table same(50, 3);  // all rows alike, targets not
        for (std::size_t i = 0; i < 50; ++i)
            for (std::size_t j = 0; j < 3; ++j) same.at(i, j) = 1.5f;
        std::vector<double> y(50);
        std::iota(y.begin(), y.end(), 0.0);
        CHECK(grow_lawful(same, squared_error(y, same.weight()), options).tree.nodes() == 1);
    }
    {
        tables::Table one(1, 3);
        one.fill(1);
        CHECK(grow_lawful(one, squared_error({4.0}, one.weight()), options).tree.nodes() == 1);
        CHECK(grow_lawful(one, classes_of({1}, 2, one.weight()), options).tree.nodes() == 1);
    }
    {
        tables::Table lost(50, 3);  // nothing but missing values
        for (std::size_t i = 0; i < 50; ++i)
            for (std::size_t j = 0; j < 3; ++j) lost.at(i, j) = tables::missing;
        std::vector<double> y(50);
        std::iota(y.begin(), y.end(), 0.0);
        CHECK(grow_lawful(lost, squared_error(y, lost.weight()), options).tree.nodes() == 1);
    }
    {
        tables::Table table(50, 3);  // a target that does not vary
        table.fill(1);
        const std::vector<double> y(50, 7.0);
        CHECK(grow_lawful(table, squared_error(y, table.weight()), options).tree.nodes() == 1);
        CHECK(
            grow_lawful(table, classes_of(std::vector<std::int32_t>(50, 1), 3, table.weight()), options).tree.nodes() ==
            1);
    }
    {
        tables::Table empty(0, 2);
        Gradients statistics(0.0, 1.0);
        CHECK(grow_lawful(empty, statistics, options).tree.nodes() == 1);
    }
}

TEST("one column and two rows are enough for a tree") {
    tables::Table column(300, 1);
    column.fill(10, 20);
    CHECK(grow_numbers(column, usual()).tree.nodes() > 3);
    GrowOptions options = usual();
    options.choose.min_samples_leaf = 1;
    tables::Table two(2, 2);
    two.at(0, 0) = 1, two.at(1, 0) = 2, two.at(0, 1) = 5, two.at(1, 1) = -5;
    for (Bins bins : {Bins::uniform, Bins::quantile}) {
        options.choose.bins = bins;
        CHECK(grow_lawful(two, classes_of({0, 1}, 2, two.weight()), options).tree.nodes() == 3);
    }
}

TEST("many rows alike stay together") {
    tables::Table table(500, 2);
    for (std::size_t i = 0; i < 500; ++i) {
        table.at(i, 0) = static_cast<float>(i % 3);
        table.at(i, 1) = static_cast<float>(i % 2);
    }
    GrowOptions options = usual();
    options.choose.min_samples_leaf = 1;
    for (Bins bins : {Bins::uniform, Bins::quantile}) {
        options.choose.bins = bins;
        const auto grown = grow_numbers(table, options);
        bool together = true;
        for (std::size_t i = 6; i < 500; ++i) together = together && grown.leaf[i] == grown.leaf[i - 6];
        CHECK(together);
        CHECK(trees::leaves(grown.tree) == 6);
    }
}

TEST("eight planes a node make up to 256 cells") {
    tables::Table table(20000, 8);
    table.fill(11);
    std::vector<double> y(20000, 0.0);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t j = 0; j < 8; ++j)
            y[i] += (table.at(i, j) > 0 ? 1.0 : 0.0) * std::pow(1.1, static_cast<double>(j));
    for (int bins : {2, 16, 255}) {
        GrowOptions options = usual();
        options.choose.max_planes = 8;
        options.choose.n_bins = bins;
        options.choose.min_relative_gain = 0;
        options.choose.min_samples_leaf = 1;
        options.draw.n_projections = 0;
        options.max_depth = 1;
        const auto grown = grow_lawful(table, squared_error(y, table.weight()), options, 2);
        CHECK(grown.tree.planes() == 8);
        CHECK(grown.tree.nodes() > 200);
    }
}

TEST("small cells are joined so that every leaf has its rows") {
    tables::Table table(700, 6);
    table.fill(12, 10);
    for (std::int64_t least : {2, 20, 60}) {
        GrowOptions options = usual();
        options.choose.max_planes = 6;
        options.choose.min_samples_leaf = least;
        options.max_rows_per_node = 128;  // cells may be smaller than the sample promised
        CHECK(grow_numbers(table, options).tree.nodes() > 3);
    }
}

TEST("values as large or as small as floats can be make lawful trees") {
    Random random(3, 3);
    for (Bins bins : {Bins::uniform, Bins::quantile})
        for (float size : {FLT_MAX, 1e38f, 1e19f, 1e-19f, 1e-37f, 1e-42f}) {
            tables::Table table(400, 4);
            table.fill(13, 30);
            for (std::size_t i = 0; i < 400; ++i)
                for (std::size_t j = 0; j < 4; ++j) {
                    if (j == 3) continue;                // one ordinary column beside them
                    const float v = table.at(i, j) / 6;  // within [-1, 1]
                    table.at(i, j) = v * size;
                }
            table.at(0, 0) = size, table.at(1, 0) = -size, table.at(2, 1) = size;
            std::vector<double> y(400);
            for (std::size_t i = 0; i < 400; ++i)
                y[i] =
                    tables::or_zero(table.at(i, 0) / size) + tables::or_zero(table.at(i, 3)) + 0.1 * random.uniform();
            GrowOptions options = usual();
            options.choose.bins = bins;
            const auto grown = grow_lawful(table, squared_error(y, table.weight()), options);
            CHECK(grown.tree.nodes() > 3);
        }
}

TEST("outliers that weigh next to nothing, and overflow, do no harm") {
    for (Bins bins : {Bins::uniform, Bins::quantile}) {
        tables::Table table(400, 3);
        table.fill(14);
        for (std::size_t i = 0; i < 12; ++i) {
            table.weight()[i] = 1e-200;
            for (std::size_t j = 0; j < 3; ++j) table.at(i, j) = (i + j) % 2 ? 3e38f : -3e38f;
        }
        GrowOptions options = usual();
        options.choose.bins = bins;
        grow_lawful(table, squared_error(tables::numbers(table, 14), table.weight()), options);
        grow_lawful(table, classes_of(tables::labels(table, 2, 14), 2, table.weight()), options);
        // Only combinations overflow: a row in which infinity meets minus infinity.
        table.fill(14);
        for (std::size_t j = 0; j < 3; ++j) table.at(5, j) = j % 2 ? 3e37f : -3e37f;
        grow_lawful(table, squared_error(std::vector<double>(tables::numbers(table, 14)), table.weight()), options);
    }
}

TEST("a heavy tail with quantile bins makes lawful trees") {
    tables::Table table(800, 3);
    table.fill(15);
    for (std::size_t i = 0; i < 800; ++i)
        for (std::size_t j = 0; j < 3; ++j) table.at(i, j) = std::pow(table.at(i, j), 21.0f);
    for (Bins bins : {Bins::uniform, Bins::quantile}) {
        GrowOptions options = usual();
        options.choose.bins = bins;
        grow_lawful(table, classes_of(tables::labels(table, 3, 15), 3, table.weight()), options);
    }
}

TEST("targets of any magnitude grow the same tree but for the unit of its values") {
    tables::Table table(500, 4);
    table.fill(16);
    const auto y = tables::numbers(table, 16);
    const auto one = grow_lawful(table, squared_error(y, table.weight()), usual());
    for (double by : {0x1p-100, 0x1p-20, 0x1p30, 0x1p100}) {
        std::vector<double> scaled = y;
        for (double &each : scaled) each *= by;
        const auto other = grow_lawful(table, squared_error(scaled, table.weight()), usual());
        CHECK(tables::same_bytes(one.tree.threshold, other.tree.threshold) && one.leaf == other.leaf);
        bool same = true;
        for (std::size_t i = 0; i < one.tree.value.size(); ++i)
            same = same && one.tree.value[i] * by == other.tree.value[i];
        CHECK(same);
    }
}

TEST("a feature measured in another unit, a power of two, grows the same tree") {
    tables::Table table(500, 4), scaled(500, 4);
    table.fill(17, 20);
    const float unit[] = {1.0f, 1024.0f, 0x1p-30f, 0x1p60f};
    for (std::size_t i = 0; i < 500; ++i)
        for (std::size_t j = 0; j < 4; ++j) scaled.at(i, j) = table.at(i, j) * unit[j];
    const Gradients statistics = squared_error(tables::numbers(table, 17), table.weight());
    const auto one = grow_lawful(table, statistics, usual()), other = grow_lawful(scaled, statistics, usual());
    CHECK(one.leaf == other.leaf && tables::same_bytes(one.tree.threshold, other.tree.threshold));
}

TEST("a whole weight is as good as that many rows where nodes are not sampled") {
    tables::Table weighted(200, 3), repeated(600, 3);
    weighted.fill(18);
    for (std::size_t i = 0; i < 200; ++i) weighted.weight()[i] = 3;
    for (std::size_t i = 0; i < 600; ++i)
        for (std::size_t j = 0; j < 3; ++j) repeated.at(i, j) = weighted.at(i / 3, j);
    const auto label = tables::labels(weighted, 3, 18);
    std::vector<std::int32_t> thrice(600);
    for (std::size_t i = 0; i < 600; ++i) thrice[i] = label[i / 3];
    GrowOptions options = usual();
    options.choose.min_samples_leaf = 1;
    const auto a = grow_lawful(weighted, classes_of(label, 3, weighted.weight()), options);
    const auto b = grow_lawful(repeated, classes_of(thrice, 3, repeated.weight()), options);
    CHECK(tables::same_bytes(a.tree.threshold, b.tree.threshold) && tables::same_bytes(a.tree.value, b.tree.value));
}

TEST("boosting's gradients with a ridge grow lawful trees too") {
    tables::Table table(800, 4);
    table.fill(19);
    const auto y = tables::numbers(table, 19);
    std::vector<double> g(800), h(800);
    for (std::size_t i = 0; i < 800; ++i) {
        const double p = 1 / (1 + std::exp(-0.5 * tables::or_zero(table.at(i, 3))));
        g[i] = p - (y[i] > 0), h[i] = p * (1 - p);
    }
    Gradients statistics(2.0, 0.5);
    statistics.assign(g.data(), h.data(), 800);
    for (double split_gain : {0.0, 1.0}) {
        GrowOptions options = usual();
        options.choose.min_split_gain = split_gain;
        options.choose.min_child_weight = 1;
        CHECK(grow_lawful(table, statistics, options).tree.nodes() > 3);
    }
}
