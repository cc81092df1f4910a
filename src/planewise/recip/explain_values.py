"""Names, units and values in explanations of RECIP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from planewise._text import feature_names
from planewise.data.values import kinds_of
from planewise.explain.neighbours import as_fitted, units_of_features
from planewise.recip.rows import Vector


class Wording:
    """Names and units of features, and values as the user wrote them; `estimator` is as it was fitted then."""

    def __init__(self, estimator: Any, names: Sequence[str] | None, units: Any) -> None:
        self.estimator = as_fitted(estimator)
        self.names = feature_names(estimator, names)
        self.units = units_of_features(units, self.names)

    def view(self, place: int) -> dict[str, Any]:
        """A kept view, by its place in ``projections_``."""
        columns = self.estimator.projections_[place]
        return {
            "features": [self.names[j] for j in columns],
            "columns": list(columns),
            "units": [self.units[j] for j in columns],
            "scaling": [self._scaling(j) for j in columns],
        }

    def _scaling(self, column: int) -> dict[str, Any]:
        """How its values become coordinates, and which values these are if they are not numbers."""
        known, kind = self.estimator._scaling.describe(column), kinds_of(self.estimator).get(column)
        return known if kind is None else kind.scaling(known)

    def values(self, place: int, row: Vector) -> dict[str, Any]:
        """The values of a row in the features of a view; the row has the columns that were kept."""
        estimator = self.estimator
        return {
            self.names[j]: estimator._as_given(row[at], j)
            for j, at in zip(estimator.projections_[place], estimator._views[place], strict=True)
        }

    def all_values(self, row: Vector) -> dict[str, Any]:
        """The values in all features of any kept view."""
        columns = self.estimator._columns
        return {self.names[j]: self.estimator._as_given(row[at], j) for at, j in enumerate(columns)}

    def same_values_in_fit(self, row: Vector) -> bool:
        """Whether a row of the fit has these values in all columns that views read."""
        known = self.estimator._rows.values
        return bool(((known == row) | (np.isnan(known) & np.isnan(row))).all(axis=1).any())

    def skipped(self, row: Vector) -> list[dict[str, Any]]:
        """The views that lack a value of the query, and which."""
        out = []
        for place, local in enumerate(self.estimator._views):
            missing = [j for j, at in zip(self.estimator.projections_[place], local, strict=True) if np.isnan(row[at])]
            if missing:
                out.append(self.view(place) | {"missing": [self.names[j] for j in missing]})
        return out

    def in_words(self, view: dict[str, Any]) -> str:
        """A view as "a [mm] x b"."""
        named = zip(view["features"], view["units"], strict=True)
        return " × ".join(f"{name} [{unit}]" if unit else name for name, unit in named)


def plain(value: Any) -> Any:
    """A NumPy scalar as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
