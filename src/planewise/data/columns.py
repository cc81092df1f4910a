"""The columns of a table: of what kind each is, which to leave out, and how they become what estimators take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise._optional import require
from planewise._text import first_of, one_line
from planewise.data.categories import LONGEST_TEXT
from planewise.data.frames import named, refuse_patterns
from planewise.data.values import Booleans, Dates, ValueKind

MAX_CATEGORIES = 50_000
MAX_INDICATORS = 50  # categories of a column that a machine distinguishes: the most frequent ones
A_DAY = 86_400_000_000  # in microseconds
TRUTHS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
# A day, or a moment, which may state its offset from UTC.
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$"
_AHEAD = r"[T ].*([+-])(\d{2}):?(\d{2})?$"
_NAMED_AS_KEY = re.compile(
    r"(?i)^(.*[ _-])?(id|ids|uid|uuid|guid|key|index|idx|rownum|row_?number|nr)$|^unnamed: 0$|^$"
)


@dataclass(frozen=True)
class ColumnKind:
    """A kind of column, as people are told of it."""

    adjective: str
    values: str
    read_as: str = ""  # what the numbers mean that a model reads, if the column does not hold numbers
    written: str = ""  # what its text must look like


COLUMN_KINDS = {
    "number": ColumnKind("numeric", "numbers"),
    "truth": ColumnKind("boolean", "booleans", "0 or 1", "true or false"),
    "date": ColumnKind("date", "dates", "days since 1970-01-01", "a date such as 2024-03-09"),
    "category": ColumnKind("categorical", "text"),
}


@dataclass(frozen=True, repr=False)
class Column:
    """One column that the model reads.

    Attributes
    ----------
    name : str
    kind : {"number", "truth", "date", "category"}
        Booleans ("truth") are read as 0 and 1, dates as days since 1970.
    usual : float
        The median in ``fit``, which machines take in place of a missing value.
    categories : tuple of str
        Of a category column: those that a machine distinguishes, the most frequent first.
    missing : bool
        Whether values were missing in ``fit``.
    clock : str or None
        Of a date column: the time zone of its times of day, "" if they state none; None if it holds whole days.
    """

    name: str
    kind: str
    usual: float = 0.0
    categories: tuple[str, ...] = ()
    missing: bool = False
    clock: str | None = ""

    @property
    def value_kind(self) -> ValueKind | None:
        """How values are written that the model reads as other numbers; None for numbers and categories."""
        if self.kind == "date":
            return Dates(self.usual, self.clock)
        return Booleans() if self.kind == "truth" else None

    def __repr__(self) -> str:
        facts = [self.name, COLUMN_KINDS[self.kind].adjective]
        return one_line(self, ", ".join([*facts, *(["with missing values"] if self.missing else [])]))


@dataclass(frozen=True)
class LeftOut:
    """A column that the model does not read, and why."""

    name: str
    why: str


def polars() -> Any:
    """The module, or an error that says how to get it."""
    return require("A table model", "polars", "cli")


def as_polars(table: Any) -> Any:
    """A data frame of any library as one of polars."""
    pl = polars()
    if not nw.dependencies.is_into_dataframe(table):
        raise TypeError(f"A table with named columns is needed (polars, pandas, Arrow); got {type(table).__name__}.")
    found = table if isinstance(table, pl.DataFrame) else nw.from_native(table, eager_only=True).to_polars()
    refuse_patterns(found.columns)
    return found


def find_columns(
    table: Any, target: str, unwanted: Mapping[str, str] | None = None
) -> tuple[list[Column], list[LeftOut]]:
    """The columns to learn from and those to leave out, in the order of the table; `unwanted` ones have a reason."""
    used, left_out = [], []
    for name in table.columns:
        if name == target:
            continue
        values = table[name]
        why = (unwanted or {}).get(name) or _why_useless(values)
        if why:
            left_out.append(LeftOut(name, why))
        else:
            used.append(_described(values))
    return used, left_out


def kind_of(dtype: Any) -> str | None:
    """The kind of a column of this data type; None if it cannot be used."""
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
        return f"holds values of type {values.dtype}, which cannot be used"
    n_distinct = values.drop_nulls().n_unique()
    if n_distinct == 1 and values.null_count() == 0:
        return "has the same value in every row"
    if kind == "category" and n_distinct > max(20, n_present // 2):
        return f"has {n_distinct} different texts in {n_present} rows: looks like an identifier or free text"
    if kind == "category" and longest_text(values) > LONGEST_TEXT:
        return f"has a text of {longest_text(values):,} characters: looks like free text"
    if kind == "category" and n_distinct > MAX_CATEGORIES:
        return f"has {n_distinct} different texts; a category column may have up to {MAX_CATEGORIES}"
    if kind == "number" and values.dtype.is_integer() and n_distinct == n_present > 20:
        span = int(values.max()) - int(values.min()) + 1
        # Random numbers in so narrow a range would repeat; rows that were held out leave gaps.
        if span <= 2 * n_present or named_as_key(values.name):
            return "has a different whole number in every row: looks like an identifier"
    return ""


def longest_text(values: Any) -> int:
    """How many characters the longest text of a column has."""
    return int(values.cast(polars().String).str.len_chars().max() or 0)


def named_as_key(name: str) -> bool:
    """Whether a column is called as keys are, such as "id" or "order_nr"."""
    return _NAMED_AS_KEY.match(name) is not None


def _described(values: Any) -> Column:
    kind = kind_of(values.dtype)
    assert kind is not None
    missing = values.null_count() > 0
    if kind == "category":
        counts = values.drop_nulls().cast(polars().String).value_counts(sort=True)
        ordered = sorted(zip(counts[:, 0].to_list(), counts[:, 1].to_list(), strict=True), key=lambda p: (-p[1], p[0]))
        return Column(values.name, kind, 0.0, tuple(name for name, _ in ordered[:MAX_INDICATORS]), missing)
    numbers = as_numbers(values, kind)
    present = numbers[~np.isnan(numbers)]
    return Column(
        values.name,
        kind,
        float(np.median(present)) if len(present) else 0.0,
        (),
        missing or bool(len(present) < len(numbers)),
        _clock(values),
    )


def _clock(values: Any) -> str | None:
    """The time zone of a column of moments, "" if it has none; None for whole days."""
    pl = polars()
    if values.dtype != pl.Datetime:
        return None
    whole = (values.drop_nulls().dt.time() == time()).all()
    return None if whole and values.dtype.time_zone is None else values.dtype.time_zone or ""


def as_numbers(values: Any, kind: str) -> NDArray[np.float64]:
    """A column of numbers, booleans or dates as float64, NaN where missing; an error if it is another kind."""
    pl = polars()
    now = kind_of(values.dtype)
    if values.null_count() == len(values):
        return np.full(len(values), np.nan)
    if COLUMN_KINDS[kind].written and now == "category":
        at = first_unread(values, kind)
        if at is not None:
            raise unread_value(values.name, values[at], at, kind)
        return np.array(read_words(values, kind).to_numpy(), dtype=np.float64)
    if now != kind and {now, kind} != {"number", "truth"}:
        raise _now_holds(values.name, _values_of(now), kind)
    if kind == "date":
        values = values.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / A_DAY
    numbers = np.array(values.cast(pl.Float64).to_numpy(), dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"Column {values.name!r} contains infinity; leave such values empty or correct them.")
    return numbers


def _as_categories(values: Any) -> Any:
    """A category column as text, null where missing; an error if it is another kind."""
    now = kind_of(values.dtype)
    if now != "category" and values.null_count() < len(values):
        raise _now_holds(values.name, _values_of(now), "category")
    return values.cast(polars().String)


def unread_value(name: str, text: str, row: int, kind: str, where: str = "", remedy: str = "") -> ValueError:
    """The error for a text where the model needs a number, a boolean or a date; `where` names its line in a file."""
    where = f" ({where})" if where else ""
    return _now_holds(name, f"the text {text!r} in row {row}{where}", kind, remedy)


def _now_holds(name: str, what: str, kind: str, remedy: str = "") -> ValueError:
    return ValueError(f"Column {name!r} holds {what}, but held {_values_of(kind)} when the model was fitted{remedy}.")


def _values_of(kind: str | None) -> str:
    return "values of a type that cannot be used" if kind is None else COLUMN_KINDS[kind].values


def require_columns(columns: list[str], table_columns: list[str]) -> None:
    """An error that names missing columns, and existing ones with similar names."""
    present = set(table_columns)
    missing = [name for name in columns if name not in present]
    if not missing:
        return
    near = get_close_matches(missing[0], table_columns, n=3)
    named, known = (first_of([repr(name) for name in names], 10) for names in (missing, table_columns))
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else f"; it has {known}."
    what = f"no column {named}" if len(missing) == 1 else f"none of the columns {named}"
    raise ValueError(f"The table has {what}{hint}")


def for_estimators(table: Any, columns: list[Column]) -> Any:
    """The table that estimators read: numbers with gaps, and categories as they are."""
    pl = polars()
    require_columns([column.name for column in columns], table.columns)
    return pl.DataFrame(
        [
            _as_categories(table[column.name]).cast(pl.Categorical)
            if column.kind == "category"
            else pl.Series(column.name, as_numbers(table[column.name], column.kind))
            for column in columns
        ]
    )


def read_words(words: Any, kind: str) -> Any:
    """Text as booleans (0 and 1) or dates (days since 1970); null where it is missing or neither."""
    pl = polars()
    words = words.cast(pl.String).str.strip_chars()
    if kind == "truth":
        return words.str.to_lowercase().replace_strict(TRUTHS, default=None, return_dtype=pl.Float64)
    if kind == "date":
        return iso_moments(words).dt.timestamp("us").cast(pl.Float64) / A_DAY
    raise ValueError(f"Text is read as booleans or dates, not as {kind!r}.")


def first_unread(words: Any, kind: str) -> int | None:
    """The place of the first text that is not a boolean, or not a date."""
    bad = read_words(words, kind).is_null() & words.is_not_null()
    return bad.arg_max() if bad.any() else None


def with_dates(table: Any) -> Any:
    """The table with its columns of text as dates where all of a column's values are dates of ISO 8601."""
    pl = polars()
    found = []
    for values in table.get_columns():
        if values.dtype != pl.String or not values.drop_nulls().head(1).str.strip_chars().str.contains(_ISO).any():
            continue  # the first value rules out most columns of text
        moments = iso_moments(values.str.strip_chars())
        if moments.null_count() == values.null_count():
            whole = (values.drop_nulls().str.strip_chars().str.len_bytes() == len("2024-03-09")).all()
            found.append(moments.cast(pl.Date) if whole else moments)
    return table.with_columns(found)


def in_own_types(table: Any, columns: list[Column]) -> Any:
    """The table with dates and booleans that it holds as text, as CSV files do, in types of their own."""
    pl = polars()
    dates = with_dates(table.select(named(column.name for column in columns if column.kind == "date")))
    truths = [column.name for column in columns if column.kind == "truth" and table[column.name].dtype == pl.String]
    return table.with_columns(
        *dates.get_columns(), *(read_words(table[name], "truth").cast(pl.Boolean).alias(name) for name in truths)
    )


def iso_moments(words: Any) -> Any:
    """Dates of ISO 8601 as moments in UTC; a time without an offset is taken for UTC."""
    pl = polars()
    iso = pl.when(words.str.contains(_ISO)).then(words.str.replace(" ", "T", literal=True))
    clock = iso.str.replace("(T[^Z+-]*)[Z+-].*", "$1")
    length = clock.str.len_bytes()
    full = pl.when(length == 10).then(clock + "T00:00:00").when(length == 16).then(clock + ":00").otherwise(clock)
    moments = full.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    hours, minutes = (iso.str.extract(_AHEAD, group).cast(pl.Int64).fill_null(0) for group in (2, 3))
    sign = pl.when(iso.str.extract(_AHEAD, 1) == "-").then(-1).otherwise(1)
    ahead = pl.duration(minutes=sign * (60 * hours + minutes))
    return pl.select((moments - ahead).alias(words.name)).to_series()
