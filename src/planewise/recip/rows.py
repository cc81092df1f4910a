"""Rows as RECIP counts and measures them: equal ones merged, and columns of any kind as coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise.data.categories import Categories, as_label
from planewise.data.problem import is_table, values_as_given
from planewise.data.scaling import CONSTANT, TAIL_FACTOR, Scaling

FloatArray = NDArray[np.float32]
Vector = NDArray[np.float64]
Table = NDArray[np.float64]  # values as the user gave them: coordinates are float32, but values are shown again
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a table with their targets, in an order that depends on nothing but the set of them.

    The order has nothing to do with the rows' values either: where only some of many equally far rows are listed, these
    are the first in this order, which is then a fair sample.

    A row that comes twice would be its own neighbour at distance zero, and its class clear in any view. So equal rows
    (all values and the target) become one; a weight of two and the row twice are therefore the same thing.
    """

    values: Table
    target: NDArray[Any]
    weight: Vector
    origin: Indices  # the user's rows, those of one distinct row together
    origin_start: Indices

    def originals(self, row: int) -> list[int]:
        """The user's rows that are this one."""
        members = self.origin[self.origin_start[row] : self.origin_start[row + 1]]
        return [int(member) for member in members]

    def renumbered(self, numbers: Indices) -> DistinctRows:
        """The same with other numbers for the user's rows, one for each row of the fit."""
        return replace(self, origin=numbers[self.origin])


def distinct_rows(values: Table, target: NDArray[Any], weight: Vector, numbers: Indices) -> DistinctRows:
    """Of rows with these numbers in the user's table; missing values equal one another."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
    bits = np.concatenate([plain.view(np.uint8), np.ascontiguousarray(target)[:, None].view(np.uint8)], axis=1)
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1])))[:, 0]
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    shuffled = np.random.RandomState(0).permutation(len(first))
    first, member = first[shuffled], np.argsort(shuffled)[member]
    order = np.argsort(member, kind="stable")
    return DistinctRows(
        np.ascontiguousarray(plain[first]),
        target[first],
        np.bincount(member, weights=weight).astype(np.float64, copy=False),
        numbers[order],
        np.concatenate([[0], np.cumsum(np.bincount(member))]),
    )


@dataclass(frozen=True)
class Coordinates:
    """How each column becomes a coordinate: what a distance between two rows means.

    Numbers are scaled. Two different categories of a column are `gap` apart, so that the mean squared distance of two
    rows is that of a standardised column: a two-valued column means the same as a category and as a number. Ordered
    categories are numbers: their ranks.
    """

    scaling: Scaling  # of numbers; leaves categories as they are
    gap: FloatArray  # by column; 0: numbers

    def __call__(self, values: Table, columns: list[int] | None = None) -> FloatArray:
        """Coordinates of rows; of rows that have only these columns, if given."""
        take: Any = slice(None) if columns is None else columns
        scaled = self.scaling.of_columns(take)(values)
        return np.ascontiguousarray(np.where(self.gap[take] > 0, values, scaled), dtype=np.float32)

    def describe(self, column: int) -> dict[str, Any]:
        """The numbers that turn a value of this column into a coordinate."""
        if self.gap[column] > 0:
            return {"kind": "categories", "gap": float(self.gap[column])}
        scaling = self.scaling
        known = {"kind": "numbers", "centre": float(scaling.mean[column]), "spread": float(scaling.spread[column])}
        if scaling.tails is not None:
            known["tail_factor"] = TAIL_FACTOR
            known["tail_centre"] = float(scaling.tails.mean[column])
            known["tail_spread"] = float(scaling.tails.spread[column])
        return known


def find_coordinates(values: Table, weight: Vector, nominal: list[int], scaling: str | None) -> Coordinates:
    """Of weighted rows, in which values may be missing; `scaling` is "standard", "arcsinh" or None."""
    n_columns = values.shape[1]
    mean, spread = np.zeros(n_columns), np.ones(n_columns)
    tail_mean, tail_spread = np.zeros(n_columns), np.ones(n_columns)
    gap = np.zeros(n_columns, dtype=np.float32)
    for j in range(n_columns):
        known = ~np.isnan(values[:, j])
        column, share = values[known, j], weight[known]
        if j in nominal:
            gap[j] = 1.0 if scaling is None else _category_gap(column, share)
        elif scaling is not None:
            mean[j], spread[j] = _moments(column, share)
            if scaling == "arcsinh":
                compressed = np.arcsinh(TAIL_FACTOR * (column - mean[j]) / spread[j])
                tail_mean[j], tail_spread[j] = _moments(compressed, share)
    tails = Scaling(tail_mean, tail_spread) if scaling == "arcsinh" else None
    return Coordinates(Scaling(mean, spread, tails), gap)


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
    size = 1.0 if np.abs(column).max() < 1e150 else 2.0**600  # so that squares stay finite
    centre = float(weighted_sum(weight, column / size) / total)
    spread = float(np.sqrt(weighted_sum(weight, (column / size - centre) ** 2) / total)) * size
    centre *= size
    return centre, spread if spread > CONSTANT * abs(centre) else 1.0


def _category_gap(codes: Vector, weight: Vector) -> float:
    """Two random rows differ with probability 1 - sum p^2; in a standardised column their mean square is 2."""
    if len(codes) == 0:
        return 1.0
    share = np.bincount(codes.astype(np.intp), weights=weight) / weight.sum()
    differ = 1 - float(weighted_sum(share, share))
    return float(np.sqrt(2 / differ)) if differ > 1e-9 else 1.0


def ordered_categories(X: Any, categories: Categories) -> dict[int, NDArray[Any]]:
    """For each column of ordered categories (pandas and Arrow "ordered", polars Enum) the rank of every category."""
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
    native: Any = column.to_native()
    dtype: Any = getattr(native, "dtype", None)  # Arrow has a type instead
    if nw.dependencies.is_pandas_series(native) and getattr(dtype, "ordered", False):
        return list(dtype.categories)
    if nw.dependencies.is_polars_series(native) and column.dtype == nw.Enum:
        return list(dtype.categories)
    if nw.dependencies.is_pyarrow_chunked_array(native) and getattr(native.type, "ordered", False):
        order: list[Any] = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
        return order
    return None


def read_ranked(estimator: Any, X: Any) -> Table:
    """The table of a fit as numbers, codes of categories, and ranks of ordered ones; sets ``_ranks``."""
    values = values_as_given(estimator, X)
    estimator._ranks = ordered_categories(X, estimator.categories_)
    return with_ranks(values, estimator._ranks)


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


def weighted_sum(weight: NDArray[Any], values: NDArray[Any]) -> Any:
    """The sum over the last axis of weight times values; BLAS would add in another order on another processor."""
    return np.einsum("...i,i->...", values, weight)
