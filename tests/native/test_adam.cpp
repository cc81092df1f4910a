// adam.hpp: the step against its formula, and what the price of absolute values does.
#include <cmath>
#include <vector>

#include "adam.hpp"
#include "check.hpp"

using namespace planewise;

namespace {

struct Numbers {
    std::vector<float> value, gradient, momentum, squares, average;
};

Numbers some(std::size_t count) {
    Numbers n;
    for (std::size_t i = 0; i < count; ++i) {
        const float x = static_cast<float>(i);
        n.value.push_back(std::sin(x));
        n.gradient.push_back(std::cos(3 * x));
        n.momentum.push_back(0.1f * std::sin(5 * x));
        n.squares.push_back(0.5f + 0.4f * std::cos(x));
        n.average.push_back(0.9f * std::sin(x));
    }
    return n;
}

void run(Numbers &n, const AdamStep &step) {
    adam_step(n.value.data(), n.gradient.data(), n.momentum.data(), n.squares.data(), n.average.data(), n.value.size(),
              step);
}

}  // namespace

TEST("a step is Adam's, and the average follows the value") {
    for (std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{37}}) {
        const Numbers before = some(count);
        Numbers after = before;
        run(after, {0.1f, 0.0f, 0.9f, 0.99f, 0.95f});
        for (std::size_t i = 0; i < count; ++i) {
            const double first = 0.9 * before.momentum[i] + 0.1 * before.gradient[i];
            const double second = 0.99 * before.squares[i] + 0.01 * before.gradient[i] * before.gradient[i];
            const double value = before.value[i] - 0.1 * first / std::sqrt(second);
            CHECK(std::fabs(after.momentum[i] - first) < 1e-6);
            CHECK(std::fabs(after.squares[i] - second) < 1e-6);
            CHECK(std::fabs(after.value[i] - value) < 1e-6);
            CHECK(std::fabs(after.average[i] - (0.95 * before.average[i] + 0.05 * value)) < 1e-6);
        }
    }
}

TEST("a price draws values towards zero, where they stay") {
    Numbers dear = some(37), free = dear;
    run(dear, {0.1f, 1.0f, 0.9f, 0.99f, 0.95f});
    run(free, {0.1f, 0.0f, 0.9f, 0.99f, 0.95f});
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < 37; ++i) {
        CHECK(std::fabs(dear.value[i]) <= std::fabs(free.value[i]));
        CHECK(dear.value[i] * free.value[i] >= 0);
        zeros += dear.value[i] == 0;
    }
    CHECK(zeros > 0 && zeros < 37);
    Numbers dearest = some(37);
    run(dearest, {0.1f, 1e6f, 0.9f, 0.99f, 0.95f});
    for (const float value : dearest.value) CHECK(value == 0);
}

TEST("where nothing has ever pulled, nothing moves") {
    Numbers still{{1.0f}, {0.0f}, {0.0f}, {0.0f}, {1.0f}};
    run(still, {0.1f, 0.0f, 0.9f, 0.99f, 0.95f});
    CHECK(still.value[0] == 1.0f);
    CHECK(still.average[0] == 1.0f);
}
