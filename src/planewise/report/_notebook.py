"""What notebooks show of estimators and explanations: HTML whose styles reach nothing else on the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

from planewise.report import html
from planewise.report._tree_svg import tree_figure
from planewise.report._view_scene import TrainingRows
from planewise.report.views import block, views_of, views_switch
from planewise.words import Limits, TableSection, TextSection, describe

MOST_POINTS = 600  # a notebook keeps what it shows
MOST_ROWS = 8  # of a table
LIMITS = Limits(max_trees=0, max_vectors=MOST_ROWS, max_columns=MOST_ROWS)


def explanation_html(explanation: Any) -> str:
    """An explanation of RECIP: its sentence, the views to switch between, and the rows that decided in each."""
    ident = f"pw-{uuid4().hex[:12]}"  # outputs of one page must not share names
    views = views_of(explanation)
    training = TrainingRows.of(explanation) if views else TrainingRows(None, None)
    added = explanation.views_table()
    return piece(
        html.paragraph(explanation.to_text()),
        views_switch(views, training, ident=ident, most_points=MOST_POINTS),
        *([] if added is None else [html.section(added, level=4)]),
    )


def piece(*parts: str) -> str:
    """Parts with the styles and the script they need; the script runs once per page, however often it is included."""
    return f"<style>{html.view_style()}</style>\n{block(*parts)}\n<script>{html.view_script()}</script>"


def summary_html(estimator: Any) -> str:
    """The summary; a notebook must show its cell in any case, so errors are shown, not raised."""
    try:
        parts = list(_parts(estimator))
    except Exception as failure:
        reason = f"{type(failure).__name__}: {failure}"
        parts = [html.paragraph(f"This model could not be summarised ({reason}).", note=True)]
    return piece(*parts)


def _parts(estimator: Any) -> Iterator[str]:
    about = describe(estimator, LIMITS)
    yield html.facts(about.facts)
    if hasattr(estimator, "tree_"):
        yield tree_figure(estimator)
    for each in about.sections:
        if each.heading != "Parameters":  # the diagram has these
            yield html.section(_shortened(each), level=4)


def _shortened(each: TableSection | TextSection) -> TableSection | TextSection:
    if isinstance(each, TextSection):
        left = len(each.lines) - MOST_ROWS
        return replace(each, lines=[*each.lines[:MOST_ROWS], *([f"… and {left} more"] if left > 0 else [])])
    left = len(each.rows) - MOST_ROWS
    if left <= 0:
        return each
    note = " ".join([*([each.note] if each.note else []), f"… and {left} more"])
    return replace(each, rows=each.rows[:MOST_ROWS], weights=each.weights[:MOST_ROWS], note=note)
