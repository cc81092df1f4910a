"""The styles and the script of views that answer: the same for notebooks, pages and the review page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def view_style() -> str:
    """The rules of ``view.css``, all limited to elements inside of ``.planewise-view``."""
    return files("planewise.report").joinpath("view.css").read_text(encoding="utf-8")


@cache
def view_script() -> str:
    """``view.js``: once a page is enough, and pieces put into the page later are served as well."""
    return files("planewise.report").joinpath("view.js").read_text(encoding="utf-8")
