"""The reasons for one answer as a page of HTML that needs nothing else."""

from __future__ import annotations

from typing import Any

from planewise.report import _page
from planewise.report._reasons import Reasons
from planewise.report._sections import reasons_shown


def page(answer: dict[str, Any], reasons: Reasons, estimator: str) -> str:
    """The whole page."""
    prediction = answer["prediction"]
    shown = f"{prediction:.4g}" if isinstance(prediction, float) else str(prediction)
    title = f"Row {answer['row']}: {answer['target']} is {shown}"
    shares = [(label, f"{100 * share:.1f} %") for label, share in (answer["probability"] or {}).items()]
    body = [
        _page.heading(title, level=1),
        *([_page.facts(shares)] if shares else []),
        _page.heading(reasons.heading),
        reasons_shown(reasons),
        *([_page.paragraph(reasons.note)] if reasons.note else []),
        _page.footer(estimator),
    ]
    return _page.page(title, body)
