// What the files that know Python share: arrays in, arrays out, the GIL released in between.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "matrix.hpp"
#include "parallel.hpp"

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
Out<T> array(std::vector<T> &&from, std::size_t columns = 0) {
    auto kept = std::make_unique<std::vector<T>>(std::move(from));
    T *data = kept->data();
    const std::size_t size = kept->size();
    nb::capsule owner(kept.release(), [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    if (columns == 0) return Out<T>(data, {size}, owner);
    return Out<T>(data, {size / columns, columns}, owner);
}

// Runs work(threads, stop) without the GIL; Ctrl-C becomes KeyboardInterrupt. Nothing else may give the GIL away: here
// it is known what becomes of a thread when Python ends meanwhile.
void run_native(int n_threads, const std::function<void(Threads &, const std::function<bool()> &)> &work);

void check_length(std::size_t got, std::size_t wanted, const char *name);

// A training table with its scales, made once and grown on many times; it keeps the array alive.
class Table {
  public:
    // `categories` has the number of categories of each column, 0 for numbers; none at all: numbers everywhere.
    Table(Rows x, const Vector<double> &weight, int n_threads, const std::vector<std::int32_t> &categories)
        : kept_(x), matrix_{x.data(), x.shape(0), x.shape(1), {}, {}, categories} {
        if (weight.size() != x.shape(0)) throw std::invalid_argument("weight must have one entry a row");
        if (categories.size() > 0 && categories.size() != x.shape(1))
            throw std::invalid_argument("categories must have one entry a column");
        for (std::size_t j = 0; j < categories.size(); ++j) check_categories(j);
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            matrix_.find_scales(weight.data(), threads);
            matrix_.find_two_valued(threads);
        });
    }
    const Matrix &matrix() const { return matrix_; }

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

nb::dict to_dict(const Forest &forest);

void bind_trees(nb::module_ &m);  // one tree, forests, the test of features
void bind_boosting(nb::module_ &m);
void bind_machines(nb::module_ &m);  // minimal complexity machines
void bind_views(nb::module_ &m);     // neighbours in views, and the choice among views

}  // namespace planewise
