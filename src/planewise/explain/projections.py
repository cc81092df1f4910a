"""Views as users name them, by numbers or names of features; the table of what each of them does; rows for pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, one_line

ViewColumns = tuple[int, ...]  # increasing


def given_views(given: Any, n_features: int, names: Any, parameter: str) -> list[ViewColumns]:
    """The user's views as increasing tuples of columns, each once, in the user's order."""
    known = [] if names is None else [str(name) for name in names]
    views: list[ViewColumns] = []
    for view in given:
        columns = [view] if isinstance(view, (str, Integral)) else list(view)
        if not columns:
            raise ValueError(f"{parameter} has a view without features; a view needs at least one.")
        found = tuple(sorted({_column(feature, n_features, known, parameter) for feature in columns}))
        if len(found) != len(columns):
            raise ValueError(f"{parameter} has the view {tuple(columns)!r}, which names a feature twice.")
        if found not in views:
            views.append(found)
    if not views:
        raise ValueError(f"{parameter} is empty; give at least one view, or None to search for them.")
    return views


def _column(feature: Any, n_features: int, known: list[str], parameter: str) -> int:
    if isinstance(feature, str):
        if not known:
            raise ValueError(f"{parameter} names {feature!r}, but X has no column names; use column numbers.")
        if feature not in known:
            raise ValueError(f"{parameter} names {feature!r}, which is not a column of X.")
        return known.index(feature)
    column = int(feature) if isinstance(feature, Integral) and not isinstance(feature, bool) else -1
    if not 0 <= column < n_features:
        raise ValueError(f"{parameter} has the feature {feature!r}; X has the columns 0 to {n_features - 1}.")
    return column


class ViewsReport:
    """A plain table with one row per view: ``report[0]["accuracy"]``, ``print(report)``, ``pandas.DataFrame(report)``.

    Made by ``views_report`` of :class:`RECIPClassifier` and :class:`AdditiveClassifier`.
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.rows[place]

    def __str__(self) -> str:
        columns = list(self.rows[0])
        cells = [columns] + [[_cell(row[name]) for name in columns] for row in self.rows]
        width = [max(len(line[at]) for line in cells) for at in range(len(columns))]
        lines = ["  ".join(cell.ljust(wide) for cell, wide in zip(line, width, strict=True)).rstrip() for line in cells]
        return "\n".join(lines)

    __repr__ = __str__


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, repr=False)
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
    row_number: NDArray[np.intp]
    weight: NDArray[np.float64]
    n_repeats: NDArray[np.intp]

    def __repr__(self) -> str:
        n_rows, n_features = self.values.shape
        facts = f"{counted(n_rows, 'distinct row')} of {self.n_repeats.sum()}, {counted(n_features, 'feature')}"
        return one_line(self, facts)


def row_numbers(numbers: Any, last: int) -> NDArray[np.intp]:
    """Numbers for the rows of a fit, checked; `last` is the last row that the model keeps."""
    given = np.asarray(numbers)
    if given.ndim != 1 or len(given) <= last:  # rows of weight 0 are not kept, and may follow the last one
        raise ValueError(
            f"numbers must have one number for each row of fit, of which the last that counts is row {last}; "
            f"got an array of shape {given.shape}."
        )
    if given.dtype.kind not in "iu":
        raise ValueError(f"numbers must be whole numbers; got an array of type {given.dtype}.")
    if given.min(initial=0) < 0:
        raise ValueError(f"numbers must be 0 or more; got {given.min()}.")
    return given.astype(np.intp)
