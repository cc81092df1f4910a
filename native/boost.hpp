// Second-order boosting: derivatives, one tree per output, scores moved by the leaves the rows landed in; again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "grow.hpp"
#include "objectives.hpp"
#include "set_aside.hpp"
#include "tree_trials.hpp"

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
    bool find_smoothing = false;  // by trials on rows set aside, rather than grow.smoothing
    bool find_depth = false;      // likewise, rather than grow.max_depth
    bool vector_leaves = false;   // one tree per round, its leaves hold a value for every output
};

class Booster {
  public:
    // `target` is rows x targets of the objective; `score` is where boosting starts (rows x outputs); `trees` is how
    // many were grown before, so that a fit taken up again draws what the undisturbed one would have drawn.
    Booster(const Matrix &matrix, std::vector<double> target, std::vector<double> weight, std::vector<double> score,
            std::size_t trees, const BoostOptions &options);

    // One round with the built-in loss.
    void round(Threads &threads, const std::function<bool()> &stop);
    // One round with the caller's derivatives, rows x outputs.
    void round_with(const double *gradient, const double *hessian, Threads &threads, const std::function<bool()> &stop);

    // One more set of rows that are not learned from, but whose scores follow; sets are numbered as they come.
    void watch(const Matrix &matrix, std::vector<double> target, std::vector<double> weight, std::vector<double> score);
    std::size_t watched_sets() const { return watched_.size(); }
    double watched_loss(std::size_t set) const;
    const std::vector<double> &watched_score(std::size_t set) const { return watched_.at(set).score; }

    // Where scores were before any tree, also of an earlier fit (rows x outputs), or the caller's Hessian there.
    void begin_at(const std::vector<double> &score, Threads &threads);
    void begin_with(const double *hessian);

    // Trees that were grown before: their directions are among the first candidates.
    void recall(const Forest &before) {
        for (std::size_t tree = 0; tree < before.trees(); ++tree)
            remember(before.part(tree, tree + 1), known_[tree % trees_a_round()]);
    }

    // What the trials have found so far, by output: for a fit that continues from this one.
    const std::vector<TreeTrials> &trials() const { return trials_; }
    void set_trials(std::size_t output, const TreeTrials::Losses &losses) { trials_.at(output).set_losses(losses); }
    // Scores of the rows without their own part in them (rows x outputs); empty where nothing is searched.
    const std::vector<double> &left_out() const { return left_out_; }
    void set_left_out(std::vector<double> score) { left_out_ = std::move(score); }

    double mean_loss() const;
    const std::vector<double> &score() const { return score_; }
    const Forest &forest() const { return forest_; }
    std::size_t outputs() const { return options_.objective.outputs; }

  private:
    double certainty_left(std::size_t output, const double *hessian) const;
    void find_units();
    // Of one output, or of all (rows x outputs); left_out: at the scores `left_out_`, in a trial.
    struct Derivatives {
        const double *gradient = nullptr, *hessian = nullptr;
        const double *left_out_gradient = nullptr, *left_out_hessian = nullptr;
        const double *units = nullptr;  // by output, what gradients were divided by; none: nothing
    };
    // A new tree, and the regularisation of its leaves.
    template <class S>
    struct Update {
        Grown<S> grown;
        double lambda = 0, smoothing = 0;
    };
    void grow_round(const double *gradient, const double *hessian, const double *units, Threads &threads,
                    const std::function<bool()> &stop);
    std::vector<Derivatives> split(const Derivatives &all, std::size_t first, std::size_t some, Threads &threads);
    void grow_some(std::size_t first, std::size_t last, const Derivatives &all, Threads &threads,
                   const std::function<bool()> &stop);
    template <class S>
    Update<S> grow_one(std::size_t output, std::size_t number, S &statistics, const Derivatives &derivatives,
                       Threads &threads, const std::function<bool()> &stop);
    template <class S>
    void move_scores(std::size_t first, const Update<S> *update, const Derivatives *derivatives, std::size_t some,
                     Threads &threads);
    void set_aside();
    void keep(Forest &tree, std::size_t output);
    void renew_leaves(const std::vector<std::int32_t> &leaf, std::size_t output, Forest &tree) const;
    static void remember(const Forest &tree, Directions &known);
    static std::vector<std::uint32_t> draw_rows(const std::uint32_t *named, std::size_t count, std::size_t wanted,
                                                Random &random);
    void add_values(const Forest &tree, const std::vector<std::int32_t> &leaf, std::size_t output, std::size_t begin,
                    std::size_t end, std::vector<double> &score) const;
    template <class S>
    Grown<S> grow_on_trial(std::size_t output, const Derivatives &derivatives, const std::vector<std::uint32_t> &rows,
                           GrowOptions options, double share, std::uint64_t noise, Threads &threads,
                           const std::function<bool()> &stop);
    template <class S>
    static void cut_at(int depth, Grown<S> &grown);
    template <class S>
    std::vector<std::int64_t> node_sums(const S &statistics, const std::vector<std::uint32_t> &rows,
                                        const Grown<S> &grown, Threads &threads) const;
    template <class S>
    void set_values(const S &statistics, const std::vector<std::uint32_t> &rows, double smoothing, Threads &threads,
                    Grown<S> &grown) const;
    template <class S>
    void add_left_out(const Update<S> &update, std::size_t output, const Derivatives &derivatives, std::size_t begin,
                      std::size_t end);
    // Leaves that are renewed have no smoothing; where rows abound it hardly matters.
    bool searches() const {
        return (options_.find_smoothing || options_.find_depth) && !options_.objective.renews_leaves() &&
               options_.subsample * static_cast<double>(matrix_.rows) <=
                   static_cast<double>(options_.max_rows_per_tree);
    }
    bool is_trial(std::size_t number) const { return number / trees_a_round() % TreeTrials::every == 0; }
    std::size_t trees_a_round() const { return options_.vector_leaves ? 1 : outputs(); }
    std::vector<std::int32_t> draw_columns(Random &random) const;

    struct Watched {
        const Matrix *matrix = nullptr;
        std::vector<double> target, weight, score;
    };

    const Matrix &matrix_;
    BoostOptions options_;
    std::vector<Watched> watched_;
    std::vector<double> target_, weight_, score_, gradient_, hessian_;
    std::vector<Gradients> statistics_;  // by thread
    std::vector<double> by_output_;      // derivatives of some outputs: gradient, then Hessian of each
    VectorGradients vectors_;
    std::size_t tree_;
    std::vector<Directions> known_;   // by output
    std::vector<TreeTrials> trials_;  // by output
    std::vector<double> one_of_;      // by row: the part of its weight that is one row
    std::optional<SetAside> aside_;
    std::vector<double> left_out_, left_out_gradient_, left_out_hessian_;
    std::vector<double> first_;  // by tree of a round: the summed Hessian before the first one
    std::vector<double> units_;  // of gradients, by output, where leaves hold values for all; empty: none
    Forest forest_;
};

}  // namespace planewise
