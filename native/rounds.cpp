#include "rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bits.hpp"
#include "statistics.hpp"

namespace planewise {

namespace {

constexpr double longest_log_step = 0.7;  // a tree at most doubles a rate
constexpr double infinity = std::numeric_limits<double>::infinity();
// Streams that no tree draws from.
constexpr std::uint64_t start_stream = 0x7374617274ull << 24, sample_stream = 0x73616d706cull << 24,
                        bag_stream = 0x626167ull << 40;

}  // namespace

std::size_t BoostOptions::bag_of(std::size_t rows) const {
    return static_cast<std::size_t>(std::max(1.0, std::nearbyint(subsample * static_cast<double>(rows))));
}

std::vector<std::uint32_t> pick(std::size_t count, std::size_t wanted, Random &random) {
    wanted = std::min(wanted, count);
    const bool by_leaving = 2 * wanted > count;  // then the others are fewer
    std::vector<std::uint64_t> marked((count + 63) / 64, 0);
    for (std::size_t left = by_leaving ? count - wanted : wanted; left > 0;) {
        const std::uint32_t at = random.below(static_cast<std::uint32_t>(count));
        const std::uint64_t bit = std::uint64_t{1} << at % 64;
        left -= (marked[at / 64] & bit) == 0;
        marked[at / 64] |= bit;
    }
    std::vector<std::uint32_t> rows;
    rows.reserve(wanted);
    for (std::size_t w = 0; w < marked.size(); ++w) {
        std::uint64_t left = by_leaving ? ~marked[w] : marked[w];
        if (w + 1 == marked.size() && count % 64 > 0) left &= (std::uint64_t{1} << count % 64) - 1;
        for (; left != 0; left &= left - 1) rows.push_back(static_cast<std::uint32_t>(64 * w + lowest_bit(left)));
    }
    return rows;
}

Rounds::Rounds(std::size_t rows, std::size_t trees, const BoostOptions &options)
    : rows_(rows),
      options_(options),
      tree_(trees),
      known_(options.objective.outputs * std::max<std::size_t>(options.views.size(), 1)) {
    if (rows > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("boosting takes at most 4,294,967,295 rows");
    forest_.n_values = 1;
    forest_.n_outputs = outputs();
}

std::vector<std::uint32_t> Rounds::start_rows() const {
    Random random(options_.seed, start_stream);
    return pick(rows_, options_.max_rows_per_tree, random);
}

std::vector<std::uint32_t> Rounds::sample_rows() const {
    Random random(options_.seed, sample_stream + sample_number());
    return pick(rows_, options_.max_rows_per_tree, random);
}

Bag Rounds::bag() const {
    Random random(options_.seed, bag_stream + tree_);
    return Bag(random.next(), options_.subsample);
}

void Rounds::begin(const double *hessian, const double *weight, std::size_t rows) {
    first_weight_ = exact_sum(weight, rows);
    first_.assign(outputs(), 0.0);
    for (std::size_t i = 0; i < rows * outputs(); ++i) first_[i % first_.size()] += hessian[i];
}

double Rounds::certainty_left(std::size_t tree, const double *hessian, std::size_t count, double total_weight) const {
    constexpr double least = 0.002;
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) total += hessian[i];
    if (first_.empty() || !(first_[tree] > 0)) return 1.0;
    return std::clamp(total / first_[tree] * (first_weight_ / total_weight), least, 1.0);
}

GrowOptions Rounds::grow_options(std::size_t tree, const Matrix &matrix, Random &random) const {
    GrowOptions options = options_.grow;
    options.seed = random.next();
    options.known = options_.remember ? &known_[place_of(tree_ + tree)] : nullptr;
    if (!options_.views.empty()) options.features = options_.views[tree_ / outputs() % options_.views.size()];
    if (options_.colsample >= 1) return options;
    std::vector<std::int32_t> usable;
    for (std::size_t j = 0; j < matrix.columns; ++j)
        if (matrix.scale[j] > 0) usable.push_back(static_cast<std::int32_t>(j));
    const auto wanted = static_cast<std::size_t>(
        std::max(1.0, std::nearbyint(options_.colsample * static_cast<double>(usable.size()))));
    for (std::size_t k = 0; k + 1 < usable.size() && k < wanted; ++k)
        std::swap(usable[k], usable[k + random.below(static_cast<std::uint32_t>(usable.size() - k))]);
    usable.resize(std::min(wanted, usable.size()));
    std::sort(usable.begin(), usable.end());
    options.features = std::move(usable);
    return options;
}

Forest Rounds::grow_one(std::size_t tree, const Matrix &sample, Gradients &statistics, const double *hessian,
                        double total_weight, Threads &threads, const std::function<bool()> &stop) {
    Random random = random_of(tree);
    GrowOptions options = grow_options(tree, sample, random);
    const double share = certainty_left(tree, hessian, sample.rows, total_weight);
    strength_[tree] = {options_.reg_lambda * share, options_.grow.smoothing * share};
    statistics.set_lambda(strength_[tree].lambda);
    options.smoothing = strength_[tree].smoothing;
    return planewise::grow(sample, statistics, options, threads, stop).tree;
}

// As many trees as there are threads for are grown side by side, one thread each; the rest one after the other by all
// threads.
Forest Rounds::grow(const Matrix &sample, const double *gradient, const double *hessian, const double *weight,
                    Threads &threads, const std::function<bool()> &stop) {
    const std::size_t trees = outputs(), count = sample.rows;
    const double total_weight = exact_sum(weight, count);
    strength_.assign(trees, {});
    std::vector<Forest> grown(trees);
    const auto grow_output = [&](std::size_t k, Threads &own, const std::function<bool()> &ask) {
        std::vector<double> g(count), h(count);
        for (std::size_t i = 0; i < count; ++i) g[i] = gradient[i * trees + k], h[i] = hessian[i * trees + k];
        Gradients statistics(options_.reg_lambda);
        statistics.assign(g.data(), h.data(), count, &own);
        grown[k] = grow_one(k, sample, statistics, h.data(), total_weight, own, ask);
    };
    const auto workers = static_cast<std::size_t>(threads.count());
    const std::size_t together = workers > 1 ? trees - trees % workers : 0;
    threads.each(together, Threads::large, [&](std::size_t k, int thread) {
        Threads alone(1);  // only the calling thread may ask whether to stop
        grow_output(k, alone, thread == 0 ? stop : [] { return false; });
    });
    for (std::size_t k = together; k < trees; ++k) grow_output(k, threads, stop);
    Forest round;
    round.n_values = forest_.n_values;
    round.n_outputs = forest_.n_outputs;
    for (Forest &tree : grown) {
        tree.n_outputs = forest_.n_outputs;
        round.append(tree);
    }
    return round;
}

void Rounds::set_values(std::vector<std::int64_t> sums, const std::vector<GradientSizes> &sizes, Forest &trees) const {
    for (std::size_t tree = 0; tree < trees.trees(); ++tree) {
        const auto first = static_cast<std::size_t>(trees.node_start[tree]),
                   last = static_cast<std::size_t>(trees.node_start[tree + 1]);
        for (std::size_t node = last; node-- > first + 1;)  // children come after their parents
            for (std::size_t k = 0; k < sum_width; ++k)
                sums[(first + static_cast<std::size_t>(trees.parent[node])) * sum_width + k] +=
                    sums[node * sum_width + k];
        Gradients statistics(strength_[tree].lambda);
        statistics.assign(nullptr, nullptr, 0, sizes[tree]);
        for (std::size_t node = first; node < last; ++node) {
            const bool root = node == first;
            const double *above = root ? nullptr : &trees.value[first + static_cast<std::size_t>(trees.parent[node])];
            const std::int64_t *sum = &sums[node * sum_width];
            statistics.value(sum, &trees.value[node], above, root ? 0.0 : strength_[tree].smoothing);
            trees.rows[node] = statistics.rows(sum);
            trees.weight[node] = statistics.weight(sum);
        }
    }
}

void Rounds::finish(Forest &trees) const {
    if (!options_.grow.monotone.empty()) trees.hold_monotone(options_.grow.monotone);
    // Newton's step on an exponential can overshoot without end.
    const double longest = options_.objective.has_log_link() ? longest_log_step : infinity;
    const auto held = [&](double step) { return std::clamp(step, -longest, longest); };
    // Rounded to what prediction will add, so that scores here and there are the same.
    for (double &value : trees.value)
        value = static_cast<double>(static_cast<float>(held(options_.learning_rate * held(value))));
}

void Rounds::keep(const Forest &trees) {
    for (std::size_t tree = 0; tree < trees.trees(); ++tree)
        remember(trees.part(tree, tree + 1), known_[place_of(tree_ + tree)]);
    forest_.append(trees);
    tree_ += trees.trees();
}

void Rounds::recall(const Forest &before) {
    for (std::size_t tree = 0; tree < before.trees(); ++tree)
        remember(before.part(tree, tree + 1), known_[place_of(tree)]);
}

// The oblique directions of the latest trees, the newest first: what parted the rows well is worth trying again.
void Rounds::remember(const Forest &tree, Directions &known) {
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

}  // namespace planewise
