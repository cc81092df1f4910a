"""One self-contained page about a model and how it does on data."""

from planewise.report._report import report

__all__ = ["report"]
