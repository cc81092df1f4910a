// Generated tables and targets, the same on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "matrix.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace tables {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// About normal: the sum of twelve uniforms.
inline double bell(planewise::Random &random) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += random.uniform();
    return sum;
}

// Rows with the storage they live in.
class Table {
  public:
    Table(std::size_t rows, std::size_t columns)
        : values_(rows * columns), weight_(rows, 1.0), matrix_{values_.data(), rows, columns, {}, {}} {}
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;

    std::size_t rows() const { return matrix_.rows; }
    std::size_t columns() const { return matrix_.columns; }
    float &at(std::size_t i, std::size_t j) { return values_[i * columns() + j]; }
    float at(std::size_t i, std::size_t j) const { return values_[i * columns() + j]; }
    std::vector<double> &weight() { return weight_; }
    // Makes a column one of categories, drawn anew; as many rows as `missing_every` says are missing (0: none).
    void fill_categories(std::size_t j, std::int32_t count, std::uint64_t seed, std::uint32_t missing_every = 0) {
        planewise::Random random(seed, 29);
        matrix_.categories.resize(columns(), 0);
        matrix_.categories[j] = count;
        for (std::size_t i = 0; i < rows(); ++i) {
            at(i, j) = static_cast<float>(random.below(static_cast<std::uint32_t>(count)));
            if (missing_every > 0 && random.below(missing_every) == 0) at(i, j) = missing;
        }
    }

    // To be called when the values are final.
    const planewise::Matrix &matrix(int threads = 1) {
        planewise::Threads pool(threads);
        matrix_.find_scales(weight_.data(), pool);
        return matrix_;
    }
    const float *values() const { return values_.data(); }

    // Normal columns; every `missing_every`-th value or so is missing (0: none).
    void fill(std::uint64_t seed, std::uint32_t missing_every = 0) {
        planewise::Random random(seed, 17);
        for (float &v : values_) {
            v = static_cast<float>(bell(random));
            if (missing_every > 0 && random.below(missing_every) == 0) v = missing;
        }
    }

  private:
    std::vector<float> values_;
    std::vector<double> weight_;
    planewise::Matrix matrix_;
};

inline std::vector<std::int32_t> all_features(const planewise::Matrix &matrix) {
    std::vector<std::int32_t> all(matrix.columns);
    for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<std::int32_t>(j);
    return all;
}

inline double or_zero(float v) { return v == v ? static_cast<double>(v) : 0.0; }

// A smooth function of the first three columns with noise.
inline std::vector<double> numbers(const Table &table, std::uint64_t seed) {
    planewise::Random random(seed, 23);
    std::vector<double> y(table.rows());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double a = or_zero(table.at(i, 0)), b = or_zero(table.at(i, table.columns() > 1 ? 1 : 0)),
                     c = or_zero(table.at(i, table.columns() > 2 ? 2 : 0));
        y[i] = 2 * a - b + std::sin(2 * c) + a * b + 0.3 * bell(random);
    }
    return y;
}

// Classes by bands of such a function.
inline std::vector<std::int32_t> labels(const Table &table, std::int32_t classes, std::uint64_t seed) {
    const std::vector<double> y = numbers(table, seed);
    std::vector<std::int32_t> label(y.size());
    for (std::size_t i = 0; i < y.size(); ++i)
        label[i] = static_cast<std::int32_t>(std::fmod(std::fabs(std::floor(0.7 * y[i])), classes));
    return label;
}

template <class T>
bool same_bytes(const std::vector<T> &a, const std::vector<T> &b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool close(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance; }

}  // namespace tables
