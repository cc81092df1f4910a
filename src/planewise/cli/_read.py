"""Tables from files: CSV, TSV, Parquet and Arrow; whole, or a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from planewise.cli._mistakes import MistakeError
from planewise.table._columns import Column, require_columns

MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "?"]
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
CHUNK_ROWS = 65_536
CHUNK_BYTES = 16 << 20
LONGEST_ROW = 256 << 20


def read_table(path: Path) -> pl.DataFrame:
    """All rows; the types of text files are told by all their values."""
    form = _form(path)
    if form == "text":
        try:
            table = pl.read_csv(
                path, separator=SEPARATORS[path.suffix.lower()], null_values=MISSING, infer_schema_length=None
            )
        except pl.exceptions.NoDataError:
            raise MistakeError(f"{str(path)!r} is empty.") from None
        except pl.exceptions.ComputeError as error:
            raise MistakeError(f"{str(path)!r} cannot be read as a table: {_first_line(error)}") from error
    else:
        table = _read_binary(path, form)
    if table.height == 0:
        raise MistakeError(f"{str(path)!r} has no rows.")
    return table


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
    blocks = _whole_rows(path)
    header = next(blocks, None)
    if header is None:
        raise MistakeError(f"{str(path)!r} is empty.")
    require_columns(names, pl.read_csv(header, separator=separator, n_rows=0).columns)
    row = 0
    for block in blocks:
        try:
            chunk = pl.read_csv(
                header + block, separator=separator, null_values=MISSING, columns=names, schema_overrides=types
            )
        except pl.exceptions.PolarsError as error:
            _explain_text(header + block, separator, types, row)
            raise MistakeError(f"{str(path)!r} cannot be read as a table: {_first_line(error)}") from error
        row += chunk.height
        yield chunk.select(names)


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


def _whole_rows(path: Path) -> Iterator[bytes]:
    """The header line, then blocks that end at the end of a row; line breaks inside quotes end no row."""
    left = b""
    with path.open("rb") as file:
        header = file.readline()
        if not header.strip():
            return
        yield header if header.endswith(b"\n") else header + b"\n"
        while block := file.read(CHUNK_BYTES):
            left += block
            cut = _end_of_rows(left)
            if cut:
                yield left[:cut]
                left = left[cut:]
            elif len(left) > LONGEST_ROW:
                raise MistakeError(
                    f"{str(path)!r} has a row of more than {LONGEST_ROW >> 20} MiB: is a quote not closed?"
                )
    if left.strip():
        yield left


def _end_of_rows(block: bytes) -> int:
    """Where the last whole row ends: after a line break with an even number of quotes before it."""
    odd = block.count(b'"') % 2
    end = len(block)
    while (at := block.rfind(b"\n", 0, end)) >= 0:
        odd = (odd + block.count(b'"', at, end)) % 2
        if not odd:
            return at + 1
        end = at
    return 0


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
