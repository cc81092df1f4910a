// boost_rows.hpp, rounds.hpp, matrix.hpp: rows in parts give the trees of rows in one place.
#include <cmath>
#include <stdexcept>

#include "boost.hpp"
#include "boost_rows.hpp"
#include "check.hpp"
#include "rounds.hpp"
#include "trees.hpp"

using namespace planewise;

namespace {

bool never() { return false; }

struct Piece {
    std::size_t begin, end;
};

const std::vector<std::vector<Piece>> partings{
    {{0, 3000}}, {{0, 1}, {1, 1}, {1, 2999}, {2999, 3000}}, {{0, 700}, {700, 1400}, {1400, 2000}, {2000, 3000}}};

BoostOptions usual(Loss loss, std::size_t outputs) {
    BoostOptions options;
    options.objective = {loss, 0.5, outputs};
    options.seed = 5;
    options.subsample = 0.8;
    options.max_rows_per_tree = 400;
    options.grow.max_depth = 3;
    options.grow.draw.n_projections = 8;
    options.grow.draw.rounds = {{3, 0.1, 0.1}};
    return options;
}

// The figures of all columns, from parts.
Matrix figures(const tables::Table &table, const double *weight, const std::vector<Piece> &pieces,
               const std::vector<std::int32_t> &categories) {
    Threads threads(2);
    const std::size_t columns = table.columns();
    const auto values = [&](const Piece &piece) { return table.values() + piece.begin * columns; };
    ColumnRanges ranges(columns);
    for (const Piece &piece : pieces)
        ranges.join(ColumnRanges::from(
            ranges_of(values(piece), piece.end - piece.begin, columns, weight + piece.begin, threads).numbers()));
    const auto sums_of = [&](const std::vector<double> *centre) {
        ColumnSums sums{std::vector<WideSum>(columns), std::vector<WideSum>(columns)};
        for (const Piece &piece : pieces)
            sums.join(
                column_sums(values(piece), piece.end - piece.begin, weight + piece.begin, ranges, centre, threads));
        return sums;
    };
    const ColumnSums sums = sums_of(nullptr);
    const std::vector<double> centre = column_centres(sums, ranges);
    Matrix matrix{nullptr, 0, columns, {}, {}, categories};
    matrix.set_scales(ranges, sums, sums_of(&centre));
    return matrix;
}

}  // namespace

TEST("what is known of columns does not depend on how rows are parted") {
    tables::Table table(3000, 30);
    table.fill(3, 11);
    table.fill_categories(2, 6, 9, 20);
    for (std::size_t i = 0; i < 3000; ++i) {
        table.weight()[i] = 0.1 + static_cast<double>(i % 7);
        for (std::size_t j = 10; j < 30; ++j) table.at(i, j) = (i * j) % 5 == 0 ? 2.5f : -1.0f;  // two values
        if (i % 500 == 3) table.at(i, 5) = tables::infinity;
    }
    const Matrix &whole = table.matrix();
    for (const auto &pieces : partings) {
        const Matrix parted = figures(table, table.weight().data(), pieces, whole.categories);
        CHECK(tables::same_bytes(parted.scale, whole.scale));
        CHECK(tables::same_bytes(parted.mean, whole.mean));
        CHECK(parted.may_miss == whole.may_miss && parted.has_infinite == whole.has_infinite);
        CHECK(parted.two_valued.bit == whole.two_valued.bit && parted.two_valued.set == whole.two_valued.set);
        CHECK(parted.two_valued.words == 1);
    }
}

TEST("rows in parts give the trees and scores of rows in one place") {
    for (const auto &[loss, outputs] : {std::pair{Loss::logistic, std::size_t{1}},
                                        {Loss::softmax, std::size_t{3}},
                                        {Loss::squared, std::size_t{1}}}) {
        tables::Table table(3000, 5);
        table.fill(1, 25);
        const BoostOptions options = usual(loss, outputs);
        std::vector<double> target;
        for (double y : tables::numbers(table, 2))
            target.push_back(loss == Loss::squared
                                 ? y
                                 : std::fmod(std::fabs(std::floor(2 * y)), loss == Loss::logistic ? 2.0 : 3.0));
        for (std::size_t i = 0; i < 3000; ++i) table.weight()[i] = 0.5 + static_cast<double>(i % 3);
        const std::vector<double> start(3000 * outputs, 0.25);
        Threads threads(2);
        Booster whole(table.matrix(), target.data(), table.weight().data(), start, 0, options);
        whole.begin_at(start.data(), false, threads);
        for (int round = 0; round < 6; ++round) whole.round(threads, never);

        for (const auto &pieces : partings) {
            const Matrix known = figures(table, table.weight().data(), pieces, {});
            std::vector<BoostRows> parts;
            for (const Piece &piece : pieces)
                parts.emplace_back(table.values() + piece.begin * 5, 5, target.data() + piece.begin,
                                   table.weight().data() + piece.begin,
                                   std::vector<double>((piece.end - piece.begin) * outputs, 0.25), options.objective,
                                   piece.begin);
            Rounds rounds(3000, 0, options);
            const auto take = [&](const std::vector<std::uint32_t> &named) {
                std::vector<float> values;
                BoostRows::Slopes all;
                for (std::size_t p = 0; p < parts.size(); ++p) {
                    std::vector<std::uint32_t> mine;
                    for (std::uint32_t row : named)
                        if (row >= pieces[p].begin && row < pieces[p].end)
                            mine.push_back(row - static_cast<std::uint32_t>(pieces[p].begin));
                    const std::vector<float> x = parts[p].values_of(mine.data(), mine.size(), threads);
                    const BoostRows::Slopes some = parts[p].slopes_of(mine.data(), mine.size(), threads);
                    values.insert(values.end(), x.begin(), x.end());
                    all.gradient.insert(all.gradient.end(), some.gradient.begin(), some.gradient.end());
                    all.hessian.insert(all.hessian.end(), some.hessian.begin(), some.hessian.end());
                    all.weight.insert(all.weight.end(), some.weight.begin(), some.weight.end());
                }
                return std::pair{values, all};
            };
            const BoostRows::Slopes first = take(rounds.start_rows()).second;
            rounds.begin(first.hessian.data(), first.weight.data(), first.weight.size());
            for (int round = 0; round < 6; ++round) {
                std::vector<GradientSizes> sizes(outputs);
                for (const BoostRows &part : parts) {
                    const auto theirs = part.sizes(threads);
                    for (std::size_t k = 0; k < sizes.size(); ++k) sizes[k].join(theirs[k]);
                }
                const auto [values, taken] = take(rounds.sample_rows());
                const Matrix sample = known.with_rows(values.data(), taken.weight.size(), threads);
                Forest trees = rounds.grow(sample, taken.gradient.data(), taken.hessian.data(), taken.weight.data(),
                                           threads, never);
                std::vector<std::int64_t> sums(trees.nodes() * sum_width, 0);
                for (BoostRows &part : parts) {
                    const auto theirs = part.route(trees, sizes, rounds.bag(), threads);
                    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += theirs[k];
                }
                rounds.set_values(sums, sizes, trees);
                rounds.finish(trees);
                for (BoostRows &part : parts) part.move(trees, threads);
                rounds.keep(trees);
            }
            CHECK(trees::same(rounds.forest(), whole.forest()));
            CHECK(whole.forest().planes() > 0);
            std::vector<double> score;
            LossSums loss_sums;
            for (const BoostRows &part : parts) {
                score.insert(score.end(), part.score().begin(), part.score().end());
                loss_sums.add(part.loss_sums(threads));
            }
            CHECK(tables::same_bytes(score, whole.score()));
            CHECK(loss_sums.mean() == whole.mean_loss(threads));
        }
    }
}

TEST("scores that follow all trees are those that were moved round by round") {
    tables::Table table(2000, 5);
    table.fill(1, 25);
    std::vector<double> target = tables::numbers(table, 2);
    const BoostOptions options = usual(Loss::squared, 1);
    Booster whole(table.matrix(), target.data(), table.weight().data(), std::vector<double>(2000, 0.0), 0, options);
    Threads threads(2);
    for (int round = 0; round < 5; ++round) whole.round(threads, never);
    BoostRows again(table.values(), 5, target.data(), table.weight().data(), std::vector<double>(2000, 0.0),
                    options.objective);
    again.follow(whole.forest(), threads);
    CHECK(tables::same_bytes(again.score(), whole.score()));
}

TEST("rows are picked without replacement, ascending, each as likely as the next") {
    std::vector<int> times(50, 0);
    for (std::uint64_t seed = 0; seed < 2000; ++seed)
        for (std::size_t wanted : {std::size_t{5}, std::size_t{45}}) {
            Random random(seed, wanted);
            const std::vector<std::uint32_t> rows = pick(50, wanted, random);
            CHECK(rows.size() == wanted);
            for (std::size_t k = 0; k < rows.size(); ++k) {
                CHECK(rows[k] < 50 && (k == 0 || rows[k] > rows[k - 1]));
                ++times[rows[k]];
            }
        }
    for (int each : times) CHECK(std::abs(each - 2000) < 120);  // its standard deviation is 19
    Random random(1, 1);
    CHECK(pick(3, 9, random).size() == 3);
}

TEST("more rows than can be numbered are refused") {
    const BoostOptions options = usual(Loss::squared, 1);
    bool refused = false;
    try {
        Rounds(std::size_t{1} << 32, 0, options);
    } catch (const std::invalid_argument &) {
        refused = true;
    }
    CHECK(refused);
}
