"""The model's answers to all rows at once, and how close each was: what decides the order of the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.recip.fitted import triage
from planewise.table import TableModel

CLOSE = 0.2  # two classes whose probabilities differ by less
INSIDE_THE_MARGIN = (
    1.0  # machines without probabilities: scores nearer to zero are inside the margin they were fitted to
)


@dataclass(frozen=True)
class Judgement:
    """Of every row: the answer, its probability if there is one, whether it is undecided, and how clear it was."""

    answer: NDArray[Any]  # places among the classes, or numbers
    probability: NDArray[np.float64] | None
    undecided: NDArray[np.bool_]
    clearness: NDArray[np.float64] | None  # None: the model does not say
    order_in_words: str

    def order(self) -> NDArray[np.intp]:
        """Rows, the undecided first, then by how close they were, then as in the table."""
        rows = np.arange(len(self.answer))
        clear = np.zeros(len(rows)) if self.clearness is None else self.clearness
        return np.lexsort((rows, clear, ~self.undecided))


def judge(model: TableModel, table: Any) -> Judgement:
    """Ask the model once about all rows."""
    estimator, rows = model.estimator_, model.read(table)
    if hasattr(estimator, "projections_"):
        found = triage(estimator, rows)
        words = (
            "undecided cases first, then by how close the two likeliest classes are"
            if model.task_ == "classification"
            else "undecided cases first, then by the error that rows around them were answered with"
        )
        return Judgement(found.answer, found.probability, found.undecided, found.clearness, words)
    if model.task_ == "regression":
        answer = np.asarray(estimator.predict(rows), dtype=np.float64)
        return Judgement(
            answer,
            None,
            np.zeros(len(answer), dtype=bool),
            None,
            "as in the table: the model says of no case how sure it is",
        )
    if hasattr(estimator, "predict_proba"):
        return _by_probability(np.asarray(estimator.predict_proba(rows), dtype=np.float64))
    return _by_score(estimator, rows)


def first_untaken(model: TableModel, table: Any) -> int | None:
    """The first row that the model cannot take, found by halves; None if it takes each alone."""

    def taken(start: int, end: int) -> bool:
        try:
            judge(model, table[start:end])
        except ValueError:
            return False
        return True

    start, end = 0, table.height
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if taken(start, middle) else (start, middle)
    return None if taken(start, end) else start


def _by_probability(probability: NDArray[np.float64]) -> Judgement:
    answer = probability.argmax(axis=1)
    best = probability[np.arange(len(answer)), answer]
    second = np.partition(probability, -2, axis=1)[:, -2] if probability.shape[1] > 1 else np.zeros(len(answer))
    clear = best - second
    words = (
        f"undecided cases first (less than {100 * CLOSE:.0f} points between the two likeliest classes), the closest one"
    )
    words += " at the beginning"
    return Judgement(answer, best, clear < CLOSE, clear, words)


def _by_score(estimator: Any, rows: Any) -> Judgement:
    """A machine without probabilities: how far a row is from the border."""
    answer = np.searchsorted(estimator.classes_, estimator.predict(rows))
    score = np.asarray(estimator.decision_function(rows), dtype=np.float64)
    if score.ndim == 1 or score.shape[1] == 1:
        clear = np.abs(score).reshape(len(answer))
    elif score.shape[1] == len(estimator.classes_):
        two = np.partition(score, -2, axis=1)[:, -2:]
        clear = two[:, 1] - two[:, 0]
    else:  # duels of two classes
        clear = np.abs(score).min(axis=1)
    words = "undecided cases first (inside the margin), the nearest to the border before"
    return Judgement(answer, None, clear < INSIDE_THE_MARGIN, clear, words)
