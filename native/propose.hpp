// Which directions a node tries: every offered feature alone, then random sparse combinations of the better ones.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "directions.hpp"
#include "interactions.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace planewise {

struct DrawRound {
    int subspace_size;  // D0: maximum number of terms of a direction
    double coef_decay;  // alpha: the bound of a coefficient is max(least, floor(A exp(-alpha rank)))
    double rank_decay;  // beta: a feature is drawn with probability ~ exp(-beta rank)
};

// Which features alone are candidates: every one offered, those of the node's subspace, or none. Categories always are.
enum class Axes { all, subspace, none };

struct DrawOptions {
    int n_projections = 0;        // p: directions a round
    int rows_per_projection = 0;  // small nodes draw no more than one direction for so many rows; 0: all
    int max_coef = 5;             // A
    int min_coef = 1;             // the least bound of a coefficient: with 0, features of low rank fade out (eq. 21)
    Axes axes = Axes::all;
    bool shared_subspace =
        false;  // as in the paper: one subspace per node and round; else every direction draws its own
    std::vector<DrawRound> rounds;
};

// So many directions are remembered from one tree to the next.
constexpr std::uint32_t most_known = 64;

// Features in the order of their rank, best first.
using Ranking = std::vector<std::int32_t>;

class Proposer {
  public:
    explicit Proposer(const Matrix &matrix) : matrix_(matrix) {}

    static void add_axis(const Matrix &matrix, std::int32_t feature, Directions &out) {
        out.add_term(feature, 1, matrix.scale[static_cast<std::size_t>(feature)]);
        out.close();
    }
    // Appends directions of two or more terms, none twice; single terms are the axis candidates already tried.
    // When `known` is full, a third of them is recalled from it, half of those with one term changed. `path` says which
    // of the ranked features, each of them allowed alone, a direction may have together.
    void draw(const Ranking &ranked, const DrawOptions &options, Random &random, Directions &out,
              const Directions *known = nullptr, const Path &path = {});
    // S0: the features of the last draw's shared subspaces that may have a coefficient, each once.
    const Ranking &subspace() const { return subspace_; }

  private:
    struct Term {
        std::int32_t feature, coefficient;
    };
    void draw_round(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, Random &random,
                    const Directions *known, const Path &path, Directions &out);
    // One direction of two up to `most` terms.
    void draw_terms(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, std::size_t most,
                    Random &random);
    void add_terms(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, Random &random);
    // The same where features may meet in groups only.
    void draw_round_in_groups(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, Random &random,
                              const Directions *known, const Path &path, Directions &out);
    void find_companies(const Ranking &ranked, const Path &path);
    const Ranking &draw_company(const Ranking &ranked, const DrawRound &round, const Path &path, Random &random);
    const Ranking &company_of(std::int32_t feature, const Path &path, Random &random);
    void keep_subspace(const Ranking &ranked, const DrawOptions &options, const DrawRound &round);
    void choose_ranks(std::size_t count, std::size_t available, double rank_decay, Random &random);
    void enumerate(const Ranking &ranked, const std::vector<int> &bounds, Directions &out);
    // Puts a known direction into terms_; nothing if the node may not use all of its features.
    void recall(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, const Directions &known,
                const Path &path, Random &random);
    bool may_meet(const Path &path);  // the features of terms_
    void keep(Directions &out);       // takes terms_ unless it is one term, or known

    const Matrix &matrix_;
    std::vector<std::size_t> ranks_;
    std::vector<Term> terms_;
    std::vector<std::uint64_t> known_;
    std::vector<double> keys_;
    Ranking subspace_;
    std::vector<char> usable_;                 // by feature
    Ranking eligible_, company_;               // features that may meet others, and those of one draw
    std::map<std::int32_t, Ranking> members_;  // of groups with two features or more, as they are ranked
    std::vector<std::int32_t> columns_;
};

}  // namespace planewise
