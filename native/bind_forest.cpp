// Fitted trees for Python: arrays in and out, and what they answer.
#include <algorithm>
#include <limits>
#include <new>
#include <type_traits>

#include "contributions.hpp"
#include "python.hpp"

namespace planewise {

namespace {

// ------------------------------------------------------------------------------------------------------ arrays in
[[noreturn]] void refuse(const char *name, const char *must) {
    throw std::invalid_argument(std::string(name) + " must " + must);
}

template <class T, class From>
bool fits(From number) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_unsigned_v<From>)
        return static_cast<std::uint64_t>(number) <= static_cast<std::uint64_t>(Limits::max());
    else  // no T has more than int64
        return static_cast<std::int64_t>(number) >= static_cast<std::int64_t>(Limits::min()) &&
               static_cast<std::int64_t>(number) <= static_cast<std::int64_t>(Limits::max());
}

using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

// Takes the integers of an array whose type is From, and says whether it is.
template <class From, class T>
bool take_integers(const AnyVector &array, const char *name, std::vector<T> &to) {
    if (array.dtype() != nb::dtype<From>()) return false;
    const auto *from = static_cast<const From *>(array.data());
    const std::int64_t step = array.size() > 0 ? array.stride(0) : 1;
    to.reserve(array.size());
    for (std::size_t k = 0; k < array.size(); ++k, from += step) {
        if (!fits<T>(*from)) refuse(name, "not have integers beyond its type");
        to.push_back(static_cast<T>(*from));
    }
    return true;
}

template <class T>
std::vector<T> vector_from(nb::handle given, const char *name) {
    std::vector<T> out;
    if constexpr (std::is_integral_v<T>) {  // NumPy's own conversion would wrap
        AnyVector array;
        if (!nb::try_cast(given, array)) refuse(name, "be a one-dimensional array of integers");
        const bool taken =
            array.size() == 0 || take_integers<std::uint8_t>(array, name, out) ||
            take_integers<std::int8_t>(array, name, out) || take_integers<std::int16_t>(array, name, out) ||
            take_integers<std::uint16_t>(array, name, out) || take_integers<std::int32_t>(array, name, out) ||
            take_integers<std::uint32_t>(array, name, out) || take_integers<std::int64_t>(array, name, out) ||
            take_integers<std::uint64_t>(array, name, out) || take_integers<bool>(array, name, out);
        if (!taken) refuse(name, "be a one-dimensional array of integers");
    } else {
        Vector<T> array;
        if (!nb::try_cast(given, array)) refuse(name, "be a one-dimensional array of numbers");
        out.assign(array.data(), array.data() + array.size());
    }
    return out;
}

std::size_t count_from(nb::handle given, const char *name) {
    std::size_t count = 0;
    if (!nb::try_cast(given, count)) refuse(name, "be an integer of at least 1");
    return count;
}

// Values in the type in which they are given; the number of columns is the number of values per node.
void set_values(Forest &forest, nb::handle given) {
    Rows narrow;
    Scores wide;
    forest.value.clear();
    forest.value32.clear();
    nb::ndarray<nb::ro> any;
    const bool is_float32 = nb::try_cast(given, any, false) && any.dtype() == nb::dtype<float>();
    if (is_float32 && nb::try_cast(given, narrow)) {
        forest.n_values = narrow.shape(1);
        forest.value32.assign(narrow.data(), narrow.data() + narrow.size());
    } else if (!is_float32 && nb::try_cast(given, wide)) {
        forest.n_values = wide.shape(1);
        forest.value.assign(wide.data(), wide.data() + wide.size());
    } else {
        throw std::invalid_argument("value must be a two-dimensional array of numbers");
    }
}

Forest from_arrays(const nb::kwargs &given) {
    Forest forest;
    std::size_t used = 0;
    const auto take = [&](const char *name) {
        if (!given.contains(name)) return nb::object();
        ++used;
        return nb::object(given[name]);
    };
    each_array([&](auto array) {
        using Number = typename std::decay_t<decltype(array.in(forest))>::value_type;
        if (const nb::object found = take(array.name))
            array.in(forest) = vector_from<Number>(found, array.name);
        else if (!array.optional && array.of != Of::trees)
            throw std::invalid_argument(std::string("no ") + array.name);
    });
    const nb::object value = take("value"), n_outputs = take("n_outputs");
    if (!value) throw std::invalid_argument("no value");
    set_values(forest, value);
    forest.n_outputs = n_outputs ? count_from(n_outputs, "n_outputs") : forest.n_values;
    if (!given.contains("node_start") && !forest.plane_start.empty()) forest.close_tree();  // a single tree
    if (used != given.size()) throw std::invalid_argument("arrays that a forest does not have");
    forest.check();
    return forest;
}

// ----------------------------------------------------------------------------------------------------- arrays out
// A read-only view that keeps the forest alive.
template <class T>
nb::ndarray<nb::numpy, const T> view(const std::vector<T> &of, nb::handle owner, std::size_t columns = 0) {
    const std::size_t shape[2] = {columns == 0 ? of.size() : of.size() / columns, columns};
    return nb::ndarray<nb::numpy, const T>(of.data(), columns == 0 ? 1 : 2, shape, owner);
}

const Forest &arrays_of(nb::handle self) { return nb::cast<const FittedForest &>(self).arrays(); }

nb::dict arrays(nb::handle self) {
    const Forest &forest = arrays_of(self);
    nb::dict out;
    each_array([&](auto array) {
        const auto &list = array.in(forest);
        if (!array.optional || !list.empty()) out[array.name] = view(list, self);
    });
    if (forest.value.empty())
        out["value"] = view(forest.value32, self, forest.n_values);
    else
        out["value"] = view(forest.value, self, forest.n_values);
    return out;
}

// -------------------------------------------------------------------------------------------------------- answers
void check_columns(const FittedForest &forest, std::size_t columns) {
    if (columns < forest.columns()) throw std::invalid_argument("x has fewer columns than the trees use");
}

void check_trees(const FittedForest &forest, std::size_t first, std::size_t last) {
    if (first > last || last > forest.arrays().trees()) throw std::invalid_argument("no such trees");
}

Out<std::int32_t> apply(const FittedForest &forest, const Rows &x, int n_threads) {
    check_columns(forest, x.shape(1));
    const std::size_t rows = x.shape(0), trees = forest.arrays().trees();
    std::vector<std::int32_t> node(length_of({rows, trees}));
    const Predictor &predictor = forest.predictor();
    run_native(rows < 8192 ? 1 : n_threads, [&](Threads &threads, const std::function<bool()> &) {
        predictor.apply(x.data(), rows, x.shape(1), threads, node.data());
    });
    return array(std::move(node), {rows, trees});
}

Out<double> predict(const FittedForest &forest, const Rows &x, const Numbers &base, std::size_t first, std::size_t last,
                    int n_threads) {
    const std::size_t rows = x.shape(0), outputs = forest.arrays().n_outputs;
    if (base.size() != outputs) throw std::invalid_argument("base must have one entry per output");
    check_trees(forest, first, last);
    check_columns(forest, x.shape(1));
    std::vector<double> out(length_of({rows, outputs}));
    for (std::size_t i = 0; i < out.size(); i += outputs) std::copy_n(base.data(), outputs, &out[i]);
    const Predictor &predictor = forest.predictor();
    const auto add = [&](Threads &threads) {
        predictor.add(x.data(), rows, x.shape(1), first, last, threads, out.data());
    };
    const std::size_t work = rows * (last - first);
    if (work < 50'000) {  // neither a thread nor giving the GIL away would pay
        Threads alone(1);
        add(alone);
    } else {  // small trees take a millisecond for 200,000 answers, and a thread must be worth its start
        const bool quick = work < 200'000 && predictor.has_small_trees();
        run_native(quick ? 1 : n_threads, [&](Threads &threads, const std::function<bool()> &) { add(threads); });
    }
    return array(std::move(out), {rows, outputs});
}

Out<double> contributions(const FittedForest &forest, const Rows &x, const Vector<float> &mean, int n_threads) {
    if (mean.size() != x.shape(1)) throw std::invalid_argument("mean must have one entry per column");
    check_columns(forest, x.shape(1));
    const std::size_t rows = x.shape(0), columns = x.shape(1), outputs = forest.arrays().n_outputs;
    std::vector<double> out(length_of({rows, outputs, columns + 1}), 0.0);
    run_native(rows < 1024 ? 1 : n_threads, [&](Threads &threads, const std::function<bool()> &) {
        add_contributions(forest.arrays(), mean.data(), x.data(), rows, columns, threads, out.data());
    });
    return array(std::move(out), {rows, outputs, columns + 1});
}

nb::tuple trace(const FittedForest &forest, const Vector<float> &row, std::size_t tree) {
    check_trees(forest, tree, tree + 1);
    check_columns(forest, row.size());
    Trace found = forest.predictor().trace(row.data(), tree);
    return nb::make_tuple(array(std::move(found.node)), array(std::move(found.plane)), array(std::move(found.value)),
                          array(std::move(found.right)));
}

nb::tuple decision_path(const FittedForest &forest, const Labels &nodes, std::size_t tree) {
    check_trees(forest, tree, tree + 1);
    const Forest &arrays = forest.arrays();
    const std::int32_t count = arrays.node_start[tree + 1] - arrays.node_start[tree];
    const std::vector<std::int32_t> to(nodes.data(), nodes.data() + nodes.size());
    if (std::any_of(to.begin(), to.end(), [&](std::int32_t node) { return node < 0 || node >= count; }))
        throw std::invalid_argument("no such nodes");
    auto [start, path] = arrays.paths_to(tree, to);
    return nb::make_tuple(array(std::move(start)), array(std::move(path)));
}

// -------------------------------------------------------------------------------------------------- other forests
FittedForest part(const FittedForest &forest, std::size_t first, std::size_t last) {
    check_trees(forest, first, last);
    return FittedForest(forest.arrays().part(first, last));
}

FittedForest pruned(const FittedForest &forest, const Vector<std::uint8_t> &cut) {
    Forest other = forest.arrays();
    if (cut.size() != other.nodes()) throw std::invalid_argument("cut must have one entry per node");
    other.prune(std::vector<char>(cut.data(), cut.data() + cut.size()));
    return FittedForest(std::move(other));
}

FittedForest joined(const std::vector<const FittedForest *> &parts) {
    Forest whole;
    for (const FittedForest *each : parts) {
        const Forest &next = each->arrays();
        if (whole.trees() > 0 && next.trees() > 0 &&
            (next.n_values != whole.n_values || next.n_outputs != whole.n_outputs))
            throw std::invalid_argument("forests of different numbers of outputs");
        whole.append(next);
    }
    if (whole.trees() > 0) whole.check_lengths();  // forests of which only some have weights, or float64 values
    return FittedForest(std::move(whole));
}

// Values that follow the signs of the columns; nothing without signs.
void hold(Forest &trees, const std::vector<std::int32_t> &monotone) {
    if (monotone.empty()) return;
    if (trees.n_values > 2 || monotone.size() < trees.columns_used())
        throw std::invalid_argument("monotone needs one sign per column, and one value or the shares of two classes");
    trees.hold_monotone(monotone);
}

FittedForest with_means(const FittedForest &forest, const Scores &totals, double smoothing, double centre,
                        const std::vector<std::int32_t> &monotone) {
    const Forest &arrays = forest.arrays();
    if (arrays.trees() != 1 || arrays.value.empty() || arrays.weight.empty())
        throw std::invalid_argument("means are for a single tree");
    if (totals.shape(0) != arrays.nodes() || totals.shape(1) != arrays.n_values + 1)
        throw std::invalid_argument("totals must have one row per node and one column per value, then the weight");
    Forest other = arrays;
    other.set_means(totals.data(), smoothing, centre);
    hold(other, monotone);
    return FittedForest(std::move(other));
}

FittedForest compacted(const FittedForest &forest, std::size_t columns, double smoothing,
                       const std::vector<std::int32_t> &monotone) {
    const Forest &arrays = forest.arrays();
    if (arrays.value.empty() || arrays.weight.empty() || columns < 1 || columns > arrays.n_values)
        throw std::invalid_argument("only trees as they were grown can be made compact");
    Forest other = arrays;
    if (smoothing > 0) other.smooth(smoothing);
    hold(other, monotone);
    other.compact(columns);
    other.n_outputs = columns;
    return FittedForest(std::move(other));
}

}  // namespace

void bind_forest(nb::module_ &m) {
    nb::class_<FittedForest>(m, "Forest",
                             "Trees of hyperplanes as flat arrays, made from the arrays that `arrays` names. Every "
                             "length and link is checked: ValueError says what is wrong.")
        .def(
            "__init__",
            [](FittedForest *self, const nb::kwargs &given) { new (self) FittedForest(from_arrays(given)); },
            nb::sig("def __init__(self, **arrays: object) -> None"))
        .def_prop_ro("n_outputs", [](const FittedForest &forest) { return forest.arrays().n_outputs; })
        .def_prop_ro(
            "parent", [](nb::handle self) { return view(arrays_of(self).parent, self); }, nb::rv_policy::reference)
        .def_prop_ro(
            "depth", [](nb::handle self) { return view(arrays_of(self).depth, self); }, nb::rv_policy::reference)
        .def("arrays", &arrays, nb::sig("def arrays(self) -> dict[str, NDArray]"),
             "Read-only views of all arrays that a forest is made from, by name.")
        .def(
            "check_columns",
            [](const FittedForest &forest, const std::vector<std::int32_t> &categories) {
                forest.arrays().check_columns(categories);
            },
            "categories"_a,
            "ValueError unless planes use only these columns; `categories` has the number of categories of each.")
        .def("apply", &apply, "x"_a, "n_threads"_a = 1,
             "The node of each tree in which each row ends, counted within the tree: rows x trees.")
        .def("predict", &predict, "x"_a, "base"_a, "first"_a, "last"_a, "n_threads"_a = 1,
             "base + the values of trees first .. last-1, summed for each row.")
        .def("contributions", &contributions, "x"_a, "mean"_a, "n_threads"_a = 1,
             "What each feature added to each row's sum: rows x outputs x (columns + 1).")
        .def("trace", &trace, "row"_a, "tree"_a = 0,
             "The planes that one row meets in a tree: (node, plane, value, right), one entry per plane.")
        .def("decision_path", &decision_path, "nodes"_a, "tree"_a = 0,
             "The nodes from the root of a tree to each of these nodes: (start of each list, nodes).")
        .def("part", &part, "first"_a, "last"_a, "Trees first .. last-1 alone.")
        .def("pruned", &pruned, "cut"_a, "The same trees with the marked nodes as leaves.")
        .def("with_means", &with_means, "totals"_a, "smoothing"_a, "centre"_a = 0.0,
             "monotone"_a = std::vector<std::int32_t>{},
             "A single grown tree with values from the sums of its leaves, the weight last; `monotone` has the sign "
             "that they follow along each column.")
        .def("compacted", &compacted, "columns"_a, "smoothing"_a = 0.0, "monotone"_a = std::vector<std::int32_t>{},
             "The same trees with the values smoothed, following the signs of `monotone`, and the last columns of them "
             "in float32: for trees that are added up.")
        .def_static("joined", &joined, "forests"_a, "The trees of all these forests, one forest's after another's.");
}

}  // namespace planewise
