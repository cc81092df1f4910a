"""The row that `planewise explain` is asked about, by its number or by its identifier as the table has it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import polars as pl

from planewise.cli._mistakes import MistakeError
from planewise.files import InputTable
from planewise.table import named_as_key, require_columns
from planewise.words import first_of, joined

# Decimals, dates and free text are different in every row by chance.
_NO_KEY = re.compile(r"[+-]?(\d+[.,]\d*|[.,]\d+|\d+(\.\d*)?[eE][+-]?\d+)|\d{4}-\d{2}-\d{2}.*|.*\s.*|.{65,}", re.DOTALL)
MOST_LISTED = 10


class Found(NamedTuple):
    """A row of a table: its number, and the identifier by which it was found."""

    row: int
    id_column: str | None = None
    value: str | None = None
    line: str | None = None  # of a text file

    def at(self, table: InputTable) -> Found:
        """The same, with its line in the file if the table is text."""
        return self._replace(line=table.line(self.row)) if table.form == "text" else self

    def place(self) -> str:
        """Such as "row 17, counted from 0 (line 19 of the file)"."""
        row = f"row {self.row}, counted from 0"
        if self.line is None:
            return row
        return f"{row} ({self.line})" if " of " in self.line else f"{row} ({self.line} of the file)"

    def in_words(self) -> str:
        """Such as "patient 041014: row 17, counted from 0"."""
        return self.place() if self.id_column is None else f"{self.id_column} {self.value}: {self.place()}"


def find_row(table: InputTable, row: int | None, value: str | None, id_column: str | None, model: Any) -> Found:
    """The row with this number, or with this value of the identifier; an error unless exactly one of them is given."""
    if value is None:
        if id_column is not None:
            raise MistakeError("--id-column names the column of --id; add --id VALUE.")
        if row is None:
            raise MistakeError("name the row to explain: --row NUMBER, or --id VALUE.")
        if row < 0:
            raise MistakeError(f"rows are counted from 0; got --row {row}.")
        return Found(row)
    if row is not None:
        raise MistakeError("--row and --id both name the row to explain; give one of them.")
    name = _identifier(table, model) if id_column is None else id_column
    require_columns([name], table.columns)
    return Found(_row_of(table, name, value), name, value)


def _row_of(table: InputTable, name: str, value: str) -> int:
    """The only row with this value, compared as written: 041014 is not 41014."""
    found, alike, at = [], "", 0
    for chunk in table.chunks(None, [name]):
        values = chunk[name].cast(pl.String)
        found += [at + place for place in (values == value).fill_null(False).arg_true().to_list()]
        if not alike:
            same = values.filter((values.str.strip_chars().str.strip_chars_start("0") == _bare(value)).fill_null(False))
            alike = same[0] if len(same) else ""
        at += chunk.height
    if len(found) == 1:
        return found[0]
    if found:
        rows = first_of([str(row) for row in found], MOST_LISTED)
        raise MistakeError(
            f"{len(found)} rows of {table.name} have the {name} {value!r}: rows {rows}, counted from 0; use --row."
        )
    hint = f"; did you mean {alike!r}?" if alike else "."
    raise MistakeError(f"no row of {table.name} has the {name} {value!r}{hint}")


def _bare(value: str) -> str:
    return value.strip().lstrip("0")


def _identifier(table: InputTable, model: Any) -> str:
    """The only column by which rows can be known; those that the model reads come last, those called as keys first."""
    read = {model.target_, *(column.name for column in model.columns_)}
    distinct = _distinct_columns(table)
    keys = [name for name, is_key in distinct.items() if is_key]
    for some in ([name for name in keys if name not in read], keys):
        candidates = [name for name in some if named_as_key(name)] or some
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            named = joined([repr(name) for name in candidates[:MOST_LISTED]])
            raise MistakeError(f"{named} look like identifiers; choose one by --id-column.")
    others = first_of([repr(name) for name in distinct], MOST_LISTED)
    what = f" Different in every row: {others}." if others else " No column has a different value in every row."
    raise MistakeError(f"no column looks like an identifier; name it by --id-column, or use --row.{what}")


def _distinct_columns(table: InputTable) -> dict[str, bool]:
    """The columns with a different value in every row, and whether the values can be keys."""
    left = list(table.columns)
    seen: dict[str, set[str]] = {name: set() for name in left}
    can_be_key = dict.fromkeys(left, True)
    for chunk in table.chunks(None, left):
        for name in left:
            values = chunk[name].cast(pl.String)
            if values.null_count() or values.n_unique() < len(values) or not seen[name].isdisjoint(values):
                del seen[name]
                continue
            can_be_key[name] &= _are_keys(chunk[name].dtype, values)
            seen[name].update(values)
        left = [name for name in left if name in seen]
        if not left:
            break
    return {name: can_be_key[name] for name in left}


def _are_keys(dtype: Any, values: Any) -> bool:
    if dtype.is_float() or dtype.is_temporal() or dtype.is_decimal():
        return False
    return not all(_NO_KEY.fullmatch(value.strip()) for value in values.head(100))
