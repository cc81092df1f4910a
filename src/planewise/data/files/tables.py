"""Tables in files, opened once and read whole or a chunk of rows at a time."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import polars as pl

from planewise.data.columns import COLUMN_KINDS, Column, first_unread, require_columns, unread_value
from planewise.data.files.dates import ISO, DateForm
from planewise.data.files.dialect import Dialect, find_dialect
from planewise.data.files.lines import line_of_row, row_blocks, stray_quote
from planewise.data.files.numbers import NumberForm, looks_like_number
from planewise.data.files.others import Rows, open_rows
from planewise.data.files.reading import Reading, TableFileError
from planewise.data.files.sources import STANDARD_INPUT, TableFile, find_files
from planewise.data.files.values import (
    FoundColumn,
    Marks,
    described,
    find_kind,
    form_of_dates,
    form_of_numbers,
    read_values,
    trimmed,
)
from planewise.data.frames import named, refuse_patterns

CHUNK_ROWS = 65_536  # that are held in memory
TYPED = ("Parquet", "Arrow", "Arrow stream")  # whose columns have types that are taken as they are


class InputTable:
    r"""A table in one or several files.

    Parameters
    ----------
    names : sequence of str or path
        Files, or "-" for the standard input; all of one format.
    reading : Reading or None
        What is known of how the table is written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from planewise.data import InputTable
    >>> path = Path(tempfile.mkdtemp(), "homes.csv")
    >>> _ = path.write_text("town;rent\nUlm;812,50\nKöln;1.040,00\n", encoding="cp1252")
    >>> table = InputTable([path])
    >>> table.read()["rent"].to_list(), table.in_words()
    ([812.5, 1040.0], 'semicolon-separated, decimal comma, encoding cp1252')
    """

    def __init__(self, names: Sequence[str | os.PathLike[str]], reading: Reading | None = None) -> None:
        self.reading = reading or Reading()
        self.given = [os.fspath(name) for name in names]
        self.found: list[FoundColumn] = []  # set when the table is read
        self._named = [*self.reading.date_formats]  # columns that must be there
        self._forms: dict[str, FoundColumn] = {}  # how columns of a model are written here

    def remember(self, known: Mapping[str, Any] | None) -> None:
        """Take in what a model remembers of the table it was fitted on; call it before anything is read."""
        self.reading = self.reading.with_remembered(known)

    @cached_property
    def files(self) -> list[TableFile]:
        """The files, in order; all have the same format."""
        return find_files(self.given)

    @property
    def form(self) -> str:
        """The format of the files."""
        return self.files[0].form

    @property
    def name(self) -> str:
        """The table, for people."""
        names = [Path(each).name or each for each in self.given]
        first = "the standard input" if self.given[0] in STANDARD_INPUT else names[0]
        return first if len(names) == 1 else f"{first} and {len(names) - 1} more"

    @property
    def paths(self) -> list[Path]:
        """The files that can be read again, unlike the standard input."""
        return [file.path for file in self.files if file.content is None]

    @cached_property
    def dialects(self) -> list[Dialect]:
        """How each of the text files is written."""
        if self.form != "text":
            return []
        found = [find_dialect(file, self.reading) for file in self.files]
        sure = [place for place, each in enumerate(found) if each.decimal_found]
        other = next((place for place in sure if found[place].decimal != found[sure[0]].decimal), None)
        if other is not None:
            one, two = (f"{self.files[k].name!r} has a decimal {_MARKS[found[k].decimal]}" for k in (sure[0], other))
            raise TableFileError(f"{one}, but {two}: write both files in the same way, or read them one at a time.")
        return found

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns, those of the first file."""
        names = self.dialects[0].names if self.form == "text" else list(self._rows[0].schema())
        require_columns([name for name in self._named if name], names)
        return names

    @cached_property
    def _rows(self) -> list[Rows]:
        rows = [open_rows(file, self.reading) for file in self.files]
        for each in rows:
            refuse_patterns(each.schema(), repr(each.file.name), TableFileError)
        return rows

    def leave_out(self, names: Sequence[str]) -> None:
        """Read the table without some of its columns."""
        require_columns(list(names), self.columns)
        self.columns = [name for name in self.columns if name not in set(names)]

    def read_as_text(self, names: Sequence[str]) -> None:
        """Read some columns as text, such as codes that are written as numbers."""
        require_columns(list(names), self.columns)
        self.reading = replace(self.reading, categories=[*self.reading.categories, *names])

    def in_words(self) -> str:
        """How the files are written, if it is not the most usual way."""
        found = [each.note for each in self._rows] if self.form == "Excel" else [d.in_words() for d in self.dialects]
        different = dict.fromkeys(found)
        if len(different) < 2:
            return next(iter(different), "")
        return "; ".join(f"{Path(self.files[found.index(each)].name).name}: {each or 'plain'}" for each in different)

    def data(self) -> dict[str, Any]:
        """How the table was read, for JSON."""
        first = self.dialects[0] if self.dialects else None
        return {
            "name": self.name,
            "n_files": len(self.files),
            "format": self.form,
            "separator": first and first.separator,
            "decimal": first and first.decimal,
            "encoding": first and first.encoding.removesuffix("-sig"),
            "has_header": first and first.has_header,
            "header_line": first and first.header_line,
            "in_words": self.in_words() or None,
        }

    def read(self) -> pl.DataFrame:
        """All rows; what each column holds follows from all its values, and is kept in `found`."""
        if self.form == "text":
            words = _all_of(self.files, [_words(*each) for each in zip(self.files, self.dialects, strict=True)])
        else:
            words = _all_of(self.files, [rows.read() for rows in self._rows])
        if words.height == 0:
            raise TableFileError(f"{self.given[0]!r} has no rows.")
        for name in set(words.columns) - set(self.columns):
            words.drop_in_place(name)
        return self.typed(words)

    def typed(self, words: pl.DataFrame) -> pl.DataFrame:
        """Rows in the types of their values, found in these rows; `words` is used up, so that memory can be freed."""
        if self.form in TYPED:
            self.found = [described(column, self.reading) for column in words.get_columns()]
            return self._with_categories(words)
        columns, self.found = [], []
        for name in words.columns:
            column = words.drop_in_place(name)
            if column.dtype != pl.String:
                self.found.append(described(column, self.reading))
                columns.append(column)
                continue
            text = trimmed(column, self.reading.missing_words)
            found = find_kind(text, self.reading, self._marks, self.line)
            self.found.append(found)
            columns.append(read_values(text, found))
        self._forms = {each.name: replace(each, whole=False) for each in self.found if each.form is not None}
        return self._with_categories(_frame(columns))

    def _with_categories(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with whole numbers as text where they were asked for as categories."""
        names = [name for name in self.reading.categories if name in table.columns and table[name].dtype.is_integer()]
        return table.with_columns(named(names).cast(pl.String)) if names else table

    @property
    def _marks(self) -> Marks:
        """What is known of the decimal mark of the whole table."""
        if not self.dialects:
            return Marks(self.reading.decimal or ".")
        first = next((each for each in self.dialects if each.decimal_found), self.dialects[0])
        return Marks(first.decimal, first.decimal_found, first.separator == ";")

    def remembered(self) -> dict[str, Any]:
        """What a model fitted on the table should remember to read others of its kind."""
        formats = {f.name: f.form.format for f in self.found if isinstance(f.form, DateForm) and f.form.format != ISO}
        marks = {f.name: f.form.decimal for f in self.found if isinstance(f.form, NumberForm) and f.form.decimal != "."}
        known = replace(
            self.reading,
            date_formats={**{k: v for k, v in self.reading.date_formats.items() if k}, **formats},
            decimals=marks,
        )
        return known.remembered()

    def line(self, row: int) -> str:
        """Where a row is, counted from 0 over all files: its line in a text file, else its number."""
        if self.form == "Excel" and len(self.files) == 1:
            return f"row {(self._rows[0].places or [])[row]} of the sheet"
        if self.form != "text":
            return f"row {row}, counted from 0"
        for file, dialect in zip(self.files, self.dialects, strict=True):
            if len(self.files) == 1:
                return f"line {line_of_row(file, dialect, row)}"
            n_rows = _words(file, dialect).height
            if row < n_rows:
                return f"line {line_of_row(file, dialect, row)} of {file.name!r}"
            row -= n_rows
        raise IndexError(row)

    def row(self, number: int, columns: list[Column] | None, names: list[str]) -> pl.DataFrame:
        """One row of the table, counted from 0."""
        at = 0
        for chunk in self.chunks(columns, names):
            if number < at + chunk.height:
                return chunk[number - at : number - at + 1]
            at += chunk.height
        raise TableFileError(f"{self.given[0]!r} has {at} rows, counted from 0: there is no row {number}.")

    def chunks(self, columns: list[Column] | None, names: list[str]) -> Iterator[pl.DataFrame]:
        """The named columns, a chunk of rows at a time, so that memory does not depend on the number of rows.

        `columns` are those that a model reads, with their kinds; other names of a text file are read as text. A table
        without rows gives one chunk without rows.
        """
        for read, _ in self.chunks_and_kept(columns, names, []):
            yield read

    def chunks_and_kept(
        self, columns: list[Column] | None, names: list[str], kept: list[str]
    ) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """As `chunks`, each with some columns of the same rows as they are written."""
        every = list(dict.fromkeys([*names, *kept]))
        require_columns(every, self.columns)
        row = 0
        for chunk in self._raw_chunks(every):
            if chunk.height:
                yield self._as_kinds(chunk.select(named(names)), columns or [], row), chunk.select(named(kept))
                row += chunk.height
        if not row:
            nothing = self._nothing(every)
            yield self._as_kinds(nothing.select(named(names)), columns or [], 0), nothing.select(named(kept))

    def _raw_chunks(self, names: list[str]) -> Iterator[pl.DataFrame]:
        for number, file in enumerate(self.files):
            if self.form == "text":
                dialect = self.dialects[number]
                require_columns(names, dialect.names)
                for block in row_blocks(file, dialect):
                    yield _parse(file, block, dialect, names)
            else:
                require_columns(names, list(self._rows[number].schema()))
                yield from self._rows[number].chunks(names, CHUNK_ROWS)

    def _nothing(self, names: list[str]) -> pl.DataFrame:
        if self.form == "text":
            return pl.DataFrame({name: [] for name in names}, schema=dict.fromkeys(names, pl.String))
        known = self._rows[0].schema()
        return pl.DataFrame(schema={name: known[name] for name in names})

    def _as_kinds(self, chunk: pl.DataFrame, columns: list[Column], row: int) -> pl.DataFrame:
        """A chunk with the columns of a model read by their kinds."""
        if self.form in TYPED:
            return self._with_categories(chunk)
        kinds, read = {column.name: column for column in columns}, []
        for values in chunk.get_columns():
            if values.dtype != pl.String:
                read.append(values)
                continue
            words = trimmed(values, self.reading.missing_words)
            column = kinds.get(values.name)
            read.append(words if column is None else self._as_kind(words, column, row))
        return self._with_categories(_frame(read))

    def _as_kind(self, words: pl.Series, column: Column, row: int) -> pl.Series:
        if column.kind not in ("number", "date"):
            if COLUMN_KINDS[column.kind].written and (at := first_unread(words, column.kind)) is not None:
                raise self._unread(words, at, row, column)
            return words
        words = words.set(words.is_in(self.reading.missing_numbers).fill_null(False), None)
        found = self._form_of(words, column, row)
        values = read_values(words, found)
        bad = values.is_null() & words.is_not_null()
        if bad.any():
            at = bad.arg_max()
            assert at is not None
            raise self._unread(words, at, row, column)
        return values

    def _form_of(self, words: pl.Series, column: Column, row: int) -> FoundColumn:
        """How a column of a model is written in this table: found in the first chunk that has values."""
        if column.name in self._forms:
            return self._forms[column.name]
        if words.null_count() == len(words):
            return FoundColumn(column.name, column.kind, NumberForm() if column.kind == "number" else DateForm(ISO))
        form: NumberForm | DateForm

        def line_of(place: int) -> str:
            return self.line(row + place)

        if column.kind == "number":
            form = form_of_numbers(words, self.reading, self._marks, line_of)
        else:
            given = self.reading.date_formats.get(column.name) or self.reading.date_formats.get("")
            form = form_of_dates(words, self.reading, line_of) or DateForm(given or ISO)
        self._forms[column.name] = FoundColumn(column.name, column.kind, form)
        return self._forms[column.name]

    def _unread(self, words: pl.Series, at: int, row: int, column: Column) -> ValueError:
        remedy = f"; --missing {quote(words[at])} reads it as missing"
        if looks_like_number(words[at : at + 1]).all():
            remedy = "; is it written in another way than the values before it?"
        where = self.line(row + at)
        return unread_value(
            column.name,
            words[at],
            row + at,
            column.kind,
            "" if where.startswith("row") and self.form != "Excel" else where,
            remedy if column.kind in ("number", "date") else "",
        )


def _frame(columns: list[pl.Series]) -> pl.DataFrame:
    """The columns as a table; one of them may have an empty name."""
    return pl.DataFrame({column.name: column for column in columns})


def _words(file: TableFile, dialect: Dialect) -> pl.DataFrame:
    parts = [_parse(file, block, dialect, None) for block in row_blocks(file, dialect)]
    return joined(parts) if parts else _no_rows(dialect)


def _no_rows(dialect: Dialect) -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys(dialect.names, pl.String))


def _parse(file: TableFile, block: bytes, dialect: Dialect, names: list[str] | None) -> pl.DataFrame:
    """The fields of whole rows as text."""
    try:
        table = pl.read_csv(
            codecs.BOM_UTF8 + block,  # polars drops one at the start, which may be a value's
            separator=dialect.separator,
            quote_char=dialect.quote,
            has_header=False,
            new_columns=dialect.names,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError as error:
        line = stray_quote(file, dialect)
        why = f"line {line} has a quote inside a field: double it, or remove it" if line else _first_line(error)
        raise TableFileError(f"{file.name!r} cannot be read as a table: {why}.") from error
    return table if names is None else table.select(named(names))


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _all_of(files: list[TableFile], parts: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of files with the same columns, in the order of the first one."""
    names = parts[0].columns
    for file, part in zip(files, parts, strict=True):
        odd = set(names) ^ set(part.columns)
        if odd:
            name = min(odd)
            one, other = (files[0], file) if name in names else (file, files[0])
            raise TableFileError(f"{one.name!r} has a column {name!r}, which {other.name!r} does not have.")
    return joined([part.select(named(names)) for part in parts])


def joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Tables with the same columns as one; whole numbers and floats become floats."""
    return parts[0] if len(parts) == 1 else pl.concat(parts, how="vertical_relaxed")


_MARKS = {",": "comma", ".": "point"}
