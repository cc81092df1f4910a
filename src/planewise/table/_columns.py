"""The columns of a table: of what kind each is, which tell nothing, and how they become what estimators take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.table._polars import polars
from planewise.table._words import A_DAY, first_unread, read_words

KINDS = ("number", "truth", "date", "category")
MOST_CATEGORIES = 1000
MOST_INDICATORS = 50  # columns that one category column becomes for a machine: its most frequent categories
_NAMED_AS_KEY = re.compile(
    r"(?i)^(.*[ _-])?(id|ids|uid|uuid|guid|key|index|idx|rownum|row_?number|nr)$|^unnamed: 0$|^$"
)


@dataclass(frozen=True)
class Column:
    """One column that the model reads.

    Attributes
    ----------
    name : str
    kind : {"number", "truth", "date", "category"}
        Truth values are read as 0 and 1, dates as days since 1970.
    usual : float
        The median in ``fit``: what a machine reads where the value is missing.
    categories : tuple of str
        Of a category column: those that a machine tells apart, the most frequent ones first.
    missing : bool
        Whether values were missing in ``fit``.
    """

    name: str
    kind: str
    usual: float = 0.0
    categories: tuple[str, ...] = ()
    missing: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A column that the model does not read, and why."""

    name: str
    why: str


def find_columns(table: Any, target: str) -> tuple[list[Column], list[LeftOut]]:
    """What can be learned from, and what not, in the order of the table."""
    used, left_out = [], []
    for name in table.columns:
        if name == target:
            continue
        values = table[name]
        why = _why_useless(values)
        if why:
            left_out.append(LeftOut(name, why))
        else:
            used.append(_described(values))
    return used, left_out


def kind_of(dtype: Any) -> str | None:
    """The kind of a column of this data type; None for one that no model reads."""
    pl = polars()
    if dtype == pl.Boolean:
        return "truth"
    if dtype.is_numeric() or dtype.is_decimal():
        return "number"
    if dtype in (pl.Date, pl.Datetime):
        return "date"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "category"
    return None


def _why_useless(values: Any) -> str:
    kind, n_present = kind_of(values.dtype), len(values) - values.null_count()
    if n_present == 0:
        return "is empty"
    if kind is None:
        return f"holds {values.dtype} values, which no model reads"
    n_distinct = values.drop_nulls().n_unique()
    if n_distinct == 1 and values.null_count() == 0:
        return "is the same in every row"
    if kind == "category" and n_distinct > max(20, n_present // 2):
        return f"has {n_distinct} different texts in {n_present} rows: an identifier, or free text"
    if kind == "category" and n_distinct > MOST_CATEGORIES:
        return f"has {n_distinct} different texts; at most {MOST_CATEGORIES} are taken for categories"
    if kind == "number" and values.dtype.is_integer() and n_distinct == n_present > 20:
        span = int(values.max()) - int(values.min()) + 1
        # Numbers of chance would meet long before so many fit so tightly; rows held out leave gaps.
        if span <= 2 * n_present or _NAMED_AS_KEY.match(values.name):
            return "is another whole number in every row: an identifier"
    return ""


def _described(values: Any) -> Column:
    kind = kind_of(values.dtype)
    assert kind is not None
    missing = values.null_count() > 0
    if kind == "category":
        counts = values.drop_nulls().cast(polars().String).value_counts(sort=True)
        ordered = sorted(zip(counts[:, 0].to_list(), counts[:, 1].to_list(), strict=True), key=lambda p: (-p[1], p[0]))
        return Column(values.name, kind, 0.0, tuple(name for name, _ in ordered[:MOST_INDICATORS]), missing)
    numbers = as_numbers(values, kind)
    present = numbers[~np.isnan(numbers)]
    return Column(
        values.name,
        kind,
        float(np.median(present)) if len(present) else 0.0,
        (),
        missing or bool(len(present) < len(numbers)),
    )


def as_numbers(values: Any, kind: str) -> NDArray[np.float64]:
    """A column of numbers, truth values or dates as float64, NaN where missing; an error if it is another kind."""
    pl = polars()
    now = kind_of(values.dtype)
    if values.null_count() == len(values):
        return np.full(len(values), np.nan)
    if kind in ("truth", "date") and now == "category":
        at = first_unread(values, kind)
        if at is not None:
            raise ValueError(
                f"Column {values.name!r} holds the text {values[at]!r} in row {at}, but held {IN_WORDS[kind]} when the "
                "model was fitted."
            )
        return np.array(read_words(values, kind).to_numpy(), dtype=np.float64)
    if now != kind and {now, kind} != {"number", "truth"}:
        raise ValueError(
            f"Column {values.name!r} holds {IN_WORDS[now]}, but held {IN_WORDS[kind]} when the model was fitted."
        )
    if kind == "date":
        values = values.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / A_DAY
    numbers = np.array(values.cast(pl.Float64).to_numpy(), dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"Column {values.name!r} contains infinity; leave such values empty or put them right.")
    return numbers


IN_WORDS = {
    "number": "numbers",
    "truth": "truth values",
    "date": "dates",
    "category": "text",
    None: "values that no model reads",
}


def require_columns(columns: list[str], table_columns: list[str]) -> None:
    """An error that names the columns that are missing, and near ones that are there."""
    missing = [name for name in columns if name not in table_columns]
    if not missing:
        return
    near = get_close_matches(missing[0], table_columns, n=3)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else f"; it has {_some(table_columns)}."
    raise ValueError(f"The table has no column {', '.join(map(repr, missing[:5]))}{hint}")


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:10]))
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def for_trees(table: Any, columns: list[Column]) -> Any:
    """The table that trees read: numbers with gaps, and categories as they are."""
    pl = polars()
    require_columns([column.name for column in columns], table.columns)
    parts = []
    for column in columns:
        values = table[column.name]
        if column.kind == "category":
            if kind_of(values.dtype) != "category" and values.null_count() < len(values):
                raise ValueError(
                    f"Column {column.name!r} holds {IN_WORDS[kind_of(values.dtype)]}, but held text when the model was "
                    "fitted."
                )
            parts.append(values.cast(pl.String).cast(pl.Categorical))
        else:
            parts.append(pl.Series(column.name, as_numbers(values, column.kind)))
    return pl.DataFrame(parts)


def for_machines(table: Any, columns: list[Column]) -> Any:
    """The table that machines read: gaps filled with the usual value, a column of 0 and 1 for each category."""
    pl = polars()
    require_columns([column.name for column in columns], table.columns)
    parts = []
    for column in columns:
        values = table[column.name]
        if column.kind != "category":
            numbers = as_numbers(values, column.kind)
            parts.append(pl.Series(column.name, np.where(np.isnan(numbers), column.usual, numbers)))
            continue
        if kind_of(values.dtype) != "category" and values.null_count() < len(values):
            raise ValueError(f"Column {column.name!r} holds other values than text, but held text in the fit.")
        words = values.cast(pl.String)
        parts += [
            pl.Series(f"{column.name}={category}", (words == category).fill_null(False).cast(pl.Float64))
            for category in column.categories
        ]
    return pl.DataFrame(parts)
