// propose.hpp and directions.hpp: which directions a node tries.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "check.hpp"
#include "propose.hpp"

using namespace planewise;

namespace {

// A matrix of which only the scales are looked at.
Matrix scales_only(std::size_t columns) {
    Matrix matrix{nullptr, 0, columns, {}, {}};
    for (std::size_t j = 0; j < columns; ++j) matrix.scale.push_back(0.5 + static_cast<double>(j));
    return matrix;
}

DrawOptions draw_options(int n_projections, int max_coef, std::vector<DrawRound> rounds, bool shared = false) {
    DrawOptions options;
    options.n_projections = n_projections;
    options.max_coef = max_coef;
    options.rounds = std::move(rounds);
    options.shared_subspace = shared;
    return options;
}

Directions draw(const Matrix &matrix, const Ranking &ranked, const DrawOptions &options, std::uint64_t seed = 1) {
    Directions out;
    Random random(seed, 0);
    Proposer(matrix).draw(ranked, options, random, out);
    return out;
}

using Vector = std::vector<std::pair<int, int>>;  // (feature, coefficient)

Vector terms_of(const Directions &from, std::size_t d) {
    Vector out;
    for (std::uint32_t t = from.begin(d); t < from.end(d); ++t) out.push_back({from.feature[t], from.coefficient[t]});
    return out;
}

// A last feature first: ranks and columns must not be confused.
Ranking backwards(std::size_t columns) {
    Ranking ranked(columns);
    std::iota(ranked.rbegin(), ranked.rend(), 0);
    return ranked;
}

struct Laws {
    bool several_terms = true, ascending = true, reduced = true, positive_first = true, no_repeats = true,
         weights_fit = true;
};

Laws laws_of(const Matrix &matrix, const Directions &drawn) {
    Laws laws;
    std::set<Vector> seen;
    for (std::size_t d = 0; d < drawn.size(); ++d) {
        const Vector terms = terms_of(drawn, d);
        int divisor = 0;
        for (std::size_t t = 0; t < terms.size(); ++t) {
            divisor = std::gcd(divisor, terms[t].second);
            if (t > 0 && terms[t].first <= terms[t - 1].first) laws.ascending = false;
            const double scale = matrix.scale[static_cast<std::size_t>(terms[t].first)];
            if (drawn.weight[drawn.begin(d) + t] != static_cast<float>(terms[t].second / scale))
                laws.weights_fit = false;
        }
        if (terms.size() < 2) laws.several_terms = false;
        if (divisor != 1) laws.reduced = false;
        if (terms[0].second <= 0) laws.positive_first = false;
        if (!seen.insert(terms).second) laws.no_repeats = false;
    }
    return laws;
}

void check_laws(const Matrix &matrix, const Directions &drawn) {
    const Laws laws = laws_of(matrix, drawn);
    CHECK(laws.several_terms);
    CHECK(laws.ascending);
    CHECK(laws.reduced);
    CHECK(laws.positive_first);
    CHECK(laws.no_repeats);
    CHECK(laws.weights_fit);
}

// How often each rank is among the terms of one drawn direction, over many draws of one.
std::vector<double> rank_frequency(std::size_t columns, const DrawRound &round, int draws) {
    const Matrix matrix = scales_only(columns);
    const Ranking ranked = backwards(columns);
    std::vector<double> frequency(columns, 0.0);
    double total = 0;
    Proposer proposer(matrix);
    for (int k = 0; k < draws; ++k) {
        Directions out;
        Random random(static_cast<std::uint64_t>(k), 5);
        proposer.draw(ranked, draw_options(1, 9, {round}), random, out);
        for (std::int32_t feature : out.feature)
            frequency[columns - 1 - static_cast<std::size_t>(feature)] += 1, total += 1;
    }
    for (double &f : frequency) f /= total;
    return frequency;
}

}  // namespace

TEST("directions keep their terms flat, and weights are coefficients by scale") {
    Directions directions;
    CHECK(directions.size() == 0);
    directions.add_term(3, 2, 4.0);
    directions.close();
    directions.add_term(0, 1, 0.5);
    directions.add_term(7, -3, 1.0);
    directions.close();
    CHECK(directions.size() == 2);
    CHECK(directions.terms(0) == 1 && directions.terms(1) == 2);
    CHECK(directions.begin(1) == 1 && directions.end(1) == 3);
    CHECK(directions.weight[0] == 0.5f && directions.weight[1] == 2.0f && directions.weight[2] == -3.0f);
    directions.clear();
    CHECK(directions.size() == 0 && directions.feature.empty() && directions.weight.empty());
    directions.add_term(1, 1, 1.0);
    directions.close();
    CHECK(directions.size() == 1 && directions.begin(0) == 0);
}

TEST("an axis candidate is its feature alone, in units of its scale") {
    const Matrix matrix = scales_only(4);
    Directions out;
    Proposer::add_axis(matrix, 2, out);
    CHECK(out.size() == 1 && out.terms(0) == 1);
    CHECK(out.feature[0] == 2 && out.coefficient[0] == 1 && out.weight[0] == static_cast<float>(1 / 2.5));
}

TEST("drawn directions have several terms, are reduced, begin positive and never repeat") {
    for (bool shared : {false, true})
        for (std::size_t columns : {2u, 3u, 5u, 30u})
            for (int terms : {2, 3, 5, 20})
                for (double rank_decay : {0.0, 0.1, 1.0, 3.0, 1e6}) {
                    if (terms > 5 && rank_decay == 1.0) continue;  // sixteen distinct ranks out of a few likely ones
                    const Matrix matrix = scales_only(columns);
                    const auto options = draw_options(50, 5, {{terms, 0.2, rank_decay}, {2, 0.0, rank_decay}}, shared);
                    const Directions drawn = draw(matrix, backwards(columns), options);
                    check_laws(matrix, drawn);
                    CHECK(drawn.size() <= 100);
                    std::size_t most = 0;
                    for (std::size_t d = 0; d < drawn.size(); ++d) most = std::max(most, drawn.terms(d));
                    CHECK(most <= static_cast<std::size_t>(std::max(terms, 2)) && most <= columns);
                }
}

TEST("coefficients are bounded by their feature's rank") {
    const std::size_t columns = 8;
    const Matrix matrix = scales_only(columns);
    const double decay = 0.4;
    const int most = 9;
    std::vector<int> largest(columns, 0);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Directions drawn =
            draw(matrix, backwards(columns), draw_options(200, most, {{3, decay, 0.0}, {8, decay, 0.0}}), seed);
        for (std::size_t t = 0; t < drawn.feature.size(); ++t) {
            int &here = largest[columns - 1 - static_cast<std::size_t>(drawn.feature[t])];
            here = std::max(here, std::abs(drawn.coefficient[t]));
        }
    }
    for (std::size_t rank = 0; rank < columns; ++rank)
        CHECK(largest[rank] == std::max(1, static_cast<int>(most * std::exp(-decay * static_cast<double>(rank)))));
}

TEST("a small space is enumerated") {
    const Matrix matrix = scales_only(3);
    // Two features, coefficients up to 2: (1,±1) (1,±2) (2,±1).
    for (bool shared : {false, true}) {
        const Directions two = draw(matrix, {2, 0}, draw_options(13, 2, {{2, 0.0, 0.1}}, shared));
        check_laws(matrix, two);
        CHECK(two.size() == 6);
        // Three features, coefficients up to 1: 13 vectors up to sign, three of them axes.
        const Directions three = draw(matrix, {1, 2, 0}, draw_options(14, 1, {{3, 0.0, 0.1}}, shared));
        check_laws(matrix, three);
        CHECK(three.size() == 10);
    }
    // The same space twice, or by drawing as often as one likes, gives no more.
    const Directions twice = draw(matrix, {2, 0}, draw_options(13, 2, {{2, 0.0, 0.1}, {2, 0.0, 0.5}}));
    check_laws(matrix, twice);
    CHECK(twice.size() == 6);
    const Directions mixed = draw(matrix, {2, 0}, draw_options(12, 2, {{2, 0.0, 0.1}}));
    check_laws(matrix, mixed);
    CHECK(mixed.size() <= 6);
}

TEST("the largest space still enumerated fits the table of known directions") {
    const Matrix matrix = scales_only(2);
    const int bound = 40, space = (2 * bound + 1) * (2 * bound + 1);
    const Directions all = draw(matrix, {0, 1}, draw_options((space + 1) / 2, bound, {{2, 0.0, 0.0}}));
    std::size_t expected = 0;
    for (int a = 1; a <= bound; ++a)
        for (int b = 1; b <= bound; ++b) expected += 2 * (std::gcd(a, b) == 1);
    CHECK(all.size() == expected);
    check_laws(matrix, all);
}

TEST("nothing is drawn where there is nothing to combine") {
    const Matrix matrix = scales_only(5);
    CHECK(draw(matrix, {}, draw_options(50, 5, {{3, 0.0, 0.1}})).size() == 0);
    CHECK(draw(matrix, {3}, draw_options(50, 5, {{3, 0.0, 0.1}})).size() == 0);
    CHECK(draw(matrix, {3, 1, 2}, draw_options(0, 5, {{3, 0.0, 0.1}})).size() == 0);
    CHECK(draw(matrix, {3, 1, 2}, draw_options(50, 5, {{1, 0.0, 0.1}})).size() == 0);
    CHECK(draw(matrix, {3, 1, 2}, draw_options(50, 5, {})).size() == 0);
}

TEST("drawing appends, and only ranked features take part") {
    const Matrix matrix = scales_only(9);
    Directions out;
    Proposer::add_axis(matrix, 4, out);
    Random random(1, 2);
    Proposer(matrix).draw({8, 1, 5, 3}, draw_options(40, 3, {{3, 0.0, 0.0}}), random, out);
    CHECK(out.size() > 10 && out.terms(0) == 1 && out.feature[0] == 4);
    CHECK(std::all_of(out.feature.begin() + 1, out.feature.end(),
                      [](int feature) { return feature == 8 || feature == 1 || feature == 5 || feature == 3; }));
}

TEST("a shared subspace offers the same features to all directions of a round") {
    const Matrix matrix = scales_only(30);
    const Directions drawn = draw(matrix, backwards(30), draw_options(100, 5, {{4, 0.0, 0.05}}, true));
    CHECK(drawn.size() > 50);
    CHECK(std::set<int>(drawn.feature.begin(), drawn.feature.end()).size() == 4);
    const Directions own = draw(matrix, backwards(30), draw_options(100, 5, {{4, 0.0, 0.05}}, false));
    CHECK(std::set<int>(own.feature.begin(), own.feature.end()).size() > 10);
}

TEST("the same seed draws the same directions, another seed others") {
    const Matrix matrix = scales_only(20);
    const auto options = draw_options(100, 5, {{3, 0.1, 0.1}});
    const Directions one = draw(matrix, backwards(20), options, 7), again = draw(matrix, backwards(20), options, 7),
                     other = draw(matrix, backwards(20), options, 8);
    CHECK(one.feature == again.feature && one.coefficient == again.coefficient && one.start == again.start);
    CHECK(one.feature != other.feature);
}

TEST("without decay every rank is as likely; a large decay leaves the first two") {
    const std::vector<double> flat = rank_frequency(10, {2, 0.0, 0.0}, 20000);
    CHECK(*std::min_element(flat.begin(), flat.end()) > 0.09 && *std::max_element(flat.begin(), flat.end()) < 0.11);
    for (double large : {40.0, 1e6, 1e300}) {
        const std::vector<double> steep = rank_frequency(10, {2, 0.0, large}, 500);
        CHECK(steep[0] + steep[1] > 0.999);
    }
}

TEST("a decay favours lower ranks, whichever way ranks are drawn") {
    // Up to a decay of 1 ranks are drawn one by one, above it all at once: the frequencies must meet.
    const std::vector<double> one_by_one = rank_frequency(12, {2, 0.0, 1.0}, 40000),
                              at_once = rank_frequency(12, {2, 0.0, 1.0000001}, 40000);
    for (std::size_t rank = 0; rank < 12; ++rank) CHECK(std::fabs(one_by_one[rank] - at_once[rank]) < 0.012);
    for (std::size_t rank = 1; rank < 6; ++rank) CHECK(one_by_one[rank] < one_by_one[rank - 1]);
    // The first of two is drawn with probability ~ exp(-beta rank), the second among those left (eq. in 1.1, step 2).
    double total = 0;
    std::vector<double> p(12), expected(12, 0.0);
    for (std::size_t r = 0; r < 12; ++r) p[r] = std::exp(-static_cast<double>(r)), total += p[r];
    for (double &each : p) each /= total;
    for (std::size_t a = 0; a < 12; ++a)
        for (std::size_t b = 0; b < 12; ++b)
            if (a != b) expected[a] += 0.5 * p[a] * p[b] / (1 - p[a]), expected[b] += 0.5 * p[a] * p[b] / (1 - p[a]);
    for (std::size_t rank = 0; rank < 12; ++rank) CHECK(std::fabs(one_by_one[rank] - expected[rank]) < 0.01);
}

TEST("coefficients may fade out: with a least bound of zero, features of low rank are left out") {
    const Matrix matrix = scales_only(20);
    auto options = draw_options(2000, 4, {{6, 0.5, 0.0}});
    options.min_coef = 0;  // 4 exp(-0.5 rank) is below one from the third rank on
    const Directions drawn = draw(matrix, backwards(20), options);
    CHECK(drawn.size() > 20);
    for (std::int32_t feature : drawn.feature) CHECK(feature >= 17);  // ranks 0, 1 and 2 are the last features
    options.min_coef = 1;
    const Directions all = draw(matrix, backwards(20), options);
    CHECK(*std::min_element(all.feature.begin(), all.feature.end()) == 0);
}

TEST("the subspace of a draw is that of its directions, without features that faded out") {
    const Matrix matrix = scales_only(20);
    auto options = draw_options(200, 5, {{4, 0.0, 0.05}}, true);
    options.axes = Axes::subspace;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Directions out;
        Random random(seed, 0);
        Proposer proposer(matrix);
        proposer.draw(backwards(20), options, random, out);
        const std::set<int> drawn(out.feature.begin(), out.feature.end()),
            kept(proposer.subspace().begin(), proposer.subspace().end());
        CHECK(proposer.subspace().size() == 4 && drawn == kept);
    }
    options.rounds = {{4, 40.0, 0.0}};
    options.min_coef = 0;  // all but the very first rank
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Directions out;
        Random random(seed, 0);
        Proposer proposer(matrix);
        proposer.draw(backwards(20), options, random, out);
        CHECK(out.size() == 0 && proposer.subspace().size() == 1);
    }
}
