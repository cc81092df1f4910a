"""Sections of a description, and reasons for an answer, as HTML."""

from __future__ import annotations

from typing import Any

from planewise.recip import RECIPClassifier, RECIPRegressor
from planewise.report import _page
from planewise.report._reasons import Reasons
from planewise.report._view_parts import block, views_of, views_switch
from planewise.report._view_scene import TrainingRows
from planewise.words import TableSection, TextSection

MOST_POINTS = 500  # of a picture on a page that may have many


def section(each: TableSection | TextSection, level: int = 2) -> str:
    """A section with its heading."""
    out = [_page.heading(each.heading, level)]
    if isinstance(each, TextSection):
        return "\n".join([*out, _page.lines(each.lines)])
    if each.rows:
        out.append(_page.table(each.columns, each.rows, each.weights))
    if each.note:
        out.append(_page.paragraph(each.note, note=True))
    return "\n".join(out)


def reasons_shown(given: Reasons) -> str:
    """A table with bars, or sentences where there is nothing else, and what to mind."""
    if len(given.header) == 1:
        out = [_page.paragraph(words) for row in given.rows for words in row]
    else:
        out = [_page.table(given.header, given.rows, given.weights)]
    return "\n".join([*out, *([_page.paragraph(given.note, note=True)] if given.note else [])])


def has_views(model: Any) -> bool:
    """Whether the model's answers are explained by views that can be drawn."""
    return isinstance(model, (RECIPClassifier, RECIPRegressor))


def views_of_case(explanation: Any, training: TrainingRows, *, ident: str, most_points: int = MOST_POINTS) -> str:
    """The views of one case, drawn, to be switched between; nothing if none could judge it."""
    views = views_of(explanation)
    if not views:
        return ""
    return block(views_switch(views, training, ident=ident, most_points=most_points))
