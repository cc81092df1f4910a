"""Quality, confusion and calibration as tables and a picture for a page; `planewise.evaluate` measures them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from planewise.evaluate import Calibration, Evaluation, Quality
from planewise.words import TableSection, number, percent

MAX_CLASSES = 20  # for which the confusion is shown


def quality_sections(case: Evaluation, found: Quality) -> list[TableSection]:
    """What was measured, and for classes which were confused."""
    sections = [TableSection("Quality", *found.table(), found.note)]
    if case.classes is not None and 2 <= len(case.classes) <= MAX_CLASSES:
        sections.append(_confusion(case))
    return sections


def _confusion(case: Evaluation) -> TableSection:
    weighted = np.ptp(case.weight) > 0
    weight = case.weight if weighted else None
    matrix = confusion_matrix(case.target, case.predicted, labels=case.classes, sample_weight=weight)
    assert case.classes is not None
    rows = [
        [str(label), *(number(count) if weighted else str(count) for count in row)]
        for label, row in zip(case.classes, matrix, strict=True)
    ]
    note = "One row per true class, one column per predicted class."
    return TableSection("Confusion", ["true class", *map(str, case.classes.tolist())], rows, note)


def calibration_table(found: Calibration) -> tuple[list[str], list[list[str]]]:
    """A header, and one row per group."""
    rows = [
        [
            percent(group.predicted, 1),
            f"{percent(group.observed.value, 1)} ({100 * group.observed.low:.0f} to {100 * group.observed.high:.0f})",
            f"{group.n_rows:,}",
        ]
        for group in found.groups
    ]
    return ["predicted probability", "observed frequency", "rows"], rows


def calibration_picture(found: Calibration) -> Any:
    """Predicted probability against observed frequency, with intervals."""
    from planewise.plot._style import COLOURS, GREY, dress, new_axes

    ax = new_axes(size=(4.2, 3.8))[0, 0]
    predicted = np.array([group.predicted for group in found.groups])
    value, low, high = (
        np.array([getattr(group.observed, name) for group in found.groups]) for name in ("value", "low", "high")
    )
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    ax.errorbar(predicted, value, yerr=[value - low, high - value], color=COLOURS[0], marker="o", markersize=4,
                linewidth=1.0, elinewidth=0.8)  # fmt: skip
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    dress(ax, f"predicted probability of {found.event}", "observed frequency")
    return ax.get_figure()
