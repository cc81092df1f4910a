"""What notebooks show of estimators and explanations: HTML whose styles reach nothing else on the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planewise.explain.describe import Limits, TableSection, TextSection, describe
from planewise.plot.style import require_matplotlib
from planewise.plot.tree import TreeDisplay
from planewise.report import html
from planewise.report.case import case_parts
from planewise.report.pictures import figures_closed

MOST_ROWS = 8  # of a table
MOST_NODES = 15  # of a tree; more are folded
LIMITS = Limits(max_trees=0, max_vectors=MOST_ROWS, max_columns=MOST_ROWS)
# Rules for tables and lists have the class twice: notebooks have rules of their own for them.
STYLE = """
.planewise-view { font: 14px/1.45 system-ui, sans-serif; max-width: 69em; }
.planewise-view h4 { font-size: 13px; font-weight: 600; margin: .9em 0 .1em; }
.planewise-view figure { margin: .6em 0; break-inside: avoid; }
.planewise-view figure img { max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
.planewise-view figcaption { font-size: 13px; opacity: .8; overflow-wrap: anywhere; color: inherit; }
.planewise-view .note { opacity: .8; }
/* what scrolls sideways has a shadow at each end beyond which there is more */
.planewise-view .wide, .planewise-view pre { overflow-x: auto; max-width: 100%;
  --cover: var(--jp-layout-color0, var(--vscode-editor-background, Canvas));
  background: linear-gradient(to right, var(--cover) 30%, #0000) 0 0 / 3em 100% no-repeat local,
    linear-gradient(to left, var(--cover) 30%, #0000) 100% 0 / 3em 100% no-repeat local,
    linear-gradient(to right, #888b, #0000) 0 0 / .8em 100% no-repeat scroll,
    linear-gradient(to left, #888b, #0000) 100% 0 / .8em 100% no-repeat scroll; }
.planewise-view pre { font: 12.5px/1.5 ui-monospace, monospace; margin: .3em 0; }
.planewise-view table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6em 0; color: inherit; }
.planewise-view.planewise-view table th, .planewise-view.planewise-view table td { text-align: left; max-width: 23em;
  padding: .2em 1em .2em .3em; border-bottom: 1px solid #8885; overflow-wrap: break-word; background: none;
  font-weight: inherit; vertical-align: top; }
.planewise-view.planewise-view table thead th, .planewise-view.planewise-view table .end td { font-weight: 600; }
.planewise-view.planewise-view table td.bars { padding: 0; vertical-align: middle; }
.planewise-view table tr { break-inside: avoid; }
.planewise-view .pw-bar { display: block; max-width: 40vw; }
.planewise-view dl { display: grid; grid-template-columns: minmax(0, max-content) minmax(0, 1fr); gap: .1em 1.1em;
  margin: .6em 0; }
.planewise-view dt { opacity: .75; font-weight: inherit; overflow-wrap: anywhere; }
.planewise-view dd { margin: 0; overflow-wrap: anywhere; }
.planewise-view.planewise-view dl > * { float: none; width: auto; }
@media print {
  .planewise-view .wide, .planewise-view pre { overflow: visible; background: none; }
  .planewise-view .pw-bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def explanation_html(explanation: Any) -> str:
    """Return an explanation by a view as HTML: its sentence, the plot of the view, and the nearest training rows."""
    return _block([html.paragraph(explanation.to_text()), *case_parts(explanation, drawn=_can_draw())])


def _block(parts: list[str]) -> str:
    """Return parts with the styles that they need."""
    return f"<style>{STYLE}</style>\n" + '<div class="planewise-view">\n' + "\n".join(parts) + "\n</div>"


def _can_draw() -> bool:
    """Whether matplotlib is installed; without it a notebook shows text and tables only."""
    try:
        require_matplotlib()
    except ImportError:
        return False
    return True


def summary_html(estimator: Any) -> str:
    """Return the summary of an estimator; errors are shown, not raised, since a notebook must show its cell."""
    try:
        parts = list(_parts(estimator))
    except Exception as failure:
        reason = f"{type(failure).__name__}: {failure}"
        parts = [html.paragraph(f"This model could not be summarised ({reason}).", note=True)]
    return _block(parts)


def _parts(estimator: Any) -> Iterator[str]:
    about = describe(estimator, LIMITS)
    yield html.facts(about.facts)
    if hasattr(estimator, "tree_") and _can_draw():
        with figures_closed():
            shown = TreeDisplay.from_estimator(estimator).plot(max_nodes=MOST_NODES)
            yield html.figure("The tree; n is the number of training rows.", shown.figure_)
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
