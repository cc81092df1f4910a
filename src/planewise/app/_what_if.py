"""What if a value were different: fields for the columns, and the row with the values entered there."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planewise.app._review import RefusedError, Review
from planewise.table import COLUMN_KINDS, Column, first_unread, polars

MAX_FIELDS = 200
MAX_CHOICES = 200
LONGEST_VALUE = 500
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LARGEST = 1e17  # beyond, distances and sums of small floats would overflow


@dataclass(frozen=True)
class Field:
    """A column that can be changed."""

    name: str  # of the input
    column: str
    kind: str  # "number", "choice" or "text"
    value: str  # what was entered, or else the value of the case
    own: str  # the value of the case
    choices: list[str]

    @property
    def changed(self) -> bool:
        """Whether it differs from the case."""
        return self.value != self.own


def fields(review: Review, row: int, telling: Sequence[str], given: Mapping[str, str] | None = None) -> list[Field]:
    """Fields for at most 200 columns, those that matter most for the case first."""
    columns = {column.name: (place, column) for place, column in enumerate(review.model.columns_)}
    ordered = list(dict.fromkeys([*(name for name in telling if name in columns), *columns]))[:MAX_FIELDS]
    out = []
    for name in ordered:
        place, column = columns[name]
        own = written(review.table[name][row], column)
        choices = _choices(review, place, column)
        kind = "number" if column.kind == "number" else "choice" if choices else "text"
        value = own if given is None else given.get(f"v{place}", own)
        out.append(Field(f"v{place}", name, kind, value, own, choices))
    return out


def changed_row(review: Review, row: int, given: Mapping[str, str]) -> Any:
    """The row as a table of one, with the values that were entered; an error names a column that cannot be read."""
    pl = polars()
    one, parts = review.one(row), []
    for place, column in enumerate(review.model.columns_):
        text = given.get(f"v{place}")
        if text is None or text == written(one[column.name][0], column):
            continue
        if len(text) > LONGEST_VALUE:
            raise RefusedError(f"The value of {column.name} is too long.")
        parts.append(_read(column, text.strip(), pl))
    return one.with_columns(parts) if parts else one


def _read(column: Column, text: str, pl: Any) -> Any:
    if column.kind == "number":
        return pl.Series(column.name, [_number(column.name, text)], dtype=pl.Float64)
    words = pl.Series(column.name, [text or None], dtype=pl.String)
    right = COLUMN_KINDS[column.kind].written
    if right and text and first_unread(words, column.kind) is not None:
        raise RefusedError(f"{column.name} must be {right}; got {text[:50]!r}.")
    return words


def _number(name: str, text: str) -> float | None:
    if not text:
        return None
    value = plain_number(text)
    if value is None:
        raise RefusedError(f"{name} must be a number, or empty if missing; got {text[:50]!r}.")
    if abs(value) > LARGEST:
        raise RefusedError(f"{name} must be between −{LARGEST:.0e} and {LARGEST:.0e}; got {text[:50]!r}.")
    return value


def written(value: Any, column: Column) -> str:
    """A value as a person would type it; empty if it is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if column.kind == "number":
        return repr(float(value)).removesuffix(".0")
    return str(value)[:LONGEST_VALUE]


def _choices(review: Review, place: int, column: Column) -> list[str]:
    if column.kind == "truth":
        return ["true", "false"]
    if column.kind != "category":
        return []
    known = getattr(review.model.estimator_, "categories_", {}).get(place)
    names = list(column.categories) if known is None else [str(each) for each in known]
    return names if len(names) <= MAX_CHOICES else []


def plain_number(text: str) -> float | None:
    """A number as people type it; None if it is not one, or not finite. Python would accept more."""
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None
