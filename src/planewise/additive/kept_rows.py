"""Training rows that a model of views keeps to show them: the columns of its views, of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planewise.additive.search import row_keys
from planewise.trees.boost_data import Data

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KeptRows:
    """Some training rows, by the columns that views read."""

    columns: list[int]
    values: NDArray[np.float32]  # rows x columns; categories by their numbers
    target: Floats
    weight: Floats
    number: NDArray[np.int64]  # the row of X in fit
    centre: Floats  # of the columns of all rows
    spread: Floats
    n_rows: int  # how many rows there were

    @classmethod
    def of(cls, data: Data, numbers: NDArray[np.intp], most: int, columns: Sequence[int]) -> KeptRows:
        """At most so many rows, drawn by their values: always the same ones."""
        chosen = np.arange(len(data.rows))
        if most < len(chosen):
            chosen = np.sort(np.argsort(row_keys(data.rows, 1), kind="stable")[:most])
        scales = [_scale(data.rows[:, j], data.weight) for j in columns]
        return cls(
            list(columns),
            np.ascontiguousarray(data.rows[chosen][:, list(columns)]),
            data.target[chosen],
            data.weight[chosen],
            numbers[chosen].astype(np.int64),
            np.array([centre for centre, _ in scales], np.float64),
            np.array([spread for _, spread in scales], np.float64),
            len(data.rows),
        )

    @classmethod
    def none(cls, n_rows: int) -> KeptRows:
        """Of a model without views."""
        nothing = np.empty(0)
        return cls([], np.empty((0, 0), np.float32), nothing, nothing, np.empty(0, np.int64), nothing, nothing, n_rows)

    def renumbered(self, numbers: NDArray[np.int64]) -> KeptRows:
        """The same rows by other numbers, one for each row of X in fit."""
        return replace(self, number=numbers[self.number])

    def as_rows(self, n_features: int) -> NDArray[np.float32]:
        """Whole rows, with zeros in the columns that no view reads."""
        rows = np.zeros((len(self.values), n_features), np.float32)
        rows[:, self.columns] = self.values
        return rows


def _scale(column: NDArray[np.float32], weight: Floats) -> tuple[float, float]:
    """Mean and standard deviation; one where a column does not vary."""
    known = ~np.isnan(column)
    if not known.any():
        return 0.0, 1.0
    values, share = column[known].astype(np.float64), weight[known]
    centre = float(np.average(values, weights=share))
    spread = float(np.sqrt(np.average((values - centre) ** 2, weights=share)))
    return centre, spread or 1.0
