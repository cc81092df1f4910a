// boost.hpp: rounds that move scores, the same for any number of threads and when taken up again.
#include <cmath>

#include "boost.hpp"
#include "check.hpp"
#include "predict.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

bool never() { return false; }

BoostOptions usual(Loss loss = Loss::squared, std::size_t outputs = 1) {
    BoostOptions options;
    options.objective = {loss, 0.7, outputs};
    options.seed = 3;
    options.grow.max_depth = 3;
    options.grow.draw.n_projections = 12;
    options.grow.draw.rounds = {{3, 0.1, 0.1}};
    options.grow.choose.min_samples_leaf = 5;
    return options;
}

struct Data {
    tables::Table table;
    std::vector<double> target;

    Data(std::size_t rows, Loss loss, std::size_t outputs = 1) : table(rows, 5) {
        table.fill(1, 25);
        table.fill_categories(4, 7, 3, 25);
        target = tables::numbers(table, 2);
        for (double &y : target) {
            if (loss == Loss::gamma || loss == Loss::tweedie) y = std::fabs(y) + 0.01;
            if (loss == Loss::poisson) y = std::floor(std::fabs(y));
            if (loss == Loss::logistic) y = y > 0;
            if (loss == Loss::softmax) y = std::fmod(std::fabs(std::floor(y)), static_cast<double>(outputs));
        }
    }
};

Booster fresh(Data &data, const BoostOptions &options) {
    return Booster(data.table.matrix(), data.target.data(), data.table.weight().data(),
                   std::vector<double>(data.table.rows() * options.objective.outputs, 0.5), 0, options);
}

// 0.5 and the values of all trees, tree by tree, added for each row.
std::vector<double> walked(const Forest &forest, const tables::Table &table) {
    std::vector<double> out(table.rows() * forest.n_outputs, 0.5);
    Threads alone(1);
    Predictor(forest).add(table.values(), table.rows(), table.columns(), 0, forest.trees(), alone, out.data());
    return out;
}

const std::vector<std::pair<Loss, std::size_t>> losses{{Loss::squared, 1},  {Loss::absolute, 1}, {Loss::huber, 1},
                                                       {Loss::quantile, 1}, {Loss::poisson, 1},  {Loss::logistic, 1},
                                                       {Loss::softmax, 3},  {Loss::gamma, 1},    {Loss::tweedie, 1}};

}  // namespace

TEST("any number of threads gives the same scores and trees, whatever is sampled") {
    for (const auto &[loss, outputs] : losses) {
        Data data(20000, loss, outputs);
        for (double subsample : {1.0, 0.5}) {
            BoostOptions options = usual(loss, outputs);
            options.subsample = subsample;
            options.colsample = 0.8;
            options.max_rows_per_tree = 3000;
            Booster alone = fresh(data, options), many = fresh(data, options);
            Threads one(1), three(3);
            for (int round = 0; round < 2; ++round) alone.round(one, never), many.round(three, never);
            CHECK(tables::same_bytes(many.score(), alone.score()));
            CHECK(trees::same(many.forest(), alone.forest()));
            CHECK(alone.forest().planes() > 0);
        }
    }
}

TEST("scores are what the trees predict, and the loss falls") {
    for (const auto &[loss, outputs] : losses)
        for (std::size_t most : {std::size_t{300}, std::size_t{100000}}) {
            Data data(1200, loss, outputs);
            BoostOptions options = usual(loss, outputs);
            options.max_rows_per_tree = most;
            Booster booster = fresh(data, options);
            Threads alone(1);
            const double before = booster.mean_loss(alone);
            for (int round = 0; round < 8; ++round) booster.round(alone, never);
            CHECK(booster.mean_loss(alone) < 0.97 * before);
            CHECK(booster.forest().trees() == 8 * outputs);
            CHECK(tables::same_bytes(walked(booster.forest(), data.table), booster.score()));
        }
}

TEST("leaves of the quantile loss hold the best constant of their rows") {
    Data data(500, Loss::quantile);
    BoostOptions options = usual(Loss::quantile);
    options.learning_rate = 1;
    Booster booster = fresh(data, options);
    Threads alone(1);
    booster.round(alone, never);
    const Forest &tree = booster.forest();
    std::vector<std::int32_t> leaf(500);
    Predictor(tree).apply(data.table.values(), 500, data.table.columns(), alone, leaf.data());
    bool right = tree.planes() > 0;
    for (std::size_t node = 0; node < tree.nodes(); ++node) {
        std::vector<double> residual, weight;
        for (std::size_t i = 0; i < 500; ++i)
            if (static_cast<std::size_t>(leaf[i]) == node)
                residual.push_back(data.target[i] - 0.5), weight.push_back(data.table.weight()[i]);
        if (residual.empty()) continue;
        const double best = options.objective.best_constant(residual, weight);
        right = right && tree.value[node] == static_cast<double>(static_cast<float>(best));
    }
    CHECK(right);
}

TEST("watched sets follow without being learned from") {
    Data data(800, Loss::logistic), other(300, Loss::logistic), third(200, Loss::logistic);
    Booster plain = fresh(data, usual(Loss::logistic)), watching = fresh(data, usual(Loss::logistic));
    for (Data *each : {&other, &third})
        watching.watch(each->table.matrix(), each->target.data(), each->table.weight().data(),
                       std::vector<double>(each->target.size(), 0.5));
    CHECK(watching.watched_sets() == 2);
    Threads alone(1);
    for (int round = 0; round < 4; ++round) plain.round(alone, never), watching.round(alone, never);
    CHECK(trees::same(plain.forest(), watching.forest()));
    for (std::size_t set : {std::size_t{0}, std::size_t{1}}) {
        Data &each = set == 0 ? other : third;
        CHECK(tables::same_bytes(watching.watched_score(set), walked(watching.forest(), each.table)));
        CHECK(watching.watched_loss(set, alone) ==
              usual(Loss::logistic)
                  .objective.mean_loss(watching.watched_score(set).data(), each.target.data(),
                                       each.table.weight().data(), each.target.size()));
    }
}

TEST("derivatives of one's own that are the built-in ones grow the same trees") {
    for (const auto &[loss, outputs] : {std::pair{Loss::logistic, std::size_t{1}}, {Loss::softmax, std::size_t{3}}}) {
        Data data(600, loss, outputs);
        const BoostOptions options = usual(loss, outputs);
        Booster built_in = fresh(data, options), own = fresh(data, options);
        Threads alone(1);
        std::vector<double> g(600 * outputs), h(600 * outputs);
        for (int round = 0; round < 3; ++round) {
            options.objective.derivatives(own.score().data(), data.target.data(), data.table.weight().data(), 600,
                                          g.data(), h.data(), alone);
            own.round_with(g.data(), h.data(), alone, never);
            built_in.round(alone, never);
        }
        CHECK(trees::same(own.forest(), built_in.forest()));
    }
}

TEST("boosting taken up again with the latest directions draws what it would have drawn") {
    for (const auto &[loss, outputs] : {std::pair{Loss::squared, std::size_t{1}}, {Loss::softmax, std::size_t{3}}}) {
        Data data(700, loss, outputs);
        const BoostOptions options = usual(loss, outputs);
        Booster whole = fresh(data, options), first = fresh(data, options);
        Threads alone(1);
        for (int round = 0; round < 30; ++round) whole.round(alone, never);
        for (int round = 0; round < 20; ++round) first.round(alone, never);
        for (bool remembers : {true, false}) {
            Booster second(data.table.matrix(), data.target.data(), data.table.weight().data(), first.score(),
                           first.forest().trees(), options);
            if (remembers) second.recall(first.forest());
            for (int round = 0; round < 10; ++round) second.round(alone, never);
            CHECK(tables::same_bytes(second.score(), whole.score()) == remembers);
        }
    }
}

TEST("a tree's rows are drawn without replacement, each as often as any other") {
    // A gradient of 2^i for row i: the value of a tree that is one leaf names its rows.
    constexpr std::size_t rows = 20, wanted = 8;
    tables::Table table(rows, 2);
    table.fill(1);
    BoostOptions options = usual();
    options.learning_rate = 1;
    options.reg_lambda = 0;
    options.subsample = 0.4;
    options.grow.choose.min_samples_leaf = 1000;
    const std::vector<double> zero(rows);
    Booster booster(table.matrix(), zero.data(), table.weight().data(), zero, 0, options);
    std::vector<double> g(rows), h(rows, 1.0);
    for (std::size_t i = 0; i < rows; ++i) g[i] = std::ldexp(1.0, static_cast<int>(i));
    Threads alone(1);
    constexpr int rounds = 500;
    for (int round = 0; round < rounds; ++round) booster.round_with(g.data(), h.data(), alone, never);
    std::vector<int> times(rows, 0);
    bool without_replacement = true;
    for (std::size_t tree = 0; tree < rounds; ++tree) {
        CHECK(booster.forest().rows[tree] == wanted);
        const auto named = static_cast<std::uint32_t>(std::lround(-booster.forest().value[tree] * wanted));
        std::size_t drawn = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            drawn += named >> i & 1u;
            times[i] += static_cast<int>(named >> i & 1u);
        }
        without_replacement = without_replacement && drawn == wanted;
    }
    CHECK(without_replacement);
    for (int each : times) CHECK(each > 140 && each < 260);  // 200 on the average, 11 its deviation
}

TEST("values are Newton steps over the rows of the bag, not over the few that decided the planes") {
    Data data(2000, Loss::squared);
    for (double subsample : {1.0, 0.5}) {
        BoostOptions options = usual();
        options.learning_rate = 1;
        options.reg_lambda = 2;
        options.subsample = subsample;
        options.max_rows_per_tree = 300;
        Booster booster = fresh(data, options);
        Threads alone(1);
        booster.round(alone, never);
        const Forest &all = booster.forest();
        const Bag bag = Rounds(2000, 0, options).bag();
        const std::vector<std::int32_t> leaf = trees::apply(all, data.table);
        std::vector<double> sum(all.nodes(), 0.0), count(all.nodes(), 0.0);
        for (std::size_t i = 0; i < 2000; ++i)
            for (std::int32_t node = leaf[i]; bag.has(i) && node >= 0;
                 node = all.parent[static_cast<std::size_t>(node)]) {
                sum[static_cast<std::size_t>(node)] += data.target[i] - 0.5;
                count[static_cast<std::size_t>(node)] += 1;
            }
        for (std::size_t node = 0; node < all.nodes(); ++node) {
            CHECK(tables::close(all.value[node], sum[node] / (count[node] + 2), 1e-5));
            CHECK(static_cast<double>(all.rows[node]) == count[node]);
        }
        CHECK(std::fabs(count[0] - 2000 * subsample) < 100);
        CHECK(all.weight[0] == count[0]);
    }
}

TEST("monotone values never pass each other along a constrained column") {
    for (const auto &[loss, outputs] : losses) {
        if (outputs > 1) continue;
        Data data(1500, loss);
        BoostOptions options = usual(loss);
        options.grow.max_depth = 6;
        options.grow.choose.max_planes = 1;
        options.grow.monotone = {-1, 0, 1, 0, 0};  // against the target, and with or against a wave
        options.max_rows_per_tree = 400;
        Booster booster = fresh(data, options);
        Threads alone(1);
        for (int round = 0; round < 6; ++round) booster.round(alone, never);
        for (std::size_t column : {0u, 2u}) {
            tables::Table line(121, 5);
            std::size_t wrong = 0;
            for (std::size_t base = 0; base < 40; ++base) {
                for (std::size_t i = 0; i < 121; ++i) {
                    for (std::size_t j = 0; j < 5; ++j) line.at(i, j) = data.table.at(base, j);
                    line.at(i, column) = -3.0f + 0.05f * static_cast<float>(i);
                }
                // Other columns may miss; the constrained ones are looked at where they are there.
                const std::size_t other = column == 0 ? 2 : 0;
                for (std::size_t i = 0; i < 121; ++i)
                    if (line.at(i, other) != line.at(i, other)) line.at(i, other) = 0;
                const std::vector<double> score = walked(booster.forest(), line);
                for (std::size_t i = 1; i < 121; ++i)
                    wrong += column == 0 ? score[i] > score[i - 1] : score[i] < score[i - 1];
            }
            CHECK(wrong == 0);
        }
    }
}

TEST("a caller who wants to stop is heard") {
    Data data(300, Loss::squared);
    Booster booster = fresh(data, usual());
    Threads alone(1);
    CHECK(THROWS(Interrupted, booster.round(alone, [] { return true; })));
    CHECK(booster.forest().trees() == 0);
}
