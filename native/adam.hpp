// One step of Adam with a proximal step for the absolute values, and the running average of the iterates: all of it in
// one pass over the numbers. (In NumPy, some fifteen passes took a third of a fit.)
#pragma once

#include <cstddef>

namespace planewise {

struct AdamStep {
    float rate;              // learning rate, with the correction for moments that began at zero
    float price;             // of an absolute value; 0: no proximal step
    float momentum_memory;   // share of the first moment that stays
    float squares_memory;    // share of the second
    float averaging_memory;  // share of the average
};

// All of the same length; the gradient is only read.
void adam_step(float *value, const float *gradient, float *momentum, float *squares, float *average, std::size_t count,
               const AdamStep &step);

}  // namespace planewise
