// What boosting decides, wherever the rows lie: which of them choose the planes of a round's trees, the trees, and,
// from sums over all rows, their values.
//
// A round on many rows:  start_rows, begin (once);  sample_rows -> grow -> [sums of all rows] -> set_values -> finish
// -> keep. Rows in between are asked through `BoostRows`, in one place or in many.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "grow.hpp"
#include "objectives.hpp"
#include "random.hpp"

namespace planewise {

struct BoostOptions {
    GrowOptions grow;
    Objective objective;
    double learning_rate = 0.1;
    double reg_lambda = 1;
    double subsample = 1;                   // share of the rows a tree is grown on
    double colsample = 1;                   // share of the columns a tree may use
    std::size_t max_rows_per_tree = 65536;  // where there are more, so many of them decide a tree's planes
    std::uint64_t seed = 0;
    bool find_smoothing = false;                   // by trials on rows set aside, rather than grow.smoothing
    bool find_depth = false;                       // likewise, rather than grow.max_depth
    bool remember = true;                          // whether directions of earlier trees are among the candidates
    std::vector<std::vector<std::int32_t>> views;  // columns that rounds may use, in turn; none: any round all

    // Rows a tree is grown on, of so many.
    std::size_t bag_of(std::size_t rows) const;
};

// `wanted` of the numbers 0 .. count-1 without replacement, ascending.
std::vector<std::uint32_t> pick(std::size_t count, std::size_t wanted, Random &random);

// Which rows count in the values of a round's trees: all, or each with the same probability, by its number alone.
class Bag {
  public:
    Bag() = default;
    Bag(std::uint64_t noise, double share) : noise_(noise), share_(share) {}
    std::uint64_t noise() const { return noise_; }
    double share() const { return share_; }
    bool is_all() const { return share_ >= 1; }
    bool has(std::uint64_t row) const {
        return is_all() || static_cast<double>(mixed(noise_ ^ mixed(row)) >> 11) * 0x1.0p-53 < share_;
    }

  private:
    std::uint64_t noise_ = 0;
    double share_ = 1;
};

// The numbers that a node of a round's trees adds up: gradients, Hessians and rows.
constexpr std::size_t sum_width = 3;

class Rounds {
  public:
    static constexpr std::size_t rounds_a_sample = 8;

    // `trees` were grown before, so that a fit taken up again draws what the undisturbed one would have drawn.
    Rounds(std::size_t rows, std::size_t trees, const BoostOptions &options);

    const BoostOptions &options() const { return options_; }
    std::size_t rows() const { return rows_; }
    std::size_t outputs() const { return options_.objective.outputs; }
    std::size_t next_tree() const { return tree_; }
    const Forest &forest() const { return forest_; }
    // Whether there are more rows than decide a tree's planes.
    bool are_sampled() const { return options_.bag_of(rows_) > options_.max_rows_per_tree; }
    // Trees that were grown before: their directions are among the first candidates.
    void recall(const Forest &before);

    // The rows whose derivatives before any tree `begin` is told, and those that decide the next round's planes: the
    // same for a few rounds, because their features cost more to fetch than anything else.
    std::vector<std::uint32_t> start_rows() const;
    std::vector<std::uint32_t> sample_rows() const;
    std::size_t sample_number() const { return tree_ / outputs() / rounds_a_sample; }
    Bag bag() const;

    // The Hessian before any tree, also of an earlier fit, rows x outputs.
    void begin(const double *hessian, const double *weight, std::size_t rows);

    // How much Hessian is left, by weight, of what there was before the first tree. Regularisation shrinks with it:
    // where rows have become certain it would hold the scores back for good. `hessian` is of one output.
    double certainty_left(std::size_t tree, const double *hessian, std::size_t count, double total_weight) const;

    // How the next trees are grown: `tree` counts those of the round. Draws from `random` what it needs.
    GrowOptions grow_options(std::size_t tree, const Matrix &matrix, Random &random) const;
    Random random_of(std::size_t tree) const { return Random(options_.seed, tree_ + tree); }

    // The trees of the next round by a sample of rows with their derivatives (rows x outputs) and weights. Their values
    // are not yet those of all rows.
    Forest grow(const Matrix &sample, const double *gradient, const double *hessian, const double *weight,
                Threads &threads, const std::function<bool()> &stop);
    // Newton steps from the sums of all rows, by the node in which they end (nodes x sum_width), on the grid of these
    // sizes (by tree).
    void set_values(std::vector<std::int64_t> sums, const std::vector<GradientSizes> &sizes, Forest &trees) const;
    // The values as scores are moved by them: constraints, learning rate, what prediction will add.
    void finish(Forest &trees) const;
    void keep(const Forest &trees);

    // Regularisation of the trees that were grown last.
    struct Strength {
        double lambda = 0, smoothing = 0;
    };

  private:
    Forest grow_one(std::size_t tree, const Matrix &sample, Gradients &statistics, const double *hessian,
                    double total_weight, Threads &threads, const std::function<bool()> &stop);
    static void remember(const Forest &tree, Directions &known);
    // Where the directions of a tree are kept: those of a round's output, by view.
    std::size_t place_of(std::size_t tree) const { return tree % known_.size(); }

    std::size_t rows_;
    BoostOptions options_;
    std::size_t tree_;
    std::vector<Directions> known_;   // by view and output
    std::vector<double> first_;       // by tree of a round: the summed Hessian before the first one
    double first_weight_ = 1;         // of the same rows
    std::vector<Strength> strength_;  // by tree of the round
    Forest forest_;
};

}  // namespace planewise
