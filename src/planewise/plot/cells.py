"""Rows counted in the cells of two columns of categories, where points of equal rows would cover one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.data.categories import is_missing
from planewise.plot.view_data import Axis, Numbers

MISSING = "missing"
Place = tuple[int, int]  # line and column


@dataclass(frozen=True)
class CellGrid:
    """How many rows have each pair of categories, and of which classes or with which mean.

    Attributes
    ----------
    down, across : Axis
        The axis with more categories goes down; `across` is None for a single one.
    lines, columns : list of str
        Names of the categories; the last one is "missing" if any row has no value.
    n_rows : array of shape (n_lines, n_columns)
    by_class : array of shape (n_lines, n_columns, n_classes)
        Rows of each class; for numbers the last side is 0.
    mean : array of shape (n_lines, n_columns) or None
        Mean of the numbers; NaN in cells without rows. None for classes.
    """

    down: Axis
    across: Axis | None
    lines: list[str]
    columns: list[str]
    n_rows: NDArray[np.intp]
    by_class: NDArray[np.intp]
    mean: Numbers | None

    def place_of(self, values: Mapping[int, Any]) -> Place | None:
        """The cell of a row, {column: value}; None if no training row had one of its categories."""
        line = _lane(self.down, self.lines, values)
        column = 0 if self.across is None else _lane(self.across, self.columns, values)
        return None if line is None or column is None else (line, column)


def is_grid(axes: Sequence[Axis]) -> bool:
    """Whether all axes that are drawn hold categories."""
    return all(axis.categories for axis in axes[:2])


def cell_grid(
    axes: Sequence[Axis],
    values: Sequence[NDArray[Any]],
    target: NDArray[Any],
    n_classes: int,
) -> CellGrid:
    """Count rows.

    Parameters
    ----------
    axes, values : one or two axes, and the column of each
    target : array
        Places among the classes, or numbers.
    n_classes : int
        0 for numbers.
    """
    known = [(axis, *_coded(axis, column)) for axis, column in zip(axes[:2], values, strict=False)]
    known.sort(key=lambda each: -len(each[1]))
    (down, lines, line), *rest = known
    across, columns, column = rest[0] if rest else (None, [""], np.zeros(len(target), dtype=np.intp))
    shape = len(lines), len(columns)
    n_rows, by_class = np.zeros(shape, dtype=np.intp), np.zeros((*shape, n_classes), dtype=np.intp)
    np.add.at(n_rows, (line, column), 1)
    if n_classes:
        np.add.at(by_class, (line, column, target), 1)
        return CellGrid(down, across, lines, columns, n_rows, by_class, None)
    sums = np.zeros(shape)
    np.add.at(sums, (line, column), target.astype(np.float64))
    mean = np.divide(sums, n_rows, out=np.full(shape, np.nan), where=n_rows > 0)
    return CellGrid(down, across, lines, columns, n_rows, by_class, mean)


def _coded(axis: Axis, values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Names of the lanes, and the lane of each value."""
    lane = axis.lanes_of(values.tolist())
    gaps = np.isnan(lane)
    names = [*axis.lanes, MISSING] if gaps.any() else axis.lanes
    return names, np.where(gaps, len(axis.lanes), lane).astype(np.intp)


def _lane(axis: Axis, names: list[str], values: Mapping[int, Any]) -> int | None:
    value = values.get(axis.column)
    lane = float(axis.lanes_of([value])[0])
    if np.isfinite(lane):
        return int(lane)
    return len(axis.lanes) if is_missing(value) and len(names) > len(axis.lanes) else None
