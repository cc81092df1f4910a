// exact_sum.hpp: sums that do not depend on the order of their terms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "exact_sum.hpp"
#include "random.hpp"

using namespace planewise;

namespace {

// Terms of all sizes and both signs.
std::vector<double> terms(std::size_t count, int spread) {
    Random random(1, static_cast<std::uint64_t>(spread));
    std::vector<double> out(count);
    for (double &x : out) {
        const int exponent = static_cast<int>(random.below(static_cast<std::uint32_t>(2 * spread))) - spread;
        x = std::ldexp(2 * random.uniform() - 1, exponent);
    }
    return out;
}

}  // namespace

TEST("a sum is the same in any order and for any parts") {
    for (int spread : {1, 40, 900}) {
        std::vector<double> x = terms(1000, spread);
        const double whole = exact_sum(x.data(), x.size());
        std::reverse(x.begin(), x.end());
        CHECK(exact_sum(x.data(), x.size()) == whole);
        ExactSum parts;
        for (std::size_t begin = 0; begin < x.size(); begin += 77) {
            ExactSum part;
            for (std::size_t i = begin; i < std::min(x.size(), begin + 77); ++i) part.add(x[i]);
            parts.add(ExactSum::from(part.digits().data()));
        }
        CHECK(parts.value() == whole);
    }
}

TEST("a power of two as a factor changes nothing but the exponent") {
    std::vector<double> x = terms(300, 30);
    const double whole = exact_sum(x.data(), x.size());
    for (int power : {1, -7, 31, 200, -400}) {
        std::vector<double> scaled = x;
        for (double &each : scaled) each = std::ldexp(each, power);
        CHECK(exact_sum(scaled.data(), scaled.size()) == std::ldexp(whole, power));
    }
}

TEST("the sum is rounded once, to the nearest double") {
    const double tie[] = {1, 0x1p-53}, above[] = {1, 0x1p-53, 0x1p-200}, even[] = {1 + 0x1p-52, 0x1p-53};
    CHECK(exact_sum(tie, 2) == 1);
    CHECK(exact_sum(above, 3) == 1 + 0x1p-52);
    CHECK(exact_sum(even, 2) == 1 + 0x1p-51);
}

TEST("what cancels out leaves nothing behind") {
    std::vector<double> x = terms(500, 600);
    const std::size_t count = x.size();
    for (std::size_t i = 0; i < count; ++i) x.push_back(-x[i]);
    CHECK(exact_sum(x.data(), x.size()) == 0);
    x.push_back(3e-310);  // smaller than any normal number
    CHECK(exact_sum(x.data(), x.size()) == 3e-310);
    x.push_back(-1);
    CHECK(exact_sum(x.data(), x.size()) == -1);
}

TEST("sums of whole numbers are right, and the largest double is one") {
    ExactSum sum;
    for (int i = 1; i <= 1000; ++i) sum.add(-i);
    CHECK(sum.value() == -500500);
    const double most = std::numeric_limits<double>::max();
    CHECK(exact_sum(&most, 1) == most);
    const double both[] = {most, most};
    CHECK(std::isinf(exact_sum(both, 2)));
}

TEST("infinities and NaN are kept") {
    const double infinity = std::numeric_limits<double>::infinity();
    const double up[] = {1, infinity}, both[] = {infinity, -infinity};
    CHECK(exact_sum(up, 2) == infinity);
    CHECK(std::isnan(exact_sum(both, 2)));
}

TEST("wide sums hold more than 64 bits") {
    WideSum sum, other;
    const std::int64_t large = std::int64_t{1} << 62;
    for (int i = 0; i < 8; ++i) sum.add(large);
    for (int i = 0; i < 9; ++i) other.add(-large);
    CHECK(sum.value() == std::ldexp(1, 65));
    sum.add(other);
    CHECK(sum.value() == -std::ldexp(1, 62));
}
