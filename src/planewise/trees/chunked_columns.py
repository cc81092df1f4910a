"""Columns of rows that lie in parts: what the core must know of all rows, from what each part says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise.data.chunks import Part, Parts
from planewise.trees.growth import table_categories

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def ranges_of(part: Part, *, n_threads: int) -> Floats:
    """What the rows say of their columns."""
    return _core.column_ranges(part.rows, part.weight, n_threads)


def sums_of(part: Part, ranges: Floats, centre: Floats, *, n_threads: int) -> Integers:
    """Sums of the columns, or of squared differences from the centre."""
    return _core.column_sums(part.rows, part.weight, ranges, centre, n_threads)


def body_of(part: Part, step: int, *, n_threads: int) -> tuple[NDArray[np.float32], Floats]:
    """Some rows with their weights, picked by their values, which tell where most values of a column lie."""
    picked = _core.body_rows(part.rows, step, n_threads)
    return part.rows[picked], part.weight[picked]


def column_of(part: Part, column: int, *, n_threads: int) -> tuple[NDArray[np.float32], Floats]:
    """The values of a column, without missing ones, and their weights."""
    there = ~np.isnan(part.rows[:, column])
    return part.rows[there, column], part.weight[there]


def training_table_of(parts: Parts, estimator: Any) -> _core.Table:
    """What the core must know of the columns of all rows."""
    answers = parts.ask(ranges_of)
    ranges = answers[0]
    for other in answers[1:]:
        ranges = _core.join_ranges(ranges, other)
    sums = np.sum(parts.ask(sums_of, ranges, np.empty(0)), axis=0)
    centre = _core.column_centres(sums, ranges)
    squares = np.sum(parts.ask(sums_of, ranges, centre), axis=0)
    n_columns = len(centre)
    table = _core.table_of_parts(ranges, sums, squares, table_categories(estimator, n_columns))
    if estimator.bins == "robust":
        _find_bodies(parts, table, ranges, n_columns)
    return table


def _find_bodies(parts: Parts, table: _core.Table, ranges: Floats, n_columns: int) -> None:
    """Where most values of each column lie."""
    step = _core.body_step(ranges)
    rows, weight = (np.concatenate(each) for each in zip(*parts.ask(body_of, step), strict=True))
    _core.begin_bodies(table)
    for j in range(n_columns):
        if not _core.set_body(table, j, np.ascontiguousarray(rows[:, j]), weight, step == 1):
            values, theirs = (np.concatenate(each) for each in zip(*parts.ask(column_of, j), strict=True))
            _core.set_body(table, j, values, theirs, True)
