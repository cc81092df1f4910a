// The only file that knows Python: arrays in, arrays out, the GIL released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "adam.hpp"
#include "bag.hpp"
#include "boost.hpp"
#include "complexity_program.hpp"
#include "contributions.hpp"
#include "feature_test.hpp"
#include "forest.hpp"
#include "grow.hpp"
#include "matrix.hpp"
#include "neighbours.hpp"
#include "parallel.hpp"
#include "predict.hpp"
#include "projection_choice.hpp"
#include "statistics.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace planewise;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::c_contig>;

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

// Ctrl-C: Python's signal handlers run now and then on the calling thread.
class SignalCheck {
  public:
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return false;
        last_ = now;
        nb::gil_scoped_acquire held;
        return PyErr_CheckSignals() != 0;
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Runs work(threads, stop) without the GIL; Ctrl-C becomes KeyboardInterrupt.
void run_native(int n_threads, const std::function<void(Threads &, const std::function<bool()> &)> &work) {
    bool interrupted = false;
    {
        nb::gil_scoped_release released;
        Threads threads(n_threads);
        SignalCheck signals;
        try {
            work(threads, [&] { return signals(); });
        } catch (const Interrupted &) {
            interrupted = true;
        }
    }
    if (interrupted) throw nb::python_error();
}

using Changed = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

void adam(const Changed &value, const Changed &gradient, const Changed &momentum, const Changed &squares,
          const Changed &average, float rate, float price, float momentum_memory, float squares_memory,
          float averaging_memory) {
    const std::size_t count = value.size();
    if (gradient.size() != count || momentum.size() != count || squares.size() != count || average.size() != count)
        throw std::invalid_argument("the arrays of a step must have equal sizes");
    nb::gil_scoped_release released;
    adam_step(value.data(), gradient.data(), momentum.data(), squares.data(), average.data(), count,
              {rate, price, momentum_memory, squares_memory, averaging_memory});
}

// The choice of every row among views: two views, the share of the second, and z . b.
nb::tuple choose_projections(const Rows &entropy, const Vector<float> &least, const Vector<std::int32_t> &best,
                             const Vector<std::int32_t> &order, const Vector<double> &delta, double lam,
                             int n_threads) {
    const LocalEntropies z{entropy.data(), entropy.shape(0), entropy.shape(1)};
    if (least.size() != z.rows || best.size() != z.rows)
        throw std::invalid_argument("least and best must have one entry a row");
    if (order.size() != delta.size()) throw std::invalid_argument("order and delta must have equal sizes");
    const std::vector<std::int32_t> views(order.data(), order.data() + order.size());
    const std::vector<double> price(delta.data(), delta.data() + delta.size());
    for (const std::int32_t j : views)
        if (j < 0 || static_cast<std::size_t>(j) >= z.views) throw std::invalid_argument("no such view");
    std::vector<RowChoice> choice(z.rows);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        choose_for_rows(z, least.data(), best.data(), views, price, lam, choice.data(), threads);
    });
    std::vector<std::int32_t> first(z.rows), second(z.rows);
    std::vector<double> share(z.rows), value(z.rows);
    for (std::size_t i = 0; i < z.rows; ++i) {
        first[i] = choice[i].first;
        second[i] = choice[i].second;
        share[i] = choice[i].share;
        value[i] = choice[i].value;
    }
    return nb::make_tuple(array(std::move(first)), array(std::move(second)), array(std::move(share)),
                          array(std::move(value)));
}

Out<double> projection_gains(const Rows &entropy, const Vector<double> &weight, const Vector<float> &current,
                             int n_threads) {
    const LocalEntropies z{entropy.data(), entropy.shape(0), entropy.shape(1)};
    if (weight.size() != z.rows || current.size() != z.rows)
        throw std::invalid_argument("weight and current must have one entry a row");
    std::vector<double> gain(z.views);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        facility_gains(z, weight.data(), current.data(), gain.data(), threads);
    });
    return array(std::move(gain));
}

Out<double> decision_loss(const Rows &entropy, const Vector<double> &weight, const Vector<float> &least,
                          const Vector<float> &largest, int n_threads) {
    const LocalEntropies z{entropy.data(), entropy.shape(0), entropy.shape(1)};
    if (weight.size() != z.rows || least.size() != z.rows || largest.size() != z.rows)
        throw std::invalid_argument("weight, least and largest must have one entry a row");
    std::vector<double> loss(z.views);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        decision_losses(z, weight.data(), least.data(), largest.data(), loss.data(), threads);
    });
    return array(std::move(loss));
}

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
        nb::gil_scoped_release released;
        Threads threads(n_threads);
        matrix_.find_scales(weight.data(), threads);
        matrix_.find_two_valued(threads);
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

nb::dict to_dict(Tree tree) {
    nb::dict out;
    const std::size_t outputs = tree.outputs;
    out["plane_start"] = array(std::move(tree.plane_start));
    out["child_start"] = array(std::move(tree.child_start));
    out["children"] = array(std::move(tree.children));
    out["parent"] = array(std::move(tree.parent));
    out["depth"] = array(std::move(tree.depth));
    out["n_samples"] = array(std::move(tree.rows));
    out["weight"] = array(std::move(tree.weight));
    out["impurity"] = array(std::move(tree.impurity));
    out["gain"] = array(std::move(tree.gain));
    out["value"] = array(std::move(tree.value), outputs);
    out["term_start"] = array(std::move(tree.term_start));
    out["threshold"] = array(std::move(tree.threshold));
    out["missing_right"] = array(std::move(tree.missing_right));
    out["plane_gain"] = array(std::move(tree.plane_gain));
    out["term_feature"] = array(std::move(tree.term_feature));
    out["term_coefficient"] = array(std::move(tree.term_coefficient));
    out["term_weight"] = array(std::move(tree.term_weight));
    out["set_start"] = array(std::move(tree.set_start));
    out["set_category"] = array(std::move(tree.set_category));
    return out;
}

// Grows with `statistics` already filled; the answer is (tree arrays, leaf of every row).
template <class S>
nb::tuple grow_tree(const Matrix &matrix, const S &statistics, const GrowOptions &options, int n_threads) {
    Grown<S> grown;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        grown = grow(matrix, statistics, options, threads, stop);
    });
    return nb::make_tuple(to_dict(std::move(grown.tree)), array(std::move(grown.leaf)));
}

void check_length(std::size_t got, std::size_t wanted, const char *name) {
    if (got != wanted) throw std::invalid_argument(std::string(name) + " must have one entry a row");
}

using Labels = Vector<std::int32_t>;
using Numbers = Vector<double>;

ClassCounts class_counts(const Table &table, const Labels &label, const Numbers &weight, std::size_t n_classes,
                         bool gini) {
    check_length(label.size(), table.matrix().rows, "label");
    check_length(weight.size(), table.matrix().rows, "weight");
    for (std::size_t i = 0; i < label.size(); ++i)
        if (label.data()[i] < 0 || static_cast<std::size_t>(label.data()[i]) >= n_classes)
            throw std::invalid_argument("label must lie in 0 .. n_classes - 1");
    ClassCounts statistics(n_classes, gini ? Criterion::gini : Criterion::entropy);
    statistics.assign(label.data(), weight.data(), label.size());
    return statistics;
}

// Squared error around `centre`d targets.
Gradients squared_error(const Table &table, const Numbers &centred, const Numbers &weight) {
    check_length(centred.size(), table.matrix().rows, "target");
    check_length(weight.size(), table.matrix().rows, "weight");
    std::vector<double> gradient(centred.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = -weight.data()[i] * centred.data()[i];
    Gradients statistics = Gradients::squared_error();
    statistics.assign(gradient.data(), weight.data(), gradient.size());
    return statistics;
}

nb::tuple grow_classes(const Table &table, const Labels &label, const Numbers &weight, std::size_t n_classes, bool gini,
                       const GrowOptions &options, int n_threads) {
    return grow_tree(table.matrix(), class_counts(table, label, weight, n_classes, gini), options, n_threads);
}

nb::tuple grow_numbers(const Table &table, const Numbers &target, const Numbers &weight, const GrowOptions &options,
                       int n_threads) {
    return grow_tree(table.matrix(), squared_error(table, target, weight), options, n_threads);
}

nb::dict to_dict(const Forest &forest) {
    nb::dict out = to_dict(forest.all);
    out["node_start"] = array(std::vector<std::int32_t>(forest.node_start));
    return out;
}

template <class S>
nb::dict grow_trees(const Table &table, const Numbers &weight, const std::function<S(const double *)> &statistics_of,
                    const GrowOptions &options, std::size_t draws, std::uint64_t seed, std::size_t first,
                    std::size_t last, int n_threads) {
    Forest forest;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        forest = grow_bag<S>(table.matrix(), weight.data(), statistics_of, BagOptions{options, draws, seed}, first,
                             last, threads, stop);
    });
    return to_dict(forest);
}

nb::dict grow_class_trees(const Table &table, const Labels &label, const Numbers &weight, std::size_t n_classes,
                          bool gini, const GrowOptions &options, std::size_t draws, std::uint64_t seed,
                          std::size_t first, std::size_t last, int n_threads) {
    class_counts(table, label, weight, n_classes, gini);  // checks
    return grow_trees<ClassCounts>(
        table, weight,
        [&](const double *own) {
            ClassCounts statistics(n_classes, gini ? Criterion::gini : Criterion::entropy);
            statistics.assign(label.data(), own, label.size());
            return statistics;
        },
        options, draws, seed, first, last, n_threads);
}

nb::dict grow_number_trees(const Table &table, const Numbers &target, const Numbers &weight, const GrowOptions &options,
                           std::size_t draws, std::uint64_t seed, std::size_t first, std::size_t last, int n_threads) {
    check_length(target.size(), table.matrix().rows, "target");
    check_length(weight.size(), table.matrix().rows, "weight");
    return grow_trees<Gradients>(
        table, weight,
        [&](const double *own) {
            std::vector<double> gradient(target.size());
            for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = -own[i] * target.data()[i];
            Gradients statistics = Gradients::squared_error();
            statistics.assign(gradient.data(), own, gradient.size());
            return statistics;
        },
        options, draws, seed, first, last, n_threads);
}

Out<std::uint32_t> bootstrap(std::size_t rows, std::size_t draws, std::uint64_t seed, std::size_t tree) {
    return array(draw_with_replacement(rows, draws, seed, tree));
}

// (loss, threshold) of every feature alone.
template <class S>
nb::tuple test_all(const Table &table, const S &statistics, const GrowOptions &options, int n_threads) {
    FeatureTest test;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        test = test_features(table.matrix(), statistics, options.choose, threads, stop);
    });
    return nb::make_tuple(array(std::move(test.loss)), array(std::move(test.threshold)));
}

nb::tuple test_classes(const Table &table, const Labels &label, const Numbers &weight, std::size_t n_classes, bool gini,
                       const GrowOptions &options, int n_threads) {
    return test_all(table, class_counts(table, label, weight, n_classes, gini), options, n_threads);
}

nb::tuple test_numbers(const Table &table, const Numbers &target, const Numbers &weight, const GrowOptions &options,
                       int n_threads) {
    return test_all(table, squared_error(table, target, weight), options, n_threads);
}

Out<std::int32_t> apply_tree(const Rows &x, const Vector<std::int32_t> &plane_start,
                             const Vector<std::int32_t> &child_start, const Vector<std::int32_t> &children,
                             const Vector<std::int32_t> &term_start, const Vector<std::int32_t> &term_feature,
                             const Vector<float> &term_weight, const Vector<float> &threshold,
                             const Vector<std::uint8_t> &missing_right, const Labels &set_start,
                             const Labels &set_category, int n_threads) {
    const TreeView tree{threshold.size(),     plane_start.data(),  child_start.data(), children.data(),
                        term_start.data(),    term_feature.data(), threshold.data(),   term_weight.data(),
                        missing_right.data(), set_start.data(),    set_category.data()};
    std::vector<std::int32_t> leaf(x.shape(0));
    {
        nb::gil_scoped_release released;
        Threads threads(x.shape(0) < 8192 ? 1 : n_threads);
        apply(tree, x.data(), x.shape(0), x.shape(1), threads, leaf.data());
    }
    return array(std::move(leaf));
}

Loss loss_named(const std::string &name) {
    const std::pair<const char *, Loss> known[] = {{"squared", Loss::squared}, {"absolute", Loss::absolute},
                                                   {"huber", Loss::huber},     {"quantile", Loss::quantile},
                                                   {"poisson", Loss::poisson}, {"logistic", Loss::logistic},
                                                   {"softmax", Loss::softmax}};
    for (const auto &[word, loss] : known)
        if (name == word) return loss;
    throw std::invalid_argument("unknown loss: " + name);
}

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A booster with the table it learns from; the table must outlive it (kept alive by the binding).
class Boosting {
  public:
    Boosting(const Table &table, const Numbers &target, const Numbers &weight, const Scores &score, std::size_t trees,
             const std::string &loss, double alpha, double learning_rate, double reg_lambda, double subsample,
             double colsample, std::size_t max_rows_per_tree, std::uint64_t seed, bool find_smoothing,
             bool vector_leaves, const GrowOptions &options, int n_threads)
        : booster_(table.matrix(), vector_of(target, table, "target"), vector_of(weight, table, "weight"),
                   std::vector<double>(score.data(), score.data() + score.size()), trees,
                   BoostOptions{options, Objective{loss_named(loss), alpha, score.shape(1)}, learning_rate, reg_lambda,
                                subsample, colsample, max_rows_per_tree, seed, find_smoothing, vector_leaves}),
          rows_(table.matrix().rows),
          columns_(table.matrix().columns),
          n_threads_(n_threads) {
        check_length(score.shape(0), rows_, "score");
    }

    // Several rounds in one call, threads started once; fewer when interrupted by an exception.
    void rounds(int count) {
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &stop) {
            for (int k = 0; k < count; ++k) booster_.round(threads, stop);
        });
    }
    void round_with(const Scores &gradient, const Scores &hessian) {
        for (const Scores *given : {&gradient, &hessian})
            if (given->shape(0) != rows_ || given->shape(1) != booster_.outputs())
                throw std::invalid_argument("gradient and hessian must have one row a row and one column an output");
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &stop) {
            booster_.round_with(gradient.data(), hessian.data(), threads, stop);
        });
    }
    void watch(const Table &table, const Numbers &target, const Numbers &weight, const Scores &score) {
        check_length(score.shape(0), table.matrix().rows, "score");
        booster_.watch(table.matrix(), vector_of(target, table, "target"), vector_of(weight, table, "weight"),
                       std::vector<double>(score.data(), score.data() + score.size()));
    }
    void begin_at(const Numbers &base) {
        if (base.size() != booster_.outputs()) throw std::invalid_argument("base must have one entry an output");
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &) {
            booster_.begin_at(std::vector<double>(base.data(), base.data() + base.size()), threads);
        });
    }
    void begin_with(const Scores &hessian) {
        if (hessian.shape(0) != rows_ || hessian.shape(1) != booster_.outputs())
            throw std::invalid_argument("hessian must have one row a row and one column an output");
        booster_.begin_with(hessian.data());
    }
    void recall(std::size_t output, const Labels &start, const Labels &feature, const Labels &coefficient) {
        Directions known;
        for (std::size_t d = 0; d + 1 < start.size(); ++d) {
            for (std::int32_t t = start.data()[d]; t < start.data()[d + 1]; ++t) {
                const auto at = static_cast<std::size_t>(t);
                if (at >= feature.size() || at >= coefficient.size() || feature.data()[at] < 0 ||
                    static_cast<std::size_t>(feature.data()[at]) >= columns_)
                    throw std::invalid_argument("no such term or feature");
                known.add_term(feature.data()[at], coefficient.data()[at], 1.0);
            }
            known.close();
        }
        booster_.recall(output, std::move(known));
    }
    // outputs x strengths.
    Out<double> smoothing_losses() const {
        std::vector<double> out;
        for (const SmoothingSearch &search : booster_.smoothing())
            out.insert(out.end(), search.losses().begin(), search.losses().end());
        return array(std::move(out), SmoothingSearch::strengths.size());
    }
    void set_smoothing_losses(const Scores &losses) {
        SmoothingSearch::Losses one;
        if (losses.shape(0) != booster_.outputs() || losses.shape(1) != one.size())
            throw std::invalid_argument("losses must have one row an output and one column a strength");
        for (std::size_t output = 0; output < losses.shape(0); ++output) {
            std::copy_n(losses.data() + output * one.size(), one.size(), one.begin());
            booster_.set_smoothing(output, one);
        }
    }
    Out<double> left_out() const { return array(std::vector<double>(booster_.left_out()), booster_.outputs()); }
    void set_left_out(const Scores &score) {
        if (score.shape(0) != 0) check_length(score.shape(0), rows_, "score");
        if (score.shape(1) != booster_.outputs()) throw std::invalid_argument("score must have one column an output");
        booster_.set_left_out(std::vector<double>(score.data(), score.data() + score.size()));
    }
    double loss() const { return booster_.mean_loss(); }
    double watched_loss() const { return booster_.watched_loss(); }
    Out<double> watched_score() const {
        return array(std::vector<double>(booster_.watched_score()), booster_.outputs());
    }
    Out<double> score() const { return array(std::vector<double>(booster_.score()), booster_.outputs()); }
    nb::dict forest() const { return to_dict(booster_.forest()); }

  private:
    static std::vector<double> vector_of(const Numbers &from, const Table &table, const char *name) {
        check_length(from.size(), table.matrix().rows, name);
        return std::vector<double>(from.data(), from.data() + from.size());
    }
    Booster booster_;
    std::size_t rows_, columns_;
    int n_threads_;
};

// rows x outputs x (columns + 1): what each feature added to each row's sum.
Out<double> contributions(const Rows &x, const Labels &node_start, const Labels &plane_start, const Labels &child_start,
                          const Labels &children, const Labels &term_start, const Labels &term_feature,
                          const Vector<float> &term_weight, const Vector<float> &threshold,
                          const Vector<std::uint8_t> &missing_right, const Labels &set_start,
                          const Labels &set_category, const Rows &value, std::size_t outputs,
                          const Labels &term_coefficient, const Scores &usual, const Vector<float> &mean,
                          int n_threads) {
    if (mean.size() != x.shape(1)) throw std::invalid_argument("mean must have one entry a column");
    if (usual.shape(0) != value.shape(0) || usual.shape(1) != value.shape(1))
        throw std::invalid_argument("usual must be shaped like value");
    for (std::size_t k = 0; k < term_feature.size(); ++k)
        if (static_cast<std::size_t>(term_feature.data()[k]) >= x.shape(1))
            throw std::invalid_argument("x has fewer columns than the trees use");
    const ContributionView view{
        ForestView{node_start.size() - 1, plane_start.size() - 1, threshold.size(), value.shape(1), outputs,
                   node_start.data(), plane_start.data(), child_start.data(), children.data(), term_start.data(),
                   term_feature.data(), threshold.data(), term_weight.data(), value.data(), missing_right.data(),
                   set_start.data(), set_category.data()},
        term_coefficient.data(), usual.data(), mean.data(), x.shape(1)};
    std::vector<double> out(x.shape(0) * outputs * (x.shape(1) + 1), 0.0);
    {
        nb::gil_scoped_release released;
        Threads threads(x.shape(0) < 1024 ? 1 : n_threads);
        add_contributions(view, x.data(), x.shape(0), threads, out.data());
    }
    return array(std::move(out), outputs * (x.shape(1) + 1));
}

// The packed form of a forest, for quick answers.
class ForestPredictor {
  public:
    ForestPredictor(const Labels &node_start, const Labels &plane_start, const Labels &child_start,
                    const Labels &children, const Labels &term_start, const Labels &term_feature,
                    const Vector<float> &term_weight, const Vector<float> &threshold,
                    const Vector<std::uint8_t> &missing_right, const Labels &set_start, const Labels &set_category,
                    const Rows &value, std::size_t outputs)
        : outputs_(outputs), trees_(node_start.size() - 1), large_(plane_start.size() > 256 * node_start.size()) {
        for (std::size_t k = 0; k < term_feature.size(); ++k)
            columns_ = std::max(columns_, static_cast<std::size_t>(term_feature.data()[k]) + 1);
        packed_ = pack(ForestView{trees_, plane_start.size() - 1, threshold.size(), value.shape(1), outputs_,
                                  node_start.data(), plane_start.data(), child_start.data(), children.data(),
                                  term_start.data(), term_feature.data(), threshold.data(), term_weight.data(),
                                  value.data(), missing_right.data(), set_start.data(), set_category.data()});
    }
    // base + the sum of trees first .. last-1 for each row of x.
    Out<double> sum(const Rows &x, const Numbers &base, std::size_t first, std::size_t last, int n_threads) const {
        if (base.size() != outputs_) throw std::invalid_argument("base must have one entry an output");
        if (first > last || last > trees_) throw std::invalid_argument("no such trees");
        if (x.shape(1) < columns_) throw std::invalid_argument("x has fewer columns than the trees use");
        const std::size_t rows = x.shape(0), columns = x.shape(1);
        std::vector<double> out(rows * outputs_);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = base.data()[i % outputs_];
        const auto work = [&](std::size_t begin, std::size_t end) {
            packed_->add(x.data() + begin * columns, end - begin, columns, first, last, out.data() + begin * outputs_);
        };
        // Rows that stay near while the trees pass; large trees should pass seldom.
        const std::size_t chunk = large_ ? 8192 : 512;
        if (rows * (last - first) < 50'000) {  // little work: neither a thread nor giving the GIL away would pay
            for (std::size_t begin = 0; begin < rows; begin += chunk) work(begin, std::min(rows, begin + chunk));
        } else {
            nb::gil_scoped_release released;
            Threads threads(n_threads);
            threads.each((rows + chunk - 1) / chunk,
                         [&](std::size_t k, int) { work(k * chunk, std::min(rows, (k + 1) * chunk)); });
        }
        return array(std::move(out), outputs_);
    }

  private:
    std::size_t outputs_, trees_, columns_ = 0;
    bool large_;
    std::unique_ptr<Predictor> packed_;
};

// The linear program of the minimal complexity machine; columns come in as rows of an array, each contiguous.
class Program {
  public:
    Program(const Numbers &sign, const Numbers &weight)
        : program_(std::vector<double>(sign.data(), sign.data() + sign.size()),
                   std::vector<double>(weight.data(), weight.data() + weight.size())) {
        check_length(weight.size(), sign.size(), "weight");
        if (sign.size() == 0) throw std::invalid_argument("a program needs a row");
    }
    void add_columns(const Scores &columns, const Numbers &penalty) {
        check_length(columns.shape(1), program_.rows(), "each column");
        if (penalty.size() != columns.shape(0)) throw std::invalid_argument("penalty must have one entry a column");
        program_.add_columns(columns.data(), penalty.data(), columns.shape(0));
    }
    void set_costs(double slack_cost, double coefficient_cost) { program_.set_costs(slack_cost, coefficient_cost); }
    std::string walk(std::size_t most_steps) {
        ComplexityProgram::Outcome outcome{};
        run_native(1, [&](Threads &, const std::function<bool()> &stop) {
            outcome = program_.walk(most_steps, [&] {
                if (stop()) throw Interrupted();
            });
        });
        if (outcome == ComplexityProgram::Outcome::optimal) return "optimal";
        return outcome == ComplexityProgram::Outcome::failed ? "failed" : "out of steps";
    }
    void restart() { program_.restart(); }
    Program restricted() const { return Program(program_.restricted()); }
    Out<std::int64_t> free_columns() const {
        const std::vector<std::size_t> from = program_.free_columns();
        return array(std::vector<std::int64_t>(from.begin(), from.end()));
    }
    std::size_t steps() const { return program_.steps(); }
    double dual_value() const { return program_.dual_value(); }
    Out<double> coefficients() const { return array(program_.coefficients()); }
    Out<double> multipliers() const { return array(program_.multipliers()); }
    Out<double> scores() const { return array(program_.scores()); }

  private:
    explicit Program(ComplexityProgram program) : program_(std::move(program)) {}
    ComplexityProgram program_;
};

template <class T>
using Filled = nb::ndarray<T, nb::c_contig, nb::device::cpu>;  // an array the core writes into

Points points_of(const Rows &x, const Vector<float> &categorical) {
    if (categorical.size() != 0 && categorical.size() != x.shape(1))
        throw std::invalid_argument("categorical must have one entry a column");
    return {x.data(), x.shape(0), x.shape(1), categorical.size() != 0 ? categorical.data() : nullptr};
}

Views views_of(const Labels &start, const Labels &column, std::size_t columns) {
    Views views{{start.data(), start.data() + start.size()}, {column.data(), column.data() + column.size()}};
    if (views.start.empty() || views.start.front() != 0 || views.start.back() != column.size() ||
        !std::is_sorted(views.start.begin(), views.start.end()))
        throw std::invalid_argument("view_start must rise from 0 to the number of columns named");
    for (const std::int32_t j : views.column)
        if (j < 0 || static_cast<std::size_t>(j) >= columns) throw std::invalid_argument("no such column");
    return views;
}

void check_size(std::size_t got, std::size_t wanted, const char *name) {
    if (got != wanted) throw std::invalid_argument(std::string(name) + " has the wrong size");
}

std::vector<std::int32_t> rows_of_table(const Labels &rows, std::size_t n_rows) {
    std::vector<std::int32_t> queries(rows.data(), rows.data() + rows.size());
    for (const std::int32_t q : queries)
        if (q < 0 || static_cast<std::size_t>(q) >= n_rows) throw std::invalid_argument("no such row");
    return queries;
}

// A search for two numbers for each view and row: keeps the arrays alive, and what views share between calls.
template <class Search>
class RowSearch {
  public:
    RowSearch(const Rows &x, const Labels &label, const Vector<float> &categorical)
        : x_(x), label_(label), categorical_(categorical), search_(points_of(x, categorical), checked(label, x)) {}
    RowSearch(const Rows &x, const Labels &label, const Vector<double> &weight, const Vector<float> &categorical)
        : x_(x),
          label_(label),
          categorical_(categorical),
          weight_(weight),
          search_(points_of(x, categorical), checked(label, x), checked(weight, x)) {}

    template <class Find>
    void run(const Labels &view_start, const Labels &view_column, const Labels &rows, const Filled<float> &first,
             const Filled<float> &second, int n_threads, Find find) {
        const Views views = views_of(view_start, view_column, x_.shape(1));
        check_size(first.size(), views.count() * rows.size(), "results");
        check_size(second.size(), first.size(), "results");
        const std::vector<std::int32_t> queries = rows_of_table(rows, x_.shape(0));
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
            find(search_, views, queries, threads, [&] {
                if (stop()) throw Interrupted();
            });
        });
    }

  private:
    template <class T>
    static const T *checked(const Vector<T> &one_a_row, const Rows &x) {
        check_length(one_a_row.size(), x.shape(0), "label and weight");
        return one_a_row.data();
    }
    Rows x_;
    Labels label_;
    Vector<float> categorical_;
    Vector<double> weight_;
    Search search_;
};

// Without labels (an empty array) all rows are of one class.
void nearest_of_classes(const Rows &x, const Labels &label, std::size_t classes, const Vector<float> &categorical,
                        const Labels &view_start, const Labels &view_column, const Rows &queries, const Labels &exclude,
                        std::size_t k, const Filled<std::int32_t> &row, const Filled<float> &distance, int n_threads) {
    const Points points = points_of(x, categorical);
    const Views views = views_of(view_start, view_column, points.columns);
    check_size(queries.shape(1), points.columns, "queries");
    check_size(row.size(), views.count() * queries.shape(0) * classes * k, "row");
    check_size(distance.size(), row.size(), "distance");
    if (exclude.size() != 0) check_size(exclude.size(), queries.shape(0), "exclude");
    if (label.size() != 0) check_length(label.size(), points.rows, "label");
    for (std::size_t i = 0; i < label.size(); ++i)
        if (label.data()[i] < 0 || static_cast<std::size_t>(label.data()[i]) >= classes)
            throw std::invalid_argument("label must lie in 0 .. n_classes - 1");
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        class_neighbours(points, label.size() != 0 ? label.data() : nullptr, views,
                         {queries.data(), queries.shape(0), exclude.size() != 0 ? exclude.data() : nullptr, classes, k,
                          row.data(), distance.data()},
                         threads, [&] {
                             if (stop()) throw Interrupted();
                         });
    });
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Native core of planewise: trees of hyperplanes.";
    m.attr("MOST_KNOWN") = most_known;
    nb::class_<Table>(m, "Table", "Training rows as float32, with the scale of each column.")
        .def(nb::init<Rows, const Vector<double> &, int, const std::vector<std::int32_t> &>(), "x"_a, "weight"_a,
             "n_threads"_a, "categories"_a = std::vector<std::int32_t>{})
        .def_prop_ro(
            "scale", [](const Table &table) { return array(std::vector<double>(table.matrix().scale)); },
            nb::rv_policy::move, "The standard deviation of each column; 0 for one of no use.")
        .def_prop_ro(
            "mean", [](const Table &table) { return array(std::vector<float>(table.matrix().mean)); },
            nb::rv_policy::move, "The mean of each column; NaN for categories and columns without a value.");
    nb::class_<DrawRound>(m, "DrawRound")
        .def(nb::init<int, double, double>(), "subspace_size"_a, "coef_decay"_a, "rank_decay"_a);
    nb::class_<GrowOptions>(m, "GrowOptions", "How to grow one tree; the estimators' docstrings say what each means.")
        .def(nb::init<>())
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("min_samples_split", &GrowOptions::min_samples_split)
        .def_rw("max_leaf_nodes", &GrowOptions::max_leaf_nodes)
        .def_rw("min_impurity_decrease", &GrowOptions::min_impurity_decrease)
        .def_rw("min_loss", &GrowOptions::min_loss)
        .def_rw("prune_margin", &GrowOptions::prune_margin)
        .def_rw("smoothing", &GrowOptions::smoothing)
        .def_rw("max_rows_per_node", &GrowOptions::max_rows_per_node)
        .def_rw("max_features", &GrowOptions::max_features)
        .def_rw("seed", &GrowOptions::seed)
        .def_rw("monotone", &GrowOptions::monotone)
#define PLANEWISE_NESTED(part, name)                             \
    .def_prop_rw(                                                \
        #name, [](const GrowOptions &o) { return o.part.name; }, \
        [](GrowOptions &o, decltype(std::declval<GrowOptions>().part.name) value) { o.part.name = value; })
            PLANEWISE_NESTED(draw, n_projections) PLANEWISE_NESTED(draw, rows_per_projection)
                PLANEWISE_NESTED(draw, max_coef) PLANEWISE_NESTED(draw, shared_subspace) PLANEWISE_NESTED(draw, rounds)
                    PLANEWISE_NESTED(choose, n_bins) PLANEWISE_NESTED(choose, refine)
                        PLANEWISE_NESTED(choose, max_planes) PLANEWISE_NESTED(choose, max_cosine)
                            PLANEWISE_NESTED(choose, min_relative_gain) PLANEWISE_NESTED(choose, max_joint)
                                PLANEWISE_NESTED(choose, min_samples_leaf) PLANEWISE_NESTED(choose, min_child_weight)
                                    PLANEWISE_NESTED(choose, min_split_gain) PLANEWISE_NESTED(choose, noise_margin)
#undef PLANEWISE_NESTED
        .def_prop_rw(
            "quantile_bins", [](const GrowOptions &o) { return o.choose.bins == Bins::quantile; },
            [](GrowOptions &o, bool quantile) { o.choose.bins = quantile ? Bins::quantile : Bins::uniform; })
        .def_prop_rw(
            "choose_by_cosine", [](const GrowOptions &o) { return o.choose.plane_choice == PlaneChoice::cosine; },
            [](GrowOptions &o, bool by_cosine) {
                o.choose.plane_choice = by_cosine ? PlaneChoice::cosine : PlaneChoice::joint;
            });
    m.def("grow_classes", &grow_classes, "table"_a, "label"_a, "weight"_a, "n_classes"_a, "gini"_a, "options"_a,
          "n_threads"_a, "Grows a classification tree: (tree arrays, leaf of every row).");
    m.def("grow_numbers", &grow_numbers, "table"_a, "target"_a, "weight"_a, "options"_a, "n_threads"_a,
          "Grows a regression tree on centred targets: (tree arrays, leaf of every row).");
    m.def("grow_class_trees", &grow_class_trees, "table"_a, "label"_a, "weight"_a, "n_classes"_a, "gini"_a, "options"_a,
          "draws"_a, "seed"_a, "first"_a, "last"_a, "n_threads"_a,
          "Grows trees first .. last-1 of a classification forest; draws=0: each on all rows.");
    m.def("grow_number_trees", &grow_number_trees, "table"_a, "target"_a, "weight"_a, "options"_a, "draws"_a, "seed"_a,
          "first"_a, "last"_a, "n_threads"_a, "Grows trees first .. last-1 of a regression forest on centred targets.");
    m.def("bootstrap", &bootstrap, "rows"_a, "draws"_a, "seed"_a, "tree"_a,
          "How often each row was drawn for a tree of a forest.");
    m.def("test_classes", &test_classes, "table"_a, "label"_a, "weight"_a, "n_classes"_a, "gini"_a, "options"_a,
          "n_threads"_a, "The one-dimensional test of every feature: (loss, threshold).");
    m.def("test_numbers", &test_numbers, "table"_a, "target"_a, "weight"_a, "options"_a, "n_threads"_a,
          "The one-dimensional test of every feature for centred targets: (loss, threshold).");
    nb::class_<Boosting>(m, "Boosting", "Second-order boosting on one table.")
        .def(nb::init<const Table &, const Numbers &, const Numbers &, const Scores &, std::size_t, const std::string &,
                      double, double, double, double, double, std::size_t, std::uint64_t, bool, bool,
                      const GrowOptions &, int>(),
             nb::keep_alive<1, 2>(), "table"_a, "target"_a, "weight"_a, "score"_a, "trees"_a, "loss"_a, "alpha"_a,
             "learning_rate"_a, "reg_lambda"_a, "subsample"_a, "colsample"_a, "max_rows_per_tree"_a, "seed"_a,
             "find_smoothing"_a, "vector_leaves"_a, "options"_a, "n_threads"_a)
        .def("rounds", &Boosting::rounds, "count"_a, "Grow that many rounds with the built-in loss.")
        .def("round_with", &Boosting::round_with, "gradient"_a, "hessian"_a, "Grow one round on these derivatives.")
        .def("watch", &Boosting::watch, nb::keep_alive<1, 2>(), "table"_a, "target"_a, "weight"_a, "score"_a,
             "Follow the scores of other rows as trees are added.")
        .def("begin_at", &Boosting::begin_at, "base"_a, "The constant scores before any tree.")
        .def("begin_with", &Boosting::begin_with, "hessian"_a, "The Hessian of one's own loss before any tree.")
        .def("recall", &Boosting::recall, "output"_a, "start"_a, "feature"_a, "coefficient"_a,
             "Directions of trees grown before, the newest first.")
        .def("smoothing_losses", &Boosting::smoothing_losses,
             "What the trials of smoothing have found so far, for a fit that goes on from this one.")
        .def("set_smoothing_losses", &Boosting::set_smoothing_losses, "losses"_a, "Those of the fit before.")
        .def("left_out", &Boosting::left_out, "Scores of the rows without their own part in them, if any are kept.")
        .def("set_left_out", &Boosting::set_left_out, "score"_a, "Those of the fit before.")
        .def("watched_loss", &Boosting::watched_loss, "Weighted mean loss on the watched rows now.")
        .def("watched_score", &Boosting::watched_score, "Raw scores of the watched rows now.")
        .def("loss", &Boosting::loss, "Weighted mean loss on the training rows now.")
        .def("score", &Boosting::score, "Raw scores of the training rows now.")
        .def("forest", &Boosting::forest, "All trees so far, as flat arrays.");
    nb::class_<ForestPredictor>(m, "ForestPredictor", "Trees packed for quick answers.")
        .def(nb::init<const Labels &, const Labels &, const Labels &, const Labels &, const Labels &, const Labels &,
                      const Vector<float> &, const Vector<float> &, const Vector<std::uint8_t> &, const Labels &,
                      const Labels &, const Rows &, std::size_t>(),
             "node_start"_a, "plane_start"_a, "child_start"_a, "children"_a, "term_start"_a, "term_feature"_a,
             "term_weight"_a, "threshold"_a, "missing_right"_a, "set_start"_a, "set_category"_a, "value"_a, "outputs"_a)
        .def("sum", &ForestPredictor::sum, "x"_a, "base"_a, "first"_a, "last"_a, "n_threads"_a,
             "base + the values of trees first .. last-1, summed for each row.");
    nb::class_<Program>(m, "ComplexityProgram", "The minimal complexity machine's linear program and its vertex.")
        .def(nb::init<const Numbers &, const Numbers &>(), "sign"_a, "weight"_a)
        .def("add_columns", &Program::add_columns, "columns"_a, "penalty"_a,
             "Add columns of the design, each a row of this array, with their costs in multiples of mu.")
        .def("set_costs", &Program::set_costs, "slack_cost"_a, "coefficient_cost"_a, "C and mu; the vertex stays.")
        .def("walk", &Program::walk, "most_steps"_a,
             "Walk towards the optimum over the columns there are: 'optimal', 'out of steps' or 'failed'.")
        .def("restart", &Program::restart, "Go back to the vertex without coefficients.")
        .def("free_columns", &Program::free_columns, "The columns whose coefficients are free at this vertex.")
        .def("restricted", &Program::restricted, "The program of those columns alone, at the same vertex.")
        .def("steps", &Program::steps, "Steps walked so far.")
        .def("dual_value", &Program::dual_value, "The dual objective, a bound once no column is priced above its cost.")
        .def("coefficients", &Program::coefficients, "The intercept's and every column's coefficient.")
        .def("scores", &Program::scores, "sign * f of every row.")
        .def("multipliers", &Program::multipliers, "sign * (u - v) of every row.");
    m.def("contributions", &contributions, "x"_a, "node_start"_a, "plane_start"_a, "child_start"_a, "children"_a,
          "term_start"_a, "term_feature"_a, "term_weight"_a, "threshold"_a, "missing_right"_a, "set_start"_a,
          "set_category"_a, "value"_a, "outputs"_a, "term_coefficient"_a, "usual"_a, "mean"_a, "n_threads"_a,
          "What each feature added to each row's sum: rows x (outputs * (columns + 1)).");
    m.def(
        "choose_projections", &choose_projections, "entropy"_a, "least"_a, "best"_a, "order"_a, "delta"_a, "lam"_a,
        "n_threads"_a,
        "Every row's exact minimum over the simplex of (z . b - least)^2 + lam delta . b: two views, the share of the "
        "second, and z . b. Views not in `order` have delta = 1.");
    m.def("projection_gains", &projection_gains, "entropy"_a, "weight"_a, "current"_a, "n_threads"_a,
          "What adding each view would gain: sum_i weight_i max(0, current_i - min(Z_ij, 1)).");
    m.def("decision_losses", &decision_loss, "entropy"_a, "weight"_a, "least"_a, "largest"_a, "n_threads"_a,
          "The loss of answers when each view joins others: sum_i weight_i log(1 + least_i largest_i), its own "
          "included.");
    m.def("apply_tree", &apply_tree, "x"_a, "plane_start"_a, "child_start"_a, "children"_a, "term_start"_a,
          "term_feature"_a, "term_weight"_a, "threshold"_a, "missing_right"_a, "set_start"_a, "set_category"_a,
          "n_threads"_a, "The node in which each row of x ends.");
    m.def("adam_step", &adam, "value"_a.noconvert(), "gradient"_a.noconvert(), "momentum"_a.noconvert(),
          "squares"_a.noconvert(), "average"_a.noconvert(), "rate"_a, "price"_a, "momentum_memory"_a,
          "squares_memory"_a, "averaging_memory"_a,
          "One step of Adam with a proximal step for absolute values; changes all arrays but the gradient.");
    nb::class_<RowSearch<OwnAndOther>>(m, "OwnAndOtherSearch",
                                       "Distances to rows of the own and of other labels, by view.")
        .def(nb::init<const Rows &, const Labels &, const Vector<float> &>(), "points"_a, "label"_a, "categorical"_a)
        .def(
            "distances",
            [](RowSearch<OwnAndOther> &self, const Labels &view_start, const Labels &view_column, const Labels &rows,
               std::size_t k, const Filled<float> &same, const Filled<float> &other, int n_threads) {
                self.run(view_start, view_column, rows, same, other, n_threads,
                         [&](OwnAndOther &search, const Views &views, const auto &queries, Threads &threads,
                             const Pause &pause) {
                             search.distances(views, queries, k, same.data(), other.data(), threads, pause);
                         });
            },
            "view_start"_a, "view_column"_a, "rows"_a, "k"_a, "same"_a.noconvert(), "other"_a.noconvert(),
            "n_threads"_a,
            "Fill `same` and `other` with the distances to the k-th nearest row of the own and of any other label.");
    nb::class_<RowSearch<OwnWeights>>(m, "OwnWeightsSearch", "Weights of the nearest rows of the own label, by view.")
        .def(nb::init<const Rows &, const Labels &, const Vector<double> &, const Vector<float> &>(), "points"_a,
             "label"_a, "weight"_a, "categorical"_a)
        .def(
            "weights",
            [](RowSearch<OwnWeights> &self, const Labels &view_start, const Labels &view_column, const Labels &rows,
               std::size_t k, const Filled<float> &own, const Filled<float> &other, int n_threads) {
                self.run(view_start, view_column, rows, own, other, n_threads,
                         [&](OwnWeights &search, const Views &views, const auto &queries, Threads &threads,
                             const Pause &pause) {
                             search.weights(views, queries, k, own.data(), other.data(), threads, pause);
                         });
            },
            "view_start"_a, "view_column"_a, "rows"_a, "k"_a, "own"_a.noconvert(), "other"_a.noconvert(), "n_threads"_a,
            "Fill `own` and `other` with the weights of the k nearest rows of the own label and of others.");
    m.def("class_neighbours", &nearest_of_classes, "points"_a, "label"_a, "n_classes"_a, "categorical"_a,
          "view_start"_a, "view_column"_a, "queries"_a, "exclude"_a, "k"_a, "row"_a.noconvert(),
          "distance"_a.noconvert(), "n_threads"_a, "Fill `row` and `distance` with the k nearest rows of each class.");
}
