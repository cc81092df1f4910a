"""Reports: self-contained HTML pages about a model."""

from planewise.report.page import report

__all__ = ["report"]
