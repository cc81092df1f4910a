// QueryRanking the rows of queries: the derivatives of LambdaMART, and 1 - NDCG as the loss.
//
// Rows of equal score have no order. What depends on their places is the mean over all orders, so that a model does not
// depend on the order of its rows.
#pragma once

#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace planewise {

struct QueryRanking {
    static constexpr std::size_t targets = 2;  // columns of a target: the grade, and the number of the query

    std::size_t places = 0;      // of a ranking that the loss looks at; 0: all
    std::size_t truncation = 0;  // a pair counts if one of the two is among so many first ones; 0: every pair
    bool linear_gain = false;    // a row is worth its grade y, rather than 2^y - 1

    // Of one score per row; the rows of a query follow each other. Rows with nothing to be compared with have
    // derivatives of zero.
    void derivatives(const double *score, const double *target, const double *weight, std::size_t rows,
                     double *gradient, double *hessian, Threads &threads) const;
    // 1 - NDCG, the mean over the queries that have it: those with a row worth more than nothing. A query weighs as
    // much as its rows do on average.
    double mean_loss(const double *score, const double *target, const double *weight, std::size_t rows) const;

    double gain(double grade) const;
};

}  // namespace planewise
