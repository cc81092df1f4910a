"""Calibration: whether a class that is predicted with 80% probability is right in 80% of such rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, number, one_line, percent
from planewise.evaluate.evaluation import Evaluation, require_evaluation
from planewise.evaluate.measures import Measured, share

MAX_GROUPS = 10
ROWS_PER_GROUP = 20  # at least, so that the observed share says something


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

    @property
    def error_by_chance(self) -> float:
        """The calibration error to expect on so few rows if every probability were right."""
        p = np.array([group.predicted for group in self.groups])
        n = np.array([group.n_rows for group in self.groups])
        off = np.sqrt(2 * p * (1 - p) / (np.pi * n))  # the mean of |observed - p|, whose distribution is nearly normal
        return float(np.average(off, weights=[group.weight for group in self.groups]))

    def sentence(self) -> str:
        """What the error means."""
        points, chance = (number(100 * each, 2) for each in (self.error, self.error_by_chance))
        n_rows = counted(sum(group.n_rows for group in self.groups), "row")
        return (
            f"Rows are grouped by the predicted probability of {self.event}. On average over the rows, the predicted "
            f"probability and the observed frequency are {points} percentage points apart. With {n_rows}, chance alone "
            f"puts them about {chance} apart."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """For people: a header, and one row per group."""
        rows = [
            [
                percent(group.predicted, 1),
                f"{percent(group.observed.value, 1)} "
                f"({100 * group.observed.low:.0f} to {100 * group.observed.high:.0f})",
                f"{group.n_rows:,}",
            ]
            for group in self.groups
        ]
        return ["predicted probability", "observed frequency", "rows"], rows

    def data(self) -> dict[str, Any]:
        """For programs."""
        groups = [
            {"predicted": group.predicted, "observed": asdict(group.observed), "rows": group.n_rows}
            for group in self.groups
        ]
        return {
            "event": self.event,
            "expected_calibration_error": self.error,
            "error_by_chance": self.error_by_chance,
            "groups": groups,
        }

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
    n_groups = min(MAX_GROUPS, max(2, len(chance) // ROWS_PER_GROUP))
    edges = np.unique(np.quantile(chance, np.linspace(0, 1, n_groups + 1)[1:-1]))
    group = np.searchsorted(edges, chance, side="left")
    return [np.flatnonzero(group == each) for each in np.unique(group)]
