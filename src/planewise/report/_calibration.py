"""Whether what a classifier calls 80 % happens in 80 % of the cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.report._intervals import Measured, share
from planewise.report._quality import Evaluation
from planewise.words import number, percent

N_GROUPS = 10


@dataclass(frozen=True)
class Group:
    """Rows of like probability: how probable the model said, and how often it was so."""

    said: float
    happened: Measured
    n_rows: int
    weight: float


@dataclass(frozen=True)
class Calibration:
    """Groups by probability, and the mean distance of the two."""

    event: str
    groups: list[Group]

    @property
    def error(self) -> float:
        """The expected calibration error: how far groups are off, on average over the rows' weights."""
        off = [abs(group.said - group.happened.value) for group in self.groups]
        return float(np.average(off, weights=[group.weight for group in self.groups]))

    def rows(self) -> list[list[str]]:
        """The groups for a table."""
        return [
            [percent(g.said, 1), f"{percent(g.happened.value, 1)} ({100 * g.happened.low:.0f} to "
             f"{100 * g.happened.high:.0f})", f"{g.n_rows:,}"]
            for g in self.groups
        ]  # fmt: skip

    def words(self) -> str:
        """The mean distance in a sentence."""
        return f"On average over the rows, the two are {number(100 * self.error, 2)} percentage points apart."


def calibration(case: Evaluation) -> Calibration | None:
    """Of the second of two classes, or of the class answered among several; None without probabilities."""
    if case.probability is None or case.classes is None:
        return None
    if len(case.classes) == 2:
        chance, hit = case.probability[:, 1], case.target == case.classes[1]
        event = f"the class {case.classes[1]}"
    else:
        chance, hit = case.probability.max(axis=1), case.classes[case.probability.argmax(axis=1)] == case.target
        event = "the likeliest class"
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


def draw(found: Calibration) -> Any:
    """What was said against what happened, with intervals; on the diagonal they are equal."""
    from planewise.plot._style import COLOURS, GREY, dress, new_axes

    ax = new_axes(size=(4.2, 3.8))[0, 0]
    said = np.array([group.said for group in found.groups])
    value, low, high = (
        np.array([getattr(group.happened, name) for group in found.groups]) for name in ("value", "low", "high")
    )
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    ax.errorbar(said, value, yerr=[value - low, high - value], color=COLOURS[0], marker="o", markersize=4,
                linewidth=1.0, elinewidth=0.8)  # fmt: skip
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    dress(ax, f"probability of {found.event}", "how often it was so")
    return ax.get_figure()
