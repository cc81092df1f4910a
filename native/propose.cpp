#include "propose.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace planewise {

namespace {

int coefficient_bound(const DrawOptions &options, double coef_decay, std::size_t rank) {
    return std::max(options.min_coef,
                    static_cast<int>(std::floor(options.max_coef * std::exp(-coef_decay * static_cast<double>(rank)))));
}

}  // namespace

void Proposer::draw(const Ranking &ranked, const DrawOptions &options, Random &random, Directions &out,
                    const Directions *known, const Path &path) {
    subspace_.clear();
    if (ranked.size() < 2) {
        subspace_ = ranked;
        return;
    }
    std::size_t capacity = 64;
    // An enumerated round has at most 2p vectors, half of them mirror images: the table never fills.
    while (capacity < 4 * options.rounds.size() * static_cast<std::size_t>(options.n_projections)) capacity *= 2;
    known_.assign(capacity, 0);
    if (known != nullptr) {
        usable_.assign(matrix_.columns, 0);
        for (std::int32_t feature : ranked) usable_[static_cast<std::size_t>(feature)] = 1;
    }
    const bool in_groups = !path.allows(ranked.data(), ranked.size());
    if (in_groups) find_companies(ranked, path);
    for (const DrawRound &round : options.rounds)
        in_groups ? draw_round_in_groups(ranked, options, round, random, known, path, out)
                  : draw_round(ranked, options, round, random, known, path, out);
}

void Proposer::draw_round(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, Random &random,
                          const Directions *known, const Path &path, Directions &out) {
    const std::size_t most = std::min<std::size_t>(static_cast<std::size_t>(round.subspace_size), ranked.size());
    if (most < 2 && !(options.shared_subspace && options.axes == Axes::subspace)) return;
    const bool fixed = options.shared_subspace || most == ranked.size();
    if (fixed) {
        choose_ranks(most, ranked.size(), round.rank_decay, random);
        std::sort(ranks_.begin(), ranks_.end());
        if (options.axes == Axes::subspace) keep_subspace(ranked, options, round);
        if (most < 2) return;
        std::vector<int> bounds;
        double space = 1;
        for (std::size_t rank : ranks_) {
            bounds.push_back(coefficient_bound(options, round.coef_decay, rank));
            space *= 2 * bounds.back() + 1;
        }
        if (space / 2 <= options.n_projections) return enumerate(ranked, bounds, out);
    }
    const std::vector<std::size_t> chosen = ranks_;
    for (int trial = 0; trial < options.n_projections; ++trial) {
        if (known != nullptr && random.below(3 * most_known) < known->size()) {
            recall(ranked, options, round, *known, path, random);
            // Where features may not all meet, most that is known is of no use here: better a new one than none.
            if (!path.is_limited() || !terms_.empty()) {
                keep(out);
                continue;
            }
        }
        if (fixed) {
            if (path.is_limited()) ranks_ = chosen;  // `recall` may have drawn another
            add_terms(ranked, options, round, random);
        } else
            draw_terms(ranked, options, round, most, random);
        keep(out);
    }
}

// The features of the ranks chosen. One whose bound is zero has faded out; if all have, the best of them stays.
void Proposer::keep_subspace(const Ranking &ranked, const DrawOptions &options, const DrawRound &round) {
    for (std::size_t rank : ranks_) {
        if (rank != ranks_[0] && coefficient_bound(options, round.coef_decay, rank) == 0) break;  // bounds only fall
        if (std::find(subspace_.begin(), subspace_.end(), ranked[rank]) == subspace_.end())
            subspace_.push_back(ranked[rank]);
    }
}

void Proposer::draw_terms(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, std::size_t most,
                          Random &random) {
    const std::size_t count = 2 + random.below(static_cast<std::uint32_t>(most - 1));
    choose_ranks(count, ranked.size(), round.rank_decay, random);
    add_terms(ranked, options, round, random);
}

// Coefficients for the ranks chosen.
void Proposer::add_terms(const Ranking &ranked, const DrawOptions &options, const DrawRound &round, Random &random) {
    terms_.clear();
    for (std::size_t rank : ranks_) {
        const int bound = coefficient_bound(options, round.coef_decay, rank);
        const int a = static_cast<int>(random.below(static_cast<std::uint32_t>(2 * bound + 1))) - bound;
        if (a != 0) terms_.push_back({ranked[rank], a});
    }
}

void Proposer::draw_round_in_groups(const Ranking &ranked, const DrawOptions &options, const DrawRound &round,
                                    Random &random, const Directions *known, const Path &path, Directions &out) {
    if (options.shared_subspace && options.axes == Axes::subspace && path.rules().size() > 0) {
        // The company of any feature, also of one that may meet no other: it is then the whole subspace.
        choose_ranks(1, ranked.size(), round.rank_decay, random);
        const std::int32_t first = ranked[ranks_[0]];
        if (std::find(eligible_.begin(), eligible_.end(), first) == eligible_.end())
            return keep_subspace(ranked, options, round);
        const Ranking company = company_of(first, path, random);
        return draw_round(company, options, round, random, known, path, out);
    }
    if ((round.subspace_size < 2 && options.axes != Axes::subspace) || eligible_.empty()) return;
    if (options.shared_subspace) {
        const Ranking company = draw_company(ranked, round, path, random);
        return draw_round(company, options, round, random, known, path, out);
    }
    for (int trial = 0; trial < options.n_projections; ++trial) {
        terms_.clear();
        if (known != nullptr && random.below(3 * most_known) < known->size())
            recall(eligible_, options, round, *known, path, random);
        if (terms_.empty()) {
            const Ranking &company = draw_company(ranked, round, path, random);
            if (company.size() < 2) continue;
            const std::size_t most = std::min(static_cast<std::size_t>(round.subspace_size), company.size());
            draw_terms(company, options, round, most, random);
        }
        keep(out);
    }
}

// Which features may meet another, and the members of each group that has two of them.
void Proposer::find_companies(const Ranking &ranked, const Path &path) {
    members_.clear();
    eligible_.clear();
    if (path.rules().size() == 0) {  // a number of features that may meet: those used before are in every company
        for (std::int32_t feature : ranked)
            if (!std::binary_search(path.sources().begin(), path.sources().end(), path.rules().source(feature)))
                eligible_.push_back(feature);
        return;
    }
    for (std::int32_t feature : ranked) {
        path.open_groups(feature, columns_);
        for (std::int32_t group : columns_) members_[group].push_back(feature);
    }
    for (auto group = members_.begin(); group != members_.end();)
        group = group->second.size() < 2 ? members_.erase(group) : std::next(group);
    for (std::int32_t feature : ranked) {
        path.open_groups(feature, columns_);
        if (std::any_of(columns_.begin(), columns_.end(), [&](std::int32_t g) { return members_.count(g) > 0; }))
            eligible_.push_back(feature);
    }
}

// Features that may meet, as they are ranked: a group of one that was drawn by its rank; or where only their number is
// limited, as many as there is room for, with those used before.
const Ranking &Proposer::draw_company(const Ranking &ranked, const DrawRound &round, const Path &path, Random &random) {
    const Interactions &rules = path.rules();
    if (rules.size() > 0) {
        choose_ranks(1, eligible_.size(), round.rank_decay, random);
        return company_of(eligible_[ranks_[0]], path, random);
    }
    choose_ranks(rules.most() - path.sources().size(), eligible_.size(), round.rank_decay, random);
    columns_ = path.sources();
    for (std::size_t rank : ranks_) columns_.push_back(rules.source(eligible_[rank]));
    company_.clear();
    for (std::int32_t feature : ranked)
        if (std::find(columns_.begin(), columns_.end(), rules.source(feature)) != columns_.end())
            company_.push_back(feature);
    return company_;
}

// One of the groups in which the feature may meet others.
const Ranking &Proposer::company_of(std::int32_t feature, const Path &path, Random &random) {
    path.open_groups(feature, columns_);
    columns_.erase(
        std::remove_if(columns_.begin(), columns_.end(), [&](std::int32_t g) { return members_.count(g) == 0; }),
        columns_.end());
    return members_[columns_[random.below(static_cast<std::uint32_t>(columns_.size()))]];
}

bool Proposer::may_meet(const Path &path) {
    if (!path.is_limited()) return true;
    columns_.clear();
    for (const Term &term : terms_) columns_.push_back(term.feature);
    return path.allows(columns_.data(), columns_.size());
}

void Proposer::recall(const Ranking &ranked, const DrawOptions &options, const DrawRound &round,
                      const Directions &known, const Path &path, Random &random) {
    const std::size_t d = random.below(static_cast<std::uint32_t>(known.size()));
    terms_.clear();
    for (std::uint32_t t = known.begin(d); t < known.end(d); ++t)
        terms_.push_back({known.feature[t], known.coefficient[t]});
    const auto usable = [&](const Term &term) { return usable_[static_cast<std::size_t>(term.feature)] != 0; };
    if (!std::all_of(terms_.begin(), terms_.end(), usable) || !may_meet(path)) return terms_.clear();
    const std::uint32_t kind = random.below(4);
    if (kind < 2) return;  // as it was
    Term &term = terms_[random.below(static_cast<std::uint32_t>(terms_.size()))];
    const auto bound = static_cast<std::uint32_t>(options.max_coef);
    if (kind == 2) {  // another coefficient
        term.coefficient = static_cast<std::int32_t>(random.below(2 * bound + 1)) - static_cast<std::int32_t>(bound);
    } else {  // another feature
        choose_ranks(1, ranked.size(), round.rank_decay, random);
        const std::int32_t other = ranked[ranks_[0]];
        for (const Term &each : terms_)
            if (each.feature == other) return;
        const std::int32_t before = term.feature;
        term.feature = other;
        if (!may_meet(path)) term.feature = before;
    }
    terms_.erase(std::remove_if(terms_.begin(), terms_.end(), [](const Term &each) { return each.coefficient == 0; }),
                 terms_.end());
}

// Without replacement, each next rank with probability ~ exp(-rank_decay * rank) among those left.
void Proposer::choose_ranks(std::size_t count, std::size_t available, double rank_decay, Random &random) {
    ranks_.clear();
    if (count >= available) {
        ranks_.resize(available);
        std::iota(ranks_.begin(), ranks_.end(), std::size_t{0});
        return;
    }
    if (2 * count > available || count > 16 ||
        rank_decay * static_cast<double>(count) > 3.0) {  // repeats would be many: largest of -beta*rank + Gumbel noise
        keys_.resize(available);
        for (std::size_t rank = 0; rank < available; ++rank)
            keys_[rank] = -rank_decay * static_cast<double>(rank) - std::log(-std::log(1.0 - random.uniform()));
        ranks_.resize(available);
        std::iota(ranks_.begin(), ranks_.end(), std::size_t{0});
        std::stable_sort(ranks_.begin(), ranks_.end(),
                         [&](std::size_t a, std::size_t b) { return keys_[a] > keys_[b]; });
        ranks_.resize(count);
        return;
    }
    // Inverse of the truncated geometric distribution; a repeat is drawn again.
    const double reach = 1.0 - std::exp(-rank_decay * static_cast<double>(available));
    while (ranks_.size() < count) {
        const double u = random.uniform();
        std::size_t rank = rank_decay * static_cast<double>(available) < 1e-9
                               ? static_cast<std::size_t>(u * static_cast<double>(available))
                               : static_cast<std::size_t>(-std::log(1.0 - u * reach) / rank_decay);
        rank = std::min(rank, available - 1);
        if (std::find(ranks_.begin(), ranks_.end(), rank) == ranks_.end()) ranks_.push_back(rank);
    }
}

void Proposer::enumerate(const Ranking &ranked, const std::vector<int> &bounds, Directions &out) {
    std::vector<int> at(bounds.size());
    for (std::size_t k = 0; k < bounds.size(); ++k) at[k] = -bounds[k];
    for (;;) {
        terms_.clear();
        for (std::size_t k = 0; k < at.size(); ++k)
            if (at[k] != 0) terms_.push_back({ranked[ranks_[k]], at[k]});
        keep(out);
        std::size_t k = 0;
        while (k < at.size() && ++at[k] > bounds[k]) at[k] = -bounds[k], ++k;
        if (k == at.size()) return;
    }
}

void Proposer::keep(Directions &out) {
    if (terms_.size() < 2) return;
    std::sort(terms_.begin(), terms_.end(), [](const Term &a, const Term &b) { return a.feature < b.feature; });
    int divisor = 0;
    for (const Term &term : terms_) divisor = std::gcd(divisor, term.coefficient);
    if (terms_[0].coefficient < 0) divisor = -divisor;
    std::uint64_t key = 0x9E3779B97F4A7C15ull;
    for (Term &term : terms_) {
        term.coefficient /= divisor;
        key = (key ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(term.feature)) << 20 ^
                      static_cast<std::uint32_t>(term.coefficient + 1024))) *
              0xBF58476D1CE4E5B9ull;
        key ^= key >> 29;
    }
    key |= 1;  // zero marks a free place
    // The low bit is always set, so the place comes from the higher ones.
    std::size_t at = (key >> 1) & (known_.size() - 1);
    while (known_[at] != 0) {
        if (known_[at] == key) return;
        at = (at + 1) & (known_.size() - 1);
    }
    known_[at] = key;
    for (const Term &term : terms_)
        out.add_term(term.feature, term.coefficient, matrix_.scale[static_cast<std::size_t>(term.feature)]);
    out.close();
}

}  // namespace planewise
