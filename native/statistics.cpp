#include "statistics.hpp"

#include "parallel.hpp"

namespace planewise {

namespace {

struct Sides {
    static constexpr std::size_t most = 256;
    double left_g[most], left_h[most], right_g[most], right_h[most], counts[most];
};

PLANEWISE_CLONES void add_scores(const Sides &sides, double factor, double lambda, double whole, std::size_t edges,
                                 double *rises) {
    for (std::size_t e = 0; e < edges; ++e) {
        const double lh = sides.left_h[e] + lambda, rh = sides.right_h[e] + lambda;
        const double left = lh > 0 ? factor * sides.left_g[e] * sides.left_g[e] / lh : 0.0;
        const double right = rh > 0 ? factor * sides.right_g[e] * sides.right_g[e] / rh : 0.0;
        rises[e] += sides.counts[e] > 0 ? left + right - whole : 0.0;
    }
}

// The sizes of each stretch, joined.
template <class Find>
GradientSizes sizes_of(std::size_t n, std::size_t cost, Threads &threads, Find find) {
    std::vector<GradientSizes> parts(n / Threads::stretch + 1);
    threads.stretches(n, cost,
                      [&](std::size_t begin, std::size_t end) { find(begin, end, parts[begin / Threads::stretch]); });
    for (const GradientSizes &part : parts) parts[0].join(part);
    return parts[0];
}

PLANEWISE_CLONES void put_on_grid(const double *g, const double *h, std::size_t begin, std::size_t end,
                                  const GradientGrid &grid, Gradients::Row *rows) {
    for (std::size_t i = begin; i < end; ++i) {
        const double square = h[i] > 0 ? g[i] * g[i] / h[i] : 0.0;
        rows[i].part[0] = GradientGrid::rounded(g[i] * grid.to_g);
        rows[i].part[1] = GradientGrid::rounded(h[i] * grid.to_h);
        rows[i].part[2] = 1;
        rows[i].part[3] = GradientGrid::rounded(square * grid.to_square);
    }
}

// The part of n rows' categories with more of a class than is usual, when the class has share p and chance alone
// decides: how many of them, and how many rows of the class they have in excess.
struct Upper {
    double share = 0.5, excess = 0;
};

Upper upper_by_chance(double n, double p) {  // p is at most one half
    const double mean = n * p;
    if (mean >= 8) return {0.5, std::sqrt(mean * (1 - p) / 6.283185307179586)};
    Upper out{0, 0};
    double probability = std::pow(1 - p, n);
    for (double x = 0; x <= std::min(n, 64.0); ++x) {  // beyond 64 rows, where 8 are expected, nothing is left
        if (x > mean) out.share += probability, out.excess += probability * (x - mean);
        probability *= (n - x) / (x + 1) * p / (1 - p);
    }
    return out;
}

// Of one class against the others.
double impurity_of_share(double p, Criterion criterion) {
    if (!(p > 0 && p < 1)) return 0.0;
    return criterion == Criterion::gini ? p * (1 - p) : -(p * std::log(p) + (1 - p) * std::log1p(-p)) / 2;
}

}  // namespace

void Gradients::assign(const double *g, const double *h, std::size_t n, Threads *given) {
    Threads alone(1);
    Threads &threads = given != nullptr ? *given : alone;
    const auto find = [&](std::size_t begin, std::size_t end, GradientSizes &sizes) {
        for (std::size_t i = begin; i < end; ++i) sizes.square = std::max(sizes.square, sizes.add(g[i], h[i]));
    };
    assign(g, h, n, sizes_of(n, 2, threads, find), &threads);
    if (!hessian_is_weight_) return;
    double total = 0;
    std::size_t counting = 0;
    for (std::size_t i = 0; i < n; ++i) total += h[i], counting += h[i] > 0;
    one_row_ = weight_of_a_row(total, counting);
}

void Gradients::assign(const double *g, const double *h, std::size_t n, const GradientSizes &sizes, Threads *given) {
    Threads alone(1);
    Threads &threads = given != nullptr ? *given : alone;
    const GradientGrid grid(sizes);
    unit_g_ = 1 / grid.to_g, unit_h_ = 1 / grid.to_h, unit_square_ = 1 / grid.to_square;
    rows_.resize(n);
    threads.stretches(n, 4,
                      [&](std::size_t begin, std::size_t end) { put_on_grid(g, h, begin, end, grid, rows_.data()); });
}

void ClassCounts::order_keys(const std::int64_t *sums, const std::vector<std::int32_t> &present,
                             const std::int64_t *total, double *key) const {
    const double all = std::max(weight(total), 1e-300);
    const double trust = rows_to_trust * one_row_;
    std::vector<double> apart(present.size() * classes_);  // shares less the node's
    std::vector<double> size(present.size());
    for (std::size_t k = 0; k < present.size(); ++k) {
        const std::int64_t *sum = sums + static_cast<std::size_t>(present[k]) * channels();
        size[k] = weight(sum);
        for (std::size_t c = 0; c < classes_; ++c) {
            const double usual = unit_ * static_cast<double>(total[c]) / all;
            apart[k * classes_ + c] = (unit_ * static_cast<double>(sum[c]) + trust * usual) / (size[k] + trust) - usual;
        }
    }
    // The first principal direction, by a few turns of the power method from the class that differs most.
    std::vector<double> along(classes_, 0.0), next(classes_);
    for (std::size_t k = 0; k < present.size(); ++k)
        for (std::size_t c = 0; c < classes_; ++c)
            along[c] += size[k] * apart[k * classes_ + c] * apart[k * classes_ + c];
    const auto most = static_cast<std::size_t>(std::max_element(along.begin(), along.end()) - along.begin());
    std::fill(along.begin(), along.end(), 0.0);
    along[most] = 1.0;
    const auto dot = [&](std::size_t k) {
        double sum = 0;
        for (std::size_t c = 0; c < classes_; ++c) sum += apart[k * classes_ + c] * along[c];
        return sum;
    };
    for (int turn = 0; classes_ > 2 && turn < 8; ++turn) {
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t k = 0; k < present.size(); ++k) {
            const double much = size[k] * dot(k);
            for (std::size_t c = 0; c < classes_; ++c) next[c] += much * apart[k * classes_ + c];
        }
        double length = 0;
        for (double each : next) length += each * each;
        if (!(length > 0)) break;
        for (std::size_t c = 0; c < classes_; ++c) along[c] = next[c] / std::sqrt(length);
    }
    for (std::size_t k = 0; k < present.size(); ++k) key[present[k]] = dot(k);
}

double ClassCounts::chance_of_order(const std::int64_t *sums, const std::vector<std::int32_t> &present,
                                    const std::int64_t *total) const {
    std::vector<double> rows(present.size());
    double all = 0;
    for (std::size_t k = 0; k < present.size(); ++k) {
        rows[k] = std::max(1.0, std::nearbyint(count(sums + static_cast<std::size_t>(present[k]) * channels())));
        all += rows[k];
    }
    double gain = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
        const double share = unit_ * static_cast<double>(total[c]) / std::max(weight(total), 1e-300);
        const double p = std::min(share, 1 - share);
        if (!(p > 0)) continue;
        std::vector<Upper> known(64, Upper{-1, 0});  // by rows: many categories have as many
        double upper = 0, excess = 0;
        for (double n : rows) {
            Upper fresh{-1, 0}, &one = n < 64 ? known[static_cast<std::size_t>(n)] : fresh;
            if (one.share < 0) one = upper_by_chance(n, p);
            upper += n * one.share, excess += one.excess;
        }
        const double lower = all - upper;
        gain += all * impurity_of_share(p, criterion_);
        if (upper > 0) gain -= upper * impurity_of_share(std::min(1.0, p + excess / upper), criterion_);
        if (lower > 0) gain -= lower * impurity_of_share(std::max(0.0, p - excess / lower), criterion_);
    }
    // The best cut is not always at the usual share, and gains up to a tenth more. And that is the mean, while many
    // nodes try their luck: two standard deviations more, as far as two categories have none.
    const double spread = std::sqrt(static_cast<double>(present.size())) - std::sqrt(2.0);
    return 1.1 * one_row_ * gain + 2 * std::max(0.0, spread) * dof(total) * chance(total, 0, 2);
}

void Gradients::add_rises(const std::int64_t *left, const std::int64_t *total, double whole, std::int64_t least_rows,
                          double least_weight, std::size_t edges, double *rises) const {
    Sides sides;
    for (std::size_t e = 0; e < edges; ++e, left += 4) {
        sides.left_g[e] = unit_g_ * static_cast<double>(left[0]);
        sides.left_h[e] = unit_h_ * static_cast<double>(left[1]);
        sides.right_g[e] = unit_g_ * static_cast<double>(total[0] - left[0]);
        sides.right_h[e] = unit_h_ * static_cast<double>(total[1] - left[1]);
        const bool enough =
            left[2] >= least_rows && total[2] - left[2] >= least_rows &&
            (least_weight <= 0 || (sides.left_h[e] >= least_weight && sides.right_h[e] >= least_weight));
        sides.counts[e] = enough ? 1.0 : 0.0;
    }
    add_scores(sides, factor_, lambda_, whole, edges, rises);
}

}  // namespace planewise
