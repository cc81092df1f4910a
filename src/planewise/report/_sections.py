"""Sections of a description, and reasons for an answer, as HTML."""

from __future__ import annotations

from planewise.export._describe import TableSection, TextSection
from planewise.report import _page
from planewise.report._reasons import Reasons


def section(each: TableSection | TextSection) -> str:
    """A section with its heading."""
    out = [_page.heading(each.heading)]
    if isinstance(each, TextSection):
        return "\n".join([*out, _page.lines(each.lines)])
    if each.rows:
        out.append(_page.table(each.columns, each.rows, each.weights))
    if each.note:
        out.append(_page.paragraph(each.note, note=True))
    return "\n".join(out)


def reasons_shown(given: Reasons) -> str:
    """A table with bars, or sentences where there is nothing else."""
    if len(given.header) == 1:
        return "\n".join(_page.paragraph(words) for row in given.rows for words in row)
    return _page.table(given.header, given.rows, given.weights)
