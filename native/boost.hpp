// Second-order boosting in one place: derivatives, one tree per output, scores moved by the leaves the rows landed in;
// again. Many rows are asked as rows in parts are (`BoostRows`); few take part in every decision, and some of their
// trees are trials of depth and smoothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "boost_rows.hpp"
#include "grow.hpp"
#include "objectives.hpp"
#include "rounds.hpp"
#include "set_aside.hpp"
#include "tree_trials.hpp"

namespace planewise {

class Booster {
  public:
    // `target` is rows x targets of the objective; like `weight` it must outlive this. `score` is where boosting starts
    // (rows x outputs); `trees` is how many were grown before, so that a fit taken up again draws what the undisturbed
    // one would have drawn.
    Booster(const Matrix &matrix, const double *target, const double *weight, std::vector<double> score,
            std::size_t trees, const BoostOptions &options);

    // One round with the built-in loss.
    void round(Threads &threads, const std::function<bool()> &stop);
    // One round with the caller's derivatives, rows x outputs.
    void round_with(const double *gradient, const double *hessian, Threads &threads, const std::function<bool()> &stop);

    // One more set of rows that are not learned from, but whose scores follow; sets are numbered as they come.
    void watch(const Matrix &matrix, const double *target, const double *weight, std::vector<double> score);
    std::size_t watched_sets() const { return watched_.size(); }
    double watched_loss(std::size_t set, Threads &threads) const { return watched_.at(set).mean_loss(threads); }
    const std::vector<double> &watched_score(std::size_t set) const { return watched_.at(set).score(); }

    // Where scores were before any tree, also of an earlier fit: rows x outputs, or outputs that are `same` for all
    // rows. Or the caller's Hessian there.
    void begin_at(const double *score, bool same, Threads &threads);
    void begin_with(const double *hessian);

    // Trees that were grown before: their directions are among the first candidates.
    void recall(const Forest &before) { rounds_.recall(before); }

    // What the trials have found so far, by output: for a fit that continues from this one.
    const std::vector<TreeTrials> &trials() const { return trials_; }
    void set_trials(std::size_t output, const TreeTrials::Losses &losses) { trials_.at(output).set_losses(losses); }
    // Scores of the rows without their own part in them (rows x outputs); empty where nothing is searched.
    const std::vector<double> &left_out() const { return left_out_; }
    void set_left_out(std::vector<double> score) { left_out_ = std::move(score); }

    double mean_loss(Threads &threads) const { return rows_.mean_loss(threads); }
    const std::vector<double> &score() const { return rows_.score(); }
    const Forest &forest() const { return rounds_.forest(); }
    std::size_t outputs() const { return rounds_.outputs(); }

  private:
    // Of one output, or of all (rows x outputs); left_out: at the scores `left_out_`, in a trial.
    struct Derivatives {
        const double *gradient = nullptr, *hessian = nullptr;
        const double *left_out_gradient = nullptr, *left_out_hessian = nullptr;
    };
    // A new tree, and the regularisation of its leaves.
    struct Update {
        Grown<Gradients> grown;
        double lambda = 0, smoothing = 0;
    };
    void grow_round(const double *gradient, const double *hessian, Threads &threads, const std::function<bool()> &stop);
    void grow_sampled_round(Threads &threads, const std::function<bool()> &stop);
    std::vector<Derivatives> split(const Derivatives &all, std::size_t first, std::size_t some, Threads &threads);
    void grow_some(std::size_t first, std::size_t last, const Derivatives &all, Forest &round, Threads &threads,
                   const std::function<bool()> &stop);
    Update grow_one(std::size_t output, Gradients &statistics, const Derivatives &derivatives, Threads &threads,
                    const std::function<bool()> &stop);
    void move_scores(std::size_t first, const Update *update, const Derivatives *derivatives, std::size_t some,
                     Threads &threads);
    void set_aside();
    void keep(Forest &trees, Threads &threads);
    void renew_leaves(const std::vector<std::int32_t> &leaf, Forest &tree) const;
    void add_values(const Forest &tree, const std::vector<std::int32_t> &leaf, std::size_t output, std::size_t begin,
                    std::size_t end);
    Grown<Gradients> grow_on_trial(std::size_t output, const Derivatives &derivatives,
                                   const std::vector<std::uint32_t> &rows, GrowOptions options, double share,
                                   std::uint64_t noise, Threads &threads, const std::function<bool()> &stop);
    static void cut_at(int depth, Grown<Gradients> &grown);
    std::vector<std::int64_t> node_sums(const Gradients &statistics, const std::vector<std::uint32_t> &rows,
                                        const Grown<Gradients> &grown, Threads &threads) const;
    void set_values(const Gradients &statistics, const std::vector<std::uint32_t> &rows, double smoothing,
                    Threads &threads, Grown<Gradients> &grown) const;
    void add_left_out(const Update &update, std::size_t output, const Derivatives &derivatives, std::size_t begin,
                      std::size_t end);
    // Leaves that are renewed have no smoothing; where rows abound it hardly matters.
    bool searches() const {
        return (options_.find_smoothing || options_.find_depth) && !options_.objective.renews_leaves() &&
               !rounds_.are_sampled();
    }
    bool is_trial() const { return rounds_.next_tree() / rounds_.outputs() % TreeTrials::every == 0; }

    const Matrix &matrix_;
    BoostOptions options_;
    Rounds rounds_;
    BoostRows rows_;
    double total_weight_ = 0;
    std::vector<BoostRows> watched_;
    struct {
        std::vector<std::uint32_t> rows;
        std::vector<float> values;
        std::optional<Matrix> matrix;
    } sample_;  // that decides planes, where rows abound
    std::size_t sample_number_ = 0;
    std::vector<double> gradient_, hessian_;
    std::vector<Gradients> statistics_;  // by thread
    std::vector<double> by_output_;      // derivatives of some outputs: gradient, then Hessian of each
    std::vector<TreeTrials> trials_;     // by output
    std::vector<double> one_of_;         // by row: the part of its weight that is one row; empty: not needed
    std::optional<SetAside> aside_;
    std::vector<double> left_out_, left_out_gradient_, left_out_hessian_;
};

}  // namespace planewise
