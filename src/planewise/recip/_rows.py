"""Rows as RECIP counts them: equal ones are one row with a larger weight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
Vector = NDArray[np.float64]
Table = NDArray[np.float64]  # values as the user gave them: coordinates are float32, but values are shown again
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a table with their targets, in an order that depends on nothing but the set of them.

    The order has nothing to do with the rows' values either: where many neighbours are equally far, the first in this
    order are taken, which is then a fair sample of them.

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


def distinct_rows(values: Table, target: NDArray[Any], weight: Vector) -> DistinctRows:
    """Those with a weight above zero; missing values equal one another."""
    counts = np.flatnonzero(weight > 0)
    values, target, weight = values[counts], target[counts], weight[counts]
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
        counts[order],
        np.concatenate([[0], np.cumsum(np.bincount(member))]),
    )


@dataclass(frozen=True)
class FittedRows:
    """Training rows in the user's units, equal ones once.

    Attributes
    ----------
    values : array of objects, of shape (n_distinct_rows, n_features)
    target : array of shape (n_distinct_rows,)
        Class labels or numbers.
    row_number : array of int
        The first of the user's rows that are this one.
    weight : array
        How much each counts.
    n_repeats : array of int
        How many of the user's rows are this one.
    """

    values: NDArray[Any]
    target: NDArray[Any]
    row_number: Indices
    weight: Vector
    n_repeats: Indices
