"""Calibration: whether a class that is predicted with 80 % probability is right in 80 % of such rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planewise.evaluate._evaluation import Evaluation, require_evaluation
from planewise.evaluate._measured import Measured, share
from planewise.words import counted, number, one_line

N_GROUPS = 10


@dataclass(frozen=True)
class Group:
    """Rows of similar probability: the mean predicted probability, and the observed share."""

    predicted: float
    observed: Measured
    n_rows: int
    weight: float


@dataclass(frozen=True, repr=False)
class Calibration:
    """Rows grouped by predicted probability of an event."""

    event: str
    groups: list[Group]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of predicted and observed, over the rows' weights."""
        off = [abs(group.predicted - group.observed.value) for group in self.groups]
        return float(np.average(off, weights=[group.weight for group in self.groups]))

    def __repr__(self) -> str:
        return one_line(self, f"{self.event}, {counted(len(self.groups), 'group')}, error {number(self.error)}")


def calibration(case: Evaluation) -> Calibration | None:
    """Of the second of two classes, or of the most probable of several; None without probabilities."""
    require_evaluation(case, "calibration")
    if case.probability is None or case.classes is None:
        return None
    if len(case.classes) == 2:
        chance, hit = case.probability[:, 1], case.target == case.classes[1]
        event = f"the class {case.classes[1]}"
    else:
        chance, hit = case.probability.max(axis=1), case.classes[case.probability.argmax(axis=1)] == case.target
        event = "the most probable class"
    counted = case.weight > 0
    chance, hit, weight = chance[counted].astype(np.float64), hit[counted], case.weight[counted]
    groups = [
        Group(float(np.average(chance[rows], weights=weight[rows])), share(hit[rows], weight[rows]), len(rows),
              float(weight[rows].sum()))
        for rows in _groups(chance)
    ]  # fmt: skip
    return Calibration(event, groups)


def _groups(chance: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    """Rows in the order of their probability in groups of about equal size; equal probabilities stay together."""
    edges = np.unique(np.quantile(chance, np.linspace(0, 1, N_GROUPS + 1)[1:-1]))
    group = np.searchsorted(edges, chance, side="left")
    return [np.flatnonzero(group == each) for each in np.unique(group)]
