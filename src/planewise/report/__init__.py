"""One self-contained page about a model and how it does on data."""

from planewise.report._notebook import explanation_html, summary_html
from planewise.report._report import report

__all__ = ["explanation_html", "report", "summary_html"]
