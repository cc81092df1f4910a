"""Confusion: which classes are taken for which others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from planewise._text import counted, number, one_line
from planewise.evaluate.evaluation import Evaluation, require_evaluation
from planewise.explain.describe import TableSection

MAX_PAIRS = 10  # that are listed
MAX_CLASSES_OF_DATA = 100  # for which programs get the whole matrix


class Pair(NamedTuple):
    """A class that is taken for another, in so many rows."""

    true: Any
    predicted: Any
    rows: float


@dataclass(frozen=True, repr=False)
class Confusion:
    """How many rows of each class are predicted as which class.

    Attributes
    ----------
    classes : array
        The labels, sorted.
    counts : array of shape (n_classes, n_classes)
        Rows by true class and predicted class; the sums of their weights if the rows have unequal weights.
    """

    classes: NDArray[Any]
    counts: NDArray[Any]

    def pairs(self) -> list[Pair]:
        """The classes that are taken for others, the most frequent pair first."""
        wrong = np.where(np.eye(len(self.classes), dtype=bool), 0, self.counts)
        true, predicted = np.nonzero(wrong)
        order = np.argsort(-wrong[true, predicted], kind="stable")
        labels = self.classes.tolist()
        return [Pair(labels[true[k]], labels[predicted[k]], wrong[true[k], predicted[k]].item()) for k in order]

    def section(self, max_classes: int) -> TableSection:
        """For people: the whole table, or the most frequent mistakes if there are more classes than this."""
        if len(self.classes) > max_classes:
            return self._most_confused()
        labels = list(map(str, self.classes.tolist()))
        rows = [[label, *map(self._written, row)] for label, row in zip(labels, self.counts, strict=True)]
        note = "One row per true class, one column per predicted class."
        return TableSection("Confusion", ["true class", *labels], rows, note)

    def _most_confused(self) -> TableSection:
        pairs = self.pairs()
        rows = [[str(pair.true), str(pair.predicted), self._written(pair.rows)] for pair in pairs[:MAX_PAIRS]]
        note = "No class is taken for another." if not pairs else ""
        if len(pairs) > MAX_PAIRS:
            more, n_rows = pairs[MAX_PAIRS:], sum(pair.rows for pair in pairs[MAX_PAIRS:])
            note = f"And {counted(len(more), 'pair')} more, with {self._written(n_rows)} rows in all."
        return TableSection("Most frequent mistakes", ["true class", "predicted as", "rows"], rows, note)

    def _written(self, count: Any) -> str:
        return number(count) if self.counts.dtype.kind == "f" else f"{int(count):,}"

    def data(self) -> dict[str, Any]:
        """For programs; ``counts`` is None if there are more than 100 classes."""
        pairs = self.pairs()
        return {
            "classes": self.classes.tolist(),
            "counts": self.counts.tolist() if len(self.classes) <= MAX_CLASSES_OF_DATA else None,
            "most_confused": [pair._asdict() for pair in pairs[:MAX_PAIRS]],
            "n_more_pairs": max(0, len(pairs) - MAX_PAIRS),
        }

    def __repr__(self) -> str:
        right, total = self.counts.diagonal().sum(), self.counts.sum()
        return one_line(self, f"{len(self.classes)} classes, {number(right)} of {number(total)} rows right")


def confusion(case: Evaluation) -> Confusion | None:
    """How classes are confused; None if the model predicts numbers or has only one class."""
    require_evaluation(case, "confusion")
    if case.classes is None or len(case.classes) < 2:
        return None
    weight = case.weight if np.ptp(case.weight) > 0 else None
    counts = confusion_matrix(case.target, case.predicted, labels=case.classes, sample_weight=weight)
    return Confusion(case.classes, counts)
