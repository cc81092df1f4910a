"""The reasons for one answer as a page of HTML that needs nothing else."""

from __future__ import annotations

from typing import Any

from planewise.report import _page
from planewise.report._reasons import Reasons
from planewise.report._sections import has_views, reasons_shown, views_of_case
from planewise.report._view_scene import TrainingRows
from planewise.report._view_svg import MOST_POINTS
from planewise.table import TableModel


def page(answer: dict[str, Any], reasons: Reasons, model: TableModel, table: Any) -> str:
    """The whole page, for the one row of the table."""
    prediction = answer["prediction"]
    shown = f"{prediction:.4g}" if isinstance(prediction, float) else str(prediction)
    title = f"Row {answer['row']}: {answer['target']} is {shown}"
    shares = [(label, f"{100 * share:.1f} %") for label, share in (answer["probability"] or {}).items()]
    body = [
        _page.heading(title, level=1),
        *([_page.facts(shares)] if shares else []),
        *([_page.paragraph(reasons.sentence())] if reasons.why else []),
        _page.heading(reasons.heading),
        reasons_shown(reasons),
        *_views(model, table),
        _page.footer(type(model.estimator_).__name__),
    ]
    return _page.page(title, body)


def _views(model: TableModel, table: Any) -> list[str]:
    """The view that decided and others beside it, where the model has such."""
    estimator = model.estimator_
    if not has_views(estimator):
        return []
    explanation = estimator.explain(model.read(table))[0]
    training = TrainingRows.of(estimator)
    return [views_of_case(explanation, training, ident="case", most_points=MOST_POINTS)]
