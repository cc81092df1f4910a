"""Tables from and to files, one or several: CSV, TSV, Parquet and Arrow; whole, or a chunk of rows at a time.

polars sets a handler of Ctrl-C when it is imported. It raises some interrupts twice, so that the second breaks into the
handling of the first; and where polars calls back into Python, it drops what is raised meanwhile. So the commands set
their own handler, and long work asks from time to time whether there was an interrupt (``check_interrupted``).
"""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from glob import has_magic
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

from planewise._atomic import replacing
from planewise.cli._lines import open_table
from planewise.cli._mistakes import MistakeError
from planewise.io import load
from planewise.parts import find_files
from planewise.table import (
    COLUMN_KINDS,
    Column,
    TableModel,
    as_table_model,
    first_unread,
    require_columns,
    unread_value,
    with_dates,
)

MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "?"]
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
ENDINGS = (*SEPARATORS, *PARQUET, *ARROW)
WRITTEN = (".csv", ".tsv", ".parquet")
CHUNK_ROWS = 65_536  # that are held in memory

_interrupted = threading.Event()


def check_interrupted() -> None:
    """Raise an interrupt that polars dropped."""
    if _interrupted.is_set():
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    raise KeyboardInterrupt


_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # and not ignored, as it is behind nohup
if _heard and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, _interrupt)


def load_table_model(path: Path) -> TableModel:
    """What `planewise fit` wrote, or a saved estimator that was fitted on a data frame."""
    return as_table_model(load(path), named=repr(str(path)))


def table_files(path: Path) -> list[Path]:
    """The files of a table: the file itself, all tables in a folder, or those that match a pattern."""
    if path.is_file():
        return [path]
    if not path.is_dir() and not has_magic(str(path)):
        raise FileNotFoundError(2, "", str(path))
    try:
        found = find_files(path, ENDINGS)
    except FileNotFoundError as error:
        raise MistakeError(str(error)) from None
    forms = {_form(file) for file in found}
    if len(forms) > 1:
        raise MistakeError(f"{str(path)!r} means files of different formats: {' and '.join(sorted(forms))}.")
    return found


def read_table(path: Path) -> pl.DataFrame:
    """All rows; the types of the columns of a text file follow from all their values."""
    files = table_files(path)
    table = _all_of(files, [_read_file(file) for file in files])
    if table.height == 0:
        raise MistakeError(f"{str(path)!r} has no rows.")
    return table


def _read_file(path: Path) -> pl.DataFrame:
    form = _form(path)
    return _read_text(path) if form == "text" else _read_binary(path, form)


def _all_of(files: list[Path], parts: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of files with the same columns, in the order of the first one."""
    names = parts[0].columns
    for file, part in zip(files, parts, strict=True):
        odd = set(names) ^ set(part.columns)
        if odd:
            name = min(odd)
            one, other = (files[0], file) if name in names else (file, files[0])
            raise MistakeError(f"{str(one)!r} has a column {name!r}, which {str(other)!r} does not have.")
    return joined([part.select(names) for part in parts])


def joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Tables with the same columns as one; whole numbers and floats become floats."""
    return parts[0] if len(parts) == 1 else pl.concat(parts, how="vertical_relaxed")


def column_names(path: Path) -> list[str]:
    """The names of the columns of a table."""
    file = table_files(path)[0]
    form = _form(file)
    if form == "text":
        return open_table(file, SEPARATORS[file.suffix.lower()])[0].names
    return schema(file).names()


def schema(path: Path) -> pl.Schema:
    """Names and types of the columns of a Parquet or Arrow file."""
    try:
        return scan(path).collect_schema()
    except pl.exceptions.PolarsError as error:
        raise MistakeError(f"{str(path)!r} cannot be read as {_form(path)}: {_first_line(error)}") from error


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
    """All rows and columns: those of a model by their kinds, the others of a text file as text."""
    names = column_names(path)
    require_columns([column.name for column in columns], names)
    parts = list(chunks(path, columns, names))
    if not parts:
        raise MistakeError(f"{str(path)!r} has no rows.")
    return joined(parts)


def read_row(path: Path, row: int, columns: list[Column] | None, names: list[str]) -> pl.DataFrame:
    """One row of the table, counted from 0."""
    at = 0
    for chunk in chunks(path, columns, names):
        if row < at + chunk.height:
            return chunk[row - at : row - at + 1]
        at += chunk.height
    raise MistakeError(f"{str(path)!r} has {at} rows, counted from 0: there is no row {row}.")


def chunks(path: Path, columns: list[Column] | None, names: list[str]) -> Iterator[pl.DataFrame]:
    """The named columns, a chunk of rows at a time, so that memory does not depend on the number of rows.

    `columns` are those that a model reads, with their kinds; other names are read as they are.
    """
    for file in table_files(path):
        yield from _file_chunks(file, columns, names)


def _file_chunks(path: Path, columns: list[Column] | None, names: list[str]) -> Iterator[pl.DataFrame]:
    form = _form(path)
    if form == "text":
        yield from _text_chunks(path, columns or [], names)
        return
    lazy = scan(path)
    require_columns(names, schema(path).names())
    at = 0
    while True:
        chunk = lazy.select(names).slice(at, CHUNK_ROWS).collect()
        if chunk.height == 0:
            return
        at += chunk.height
        yield chunk


def scan(path: Path) -> pl.LazyFrame:
    """A Parquet or Arrow file, to be read in parts."""
    return pl.scan_parquet(path, glob=False) if _form(path) == "parquet" else pl.scan_ipc(path)


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
    """An error that names the first value that is not a boolean, or not a date, where the model needs one."""
    for column in columns:
        if COLUMN_KINDS[column.kind].written:
            at = first_unread(chunk[column.name], column.kind)
            if at is not None:
                raise unread_value(column.name, chunk[column.name][at], row + at, column.kind)


def _explain_text(block: bytes, separator: str, types: dict[str, Any], row: int) -> None:
    """An error that names the first value that is not a number where the model needs one, if that is the reason."""
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
                raise unread_value(name, words[name][at], row + at, "number")


def _read_binary(path: Path, form: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(path) if form == "parquet" else pl.read_ipc(path)
    except pl.exceptions.PolarsError as error:
        raise MistakeError(f"{str(path)!r} cannot be read as {form}: {_first_line(error)}") from error


def _form(path: Path) -> str:
    ending = path.suffix.lower()
    if not path.exists():
        raise FileNotFoundError(2, "", str(path))
    if ending in SEPARATORS:
        return "text"
    if ending in PARQUET:
        return "parquet"
    if ending in ARROW:
        return "arrow"
    known = ", ".join(ENDINGS)
    found = f"the ending {ending!r}" if ending else "no ending"
    raise MistakeError(f"{str(path)!r} has {found}; the files of tables end in one of {known}.")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def check_ending(path: Path) -> None:
    """An error unless this kind of file can be written."""
    if path.suffix.lower() not in WRITTEN:
        raise MistakeError(f"{str(path)!r} must end in one of {', '.join(WRITTEN)}.")


def write_chunks(path: Path, chunks: Iterator[pl.DataFrame]) -> None:
    """Write all chunks; an error on the way leaves the old file as it was."""
    if path.suffix.lower() == ".parquet":
        _write_parquet(path, chunks)
        return
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    with replacing(path) as file:
        for number, chunk in enumerate(chunks):
            chunk.write_csv(file, include_header=number == 0, separator=separator)


def print_chunks(chunks: Iterator[pl.DataFrame]) -> None:
    """CSV on the standard output."""
    for number, chunk in enumerate(chunks):
        sys.stdout.write(chunk.write_csv(include_header=number == 0))


def _write_parquet(path: Path, chunks: Iterator[pl.DataFrame]) -> None:
    """Write one file per chunk, then join them: polars cannot append to a file.

    It could fetch the chunks from Python while it writes, but its threads may then call Python after a Ctrl-C has
    ended it, which aborts the program.
    """
    with replacing(path) as file, tempfile.TemporaryDirectory(dir=path.parent, prefix=".planewise-") as folder:
        parts = []
        for number, chunk in enumerate(chunks):
            parts.append(Path(folder, f"{number}.parquet"))
            chunk.write_parquet(parts[-1], compression="lz4")
        pl.scan_parquet(parts, glob=False).sink_parquet(file, row_group_size=CHUNK_ROWS)
