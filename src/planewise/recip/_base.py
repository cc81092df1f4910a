"""What the classifier and the regressor share: tables in, rows and views kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from planewise._input import Problem, thread_count, values_as_given
from planewise._params import Limit, boolean, either, integer, one_of, real, seed, threads
from planewise._scaling import scaling_limit
from planewise._shown import ShownInNotebooks
from planewise.recip._explanation import Wording
from planewise.recip._rows import (
    Coordinates,
    DistinctRows,
    FloatArray,
    Table,
    Vector,
    distinct_rows,
    find_coordinates,
    informative_columns,
    with_ranks,
)
from planewise.recip._search import Found, JudgeOf, LossOfViews, find_views
from planewise.words import (
    Batch,
    Description,
    FittedRows,
    Limits,
    ProjectionExplanation,
    TableSection,
    ViewsReport,
    feature_names,
    given_views,
    kinds_of,
    number,
    percent,
    plain_value,
    row_numbers,
)
from planewise.words import ViewColumns as View

NONE = Limit(lambda value: value is None, "None")
VIEWS = Limit(
    lambda value: value is None or (not isinstance(value, str) and hasattr(value, "__iter__")),
    "a list of views (tuples of column numbers or names) or None",
)
SHARED_LIMITS: dict[str, Limit] = {
    "max_dim": integer(1),
    "lam": either(real(0), NONE),
    "max_projections": integer(1, none=True),
    "min_support": real(0, 1),
    "keep": one_of("best", "used"),
    "unit_columns": boolean(),
    "max_candidates": integer(1, none=True),
    "max_rows": integer(1, none=True),
    "selection": one_of("auto", "answers", "recip", "greedy", "lasso", "robust_lasso"),
    "projections": VIEWS,
    "include_all_features": boolean(),
    "scaling": scaling_limit("standard", "arcsinh"),
    "n_jobs": threads(),
    "verbose": Limit(lambda value: isinstance(value, (bool, int, np.integer)), "True, False or an integer"),
    "random_state": seed(),
}


class ProjectionEstimator(ShownInNotebooks, BaseEstimator):
    """Rows, coordinates and views of a fitted RECIP; how they answer is the subclasses' affair."""

    parameter_limits: ClassVar[Mapping[str, Limit]]
    n_features_in_: int
    categories_: Mapping[int, NDArray[Any]]
    _loss_is_entropy = True
    _quality_name: ClassVar[str]
    _ranks: dict[int, NDArray[Any]]
    projections_: list[View]
    projection_support_: Vector
    projection_entropy_: Vector

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _merged(self, problem: Problem, target: NDArray[Any]) -> DistinctRows:
        return distinct_rows(problem.rows, target, problem.weight, problem.kept)

    def _given(self) -> list[View] | None:
        if self.projections is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        return given_views(self.projections, self.n_features_in_, names, "projections")

    def _place(self, rows: DistinctRows) -> tuple[FloatArray, list[int]]:
        """Coordinates of the rows, and the columns that can distinguish any."""
        columns = informative_columns(rows.values)
        if not columns:
            raise ValueError(
                f"Every column of X is constant (or missing): no view can distinguish rows, and {type(self).__name__} "
                "has nothing to show. Give it a feature that varies."
            )
        nominal = [j for j in self.categories_ if j not in self._ranks]
        self._scaling: Coordinates = find_coordinates(rows.values, rows.weight, nominal, self.scaling)
        return self._scaling(rows.values), columns

    def _find_views(
        self,
        rows: DistinctRows,
        columns: Sequence[int],
        loss: LossOfViews,
        judge: JudgeOf,
        weight: Vector,
        random: np.random.RandomState,
    ) -> None:
        """Search for the views, or take those given, and keep them."""
        found = find_views(self, self._given(), columns, loss, judge, weight, random, thread_count(self.n_jobs))
        self._keep_views(found, rows)

    def _keep_views(self, found: Found, rows: DistinctRows) -> None:
        """What is needed for answers: the columns of the kept views only."""
        self.projections_ = found.views
        self.projection_support_ = found.support
        self.projection_entropy_ = found.entropy
        self.optimality_gap_ = found.gap
        self.n_candidates_ = found.n_candidates
        self.lam_ = found.lam
        self.lam_losses_ = found.lam_losses
        self.objective_ = np.array(found.objective)
        self._overall_entropy = found.overall_entropy
        self._columns = sorted({j for view in found.views for j in view})
        place = {j: at for at, j in enumerate(self._columns)}
        self._views: list[View] = [tuple(place[j] for j in view) for view in found.views]
        self._rows = DistinctRows(
            np.ascontiguousarray(rows.values[:, self._columns]),
            rows.target,
            rows.weight,
            rows.origin,
            rows.origin_start,
        )
        self._derive()

    def renumber_rows(self, numbers: NDArray[np.intp]) -> None:
        """Let explanations use other numbers for the rows of the fit, which may be a part of a larger table.

        Parameters
        ----------
        numbers : array of int of shape (n_samples,)
            The number of each row of X in ``fit``, 0 or more.
        """
        check_is_fitted(self)
        self._rows = self._rows.renumbered(row_numbers(numbers, int(self._rows.origin.max())))

    def _derive(self) -> None:
        """What follows from the rest, and is neither saved nor pickled."""
        self._gap = np.ascontiguousarray(self._scaling.gap[self._columns])
        self._points = self._coordinates(self._rows.values)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_gap", "_points", "_reference")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_rows"):
            self._derive()

    @property
    def projection_names_(self) -> list[tuple[str, ...]]:
        """The names of the features of each kept view."""
        names = feature_names(self)
        return [tuple(names[j] for j in view) for view in self.projections_]

    def _query_values(self, X: Any) -> Table:
        """The columns of the kept views, in the user's units (codes and ranks of categories)."""
        rows = with_ranks(values_as_given(self, X, reset=False), self._ranks)
        return np.ascontiguousarray(rows[:, self._columns])

    def _coordinates(self, values: Table) -> FloatArray:
        return self._scaling(values, self._columns)

    def _describe(self, about: Description, limits: Limits) -> None:
        """The views that decide, the most used first."""
        names = [" × ".join(view) for view in self.projection_names_]
        about.facts.append(("views", str(len(names))))
        rows = [
            [name, percent(share), number(entropy)]
            for name, share, entropy in zip(names, self.projection_support_, self.projection_entropy_, strict=True)
        ]
        loss = "entropy" if self._loss_is_entropy else "loss"
        about.sections.append(TableSection("Views", ["view", "decides", loss], rows))

    def fitted_rows(self) -> FittedRows:
        """The rows of the fit as the user gave them, equal ones once, for pictures.

        Returns
        -------
        rows : FittedRows
            Columns that no view reads are empty.
        """
        check_is_fitted(self)
        table = np.full((len(self._rows.target), self.n_features_in_), None, dtype=object)
        for at, column in enumerate(self._columns):
            values, place = np.unique(self._rows.values[:, at], return_inverse=True)
            known = np.empty(len(values), dtype=object)
            known[:] = [self._as_given(value, column) for value in values]
            table[:, column] = known[place]
        first, often = self._rows.origin[self._rows.origin_start[:-1]], np.diff(self._rows.origin_start)
        return FittedRows(table, self._distinct_target(), first, self._rows.weight, often)

    def _distinct_target(self) -> NDArray[Any]:
        classes = getattr(self, "classes_", None)
        return self._rows.target if classes is None else classes[self._rows.target]

    # ------------------------------------------------------------------------------ what the subclasses answer
    def _answered(self, values: Table, exclude: NDArray[np.int32] | None = None) -> tuple[NDArray[np.intp], Any]:
        """The view that decides each row (-1: none can) and its answer; `exclude` are rows of the fit left out."""
        raise NotImplementedError

    def _batches(self, values: Table, wording: Wording) -> Iterator[tuple[Batch, int]]:
        """The explanations of some rows at a time, and how many they are."""
        raise NotImplementedError

    def _quality(self, answer: NDArray[Any], truth: NDArray[Any], weight: Vector) -> float:
        """How good answers to some rows are."""
        raise NotImplementedError

    def _truth(self, y: Any, values: Table) -> NDArray[Any]:
        """Targets as the user gave them, checked."""
        raise NotImplementedError

    def explain(
        self, X: Any, *, feature_names: Sequence[str] | None = None, units: Any = None
    ) -> list[ProjectionExplanation]:
        """Why each row gets its prediction: the view, the neighbours that decide, and the runner-up views.

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
        batches = self._batches(self._query_values(X), Wording(self, feature_names, units))
        return [ProjectionExplanation(batch, query) for batch, n_rows in batches for query in range(n_rows)]

    def views_report(self, X: Any = None, y: Any = None) -> ViewsReport:
        """Which share of the rows each view decides, and how well: a table.

        Parameters
        ----------
        X, y : default=None
            Rows to judge by; by default the training rows, each answered without itself.

        Returns
        -------
        report : ViewsReport
            ``view``, ``dimension``, ``support`` (share of training rows whose best kept view it is), ``decides``
            (share of rows predicted in it), ``accuracy`` on them (``rmse`` for a regressor; None without such rows),
            ``entropy`` (mean loss of the rows it is best for) and ``overall`` (mean loss of all rows in it; the loss
            of a regressor is the squared error divided by the variance of y).
        """
        check_is_fitted(self)
        if X is None:
            values, weight = self._rows.values, self._rows.weight
            truth = self._distinct_target()
            view, answer = self._answered(values, np.arange(len(values), dtype=np.int32))
        else:
            values = self._query_values(X)
            truth, weight = self._truth(y, values), np.ones(len(values))
            view, answer = self._answered(values)
        rows = []
        for place, names in enumerate(self.projection_names_):
            mine = view == place
            rows.append(
                {
                    "view": " × ".join(names),
                    "dimension": len(names),
                    "support": float(self.projection_support_[place]),
                    "decides": float(weight[mine].sum() / weight.sum()),
                    self._quality_name: self._quality(answer[mine], truth[mine], weight[mine]) if mine.any() else None,
                    "entropy": float(self.projection_entropy_[place]),
                    "overall": float(self._overall_entropy[place]),
                }
            )
        return ViewsReport(rows)

    def _as_given(self, value: float, column: int) -> Any:
        """A stored number as the user wrote it: a category by its name."""
        if np.isnan(value):
            return None
        if column in self._ranks:
            return _plain(self.categories_[column][int(np.flatnonzero(self._ranks[column] == value)[0])])
        if column in self.categories_:
            known = self.categories_[column]
            return _plain(known[int(value)]) if value < len(known) else "(a category not seen in fit)"
        return plain_value(kinds_of(self).get(column), float(value))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
