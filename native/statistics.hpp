// What a node adds up, and what the sums are worth.
//
// Every row's contribution is put on a fixed-point grid once, so that sums are integers: they come out the same in any
// order, on any number of threads or vector lanes. A statistics type gives
//   Row            one row's contribution,        channels()   how many integers a sum has,
//   add(row, sum)  sum += row,                    score(sum)   what a cell is worth (a split's gain is the rise of the
//   rows(sum), weight(sum)                                     summed score),
//   impurity(sum), dof(sum),                      the node's loss; its degrees of freedom;
//   chance(sum, gain, cells)                    what one random cut gains per degree of freedom;
//   chance_of_order(sums, present, total)       what the best cut through the categories present gains if they are
//                                               noise, put in order by what the rows themselves say; or a bound of it.
// and, for monotone constraints, if it can_be_bounded,
//   bounded_value(sum, bounds), bounded_score(sum, bounds)   the value held within bounds, and what a cell is then
//   worth.
// Squared error and second-order boosting are the same sums (see `Gradients`); classification is `ClassCounts`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "dispatch.hpp"

namespace planewise {

class Threads;

// What monotone constraints leave for a value.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    double held(double value) const { return std::clamp(value, low, high); }
    // What is left on both sides of a plane with these values: where its right side must not be below the left one
    // (sign 1) or above (-1), no value may pass the middle.
    std::pair<Bounds, Bounds> parted(int sign, double left, double right) const {
        std::pair<Bounds, Bounds> sides{*this, *this};
        if (sign == 0) return sides;
        const double middle = (held(left) + held(right)) / 2;
        (sign > 0 ? sides.first : sides.second).high = middle;
        (sign > 0 ? sides.second : sides.first).low = middle;
        return sides;
    }
};

// A category is believed as much as its node when it has that many rows.
constexpr double rows_to_trust = 10;

// The power of two that brings `largest` to at most 2^bits.
inline double grid_scale(double largest, int bits) {
    if (!(largest > 0)) return 1.0;
    int exponent;
    std::frexp(largest, &exponent);  // largest <= 2^exponent
    return std::ldexp(1.0, std::min(bits - exponent, 1000));
}

// What counts as one row: a weight of one, so that a weight of two is two rows; less when weights are smaller on the
// average, so that weights which sum to one do not make all data look like a single row. Rows without weight do not
// count.
inline double weight_of_a_row(double total, std::size_t rows) {
    return rows > 0 ? std::min(1.0, total / static_cast<double>(rows)) : 1.0;
}

inline double weight_of_a_row(const std::vector<double> &weight) {
    double total = 0;
    std::size_t rows = 0;
    for (double w : weight) total += w, rows += w > 0;
    return weight_of_a_row(total, rows);
}

// The largest gradient, Hessian and g^2/h of some rows: what decides their grid. Those of parts are joined in any
// order.
struct GradientSizes {
    double g = 0, h = 0, square = 0;
    void join(const GradientSizes &other) {
        g = std::max(g, other.g);
        h = std::max(h, other.h);
        square = std::max(square, other.square);
    }
    // A row with one output more.
    PLANEWISE_INLINE double add(double gradient, double hessian) {
        g = std::max(g, std::fabs(gradient));
        h = std::max(h, hessian);
        return hessian > 0 ? gradient * gradient / hessian : 0.0;
    }
};

// Powers of two that put gradients and Hessians on their grid.
struct GradientGrid {
    double to_g = 1, to_h = 1, to_square = 1;

    GradientGrid() = default;
    explicit GradientGrid(const GradientSizes &sizes)
        : to_g(grid_scale(sizes.g, 30)), to_h(grid_scale(sizes.h, 30)), to_square(grid_scale(sizes.square, 30)) {}

    // The nearest integer, ties to even, as lrint gives it; the compiler has vector code for this, and none for lrint.
    static PLANEWISE_INLINE std::int32_t rounded(double x) {
        const double shifted = x + 6755399441055744.0;  // 1.5 * 2^52: the last bit is worth one
        std::int64_t bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        return static_cast<std::int32_t>(bits);
    }
};

// Gradient and Hessian of a loss. Squared error is the same with g = -w(y - centre), h = w and nothing added to h.
class Gradients {
  public:
    struct Row {
        std::int32_t part[4];  // g, h, 1, g^2/h
    };

    // score = factor * G^2 / (H + lambda): half of it in boosting, all of it for squared error.
    explicit Gradients(double lambda, double factor = 0.5, bool hessian_is_weight = false)
        : lambda_(lambda), factor_(factor), hessian_is_weight_(hessian_is_weight) {}
    static Gradients squared_error() { return Gradients(0.0, 1.0, true); }

    // Rows with h = 0 count for nothing but their number.
    void assign(const double *g, const double *h, std::size_t n, Threads *threads = nullptr);
    // The same on the grid of sizes that other rows have part in; without rows, for sums that were taken elsewhere.
    void assign(const double *g, const double *h, std::size_t n, const GradientSizes &sizes,
                Threads *threads = nullptr);

    void set_lambda(double lambda) { lambda_ = lambda; }
    // Rows were drawn so many times on the average, which makes no more rows of them.
    void count_drawn_rows_once(double times) { one_row_ *= times; }
    std::size_t size() const { return rows_.size(); }
    const Row *data() const { return rows_.data(); }
    static constexpr std::size_t channels() { return 4; }
    std::size_t outputs() const { return 1; }

    static PLANEWISE_INLINE void add(const Row &row, std::int64_t *sum) {
        for (int c = 0; c < 4; ++c) sum[c] += row.part[c];
    }
    static void add_up(const Row *rows, std::size_t count, std::int64_t *sum) {
        std::int64_t total[4] = {};
        for (std::size_t i = 0; i < count; ++i) add(rows[i], total);
        for (int c = 0; c < 4; ++c) sum[c] += total[c];
    }
    // By what categories are put in order: their Newton step, shrunk towards zero where rows are few.
    void order_keys(const std::int64_t *sums, const std::vector<std::int32_t> &present, const std::int64_t *total,
                    double *key) const {
        const double usual = hessian_is_weight_ ? one_row_ : weight(total) / static_cast<double>(rows(total));
        for (std::int32_t c : present) {
            const std::int64_t *sum = sums + static_cast<std::size_t>(c) * channels();
            const double h = weight(sum) + lambda_ + rows_to_trust * usual;
            key[c] = h > 0 ? -unit_g_ * static_cast<double>(sum[0]) / h : 0.0;
        }
    }
    std::int64_t rows(const std::int64_t *sum) const { return sum[2]; }
    double weight(const std::int64_t *sum) const { return unit_h_ * static_cast<double>(sum[1]); }
    // How many rows a sum stands for, where a weight of two is two rows.
    double count(const std::int64_t *sum) const {
        return hessian_is_weight_ ? weight(sum) / one_row_ : static_cast<double>(sum[2]);
    }
    PLANEWISE_INLINE double score(const std::int64_t *sum) const {
        const double g = unit_g_ * static_cast<double>(sum[0]), h = weight(sum) + lambda_;
        return h > 0 ? factor_ * g * g / h : 0.0;
    }
    // rises[e] += the rise of the score when `total` is cut in left[e] and the rest, edge by edge; nothing where a part
    // would be too small. The same arithmetic as `score`, laid out for vector units.
    void add_rises(const std::int64_t *left, const std::int64_t *total, double whole, std::int64_t least_rows,
                   double least_weight, std::size_t edges, double *rises) const;
    static constexpr bool can_be_bounded = true;
    double bounded_value(const std::int64_t *sum, const Bounds &bounds) const {
        double v;
        value(sum, &v);
        return bounds.held(v);
    }
    double bounded_score(const std::int64_t *sum, const Bounds &bounds) const {
        const double v = bounded_value(sum, bounds);
        return -factor_ * v * (2 * unit_g_ * static_cast<double>(sum[0]) + v * (weight(sum) + lambda_));
    }
    double impurity(const std::int64_t *sum) const {
        const double squares = factor_ * unit_square_ * static_cast<double>(sum[3]);
        // Below the grid's own resolution a node is pure.
        const double resolution = factor_ * unit_square_ * 4.0 * static_cast<double>(sum[2]);
        const double left = squares - score(sum);
        return left > resolution ? left : 0.0;
    }
    // The noise is what is left after the split, a row and spent degree of freedom.
    double chance(const std::int64_t *sum, double gain, double cells) const {
        const double rows = count(sum);
        return rows > cells ? std::max(0.0, impurity(sum) - gain) / (rows - cells) : 0.0;
    }
    double dof(const std::int64_t *) const { return 1.0; }
    double chance_of_order(const std::int64_t *, const std::vector<std::int32_t> &present,
                           const std::int64_t *total) const {
        return static_cast<double>(present.size()) * chance(total, 0, 2);
    }
    // What so much of a step adds to the loss of these rows, to second order.
    double loss(const std::int64_t *sum, const double *value, double step) const {
        const double v = step * value[0];
        return v * (unit_g_ * static_cast<double>(sum[0]) + 0.5 * v * weight(sum));
    }
    // Newton's step; with smoothing, as if so much Hessian more wanted the step of the node above.
    void value(const std::int64_t *sum, double *out, const double *above = nullptr, double smoothing = 0) const {
        const double h = weight(sum) + lambda_ + smoothing;
        const double g = unit_g_ * static_cast<double>(sum[0]) - (above != nullptr ? smoothing * above[0] : 0.0);
        out[0] = h > 0 ? -g / h : 0.0;
    }

  private:
    double lambda_, factor_;
    bool hessian_is_weight_;
    double one_row_ = 1;
    double unit_g_ = 1, unit_h_ = 1, unit_square_ = 1;
    std::vector<Row> rows_;
};

enum class Criterion { entropy, gini };

class ClassCounts {
  public:
    struct Row {
        std::int64_t weight;
        std::int32_t label;
    };

    ClassCounts(std::size_t classes, Criterion criterion) : classes_(classes), criterion_(criterion) {}

    void assign(const std::int32_t *label, const double *weight, std::size_t n) {
        double largest = 0, total = 0;
        std::size_t counting = 0;
        bool whole = true;
        for (std::size_t i = 0; i < n; ++i) {
            largest = std::max(largest, weight[i]);
            total += weight[i];
            counting += weight[i] > 0;
            whole = whole && weight[i] == std::floor(weight[i]);
        }
        // Whole weights stay as they are: their sums index the table of n ln n.
        // Others get a grid so fine that a billionth of the largest still counts, and so coarse that no sum overflows.
        const double to = whole && largest <= 65536.0 ? 1.0 : grid_scale(total, 61);
        unit_ = 1 / to;
        one_row_ = weight_of_a_row(total, counting);
        rows_.resize(n);
        for (std::size_t i = 0; i < n; ++i)
            rows_[i] = {static_cast<std::int64_t>(std::llrint(weight[i] * to)), label[i]};
        if (criterion_ == Criterion::entropy && to == 1.0) {
            table_.resize(8193);
            table_[0] = 0;
            for (std::size_t k = 1; k < table_.size(); ++k) {
                const double x = static_cast<double>(k);
                table_[k] = x * std::log(x);
            }
        }
    }

    // Rows were drawn so many times on the average, which makes no more rows of them.
    void count_drawn_rows_once(double times) { one_row_ *= times; }
    std::size_t size() const { return rows_.size(); }
    const Row *data() const { return rows_.data(); }
    std::size_t classes() const { return classes_; }
    std::size_t channels() const { return classes_ + 1; }
    std::size_t outputs() const { return classes_; }

    void add(const Row &row, std::int64_t *sum) const {
        sum[row.label] += row.weight;
        sum[classes_] += 1;
    }
    // By what categories are put in order: their classes' shares along the direction in which these differ most, drawn
    // to the node's where rows are few. With two classes that is the share of one of them.
    void order_keys(const std::int64_t *sums, const std::vector<std::int32_t> &present, const std::int64_t *total,
                    double *key) const;
    std::int64_t rows(const std::int64_t *sum) const { return sum[classes_]; }
    double weight(const std::int64_t *sum) const {
        std::int64_t total = 0;
        for (std::size_t c = 0; c < classes_; ++c) total += sum[c];
        return unit_ * static_cast<double>(total);
    }
    double count(const std::int64_t *sum) const { return weight(sum) / one_row_; }
    // Entropy: sum of W_c ln(W_c / W); Gini: sum of W_c^2 / W - W. Both are minus the impurity.
    double score(const std::int64_t *sum) const {
        std::int64_t total = 0;
        double parts = 0;
        if (criterion_ == Criterion::entropy) {
            for (std::size_t c = 0; c < classes_; ++c) total += sum[c], parts += x_ln_x(sum[c]);
            return unit_ * (parts - x_ln_x(total));
        }
        for (std::size_t c = 0; c < classes_; ++c) {
            const double count = static_cast<double>(sum[c]);
            total += sum[c], parts += count * count;
        }
        const double all = static_cast<double>(total);
        return total > 0 ? unit_ * (parts / all - all) : 0.0;
    }
    // Of two classes, the share of the second; held within bounds, a cell is worth what the criterion's own loss (of
    // logarithms, or squares) makes of its rows.
    static constexpr bool can_be_bounded = true;
    double bounded_value(const std::int64_t *sum, const Bounds &bounds) const {
        const std::int64_t total = sum[0] + sum[1];
        return bounds.held(total > 0 ? static_cast<double>(sum[1]) / static_cast<double>(total) : 0.0);
    }
    double bounded_score(const std::int64_t *sum, const Bounds &bounds) const {
        const double share = bounded_value(sum, bounds);
        if (share == bounded_value(sum, Bounds{})) return score(sum);
        const auto first = static_cast<double>(sum[0]), second = static_cast<double>(sum[1]);
        if (criterion_ == Criterion::gini)
            return -2 * unit_ * (second * (1 - share) * (1 - share) + first * share * share);
        return unit_ * ((second > 0 ? second * std::log(share) : 0.0) + (first > 0 ? first * std::log1p(-share) : 0.0));
    }
    double impurity(const std::int64_t *sum) const {
        int present = 0;
        for (std::size_t c = 0; c < classes_; ++c) present += sum[c] > 0;
        return present > 1 ? std::max(0.0, -score(sum)) : 0.0;
    }
    // Twice an entropy gain in nats is a chi-square under chance; a Gini gain is as much of the node's impurity.
    double chance(const std::int64_t *sum, double, double) const {
        if (criterion_ == Criterion::entropy) return 0.5 * one_row_;
        const double w = weight(sum);
        return w > 0 ? one_row_ * impurity(sum) / w / dof(sum) : 0.0;
    }
    double dof(const std::int64_t *sum) const {
        int present = 0;
        for (std::size_t c = 0; c < classes_; ++c) present += sum[c] > 0;
        return std::max(1, present - 1);
    }
    // Categories with more of a class than is usual against the others. Small ones gain more than degrees of freedom
    // say: a single row takes all of its uncertainty with it.
    double chance_of_order(const std::int64_t *sums, const std::vector<std::int32_t> &present,
                           const std::int64_t *total) const;
    // Shares are smoothed by whoever knows the exact weights.
    void value(const std::int64_t *sum, double *out, const double * = nullptr, double = 0) const {
        std::int64_t total = 0;
        for (std::size_t c = 0; c < classes_; ++c) total += sum[c];
        for (std::size_t c = 0; c < classes_; ++c)
            out[c] = total > 0 ? static_cast<double>(sum[c]) / static_cast<double>(total) : 0.0;
    }

  private:
    double x_ln_x(std::int64_t k) const {
        if (k <= 0) return 0.0;
        if (static_cast<std::size_t>(k) < table_.size()) return table_[static_cast<std::size_t>(k)];
        const double x = static_cast<double>(k);
        return x * std::log(x);
    }

    std::size_t classes_;
    Criterion criterion_;
    double unit_ = 1, one_row_ = 1;
    std::vector<Row> rows_;
    std::vector<double> table_;
};

}  // namespace planewise
