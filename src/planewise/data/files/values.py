"""What the text of a column means: numbers, booleans, dates or categories; and its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any, NamedTuple

import polars as pl

from planewise.data.columns import COLUMN_KINDS, kind_of
from planewise.data.files.dates import DateForm, find_dates, read_dates, share_of_dates
from planewise.data.files.numbers import (
    EITHER,
    NumberForm,
    find_form,
    looks_like_number,
    read_numbers,
    simple_numbers,
)
from planewise.data.files.reading import Reading, TableFileError

MOSTLY = 0.5  # of the values: so many numbers or dates make the others odd ones
MAX_CATEGORIES = 50  # different numbers among words: a column of categories, not of numbers with a few odd words
LineOf = Callable[[int], str]  # "line 17" for a row of the column


@dataclass(frozen=True)
class FoundColumn:
    """What a column was taken for, and how its text is read.

    Attributes
    ----------
    name : str
    kind : {"number", "truth", "date", "category"} or None
        None if its type cannot be used.
    form : NumberForm, DateForm or None
    notes : tuple of str
        What is worth saying.
    missing_words : tuple of str
        Words that mean a missing value in this column.
    """

    name: str
    kind: str | None
    form: NumberForm | DateForm | None = None
    notes: tuple[str, ...] = ()
    missing_words: tuple[str, ...] = ()
    whole: bool = False  # numbers without fractions

    def in_words(self, decimal: str = ".") -> str:
        """How it is read, where that is not plain; `decimal` is the mark that the table has anyway."""
        form = self.form.in_words(decimal) if isinstance(self.form, NumberForm) else ""
        form = self.form.in_words() if isinstance(self.form, DateForm) else form
        return "; ".join(filter(None, [form, *self.notes]))

    @property
    def adjective(self) -> str:
        """The kind, for people."""
        return "not usable" if self.kind is None else COLUMN_KINDS[self.kind].adjective


def trimmed(words: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Text without spaces around it; null where it means a missing value."""
    words = words.str.strip_chars()
    return words.set(words.is_in(list(missing)).fill_null(False), None)


class Marks(NamedTuple):
    """What the values of a whole table say about the decimal mark."""

    decimal: str = "."
    found: bool = True  # some values cannot be otherwise
    of_semicolons: bool = False  # where points may well separate thousands


def find_kind(words: pl.Series, reading: Reading, marks: Marks, line_of: LineOf) -> FoundColumn:
    """What a column of trimmed text holds; an error if nearly all values are numbers or dates, and a few are not."""
    name, present = words.name, words.drop_nulls()
    if name in reading.categories:
        return FoundColumn(name, "category", notes=("read as text, as asked",))
    if len(present) == 0:
        return FoundColumn(name, "category")
    given = reading.date_formats.get(name) or reading.date_formats.get("")
    if name in reading.date_formats or (given and read_dates(present.head(1), given).null_count() == 0):
        form = form_of_dates(words, reading, line_of)
        if form is None or form.format != given:
            raise _odd(words, read_dates(words, str(given)).is_null(), f"dates of the format {given}", line_of)
        return FoundColumn(name, "date", form, _years(words, form))
    if present.str.to_lowercase().is_in(["true", "false"]).all():
        return FoundColumn(name, "truth")
    number = _as_numbers(words, reading, marks, line_of)
    return number or _as_dates(words, reading, line_of) or FoundColumn(name, "category")


def form_of_numbers(words: pl.Series, reading: Reading, marks: Marks, line_of: LineOf) -> NumberForm:
    """How the numbers of a column are written; an error if it is ambiguous."""
    known = reading.decimals.get(words.name)
    usual = reading.decimal or (marks.decimal if marks.found else known or marks.decimal)
    with_points = words.str.contains(".", literal=True).fill_null(False)
    if not (reading.decimal or marks.found or known) and marks.of_semicolons and with_points.any():
        at = with_points.arg_max()
        if words.filter(with_points).str.contains(EITHER).all() and at is not None:
            raise TableFileError(
                f"Column {words.name!r} holds numbers such as {words[at]!r} in {line_of(at)}, where the point could be "
                "the decimal mark or separate thousands: --decimal . or --decimal , specifies which."
            )
    simple = simple_numbers(words, usual)
    if simple is not None and simple.null_count() == words.null_count():
        return NumberForm(usual)
    return find_form(words, usual, fixed=reading.decimal is not None)


def form_of_dates(words: pl.Series, reading: Reading, line_of: LineOf) -> DateForm | None:
    """The format of the dates of a column; None if not all values are dates, an error if it is ambiguous."""
    name = words.name
    form = find_dates(words.drop_nulls(), reading.date_formats.get(name) or reading.date_formats.get(""))
    if form is not None and form.or_else:
        first = words.is_not_null().arg_max()
        assert first is not None
        raise TableFileError(
            f"Column {name!r} holds dates such as {words[first]!r} in {line_of(first)}, where the day or the month "
            f"could come first: --date-format '{form.format}' or --date-format '{form.or_else}' specifies which."
        )
    return form


def _as_numbers(words: pl.Series, reading: Reading, marks: Marks, line_of: LineOf) -> FoundColumn | None:
    """The column as numbers; None if most values are not numbers."""
    name, present = words.name, words.drop_nulls()
    if words.cast(pl.Float64, strict=False).null_count() != words.null_count():
        some = looks_like_number(present.gather_every(max(1, len(present) // 1000)))
        if some.sum() < MOSTLY / 2 * len(some):  # free text need not be looked at as a whole
            return None
    form = form_of_numbers(words, reading, marks, line_of)
    read = read_numbers(words, form)
    bad = read.is_null() & words.is_not_null()
    known = bad & words.is_in(reading.missing_numbers)
    odd = bad & ~known
    if form.mixed and looks_like_number(words.filter(~known).drop_nulls()).all():
        raise TableFileError(f"Column {name!r} cannot be read as numbers: {form.mixed}. {_remedy(name, form)}")
    if not odd.any():
        gone = words.filter(known).unique(maintain_order=True).to_list()
        found = _plain_numbers(words.set(known, None), read)
        return replace(found, form=form, missing_words=tuple(gone), notes=(*_gone(gone), *found.notes))
    n_present, n_read = len(words) - words.null_count(), len(read) - read.null_count()
    if n_read < MOSTLY * n_present:
        return None
    if _repeats(words):
        return _noted_text(words, "numbers", odd, line_of)
    raise _odd(words, odd, "numbers", line_of)


def _repeats(words: pl.Series) -> bool:
    """Whether a column has few different values, so that they may be categories."""
    present = words.drop_nulls()
    return present.n_unique() <= min(MAX_CATEGORIES, len(present) // 2)


def _years(words: pl.Series, form: DateForm) -> tuple[str, ...]:
    """The range of years that two digits were taken for."""
    if "%y" not in form.format:
        return ()
    years = read_dates(words, form.format).dt.year()
    return (f"years {years.min()!s} to {years.max()!s}",)


def _remedy(name: str, form: NumberForm) -> str:
    if "decimal" in form.mixed:
        return "--decimal , or --decimal . decides for all columns; else correct the values."
    return f"Use one currency; --category {quote(name)} reads the column as text, --drop {quote(name)} leaves it out."


def _plain_numbers(words: pl.Series, read: pl.Series) -> FoundColumn:
    whole = bool((read.is_nan() | (read == read.round())).all() and not words.str.contains("[.,eE]").any())
    padded = whole and bool(words.str.contains(r"^[+-]?0\d").any())
    notes = (f"zero-padded: --category {words.name} would keep the zeros",) if padded else ()
    return FoundColumn(words.name, "number", NumberForm(), notes, whole=whole)


def _gone(words: list[str]) -> tuple[str, ...]:
    return (f"{', '.join(map(repr, words[:3]))} read as missing",) if words else ()


def _noted_text(words: pl.Series, what: str, odd: pl.Series, line_of: LineOf) -> FoundColumn:
    """A column of categories, many of which look like numbers, or like dates of one format."""
    at, n_present = odd.arg_max(), len(words) - words.null_count()
    assert at is not None
    note = (
        f"read as text: {n_present - odd.sum()} of {n_present} values are {what}, {words[at]!r} in {line_of(at)} is not"
    )
    return FoundColumn(words.name, "category", notes=(note,))


def _as_dates(words: pl.Series, reading: Reading, line_of: LineOf) -> FoundColumn | None:
    """The column as dates; None if most values are not dates."""
    name, known = words.name, words.is_in(reading.missing_numbers).fill_null(False)
    gone = words.filter(known).unique(maintain_order=True).to_list()
    kept = words.set(known, None)
    form = form_of_dates(kept, reading, line_of)
    if form is not None:
        return FoundColumn(name, "date", form, (*_gone(gone), *_years(kept, form)), tuple(gone))
    share, best = share_of_dates(kept)
    if share < MOSTLY / 2:
        return None
    odd = read_dates(kept, best).is_null() & kept.is_not_null()
    if not odd.any():
        return FoundColumn(name, "date", DateForm(best), (*_gone(gone), *_years(kept, DateForm(best))), tuple(gone))
    what = f"dates of the format {best}"
    if share >= MOSTLY and not _repeats(kept):
        raise _odd(kept, odd, what, line_of)
    return _noted_text(kept, what, odd, line_of)


def _odd(words: pl.Series, odd: pl.Series, what: str, line_of: LineOf) -> TableFileError:
    """The error for a few values that are not what the others are."""
    odd = odd & words.is_not_null()
    places, n_present = odd.arg_true(), len(words) - words.null_count()
    different = words.filter(odd).unique(maintain_order=True).to_list()
    first = f"{different[0]!r} in {line_of(int(places[0]))}"
    if len(different) == 1:
        is_not = f"{first} is not" if len(places) == 1 else f"{first} and {len(places) - 1} more are not"
        remedy = f"--missing {quote(different[0])} reads it as missing"
        if len(places) == 1 and int(places[0]) == 0:
            remedy = f"delete {line_of(0)} if it holds units; {remedy}"
    else:
        others = f"{len(different) - 1} other text{'s' if len(different) > 2 else ''} ({different[1]!r})"
        is_not = f"{first} and {others} are not"
        remedy = " ".join(f"--missing {quote(each)}" for each in different[:3]) + " reads them as missing"
        remedy = remedy if len(different) <= 3 else "correct them"
    return TableFileError(
        f"{n_present - len(places)} of {n_present} values of {words.name!r} are {what}; {is_not}: {remedy}, "
        f"--category {quote(words.name)} reads the column as text, --drop {quote(words.name)} leaves it out."
    )


def read_values(words: pl.Series, found: FoundColumn) -> pl.Series:
    """A column of trimmed text in the type of its kind; null where a value is not of it."""
    if found.missing_words:
        words = words.set(words.is_in(list(found.missing_words)).fill_null(False), None)
    if found.kind == "number":
        assert found.form is None or isinstance(found.form, NumberForm)
        numbers = read_numbers(words, found.form or NumberForm())
        return _whole(words, numbers) if found.whole else numbers
    if found.kind == "truth":
        return (words.str.to_lowercase() == "true").alias(words.name)
    if found.kind == "date":
        assert isinstance(found.form, DateForm)
        return read_dates(words, found.form.format)
    return words


def _whole(words: pl.Series, numbers: pl.Series) -> pl.Series:
    """Numbers as integers, from the text itself, which may have more digits than a float keeps."""
    for source in (words, numbers):
        whole = source.cast(pl.Int64, strict=False)
        if whole.null_count() == numbers.null_count():
            return whole
    return numbers


def described(values: pl.Series, reading: Reading) -> FoundColumn:
    """What a column with a type of its own is taken for."""
    if values.name in reading.categories and values.dtype.is_integer():
        return FoundColumn(values.name, "category", notes=("read as text, as asked",))
    return FoundColumn(values.name, kind_of(values.dtype))


def as_data(found: FoundColumn, decimal: str = ".") -> dict[str, Any]:
    """For JSON."""
    form: dict[str, Any] = {}
    if isinstance(found.form, NumberForm):
        form = {"decimal": found.form.decimal, "currency": found.form.currency or None}
    if isinstance(found.form, DateForm):
        form = {"date_format": found.form.format}
    return {"name": found.name, "kind": found.adjective, "how": found.in_words(decimal) or None, **form}
