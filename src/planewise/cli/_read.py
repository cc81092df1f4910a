"""Tables from files: CSV, TSV, Parquet and Arrow; whole, or a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planewise.cli._lines import open_table
from planewise.cli._mistakes import MistakeError
from planewise.cli._polars import pl
from planewise.table._columns import IN_WORDS, Column, require_columns
from planewise.table._words import first_unread, with_dates

MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "?"]
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
CHUNK_ROWS = 65_536


def read_table(path: Path) -> pl.DataFrame:
    """All rows; the types of text files are told by all their values."""
    form = _form(path)
    table = _read_text(path) if form == "text" else _read_binary(path, form)
    if table.height == 0:
        raise MistakeError(f"{str(path)!r} has no rows.")
    return table


def _read_text(path: Path) -> pl.DataFrame:
    separator = SEPARATORS[path.suffix.lower()]
    header, blocks = open_table(path, separator)
    whole = b"".join([header.text, *blocks])
    try:
        table = pl.read_csv(whole, separator=separator, null_values=MISSING, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        raise MistakeError(f"{str(path)!r} cannot be read as a table: {_first_line(error)}") from error
    return with_dates(table)


def read_all(path: Path, columns: list[Column]) -> pl.DataFrame:
    """All rows and columns; those that a model reads by their kinds, in a text file the others as they are written."""
    form = _form(path)
    if form == "text":
        names = open_table(path, SEPARATORS[path.suffix.lower()])[0].names
    else:
        names = (pl.scan_parquet if form == "parquet" else pl.scan_ipc)(path).collect_schema().names()
    require_columns([column.name for column in columns], names)
    parts = list(chunks(path, columns, names))
    if not parts:
        raise MistakeError(f"{str(path)!r} has no rows.")
    return pl.concat(parts)


def read_row(path: Path, row: int, columns: list[Column] | None, names: list[str]) -> pl.DataFrame:
    """One row of the table, counted from 0."""
    at = 0
    for chunk in chunks(path, columns, names):
        if row < at + chunk.height:
            return chunk[row - at : row - at + 1]
        at += chunk.height
    raise MistakeError(f"{str(path)!r} has {at} rows, counted from 0; there is no row {row}.")


def chunks(path: Path, columns: list[Column] | None, names: list[str]) -> Iterator[pl.DataFrame]:
    """The named columns, a piece of the rows at a time: memory does not depend on how many there are.

    `columns` are those a model reads, with their kinds; other names are read as they are.
    """
    form = _form(path)
    if form == "text":
        yield from _text_chunks(path, columns or [], names)
        return
    lazy = (pl.scan_parquet if form == "parquet" else pl.scan_ipc)(path)
    try:
        require_columns(names, lazy.collect_schema().names())
    except pl.exceptions.ComputeError as error:
        raise MistakeError(f"{str(path)!r} cannot be read as {form}: {_first_line(error)}") from error
    at = 0
    while True:
        chunk = lazy.select(names).slice(at, CHUNK_ROWS).collect()
        if chunk.height == 0:
            return
        at += chunk.height
        yield chunk


def _text_chunks(path: Path, columns: list[Column], names: list[str]) -> Iterator[pl.DataFrame]:
    separator = SEPARATORS[path.suffix.lower()]
    as_text = {c.name: pl.Float64 if c.kind == "number" else pl.String for c in columns}
    types = {name: as_text.get(name, pl.String) for name in names}
    header, blocks = open_table(path, separator)
    require_columns(names, header.names)
    row = 0
    for block in blocks:
        try:
            chunk = pl.read_csv(
                header.text + block, separator=separator, null_values=MISSING, columns=names, schema_overrides=types
            )
        except pl.exceptions.PolarsError as error:
            _explain_text(header.text + block, separator, types, row)
            raise MistakeError(f"{str(path)!r} cannot be read as a table: {_first_line(error)}") from error
        _require_words(chunk, columns, row)
        row += chunk.height
        yield chunk.select(names)


def _require_words(chunk: pl.DataFrame, columns: list[Column], row: int) -> None:
    """A mistake that names the first value that is no truth value, or no date, where the model needs one."""
    for column in columns:
        if column.kind in ("truth", "date"):
            at = first_unread(chunk[column.name], column.kind)
            if at is not None:
                raise MistakeError(
                    f"Column {column.name!r} holds the text {chunk[column.name][at]!r} in row {row + at}, but held "
                    f"{IN_WORDS[column.kind]} when the model was fitted."
                )


def _explain_text(block: bytes, separator: str, types: dict[str, Any], row: int) -> None:
    """A mistake that names the first value that is no number where the model needs one, if that is the reason."""
    try:
        words = pl.read_csv(block, separator=separator, null_values=MISSING, columns=list(types), infer_schema=False)
    except pl.exceptions.PolarsError:
        return
    for name, kind in types.items():
        if kind == pl.Float64:
            bad = words[name].is_not_null() & words[name].str.strip_chars().cast(pl.Float64, strict=False).is_null()
            if bad.any():
                at = bad.arg_max()
                assert at is not None
                raise MistakeError(
                    f"Column {name!r} holds the text {words[name][at]!r} in row {row + at}, but held numbers when the "
                    "model was fitted."
                )


def _read_binary(path: Path, form: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(path) if form == "parquet" else pl.read_ipc(path)
    except pl.exceptions.PolarsError as error:
        raise MistakeError(f"{str(path)!r} cannot be read as {form}: {_first_line(error)}") from error


def _form(path: Path) -> str:
    ending = path.suffix.lower()
    if not path.exists():
        raise FileNotFoundError(2, "", str(path))
    if path.is_dir():
        raise IsADirectoryError(21, "", str(path))
    if ending in SEPARATORS:
        return "text"
    if ending in PARQUET:
        return "parquet"
    if ending in ARROW:
        return "arrow"
    known = ", ".join([*SEPARATORS, *PARQUET, *ARROW])
    raise MistakeError(f"{str(path)!r} ends in {ending or 'nothing'!r}; tables are told by these endings: {known}.")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
