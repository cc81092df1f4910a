#include "set_aside.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "random.hpp"
#include "statistics.hpp"

namespace planewise {

namespace {

template <class Number, class Bits>
Bits bits_of(Number value) {
    static_assert(sizeof(Number) == sizeof(Bits));
    if (value != value) return ~Bits{0};  // one kind of missing
    value += Number{0};                   // and of zero
    Bits bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

std::uint64_t key_of(const float *row, std::size_t columns, const double *target, std::size_t targets) {
    std::uint64_t key = mixed(bits_of<double, std::uint64_t>(target[0]));
    for (std::size_t k = 1; k < targets; ++k) key = mixed(key ^ bits_of<double, std::uint64_t>(target[k]));
    for (std::size_t j = 0; j < columns; ++j) key = mixed(key ^ bits_of<float, std::uint32_t>(row[j]));
    return key;
}

// How many of `count` fall below `share`; for many the normal curve will do.
double binomial(std::int64_t count, double share, Random &random) {
    if (count > 64) {
        const double mean = share * static_cast<double>(count);
        double sum = -6;  // twelve uniform numbers are as good as normal here
        for (int k = 0; k < 12; ++k) sum += random.uniform();
        return std::clamp(std::nearbyint(mean + sum * std::sqrt(mean * (1 - share))), 0.0, static_cast<double>(count));
    }
    double below = 0;
    for (std::int64_t k = 0; k < count; ++k) below += random.uniform() < share;
    return below;
}

}  // namespace

SetAside::SetAside(const Matrix &matrix, const double *target, std::size_t targets, const std::vector<double> &weight)
    : rows_(matrix.rows), count_(weight) {
    std::vector<std::uint64_t> key(matrix.rows);
    for (std::size_t i = 0; i < matrix.rows; ++i)
        key[i] = key_of(matrix.row(i), matrix.columns, &target[i * targets], targets);
    std::iota(rows_.begin(), rows_.end(), 0u);
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
    const double one_row = weight_of_a_row(weight);
    for (double &count : count_) count /= one_row;
    for (std::uint32_t at = 0; at < rows_.size();) {
        Alike group{key[rows_[at]], at, at, 0.0};
        for (; group.last < rows_.size() && key[rows_[group.last]] == group.key; ++group.last)
            group.count += count_[rows_[group.last]];
        groups_.push_back(group);
        at = group.last;
    }
}

void SetAside::draw(double share, std::uint64_t noise, std::vector<double> &part) const {
    part.resize(rows_.size());
    for (const Alike &group : groups_) {
        Random random(noise, group.key);
        const auto count = std::max<std::int64_t>(1, std::llrint(std::min(group.count, 1e15)));
        // Row by row until so much is out: whole rows, where they are rows of weight one.
        double out = binomial(count, share, random) / static_cast<double>(count) * group.count;
        for (std::uint32_t k = group.first; k < group.last; ++k) {
            const double taken = std::min(out, count_[rows_[k]]);
            part[rows_[k]] = count_[rows_[k]] > 0 ? taken / count_[rows_[k]] : 0.0;
            out -= taken;
        }
    }
}

}  // namespace planewise
