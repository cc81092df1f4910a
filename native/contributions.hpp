// What each feature added to a row's prediction: every step down a tree changes the value, and the change is shared
// among the terms of the node's planes.
#pragma once

#include <cstddef>
#include <vector>

#include "forest.hpp"
#include "parallel.hpp"

namespace planewise {

struct ContributionView {
    ForestView forest;
    const std::int32_t *term_coefficient;
    const double *usual;  // nodes x values: the mean of the values that a node's training rows get
    const float *mean;    // of each feature in training; NaN for categories
    std::size_t columns;
};

// out[(row * outputs + k) * (columns + 1) + j] += the share of feature j in output k; the last is what does not depend
// on the row. Row-major x.
void add_contributions(const ContributionView &view, const float *x, std::size_t rows, Threads &threads, double *out);

}  // namespace planewise
