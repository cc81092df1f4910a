// Boosting for Python.
#include <algorithm>

#include "boost.hpp"
#include "python.hpp"
#include "view_gains.hpp"

namespace planewise {

namespace {

constexpr std::pair<const char *, Loss> known_losses[] = {
    {"squared", Loss::squared}, {"absolute", Loss::absolute}, {"huber", Loss::huber},     {"quantile", Loss::quantile},
    {"poisson", Loss::poisson}, {"gamma", Loss::gamma},       {"tweedie", Loss::tweedie}, {"logistic", Loss::logistic},
    {"softmax", Loss::softmax}, {"ranking", Loss::ranking}};

Loss loss_named(const std::string &name) {
    for (const auto &[word, loss] : known_losses)
        if (name == word) return loss;
    throw std::invalid_argument("unknown loss: " + name);
}

std::string name_of(Loss wanted) {
    for (const auto &[word, loss] : known_losses)
        if (loss == wanted) return word;
    return "";
}

}  // namespace

Objective fitting(Objective objective, const Targets &target, std::size_t rows, std::size_t outputs) {
    objective.outputs = outputs;
    if (outputs == 0) throw std::invalid_argument("scores must have at least one output");
    if (target.ndim() < 1 || target.ndim() > 2) throw std::invalid_argument("target must have one or two dimensions");
    check_length(target.shape(0), rows, "target");
    const std::size_t columns = target.ndim() == 2 ? target.shape(1) : 1;
    if (columns != objective.targets())
        throw std::invalid_argument("ranking needs targets with a grade and a query; all other losses need one column");
    if (objective.loss == Loss::softmax) {
        for (std::size_t i = 0; i < rows; ++i)
            if (!(target.data()[i] >= 0 && target.data()[i] < static_cast<double>(outputs)))
                throw std::invalid_argument("target must hold numbers of classes");
    } else if (outputs != 1) {
        throw std::invalid_argument("only softmax has several outputs");
    }
    return objective;
}

namespace {

// The loss of scores that no booster holds: those of rounds before a warm start.
double mean_loss(const BoostOptions &options, const Targets &target, const Numbers &weight, const Scores &score) {
    check_length(weight.size(), score.shape(0), "weight");
    return fitting(options.objective, target, score.shape(0), score.shape(1))
        .mean_loss(score.data(), target.data(), weight.data(), score.shape(0));
}

// Gradient and Hessian of the built-in loss at these scores, rows x outputs each.
nb::tuple derivatives(const BoostOptions &options, const Targets &target, const Numbers &weight, const Scores &score,
                      int n_threads) {
    const std::size_t rows = score.shape(0), outputs = score.shape(1);
    check_length(weight.size(), rows, "weight");
    const Objective objective = fitting(options.objective, target, rows, outputs);
    std::vector<double> gradient(rows * outputs), hessian(rows * outputs);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        objective.derivatives(score.data(), target.data(), weight.data(), rows, gradient.data(), hessian.data(),
                              threads);
    });
    return nb::make_tuple(array(std::move(gradient), outputs), array(std::move(hessian), outputs));
}

using Bins = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// By view (columns from `first` and `second`), the gain of its cells; `bin` and `place` are columns x rows, gradient
// and hessian outputs x rows.
Out<double> gains_of_views(const Bins &bin, const Rows &place, const Numbers &weight,
                           const std::vector<std::int32_t> &bins, const std::vector<std::int32_t> &numeric,
                           const std::vector<std::int32_t> &has_missing, const Scores &gradient, const Scores &hessian,
                           const std::vector<double> &noise, double lambda, const Labels &first, const Labels &second,
                           int n_threads) {
    const std::size_t columns = bin.shape(0), rows = bin.shape(1), outputs = gradient.shape(0);
    if (place.shape(0) != columns || place.shape(1) != rows || bins.size() != columns || numeric.size() != columns ||
        has_missing.size() != columns)
        throw std::invalid_argument("bin, place, bins and numeric must agree");
    check_length(weight.size(), rows, "weight");
    if (gradient.shape(1) != rows || hessian.shape(1) != rows || hessian.shape(0) != outputs || noise.size() != outputs)
        throw std::invalid_argument("gradient, hessian and noise must agree with the rows and with each other");
    for (std::size_t j = 0; j < columns; ++j) {
        if (bins[j] < 1 || bins[j] > 255) throw std::invalid_argument("a column must have from 1 to 255 bins");
        const std::uint8_t *column = bin.data() + j * rows;
        if (std::any_of(column, column + rows, [&](std::uint8_t b) { return b >= bins[j]; }))
            throw std::invalid_argument("no such bin");
    }
    check_length(second.size(), first.size(), "second");
    std::vector<View> views;
    for (std::size_t v = 0; v < first.size(); ++v) {
        for (const std::int32_t j : {first.data()[v], second.data()[v]})
            if (j < 0 || static_cast<std::size_t>(j) >= columns) throw std::invalid_argument("no such column");
        views.emplace_back(first.data()[v], second.data()[v]);
    }
    std::vector<double> gains;
    const BinnedColumns table{bin.data(), place.data(), weight.data(), bins, numeric, has_missing, rows, columns};
    const Derivatives left{gradient.data(), hessian.data(), noise, outputs, lambda};
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        gains = view_gains(table, left, views, threads);
    });
    return array(std::move(gains));
}

constexpr std::size_t n_trial_losses = std::tuple_size_v<TreeTrials::Losses>;

// A booster with the table it learns from; the table must outlive it (kept alive by the binding).
class Boosting {
  public:
    // `trees` were grown before.
    Boosting(const Table &table, const Targets &target, const Numbers &weight, const Scores &score, std::size_t trees,
             BoostOptions options, int n_threads)
        : kept_{{target, weight}},
          objective_(fitting(options.objective, target, table.matrix().rows, score.shape(1))),
          booster_(table.matrix(), target.data(), checked(weight, table), of_rows(score, table.matrix().rows), trees,
                   with_objective(std::move(options), objective_, table.matrix().columns)),
          rows_(table.matrix().rows),
          columns_(table.matrix().columns),
          n_threads_(n_threads) {}

    // Several rounds in one call, threads started once; fewer when interrupted by an exception.
    void rounds(int count) {
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &stop) {
            for (int k = 0; k < count; ++k) booster_.round(threads, stop);
        });
    }
    void round_with(const Scores &gradient, const Scores &hessian) {
        for (const Scores *given : {&gradient, &hessian})
            if (given->shape(0) != rows_ || given->shape(1) != booster_.outputs())
                throw std::invalid_argument("gradient and hessian must have one entry per row and output");
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &stop) {
            booster_.round_with(gradient.data(), hessian.data(), threads, stop);
        });
    }
    std::size_t watch(const Table &table, const Targets &target, const Numbers &weight, const Scores &score) {
        const std::size_t rows = table.matrix().rows;
        if (fitting(objective_, target, rows, score.shape(1)).outputs != booster_.outputs())
            throw std::invalid_argument("score must have as many columns as that of training");
        kept_.emplace_back(target, weight);
        booster_.watch(table.matrix(), target.data(), checked(weight, table), of_rows(score, rows));
        return booster_.watched_sets() - 1;
    }
    void begin_at(const Scores &score) {
        if ((score.shape(0) != rows_ && score.shape(0) != 1) || score.shape(1) != booster_.outputs())
            throw std::invalid_argument("score must have one entry per row and output");
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &) {
            booster_.begin_at(score.data(), score.shape(0) == 1, threads);
        });
    }
    void begin_with(const Scores &hessian) {
        if (hessian.shape(0) != rows_ || hessian.shape(1) != booster_.outputs())
            throw std::invalid_argument("hessian must have one entry per row and output");
        booster_.begin_with(hessian.data());
    }
    void recall(const FittedForest &before) {
        if (before.columns() > columns_) throw std::invalid_argument("the trees use columns that the table lacks");
        booster_.recall(before.arrays());
    }
    // outputs x (strengths x depths).
    Out<double> trial_losses() const {
        std::vector<double> out;
        for (const TreeTrials &trials : booster_.trials())
            out.insert(out.end(), trials.losses().begin(), trials.losses().end());
        return array(std::move(out), n_trial_losses);
    }
    void set_trial_losses(const Scores &losses) {
        TreeTrials::Losses one;
        if (losses.shape(0) != booster_.outputs() || losses.shape(1) != n_trial_losses)
            throw std::invalid_argument("losses must have one row per output and one column per strength and depth");
        for (std::size_t output = 0; output < losses.shape(0); ++output) {
            std::copy_n(losses.data() + output * n_trial_losses, n_trial_losses, one.begin());
            booster_.set_trials(output, one);
        }
    }
    Out<double> left_out() const { return array(std::vector<double>(booster_.left_out()), booster_.outputs()); }
    void set_left_out(const Scores &score) {
        if (score.shape(0) != 0) check_length(score.shape(0), rows_, "score");
        if (score.shape(1) != booster_.outputs()) throw std::invalid_argument("score must have one column per output");
        booster_.set_left_out(std::vector<double>(score.data(), score.data() + score.size()));
    }
    double loss() const {
        return with_threads([&](Threads &threads) { return booster_.mean_loss(threads); });
    }
    double watched_loss(std::size_t set) const {
        check_watched(set);
        return with_threads([&](Threads &threads) { return booster_.watched_loss(set, threads); });
    }
    Out<double> watched_score(std::size_t set) const {
        check_watched(set);
        return array(std::vector<double>(booster_.watched_score(set)), booster_.outputs());
    }
    Out<double> score() const { return array(std::vector<double>(booster_.score()), booster_.outputs()); }
    FittedForest forest() const {
        Forest forest = booster_.forest();
        forest.compact(forest.n_values);
        return FittedForest(std::move(forest));
    }

  private:
    void check_watched(std::size_t set) const {
        if (set >= booster_.watched_sets()) throw std::invalid_argument("no such set");
    }
    double with_threads(const std::function<double(Threads &)> &find) const {
        double found = 0;
        run_native(n_threads_, [&](Threads &threads, const std::function<bool()> &) { found = find(threads); });
        return found;
    }
    static BoostOptions with_objective(BoostOptions options, const Objective &objective, std::size_t columns) {
        for (const std::vector<std::int32_t> &view : options.views) {
            if (view.empty()) throw std::invalid_argument("a view needs a column");
            for (const std::int32_t j : view)
                if (j < 0 || static_cast<std::size_t>(j) >= columns) throw std::invalid_argument("no such column");
        }
        options.objective = objective;
        return options;
    }
    // One row of scores stands for all.
    static std::vector<double> of_rows(const Scores &score, std::size_t rows) {
        if (score.shape(0) != 1) check_length(score.shape(0), rows, "score");
        std::vector<double> out(rows * score.shape(1));
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = score.data()[score.shape(0) == 1 ? i % score.shape(1) : i];
        return out;
    }
    static const double *checked(const Numbers &weight, const Table &table) {
        check_length(weight.size(), table.matrix().rows, "weight");
        return weight.data();
    }
    std::vector<std::pair<Targets, Numbers>> kept_;  // of the rows, and of each set that is watched
    Objective objective_;
    Booster booster_;
    std::size_t rows_, columns_;
    int n_threads_;
};

}  // namespace

void bind_boosting(nb::module_ &m) {
    m.attr("N_TRIAL_LOSSES") = n_trial_losses;
    nb::class_<BoostOptions>(m, "BoostOptions", "How to boost; the estimators' docstrings explain each.")
        .def(nb::init<>())
        .def_rw("grow", &BoostOptions::grow)
        .def_prop_rw(
            "loss", [](const BoostOptions &o) { return name_of(o.objective.loss); },
            [](BoostOptions &o, const std::string &name) { o.objective.loss = loss_named(name); })
        .def_prop_rw(
            "alpha", [](const BoostOptions &o) { return o.objective.alpha; },
            [](BoostOptions &o, double alpha) { o.objective.alpha = alpha; })
        .def_prop_rw(
            "power", [](const BoostOptions &o) { return o.objective.power; },
            [](BoostOptions &o, double power) { o.objective.power = power; })
        .def_prop_rw(
            "places", [](const BoostOptions &o) { return o.objective.ranking.places; },
            [](BoostOptions &o, std::size_t places) { o.objective.ranking.places = places; })
        .def_prop_rw(
            "truncation", [](const BoostOptions &o) { return o.objective.ranking.truncation; },
            [](BoostOptions &o, std::size_t truncation) { o.objective.ranking.truncation = truncation; })
        .def_prop_rw(
            "linear_gain", [](const BoostOptions &o) { return o.objective.ranking.linear_gain; },
            [](BoostOptions &o, bool linear) { o.objective.ranking.linear_gain = linear; })
        .def_rw("learning_rate", &BoostOptions::learning_rate)
        .def_rw("reg_lambda", &BoostOptions::reg_lambda)
        .def_rw("subsample", &BoostOptions::subsample)
        .def_rw("colsample", &BoostOptions::colsample)
        .def_rw("views", &BoostOptions::views)
        .def_rw("max_rows_per_tree", &BoostOptions::max_rows_per_tree)
        .def_rw("seed", &BoostOptions::seed)
        .def_rw("find_smoothing", &BoostOptions::find_smoothing)
        .def_rw("find_depth", &BoostOptions::find_depth)
        .def_rw("remember", &BoostOptions::remember);
    m.def("mean_loss", &mean_loss, "options"_a, "target"_a, "weight"_a, "score"_a, "Weighted mean loss of raw scores.");
    m.def("derivatives", &derivatives, "options"_a, "target"_a, "weight"_a, "score"_a, "n_threads"_a,
          "Gradient and Hessian of the loss at raw scores.");
    m.def("view_gains", &gains_of_views, "bin"_a, "place"_a, "weight"_a, "bins"_a, "numeric"_a, "has_missing"_a,
          "gradient"_a, "hessian"_a, "noise"_a, "reg_lambda"_a, "first"_a, "second"_a, "n_threads"_a,
          "What the cells of each view of one or two columns gain beyond chance.");
    nb::class_<Boosting>(m, "Boosting", "Second-order boosting on one table.")
        .def(
            nb::init<const Table &, const Targets &, const Numbers &, const Scores &, std::size_t, BoostOptions, int>(),
            nb::keep_alive<1, 2>(), "table"_a, "target"_a, "weight"_a, "score"_a, "trees"_a, "options"_a, "n_threads"_a)
        .def("rounds", &Boosting::rounds, "count"_a, "Grow that many rounds with the built-in loss.")
        .def("round_with", &Boosting::round_with, "gradient"_a, "hessian"_a, "Grow one round on these derivatives.")
        .def("watch", &Boosting::watch, nb::keep_alive<1, 2>(), "table"_a, "target"_a, "weight"_a, "score"_a,
             "Follow the scores of one more set of rows as trees are added; returns the number of the set.")
        .def("begin_at", &Boosting::begin_at, "score"_a, "The scores before any tree.")
        .def("begin_with", &Boosting::begin_with, "hessian"_a, "The Hessian of a custom loss before any tree.")
        .def("recall", &Boosting::recall, "before"_a, "Trees grown before: good directions are tried again.")
        .def("trial_losses", &Boosting::trial_losses,
             "What the trials of depth and smoothing have found so far, for a fit that continues from this one.")
        .def("set_trial_losses", &Boosting::set_trial_losses, "losses"_a, "Those of the fit before.")
        .def("left_out", &Boosting::left_out, "Scores of the rows without their own part in them, if any are kept.")
        .def("set_left_out", &Boosting::set_left_out, "score"_a, "Those of the fit before.")
        .def("watched_loss", &Boosting::watched_loss, "set"_a, "Weighted mean loss on a watched set now.")
        .def("watched_score", &Boosting::watched_score, "set"_a, "Raw scores of a watched set now.")
        .def("loss", &Boosting::loss, "Weighted mean loss on the training rows now.")
        .def("score", &Boosting::score, "Raw scores of the training rows now.")
        .def("forest", &Boosting::forest, "All trees so far.");
}

}  // namespace planewise
