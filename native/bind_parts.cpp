// Boosting and columns of rows that lie in parts, for Python: each part answers a few questions, one place decides.
#include <algorithm>

#include "boost_rows.hpp"
#include "python.hpp"
#include "rounds.hpp"

namespace planewise {

namespace {

using Sums = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;
using Named = Vector<std::uint32_t>;

std::vector<double> vector_of(const Numbers &from) { return {from.data(), from.data() + from.size()}; }

// ------------------------------------------------------------------------------------------------------------ columns
Out<double> column_ranges(const Rows &x, const Numbers &weight, int n_threads) {
    check_length(weight.size(), x.shape(0), "weight");
    ColumnRanges found;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        found = ranges_of(x.data(), x.shape(0), x.shape(1), weight.data(), threads);
    });
    return array(found.numbers());
}

Out<double> join_ranges(const Numbers &one, const Numbers &two) {
    ColumnRanges joined = ColumnRanges::from(vector_of(one));
    const ColumnRanges other = ColumnRanges::from(vector_of(two));
    if (joined.columns() != other.columns()) throw std::invalid_argument("parts have different numbers of columns");
    joined.join(other);
    return array(joined.numbers());
}

// columns x (weight, moment) x (high, low), which add up over parts.
Out<std::int64_t> sums_of_columns(const Rows &x, const Numbers &weight, const Numbers &ranges, const Numbers &centre,
                                  int n_threads) {
    check_length(weight.size(), x.shape(0), "weight");
    const ColumnRanges known = ColumnRanges::from(vector_of(ranges));
    const std::vector<double> centres = vector_of(centre);
    if (known.columns() != x.shape(1) || (!centres.empty() && centres.size() != x.shape(1)))
        throw std::invalid_argument("ranges and centre must have one entry per column");
    std::vector<std::int64_t> out;
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        const ColumnSums sums =
            column_sums(x.data(), x.shape(0), weight.data(), known, centres.empty() ? nullptr : &centres, threads);
        for (std::size_t j = 0; j < x.shape(1); ++j)
            for (const WideSum &sum : {sums.weight[j], sums.moment[j]}) out.push_back(sum.high), out.push_back(sum.low);
    });
    return array(std::move(out));
}

ColumnSums sums_from(const Sums &numbers, std::size_t columns) {
    if (numbers.size() != 4 * columns) throw std::invalid_argument("sums must have four numbers per column");
    ColumnSums out{std::vector<WideSum>(columns), std::vector<WideSum>(columns)};
    for (std::size_t j = 0; j < columns; ++j) {
        const std::int64_t *at = numbers.data() + 4 * j;
        out.weight[j].add(WideSum{at[0], at[1]});
        out.moment[j].add(WideSum{at[2], at[3]});
    }
    return out;
}

Out<double> centres_of_columns(const Sums &sums, const Numbers &ranges) {
    const ColumnRanges known = ColumnRanges::from(vector_of(ranges));
    return array(column_centres(sums_from(sums, known.columns()), known));
}

Table table_of_parts(const Numbers &ranges, const Sums &sums, const Sums &squares,
                     const std::vector<std::int32_t> &categories) {
    const ColumnRanges known = ColumnRanges::from(vector_of(ranges));
    if (!categories.empty() && categories.size() != known.columns())
        throw std::invalid_argument("categories must have one entry per column");
    Matrix matrix{nullptr, 0, known.columns(), {}, {}, categories};
    matrix.set_scales(known, sums_from(sums, known.columns()), sums_from(squares, known.columns()));
    return Table(std::move(matrix));
}

std::uint32_t body_step(const Numbers &ranges) { return Matrix::body_step(ColumnRanges::from(vector_of(ranges))); }

Out<std::uint32_t> body_rows(const Rows &x, std::uint32_t step, int n_threads) {
    std::vector<std::uint32_t> out;
    const Matrix matrix{x.data(), x.shape(0), x.shape(1), {}, {}};
    run_native(n_threads,
               [&](Threads &threads, const std::function<bool()> &) { out = matrix.body_rows(step, threads); });
    return array(std::move(out));
}

void begin_bodies(Table &table) { table.matrix().begin_bodies(); }

bool set_body(Table &table, std::size_t column, const Vector<float> &values, const Numbers &weight, bool are_all) {
    check_length(weight.size(), values.size(), "weight");
    if (column >= table.matrix().columns) throw std::invalid_argument("there is no such column");
    if (table.matrix().body_low.empty()) throw std::invalid_argument("begin_bodies comes first");
    if (table.matrix().is_categorical(column)) return true;
    std::vector<std::pair<float, double>> seen;
    for (std::size_t i = 0; i < values.size(); ++i) seen.emplace_back(values.data()[i], weight.data()[i]);
    return table.matrix().set_body(column, std::move(seen), are_all);
}

// -------------------------------------------------------------------------------------------------------------- sums
Out<double> digits_of_sum(const Numbers &values) {
    ExactSum sum;
    for (std::size_t i = 0; i < values.size(); ++i) sum.add(values.data()[i]);
    const ExactSum::Digits digits = sum.digits();
    return array(std::vector<double>(digits.begin(), digits.end()));
}

double exact_total(const Scores &digits) {
    if (digits.shape(1) != ExactSum::places + 1) throw std::invalid_argument("these are not the digits of sums");
    ExactSum sum;
    for (std::size_t k = 0; k < digits.shape(0); ++k) sum.add(ExactSum::from(digits.data() + k * digits.shape(1)));
    return sum.value();
}

// ---------------------------------------------------------------------------------------------------------- boosting
std::vector<GradientSizes> sizes_from(const Scores &numbers, std::size_t trees) {
    if (numbers.shape(0) != trees || numbers.shape(1) != 3)
        throw std::invalid_argument("sizes must have three numbers per tree of a round");
    std::vector<GradientSizes> out;
    for (std::size_t k = 0; k < trees; ++k) {
        const double *at = numbers.data() + 3 * k;
        out.push_back({at[0], at[1], at[2]});
    }
    return out;
}

nb::tuple derivatives(const BoostOptions &options, const Targets &target, const Numbers &weight, const Scores &score) {
    check_length(weight.size(), score.shape(0), "weight");
    const Objective objective = fitting(options.objective, target, score.shape(0), score.shape(1));
    std::vector<double> gradient(score.size()), hessian(score.size());
    Threads alone(1);
    objective.derivatives(score.data(), target.data(), weight.data(), score.shape(0), gradient.data(), hessian.data(),
                          alone);
    return nb::make_tuple(array(std::move(gradient), objective.outputs), array(std::move(hessian), objective.outputs));
}

// A part of a boosting fit's rows; keeps the arrays alive.
class PartOfRows {
  public:
    PartOfRows(Rows x, const Targets &target, const Numbers &weight, const Scores &score, const BoostOptions &options,
               std::uint64_t first)
        : kept_(x),
          kept_target_(target),
          kept_weight_(weight),
          rows_(x.data(), x.shape(1), target.data(), weight.data(), {score.data(), score.data() + score.size()},
                fitting(options.objective, target, score.shape(0), score.shape(1)), first) {
        check_length(weight.size(), x.shape(0), "weight");
        check_length(score.shape(0), x.shape(0), "score");
    }

    Out<double> sizes(int n_threads) const {
        std::vector<double> out;
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            for (const GradientSizes &size : rows_.sizes(threads)) out.insert(out.end(), {size.g, size.h, size.square});
        });
        return array(std::move(out), 3);
    }
    Out<float> values_of(const Named &named, int n_threads) const {
        check(named);
        std::vector<float> out;
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            out = rows_.values_of(named.data(), named.size(), threads);
        });
        return array(std::move(out), rows_.columns());
    }
    Out<double> scores_of(const Named &named) const {
        check(named);
        std::vector<double> out;
        for (std::size_t k = 0; k < named.size(); ++k) {
            const double *at = &rows_.score()[named.data()[k] * rows_.outputs()];
            out.insert(out.end(), at, at + rows_.outputs());
        }
        return array(std::move(out), rows_.outputs());
    }
    nb::tuple slopes_of(const Named &named, int n_threads) const {
        check(named);
        BoostRows::Slopes found;
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            found = rows_.slopes_of(named.data(), named.size(), threads);
        });
        return nb::make_tuple(array(std::move(found.gradient), rows_.outputs()),
                              array(std::move(found.hessian), rows_.outputs()), array(std::move(found.weight)));
    }
    Out<std::int64_t> route(const FittedForest &trees, const Scores &sizes, std::uint64_t noise, double share,
                            int n_threads) {
        check(trees);
        std::vector<std::int64_t> sums;
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            sums = rows_.route(trees.arrays(), sizes_from(sizes, trees.arrays().trees()), Bag(noise, share), threads);
        });
        routed_ = trees.arrays().node_start;
        return array(std::move(sums));
    }
    void move(const FittedForest &trees, int n_threads) {
        check(trees);
        if (trees.arrays().node_start != routed_) throw std::invalid_argument("rows were not sent down these trees");
        run_native(n_threads,
                   [&](Threads &threads, const std::function<bool()> &) { rows_.move(trees.arrays(), threads); });
        routed_.clear();
    }
    void follow(const FittedForest &trees, int n_threads) {
        check(trees);
        run_native(n_threads,
                   [&](Threads &threads, const std::function<bool()> &) { rows_.follow(trees.arrays(), threads); });
    }
    Out<double> loss_sums(int n_threads) const {
        std::vector<double> out;
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
            const LossSums sums = rows_.loss_sums(threads);
            for (const ExactSum &sum : {sums.loss, sums.weight})
                for (double digit : sum.digits()) out.push_back(digit);
        });
        return array(std::move(out), ExactSum::places + 1);
    }
    Out<double> score() const { return array(std::vector<double>(rows_.score()), rows_.outputs()); }

  private:
    void check(const Named &named) const {
        for (std::size_t k = 0; k < named.size(); ++k)
            if (named.data()[k] >= rows_.rows()) throw std::invalid_argument("there is no such row in this part");
    }
    void check(const FittedForest &trees) const {
        const Forest &forest = trees.arrays();
        const bool fits =
            forest.n_outputs == rows_.outputs() && trees.columns() <= rows_.columns() && forest.n_values == 1;
        if (!fits) throw std::invalid_argument("the trees have other outputs or columns than the rows");
    }
    Rows kept_;
    Targets kept_target_;
    Numbers kept_weight_;
    BoostRows rows_;
    std::vector<std::int32_t> routed_;  // where the nodes of the trees that rows were sent down begin
};

FittedForest compacted(Forest forest) {
    forest.compact(forest.n_values);
    return FittedForest(std::move(forest));
}

// What is decided in one place; the trees of the round in between are kept here.
class DrivenRounds {
  public:
    DrivenRounds(std::size_t rows, std::size_t outputs, BoostOptions options)
        : rounds_(rows, 0, with_outputs(std::move(options), outputs)) {}

    Out<std::uint32_t> start_rows() const { return array(rounds_.start_rows()); }
    Out<std::uint32_t> sample_rows() const { return array(rounds_.sample_rows()); }
    std::size_t sample_number() const { return rounds_.sample_number(); }
    nb::tuple bag() const { return nb::make_tuple(rounds_.bag().noise(), rounds_.bag().share()); }
    void begin(const Scores &hessian, const Numbers &weight) {
        check_length(weight.size(), hessian.shape(0), "weight");
        if (hessian.shape(1) != rounds_.outputs())
            throw std::invalid_argument("hessian must have one entry per row and output");
        rounds_.begin(hessian.data(), weight.data(), weight.size());
    }
    FittedForest grow(const Table &table, const Rows &x, const Scores &gradient, const Scores &hessian,
                      const Numbers &weight, int n_threads) {
        check_length(weight.size(), x.shape(0), "weight");
        const std::size_t outputs = rounds_.outputs();
        if (x.shape(1) != table.matrix().columns) throw std::invalid_argument("x has other columns than the table");
        for (const Scores *given : {&gradient, &hessian})
            if (given->shape(0) != x.shape(0) || given->shape(1) != outputs)
                throw std::invalid_argument("gradient and hessian must have one entry per row and output");
        run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
            const Matrix sample = table.matrix().with_rows(x.data(), x.shape(0), threads);
            trees_ = rounds_.grow(sample, gradient.data(), hessian.data(), weight.data(), threads, stop);
        });
        return compacted(trees_);
    }
    FittedForest finish(const Vector<std::int64_t> &sums, const Scores &sizes) {
        if (trees_.trees() == 0 || sums.size() != trees_.nodes() * sum_width)
            throw std::invalid_argument("sums must have one row per node of the trees that were grown last");
        rounds_.set_values({sums.data(), sums.data() + sums.size()}, sizes_from(sizes, trees_.trees()), trees_);
        rounds_.finish(trees_);
        rounds_.keep(trees_);
        return compacted(std::exchange(trees_, Forest{}));
    }
    FittedForest forest() const { return compacted(rounds_.forest()); }

  private:
    static BoostOptions with_outputs(BoostOptions options, std::size_t outputs) {
        if (outputs == 0) throw std::invalid_argument("there must be at least one output");
        options.objective.outputs = outputs;
        return options;
    }
    Rounds rounds_;
    Forest trees_;
};

}  // namespace

void bind_parts(nb::module_ &m) {
    m.def("column_ranges", &column_ranges, "x"_a, "weight"_a, "n_threads"_a, "What rows say of their columns.");
    m.def("join_ranges", &join_ranges, "one"_a, "two"_a, "The same of the rows of two parts.");
    m.def("column_sums", &sums_of_columns, "x"_a, "weight"_a, "ranges"_a, "centre"_a, "n_threads"_a,
          "Sums of the columns, or of squared differences from `centre` (if not empty); they add up over parts.");
    m.def("column_centres", &centres_of_columns, "sums"_a, "ranges"_a, "The mean of each column.");
    m.def("table_of_parts", &table_of_parts, "ranges"_a, "sums"_a, "squares"_a, "categories"_a,
          "The table of rows that lie elsewhere.");
    m.def("body_step", &body_step, "ranges"_a, "One row in so many tells where most values of a column lie.");
    m.def("body_rows", &body_rows, "x"_a, "step"_a, "n_threads"_a, "Those rows, picked by their values.");
    m.def("begin_bodies", &begin_bodies, "table"_a);
    m.def("set_body", &set_body, "table"_a, "column"_a, "values"_a, "weight"_a, "are_all"_a,
          "Find where most values of a column lie; False if there are too few, and all are wanted.");
    m.def("exact_sum", &digits_of_sum, "values"_a, "A sum as digits, which can be added up exactly in any order.");
    m.def("exact_total", &exact_total, "digits"_a, "The sum of sums, one per row.");
    m.def("derivatives", &derivatives, "options"_a, "target"_a, "weight"_a, "score"_a, "Gradient and Hessian.");
    nb::class_<PartOfRows>(m, "BoostRows", "A part of the rows of a boosting fit, with its scores.")
        .def(nb::init<Rows, const Targets &, const Numbers &, const Scores &, const BoostOptions &, std::uint64_t>(),
             "x"_a, "target"_a, "weight"_a, "score"_a, "options"_a, "first"_a)
        .def("sizes", &PartOfRows::sizes, "n_threads"_a, "The largest derivatives, by tree of a round.")
        .def("values_of", &PartOfRows::values_of, "rows"_a, "n_threads"_a, "Features of some rows.")
        .def("scores_of", &PartOfRows::scores_of, "rows"_a, "Raw scores of some rows now.")
        .def("slopes_of", &PartOfRows::slopes_of, "rows"_a, "n_threads"_a,
             "Gradients, Hessians and weights of some rows.")
        .def("route", &PartOfRows::route, "trees"_a, "sizes"_a, "noise"_a, "share"_a, "n_threads"_a,
             "Send the rows down a round's trees: sums by the node in which they end.")
        .def("move", &PartOfRows::move, "trees"_a, "n_threads"_a, "Move the scores by the same trees with values.")
        .def("follow", &PartOfRows::follow, "trees"_a, "n_threads"_a, "Move the scores by any number of rounds.")
        .def("loss_sums", &PartOfRows::loss_sums, "n_threads"_a, "Weighted loss and weight, as digits.")
        .def("score", &PartOfRows::score, "Raw scores now.");
    nb::class_<DrivenRounds>(m, "Rounds", "What boosting decides of rows that lie in parts.")
        .def(nb::init<std::size_t, std::size_t, BoostOptions>(), "rows"_a, "outputs"_a, "options"_a)
        .def("start_rows", &DrivenRounds::start_rows, "The rows whose derivatives before any tree `begin` wants.")
        .def("sample_rows", &DrivenRounds::sample_rows, "The rows that decide the next round's planes.")
        .def("sample_number", &DrivenRounds::sample_number, "Which sample that is; a few rounds have the same.")
        .def("bag", &DrivenRounds::bag, "Which rows count in the next round's values: noise and share.")
        .def("begin", &DrivenRounds::begin, "hessian"_a, "weight"_a, "The Hessian before any tree.")
        .def("grow", &DrivenRounds::grow, "table"_a, "x"_a, "gradient"_a, "hessian"_a, "weight"_a, "n_threads"_a,
             "The next round's trees, without values.")
        .def("finish", &DrivenRounds::finish, "sums"_a, "sizes"_a, "The same trees with values, which are kept.")
        .def("forest", &DrivenRounds::forest, "All trees so far.");
}

}  // namespace planewise
