// ranking.hpp: what tied rows mean, against every order of them; LambdaMART's derivatives, against their definition.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "ranking.hpp"
#include "tables.hpp"

using namespace planewise;

namespace {

struct Query {
    std::vector<double> score, grade, query, weight;
    std::size_t rows() const { return score.size(); }
    std::vector<double> target() const {
        std::vector<double> out;
        for (std::size_t i = 0; i < rows(); ++i) out.push_back(grade[i]), out.push_back(query[i]);
        return out;
    }
    double loss(const QueryRanking &ranking) const {
        return ranking.mean_loss(score.data(), target().data(), weight.data(), rows());
    }
    void add(const Query &other) {
        for (std::size_t i = 0; i < other.rows(); ++i) {
            score.push_back(other.score[i]), grade.push_back(other.grade[i]);
            query.push_back(other.query[i]), weight.push_back(other.weight[i]);
        }
    }
};

// Scores with ties, grades from 0 to 3.
Query drawn(std::size_t rows, std::uint64_t seed, std::uint32_t different_scores) {
    Random random(seed, 5);
    Query out;
    for (std::size_t i = 0; i < rows; ++i) {
        out.score.push_back(0.3 * static_cast<double>(random.below(different_scores)));
        out.grade.push_back(random.below(4));
        out.query.push_back(static_cast<double>(seed));
        out.weight.push_back(1.5);
    }
    out.grade[0] = 3;
    return out;
}

std::vector<std::size_t> from_best(const Query &query) {
    std::vector<std::size_t> order(query.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return query.score[a] > query.score[b]; });
    return order;
}

// Calls `use` with every order of the rows that the scores allow.
template <class F>
void for_orders(const Query &query, const F &use) {
    std::vector<std::size_t> order = from_best(query);
    std::sort(order.begin(), order.end());
    do {
        bool allowed = true;
        for (std::size_t k = 1; k < order.size(); ++k) allowed &= query.score[order[k - 1]] >= query.score[order[k]];
        if (allowed) use(order);
    } while (std::next_permutation(order.begin(), order.end()));
}

double discount(std::size_t place) { return 1 / std::log2(static_cast<double>(place) + 2); }
double gain(double grade) { return std::exp2(grade) - 1; }

double dcg(const Query &query, const std::vector<std::size_t> &order, std::size_t places) {
    double sum = 0;
    for (std::size_t k = 0; k < std::min(places, order.size()); ++k) sum += gain(query.grade[order[k]]) * discount(k);
    return sum;
}

double best_dcg(const Query &query, std::size_t places) {
    Query perfect = query;
    perfect.score = query.grade;
    return dcg(perfect, from_best(perfect), places);
}

struct Derivatives {
    std::vector<double> gradient, hessian;
    Derivatives(const QueryRanking &ranking, const Query &query, int threads = 1)
        : gradient(query.rows()), hessian(query.rows()) {
        Threads pool(threads);
        ranking.derivatives(query.score.data(), query.target().data(), query.weight.data(), query.rows(),
                            gradient.data(), hessian.data(), pool);
    }
};

bool close(double a, double b) { return std::fabs(a - b) <= 1e-12 * (1 + std::fabs(a)); }

}  // namespace

TEST("the loss of tied rows is the mean over their orders") {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const std::size_t places : {0, 1, 3}) {
            const Query query = drawn(6, seed, 3);
            const std::size_t counted = places == 0 ? query.rows() : places;
            double sum = 0, orders = 0;
            for_orders(query, [&](const auto &order) { sum += dcg(query, order, counted), ++orders; });
            const double expected = 1 - sum / orders / best_dcg(query, counted);
            CHECK(close(expected, query.loss(QueryRanking{places})));
        }
}

TEST("a perfect order has no loss, and a query without grades does not count") {
    Query query = drawn(8, 1, 100);
    query.score = query.grade;
    CHECK(close(0, query.loss({})));
    Query more = drawn(6, 2, 100), nothing = drawn(3, 3, 100);
    const double alone = more.loss({});
    nothing.grade.assign(3, 0.0);
    more.add(nothing);
    CHECK(close(alone, more.loss({})));
}

TEST("a pair's derivatives are weighed by what their exchange would change, on average over orders") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Query query = drawn(6, seed, 3);
        const double best = best_dcg(query, query.rows());
        std::vector<double> gradient(6), hessian(6);
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < 6; ++j) {
                if (query.grade[i] <= query.grade[j]) continue;
                // Of rows with different scores, the means of both rows' discounts; of tied ones, how far they are
                // apart.
                double together = 0, apart = 0, orders = 0;
                for_orders(query, [&](const auto &order) {
                    const auto place = [&](std::size_t row) {
                        return static_cast<std::size_t>(std::find(order.begin(), order.end(), row) - order.begin());
                    };
                    together += discount(place(i)) - discount(place(j));
                    apart += std::fabs(discount(place(i)) - discount(place(j)));
                    ++orders;
                });
                const bool tied = query.score[i] == query.score[j];
                const double stake = (gain(query.grade[i]) - gain(query.grade[j])) / best *
                                     (tied ? apart : std::fabs(together)) / orders;
                const double wrong = 1 / (1 + std::exp(query.score[i] - query.score[j]));
                gradient[i] -= wrong * stake, gradient[j] += wrong * stake;
                hessian[i] += wrong * (1 - wrong) * stake, hessian[j] += wrong * (1 - wrong) * stake;
            }
        const Derivatives found(QueryRanking{}, query);
        for (std::size_t i = 0; i < 6; ++i) {
            CHECK(close(1.5 * gradient[i], found.gradient[i]));
            CHECK(close(1.5 * hessian[i], found.hessian[i]));
        }
    }
}

TEST("queries do not see each other, whatever the number of threads") {
    Query all;
    std::vector<std::size_t> start{0};
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        all.add(drawn(3 + seed, seed, 7));
        start.push_back(all.rows());
    }
    const QueryRanking ranking{0, 5};
    const Derivatives alone(ranking, all), side_by_side(ranking, all, 3);
    CHECK(alone.gradient == side_by_side.gradient);
    CHECK(alone.hessian == side_by_side.hessian);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Derivatives found(ranking, drawn(3 + seed, seed, 7));
        CHECK(std::equal(found.gradient.begin(), found.gradient.end(),
                         alone.gradient.begin() + static_cast<std::ptrdiff_t>(start[seed])));
    }
}

TEST("truncation leaves out the pairs of which neither row is among the first") {
    Query query = drawn(30, 3, 1000);
    const Derivatives some(QueryRanking{0, 4}, query), all(QueryRanking{}, query);
    CHECK(some.gradient != all.gradient);
    const std::vector<std::size_t> order = from_best(query);
    for (std::size_t k = 4; k < 30; ++k) query.grade[order[k]] = 0;  // now there is no other pair with two grades
    const Derivatives few(QueryRanking{0, 4}, query), same(QueryRanking{}, query);
    CHECK(few.gradient == same.gradient);
}
