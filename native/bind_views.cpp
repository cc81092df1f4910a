// Neighbours in views, and the choice among views, for Python.
#include <algorithm>
#include <functional>

#include "neighbours.hpp"
#include "python.hpp"
#include "recip_choice.hpp"

namespace planewise {

namespace {

// The choice of every row among views: two views, the share of the second, and z . b.
nb::tuple choose_projections(const Rows &entropy, const Vector<float> &least, const Vector<std::int32_t> &best,
                             const Vector<std::int32_t> &order, const Vector<double> &delta, double lam,
                             int n_threads) {
    const LocalEntropies z{entropy.data(), entropy.shape(0), entropy.shape(1)};
    if (least.size() != z.rows || best.size() != z.rows)
        throw std::invalid_argument("least and best must have one entry per row");
    if (order.size() != delta.size()) throw std::invalid_argument("order and delta must have equal sizes");
    const std::vector<std::int32_t> views(order.data(), order.data() + order.size());
    const std::vector<double> price(delta.data(), delta.data() + delta.size());
    const auto unknown = [&](std::int32_t j) { return j < 0 || static_cast<std::size_t>(j) >= z.views; };
    if (std::any_of(views.begin(), views.end(), unknown) || std::any_of(best.data(), best.data() + z.rows, unknown))
        throw std::invalid_argument("no such view");
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
        throw std::invalid_argument("weight and current must have one entry per row");
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
        throw std::invalid_argument("weight, least and largest must have one entry per row");
    std::vector<double> loss(z.views);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &) {
        decision_losses(z, weight.data(), least.data(), largest.data(), loss.data(), threads);
    });
    return array(std::move(loss));
}

Points points_of(const Rows &x, const Vector<float> &categorical) {
    if (categorical.size() != 0 && categorical.size() != x.shape(1))
        throw std::invalid_argument("categorical must have one entry per column");
    return {x.data(), x.shape(0), x.shape(1), categorical.size() != 0 ? categorical.data() : nullptr};
}

Views views_of(const Labels &start, const Labels &column, std::size_t columns) {
    Views views{{start.data(), start.data() + start.size()}, {column.data(), column.data() + column.size()}};
    if (views.start.empty() || views.start.front() != 0 || views.start.back() != column.size() ||
        std::adjacent_find(views.start.begin(), views.start.end(), std::greater_equal<>()) != views.start.end())
        throw std::invalid_argument("view_start must rise from 0 to the number of columns named");
    for (const std::int32_t j : views.column)
        if (j < 0 || static_cast<std::size_t>(j) >= columns) throw std::invalid_argument("no such column");
    return views;
}

void check_at_least_one(std::size_t count, const char *name) {
    if (count == 0) throw std::invalid_argument(std::string(name) + " must be at least 1");
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

void check_classes(const Labels &label, std::size_t classes) {
    for (std::size_t i = 0; i < label.size(); ++i)
        if (label.data()[i] < 0 || static_cast<std::size_t>(label.data()[i]) >= classes)
            throw std::invalid_argument("label must lie in 0 .. n_classes - 1");
}

// Without labels (an empty array) all rows are of one class.
void nearest_of_classes(const Rows &x, const Labels &label, std::size_t classes, const Vector<float> &categorical,
                        const Labels &view_start, const Labels &view_column, const Rows &queries, const Labels &exclude,
                        std::size_t k, const Filled<std::int32_t> &row, const Filled<float> &distance, int n_threads) {
    const Points points = points_of(x, categorical);
    const Views views = views_of(view_start, view_column, points.columns);
    check_at_least_one(classes, "n_classes");
    check_at_least_one(k, "k");
    check_size(queries.shape(1), points.columns, "queries");
    check_size(row.size(), length_of({views.count(), queries.shape(0), classes, k}), "row");
    check_size(distance.size(), row.size(), "distance");
    if (exclude.size() != 0) check_size(exclude.size(), queries.shape(0), "exclude");
    if (label.size() != 0) check_length(label.size(), points.rows, "label");
    check_classes(label, classes);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        class_neighbours(points, label.size() != 0 ? label.data() : nullptr, views,
                         {queries.data(), queries.shape(0), exclude.size() != 0 ? exclude.data() : nullptr, classes, k,
                          row.data(), distance.data()},
                         threads, [&] {
                             if (stop()) throw Interrupted();
                         });
    });
}

void nearest_class_weights(const Rows &x, const Labels &label, const Vector<double> &weight, std::size_t classes,
                           const Vector<float> &categorical, const Labels &view_start, const Labels &view_column,
                           const Rows &queries, const Labels &exclude, std::size_t k,
                           const Filled<double> &class_weight, const Filled<std::int32_t> &nearer,
                           const Filled<std::int32_t> &tied, int n_threads) {
    const Points points = points_of(x, categorical);
    const Views views = views_of(view_start, view_column, points.columns);
    check_at_least_one(classes, "n_classes");
    check_at_least_one(k, "k");
    check_size(queries.shape(1), points.columns, "queries");
    check_size(class_weight.size(), length_of({views.count(), queries.shape(0), classes}), "class_weight");
    check_size(nearer.size(), views.count() * queries.shape(0), "nearer");
    check_size(tied.size(), nearer.size(), "tied");
    if (exclude.size() != 0) check_size(exclude.size(), queries.shape(0), "exclude");
    check_length(label.size(), points.rows, "label");
    check_length(weight.size(), points.rows, "weight");
    check_classes(label, classes);
    run_native(n_threads, [&](Threads &threads, const std::function<bool()> &stop) {
        NearestWeights(points, label.data(), weight.data())
            .by_class(views,
                      {queries.data(), queries.shape(0), exclude.size() != 0 ? exclude.data() : nullptr, classes, k,
                       class_weight.data(), nearer.data(), tied.data()},
                      threads, [&] {
                          if (stop()) throw Interrupted();
                      });
    });
}

}  // namespace

void bind_views(nb::module_ &m) {
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
    nb::class_<RowSearch<OwnAndOther>>(m, "OwnAndOtherSearch",
                                       "Distances to rows of the own and of other labels, by view.")
        .def(nb::init<const Rows &, const Labels &, const Vector<float> &>(), "points"_a, "label"_a, "categorical"_a)
        .def(
            "distances",
            [](RowSearch<OwnAndOther> &self, const Labels &view_start, const Labels &view_column, const Labels &rows,
               std::size_t k, const Filled<float> &same, const Filled<float> &other, int n_threads) {
                check_at_least_one(k, "k");
                self.run(view_start, view_column, rows, same, other, n_threads,
                         [&](OwnAndOther &search, const Views &views, const auto &queries, Threads &threads,
                             const Pause &pause) {
                             search.distances(views, queries, k, same.data(), other.data(), threads, pause);
                         });
            },
            "view_start"_a, "view_column"_a, "rows"_a, "k"_a, "same"_a.noconvert(), "other"_a.noconvert(),
            "n_threads"_a,
            "Fill `same` and `other` with the distances to the k-th nearest row of the own and of any other label.");
    nb::class_<RowSearch<NearestWeights>>(m, "NearestWeightsSearch",
                                          "Weights of the nearest rows by label; equally far ones share places.")
        .def(nb::init<const Rows &, const Labels &, const Vector<double> &, const Vector<float> &>(), "points"_a,
             "label"_a, "weight"_a, "categorical"_a)
        .def(
            "own_and_other",
            [](RowSearch<NearestWeights> &self, const Labels &view_start, const Labels &view_column, const Labels &rows,
               std::size_t k, const Filled<float> &own, const Filled<float> &other, int n_threads) {
                check_at_least_one(k, "k");
                self.run(view_start, view_column, rows, own, other, n_threads,
                         [&](NearestWeights &search, const Views &views, const auto &queries, Threads &threads,
                             const Pause &pause) {
                             search.own_and_other(views, queries, k, own.data(), other.data(), threads, pause);
                         });
            },
            "view_start"_a, "view_column"_a, "rows"_a, "k"_a, "own"_a.noconvert(), "other"_a.noconvert(), "n_threads"_a,
            "Fill `own` and `other` with the weights of the k nearest rows of the own label and of others.");
    m.def(
        "nearest_class_weights", &nearest_class_weights, "points"_a, "label"_a, "weight"_a, "n_classes"_a,
        "categorical"_a, "view_start"_a, "view_column"_a, "queries"_a, "exclude"_a, "k"_a, "class_weight"_a.noconvert(),
        "nearer"_a.noconvert(), "tied"_a.noconvert(), "n_threads"_a,
        "Fill `class_weight` with the weights of the k nearest rows by class, `nearer` and `tied` with the numbers of "
        "rows that are nearer than the k-th and as far away.");
    m.def("class_neighbours", &nearest_of_classes, "points"_a, "label"_a, "n_classes"_a, "categorical"_a,
          "view_start"_a, "view_column"_a, "queries"_a, "exclude"_a, "k"_a, "row"_a.noconvert(),
          "distance"_a.noconvert(), "n_threads"_a, "Fill `row` and `distance` with the k nearest rows of each class.");
}

}  // namespace planewise
