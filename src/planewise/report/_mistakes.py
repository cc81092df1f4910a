"""The rows a model is most wrong about, each with the reasons for its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._input import is_table
from planewise.plot._tables import column_values, take
from planewise.report._quality import Evaluation
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


def worst_rows(case: Evaluation) -> NDArray[np.intp]:
    """Wrong rows: the less probable the truth or the farther the number, the worse."""
    numbers = case.classes is None
    rows = np.flatnonzero((case.predicted != case.target) & (case.weight > 0))
    if rows.size == 0:
        return rows
    badness = np.abs(case.target - case.predicted) if numbers else _surprise(case)
    return rows[np.argsort(-badness[rows], kind="stable")]


def _surprise(case: Evaluation) -> NDArray[np.float64]:
    """How much the model preferred another class to the true one."""
    assert case.classes is not None
    rows, place = np.arange(len(case.target)), np.searchsorted(case.classes, case.target)
    if case.probability is not None:
        return 1 - case.probability[rows, place].astype(np.float64)
    scores = np.asarray(case.model.decision_function(case.X), dtype=np.float64)
    if scores.ndim == 1 or scores.shape[1] == 1:
        return np.abs(scores).reshape(len(rows))
    if scores.shape[1] == len(case.classes):
        return scores.max(axis=1) - scores[rows, place]
    return np.abs(scores).min(axis=1)  # duels of two classes: how clear the closest of them was


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
