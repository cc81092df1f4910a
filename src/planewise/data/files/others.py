"""Tables that are not text with separators: Parquet, Arrow, JSON lines and Excel."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time
from typing import Any

import polars as pl

from planewise._optional import needs
from planewise.data.files.dialect import header_place, is_header, one_name_each
from planewise.data.files.reading import Reading, TableFileError
from planewise.data.files.sources import TableFile, read_some
from planewise.data.frames import named

JSON_BYTES = 16 << 20
_PLACE = "planewise: place"


@dataclass(frozen=True)
class Rows:
    """The rows of a file, to be read in parts; those of Parquet and Arrow files stay on the disk."""

    file: TableFile
    frame: pl.LazyFrame | pl.DataFrame
    note: str = ""
    places: list[int] | None = None  # of the rows in a sheet, counted from 1

    def schema(self) -> dict[str, Any]:
        """Names and types of the columns."""
        with _errors_of(self.file):
            return dict(self.frame.lazy().collect_schema())

    def read(self) -> pl.DataFrame:
        """All rows."""
        with _errors_of(self.file):
            return self.frame.lazy().collect()

    def chunks(self, names: list[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """The named columns, so many rows at a time."""
        at = 0
        while True:
            with _errors_of(self.file):
                chunk = self.frame.lazy().select(named(names)).slice(at, n_rows).collect()
            if chunk.height == 0:
                return
            at += chunk.height
            yield chunk


def open_rows(file: TableFile, reading: Reading) -> Rows:
    """The rows of a file that is not text with separators."""
    with _errors_of(file):
        if file.form == "Parquet":
            return Rows(file, pl.scan_parquet(file.source, glob=False))
        if file.form == "Arrow":
            return Rows(file, pl.scan_ipc(file.source))
        if file.form == "Arrow stream":
            return Rows(file, pl.read_ipc_stream(file.source))
        if file.form == "Excel":
            return _read_excel(file, reading.sheet, reading.header)
        return Rows(file, _read_json(file))


@contextlib.contextmanager
def _errors_of(file: TableFile) -> Iterator[None]:
    """Errors of polars in words; on damaged files it may also panic."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # it says itself what is wrong with the file
        raise _cannot(file, error) from error


def _cannot(file: TableFile, error: BaseException) -> TableFileError:
    words = str(error).strip().splitlines()
    return TableFileError(f"{file.name!r} cannot be read as {file.form}: {words[0] if words else type(error).__name__}")


def _read_json(file: TableFile) -> pl.DataFrame:
    """JSON lines, or one JSON array of objects."""
    parts = []
    with contextlib.closing(file.open()) as stream:
        while block := read_some(file, stream, JSON_BYTES):
            parts.append(block)
    text = b"".join(parts).removeprefix(b"\xef\xbb\xbf")
    if not text.strip():
        raise TableFileError(f"{file.name!r} is empty.")
    try:
        if text.lstrip().startswith(b"["):
            return pl.read_json(text, infer_schema_length=None)
        return pl.read_ndjson(text, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _name_line(file, text)
        raise


def _name_line(file: TableFile, text: bytes) -> None:
    """An error that names the first line that is not a JSON object, if there is one."""
    if text.lstrip().startswith(b"["):
        return
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise TableFileError(f"{file.name!r}: line {number} is not JSON: {error}.") from None
        if not isinstance(value, dict):
            raise TableFileError(f'{file.name!r}: line {number} is not a JSON object such as {{"age": 41}}.')


def _read_excel(file: TableFile, sheet: str | None, header: bool | None) -> Rows:
    """A sheet of a workbook; titles above its header are skipped."""
    try:
        import fastexcel
    except ImportError:
        raise ModuleNotFoundError(needs("Reading a workbook", "fastexcel", "excel")) from None
    try:
        book = fastexcel.read_excel(file.source)
        names = book.sheet_names
        if not names:
            raise TableFileError(f"{file.name!r} has no sheet.")
        if sheet is not None and sheet not in names:
            raise TableFileError(f"{file.name!r} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}.")
        chosen = names[0] if sheet is None else sheet
        first = book.load_sheet(chosen, header_row=None, n_rows=50, dtypes="string").to_polars()
        start, has_header = _excel_header(file, first, header)
        if has_header:
            one_name_each(file, ["" if cell is None else str(cell) for cell in first.row(start)])
        rows = book.load_sheet(chosen, header_row=start if has_header else None, skip_rows=0 if has_header else start)
    except fastexcel.FastExcelError as error:
        raise _cannot(file, error) from error
    table = rows.to_polars()
    if not has_header:
        table.columns = [f"column_{number}" for number in range(1, table.width + 1)]
    notes = [f"sheet {chosen!r} of {len(names)}"] if len(names) > 1 else []
    notes += [f"{start} row{'s' if start > 1 else ''} above the header skipped"] if start else []
    kept = _not_empty(table.with_row_index(_PLACE, offset=start + (2 if has_header else 1)))
    return Rows(file, _with_days(kept.drop(_PLACE)), ", ".join(notes), kept[_PLACE].to_list())


def _excel_header(file: TableFile, first: pl.DataFrame, header: bool | None) -> tuple[int, bool]:
    """The place of the header among the first rows, and whether there is one."""
    cells = [(k + 1, ["" if v is None else str(v) for v in row]) for k, row in enumerate(first.iter_rows())]
    if not cells:
        raise TableFileError(f"{file.name!r} is empty.")
    start = header_place(cells)
    return start, is_header(cells[start:]) if header is None else header


def _with_days(table: pl.DataFrame) -> pl.DataFrame:
    """Moments that are all at midnight as days, which workbooks do not tell from moments."""
    names = [name for name, kind in table.schema.items() if kind == pl.Datetime]
    days = [name for name in names if (table[name].dt.time() == time()).all()]
    return table.with_columns(named(days).cast(pl.Date)) if days else table


def _not_empty(table: pl.DataFrame) -> pl.DataFrame:
    """Without the empty rows that workbooks often end with."""
    return table.filter(~pl.all_horizontal(pl.exclude(_PLACE).is_null())) if table.width > 1 else table
