#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dispatch.hpp"

namespace planewise {

void Sample::draw(const std::uint32_t *rows, std::size_t count, std::size_t most, std::uint64_t noise) {
    ++turn_;
    if (count <= most) {
        rows_.assign(rows, rows + count);
        return;
    }
    // Visiting strata by a golden-section step spreads every prefix.
    std::size_t step = static_cast<std::size_t>(0.6180339887 * static_cast<double>(most)) | 1u;
    while (std::gcd(step, most) != 1) step += 2;
    rows_.resize(most);
    std::size_t stratum = 0;
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t first = stratum * count / most, last = (stratum + 1) * count / most;
        noise = noise * 6364136223846793005ull + 1442695040888963407ull;
        rows_[i] = rows[first + ((noise >> 33) * (last - first) >> 31)];
        stratum += step;
        if (stratum >= most) stratum -= most;
    }
}

const float *Sample::column(std::int32_t feature) {
    const auto j = static_cast<std::size_t>(feature);
    auto &out = columns_[j];
    if (gathered_[j] != turn_) {
        gathered_[j] = turn_;
        if (out.size() < rows_.size()) out.resize(rows_.size());
        const float *from = matrix_.column(j);
        for (std::size_t i = 0; i < rows_.size(); ++i) out[i] = from[rows_[i]];
        const Range range = range_of(out.data(), rows_.size(), matrix_.may_miss[j] != 0);
        reach_[j] = range.missing < rows_.size() ? std::max(std::fabs(range.low), std::fabs(range.high)) : 0.0f;
    }
    return out.data();
}

PLANEWISE_CLONES static void set_term(const float *x, float w, std::size_t n, float *values) {
    for (std::size_t i = 0; i < n; ++i) values[i] = w * x[i];
}

PLANEWISE_CLONES static void add_term(const float *x, float w, std::size_t n, float *values) {
    for (std::size_t i = 0; i < n; ++i) values[i] += w * x[i];
}

void project(Sample &sample, const Directions &directions, std::size_t d, float *values) {
    std::uint32_t term = directions.begin(d);
    set_term(sample.column(directions.feature[term]), directions.weight[term], sample.size(), values);
    for (++term; term < directions.end(d); ++term)
        add_term(sample.column(directions.feature[term]), directions.weight[term], sample.size(), values);
}

PLANEWISE_CLONES static Range range_without_missing(const float *values, std::size_t count) {
    constexpr std::size_t lanes = 32;
    float low[lanes], high[lanes];
    for (std::size_t l = 0; l < lanes; ++l) low[l] = high[l] = values[0];
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) {
            const float v = values[i + l];
            low[l] = v < low[l] ? v : low[l];
            high[l] = v > high[l] ? v : high[l];
        }
    for (; i < count; ++i) {
        low[0] = std::min(low[0], values[i]);
        high[0] = std::max(high[0], values[i]);
    }
    Range out{low[0], high[0], 0};
    for (std::size_t l = 1; l < lanes; ++l) {
        out.low = std::min(out.low, low[l]);
        out.high = std::max(out.high, high[l]);
    }
    return out;
}

Range range_of(const float *values, std::size_t count, bool may_miss) {
    if (!may_miss && count > 0) return range_without_missing(values, count);
    Range out{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0};
    for (std::size_t i = 0; i < count; ++i) {
        const float v = values[i];
        out.low = v < out.low ? v : out.low;
        out.high = v > out.high ? v : out.high;
        out.missing += v != v;
    }
    return out;
}

PLANEWISE_CLONES static void bins_without_missing(const float *values, std::size_t count, float low, float per_width,
                                                  std::int32_t last, std::uint8_t *bin) {
    // Held within the bins before it becomes an integer: far values, and infinity times zero, would not fit one.
    const float end = static_cast<float>(last);
    for (std::size_t i = 0; i < count; ++i) {
        const float at = (values[i] - low) * per_width;
        const float from_first = at > 0.0f ? at : 0.0f;
        bin[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(from_first < end ? from_first : end));
    }
}

void assign_bins(const float *values, std::size_t count, float low, float per_width, int bins, bool may_miss,
                 std::uint8_t *bin) {
    bins_without_missing(values, count, low, per_width, bins - 1, bin);
    if (!may_miss) return;
    for (std::size_t i = 0; i < count; ++i)
        if (values[i] != values[i]) bin[i] = static_cast<std::uint8_t>(bins);
}

PLANEWISE_CLONES static void count_edges(const float *values, std::size_t count, const float *edges, int n_edges,
                                         std::uint8_t *bin) {
    for (std::size_t i = 0; i < count; ++i) {
        const float v = values[i];
        std::int32_t b = 0;
        for (int e = 0; e < n_edges; ++e) b += v >= edges[e];
        bin[i] = static_cast<std::uint8_t>(b);
    }
}

void assign_bins(const float *values, std::size_t count, const float *edges, int bins, bool may_miss,
                 std::uint8_t *bin) {
    count_edges(values, count, edges, bins - 1, bin);
    if (!may_miss) return;
    for (std::size_t i = 0; i < count; ++i)
        if (values[i] != values[i]) bin[i] = static_cast<std::uint8_t>(bins);
}

PLANEWISE_CLONES Gap gap_at(const float *values, const std::uint8_t *bin, std::size_t count, int edge, int bins) {
    constexpr std::size_t lanes = 16;
    constexpr float far = std::numeric_limits<float>::infinity();
    float below[lanes], above[lanes];
    for (std::size_t l = 0; l < lanes; ++l) below[l] = -far, above[l] = far;
    for (std::size_t i = 0; i < count; i += lanes) {
        const std::size_t here = std::min(lanes, count - i);
        for (std::size_t l = 0; l < here; ++l) {
            const float v = values[i + l];
            const int b = bin[i + l];
            const float low = b < edge ? v : -far, high = b >= edge && b < bins ? v : far;
            below[l] = low > below[l] ? low : below[l];
            above[l] = high < above[l] ? high : above[l];
        }
    }
    return {*std::max_element(below, below + lanes), *std::min_element(above, above + lanes)};
}

PLANEWISE_CLONES void mark_right(const float *values, std::size_t count, float threshold, bool missing_right,
                                 std::uint8_t bit, std::uint8_t *code) {
    if (missing_right) {  // not below: true for NaN
        for (std::size_t i = 0; i < count; ++i)
            code[i] = static_cast<std::uint8_t>(code[i] | (values[i] < threshold ? 0 : bit));
    } else {
        for (std::size_t i = 0; i < count; ++i)
            code[i] = static_cast<std::uint8_t>(code[i] | (values[i] >= threshold ? bit : 0));
    }
}

PLANEWISE_CLONES void place_rows(const std::uint16_t *offset, const std::uint8_t *bin, std::size_t count,
                                 std::uint16_t *slot) {
    for (std::size_t i = 0; i < count; ++i) slot[i] = static_cast<std::uint16_t>(offset[i] + bin[i]);
}

#if defined(__GNUC__)
// Four sums at once. Odd rows add to a second set, so that neighbouring rows of one bin do not wait for each other.
typedef std::int32_t Four32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::int64_t Four64 __attribute__((vector_size(32), aligned(8), may_alias));

PLANEWISE_CLONES static void add_in_pairs(const Gradients::Row *rows, const std::uint16_t *slot, std::size_t count,
                                          Four64 *even, Four64 *odd) {
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const auto &first = *reinterpret_cast<const Four32 *>(rows[i].part);
        const auto &second = *reinterpret_cast<const Four32 *>(rows[i + 1].part);
        even[slot[i]] += __builtin_convertvector(first, Four64);
        odd[slot[i + 1]] += __builtin_convertvector(second, Four64);
    }
    if (i < count) even[slot[i]] += __builtin_convertvector(*reinterpret_cast<const Four32 *>(rows[i].part), Four64);
}

void add_rows(const Gradients &, const Gradients::Row *rows, const std::uint16_t *slot, std::size_t count,
              std::size_t slots, std::int64_t *sums) {
    constexpr std::size_t most = 160;
    std::int64_t second[4 * most];
    const bool paired = slots <= most && count > 2 * slots;
    if (paired) std::fill(second, second + 4 * slots, std::int64_t{0});
    add_in_pairs(rows, slot, count, reinterpret_cast<Four64 *>(sums),
                 reinterpret_cast<Four64 *>(paired ? second : sums));
    if (paired)
        for (std::size_t k = 0; k < 4 * slots; ++k) sums[k] += second[k];
}
#else
void add_rows(const Gradients &, const Gradients::Row *rows, const std::uint16_t *slot, std::size_t count, std::size_t,
              std::int64_t *sums) {
    for (std::size_t i = 0; i < count; ++i) Gradients::add(rows[i], sums + 4 * static_cast<std::size_t>(slot[i]));
}
#endif

void add_rows(const ClassCounts &statistics, const ClassCounts::Row *rows, const std::uint16_t *slot, std::size_t count,
              std::size_t, std::int64_t *sums) {
    const std::size_t channels = statistics.channels(), classes = statistics.classes();
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t *to = sums + channels * slot[i];
        to[rows[i].label] += rows[i].weight;
        to[classes] += 1;
    }
}

}  // namespace planewise
