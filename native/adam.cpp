#include "adam.hpp"

#include <cmath>

#include "dispatch.hpp"

namespace planewise {

namespace {

constexpr float least_scale = 1e-12f;  // matters only where nothing has ever pulled

}  // namespace

PLANEWISE_CLONES
void adam_step(float *__restrict value, const float *__restrict gradient, float *__restrict momentum,
               float *__restrict squares, float *__restrict average, std::size_t count, const AdamStep &step) {
    const float rate = step.rate, dear = step.rate * step.price;
    const float keep = step.momentum_memory, keep_squares = step.squares_memory, keep_average = step.averaging_memory;
    for (std::size_t i = 0; i < count; ++i) {
        const float g = gradient[i];
        const float first = keep * momentum[i] + (1 - keep) * g;
        const float second = keep_squares * squares[i] + (1 - keep_squares) * (g * g);
        const float scale = 1 / (std::sqrt(second) + least_scale);
        const float moved = value[i] - rate * first * scale;
        const float shrunk = std::fabs(moved) - dear * scale;
        const float next = std::copysign(shrunk > 0 ? shrunk : 0.0f, moved);
        momentum[i] = first;
        squares[i] = second;
        value[i] = next;
        average[i] += (1 - keep_average) * (next - average[i]);
    }
}

}  // namespace planewise
