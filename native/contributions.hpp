// What each feature added to a row's prediction: every step down a tree changes the value, and the change is shared
// among the terms of the node's planes.
#pragma once

#include <cstddef>

#include "forest.hpp"
#include "parallel.hpp"

namespace planewise {

// out[(row * n_outputs + k) * (columns + 1) + j] += the share of feature j in output k; the last is what does not
// depend on the row. Row-major x; `mean` has the mean of each feature in training, NaN for categories.
void add_contributions(const Forest &forest, const float *mean, const float *x, std::size_t rows, std::size_t columns,
                       Threads &threads, double *out);

}  // namespace planewise
