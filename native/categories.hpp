// Categorical columns: sets of categories, and the order in which a node looks at them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace planewise {

// Which categories are in a set: a bit each.
class CategorySet {
  public:
    CategorySet(const std::int32_t *category, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            const auto c = static_cast<std::size_t>(category[k]);
            if (c / 32 >= words_.size()) words_.resize(c / 32 + 1, 0);
            words_[c / 32] |= 1u << c % 32;
        }
    }
    // What a plane's term reads: 1 for a member, 0 for any other category, NaN for a missing one.
    float read(float x) const {
        if (x != x) return x;
        if (!(x >= 0 && x < 32.0f * static_cast<float>(words_.size()))) return 0.0f;
        const auto c = static_cast<std::size_t>(x);
        return static_cast<float>(words_[c / 32] >> c % 32 & 1u);
    }

  private:
    std::vector<std::uint32_t> words_;
};

// The categories of a column that a node's rows have, in the order of their target statistics. For two classes and for
// squared error the best of all subsets is a cut of the plain order; here small ones are shrunk to the usual.
class CategoryOrder {
  public:
    static constexpr std::int32_t absent = -1;

    // `adder` adds up the node's rows, whose categories are `x`.
    template <class S, class Rows>
    void arrange(const S &statistics, Rows &adder, const float *x, std::size_t count, std::int32_t categories,
                 const std::int64_t *total) {
        const std::size_t width = statistics.channels();
        missing_ = static_cast<std::size_t>(categories);
        code_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            code_[i] = static_cast<std::uint16_t>(x[i] == x[i] ? static_cast<std::int32_t>(x[i]) : categories);
        sums_.assign((missing_ + 1) * width, 0);
        adder.add(statistics, code_.data(), missing_ + 1, sums_.data());
        present_.clear();
        for (std::int32_t c = 0; c < categories; ++c)
            if (statistics.rows(&sums_[static_cast<std::size_t>(c) * width]) > 0) present_.push_back(c);
        key_.resize(missing_);
        statistics.order_keys(sums_.data(), present_, total, key_.data());
        std::sort(present_.begin(), present_.end(), [&](std::int32_t a, std::int32_t b) {
            const double mine = key_[static_cast<std::size_t>(a)], theirs = key_[static_cast<std::size_t>(b)];
            return mine < theirs || (mine == theirs && a < b);
        });
        place_.assign(missing_, absent);
        for (std::size_t k = 0; k < present_.size(); ++k)
            place_[static_cast<std::size_t>(present_[k])] = static_cast<std::int32_t>(k);
        find_chance(statistics, total);
    }
    std::int32_t place(float x) const { return place_[static_cast<std::size_t>(x)]; }
    const std::vector<std::int32_t> &present() const { return present_; }  // first to last
    // The bin of the category at each place is the number of edges (ascending) not above it.
    void set_bins(const float *edges, int bins) {
        bin_.resize(missing_ + 1);
        int b = 0;
        for (std::size_t k = 0; k < present_.size(); ++k) {
            while (b < bins - 1 && static_cast<float>(k) >= edges[b]) ++b;
            bin_[static_cast<std::size_t>(present_[k])] = static_cast<std::uint8_t>(b);
        }
        bin_[missing_] = static_cast<std::uint8_t>(bins);
    }
    std::uint8_t bin(float x) const { return bin_[x == x ? static_cast<std::size_t>(x) : missing_]; }
    // Adds the sums of the categories, and of the missing values, to those of their bins.
    void add_up_bins(std::size_t width, std::int64_t *sums) const {
        const auto add = [&](std::size_t category) {
            const std::int64_t *from = &sums_[category * width];
            for (std::size_t k = 0; k < width; ++k) sums[bin_[category] * width + k] += from[k];
        };
        for (std::int32_t c : present_) add(static_cast<std::size_t>(c));
        add(missing_);
    }
    template <class S>
    std::size_t rows_missing(const S &statistics) const {
        return static_cast<std::size_t>(statistics.rows(&sums_[missing_ * statistics.channels()]));
    }
    // Where nothing is to be learned the best cut through the order gains so much more than a cut between two values,
    // which every other candidate has too.
    double by_chance() const { return by_chance_; }

  private:
    // Two categories are free, as two values of a number are, but only as far as they have more than a row each: of
    // identifiers nothing is left.
    template <class S>
    void find_chance(const S &statistics, const std::int64_t *total) {
        const auto levels = static_cast<double>(present_.size());
        double rows = 0;
        for (std::int32_t c : present_)
            rows += statistics.count(&sums_[static_cast<std::size_t>(c) * statistics.channels()]);
        by_chance_ = 0;
        if (!(levels > 2)) return;
        const double free = rows > levels ? 2 * (rows - levels) / (rows - 2) : 0.0;
        by_chance_ = (levels - free) / levels * statistics.chance_of_order(sums_.data(), present_, total);
    }

    std::vector<std::int32_t> place_, present_;
    std::size_t missing_ = 0;          // stands for missing values, after the last category
    std::vector<std::uint16_t> code_;  // by row
    std::vector<std::uint8_t> bin_;    // by category, then of missing values
    std::vector<std::int64_t> sums_;   // the same
    std::vector<double> key_;
    double by_chance_ = 0;
};

}  // namespace planewise
