// What the files that know Python share: arrays in, arrays out, the GIL released in between.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "matrix.hpp"
#include "objectives.hpp"
#include "parallel.hpp"
#include "predict.hpp"

namespace planewise {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = Vector<std::int32_t>;
using Numbers = Vector<double>;
using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::c_contig>;

template <class T>
using Filled = nb::ndarray<T, nb::c_contig, nb::device::cpu>;  // an array the core writes into

// Hands a vector to NumPy without a copy.
template <class T>
Out<T> array(std::vector<T> &&from, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<std::vector<T>>(std::move(from));
    T *data = kept->data();
    nb::capsule owner(kept.release(), [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return Out<T>(data, shape, owner);
}
template <class T>
Out<T> array(std::vector<T> &&from) {
    const std::size_t size = from.size();
    return array(std::move(from), {size});
}
template <class T>
Out<T> array(std::vector<T> &&from, std::size_t columns) {
    const std::size_t rows = columns == 0 ? 0 : from.size() / columns;
    return array(std::move(from), {rows, columns});
}

// Runs work(threads, stop) without the GIL; Ctrl-C becomes KeyboardInterrupt. Nothing else may give the GIL away: here
// it is known what becomes of a thread when Python ends meanwhile.
void run_native(int n_threads, const std::function<void(Threads &, const std::function<bool()> &)> &work);

void check_length(std::size_t got, std::size_t wanted, const char *name);

// The length of an array of this shape, if memory has addresses for so many numbers.
std::size_t length_of(std::initializer_list<std::size_t> shape);

// A training table with its scales, made once and grown on many times; it keeps the array alive.
class Table {
  public:
    // Of rows that lie elsewhere.
    explicit Table(Matrix matrix) : matrix_(std::move(matrix)) {}
    // `categories` has the number of categories of each column, 0 for numbers; none at all: numbers everywhere.
    // `bodies`: whether robust bins will be wanted.
    Table(Rows x, const Vector<double> &weight, int n_threads, const std::vector<std::int32_t> &categories, bool bodies)
        : kept_(x), matrix_{x.data(), x.shape(0), x.shape(1), {}, {}, categories} {
        check_length(weight.size(), x.shape(0), "weight");
        if (categories.size() > 0 && categories.size() != x.shape(1))
            throw std::invalid_argument("categories must have one entry per column");
        for (std::size_t j = 0; j < categories.size(); ++j) check_categories(j);
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            matrix_.find_scales(weight.data(), threads);
            if (bodies) matrix_.find_bodies(weight.data(), threads);
        });
    }
    const Matrix &matrix() const { return matrix_; }
    Matrix &matrix() { return matrix_; }

  private:
    void check_categories(std::size_t j) const {
        if (!matrix_.is_categorical(j)) return;
        for (std::size_t i = 0; i < matrix_.rows; ++i) {
            const float x = matrix_.row(i)[j];
            if (x != x) continue;
            if (!(x >= 0 && x < static_cast<float>(matrix_.categories[j])))
                throw std::invalid_argument("categories must be numbered 0, 1, ...");
        }
    }
    Rows kept_;
    Matrix matrix_;
};

// A forest that Python holds, with its packed form, which is made when first asked for. It never changes: Python has
// views of its arrays.
class FittedForest {
  public:
    explicit FittedForest(Forest forest) : forest_(std::move(forest)), columns_(forest_.columns_used()) {}
    FittedForest(FittedForest &&other) noexcept : forest_(std::move(other.forest_)), columns_(other.columns_) {}

    const Forest &arrays() const { return forest_; }
    std::size_t columns() const { return columns_; }
    const Predictor &predictor() const {
        std::call_once(predictor_made_, [&] { predictor_ = std::make_unique<Predictor>(forest_); });
        return *predictor_;
    }

  private:
    Forest forest_;
    std::size_t columns_;
    mutable std::once_flag predictor_made_;  // threads may predict at the same time
    mutable std::unique_ptr<Predictor> predictor_;
};

// One number per row, rows x outputs, or for ranking rows x (grade, query).
using Targets = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// The objective for scores of so many outputs and these targets; an error if they do not go together.
Objective fitting(Objective objective, const Targets &target, std::size_t rows, std::size_t outputs);

void bind_forest(nb::module_ &m);
void bind_trees(nb::module_ &m);  // growing: one tree, forests; the test of features
void bind_boosting(nb::module_ &m);
void bind_parts(nb::module_ &m);     // boosting and columns of rows that lie in parts
void bind_machines(nb::module_ &m);  // minimal complexity machines
void bind_views(nb::module_ &m);     // neighbours in views, and the choice among views

}  // namespace planewise
