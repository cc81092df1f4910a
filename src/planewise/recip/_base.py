"""What the classifier and the regressor share: tables in, rows and views kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from planewise._input import values_as_given
from planewise._params import Limit, boolean, either, integer, one_of, real, seed, threads
from planewise._shown import ShownInNotebooks
from planewise.recip._report import ViewsReport
from planewise.recip._rows import DistinctRows, FittedRows, FloatArray, Table, Vector
from planewise.recip._scaling import Scaling, find_scaling, informative_columns, ordered_categories, with_ranks
from planewise.recip._search import Found
from planewise.recip._views import View, given_views
from planewise.words import Description, Limits, TableSection, feature_names, number, percent

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
    "max_candidates": integer(1, none=True),
    "max_rows": integer(1, none=True),
    "selection": one_of("auto", "answers", "recip", "greedy", "lasso", "robust_lasso"),
    "projections": VIEWS,
    "include_all_features": boolean(),
    "scale": either(boolean(), one_of("standard")),
    "n_jobs": threads(),
    "verbose": Limit(lambda value: isinstance(value, (bool, int, np.integer)), "True, False or an integer"),
    "random_state": seed(),
}


class ProjectionEstimator(ShownInNotebooks, BaseEstimator):
    """Rows, scaling and views of a fitted RECIP; prediction is the subclasses'."""

    n_features_in_: int
    _loss_is_entropy = True
    projections_: list[View]
    projection_support_: Vector
    projection_entropy_: Vector

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _take_rows(self, X: Any) -> Table:
        """The table as numbers, codes of categories, and ranks of ordered ones."""
        values = values_as_given(self, X, reset=True)
        self._ranks = ordered_categories(X, self.categories_)
        return with_ranks(values, self._ranks)

    def _given(self) -> list[View] | None:
        params: Any = self
        if params.projections is None:
            return None
        return given_views(
            params.projections, self.n_features_in_, getattr(self, "feature_names_in_", None), "projections"
        )

    def _scale(self, rows: DistinctRows) -> tuple[FloatArray, list[int]]:
        """Coordinates of the rows, and the columns that can tell any apart."""
        params: Any = self
        columns = informative_columns(rows.values)
        if not columns:
            raise ValueError(
                f"Every column of X is constant (or missing): no view can tell rows apart, and {type(self).__name__} "
                "has nothing to show. Give it a feature that varies."
            )
        nominal = [j for j in self.categories_ if j not in self._ranks]
        self._scaling: Scaling = find_scaling(rows.values, rows.weight, nominal, params.scale)
        return self._scaling(rows.values), columns

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

    def _call_rows(self, numbers: NDArray[np.intp]) -> None:
        """Let explanations call the rows of the fit by these numbers: they may be a part of a larger table."""
        self._rows = self._rows.renumbered(numbers)

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

    @property
    def _dimension(self) -> NDArray[np.intp]:
        return np.array([len(view) for view in self._views])

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
        about.sections.append(TableSection("Views", ["view", "decides", "entropy"], rows))

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
        classes = getattr(self, "classes_", None)
        target = self._rows.target if classes is None else classes[self._rows.target]
        first, often = self._rows.origin[self._rows.origin_start[:-1]], np.diff(self._rows.origin_start)
        return FittedRows(table, target, first, self._rows.weight, often)

    def _report(
        self, view: NDArray[np.intp], weight: Vector, title: str, quality: Callable[[NDArray[np.bool_]], float]
    ) -> ViewsReport:
        """A row a view: how much it decides, and `quality` of the rows it does; `view` is -1 where none could."""
        rows = []
        for place, names in enumerate(self.projection_names_):
            mine = view == place
            rows.append(
                {
                    "view": " × ".join(names),
                    "dimension": len(names),
                    "support": float(self.projection_support_[place]),
                    "decides": float(weight[mine].sum() / weight.sum()),
                    title: quality(mine) if mine.any() else None,
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
        return float(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
