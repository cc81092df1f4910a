"""Truth values and dates that are written as text, as in CSV."""

from __future__ import annotations

from typing import Any

from planewise.table._polars import polars

A_DAY = 86_400_000_000  # in microseconds
TRUTHS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
# A day, or a moment, which may say how far its clock is ahead of UTC.
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$"
_AHEAD = r"[T ].*([+-])(\d{2}):?(\d{2})?$"


def read_words(words: Any, kind: str) -> Any:
    """Text as truth values (0 and 1) or dates (days since 1970); null where it is missing or neither."""
    pl = polars()
    words = words.cast(pl.String).str.strip_chars()
    if kind == "truth":
        return words.str.to_lowercase().replace_strict(TRUTHS, default=None, return_dtype=pl.Float64)
    return _moments(words).dt.timestamp("us").cast(pl.Float64) / A_DAY


def first_unread(words: Any, kind: str) -> int | None:
    """The place of the first text that is no truth value or no date."""
    bad = read_words(words, kind).is_null() & words.is_not_null()
    return bad.arg_max() if bad.any() else None


def with_dates(table: Any) -> Any:
    """The table with its columns of text as dates where all of a column's values are dates of ISO 8601."""
    pl = polars()
    found = []
    for values in table.get_columns():
        if values.dtype != pl.String or not values.drop_nulls().head(1).str.strip_chars().str.contains(_ISO).any():
            continue  # most columns of words are told by their first one
        moments = _moments(values.str.strip_chars())
        if moments.null_count() == values.null_count():
            whole = (values.drop_nulls().str.strip_chars().str.len_bytes() == len("2024-03-09")).all()
            found.append(moments.cast(pl.Date) if whole else moments)
    return table.with_columns(found)


def _moments(words: Any) -> Any:
    """Dates of ISO 8601 as moments in UTC; a clock that does not say how far it is ahead is taken for UTC."""
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
