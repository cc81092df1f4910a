"""Tables to files, a chunk at a time, in place only when they are whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from planewise._atomic import replacing
from planewise.cli._mistakes import MistakeError

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
    from polars.io.plugins import register_io_source

    first = next(chunks)
    failed: list[BaseException] = []

    def source(columns: Any, predicate: Any, n_rows: Any, batch_size: Any) -> Iterator[pl.DataFrame]:
        yield first if columns is None else first.select(columns)
        try:
            for chunk in chunks:
                yield chunk if columns is None else chunk.select(columns)
        except BaseException as error:  # polars would wrap it in words of its own
            failed.append(error)
            raise

    with replacing(path) as file:
        try:
            register_io_source(source, schema=first.schema).sink_parquet(file, row_group_size=CHUNK_ROWS)
        except BaseException:
            if failed:
                raise failed[0] from None
            raise
