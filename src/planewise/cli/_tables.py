"""Models from files and tables to files; and how interrupts are heard while polars works.

polars sets a handler of Ctrl-C when it is imported. It raises some interrupts twice, so that the second breaks into the
handling of the first; and where polars calls back into Python, it drops what is raised meanwhile. So the commands set
their own handler, and long work asks from time to time whether there was an interrupt (``check_interrupted``).
"""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

from planewise._atomic import replacing
from planewise.cli._mistakes import MistakeError
from planewise.cli._signals import interrupted as _interrupted
from planewise.cli._streams import print_bytes
from planewise.io import load
from planewise.table import TableModel, as_table_model

WRITTEN = (".csv", ".tsv", ".parquet")
ROW_GROUP = 65_536  # rows


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


def remembered_by(model: TableModel) -> Any:
    """What the model remembers of how the table was written on which it was fitted."""
    return (getattr(model, "record_", None) or {}).get("reading")


def check_ending(path: Path) -> None:
    """An error unless this kind of file can be written."""
    if path.suffix.lower() not in WRITTEN:
        raise MistakeError(f"{str(path)!r} must end in one of {', '.join(WRITTEN)}.")


def write_chunks(path: Path, chunks: Iterator[pl.DataFrame]) -> None:
    """Write all chunks; an error leaves the old file as it was."""
    if path.suffix.lower() == ".parquet":
        _write_parquet(path, chunks)
        return
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    with replacing(path) as file:
        for number, chunk in enumerate(chunks):
            chunk.write_csv(file, include_header=number == 0, separator=separator)


def print_chunks(chunks: Iterator[pl.DataFrame]) -> None:
    """CSV on the standard output, in UTF-8."""
    for number, chunk in enumerate(chunks):
        print_bytes(chunk.write_csv(include_header=number == 0))


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
        pl.scan_parquet(parts, glob=False).sink_parquet(file, row_group_size=ROW_GROUP)
