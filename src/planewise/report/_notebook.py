"""Explanations in notebooks: a piece of HTML whose styles reach nothing else, with pictures that answer the mouse."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from planewise.report import _page
from planewise.report._view_files import view_script, view_style
from planewise.report._view_parts import block, views_of, views_switch
from planewise.report._view_scene import TrainingRows

MOST_POINTS = 600  # a notebook keeps what it shows


def explanation_html(explanation: Any, estimator: Any) -> str:
    """An explanation of RECIP: its sentence, the views to switch between, and the rows that decided in each."""
    ident = f"pw-{uuid4().hex[:12]}"  # outputs of one page must not share names
    views = views_of(explanation)
    training = TrainingRows.of(estimator) if views else TrainingRows(None, None)
    return piece(
        _page.paragraph(explanation.to_text()), views_switch(views, training, ident=ident, most_points=MOST_POINTS)
    )


def piece(*parts: str) -> str:
    """Parts with the styles and the script they need; the script does its work once a page, however often it comes."""
    return f"<style>{view_style()}</style>\n{block(*parts)}\n<script>{view_script()}</script>"
