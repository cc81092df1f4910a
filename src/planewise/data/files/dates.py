"""Dates as people write them: day first, month first, with names of months, with times."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from planewise.data.columns import iso_moments

DAYS = {  # what dates look like, and the formats that it may mean
    r"^\d{1,2}\.\d{1,2}\.\d{4}": ("%d.%m.%Y", "%m.%d.%Y"),
    r"^\d{1,2}\.\d{1,2}\.\d{2}\b": ("%d.%m.%y", "%m.%d.%y"),
    r"^\d{1,2}/\d{1,2}/\d{4}": ("%d/%m/%Y", "%m/%d/%Y"),
    r"^\d{1,2}/\d{1,2}/\d{2}\b": ("%d/%m/%y", "%m/%d/%y"),
    r"^\d{1,2}-\d{1,2}-\d{4}": ("%d-%m-%Y", "%m-%d-%Y"),
    r"^\d{4}/\d{1,2}/\d{1,2}": ("%Y/%m/%d",),
    r"^\d{4}\.\d{1,2}\.\d{1,2}": ("%Y.%m.%d",),
    r"^\d{4}-\d{1,2}-\d{1,2}": ("%Y-%m-%d",),
    r"^\d{1,2} [A-Za-z]{3,9} \d{4}": ("%d %b %Y", "%d %B %Y"),
    r"^\d{1,2}\. [A-Za-z]{3,9} \d{4}": ("%d. %b %Y", "%d. %B %Y"),
    r"^\d{1,2}-[A-Za-z]{3}-\d{4}": ("%d-%b-%Y",),
    r"^\d{1,2}-[A-Za-z]{3}-\d{2}\b": ("%d-%b-%y",),
    r"^[A-Za-z]{3,9} \d{1,2}, \d{4}": ("%b %d, %Y", "%B %d, %Y"),
}
TIMES = {
    r"": "",
    r" \d{1,2}:\d{2}": " %H:%M",
    r" \d{1,2}:\d{2}:\d{2}": " %H:%M:%S",
    r" \d{1,2}:\d{2}:\d{2}\.\d+": " %H:%M:%S%.f",
    r" \d{1,2}:\d{2} [AaPp][Mm]": " %I:%M %p",
    r" \d{1,2}:\d{2}:\d{2} [AaPp][Mm]": " %I:%M:%S %p",
    r"T\d{1,2}:\d{2}": "T%H:%M",
    r"T\d{1,2}:\d{2}:\d{2}": "T%H:%M:%S",
}
ISO = "ISO 8601"
_ORDER = {"%d": "day first", "%m": "month first", "%b": "month first", "%B": "month first", "%Y": "year first"}
LOOKED_AT = 200  # values that rule out most formats


class DateForm(NamedTuple):
    """The format of the dates of a column; or two that all values fit."""

    format: str
    or_else: str = ""

    def in_words(self) -> str:
        """The order of day and month, if it is not that of ISO 8601."""
        return "" if self.format == ISO else f"{_ORDER.get(self.format[:2], 'dates')}, {self.format}"


def read_dates(words: pl.Series, form: str) -> pl.Series:
    """Text as dates, or as moments if the format has a time; null where it is not of this format."""
    if form == ISO:
        return _read_iso(words)
    if not any(part in form for part in ("%H", "%I", "%T", "%R", "%s")):
        return words.str.to_date(form, strict=False)
    return words.str.to_datetime(form, strict=False, time_unit="us")


def _read_iso(words: pl.Series) -> pl.Series:
    moments = iso_moments(words)
    days = bool((words.str.len_bytes() == len("2024-03-09")).all())
    return moments.cast(pl.Date) if days else moments


def find_dates(words: pl.Series, known: str | None = None) -> DateForm | None:
    """The format of all values, none of them null; `known` decides where day and month could be exchanged."""
    if len(words) == 0:
        return None
    if known is not None and _fits(words, known):
        return DateForm(known)
    if _fits(words.head(1), ISO) and _fits(words, ISO):
        return DateForm(ISO)
    fitting = [each for each in _formats(words) if _fits(words.head(LOOKED_AT), each) and _fits(words, each)]
    if not fitting:
        return None
    if len(fitting) > 1 and not read_dates(words, fitting[0]).equals(read_dates(words, fitting[1])):
        usual = fitting[0].startswith("%d.")  # with points, the day comes first everywhere
        return DateForm(fitting[0]) if usual else DateForm(fitting[0], fitting[1])
    return DateForm(fitting[0])


def share_of_dates(words: pl.Series) -> tuple[float, str]:
    """The share of the values that are dates of one format, and the format."""
    best, chosen = 0.0, ""
    present = words.drop_nulls()
    if len(present) == 0:
        return best, chosen
    for form in dict.fromkeys(each for text in present.head(5) for each in _formats(pl.Series([text]))):
        share = 1 - read_dates(present, form).null_count() / len(present)
        if share > best:
            best, chosen = share, form
    return best, chosen


def _formats(words: pl.Series) -> list[str]:
    """The formats that the first value may have."""
    first = words.head(1)
    for day, formats in DAYS.items():
        if first.str.contains(day).any():
            for time, clock in TIMES.items():
                if first.str.contains(f"{day}{time}$").any():
                    return [form + clock for form in formats]
    return []


def _fits(words: pl.Series, form: str) -> bool:
    return read_dates(words, form).null_count() == 0
