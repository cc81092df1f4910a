"""The files that commands read and write: tables with their options, models, and files that must not be overwritten."""

from __future__ import annotations

import functools
import inspect
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import polars as pl
import typer

from planewise._atomic import replacing
from planewise.cli.output import is_stdout, note, print_data
from planewise.data.files.reading import Reading
from planewise.data.files.tables import InputTable
from planewise.explain.describe import WITHOUT_OFFSET, fitted_with_offset
from planewise.store.file import load
from planewise.table.model import TableModel, as_table_model

# Importing polars replaces the handler of Ctrl-C by one that raises some interrupts twice. Behind nohup, it is ignored.
_is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _is_heard and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

WRITTEN = (".csv", ".tsv", ".parquet")
ROW_GROUP = 65_536  # rows
TABLE_HELP = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel file, also compressed (.gz, .zst); several files; - is the standard "
    "input."
)
PANEL = "Table format (detected by default)"


def _option(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=PANEL)


def _reading(
    separator: Annotated[str | None, _option("Character between fields, or tab, comma, semicolon, bar.")] = None,
    decimal: Annotated[str | None, _option("Decimal mark: . or ,")] = None,
    encoding: Annotated[str | None, _option("Encoding, such as utf-8, utf-16 or cp1252.")] = None,
    missing: Annotated[list[str] | None, _option("Word that means a missing value; may be repeated.")] = None,
    not_missing: Annotated[
        list[str] | None, _option("Word that does not mean a missing value, such as NA; may be repeated.")
    ] = None,
    date_format: Annotated[
        list[str] | None,
        _option("Format of dates, such as %d.%m.%Y, or of those of one column: born=%d.%m.%Y; may be repeated."),
    ] = None,
    header: Annotated[
        bool | None, _option("Whether the first row holds the names of the columns.", "--header/--no-header")
    ] = None,
    comment: Annotated[str | None, _option("Skip lines that start with this, such as #.")] = None,
    sheet: Annotated[str | None, _option("Sheet of an Excel file; by default the first.")] = None,
) -> Reading:
    formats = _date_formats(date_format or [])
    return Reading(separator, decimal, encoding, missing or (), not_missing or (), formats, header, comment, sheet)


def _date_formats(options: list[str]) -> dict[str, str]:
    """Return formats by column; "" stands for all columns."""
    formats = {}
    for option in options:
        name, equals, form = option.partition("=")
        name, form = (name, form) if equals and "%" not in name else ("", option)
        if "%" not in form:
            raise ValueError(f"--date-format takes a format such as %d.%m.%Y, or COLUMN=%d.%m.%Y; got {option!r}.")
        formats[name] = form
    return formats


OPTIONS = inspect.signature(_reading, eval_str=True).parameters


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command whose parameter ``table`` is an InputTable the argument TABLE and the options of reading."""

    @functools.wraps(command)
    def run(**options: Any) -> None:
        reading = _reading(**{name: options.pop(name) for name in OPTIONS})
        command(table=InputTable(options.pop("table"), reading), **options)

    hints = get_type_hints(command, include_extras=True)
    hints["table"] = Annotated[list[str], typer.Argument(help=TABLE_HELP, show_default=False)]
    own = [each.replace(annotation=hints[name]) for name, each in inspect.signature(command).parameters.items()]
    run.__signature__ = inspect.Signature([*own, *OPTIONS.values()])  # type: ignore[attr-defined]
    run.__annotations__ = hints | {name: each.annotation for name, each in OPTIONS.items()}
    return run


def load_table_model(path: Path, table: InputTable) -> TableModel:
    """Load what `planewise fit` wrote, or an estimator that was fitted on a data frame, to use it on a table.

    The table is then read as the model remembers the one on which it was fitted.
    """
    model = as_table_model(load(path), named=repr(str(path)))
    if fitted_with_offset(model.estimator_):  # which a command cannot be given
        note(f"the model was {WITHOUT_OFFSET}.")
    table.remember((model.record_ or {}).get("reading"))
    return model


def refuse_existing(path: Path, force: bool, *inputs: Path) -> None:
    """Raise if a file to write is an input, exists without --force, or cannot be written."""
    if is_stdout(path):
        return
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder; give the name of a file.")
    if path.exists() and any(each.exists() and path.samefile(each) for each in inputs):
        raise ValueError(f"{str(path)!r} is an input of this command and cannot be replaced; give another name.")
    if path.exists() and not force:
        raise ValueError(f"{str(path)!r} already exists; use --force to replace it.")
    if not path.parent.exists():
        raise ValueError(f"the folder {str(path.parent)!r} for {path.name!r} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"permission denied: the folder {str(path.parent)!r} is not writable.")


def check_ending(path: Path) -> None:
    """Raise unless this kind of file can be written."""
    if path.suffix.lower() not in WRITTEN:
        raise ValueError(f"{str(path)!r} must end in one of {', '.join(WRITTEN)}.")


def write_chunks(path: Path | None, chunks: Iterator[pl.DataFrame]) -> int:
    """Write all chunks to a file, or print them as CSV, and return their number of rows."""
    n_rows = 0

    def counted() -> Iterator[pl.DataFrame]:
        nonlocal n_rows
        for chunk in chunks:
            n_rows += chunk.height
            yield chunk

    if path is not None and path.suffix.lower() == ".parquet":
        _write_parquet(path, counted())
        return n_rows
    separator = "\t" if path is not None and path.suffix.lower() == ".tsv" else ","
    texts = (chunk.write_csv(include_header=number == 0, separator=separator) for number, chunk in enumerate(counted()))
    if path is None:
        for text in texts:
            print_data(text)
    else:
        with replacing(path) as file:
            file.writelines(text.encode() for text in texts)
    return n_rows


def _write_parquet(path: Path, chunks: Iterator[pl.DataFrame]) -> None:
    """Write one file per chunk and join them, since polars cannot append to a file.

    It could fetch the chunks from Python while it writes, but its threads may then call Python after a Ctrl-C has
    ended it, which aborts the program.
    """
    with replacing(path) as file, tempfile.TemporaryDirectory(dir=path.parent, prefix=".planewise-") as folder:
        parts = []
        for number, chunk in enumerate(chunks):
            parts.append(Path(folder, f"{number}.parquet"))
            chunk.write_parquet(parts[-1], compression="lz4")
        pl.scan_parquet(parts, glob=False).sink_parquet(file, row_group_size=ROW_GROUP)
