"""Tables to files, a chunk at a time, in place only when they are whole."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from planewise._atomic import replacing
from planewise.cli._mistakes import MistakeError
from planewise.cli._polars import pl

WRITTEN = (".csv", ".tsv", ".parquet")
CHUNK_ROWS = 65_536  # a group of rows is held in memory until it is full


def check_ending(path: Path) -> None:
    """A mistake unless the file can be written."""
    if path.suffix.lower() not in WRITTEN:
        raise MistakeError(f"{str(path)!r} must end in one of {', '.join(WRITTEN)}.")


def write_chunks(path: Path, chunks: Iterator[pl.DataFrame]) -> None:
    """Write all chunks; an error on the way leaves what was there before."""
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
    """A file for every chunk, then all in one: polars cannot add to a file.

    It could draw the chunks from Python while it writes, but its threads may then ask for Python after a Ctrl-C has
    ended it, and the program aborts.
    """
    with replacing(path) as file, tempfile.TemporaryDirectory(dir=path.parent, prefix=".planewise-") as folder:
        parts = []
        for number, chunk in enumerate(chunks):
            parts.append(Path(folder, f"{number}.parquet"))
            chunk.write_parquet(parts[-1], compression="lz4")
        pl.scan_parquet(parts, glob=False).sink_parquet(file, row_group_size=CHUNK_ROWS)
