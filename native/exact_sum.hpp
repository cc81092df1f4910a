// Sums of doubles that come out the same in any order, on any number of threads or machines.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace planewise {

// A whole number of up to 2^94 or so, in two halves.
struct WideSum {
    std::int64_t high = 0, low = 0;  // high * 2^32 + low

    void add(std::int64_t x) {
        high += x >> 32;
        low += x & 0xffffffff;
    }
    void add(const WideSum &other) {
        high += other.high + (other.low >> 32);
        low += other.low & 0xffffffff;
        carry();
    }
    double value() const {
        WideSum sum = *this;
        sum.carry();
        return std::ldexp(static_cast<double>(sum.high), 32) + static_cast<double>(sum.low);
    }

  private:
    void carry() {
        high += low >> 32;
        low &= 0xffffffff;
    }
};

// Every bit of every term is kept: the sum is exact until it is asked for. A term costs a few nanoseconds.
class ExactSum {
  public:
    // Place k counts multiples of 2^(32 k - 1074), from the smallest double to beyond the largest. The last entry is
    // for infinities and NaN.
    static constexpr std::size_t places = 68;
    using Digits = std::array<double, places + 1>;

    void add(double x) {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const std::uint64_t exponent = bits >> 52 & 0x7ff;
        if (exponent == 0x7ff) {
            other_ += x;
            return;
        }
        const std::uint64_t fraction = (bits & 0xfffffffffffffull) | (exponent > 0 ? std::uint64_t{1} << 52 : 0);
        const std::uint64_t shift = exponent > 0 ? exponent - 1 : 0;
        const std::uint64_t first = (fraction & 0xffffffff) << shift % 32, second = (fraction >> 32) << shift % 32;
        const std::int64_t sign = bits >> 63 != 0 ? -1 : 1;
        std::int64_t *at = &place_[shift / 32];
        at[0] += sign * static_cast<std::int64_t>(first & 0xffffffff);
        at[1] += sign * static_cast<std::int64_t>((first >> 32) + (second & 0xffffffff));
        at[2] += sign * static_cast<std::int64_t>(second >> 32);
        if (++terms_ == most_terms) carry();
    }
    void add(const ExactSum &part) {
        ExactSum other = part;
        other.carry();
        carry();
        for (std::size_t k = 0; k < places; ++k) place_[k] += other.place_[k];
        other_ += other.other_;
        carry();
    }
    double value() const {
        ExactSum sum = *this;
        sum.carry();
        const double sign = sum.place_[places - 1] < 0 ? -1.0 : 1.0;
        if (sign < 0) {
            for (std::int64_t &place : sum.place_) place = -place;
            sum.carry();
        }
        return sign * sum.rounded() + other_;
    }

    // As numbers that can be sent elsewhere, and back.
    Digits digits() const {
        ExactSum sum = *this;
        sum.carry();
        Digits out;
        for (std::size_t k = 0; k < places; ++k) out[k] = static_cast<double>(sum.place_[k]);
        out[places] = other_;
        return out;
    }
    static ExactSum from(const double *digits) {
        ExactSum sum;
        for (std::size_t k = 0; k < places; ++k) sum.place_[k] = static_cast<std::int64_t>(digits[k]);
        sum.other_ = digits[places];
        return sum;
    }

  private:
    static constexpr std::uint32_t most_terms = 1u << 28;  // of less than 2^34 each

    // The nearest double of a sum that is not negative and has no carries left, so that powers of two as factors
    // change nothing but the exponent.
    double rounded() const {
        std::size_t top = places - 1;
        while (top > 2 && place_[top] == 0) --top;
        const auto bits = [&](std::size_t k) { return static_cast<std::uint64_t>(place_[k]); };
        std::uint64_t lead = bits(top) << 32 | bits(top - 1), rest = bits(top - 2);
        int exponent = static_cast<int>(32 * (top - 1)) - 1074;
        if (lead == 0) return std::ldexp(static_cast<double>(rest), exponent - 32);
        for (; lead >> 63 == 0; --exponent) {
            rest <<= 1;
            lead = lead << 1 | rest >> 32;
            rest &= 0xffffffff;
        }
        for (std::size_t k = 0; k + 2 < top; ++k) rest |= bits(k);
        return std::ldexp(static_cast<double>(lead | (rest != 0 ? 1u : 0u)), exponent);  // rounds once
    }

    // All places but the last one hold 0 .. 2^32-1; the sign of the sum is the last one's.
    void carry() {
        for (std::size_t k = 0; k + 1 < places; ++k) {
            place_[k + 1] += place_[k] >> 32;
            place_[k] &= 0xffffffff;
        }
        terms_ = 0;
    }

    std::array<std::int64_t, places> place_{};
    std::uint32_t terms_ = 0;
    double other_ = 0;
};

inline double exact_sum(const double *x, std::size_t count) {
    ExactSum sum;
    for (std::size_t i = 0; i < count; ++i) sum.add(x[i]);
    return sum.value();
}

}  // namespace planewise
