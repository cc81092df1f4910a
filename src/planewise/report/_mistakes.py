"""The rows a model is most wrong about, each with the reasons for its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._input import is_table
from planewise.evaluate import Evaluation, worst_rows
from planewise.plot._tables import column_values, take
from planewise.report._reasons import Reasons, reasons
from planewise.words import feature_names, number, percent, shorten

MOST_MISTAKES = 5


@dataclass(frozen=True)
class Mistake:
    """A row, what was said of it, and why."""

    row: int  # of X, counted from 0
    words: str
    reasons: Reasons


def worst_mistakes(case: Evaluation, n_features: int) -> list[Mistake]:
    """The worst first; none if every row is right."""
    return [
        Mistake(int(row), _words(case, int(row)), _reasons(case, int(row), n_features))
        for row in worst_rows(case)[:MOST_MISTAKES]
    ]


def _words(case: Evaluation, row: int) -> str:
    if case.classes is None:
        off = case.predicted[row] - case.target[row]
        return (
            f"Row {row}: {number(case.predicted[row])} instead of {number(case.target[row])}, "
            f"{number(abs(off))} too {'high' if off > 0 else 'low'}"
        )
    sure = ""
    if case.probability is not None:
        at = [int(np.searchsorted(case.classes, each[row])) for each in (case.predicted, case.target)]
        sure = f", {percent(case.probability[row, at[0]], 1)} against {percent(case.probability[row, at[1]], 1)}"
    return f"Row {row}: {shorten(case.predicted[row])} instead of {shorten(case.target[row])}{sure}"


def _reasons(case: Evaluation, row: int, n_features: int) -> Reasons:
    one = take(case.X, np.array([row]))
    names = feature_names(case.model)
    places = {name: place for place, name in enumerate(names[:n_features])}

    def value(name: str) -> Any:
        found = column_values(one, places[name])[0]
        return found.item() if isinstance(found, np.generic) else found

    return reasons(case.model, one if is_table(one) else np.asarray(one), value)
