"""What the classifier and the regressor of views share: the fit, the scores of views, and what they explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._params import Limit, either, integer, one_of, real, seed, threads
from planewise._progress import Progress
from planewise._text import feature_names, number, percent
from planewise.additive.explain import ViewsBatch
from planewise.additive.gains import Floats, View
from planewise.additive.kept_rows import KeptRows
from planewise.additive.purify import Purification, purify
from planewise.additive.search import (
    MANY_ROWS,
    Candidates,
    Plan,
    all_views,
    best_plan,
    find_views,
    folds,
    given_folds,
    n_different,
)
from planewise.additive.values import Values
from planewise.data.categories import categorical_limit
from planewise.data.problem import (
    Problem,
    category_counts,
    prediction_rows,
    refuse_infinity,
    thread_count,
)
from planewise.data.spooled import SpooledTable
from planewise.explain.describe import Description, Limits, TableSection, TextSection
from planewise.explain.neighbours import ProjectionExplanation
from planewise.explain.projections import FittedRows, ViewsReport, given_views, row_numbers
from planewise.trees.arrays import Forest, require_finite_values
from planewise.trees.boost_data import Data
from planewise.trees.boosting import Boosting
from planewise.trees.growth import training_table
from planewise.trees.losses import RawLoss
from planewise.trees.rules import rules_of_tree

VIEWS = Limit(
    lambda value: value is None or (not isinstance(value, str) and hasattr(value, "__iter__")),
    "a list of views (tuples of one or two column numbers or names) or None",
)
MOST_COLUMNS = 2_000  # whose pairs are all looked at


class Views(Boosting):
    """A sum of functions of one or two columns each."""

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        "max_views": integer(1),
        "max_dim": integer(1, 2),
        "projections": VIEWS,
        "n_estimators": integer(1),
        "learning_rate": real(0, open_low=True),
        "max_depth": either(integer(1, 20), one_of("auto")),
        "max_planes": integer(1, 8),
        "min_child_weight": real(0),
        "reg_lambda": real(0),
        "smoothing": real(0),
        "cv": either(
            integer(2, none=True),
            Limit(
                lambda value: not isinstance(value, str) and (hasattr(value, "split") or hasattr(value, "__iter__")),
                "a splitter of scikit-learn or an iterable of (train, test)",
            ),
        ),
        "n_iter_no_change": integer(1),
        "keep_rows": integer(0),
        "categorical_features": categorical_limit(),
        "monotonic_cst": Boosting.parameter_limits["monotonic_cst"],
        "verbose": integer(0),
        "n_jobs": threads(),
        "random_state": seed(),
    }
    max_views: int
    max_dim: int
    projections: Any
    cv: Any
    keep_rows: int
    # What trees of views have no parameters for.
    min_samples_split, min_samples_leaf, max_leaf_nodes = 2, 1, None
    min_split_gain, noise_margin, subsample, colsample = 0.0, 0.0, 1.0, 1.0
    plane_choice, max_cosine, min_relative_gain = "joint", 0.7, 0.0
    n_projections, subspace, subspace_size, root_features, axis_candidates = 16, "candidate", 2, None, "all"
    max_coef, min_coef, coef_decay, rank_decay = 5, 1, 0.0, 0.1
    n_bins, bins, refine_thresholds = 16, "robust", True
    max_rows_per_node, max_rows_per_tree, max_ranked_features = "auto", 65536, None
    remember_directions, target_statistics, interaction_cst = True, None, None
    has_offset_ = False
    projections_: list[View]
    projection_importance_: Floats
    validation_loss_: float
    depth_: int
    _purified: Purification
    _kept: KeptRows

    # --------------------------------------------------------------------------------------------------------- fit
    def _fit(self, problem: Problem, target: Floats, loss: RawLoss, X: Any, y: Any) -> None:
        """Choose the views and boost over them, on rows that count."""
        refuse_infinity(self, problem.rows, X)
        data = Data(problem.rows, target, problem.weight)
        self.target_statistics_ = {}
        self._seed = self._new_seed()
        self._options(len(data.rows), loss)  # constraints are checked
        candidates, counts, n_threads = self._candidates(), category_counts(self), thread_count(self.n_jobs)
        if self.cv is None or isinstance(self.cv, (int, np.integer)):
            count = None if self.cv is None else int(self.cv)
            parts = folds(data, count, self._seed, loss.n_classes is not None)
        else:
            parts = given_folds(self.cv, X, y, problem.kept, len(problem.counts))
        many = self.cv is None and n_different(data.rows) > MANY_ROWS
        passes = 3 if self.max_depth == "auto" else 2
        with Progress(passes * len(parts) + 1, "choosing views", shown=self.verbose > 0) as bar:
            plan = best_plan(
                self, data, loss, candidates, counts,
                depth=self.max_depth, parts=parts, many=many,
                map_folds=self._map_folds(bar, n_threads), n_threads=n_threads,
            )  # fmt: skip
            self._boost_over_views(data, loss, candidates._replace(most=plan.n_views), plan, n_threads)
            self._kept = KeptRows.of(data, problem.kept, self.keep_rows, self._used_columns())
            bar.step(f"{len(self.projections_)} views, {self.n_iter_} rounds")

    def _refuse_files(self, X: Any) -> None:
        """An error for a table on disk, of which every fold would be copied into memory."""
        if isinstance(X, SpooledTable):
            raise ValueError(
                f"{type(self).__name__} needs a table in memory, not a SpooledTable: give it a sample of the rows, or "
                "use SLMBoostClassifier or SLMBoostRegressor."
            )

    def _candidates(self) -> Candidates:
        n = self.n_features_in_
        if self.projections is not None:
            names = getattr(self, "feature_names_in_", None)
            views = given_views(self.projections, n, names, "projections")
            if wide := [view for view in views if len(view) > 2]:
                raise ValueError(f"projections has the view {wide[0]!r}; a view has one or two columns.")
            return Candidates(views, len(views), are_given=True)
        if self.max_dim > 1 and n > MOST_COLUMNS:
            raise ValueError(
                f"X has {n} columns; the search for pairs takes up to {MOST_COLUMNS}. Use max_dim=1, give the views in "
                "projections, or leave out columns."
            )
        return Candidates(all_views(range(n), self.max_dim), self.max_views)

    def _map_folds(self, bar: Progress, n_threads: int) -> Callable[..., Iterator[Any]]:
        """Work on folds on as many threads as there are, in order."""

        def work(one: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
            pool = Parallel(n_jobs=min(n_threads, len(parts)), prefer="threads", return_as="generator")
            for found in pool(delayed(one)(part) for part in parts):
                bar.step()
                yield found

        return work

    def booster(
        self, data: Data, loss: RawLoss, views: Sequence[View], *, depth: int, rate: float | None, n_threads: int
    ) -> _core.Boosting:
        """Boosting whose rounds take turns with the views."""
        made = copy(self)
        made.max_depth, made.learning_rate = depth, self.learning_rate if rate is None else rate
        options = made._boost_options(len(data.rows), loss, self._seed)
        options.views = [list(view) for view in views]
        start = loss.start(data.target, data.weight)[None]
        boosting = _core.Boosting(self.table(data, n_threads), data.target, data.weight, start, 0, options, n_threads)
        boosting.begin_at(start)
        return boosting

    def table(self, data: Data, n_threads: int) -> _core.Table:
        """Rows as the core learns from them."""
        return training_table(self, data.rows, data.weight, n_threads)

    def _boost_over_views(self, data: Data, loss: RawLoss, candidates: Candidates, plan: Plan, n_threads: int) -> None:
        counts = category_counts(self)
        views = find_views(self, data, loss, candidates, counts, n_threads)
        boosting = self.booster(data, loss, views, depth=plan.depth, rate=None, n_threads=n_threads)
        boosting.rounds(plan.n_rounds * len(views))
        self.n_iter_, self.depth_, self.validation_loss_ = plan.n_rounds, plan.depth, plan.loss
        self._loss, self.base_score_ = loss, loss.start(data.target, data.weight)
        self.feature_means_ = self.table(data, n_threads).mean
        forest = Forest(boosting.forest())
        require_finite_values(forest)
        self._keep_in_order(forest, views, data, n_threads)

    def _keep_in_order(self, forest: Forest, views: list[View], data: Data, n_threads: int) -> None:
        """The trees of the first view, those of the second and so on, the most important view first."""
        per_round, n_views = forest.trees_per_round, len(views)
        per_view = forest.n_trees // n_views
        rounds = [forest.part(first, first + per_round) for first in range(0, forest.n_trees, per_round)]
        grouped = [Forest.joined(rounds[place::n_views]) for place in range(n_views)]
        nothing = np.zeros(len(self.base_score_))
        spread = [_spread(each.predict(data.rows, nothing, n_threads=n_threads), data.weight) for each in grouped]
        self._arrange([views[place] for place in _largest_first(spread)], [grouped[k] for k in _largest_first(spread)])
        constrained = np.flatnonzero(self._options(len(data.rows), self._loss).monotone).tolist()
        self._purified = purify(
            self.projections_,
            data.rows,
            data.weight,
            category_counts(self),
            len(nothing),
            self._score_of_points,
            constrained,
        )
        scores = self._view_scores(data.rows)
        size = np.array([_size(each, data.weight) for each in scores.transpose(1, 0, 2)])
        order = _largest_first(size)  # what was moved may have made another view the most important one
        grouped = [self.forest_.part(k * per_view, (k + 1) * per_view) for k in order]
        self._arrange([self.projections_[place] for place in order], grouped)
        self._purified, self.projection_importance_ = self._purified.in_order(order), size[order]

    def _arrange(self, views: list[View], grouped: list[Forest]) -> None:
        self.projections_, self.forest_ = views, Forest.joined(grouped)

    def _score_of_points(self, points: NDArray[np.float32], place: int) -> Floats:
        rows = np.zeros((len(points), self.n_features_in_), np.float32)
        rows[:, list(self.projections_[place])] = points
        return self._trees_of(place, rows)

    def _used_columns(self) -> list[int]:
        return sorted({column for view in self.projections_ for column in view})

    # ----------------------------------------------------------------------------------------------------- answers
    def _trees_of(self, place: int, rows: NDArray[np.float32]) -> Floats:
        """What the trees of a view add up to, before anything is moved: rows x outputs."""
        trees = self.n_iter_ * self.forest_.trees_per_round
        nothing = np.zeros(len(self.base_score_))
        return self.forest_.predict(rows, nothing, place * trees, (place + 1) * trees, thread_count(self.n_jobs))

    def _view_scores(self, rows: NDArray[np.float32]) -> Floats:
        """Rows x views x outputs."""
        found = [self._trees_of(place, rows) for place in range(len(self.projections_))]
        scores = np.stack(found, axis=1) if found else np.zeros((len(rows), 0, len(self.base_score_)))
        return self._purified.of_scores(rows, scores)

    @property
    def view_base_(self) -> Floats:
        """What the scores of all views are added to, by output: the mean score if columns were independent."""
        check_is_fitted(self)
        return self.base_score_ + self._purified.centre.astype(np.float64).sum(axis=0)

    @property
    def projection_names_(self) -> list[tuple[str, ...]]:
        """The names of the columns of each view."""
        check_is_fitted(self)
        names = feature_names(self)
        return [tuple(names[j] for j in view) for view in self.projections_]

    def view_score(self, X: Any, view: Any = None) -> Floats:
        """What each view adds to the raw score of each row.

        The scores of all views and ``view_base_`` add up to the raw score.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        view : int, tuple or None, default=None
            One view, by its place in ``projections_`` or by the numbers or names of its columns; None for all of them.

        Returns
        -------
        scores : array of shape (n_samples, n_views, n_outputs)
            (n_samples, n_outputs) if one view was asked for. Without the last dimension where there is one output: two
            classes, or numbers.
        """
        check_is_fitted(self)
        place = None if view is None else self._place_of(view)
        scores = self._view_scores(prediction_rows(self, X))
        scores = scores if place is None else scores[:, place]
        return scores[..., 0] if scores.shape[-1] == 1 else scores

    def _place_of(self, view: Any) -> int:
        if isinstance(view, (int, np.integer)) and not isinstance(view, (bool, np.bool_)):
            if not 0 <= view < len(self.projections_):
                raise ValueError(f"view must be from 0 to {len(self.projections_) - 1}, or its columns; got {view!r}.")
            return int(view)
        columns = given_views([view], self.n_features_in_, getattr(self, "feature_names_in_", None), "view")[0]
        if columns not in self.projections_:
            raise ValueError(f"view must be one of projections_ {self.projections_}; got {view!r}.")
        return self.projections_.index(columns)

    def _n_trees(self, n_rounds: int | None) -> int:
        if n_rounds is not None:
            raise ValueError("n_rounds must be None: rounds take turns with the views, and trees are kept by view.")
        return super()._n_trees(None)

    def views_report(self, X: Any = None, y: Any = None) -> ViewsReport:
        """How important each view is, and how often it decides: a table.

        Parameters
        ----------
        X, y : default=None
            Rows to judge by; by default the kept training rows (see `keep_rows`).

        Returns
        -------
        report : ViewsReport
            ``view``, ``dimension``, ``importance`` (mean size of its score), ``leads`` (share of rows in which its
            score is the largest for the prediction), ``alone_agrees`` (on these, how often the view alone gives the
            same answer) and, with y, ``accuracy`` or ``rmse`` on them.
        """
        check_is_fitted(self)
        if not self.projections_:
            return ViewsReport([])
        if X is None:
            if y is not None:
                raise ValueError("y needs X: give both, or neither for the kept training rows.")
            rows, weight = self._kept.as_rows(self.n_features_in_), self._kept.weight
            truth: Any = self._kept_targets()
        else:
            rows = prediction_rows(self, X)
            weight, truth = np.ones(len(rows)), None if y is None else self._truth(y, rows)
        if len(rows) == 0:
            raise ValueError("The model keeps no training rows (keep_rows=0): give X and y.")
        lead, agrees, answer = self._leading(rows)
        report = []
        for place, names in enumerate(self.projection_names_):
            mine = lead == place
            line = {
                "view": " × ".join(names),
                "dimension": len(names),
                "importance": float(self.projection_importance_[place]),
                "leads": float(weight[mine].sum() / weight.sum()),
                "alone_agrees": float(np.average(agrees[mine], weights=weight[mine])) if mine.any() else None,
            }
            if truth is not None:
                own = answer[mine], truth[mine], weight[mine]
                line[self._quality_name] = self._quality(*own) if mine.any() else None
            report.append(line)
        return ViewsReport(report)

    _quality_name: ClassVar[str]

    def _kept_targets(self) -> NDArray[Any]:
        raise NotImplementedError

    def _truth(self, y: Any, rows: NDArray[np.float32]) -> NDArray[Any]:
        raise NotImplementedError

    def _quality(self, answer: NDArray[Any], truth: NDArray[Any], weight: Floats) -> float:
        raise NotImplementedError

    def _leading(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[Any]]:
        """By row: the view with the largest score for the answer, whether it alone gives it, and the answer."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------------------- why
    def explain(  # type: ignore[override]
        self, X: Any, *, feature_names: Sequence[str] | None = None, units: Any = None
    ) -> list[ProjectionExplanation]:
        """Why each row gets its prediction: the leading view, what the others add, and the rows near it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        feature_names : sequence of str, default=None
            Names of all features; by default those of the table in ``fit``, or x0, x1, ...
        units : dict or list, default=None
            Units of features, by name or one per feature.

        Returns
        -------
        explanations : list of ProjectionExplanation
            One per row. Row numbers are those of X in ``fit``.
        """
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        batch = ViewsBatch.of(self, rows, self._view_scores(rows), feature_names, units)
        return [ProjectionExplanation(batch, query) for query in range(len(rows))]

    def view_in_words(self, view: Any) -> dict[str, Any]:
        """A view as explanations have it: its features, columns, units (none) and scaling.

        Parameters
        ----------
        view : int or tuple
            As in ``view_score``.
        """
        check_is_fitted(self)
        names = feature_names(self)
        return Values(self).view(self._place_of(view), names, [None] * len(names))

    def fitted_rows(self) -> FittedRows:
        """The kept training rows as the user gave them, for pictures; columns that no view reads are empty.

        Returns
        -------
        rows : FittedRows
        """
        check_is_fitted(self)
        values, kept = Values(self), self._kept
        table = np.full((len(kept.values), self.n_features_in_), None, dtype=object)
        for column in kept.columns:
            table[:, column] = [values.as_given(each, column) for each in values.column(column)]
        number, once = kept.number.astype(np.intp), np.ones(len(kept.values), np.intp)
        return FittedRows(table, self._kept_targets(), number, kept.weight, once)

    def renumber_rows(self, numbers: NDArray[np.intp]) -> None:
        """Let explanations use other numbers for the rows of the fit, which may be a part of a larger table.

        Parameters
        ----------
        numbers : array of int of shape (n_samples,)
            The number of each row of X in ``fit``, 0 or more.
        """
        check_is_fitted(self)
        last = int(self._kept.number.max(initial=-1))
        self._kept = self._kept.renumbered(row_numbers(numbers, last).astype(np.int64))

    def view_surface(
        self, view: Any, values: Sequence[Sequence[Any]], query: Sequence[Any] | None = None
    ) -> tuple[Floats, Floats | None]:
        """What a view says at any values of its columns, and what the whole model says there.

        Parameters
        ----------
        view : int or tuple
            As in ``view_score``.
        values : sequence of sequences
            For each column of the view, a value per point, as in X; None is a missing value.
        query : sequence or None, default=None
            Values of the columns that views read, in increasing order of the columns: those of other columns than the
            view's are the same at all points. None: only the view's own scores are found.

        Returns
        -------
        own, whole : arrays of shape (n_points, n_outputs), the second None without a query
            The score of the view, and the raw score of the model.
        """
        check_is_fitted(self)
        place, known = self._place_of(view), Values(self)
        rows = np.zeros((len(values[0]), self.n_features_in_), np.float32)
        if query is not None:
            for column, value in zip(known.columns, query, strict=True):
                rows[:, column] = known.as_read([value], column)[0]
        for column, given in zip(self.projections_[place], values, strict=True):
            rows[:, column] = known.as_read(given, column)
        if query is None:
            return self._purified.of_view(rows, self._trees_of(place, rows), place), None
        scores = self._view_scores(rows)
        return scores[:, place], scores.sum(axis=1) + self.view_base_

    # ----------------------------------------------------------------------------------------------------- in words
    def _describe(self, about: Description, limits: Limits) -> None:
        """The views and their importance, then each as rules."""
        names = [" × ".join(view) for view in self.projection_names_]
        about.facts += [
            ("views", str(len(names))),
            ("trees", str(self.forest_.n_trees)),
            ("numbers stored", str(self.n_stored_numbers_)),
            ("starts from", ", ".join(number(each) for each in self.base_score_)),
        ]
        if not names:
            return
        total = float(self.projection_importance_.sum()) or 1.0
        shares = [float(each) / total for each in self.projection_importance_]
        rows = [[name, percent(share)] for name, share in zip(names, shares, strict=True)]
        about.sections.append(TableSection("Views", ["view", "share of the scores"], rows, "", shares))
        if self._purified.moves:
            about.facts.append(("rules", "as grown; effects that several views share are moved to one of them later"))
        trees = self.n_iter_ * self.forest_.trees_per_round
        for place, name in enumerate(names):
            shown = min(trees, limits.max_trees)
            lines: list[str] = []
            for tree in range(place * trees, place * trees + shown):
                lines += rules_of_tree(self, tree, limits)
            if shown < trees:
                lines.append(f"… and {trees - shown} more trees")
            about.sections.append(TextSection(f"View {place + 1} of {len(names)}: {name}", lines))


def _largest_first(sizes: Sequence[float] | Floats) -> list[int]:
    """The order of sizes; those that differ by rounding alone stay as they are."""
    every = np.asarray(sizes)
    order: list[int] = np.argsort(-np.round(every / max(every.max(), 1e-300), 9), kind="stable").tolist()
    return order


def _spread(score: Floats, weight: Floats) -> float:
    """How far scores are from their mean; of several outputs, the mean over them."""
    return _size(score - np.average(score, axis=0, weights=weight), weight)


def _size(score: Floats, weight: Floats) -> float:
    """The mean absolute score; a constant of all classes counts for nothing."""
    if score.shape[1] > 1:
        score = score - score.mean(axis=1, keepdims=True)
    return float(np.average(np.abs(score).mean(axis=1), weights=weight))
