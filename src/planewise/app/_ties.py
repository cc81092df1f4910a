"""Rows that are as near to a case as the last neighbour that counts, and yet are not counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._categories import is_missing
from planewise._tables import column_values
from planewise.plot.views import axes_of
from planewise.report.views import TrainingRows

EQUAL = 1e-5  # distances are measured in small floats


@dataclass(frozen=True)
class Ties:
    """All training rows at the distance of the last neighbour: how many there are, and how many of them count."""

    n_rows: int
    n_counted: int


def ties(data: Mapping[str, Any], training: TrainingRows, one: Any) -> Ties | None:
    """Of a predicted number; None where all rows as near as the last neighbour count. `one` is the case as a table."""
    near = [each["distance"] for each in data["neighbours"]]
    if not near:
        return None
    last = max(near)
    within = EQUAL * max(last, 1.0)
    tied = np.abs(_distances(data, training, one) - last) <= within
    n_rows, n_counted = int(np.count_nonzero(tied)), sum(abs(each - last) <= within for each in near)
    return Ties(n_rows, n_counted) if n_rows > n_counted else None


def _distances(data: Mapping[str, Any], training: TrainingRows, one: Any) -> Any:
    """From the case to every training row in the view; NaN where a value is missing."""
    total = np.zeros(len(training.rows))
    for axis in axes_of(data["view"], training.rows):
        rows, own = column_values(training.rows, axis.column), column_values(one, axis.column)
        if axis.categories:
            words, case = [None if is_missing(value) else axis.word(value) for value in rows.tolist()], own.tolist()[0]
            apart = np.array([np.nan if word is None else axis.gap * (word != axis.word(case)) for word in words])
        else:
            apart = axis.scaled(axis.places(rows)) - axis.scaled(axis.places(own))[0]
        total += apart**2
    return np.sqrt(total)
