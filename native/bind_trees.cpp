// Trees, forests and the test of features for Python.
#include <limits>

#include "bag.hpp"
#include "feature_test.hpp"
#include "grow.hpp"
#include "python.hpp"
#include "statistics.hpp"

namespace planewise {

namespace {

const std::string bin_names[] = {"uniform", "robust", "quantile"};  // in the order of Bins
const std::string axes_names[] = {"all", "subspace", "none"};       // in the order of Axes

// The value of an enumeration that has this name; `what` it is of.
template <class T, std::size_t count>
T named(const std::string (&names)[count], const std::string &name, const std::string &what) {
    for (std::size_t k = 0; k < count; ++k)
        if (name == names[k]) return static_cast<T>(k);
    throw std::invalid_argument("no " + what + " are called '" + name + "'");
}

constexpr int most_tries = 1'000'000;
constexpr std::size_t most_draws = std::numeric_limits<std::uint32_t>::max();

// Grows with `statistics` already filled; the answer is (forest of one, leaf of every row).
template <class S>
nb::tuple grow_tree(const Matrix &matrix, const S &statistics, const GrowOptions &options, int n_threads) {
    Grown<S> grown;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        grown = grow(matrix, statistics, options, threads, stop);
    });
    return nb::make_tuple(FittedForest(std::move(grown.tree)), array(std::move(grown.leaf)));
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

template <class S>
FittedForest grow_trees(const Table &table, const Numbers &weight,
                        const std::function<S(const double *)> &statistics_of, const BagOptions &options,
                        std::size_t first, std::size_t last, int n_threads) {
    Forest forest;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        forest = grow_bag<S>(table.matrix(), weight.data(), statistics_of, options, first, last, threads, stop);
    });
    return FittedForest(std::move(forest));
}

FittedForest grow_class_trees(const Table &table, const Labels &label, const Numbers &weight, std::size_t n_classes,
                              bool gini, const BagOptions &options, std::size_t first, std::size_t last,
                              int n_threads) {
    class_counts(table, label, weight, n_classes, gini);  // checks
    return grow_trees<ClassCounts>(
        table, weight,
        [&](const double *own) {
            ClassCounts statistics(n_classes, gini ? Criterion::gini : Criterion::entropy);
            statistics.assign(label.data(), own, label.size());
            return statistics;
        },
        options, first, last, n_threads);
}

FittedForest grow_number_trees(const Table &table, const Numbers &target, const Numbers &weight,
                               const BagOptions &options, std::size_t first, std::size_t last, int n_threads) {
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
        options, first, last, n_threads);
}

Out<std::uint32_t> bootstrap(std::size_t rows, std::size_t draws, std::uint64_t seed, std::size_t tree) {
    if (rows > most_draws || draws > most_draws || (rows == 0 && draws > 0))
        throw std::invalid_argument("there are no rows to draw, or too many");
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

// A field of GrowOptions that stands in one of its parts: Python sees it as one of its own.
template <class Part, class T>
void nested(nb::class_<GrowOptions> &options, const char *name, Part GrowOptions::*part, T Part::*field) {
    options.def_prop_rw(
        name, [part, field](const GrowOptions &o) { return o.*part.*field; },
        [part, field](GrowOptions &o, T value) { o.*part.*field = std::move(value); });
}

// The same for a number that memory is taken by or that loops end by.
template <class Part>
void nested(nb::class_<GrowOptions> &options, const char *name, Part GrowOptions::*part, int Part::*field, int least,
            int most) {
    options.def_prop_rw(
        name, [part, field](const GrowOptions &o) { return o.*part.*field; },
        [=](GrowOptions &o, int value) {
            if (value < least || value > most)
                throw std::invalid_argument(std::string(name) + " must be from " + std::to_string(least) + " to " +
                                            std::to_string(most));
            o.*part.*field = value;
        });
}

DrawRound draw_round(int subspace_size, double coef_decay, double rank_decay) {
    if (subspace_size < 1 || !(coef_decay >= 0) || !(rank_decay >= 0))
        throw std::invalid_argument("a round of draws needs a subspace of at least 1, and decays of at least 0");
    return {subspace_size, coef_decay, rank_decay};
}

void bind_options(nb::module_ &m) {
    nb::class_<DrawRound>(m, "DrawRound")
        .def(
            "__init__",
            [](DrawRound *self, int size, double alpha, double beta) {
                new (self) DrawRound(draw_round(size, alpha, beta));
            },
            "subspace_size"_a, "coef_decay"_a, "rank_decay"_a);
    auto options =
        nb::class_<GrowOptions>(m, "GrowOptions", "How to grow one tree; the estimators' docstrings explain each.");
    options.def(nb::init<>())
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("min_samples_split", &GrowOptions::min_samples_split)
        .def_rw("max_leaf_nodes", &GrowOptions::max_leaf_nodes)
        .def_rw("min_impurity_decrease", &GrowOptions::min_impurity_decrease)
        .def_rw("min_loss", &GrowOptions::min_loss)
        .def_rw("prune_margin", &GrowOptions::prune_margin)
        .def_rw("smoothing", &GrowOptions::smoothing)
        .def_rw("max_rows_per_node", &GrowOptions::max_rows_per_node)
        .def_rw("max_features", &GrowOptions::max_features)
        .def_rw("root_features", &GrowOptions::root_features)
        .def_rw("seed", &GrowOptions::seed)
        .def_rw("monotone", &GrowOptions::monotone)
        .def(
            "limit_interactions",
            [](GrowOptions &o, std::size_t columns, std::size_t most, std::vector<std::vector<std::int32_t>> groups,
               std::vector<std::int32_t> source) {
                o.interactions =
                    std::make_shared<const Interactions>(columns, most, std::move(groups), std::move(source));
            },
            "columns"_a, "most"_a, "groups"_a, "source"_a,
            "On a path from the root to a leaf, only so many columns may meet (0: any number), and only those that lie "
            "in one of the groups (none: any). `source` says for each column which one it counts as.");
    nested(options, "n_projections", &GrowOptions::draw, &DrawOptions::n_projections, 0, most_tries);
    nested(options, "rows_per_projection", &GrowOptions::draw, &DrawOptions::rows_per_projection, 0, most_tries);
    nested(options, "max_coef", &GrowOptions::draw, &DrawOptions::max_coef, 1, 1000);
    nested(options, "min_coef", &GrowOptions::draw, &DrawOptions::min_coef, 0, 1000);
    nested(options, "shared_subspace", &GrowOptions::draw, &DrawOptions::shared_subspace);
    nested(options, "rounds", &GrowOptions::draw, &DrawOptions::rounds);
    nested(options, "n_bins", &GrowOptions::choose, &ChooseOptions::n_bins, 2, 255);
    nested(options, "refine", &GrowOptions::choose, &ChooseOptions::refine);
    nested(options, "max_planes", &GrowOptions::choose, &ChooseOptions::max_planes, 1, 8);
    nested(options, "max_cosine", &GrowOptions::choose, &ChooseOptions::max_cosine);
    nested(options, "min_relative_gain", &GrowOptions::choose, &ChooseOptions::min_relative_gain);
    nested(options, "max_joint", &GrowOptions::choose, &ChooseOptions::max_joint, 1, most_tries);
    nested(options, "min_samples_leaf", &GrowOptions::choose, &ChooseOptions::min_samples_leaf);
    nested(options, "min_child_weight", &GrowOptions::choose, &ChooseOptions::min_child_weight);
    nested(options, "min_split_gain", &GrowOptions::choose, &ChooseOptions::min_split_gain);
    nested(options, "noise_margin", &GrowOptions::choose, &ChooseOptions::noise_margin);
    options
        .def_prop_rw(
            "bins", [](const GrowOptions &o) { return bin_names[static_cast<std::size_t>(o.choose.bins)]; },
            [](GrowOptions &o, const std::string &name) { o.choose.bins = named<Bins>(bin_names, name, "bins"); })
        .def_prop_rw(
            "axes", [](const GrowOptions &o) { return axes_names[static_cast<std::size_t>(o.draw.axes)]; },
            [](GrowOptions &o, const std::string &name) { o.draw.axes = named<Axes>(axes_names, name, "axes"); })
        .def_prop_rw(
            "choose_by_cosine", [](const GrowOptions &o) { return o.choose.plane_choice == PlaneChoice::cosine; },
            [](GrowOptions &o, bool by_cosine) {
                o.choose.plane_choice = by_cosine ? PlaneChoice::cosine : PlaneChoice::joint;
            });
    nb::class_<BagOptions>(m, "BagOptions", "How to grow the trees of a forest.")
        .def(nb::init<>())
        .def_rw("grow", &BagOptions::grow)
        .def_prop_rw(
            "draws", [](const BagOptions &o) { return o.draws; },
            [](BagOptions &o, std::size_t draws) {
                if (draws > most_draws) throw std::invalid_argument("draws are too many");
                o.draws = draws;
            },
            "Rows drawn with replacement for each tree; 0: every tree gets all rows.")
        .def_rw("seed", &BagOptions::seed);
}

}  // namespace

void bind_trees(nb::module_ &m) {
    nb::class_<Table>(m, "Table", "Training rows as float32, with the scale of each column.")
        .def(nb::init<Rows, const Vector<double> &, int, const std::vector<std::int32_t> &, bool>(), "x"_a, "weight"_a,
             "n_threads"_a, "categories"_a = std::vector<std::int32_t>{}, "bodies"_a = false)
        .def_prop_ro(
            "scale", [](const Table &table) { return array(std::vector<double>(table.matrix().scale)); },
            nb::rv_policy::move, "The standard deviation of each column; 0 for one of no use.")
        .def_prop_ro(
            "mean", [](const Table &table) { return array(std::vector<float>(table.matrix().mean)); },
            nb::rv_policy::move, "The mean of each column; NaN for categories and columns without a value.");
    bind_options(m);
    m.def("grow_classes", &grow_classes, "table"_a, "label"_a, "weight"_a, "n_classes"_a, "gini"_a, "options"_a,
          "n_threads"_a, "Grows a classification tree: (forest of one, leaf of every row).");
    m.def("grow_numbers", &grow_numbers, "table"_a, "target"_a, "weight"_a, "options"_a, "n_threads"_a,
          "Grows a regression tree on centred targets: (forest of one, leaf of every row).");
    m.def("grow_class_trees", &grow_class_trees, "table"_a, "label"_a, "weight"_a, "n_classes"_a, "gini"_a, "options"_a,
          "first"_a, "last"_a, "n_threads"_a, "Grows trees first .. last-1 of a classification forest.");
    m.def("grow_number_trees", &grow_number_trees, "table"_a, "target"_a, "weight"_a, "options"_a, "first"_a, "last"_a,
          "n_threads"_a, "Grows trees first .. last-1 of a regression forest on centred targets.");
    m.def("bootstrap", &bootstrap, "rows"_a, "draws"_a, "seed"_a, "tree"_a,
          "How often each row was drawn for a tree of a forest.");
    m.def("test_classes", &test_classes, "table"_a, "label"_a, "weight"_a, "n_classes"_a, "gini"_a, "options"_a,
          "n_threads"_a, "The one-dimensional test of every feature: (loss, threshold).");
    m.def("test_numbers", &test_numbers, "table"_a, "target"_a, "weight"_a, "options"_a, "n_threads"_a,
          "The one-dimensional test of every feature for centred targets: (loss, threshold).");
}

}  // namespace planewise
