"""What a fitted estimator is, in a few lines for a notebook: facts, what it looks at, and a small tree drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from planewise.export._describe import describe
from planewise.report import _page
from planewise.report._notebook import piece
from planewise.report._sections import section
from planewise.report._tree_svg import tree_figure
from planewise.words import Limits, TableSection, TextSection, feature_names, number

MOST_ROWS = 8  # of a table
LIMITS = Limits(max_trees=0, max_vectors=MOST_ROWS, max_columns=MOST_ROWS)


def summary_html(estimator: Any) -> str:
    """The summary; a notebook must show its cell in any case, so that what fails here is said, not raised."""
    try:
        parts = list(_parts(estimator))
    except Exception as failure:
        reason = f"{type(failure).__name__}: {failure}"
        parts = [_page.paragraph(f"This model could not be summed up ({reason}).", note=True)]
    return piece(*parts)


def _parts(estimator: Any) -> Iterator[str]:
    about = describe(estimator, LIMITS)
    yield _page.facts(about.facts)
    if hasattr(estimator, "tree_"):
        yield tree_figure(estimator)
    for each in (*about.sections, *_feature_losses(estimator)):
        if each.heading != "Parameters":  # the diagram has these
            yield section(_shortened(each), level=4)


def _shortened(each: TableSection | TextSection) -> TableSection | TextSection:
    if isinstance(each, TextSection):
        left = len(each.lines) - MOST_ROWS
        return replace(each, lines=[*each.lines[:MOST_ROWS], *([f"… and {left} more"] if left > 0 else [])])
    left = len(each.rows) - MOST_ROWS
    if left <= 0:
        return each
    note = " ".join([*([each.note] if each.note else []), f"… and {left} more"])
    return replace(each, rows=each.rows[:MOST_ROWS], weights=each.weights[:MOST_ROWS], note=note)


def _feature_losses(estimator: Any) -> Iterator[TableSection]:
    """Of a feature test: the features whose best split loses least."""
    losses = getattr(estimator, "losses_", None)
    if losses is None:
        return
    names = feature_names(estimator)
    rows = [[names[j], number(losses[j])] for j in np.argsort(losses, kind="stable")]
    yield TableSection("Losses of the best splits", ["column", "loss"], rows)
