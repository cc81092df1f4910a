#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "dispatch.hpp"
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

constexpr int sum_bits = 50;  // of a row; those of a piece of 2^12 rows fit into 64

// One row more in the ranges of all columns.
PLANEWISE_CLONES void add_range(const float *x, std::size_t columns, float *low, float *high, char *missing,
                                char *below, char *above) {
    constexpr float most = std::numeric_limits<float>::max();
    for (std::size_t j = 0; j < columns; ++j) {
        const float v = x[j];
        const bool there = std::fabs(v) <= most;
        low[j] = there && v < low[j] ? v : low[j];
        high[j] = there && v > high[j] ? v : high[j];
        missing[j] = static_cast<char>(missing[j] | (v != v));
        below[j] = static_cast<char>(below[j] | (v < -most));
        above[j] = static_cast<char>(above[j] | (v > most));
    }
}

// The nearest whole number of up to 2^50.
PLANEWISE_INLINE std::int64_t nearest(double x) {
    constexpr double most = 1125899906842624.0;  // 2^50
    x = x < most ? x : most;
    x = x > -most ? x : -most;
    const double shifted = x + 6755399441055744.0;  // 1.5 * 2^52: the last bit is worth one
    std::int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4338000000000000;
}

// One row more in the sums of all columns.
PLANEWISE_CLONES void add_moments(const float *x, std::size_t columns, double weight, double to_weight,
                                  const double *to_moment, const double *centre, std::int64_t *weights,
                                  std::int64_t *moments) {
    constexpr float most = std::numeric_limits<float>::max();
    const std::int64_t own = nearest(weight * to_weight);
    for (std::size_t j = 0; j < columns; ++j) {
        const bool there = std::fabs(x[j]) <= most;
        const double v = there ? static_cast<double>(x[j]) : 0.0;
        const double apart = centre != nullptr ? v - centre[j] : v;
        const double moment = weight * (centre != nullptr ? apart * apart : v) * to_moment[j];
        weights[j] += there ? own : 0;
        moments[j] += there ? nearest(moment) : 0;
    }
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

ColumnRanges::ColumnRanges(std::size_t columns)
    : low(columns, std::numeric_limits<float>::infinity()),
      high(columns, -std::numeric_limits<float>::infinity()),
      missing(columns, 0),
      below(columns, 0),
      above(columns, 0),
      one(columns, 0),
      two(columns, 0),
      n_one(columns, 0),
      n_two(columns, 0),
      is_other(columns, 0) {}

void ColumnRanges::add_value(std::size_t j, float value, std::size_t count) {
    if (count == 0 || is_other[j]) return;
    if (n_one[j] == 0) one[j] = value;
    if (value == one[j]) {
        n_one[j] += count;
        return;
    }
    if (n_two[j] == 0) two[j] = value;
    if (value == two[j])
        n_two[j] += count;
    else
        is_other[j] = 1;
}

void ColumnRanges::add(const float *x, const double *weights, std::size_t count) {
    const std::size_t width = columns();
    std::vector<std::size_t> left;  // columns that may still turn out to have two values
    for (std::size_t j = 0; j < width; ++j)
        if (!is_other[j]) left.push_back(j);
    rows += count;
    for (std::size_t i = 0; i < count; ++i, x += width) {
        counting += weights[i] > 0;
        largest_weight = std::max(largest_weight, weights[i]);
        weight.add(weights[i]);
        add_range(x, width, low.data(), high.data(), missing.data(), below.data(), above.data());
        for (std::size_t k = 0; k < left.size();) {
            const std::size_t j = left[k];
            if (std::isfinite(x[j]))
                add_value(j, x[j], 1);
            else
                is_other[j] = 1;
            if (is_other[j])
                left[k] = left.back(), left.pop_back();
            else
                ++k;
        }
    }
}

void ColumnRanges::join(const ColumnRanges &other) {
    rows += other.rows;
    counting += other.counting;
    largest_weight = std::max(largest_weight, other.largest_weight);
    weight.add(other.weight);
    for (std::size_t j = 0; j < columns(); ++j) {
        low[j] = std::min(low[j], other.low[j]);
        high[j] = std::max(high[j], other.high[j]);
        missing[j] = static_cast<char>(missing[j] | other.missing[j]);
        below[j] = static_cast<char>(below[j] | other.below[j]);
        above[j] = static_cast<char>(above[j] | other.above[j]);
        is_other[j] = static_cast<char>(is_other[j] | other.is_other[j]);
        add_value(j, other.one[j], other.n_one[j]);
        add_value(j, other.two[j], other.n_two[j]);
    }
}

std::vector<double> ColumnRanges::numbers() const {
    std::vector<double> out{static_cast<double>(rows), static_cast<double>(counting), largest_weight};
    for (double digit : weight.digits()) out.push_back(digit);
    for (std::size_t j = 0; j < columns(); ++j)
        for (double number :
             {static_cast<double>(low[j]), static_cast<double>(high[j]), static_cast<double>(missing[j]),
              static_cast<double>(below[j]), static_cast<double>(above[j]), static_cast<double>(is_other[j]),
              static_cast<double>(one[j]), static_cast<double>(two[j]), static_cast<double>(n_one[j]),
              static_cast<double>(n_two[j])})
            out.push_back(number);
    return out;
}

ColumnRanges ColumnRanges::from(const std::vector<double> &numbers) {
    constexpr std::size_t head = 3 + ExactSum::places + 1, each = 10;
    if (numbers.size() < head || (numbers.size() - head) % each != 0)
        throw std::invalid_argument("these are not the ranges of columns");
    ColumnRanges out((numbers.size() - head) / each);
    out.rows = static_cast<std::size_t>(numbers[0]);
    out.counting = static_cast<std::size_t>(numbers[1]);
    out.largest_weight = numbers[2];
    out.weight = ExactSum::from(&numbers[3]);
    for (std::size_t j = 0; j < out.columns(); ++j) {
        const double *at = &numbers[head + each * j];
        out.low[j] = static_cast<float>(at[0]), out.high[j] = static_cast<float>(at[1]);
        out.missing[j] = at[2] != 0, out.below[j] = at[3] != 0, out.above[j] = at[4] != 0, out.is_other[j] = at[5] != 0;
        out.one[j] = static_cast<float>(at[6]), out.two[j] = static_cast<float>(at[7]);
        out.n_one[j] = static_cast<std::size_t>(at[8]), out.n_two[j] = static_cast<std::size_t>(at[9]);
    }
    return out;
}

void ColumnSums::join(const ColumnSums &other) {
    for (std::size_t j = 0; j < weight.size(); ++j) {
        weight[j].add(other.weight[j]);
        moment[j].add(other.moment[j]);
    }
}

namespace {

// The grids of a column's sums: powers of two.
struct SumGrid {
    double weight;
    std::vector<double> moment;

    SumGrid(const ColumnRanges &ranges, const std::vector<double> *centre)
        : weight(grid_scale(ranges.largest_weight, sum_bits)), moment(ranges.columns()) {
        for (std::size_t j = 0; j < moment.size(); ++j) {
            const double low = static_cast<double>(ranges.low[j]), high = static_cast<double>(ranges.high[j]);
            double largest = std::max(std::fabs(low), std::fabs(high));
            if (centre != nullptr) largest = std::max(high - (*centre)[j], (*centre)[j] - low);
            largest *= centre != nullptr ? largest : 1.0;
            moment[j] =
                grid_scale(std::min(ranges.largest_weight * largest, std::numeric_limits<double>::max()), sum_bits);
        }
    }
};

// Calls work(begin, end, thread) for pieces of the rows.
template <class Work>
void in_pieces(std::size_t rows, std::size_t cost, Threads &threads, Work work) {
    threads.each((rows + Threads::stretch - 1) / Threads::stretch, rows * cost, [&](std::size_t piece, int thread) {
        work(piece * Threads::stretch, std::min(rows, (piece + 1) * Threads::stretch),
             static_cast<std::size_t>(thread));
    });
}

}  // namespace

ColumnRanges ranges_of(const float *values, std::size_t rows, std::size_t columns, const double *weight,
                       Threads &threads) {
    std::vector<ColumnRanges> found(static_cast<std::size_t>(threads.count()), ColumnRanges(columns));
    in_pieces(rows, 2 * columns, threads, [&](std::size_t begin, std::size_t end, std::size_t thread) {
        found[thread].add(values + begin * columns, weight + begin, end - begin);
    });
    for (std::size_t k = 1; k < found.size(); ++k) found[0].join(found[k]);
    return found[0];
}

ColumnSums column_sums(const float *values, std::size_t rows, const double *weight, const ColumnRanges &ranges,
                       const std::vector<double> *centre, Threads &threads) {
    const std::size_t columns = ranges.columns();
    const SumGrid grid(ranges, centre);
    const ColumnSums none{std::vector<WideSum>(columns), std::vector<WideSum>(columns)};
    std::vector<ColumnSums> found(static_cast<std::size_t>(threads.count()), none);
    in_pieces(rows, 2 * columns, threads, [&](std::size_t begin, std::size_t end, std::size_t thread) {
        std::vector<std::int64_t> weights(columns, 0), moments(columns, 0);  // of a piece: they cannot overflow
        for (std::size_t i = begin; i < end; ++i)
            add_moments(values + i * columns, columns, weight[i], grid.weight, grid.moment.data(),
                        centre != nullptr ? centre->data() : nullptr, weights.data(), moments.data());
        for (std::size_t j = 0; j < columns; ++j) {
            found[thread].weight[j].add(weights[j]);
            found[thread].moment[j].add(moments[j]);
        }
    });
    for (std::size_t k = 1; k < found.size(); ++k) found[0].join(found[k]);
    return found[0];
}

std::vector<double> column_centres(const ColumnSums &sums, const ColumnRanges &ranges) {
    const SumGrid grid(ranges, nullptr);
    std::vector<double> centre(ranges.columns());
    for (std::size_t j = 0; j < centre.size(); ++j) {
        const double total = sums.weight[j].value() / grid.weight;
        centre[j] = total > 0 ? sums.moment[j].value() / grid.moment[j] / total : 0.0;
    }
    return centre;
}

void Matrix::find_scales(const double *weight, Threads &threads) {
    const ColumnRanges ranges = ranges_of(values, rows, columns, weight, threads);
    const ColumnSums sums = column_sums(values, rows, weight, ranges, nullptr, threads);
    const std::vector<double> centre = column_centres(sums, ranges);
    set_scales(ranges, sums, column_sums(values, rows, weight, ranges, &centre, threads));
    find_bits(threads);
}

void Matrix::set_scales(const ColumnRanges &ranges, const ColumnSums &sums, const ColumnSums &squares) {
    const std::vector<double> centre = column_centres(sums, ranges);
    const SumGrid grid(ranges, &centre);
    scale.assign(columns, 0.0);
    may_miss = ranges.missing;
    has_infinite.assign(columns, 0);
    mean.assign(columns, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t j = 0; j < columns; ++j) {
        const double total = sums.weight[j].value() / grid.weight;
        if (total > 0 && !is_categorical(j)) mean[j] = static_cast<float>(centre[j]);
        if (is_categorical(j))
            scale[j] = ranges.high[j] > ranges.low[j] || may_miss[j] ? 1.0 : 0.0;
        else if (ranges.high[j] > ranges.low[j])  // not by the deviation: a mean of equal values may be rounded
            scale[j] = rounded(std::sqrt(squares.moment[j].value() / grid.moment[j] / total));
        else if (may_miss[j] + ranges.below[j] + ranges.above[j] + (total > 0) > 1)
            scale[j] = 1.0;  // one value: that it is missing, or infinite, may still say something
        has_infinite[j] = static_cast<char>(ranges.below[j] || ranges.above[j]);
    }
    set_two_valued(ranges);
}

// The rarer value is the one that is set; of two that are equally rare the larger.
void Matrix::set_two_valued(const ColumnRanges &ranges) {
    constexpr std::size_t fewest = 16;
    TwoValued found;
    found.bit.assign(columns, TwoValued::no_bit);
    for (std::size_t j = 0; j < columns; ++j) {
        if (is_categorical(j) || ranges.is_other[j] || ranges.n_one[j] == 0 || ranges.n_two[j] == 0) continue;
        const bool two_is_rarer =
            ranges.n_two[j] < ranges.n_one[j] || (ranges.n_two[j] == ranges.n_one[j] && ranges.two[j] > ranges.one[j]);
        found.bit[j] = static_cast<std::int32_t>(found.column.size());
        found.column.push_back(static_cast<std::int32_t>(j));
        found.set.push_back(two_is_rarer ? ranges.two[j] : ranges.one[j]);
        found.clear.push_back(two_is_rarer ? ranges.one[j] : ranges.two[j]);
    }
    if (found.column.size() < fewest) found = {};
    found.words = (found.column.size() + 63) / 64;
    two_valued = std::move(found);
}

void Matrix::find_bits(Threads &threads) {
    TwoValued &found = two_valued;
    found.bits.assign(rows * found.words, 0);
    if (found.words == 0) return;
    threads.stretches(rows, found.column.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t b = 0; b < found.column.size(); ++b)
                found.bits[i * found.words + b / 64] |=
                    static_cast<std::uint64_t>(row(i)[found.column[b]] == found.set[b]) << b % 64;
    });
}

Matrix Matrix::with_rows(const float *other, std::size_t count, Threads &threads) const {
    Matrix out{other, count, columns, scale, may_miss, categories, mean, body_low, body_high, {}, has_infinite};
    TwoValued &bits = out.two_valued;
    bits.bit = two_valued.bit, bits.column = two_valued.column;
    bits.clear = two_valued.clear, bits.set = two_valued.set, bits.words = two_valued.words;
    out.find_bits(threads);
    return out;
}

// ---------------------------------------------------------------------------------------------------------- bodies
std::uint32_t Matrix::body_step(const ColumnRanges &ranges) {
    constexpr double enough = 2048;
    const double total = ranges.weight.value();
    const double count = ranges.counting > 0 ? total / weight_of_a_row(total, ranges.counting) : 0;
    constexpr std::uint32_t largest = 1u << 31;
    std::uint32_t step = 1;  // a power of two
    while (step < largest && count / step > 2 * enough) step *= 2;
    return step;
}

std::vector<std::uint32_t> Matrix::body_rows(std::uint32_t step, Threads &threads) const {
    std::vector<std::uint8_t> picked(rows, 1);
    if (step > 1)
        threads.stretches(rows, columns, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) picked[i] = (mixed(row(i), columns) & (step - 1)) == 0;
        });
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < rows; ++i)
        if (picked[i]) out.push_back(static_cast<std::uint32_t>(i));
    return out;
}

bool Matrix::set_body(std::size_t j, std::vector<std::pair<float, double>> seen, bool are_all) {
    constexpr std::size_t fewest = 256;
    const auto unusable = [](const std::pair<float, double> &each) {
        return !std::isfinite(each.first) || !(each.second > 0);
    };
    seen.erase(std::remove_if(seen.begin(), seen.end(), unusable), seen.end());
    if (!are_all && seen.size() < fewest) return false;  // few different rows, or few with a value here
    const Body body = body_of(seen);
    body_low[j] = body.low, body_high[j] = body.high;
    return true;
}

// From a few thousand rows: all of a short table, of a long one some that are picked by their values.
void Matrix::find_bodies(const double *weight, Threads &threads) {
    const std::uint32_t step = body_step(ranges_of(values, rows, 0, weight, threads));
    const std::vector<std::uint32_t> picked = body_rows(step, threads);
    begin_bodies();
    threads.each(columns, 4 * rows * columns, [&](std::size_t j, int) {
        if (is_categorical(j)) return;
        std::vector<std::pair<float, double>> seen;
        for (std::uint32_t i : picked) seen.emplace_back(row(i)[j], weight[i]);
        if (set_body(j, std::move(seen), step == 1)) return;
        seen.clear();
        for (std::size_t i = 0; i < rows; ++i) seen.emplace_back(row(i)[j], weight[i]);
        set_body(j, std::move(seen), true);
    });
}

}  // namespace planewise
