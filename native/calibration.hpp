// The slope of the logistic function (for several classes: the softmax) that turns scores into probabilities.
#pragma once

#include <cstddef>
#include <cstdint>

namespace planewise {

// Scores of rows, one after another: one column (the second of two classes above zero) or one per class.
struct Scored {
    const double *scores = nullptr;
    std::size_t rows = 0, columns = 0;
    const std::int32_t *label = nullptr;  // the column of each row's class; 0 or 1 if there is only one column
};

// The slope above 0 that makes the rows' own classes most likely. Two more rows, one right and one wrong by a usual
// margin, keep it finite where classes are separated perfectly.
double calibration_slope(const Scored &scored, const double *weight);

// Minus the logarithm of the probability of each row's own class.
void log_losses(const Scored &scored, double slope, double *out);

}  // namespace planewise
