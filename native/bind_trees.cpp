// Trees, forests and the test of features for Python.
#include <algorithm>

#include "bag.hpp"
#include "contributions.hpp"
#include "feature_test.hpp"
#include "grow.hpp"
#include "predict.hpp"
#include "python.hpp"
#include "statistics.hpp"

namespace planewise {

namespace {

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

}  // namespace

nb::dict to_dict(const Forest &forest) {
    nb::dict out = to_dict(forest.all);
    out["node_start"] = array(std::vector<std::int32_t>(forest.node_start));
    return out;
}

namespace {

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
    run_native(x.shape(0) < 8192 ? 1 : n_threads, [&](Threads &threads, const std::function<bool()> &) {
        apply(tree, x.data(), x.shape(0), x.shape(1), threads, leaf.data());
    });
    return array(std::move(leaf));
}

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
    run_native(x.shape(0) < 1024 ? 1 : n_threads, [&](Threads &threads, const std::function<bool()> &) {
        add_contributions(view, x.data(), x.shape(0), threads, out.data());
    });
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
            run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
                threads.each((rows + chunk - 1) / chunk,
                             [&](std::size_t k, int) { work(k * chunk, std::min(rows, (k + 1) * chunk)); });
            });
        }
        return array(std::move(out), outputs_);
    }

  private:
    std::size_t outputs_, trees_, columns_ = 0;
    bool large_;
    std::unique_ptr<Predictor> packed_;
};

}  // namespace

void bind_trees(nb::module_ &m) {
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
    nb::class_<ForestPredictor>(m, "ForestPredictor", "Trees packed for quick answers.")
        .def(nb::init<const Labels &, const Labels &, const Labels &, const Labels &, const Labels &, const Labels &,
                      const Vector<float> &, const Vector<float> &, const Vector<std::uint8_t> &, const Labels &,
                      const Labels &, const Rows &, std::size_t>(),
             "node_start"_a, "plane_start"_a, "child_start"_a, "children"_a, "term_start"_a, "term_feature"_a,
             "term_weight"_a, "threshold"_a, "missing_right"_a, "set_start"_a, "set_category"_a, "value"_a, "outputs"_a)
        .def("sum", &ForestPredictor::sum, "x"_a, "base"_a, "first"_a, "last"_a, "n_threads"_a,
             "base + the values of trees first .. last-1, summed for each row.");
    m.def("contributions", &contributions, "x"_a, "node_start"_a, "plane_start"_a, "child_start"_a, "children"_a,
          "term_start"_a, "term_feature"_a, "term_weight"_a, "threshold"_a, "missing_right"_a, "set_start"_a,
          "set_category"_a, "value"_a, "outputs"_a, "term_coefficient"_a, "usual"_a, "mean"_a, "n_threads"_a,
          "What each feature added to each row's sum: rows x (outputs * (columns + 1)).");
    m.def("apply_tree", &apply_tree, "x"_a, "plane_start"_a, "child_start"_a, "children"_a, "term_start"_a,
          "term_feature"_a, "term_weight"_a, "threshold"_a, "missing_right"_a, "set_start"_a, "set_category"_a,
          "n_threads"_a, "The node in which each row of x ends.");
}

}  // namespace planewise
