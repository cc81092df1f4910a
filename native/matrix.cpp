#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "parallel.hpp"
#include "statistics.hpp"

namespace planewise {

namespace {

// Twelve significant bits: the order in which a sum was taken, or a row given twice instead of a weight of two, can
// then not change a scale, and a scale needs no more.
double rounded(double x) {
    int exponent;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, 12)), exponent - 12);
}

// A number that follows from a row's values alone: some of all rows can be picked by it, equal ones together.
std::uint32_t mixed(const float *row, std::size_t columns) {
    std::uint32_t sum = 0x9e3779b9u;
    for (std::size_t j = 0; j < columns; ++j) {
        std::uint32_t bits;
        std::memcpy(&bits, row + j, sizeof bits);
        sum = (sum ^ bits) * 0x7feb352du;
        sum ^= sum >> 15;
    }
    sum *= 0x846ca68bu;
    return sum ^ sum >> 16;
}

struct Body {
    float low, high;
};

// Where all but a 24th at either end lies; the whole range if that is one value only.
Body body_of(std::vector<std::pair<float, double>> &values) {
    constexpr double tail = 1.0 / 24;
    if (values.empty()) return {0, 0};
    std::sort(values.begin(), values.end());
    double total = 0;
    for (const auto &each : values) total += each.second;
    Body out{values.front().first, values.back().first};
    float low = out.low, high = out.high;
    double below = 0;
    for (std::size_t k = 0; k < values.size() && (below += values[k].second) <= tail * total; ++k)
        low = values[k + 1 < values.size() ? k + 1 : k].first;
    double above = 0;
    for (std::size_t k = values.size(); k-- > 0 && (above += values[k].second) <= tail * total;)
        high = values[k > 0 ? k - 1 : 0].first;
    return low < high ? Body{low, high} : out;
}

}  // namespace

// From a few thousand rows: all of a short table, of a long one some that are picked by their values, so that a row
// given twice counts twice.
void Matrix::find_bodies(const double *weight, Threads &threads) {
    constexpr double enough = 2048;
    constexpr std::size_t fewest = 256;
    double total = 0;
    std::size_t counting = 0;
    for (std::size_t i = 0; i < rows; ++i) total += weight[i], counting += weight[i] > 0;
    const double count = counting > 0 ? total / weight_of_a_row(total, counting) : 0;
    std::uint32_t skip = 1;  // one row in so many, a power of two
    while (count / skip > 2 * enough) skip *= 2;
    std::vector<std::uint8_t> picked(rows, 1);
    if (skip > 1)
        threads.stretches(rows, columns, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) picked[i] = (mixed(row(i), columns) & (skip - 1)) == 0;
        });
    body_low.assign(columns, 0.0f);
    body_high.assign(columns, 0.0f);
    threads.each(columns, 4 * rows * columns, [&](std::size_t j, int) {
        if (is_categorical(j)) return;
        std::vector<std::pair<float, double>> seen;
        const auto gather = [&](bool all) {
            seen.clear();
            for (std::size_t i = 0; i < rows; ++i)
                if ((all || picked[i]) && std::isfinite(row(i)[j]) && weight[i] > 0)
                    seen.emplace_back(row(i)[j], weight[i]);
        };
        gather(false);
        if (skip > 1 && seen.size() < fewest) gather(true);  // few different rows, or few with a value here
        const Body body = body_of(seen);
        body_low[j] = body.low, body_high[j] = body.high;
    });
}

void Matrix::find_scales(const double *weight, Threads &threads) {
    scale.assign(columns, 0.0);
    may_miss.assign(columns, 0);
    has_infinite.assign(columns, 0);
    mean.assign(columns, std::numeric_limits<float>::quiet_NaN());
    constexpr std::size_t together = 16;  // columns of one cache line
    threads.each((columns + together - 1) / together, 2 * rows * columns, [&](std::size_t piece, int) {
        const std::size_t first = piece * together, count = std::min(together, columns - first);
        double total[together] = {}, centre[together] = {}, squares[together] = {};
        float low[together], high[together];
        bool below[together] = {}, above[together] = {};  // infinities
        std::fill(low, low + together, std::numeric_limits<float>::infinity());
        std::fill(high, high + together, -std::numeric_limits<float>::infinity());
        for (std::size_t i = 0; i < rows; ++i) {
            const float *x = row(i) + first;
            for (std::size_t j = 0; j < count; ++j) {
                const bool there = std::fabs(x[j]) <= std::numeric_limits<float>::max();
                low[j] = there && x[j] < low[j] ? x[j] : low[j];
                high[j] = there && x[j] > high[j] ? x[j] : high[j];
                below[j] |= x[j] < std::numeric_limits<float>::lowest();
                above[j] |= x[j] > std::numeric_limits<float>::max();
                total[j] += there ? weight[i] : 0.0;
                centre[j] += there ? weight[i] * static_cast<double>(x[j]) : 0.0;
                may_miss[first + j] = static_cast<char>(may_miss[first + j] | (x[j] != x[j]));
            }
        }
        for (std::size_t j = 0; j < count; ++j) {
            centre[j] = total[j] > 0 ? centre[j] / total[j] : 0.0;
            if (total[j] > 0 && !is_categorical(first + j)) mean[first + j] = static_cast<float>(centre[j]);
        }
        for (std::size_t i = 0; i < rows; ++i) {
            const float *x = row(i) + first;
            for (std::size_t j = 0; j < count; ++j) {
                const double apart = static_cast<double>(x[j]) - centre[j];
                squares[j] += std::fabs(x[j]) <= std::numeric_limits<float>::max() ? weight[i] * apart * apart : 0.0;
            }
        }
        for (std::size_t j = 0; j < count; ++j) {
            if (is_categorical(first + j))
                scale[first + j] = high[j] > low[j] || may_miss[first + j] ? 1.0 : 0.0;
            else if (high[j] >
                     low[j])  // not by the deviation: a weighted mean of equal values may be off by a rounding
                scale[first + j] = rounded(std::sqrt(squares[j] / total[j]));
            else if (may_miss[first + j] + below[j] + above[j] + (total[j] > 0) > 1)
                scale[first + j] = 1.0;  // one value: that it is missing, or infinite, may still say something
            has_infinite[first + j] = static_cast<char>(below[j] || above[j]);
        }
    });
}

void Matrix::find_two_valued(Threads &threads) {
    constexpr std::size_t together = 16, fewest = 16;
    std::vector<float> first(columns), other(columns);
    std::vector<std::size_t> others(columns, 0);  // 0: not two-valued
    threads.each((columns + together - 1) / together, 2 * rows * columns, [&](std::size_t piece, int) {
        const std::size_t begin = piece * together, count = std::min(together, columns - begin);
        std::vector<std::size_t> left;  // columns that may still turn out to have two values
        for (std::size_t j = begin; j < begin + count && rows > 0; ++j) {
            first[j] = other[j] = row(0)[j];
            if (!is_categorical(j) && std::isfinite(first[j])) left.push_back(j);
        }
        for (std::size_t i = 0; i < rows && !left.empty(); ++i)
            for (std::size_t k = 0; k < left.size();) {
                const std::size_t j = left[k];
                const float x = row(i)[j];
                if (x != first[j] && other[j] == first[j]) other[j] = x;
                if (std::isfinite(x) && (x == first[j] || x == other[j])) {
                    others[j] += x != first[j];
                    ++k;
                } else {  // a third value, none, or an infinity
                    others[j] = 0;
                    left[k] = left.back();
                    left.pop_back();
                }
            }
    });
    TwoValued found;
    found.bit.assign(columns, TwoValued::no_bit);
    for (std::size_t j = 0; j < columns; ++j) {
        if (others[j] == 0) continue;
        const bool other_is_rarer = 2 * others[j] < rows || (2 * others[j] == rows && other[j] > first[j]);
        found.bit[j] = static_cast<std::int32_t>(found.column.size());
        found.column.push_back(static_cast<std::int32_t>(j));
        found.set.push_back(other_is_rarer ? other[j] : first[j]);
        found.clear.push_back(other_is_rarer ? first[j] : other[j]);
    }
    if (found.column.size() < fewest) return;
    found.words = (found.column.size() + 63) / 64;
    found.bits.assign(rows * found.words, 0);
    threads.stretches(rows, found.column.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t b = 0; b < found.column.size(); ++b)
                found.bits[i * found.words + b / 64] |=
                    static_cast<std::uint64_t>(row(i)[found.column[b]] == found.set[b]) << b % 64;
    });
    two_valued = std::move(found);
}

}  // namespace planewise
