"""Columns of any kind as coordinates: what a distance between two rows means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise._categories import Categories, as_label
from planewise._input import is_table
from planewise.recip._rows import FloatArray, Table, Vector

TAIL_FACTOR = 2.0  # arcsinh(2 z) is nearly linear within half a standard deviation and a logarithm beyond
CONSTANT = 10 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Scaling:
    """How each column becomes a coordinate.

    Numbers are standardised, their long tails drawn in if `drawn_in`. Two different categories of a column are `gap`
    apart, so that the mean squared distance of two rows is that of a standardised column: a two-valued column means the
    same as a category and as a number. Ordered categories are numbers: their ranks.
    """

    centre: Vector
    spread: Vector
    tail_centre: Vector
    tail_spread: Vector
    drawn_in: bool
    gap: FloatArray  # 0: numbers

    def __call__(self, values: Table, columns: list[int] | None = None) -> FloatArray:
        """Coordinates of rows; of rows that have only these columns, if given."""
        take: Any = slice(None) if columns is None else columns
        scaled = (values - self.centre[take]) / self.spread[take]
        if self.drawn_in:
            drawn = (np.arcsinh(TAIL_FACTOR * scaled) - self.tail_centre[take]) / self.tail_spread[take]
            scaled = np.where(self.gap[take] > 0, scaled, drawn)
        return np.ascontiguousarray(scaled, dtype=np.float32)

    def describe(self, column: int) -> dict[str, Any]:
        """The numbers that turn a value of this column into a coordinate."""
        if self.gap[column] > 0:
            return {"kind": "categories", "gap": float(self.gap[column])}
        known = {"kind": "numbers", "centre": float(self.centre[column]), "spread": float(self.spread[column])}
        if self.drawn_in:
            known["tail_factor"] = TAIL_FACTOR
            known["tail_centre"] = float(self.tail_centre[column])
            known["tail_spread"] = float(self.tail_spread[column])
        return known


def find_scaling(values: Table, weight: Vector, categorical: list[int], wanted: bool | str) -> Scaling:
    """Of weighted rows: a weight of two is the row twice."""
    n_columns = values.shape[1]
    centre, spread = np.zeros(n_columns), np.ones(n_columns)
    tail_centre, tail_spread = np.zeros(n_columns), np.ones(n_columns)
    gap = np.zeros(n_columns, dtype=np.float32)
    for j in range(n_columns):
        known = ~np.isnan(values[:, j])
        column, share = values[known, j], weight[known]
        if j in categorical:
            gap[j] = _category_gap(column, share) if wanted else 1.0
        elif wanted:
            centre[j], spread[j] = _moments(column, share)
            tail_centre[j], tail_spread[j] = _moments(np.arcsinh(TAIL_FACTOR * (column - centre[j]) / spread[j]), share)
    return Scaling(centre, spread, tail_centre, tail_spread, wanted is True, gap)


def informative_columns(values: Table) -> list[int]:
    """Those that have at least two different values."""
    return [j for j in range(values.shape[1]) if _differs(values[:, j])]


def _differs(column: Vector) -> bool:
    known = column[~np.isnan(column)]
    return len(known) > 0 and bool((known != known[0]).any())


def _moments(column: Vector, weight: Vector) -> tuple[float, float]:
    if len(column) == 0:
        return 0.0, 1.0
    total = weight.sum()
    centre = float(weight @ column / total)
    spread = float(np.sqrt(weight @ (column - centre) ** 2 / total))
    return centre, spread if spread > CONSTANT * abs(centre) else 1.0


def _category_gap(codes: Vector, weight: Vector) -> float:
    """Two random rows differ with probability 1 - sum p^2; in a standardised column their mean square is 2."""
    if len(codes) == 0:
        return 1.0
    share = np.bincount(codes.astype(np.intp), weights=weight) / weight.sum()
    differ = 1 - float(share @ share)
    return float(np.sqrt(2 / differ)) if differ > 1e-9 else 1.0


def ordered_categories(X: Any, categories: Categories) -> dict[int, NDArray[Any]]:
    """For each column of ordered categories (pandas "ordered", polars Enum) the rank of every category seen in fit."""
    if not is_table(X):
        return {}
    ranks = {}
    for j, known in categories.items():
        order = _declared_order(nw.from_native(X, eager_only=True)[:, j])
        if order is not None:
            place = {as_label(value): rank for rank, value in enumerate(order)}
            ranks[j] = np.array([place[value] for value in known.tolist()], dtype=np.float32)
    return ranks


def _declared_order(column: nw.Series[Any]) -> list[Any] | None:
    native = column.to_native()
    dtype: Any = native.dtype
    if nw.dependencies.is_pandas_series(native) and getattr(dtype, "ordered", False):
        return list(dtype.categories)
    if nw.dependencies.is_polars_series(native) and column.dtype == nw.Enum:
        return list(dtype.categories)
    return None


def with_ranks(rows: Table, ranks: Mapping[int, NDArray[Any]]) -> Table:
    """Codes of ordered categories replaced by their ranks; a category not seen in fit is missing."""
    if not ranks:
        return rows
    rows = rows.copy()
    for j, rank in ranks.items():
        code = rows[:, j]
        known = ~np.isnan(code) & (code < len(rank))
        rows[:, j] = np.where(known, rank[np.where(known, code, 0).astype(np.intp)], np.nan)
    return rows
