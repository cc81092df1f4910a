#include "boost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "predict.hpp"
#include "random.hpp"

namespace planewise {

namespace {

std::vector<std::int32_t> leaves_of(const Forest &tree, const Matrix &matrix, Threads &threads) {
    std::vector<std::int32_t> leaf(matrix.rows);
    Predictor(tree).apply(matrix.values, matrix.rows, matrix.columns, threads, leaf.data());
    return leaf;
}

// The leaves of rows that a tree was not grown from, where the others' are known.
void find_other_leaves(const Forest &tree, const Matrix &matrix, Threads &threads, std::vector<std::int32_t> &leaf) {
    const auto others = static_cast<std::size_t>(std::count(leaf.begin(), leaf.end(), -1));
    if (2 * others > matrix.rows) {  // copying so many costs more than it saves
        leaf = leaves_of(tree, matrix, threads);
        return;
    }
    const Predictor predictor(tree);
    threads.stretches(matrix.rows, 16, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = begin; i < end; ++i)
            if (leaf[i] < 0) rows.push_back(static_cast<std::uint32_t>(i));
        std::vector<float> x(rows.size() * matrix.columns);
        for (std::size_t k = 0; k < rows.size(); ++k)
            std::copy_n(matrix.row(rows[k]), matrix.columns, x.data() + k * matrix.columns);
        std::vector<std::int32_t> found(rows.size());
        Threads alone(1);
        predictor.apply(x.data(), rows.size(), matrix.columns, alone, found.data());
        for (std::size_t k = 0; k < rows.size(); ++k) leaf[rows[k]] = found[k];
    });
}

}  // namespace

Booster::Booster(const Matrix &matrix, const double *target, const double *weight, std::vector<double> score,
                 std::size_t trees, const BoostOptions &options)
    : matrix_(matrix),
      options_(options),
      rounds_(matrix.rows, trees, options),
      rows_(matrix.values, matrix.columns, target, weight, std::move(score), options.objective),
      statistics_(1, Gradients(options.reg_lambda)),
      trials_(options.objective.outputs, TreeTrials(options.find_depth ? -1 : options.grow.max_depth,
                                                    options.find_smoothing ? -1 : options.grow.smoothing)) {
    total_weight_ = exact_sum(weight, matrix_.rows);
    if (!searches()) return;
    one_of_.assign(weight, weight + matrix_.rows);
    const double one_row = weight_of_a_row(one_of_);
    for (double &one : one_of_) one = 1 / std::max(1.0, one / one_row);
}

void Booster::watch(const Matrix &matrix, const double *target, const double *weight, std::vector<double> score) {
    watched_.emplace_back(matrix.values, matrix.columns, target, weight, std::move(score), options_.objective);
}

// Only some of many rows are looked at.
void Booster::begin_at(const double *score, bool same, Threads &threads) {
    const auto at = [&](std::size_t row) { return score + (same ? 0 : row * outputs()); };
    const bool whole = options_.objective.loss == Loss::ranking || options_.objective.loss == Loss::huber;
    if (whole) {  // rows depend on each other
        std::vector<double> all, gradient(rows_.score().size()), hessian(gradient.size());
        for (std::size_t i = 0; i < matrix_.rows; ++i) all.insert(all.end(), at(i), at(i) + outputs());
        options_.objective.derivatives(all.data(), rows_.target(), rows_.weight(), matrix_.rows, gradient.data(),
                                       hessian.data(), threads);
        return begin_with(hessian.data());
    }
    std::vector<double> f, y, w;
    for (const std::uint32_t row : rounds_.start_rows()) {
        f.insert(f.end(), at(row), at(row) + outputs());
        y.push_back(rows_.target()[row]);
        w.push_back(rows_.weight()[row]);
    }
    std::vector<double> gradient(f.size()), hessian(f.size());
    options_.objective.derivatives(f.data(), y.data(), w.data(), w.size(), gradient.data(), hessian.data(), threads);
    rounds_.begin(hessian.data(), w.data(), w.size());
}

void Booster::begin_with(const double *hessian) {
    std::vector<double> h, w;
    for (const std::uint32_t row : rounds_.start_rows()) {
        h.insert(h.end(), hessian + row * outputs(), hessian + (row + 1) * outputs());
        w.push_back(rows_.weight()[row]);
    }
    rounds_.begin(h.data(), w.data(), w.size());
}

void Booster::round(Threads &threads, const std::function<bool()> &stop) {
    const bool whole = options_.objective.loss == Loss::ranking;  // rows depend on each other
    if (rounds_.are_sampled() && !whole) {
        rows_.use_derivatives(nullptr, nullptr);
        rows_.find_bound();
        return grow_sampled_round(threads, stop);
    }
    const std::vector<double> &score = rows_.score();
    const double *target = rows_.target(), *weight = rows_.weight();
    gradient_.resize(score.size());
    hessian_.resize(score.size());
    options_.objective.derivatives(score.data(), target, weight, matrix_.rows, gradient_.data(), hessian_.data(),
                                   threads);
    if (searches()) {
        if (left_out_.empty()) left_out_ = score;
        if (is_trial()) {
            left_out_gradient_.resize(score.size());
            left_out_hessian_.resize(score.size());
            options_.objective.derivatives(left_out_.data(), target, weight, matrix_.rows, left_out_gradient_.data(),
                                           left_out_hessian_.data(), threads);
        }
    }
    round_with(gradient_.data(), hessian_.data(), threads, stop);
}

// Rows of the same values and targets together; of which query they are does not count.
void Booster::set_aside() {
    const std::vector<double> weight(rows_.weight(), rows_.weight() + matrix_.rows);
    if (options_.objective.loss != Loss::ranking) {
        aside_.emplace(matrix_, rows_.target(), 1, weight);
        return;
    }
    std::vector<double> grade(matrix_.rows);
    for (std::size_t i = 0; i < matrix_.rows; ++i) grade[i] = rows_.target()[QueryRanking::targets * i];
    aside_.emplace(matrix_, grade.data(), 1, weight);
}

void Booster::round_with(const double *gradient, const double *hessian, Threads &threads,
                         const std::function<bool()> &stop) {
    if (!rounds_.are_sampled()) return grow_round(gradient, hessian, threads, stop);
    rows_.use_derivatives(gradient, hessian);
    grow_sampled_round(threads, stop);
}

// As rows in parts are asked, with one part.
void Booster::grow_sampled_round(Threads &threads, const std::function<bool()> &stop) {
    if (sample_number_ != rounds_.sample_number() || sample_.rows.empty()) {
        sample_number_ = rounds_.sample_number();
        sample_.rows = rounds_.sample_rows();
        sample_.values = rows_.values_of(sample_.rows.data(), sample_.rows.size(), threads);
        sample_.matrix.emplace(matrix_.with_rows(sample_.values.data(), sample_.rows.size(), threads));
    }
    const BoostRows::Slopes slopes = rows_.slopes_of(sample_.rows.data(), sample_.rows.size(), threads);
    Forest trees = rounds_.grow(*sample_.matrix, slopes.gradient.data(), slopes.hessian.data(), slopes.weight.data(),
                                threads, stop);
    const std::vector<GradientSizes> sizes = rows_.sizes(threads);
    rounds_.set_values(rows_.route(trees, sizes, rounds_.bag(), threads), sizes, trees);
    if (options_.objective.renews_leaves()) renew_leaves(rows_.leaves(), trees);
    rounds_.finish(trees);
    rows_.move(trees, threads);
    keep(trees, threads);
}

void Booster::grow_round(const double *gradient, const double *hessian, Threads &threads,
                         const std::function<bool()> &stop) {
    const std::size_t count = outputs();
    const bool trial = searches() && is_trial();
    if (trial && !aside_) set_aside();
    const bool left_out = trial && !left_out_.empty();
    const Derivatives all{gradient, hessian, left_out ? left_out_gradient_.data() : nullptr,
                          left_out ? left_out_hessian_.data() : nullptr};
    // So many trees at a time: their derivatives are copied together, and memory for them stays small.
    const std::size_t most = std::max<std::size_t>(8, 4 * static_cast<std::size_t>(threads.count()));
    Forest round;
    for (std::size_t k = 0; k < count; k += most) grow_some(k, std::min(count, k + most), all, round, threads, stop);
    keep(round, threads);
}

// Makes a round's trees the model's, and lets the sets that are watched follow.
void Booster::keep(Forest &trees, Threads &threads) {
    trees.n_outputs = outputs();
    rounds_.keep(trees);
    for (BoostRows &watched : watched_) watched.follow(trees, threads);
}

// The derivatives of outputs first, first + 1, ..., each side by side.
std::vector<Booster::Derivatives> Booster::split(const Derivatives &all, std::size_t first, std::size_t some,
                                                 Threads &threads) {
    const std::size_t rows = matrix_.rows, count = outputs();
    if (count == 1) return {all};
    std::vector<Derivatives> out(some);
    by_output_.resize((all.left_out_gradient != nullptr ? 4 : 2) * some * rows);
    double *next = by_output_.data();
    for (auto part : {&Derivatives::gradient, &Derivatives::hessian, &Derivatives::left_out_gradient,
                      &Derivatives::left_out_hessian}) {
        const double *from = all.*part;
        if (from == nullptr) continue;
        double *to = next;
        threads.stretches(rows, 2 * some, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t k = 0; k < some; ++k) to[k * rows + i] = from[i * count + first + k];
        });
        for (std::size_t k = 0; k < some; ++k) out[k].*part = to + k * rows;
        next += some * rows;
    }
    return out;
}

// The trees of outputs first .. last-1. As many as there are threads for are grown side by side, one thread each; the
// rest one after the other by all threads.
void Booster::grow_some(std::size_t first, std::size_t last, const Derivatives &all, Forest &round, Threads &threads,
                        const std::function<bool()> &stop) {
    const std::size_t some = last - first;
    const std::vector<Derivatives> derivatives = split(all, first, some, threads);
    const auto workers = static_cast<std::size_t>(threads.count());
    const std::size_t together = workers > 1 ? some - some % workers : 0;
    while (statistics_.size() < workers) statistics_.emplace_back(options_.reg_lambda);
    std::vector<Update> updates(some);
    threads.each(together, Threads::large, [&](std::size_t k, int thread) {
        Threads alone(1);  // only the calling thread may ask whether to stop
        const std::function<bool()> go_on = [] { return false; };
        updates[k] = grow_one(first + k, statistics_[static_cast<std::size_t>(thread)], derivatives[k], alone,
                              thread == 0 ? stop : go_on);
    });
    for (std::size_t k = together; k < some; ++k)
        updates[k] = grow_one(first + k, statistics_[0], derivatives[k], threads, stop);
    move_scores(first, updates.data(), derivatives.data(), some, threads);
    for (const Update &update : updates) round.append(update.grown.tree);
}

Booster::Update Booster::grow_one(std::size_t output, Gradients &statistics, const Derivatives &derivatives,
                                  Threads &threads, const std::function<bool()> &stop) {
    const std::size_t all = matrix_.rows, bag = options_.bag_of(all);
    Random random = rounds_.random_of(output);
    GrowOptions options = rounds_.grow_options(output, matrix_, random);
    statistics.assign(derivatives.gradient, derivatives.hessian, all, &threads);
    const double share = rounds_.certainty_left(output, derivatives.hessian, all, total_weight_);
    statistics.set_lambda(options_.reg_lambda * share);
    std::vector<std::uint32_t> rows;  // none: all
    if (bag < all) rows = pick(all, bag, random);

    const auto strength = [&] { return share * (searches() ? trials_[output].strength() : options_.grow.smoothing); };
    Grown<Gradients> grown;
    if (searches() && is_trial())
        grown = grow_on_trial(output, derivatives, rows, options, share, random.next(), threads, stop);
    const bool tried = grown.tree.nodes() > 0;
    if (!tried) {
        options.smoothing = strength();
        if (searches()) options.max_depth = trials_[output].depth();
        grown = grow(matrix_, statistics, options, threads, stop, rows);
        if (bag < all) find_other_leaves(grown.tree, matrix_, threads, grown.leaf);
    }
    if (tried) set_values(statistics, rows, strength(), threads, grown);
    if (options_.objective.renews_leaves()) renew_leaves(grown.leaf, grown.tree);
    rounds_.finish(grown.tree);
    return {std::move(grown), options_.reg_lambda * share, strength()};
}

// Moves the scores by the new trees of outputs first, first + 1, ...: all of them in blocks whose scores stay in the
// cache.
void Booster::move_scores(std::size_t first, const Update *update, const Derivatives *derivatives, std::size_t some,
                          Threads &threads) {
    constexpr std::size_t block = 256;
    threads.stretches(matrix_.rows, 8 * some, [&](std::size_t stretch_begin, std::size_t stretch_end) {
        for (std::size_t begin = stretch_begin; begin < stretch_end; begin += block) {
            const std::size_t end = std::min(stretch_end, begin + block);
            for (std::size_t k = 0; k < some; ++k) {
                if (!left_out_.empty()) add_left_out(update[k], first + k, derivatives[k], begin, end);
                add_values(update[k].grown.tree, update[k].grown.leaf, first + k, begin, end);
            }
        }
    });
}

void Booster::add_values(const Forest &tree, const std::vector<std::int32_t> &leaf, std::size_t output,
                         std::size_t begin, std::size_t end) {
    std::vector<double> &score = rows_.score();
    const std::size_t count = outputs();
    for (std::size_t i = begin; i < end; ++i)
        score[i * count + output] += tree.value[static_cast<std::size_t>(leaf[i])];
}

// The score of a row by trees whose leaves it had no part in, to first order. A row that a tree was not grown from may
// have shaped those before: by its own score it would look better known than a new one.
void Booster::add_left_out(const Update &update, std::size_t output, const Derivatives &derivatives, std::size_t begin,
                           std::size_t end) {
    constexpr double least = 0.1;  // of the leaf's Hessian is left, whatever the row's
    const std::size_t count = outputs();
    const Forest &tree = update.grown.tree;
    for (std::size_t i = begin; i < end; ++i) {
        const auto leaf = static_cast<std::size_t>(update.grown.leaf[i]);
        const double all = tree.weight[leaf] + update.lambda + (leaf > 0 ? update.smoothing : 0.0);
        const double others = std::max(all - one_of_[i] * derivatives.hessian[i], least * all);
        const double step = tree.value[leaf] * all + options_.learning_rate * one_of_[i] * derivatives.gradient[i];
        left_out_[i * count + output] += others > 0 ? step / others : 0.0;
    }
}

// Grows a tree from a part of every row's weight (most rows wholly or not at all), and asks the rest what depth and
// smoothing would have served it best. Its values are the caller's to set. Nothing grown if no row is left to grow
// from.
Grown<Gradients> Booster::grow_on_trial(std::size_t output, const Derivatives &derivatives,
                                        const std::vector<std::uint32_t> &rows, GrowOptions options, double share,
                                        std::uint64_t noise, Threads &threads, const std::function<bool()> &stop) {
    const std::size_t all = matrix_.rows;
    std::vector<double> part, g(all), h(all);
    aside_->draw(TreeTrials::aside, noise, part);
    std::vector<std::uint32_t> grown_from;
    for (std::size_t k = 0; k < (rows.empty() ? all : rows.size()); ++k) {
        const auto row = rows.empty() ? static_cast<std::uint32_t>(k) : rows[k];
        if (part[row] < 1) grown_from.push_back(row);
    }
    if (grown_from.empty()) return {};
    const double lambda = options_.reg_lambda * share;
    Gradients inside(lambda), outside(lambda);
    for (const bool in : {true, false}) {
        const bool left_out = !in && derivatives.left_out_gradient != nullptr;
        const double *gradient = left_out ? derivatives.left_out_gradient : derivatives.gradient;
        const double *hessian = left_out ? derivatives.left_out_hessian : derivatives.hessian;
        threads.stretches(all, 4, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const double taken = in ? 1 - part[i] : part[i];
                g[i] = taken * gradient[i];
                h[i] = taken * hessian[i];
            }
        });
        (in ? inside : outside).assign(g.data(), h.data(), all, &threads);
    }
    options.max_depth = trials_[output].depth_on_trial();
    Grown<Gradients> grown = grow(matrix_, inside, options, threads, stop, std::move(grown_from));
    find_other_leaves(grown.tree, matrix_, threads, grown.leaf);
    trials_[output].judge(inside, outside, grown.tree, node_sums(inside, rows, grown, threads).data(),
                          node_sums(outside, rows, grown, threads).data(), share);
    if (options_.find_depth) cut_at(trials_[output].depth(), grown);
    return grown;
}

// The tree without what is deeper.
void Booster::cut_at(int depth, Grown<Gradients> &grown) {
    Forest &tree = grown.tree;
    std::vector<char> cut(tree.nodes(), 0);
    for (std::size_t node = 0; node < cut.size(); ++node) cut[node] = tree.depth[node] == depth && !tree.is_leaf(node);
    if (std::find(cut.begin(), cut.end(), 1) == cut.end()) return;
    const std::vector<std::int32_t> moved = tree.prune(cut);
    for (std::int32_t &leaf : grown.leaf) leaf = moved[static_cast<std::size_t>(leaf)];
}

// What the rows (all, or those named) of each node add up to.
std::vector<std::int64_t> Booster::node_sums(const Gradients &statistics, const std::vector<std::uint32_t> &rows,
                                             const Grown<Gradients> &grown, Threads &threads) const {
    const Forest &tree = grown.tree;
    const std::size_t width = statistics.channels(), count = rows.empty() ? matrix_.rows : rows.size();
    // One set of sums per thread: integers add up to the same in any order.
    std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(threads.count()));
    threads.each(count / Threads::stretch + 1, count * width, [&](std::size_t piece, int thread) {
        std::vector<std::int64_t> &part = parts[static_cast<std::size_t>(thread)];
        part.resize(tree.nodes() * width, 0);
        for (std::size_t i = piece * Threads::stretch; i < std::min(count, (piece + 1) * Threads::stretch); ++i) {
            const std::size_t row = rows.empty() ? i : rows[i];
            statistics.add(statistics.data()[row], &part[static_cast<std::size_t>(grown.leaf[row]) * width]);
        }
    });
    std::vector<std::int64_t> sums(tree.nodes() * width, 0);
    for (const auto &part : parts)
        for (std::size_t k = 0; k < part.size(); ++k) sums[k] += part[k];
    for (std::size_t node = tree.nodes(); node-- > 1;)  // children come after their parents
        for (std::size_t k = 0; k < width; ++k)
            sums[static_cast<std::size_t>(tree.parent[node]) * width + k] += sums[node * width + k];
    return sums;
}

// Newton steps from all the rows of the tree, where only some of them decided its planes.
void Booster::set_values(const Gradients &statistics, const std::vector<std::uint32_t> &rows, double smoothing,
                         Threads &threads, Grown<Gradients> &grown) const {
    Forest &tree = grown.tree;
    const std::size_t width = statistics.channels();
    const std::vector<std::int64_t> sums = node_sums(statistics, rows, grown, threads);
    for (std::size_t node = 0; node < tree.nodes(); ++node) {
        const std::int64_t *sum = &sums[node * width];
        const double *above = node == 0 ? nullptr : &tree.value[static_cast<std::size_t>(tree.parent[node])];
        statistics.value(sum, &tree.value[node], above, node == 0 ? 0.0 : smoothing);
        tree.rows[node] = statistics.rows(sum);
        tree.weight[node] = statistics.weight(sum);
    }
}

// Of all nodes in which a row can end: also those with a cell that no training row fell into. Constraints compare all.
// Losses whose leaves are renewed have one output, and so one tree per round.
void Booster::renew_leaves(const std::vector<std::int32_t> &leaf, Forest &tree) const {
    const std::size_t nodes = tree.nodes();
    std::vector<char> wanted(nodes, static_cast<char>(!options_.grow.monotone.empty()));
    for (std::size_t node = 0; node < nodes; ++node)
        for (auto entry = static_cast<std::size_t>(tree.child_start[node]);
             entry < static_cast<std::size_t>(tree.child_start[node + 1]); ++entry)
            if (static_cast<std::size_t>(tree.children[entry]) == node) wanted[node] = 1;
    std::vector<std::vector<double>> residual(nodes), weight(nodes);
    for (std::size_t i = 0; i < matrix_.rows; ++i)
        for (std::int32_t at = leaf[i]; at >= 0; at = tree.parent[static_cast<std::size_t>(at)]) {
            const auto node = static_cast<std::size_t>(at);
            if (!wanted[node]) continue;
            residual[node].push_back(rows_.target()[i] - rows_.score()[i]);
            weight[node].push_back(rows_.weight()[i]);
        }
    for (std::size_t node = 0; node < nodes; ++node)
        if (!residual[node].empty())
            tree.value[node] = options_.objective.best_constant(std::move(residual[node]), weight[node]);
}

}  // namespace planewise
