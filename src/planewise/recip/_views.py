"""Views as users name them: features by number or name."""

from __future__ import annotations

from numbers import Integral
from typing import Any

View = tuple[int, ...]  # columns, increasing


def given_views(given: Any, n_features: int, names: Any, parameter: str) -> list[View]:
    """The user's views as increasing tuples of columns, each once, in the user's order."""
    known = [] if names is None else [str(name) for name in names]
    views: list[View] = []
    for view in given:
        columns = [view] if isinstance(view, (str, Integral)) else list(view)
        if not columns:
            raise ValueError(f"{parameter} has a view without features; a view needs at least one.")
        found = tuple(sorted({_column(feature, n_features, known, parameter) for feature in columns}))
        if len(found) != len(columns):
            raise ValueError(f"{parameter} has the view {tuple(columns)!r}, which names a feature twice.")
        if found not in views:
            views.append(found)
    if not views:
        raise ValueError(f"{parameter} is empty; give at least one view, or None to search for them.")
    return views


def _column(feature: Any, n_features: int, known: list[str], parameter: str) -> int:
    if isinstance(feature, str):
        if not known:
            raise ValueError(f"{parameter} names {feature!r}, but X has no names: pass a data frame, or numbers.")
        if feature not in known:
            raise ValueError(f"{parameter} names {feature!r}, which is no column of X.")
        return known.index(feature)
    column = int(feature) if isinstance(feature, Integral) and not isinstance(feature, bool) else -1
    if not 0 <= column < n_features:
        raise ValueError(f"{parameter} has the feature {feature!r}; X has the columns 0 to {n_features - 1}.")
    return column
