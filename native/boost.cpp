#include "boost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "predict.hpp"
#include "random.hpp"

namespace planewise {

namespace {

constexpr double longest_log_step = 0.7;  // a tree at most doubles a rate
constexpr double infinity = std::numeric_limits<double>::infinity();

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

Booster::Booster(const Matrix &matrix, std::vector<double> target, std::vector<double> weight,
                 std::vector<double> score, std::size_t trees, const BoostOptions &options)
    : matrix_(matrix),
      options_(options),
      target_(std::move(target)),
      weight_(std::move(weight)),
      score_(std::move(score)),
      gradient_(score_.size()),
      hessian_(score_.size()),
      statistics_(1, Gradients(options.reg_lambda)),
      vectors_(options.reg_lambda, options.objective.outputs),
      tree_(trees),
      known_(options.objective.outputs),
      trials_(options.objective.outputs, TreeTrials(options.find_depth ? -1 : options.grow.max_depth,
                                                    options.find_smoothing ? -1 : options.grow.smoothing)),
      one_of_(weight_) {
    const double one_row = weight_of_a_row(weight_);
    for (double &one : one_of_) one = 1 / std::max(1.0, one / one_row);
    forest_.n_values = options.vector_leaves ? outputs() : 1;
    forest_.n_outputs = outputs();
}

double Booster::mean_loss() const {
    return options_.objective.mean_loss(score_.data(), target_.data(), weight_.data(), matrix_.rows);
}

void Booster::watch(const Matrix &matrix, std::vector<double> target, std::vector<double> weight,
                    std::vector<double> score) {
    watched_.push_back({&matrix, std::move(target), std::move(weight), std::move(score)});
}

double Booster::watched_loss(std::size_t set) const {
    const Watched &rows = watched_.at(set);
    return options_.objective.mean_loss(rows.score.data(), rows.target.data(), rows.weight.data(), rows.matrix->rows);
}

void Booster::begin_at(const std::vector<double> &score, Threads &threads) {
    options_.objective.derivatives(score.data(), target_.data(), weight_.data(), matrix_.rows, gradient_.data(),
                                   hessian_.data(), threads);
    begin_with(hessian_.data());
    if (options_.vector_leaves && options_.objective.loss != Loss::softmax) find_units();
}

// By output, the size of a Newton step at the start. In these units, targets of any scale have the same say in the
// planes of a tree that they share.
void Booster::find_units() {
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    units_.assign(outputs(), 0.0);
    for (std::size_t i = 0; i < score_.size(); ++i)
        if (hessian_[i] > 0) units_[i % outputs()] += gradient_[i] * gradient_[i] / hessian_[i];
    for (double &unit : units_) {
        unit = std::sqrt(unit / total);
        if (!(unit > 0) || !std::isfinite(unit)) unit = 1;
        // In few digits: rows given twice or with a weight of two must not differ by how their sums are rounded.
        int exponent = 0;
        const double digits = std::frexp(unit, &exponent);
        unit = std::ldexp(std::nearbyint(256 * digits) / 256, exponent);
    }
}

void Booster::begin_with(const double *hessian) {
    first_.assign(options_.vector_leaves ? 1 : outputs(), 0.0);
    for (std::size_t i = 0; i < score_.size(); ++i) first_[i % first_.size()] += hessian[i];
}

// How much Hessian is left of what there was before the first tree. Regularisation shrinks with it: where rows have
// become certain it would hold the scores back for good.
double Booster::certainty_left(std::size_t output, const double *hessian) const {
    constexpr double least = 0.002;
    const std::size_t count = options_.vector_leaves ? score_.size() : matrix_.rows;
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) total += hessian[i];
    return first_.empty() || !(first_[output] > 0) ? 1.0 : std::clamp(total / first_[output], least, 1.0);
}

void Booster::round(Threads &threads, const std::function<bool()> &stop) {
    options_.objective.derivatives(score_.data(), target_.data(), weight_.data(), matrix_.rows, gradient_.data(),
                                   hessian_.data(), threads);
    if (searches() && !options_.vector_leaves) {
        if (left_out_.empty()) left_out_ = score_;
        if (is_trial(tree_)) {
            left_out_gradient_.resize(score_.size());
            left_out_hessian_.resize(score_.size());
            options_.objective.derivatives(left_out_.data(), target_.data(), weight_.data(), matrix_.rows,
                                           left_out_gradient_.data(), left_out_hessian_.data(), threads);
        }
    }
    for (std::size_t i = 0; i < gradient_.size() && !units_.empty(); ++i) gradient_[i] /= units_[i % outputs()];
    grow_round(gradient_.data(), hessian_.data(), units_.empty() ? nullptr : units_.data(), threads, stop);
}

// Rows of the same values and targets together; of which query they are does not count.
void Booster::set_aside() {
    if (options_.objective.loss != Loss::ranking) {
        aside_.emplace(matrix_, target_, options_.objective.targets, weight_);
        return;
    }
    std::vector<double> grade(matrix_.rows);
    for (std::size_t i = 0; i < matrix_.rows; ++i) grade[i] = target_[QueryRanking::targets * i];
    aside_.emplace(matrix_, grade, 1, weight_);
}

void Booster::round_with(const double *gradient, const double *hessian, Threads &threads,
                         const std::function<bool()> &stop) {
    grow_round(gradient, hessian, nullptr, threads, stop);
}

void Booster::grow_round(const double *gradient, const double *hessian, const double *units, Threads &threads,
                         const std::function<bool()> &stop) {
    const std::size_t count = outputs();
    const bool trial = searches() && is_trial(tree_);
    if (trial && !aside_) set_aside();
    const bool left_out = trial && !left_out_.empty();
    const Derivatives all{gradient, hessian, left_out ? left_out_gradient_.data() : nullptr,
                          left_out ? left_out_hessian_.data() : nullptr, units};
    if (options_.vector_leaves) {
        Update<VectorGradients> update = grow_one(0, tree_, vectors_, all, threads, stop);
        move_scores(0, &update, &all, 1, threads);
        return keep(update.grown.tree, 0);
    }
    // So many trees at a time: their derivatives are copied together, and memory for them stays small.
    const std::size_t most = std::max<std::size_t>(8, 4 * static_cast<std::size_t>(threads.count()));
    for (std::size_t k = 0; k < count; k += most) grow_some(k, std::min(count, k + most), all, threads, stop);
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
void Booster::grow_some(std::size_t first, std::size_t last, const Derivatives &all, Threads &threads,
                        const std::function<bool()> &stop) {
    const std::size_t some = last - first;
    const std::vector<Derivatives> derivatives = split(all, first, some, threads);
    const auto workers = static_cast<std::size_t>(threads.count());
    const std::size_t together = workers > 1 ? some - some % workers : 0;
    while (statistics_.size() < workers) statistics_.emplace_back(options_.reg_lambda);
    std::vector<Update<Gradients>> updates(some);
    threads.each(together, Threads::large, [&](std::size_t k, int thread) {
        Threads alone(1);  // only the calling thread may ask whether to stop
        const std::function<bool()> go_on = [] { return false; };
        updates[k] = grow_one(first + k, tree_ + k, statistics_[static_cast<std::size_t>(thread)], derivatives[k],
                              alone, thread == 0 ? stop : go_on);
    });
    for (std::size_t k = together; k < some; ++k)
        updates[k] = grow_one(first + k, tree_ + k, statistics_[0], derivatives[k], threads, stop);
    move_scores(first, updates.data(), derivatives.data(), some, threads);
    for (std::size_t k = 0; k < some; ++k) keep(updates[k].grown.tree, first + k);
}

template <class S>
Booster::Update<S> Booster::grow_one(std::size_t output, std::size_t number, S &statistics,
                                     const Derivatives &derivatives, Threads &threads,
                                     const std::function<bool()> &stop) {
    const double *gradient = derivatives.gradient, *hessian = derivatives.hessian;
    Random random(options_.seed, number);
    GrowOptions options = options_.grow;
    options.seed = random.next();
    if (options_.colsample < 1) options.features = draw_columns(random);
    options.known = &known_[output];
    statistics.assign(gradient, hessian, matrix_.rows, &threads);
    const double share = certainty_left(output, hessian);
    statistics.set_lambda(options_.reg_lambda * share);

    const auto all = matrix_.rows, bag = static_cast<std::size_t>(
                                       std::max(1.0, std::nearbyint(options_.subsample * static_cast<double>(all))));
    std::vector<std::uint32_t> rows;  // none: all
    if (bag < all) rows = draw_rows(nullptr, all, bag, random);
    std::vector<std::uint32_t> few;  // the rows that decide the planes, where there are more than enough
    if (bag > options_.max_rows_per_tree)
        few = draw_rows(rows.empty() ? nullptr : rows.data(), bag, options_.max_rows_per_tree, random);

    const auto strength = [&] { return share * (searches() ? trials_[output].strength() : options_.grow.smoothing); };
    Grown<S> grown;
    if (searches() && is_trial(number))
        grown = grow_on_trial<S>(output, derivatives, rows, options, share, random.next(), threads, stop);
    const bool tried = grown.tree.nodes() > 0;
    if (!tried) {
        options.smoothing = strength();
        if (searches()) options.max_depth = trials_[output].depth();
        grown = grow(matrix_, statistics, options, threads, stop, few.empty() ? rows : few);
        if (bag < all || !few.empty()) find_other_leaves(grown.tree, matrix_, threads, grown.leaf);
    }
    if (tried || !few.empty()) set_values(statistics, rows, strength(), threads, grown);
    for (std::size_t i = 0; i < grown.tree.value.size() && derivatives.units != nullptr; ++i)
        grown.tree.value[i] *= derivatives.units[i % grown.tree.n_values];
    if (options_.objective.renews_leaves()) renew_leaves(grown.leaf, output, grown.tree);
    if (!options.monotone.empty()) grown.tree.hold_monotone(options.monotone);
    // Newton's step on an exponential can overshoot without end.
    const double longest = options_.objective.has_log_link() ? longest_log_step : infinity;
    const auto held = [&](double step) { return std::clamp(step, -longest, longest); };
    // Rounded to what prediction will add, so that scores here and there are the same.
    for (double &value : grown.tree.value)
        value = static_cast<double>(static_cast<float>(held(options_.learning_rate * held(value))));
    return {std::move(grown), options_.reg_lambda * share, strength()};
}

// Moves the scores by the new trees of outputs first, first + 1, ...: all of them in blocks whose scores stay in the
// cache.
template <class S>
void Booster::move_scores(std::size_t first, const Update<S> *update, const Derivatives *derivatives, std::size_t some,
                          Threads &threads) {
    constexpr std::size_t block = 256;
    threads.stretches(matrix_.rows, 8 * some, [&](std::size_t stretch_begin, std::size_t stretch_end) {
        for (std::size_t begin = stretch_begin; begin < stretch_end; begin += block) {
            const std::size_t end = std::min(stretch_end, begin + block);
            for (std::size_t k = 0; k < some; ++k) {
                if (!left_out_.empty()) add_left_out(update[k], first + k, derivatives[k], begin, end);
                add_values(update[k].grown.tree, update[k].grown.leaf, first + k, begin, end, score_);
            }
        }
    });
    for (Watched &watched : watched_)
        for (std::size_t k = 0; k < some; ++k) {
            const std::vector<std::int32_t> leaf = leaves_of(update[k].grown.tree, *watched.matrix, threads);
            threads.stretches(leaf.size(), 2, [&](std::size_t begin, std::size_t end) {
                add_values(update[k].grown.tree, leaf, first + k, begin, end, watched.score);
            });
        }
}

void Booster::keep(Forest &tree, std::size_t output) {
    remember(tree, known_[output]);
    tree.n_outputs = outputs();
    forest_.append(tree);
    ++tree_;
}

void Booster::add_values(const Forest &tree, const std::vector<std::int32_t> &leaf, std::size_t output,
                         std::size_t begin, std::size_t end, std::vector<double> &score) const {
    const std::size_t count = outputs();
    for (std::size_t i = begin; i < end; ++i)
        for (std::size_t k = 0; k < tree.n_values; ++k)
            score[i * count + output + k] += tree.value[static_cast<std::size_t>(leaf[i]) * tree.n_values + k];
}

// The score of a row by trees whose leaves it had no part in, to first order. A row that a tree was not grown from may
// have shaped those before: by its own score it would look better known than a new one.
template <class S>
void Booster::add_left_out(const Update<S> &update, std::size_t output, const Derivatives &derivatives,
                           std::size_t begin, std::size_t end) {
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
template <class S>
Grown<S> Booster::grow_on_trial(std::size_t output, const Derivatives &derivatives,
                                const std::vector<std::uint32_t> &rows, GrowOptions options, double share,
                                std::uint64_t noise, Threads &threads, const std::function<bool()> &stop) {
    const std::size_t all = matrix_.rows, a_row = options_.vector_leaves ? outputs() : 1;
    std::vector<double> part, g(all * a_row), h(all * a_row);
    aside_->draw(TreeTrials::aside, noise, part);
    std::vector<std::uint32_t> grown_from;
    for (std::size_t k = 0; k < (rows.empty() ? all : rows.size()); ++k) {
        const auto row = rows.empty() ? static_cast<std::uint32_t>(k) : rows[k];
        if (part[row] < 1) grown_from.push_back(row);
    }
    if (grown_from.empty()) return {};
    const auto fresh = [&] {
        const double lambda = options_.reg_lambda * share;
        if constexpr (std::is_same_v<S, Gradients>)
            return Gradients(lambda);
        else
            return VectorGradients(lambda, outputs());
    };
    S inside = fresh(), outside = fresh();
    for (const bool in : {true, false}) {
        const bool left_out = !in && derivatives.left_out_gradient != nullptr;
        const double *gradient = left_out ? derivatives.left_out_gradient : derivatives.gradient;
        const double *hessian = left_out ? derivatives.left_out_hessian : derivatives.hessian;
        threads.stretches(all, 4 * a_row, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin * a_row; i < end * a_row; ++i) {
                const double taken = in ? 1 - part[i / a_row] : part[i / a_row];
                g[i] = taken * gradient[i];
                h[i] = taken * hessian[i];
            }
        });
        (in ? inside : outside).assign(g.data(), h.data(), all, &threads);
    }
    options.max_depth = trials_[output].depth_on_trial();
    Grown<S> grown = grow(matrix_, inside, options, threads, stop, std::move(grown_from));
    find_other_leaves(grown.tree, matrix_, threads, grown.leaf);
    trials_[output].judge(inside, outside, grown.tree, node_sums(inside, rows, grown, threads).data(),
                          node_sums(outside, rows, grown, threads).data(), share);
    if (options_.find_depth) cut_at(trials_[output].depth(), grown);
    return grown;
}

// The tree without what is deeper.
template <class S>
void Booster::cut_at(int depth, Grown<S> &grown) {
    Forest &tree = grown.tree;
    std::vector<char> cut(tree.nodes(), 0);
    for (std::size_t node = 0; node < cut.size(); ++node) cut[node] = tree.depth[node] == depth && !tree.is_leaf(node);
    if (std::find(cut.begin(), cut.end(), 1) == cut.end()) return;
    const std::vector<std::int32_t> moved = tree.prune(cut);
    for (std::int32_t &leaf : grown.leaf) leaf = moved[static_cast<std::size_t>(leaf)];
}

// What the rows (all, or those named) of each node add up to.
template <class S>
std::vector<std::int64_t> Booster::node_sums(const S &statistics, const std::vector<std::uint32_t> &rows,
                                             const Grown<S> &grown, Threads &threads) const {
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
template <class S>
void Booster::set_values(const S &statistics, const std::vector<std::uint32_t> &rows, double smoothing,
                         Threads &threads, Grown<S> &grown) const {
    Forest &tree = grown.tree;
    const std::size_t width = statistics.channels();
    const std::vector<std::int64_t> sums = node_sums(statistics, rows, grown, threads);
    for (std::size_t node = 0; node < tree.nodes(); ++node) {
        const std::int64_t *sum = &sums[node * width];
        const double *above =
            node == 0 ? nullptr : &tree.value[static_cast<std::size_t>(tree.parent[node]) * tree.n_values];
        statistics.value(sum, &tree.value[node * tree.n_values], above, node == 0 ? 0.0 : smoothing);
        tree.rows[node] = statistics.rows(sum);
        tree.weight[node] = statistics.weight(sum);
    }
}

// The oblique directions of the latest trees, the newest first: what parted the rows well is worth trying again.
void Booster::remember(const Forest &tree, Directions &known) {
    Directions next;
    for (std::size_t k = 0; k < tree.planes() && next.size() < most_known; ++k) {
        const auto first = static_cast<std::size_t>(tree.term_start[k]),
                   last = static_cast<std::size_t>(tree.term_start[k + 1]);
        if (last - first < 2) continue;
        for (std::size_t t = first; t < last; ++t) next.add_term(tree.term_feature[t], tree.term_coefficient[t], 1.0);
        next.close();
    }
    for (std::size_t d = 0; d < known.size() && next.size() < most_known; ++d) next.add(known, d);
    known = std::move(next);
}

// Of all nodes in which a row can end: also those with a cell that no training row fell into. Constraints compare all.
void Booster::renew_leaves(const std::vector<std::int32_t> &leaf, std::size_t output, Forest &tree) const {
    const std::size_t nodes = tree.nodes();
    std::vector<char> wanted(nodes, static_cast<char>(!options_.grow.monotone.empty()));
    for (std::size_t node = 0; node < nodes; ++node)
        for (auto entry = static_cast<std::size_t>(tree.child_start[node]);
             entry < static_cast<std::size_t>(tree.child_start[node + 1]); ++entry)
            if (static_cast<std::size_t>(tree.children[entry]) == node) wanted[node] = 1;
    for (std::size_t value = 0; value < tree.n_values; ++value) {
        const std::size_t k = output + value;
        std::vector<std::vector<double>> residual(nodes), weight(nodes);
        for (std::size_t i = 0; i < matrix_.rows; ++i)
            for (std::int32_t at = leaf[i]; at >= 0; at = tree.parent[static_cast<std::size_t>(at)]) {
                const auto node = static_cast<std::size_t>(at);
                if (!wanted[node]) continue;
                residual[node].push_back(target_[options_.objective.place(i, k)] - score_[i * outputs() + k]);
                weight[node].push_back(weight_[i]);
            }
        for (std::size_t node = 0; node < nodes; ++node)
            if (!residual[node].empty())
                tree.value[node * tree.n_values + value] =
                    options_.objective.best_constant(std::move(residual[node]), weight[node], k);
    }
}

// `wanted` of `count` rows (those named, or 0 .. count-1) without replacement, in their order.
std::vector<std::uint32_t> Booster::draw_rows(const std::uint32_t *named, std::size_t count, std::size_t wanted,
                                              Random &random) {
    std::vector<std::uint32_t> rows;
    rows.reserve(wanted);
    for (std::size_t i = 0; i < count && rows.size() < wanted; ++i)
        if (random.below(static_cast<std::uint32_t>(count - i)) < wanted - rows.size())
            rows.push_back(named == nullptr ? static_cast<std::uint32_t>(i) : named[i]);
    return rows;
}

std::vector<std::int32_t> Booster::draw_columns(Random &random) const {
    std::vector<std::int32_t> usable;
    for (std::size_t j = 0; j < matrix_.columns; ++j)
        if (matrix_.scale[j] > 0) usable.push_back(static_cast<std::int32_t>(j));
    const auto wanted = static_cast<std::size_t>(
        std::max(1.0, std::nearbyint(options_.colsample * static_cast<double>(usable.size()))));
    for (std::size_t k = 0; k + 1 < usable.size() && k < wanted; ++k)
        std::swap(usable[k], usable[k + random.below(static_cast<std::uint32_t>(usable.size() - k))]);
    usable.resize(std::min(wanted, usable.size()));
    std::sort(usable.begin(), usable.end());
    return usable;
}

}  // namespace planewise
