#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dispatch.hpp"

namespace planewise {

void Sample::draw(const std::uint32_t *rows, std::size_t count, std::size_t most, std::uint64_t noise) {
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

void Sample::gather(const std::vector<std::int32_t> &features) {
    constexpr std::size_t together = 16;  // rows whose values fill one cache line of a column
    const std::size_t n = rows_.size();
    // An odd number of cache lines apart: columns a power of two apart would fight for the same places in the cache.
    stride_ = ((n + together - 1) / together | 1u) * together;
    if (values_.size() < features.size() * stride_) values_.resize(features.size() * stride_);
    const TwoValued &two_valued = matrix_.two_valued;
    numbers_.clear();
    for (std::int32_t feature : features) {
        const auto j = static_cast<std::size_t>(feature);
        place_[j] = two_valued.has(j) ? nowhere : static_cast<std::uint32_t>(numbers_.size());
        if (!two_valued.has(j)) numbers_.push_back(feature);
    }
    gathered_ = static_cast<std::uint32_t>(numbers_.size());
    if (two_valued.words > 0) {
        bits_.resize(n * two_valued.words);
        for (std::size_t i = 0; i < n; ++i)
            std::copy_n(two_valued.row(rows_[i]), two_valued.words, &bits_[i * two_valued.words]);
    }
    const float *from[together];
    for (std::size_t begin = 0; begin < n; begin += together) {
        const std::size_t here = std::min(together, n - begin);
        for (std::size_t r = 0; r < here; ++r) from[r] = matrix_.row(rows_[begin + r]);
        for (std::size_t k = 0; k < numbers_.size(); ++k) {
            const auto j = static_cast<std::size_t>(numbers_[k]);
            float *to = &values_[k * stride_ + begin];
            if (here == together)
                for (std::size_t r = 0; r < together; ++r) to[r] = from[r][j];
            else
                for (std::size_t r = 0; r < here; ++r) to[r] = from[r][j];
        }
    }
    for (std::int32_t feature : numbers_) {
        const auto j = static_cast<std::size_t>(feature);
        if (!matrix_.is_categorical(j))
            range_[j] = range_of(column(feature), n, matrix_.may_miss[j] != 0, matrix_.may_be_infinite(j));
    }
}

void Sample::unfold(std::size_t j) {
    const auto bit = static_cast<std::size_t>(matrix_.two_valued.bit[j]);
    const float value[2] = {matrix_.two_valued.clear[bit], matrix_.two_valued.set[bit]};
    place_[j] = gathered_++;
    float *to = &values_[place_[j] * stride_];
    for (std::size_t i = 0; i < rows_.size(); ++i) to[i] = value[bits(i)[bit / 64] >> bit % 64 & 1];
    range_[j] = {value[0], value[1], 0};
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

static Range range_with_infinities(const float *values, std::size_t count) {
    constexpr float most = std::numeric_limits<float>::max();
    Range out{most, -most, 0};
    for (std::size_t i = 0; i < count; ++i) {
        const float v = values[i];
        const bool there = std::fabs(v) <= most;
        out.low = there && v < out.low ? v : out.low;
        out.high = there && v > out.high ? v : out.high;
        out.missing += v != v;
        out.below |= v < -most;
        out.above |= v > most;
    }
    if (out.low > out.high) out.low = out.high = 0;
    return out;
}

Range range_of(const float *values, std::size_t count, bool may_miss, bool may_be_infinite) {
    if (may_be_infinite) return range_with_infinities(values, count);
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

void Adder<Gradients>::open(const Gradients::Row *rows, std::size_t count) {
    rows_ = rows;
    count_ = count;
    packed_.clear();
    if (count >= std::size_t{1} << count_bits) return;
    packed_.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        packed_[i] = {rows[i].part[0], (static_cast<std::int64_t>(rows[i].part[1]) << count_bits) + 1};
}

template <class Slot>
void Adder<Gradients>::add(const Gradients &, const Slot *slot, std::size_t slots, std::int64_t *sums) {
    if (packed_.empty() || count_ < 4 * slots) {  // few rows: clearing four sets of sums would cost more than waiting
        for (std::size_t i = 0; i < count_; ++i) Gradients::add(rows_[i], sums + 4 * static_cast<std::size_t>(slot[i]));
        return;
    }
    constexpr std::size_t sets = 4;
    sets_.assign(sets * slots, Packed{0, 0});
    Packed *to[sets];
    for (std::size_t k = 0; k < sets; ++k) to[k] = sets_.data() + k * slots;
    const auto put = [](Packed &sum, const Packed &row) {
        sum.g += row.g;
        sum.h_and_rows += row.h_and_rows;
    };
    std::size_t i = 0;
    for (; i + sets <= count_; i += sets)
        for (std::size_t k = 0; k < sets; ++k) put(to[k][slot[i + k]], packed_[i + k]);
    for (; i < count_; ++i) put(to[0][slot[i]], packed_[i]);
    for (std::size_t s = 0; s < slots; ++s) {
        std::int64_t g = 0, both = 0;
        for (std::size_t k = 0; k < sets; ++k) g += to[k][s].g, both += to[k][s].h_and_rows;
        sums[4 * s] += g;
        sums[4 * s + 1] += both >> count_bits;
        sums[4 * s + 2] += both & ((1 << count_bits) - 1);
    }
}
template void Adder<Gradients>::add(const Gradients &, const std::uint8_t *, std::size_t, std::int64_t *);
template void Adder<Gradients>::add(const Gradients &, const std::uint16_t *, std::size_t, std::int64_t *);

}  // namespace planewise
