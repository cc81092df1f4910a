"""The lines of a text table: its header, and blocks of whole rows that all have as many fields as it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import polars as pl

from planewise.cli._mistakes import MistakeError

CHUNK_BYTES = 16 << 20
LONGEST_ROW = 256 << 20
QUOTE, LINE_BREAK = ord('"'), ord("\n")


class Header(NamedTuple):
    """The names of the columns, the bytes of the header, and its number of lines."""

    names: list[str]
    text: bytes
    n_lines: int


def open_table(path: Path, separator: str) -> tuple[Header, Iterator[bytes]]:
    """The header of a table, and its rows as blocks of bytes; an error where they do not match."""
    with path.open("rb") as file:
        header = _read_header(path, file, separator)
        start = file.tell()
    return header, _whole_rows(path, start, separator, header)


def _read_header(path: Path, file: BinaryIO, separator: str) -> Header:
    text, n_lines = b"", 0
    while line := file.readline():
        n_lines += 1
        text += line if text or line.strip() else b""
        if text and text.count(b'"') % 2 == 0:
            break
        if len(text) > LONGEST_ROW:
            raise _never_ends(path)
    if not text:
        raise MistakeError(f"{str(path)!r} is empty.")
    text = text if text.endswith(b"\n") else text + b"\n"
    try:
        written = pl.read_csv(text, separator=separator, has_header=False, infer_schema=False).row(0)
        names = pl.read_csv(text, separator=separator, n_rows=0).columns
    except pl.exceptions.PolarsError as error:
        words = str(error).strip().splitlines()[0]
        raise MistakeError(f"{str(path)!r} cannot be read as a table: {words}") from error
    if len(names) == 1:
        for other, called in ((";", "semicolons"), ("\t", "tabs"), (",", "commas"), ("|", "bars")):
            if other in names[0]:
                raise MistakeError(
                    f"{str(path)!r} has only one column, {names[0]!r}: are its fields separated by {called}? A .csv "
                    "file must have commas between them, a .tsv file tabs."
                )
    twice = [name for name, count in Counter(written).items() if name and count > 1]
    if twice:
        raise MistakeError(f"{str(path)!r} has more than one column {twice[0]!r}; every column needs a different name.")
    return Header(names, text, n_lines)


def _whole_rows(path: Path, start: int, separator: str, header: Header) -> Iterator[bytes]:
    """Blocks that end at the end of a row, which line breaks inside quotes are not."""
    left, line = b"", header.n_lines + 1
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(CHUNK_BYTES):
            left += block
            cut = _end_of_rows(left)
            if cut:
                yield _checked(path, left[:cut], separator, len(header.names), line)
                line += left.count(b"\n", 0, cut)
                left = left[cut:]
            elif len(left) > LONGEST_ROW:
                raise _never_ends(path)
    if left.strip():
        yield _checked(path, left, separator, len(header.names), line)


def _never_ends(path: Path) -> MistakeError:
    return MistakeError(
        f"{str(path)!r} has a row of more than {LONGEST_ROW >> 20} MiB: is there a quote that is never closed?"
    )


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


def _checked(path: Path, block: bytes, separator: str, n_fields: int, line: int) -> bytes:
    """The block without empty lines; an error that names the first line with a wrong number of fields.

    In a table of one column an empty line is a missing value, and stays.
    """
    if n_fields == 1 and separator.encode() not in block:
        return block
    signs = np.frombuffer(block, np.uint8)
    places = np.flatnonzero((signs == LINE_BREAK) | (signs == ord(separator)))
    quotes = np.flatnonzero(signs == QUOTE)
    if len(quotes):
        places = places[np.searchsorted(quotes, places) % 2 == 0]  # those outside of quotes
    row_ends = np.flatnonzero(signs[places] == LINE_BREAK)
    ends = places[row_ends]
    if len(ends) == 0 or ends[-1] != len(block) - 1:
        row_ends, ends = np.append(row_ends, len(places)), np.append(ends, len(block))
    starts = np.concatenate([[0], ends[:-1] + 1])
    found = np.diff(row_ends, prepend=-1)
    empty = []
    for row in np.flatnonzero(found != n_fields):
        text = block[starts[row] : ends[row]]
        if not text.strip():
            empty.append(row)
            continue
        # Quotes in the middle of a field do not hide separators: another reader counts again.
        there = len(next(csv.reader([text.decode("utf-8", "replace")], delimiter=separator)))
        if there != n_fields:
            at = line + block.count(b"\n", 0, starts[row])
            raise MistakeError(
                f"{str(path)!r} cannot be read as a table: line {at} has {there} "
                f"field{'s' if there != 1 else ''}, but the header has {n_fields}."
            )
    if not empty or n_fields == 1:
        return block
    keep = np.ones(len(block), bool)
    for row in empty:
        keep[starts[row] : ends[row] + 1] = False
    return signs[keep].tobytes()
