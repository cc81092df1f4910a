"""The rows of a text table as blocks of bytes, all with as many fields as its header."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from planewise.data.files.dialect import Dialect
from planewise.data.files.fields import split_fields, unclosed_quote
from planewise.data.files.reading import TableFileError
from planewise.data.files.sources import TableFile
from planewise.data.files.text import utf8_blocks

CHUNK_BYTES = 16 << 20
LONGEST_ROW = 256 << 20
LINE_BREAK = ord("\n")


def row_blocks(file: TableFile, dialect: Dialect) -> Iterator[bytes]:
    """Blocks that end at the end of a row, which line breaks inside quotes do not; an error where rows do not fit."""
    left, line = b"", dialect.first_line
    for block in _below_header(file, dialect):
        left += block
        cut = _end_of_rows(left, dialect.quote.encode())
        if cut:
            if rows := _checked(file, left[:cut], dialect, line):  # there may be comments alone
                yield rows
            line += left.count(b"\n", 0, cut)
            left = left[cut:]
        elif len(left) > LONGEST_ROW:
            raise TableFileError(
                f"{file.name!r}: the row that begins in line {line} has more than {LONGEST_ROW >> 20} MiB: is there a "
                "quote that is never closed?"
            )
    if left.count(dialect.quote.encode()) % 2:
        _refuse_open_quote(file, left, dialect, line)
    if left.strip() and (rows := _checked(file, left, dialect, line)):
        yield rows


def _refuse_open_quote(file: TableFile, row: bytes, dialect: Dialect, line: int) -> None:
    """An error if the last row ends inside quotes; a quote in the middle of a field or in a comment opens none."""
    text = row.decode("utf-8", "replace")
    if dialect.comment and text.startswith(dialect.comment):
        return
    if (at := split_fields(text, dialect.separator, dialect.quote).open_quote) is not None:
        raise unclosed_quote(file.name, line, text, at)


def _below_header(file: TableFile, dialect: Dialect) -> Iterator[bytes]:
    """The text from the first row on, in blocks of about CHUNK_BYTES."""
    to_skip, held = dialect.first_line - 1, b""
    for block in utf8_blocks(file, dialect.encoding):
        while to_skip and (at := block.find(b"\n")) >= 0:
            block, to_skip = block[at + 1 :], to_skip - 1
        if to_skip:
            continue
        held += block
        while len(held) >= CHUNK_BYTES:
            yield held[:CHUNK_BYTES]
            held = held[CHUNK_BYTES:]
    if held:
        yield held


def _end_of_rows(block: bytes, quote: bytes) -> int:
    """Where the last whole row ends: after a line break with an even number of quotes before it."""
    inside, end = block.count(quote) % 2 == 1, len(block)
    while end >= 0:
        start = block.rfind(quote, 0, end)
        if not inside and (at := block.rfind(b"\n", start + 1, end)) >= 0:
            return at + 1
        inside, end = not inside, start
    return 0


class _Rows:
    """Where the rows of a block are, and how many fields each has."""

    def __init__(self, block: bytes, separator: str, quote: str) -> None:
        signs = np.frombuffer(block, np.uint8)
        places = np.flatnonzero((signs == LINE_BREAK) | (signs == ord(separator)))
        quotes = np.flatnonzero(signs == ord(quote))
        if len(quotes):
            places = places[np.searchsorted(quotes, places) % 2 == 0]  # those outside of quotes
        row_ends = np.flatnonzero(signs[places] == LINE_BREAK)
        ends = places[row_ends]
        if len(ends) == 0 or ends[-1] != len(block) - 1:
            row_ends, ends = np.append(row_ends, len(places)), np.append(ends, len(block))
        self.starts, self.ends = np.concatenate([[0], ends[:-1] + 1]), ends
        self.n_fields = np.diff(row_ends, prepend=-1)


def _checked(file: TableFile, block: bytes, dialect: Dialect, line: int) -> bytes:
    """The block without empty lines and comments; an error names the first line with a wrong number of fields."""
    kept = _kept(file, block, dialect, line)
    if kept is None:
        return block
    rows, dropped = kept
    keep = np.ones(len(block), bool)
    for row in dropped:
        keep[rows.starts[row] : rows.ends[row] + 1] = False
    return np.frombuffer(block, np.uint8)[keep].tobytes()


def _kept(file: TableFile, block: bytes, dialect: Dialect, line: int) -> tuple[_Rows, list[int]] | None:
    """The lines of a block, and the numbers of those to skip (empty lines and comments); None if all are rows.

    In a table of one column an empty line is a missing value.
    """
    n_fields, comment = len(dialect.names), dialect.comment.encode()
    alone = n_fields == 1 and dialect.separator.encode() not in block
    if alone and not comment:
        return None
    rows, dropped = _Rows(block, dialect.separator, dialect.quote), []
    odd = rows.n_fields != n_fields
    if comment:
        first = np.frombuffer(block, np.uint8)[np.minimum(rows.starts, len(block) - 1)]
        odd |= first == comment[0]
    for row in np.flatnonzero(odd):
        text = block[rows.starts[row] : rows.ends[row]]
        if (comment and text.startswith(comment)) or (not text.strip() and not alone):
            dropped.append(int(row))
        elif rows.n_fields[row] != n_fields:
            there = int(rows.n_fields[row])
            if b"\n" not in text.rstrip(b"\r\n"):  # quotes in the middle of a field hide no separators
                there = len(split_fields(text.decode("utf-8", "replace"), dialect.separator, dialect.quote).texts)
            if there != n_fields:
                at = line + block.count(b"\n", 0, rows.starts[row])
                raise _wrong_number(file, dialect, at, there, text)
    return (rows, dropped) if dropped else None


def _wrong_number(file: TableFile, dialect: Dialect, line: int, there: int, text: bytes) -> TableFileError:
    header = f"the header in line {dialect.header_line}" if dialect.header_line > 1 else "the header"
    what = header if dialect.has_header else "the first row"
    n_lines = text.rstrip().count(b"\n") + 1
    where = f"line {line} has" if n_lines == 1 else f"lines {line} to {line + n_lines - 1} are one row with"
    remedy = "Correct the line, or delete it."
    if n_lines > 1:
        remedy = f"Is a quote that opens in line {line} not closed?"
    elif there == len(dialect.names) + 1 and text.rstrip().endswith(dialect.separator.encode()):
        remedy = "Remove the separator at the end of the rows."
    return TableFileError(
        f"{file.name!r} cannot be read as a table: {where} {there} field{'s' if there != 1 else ''}, but {what} has "
        f"{len(dialect.names)}. {remedy}"
    )


def stray_quote(file: TableFile, dialect: Dialect) -> int | None:
    """The first line with a quote inside a field that does not begin with one."""
    inside = re.compile(rf'(^|[{re.escape(dialect.separator)}])[^"{re.escape(dialect.separator)}\n]+"'.encode())
    line = 1
    for block in utf8_blocks(file, dialect.encoding):
        if (found := inside.search(block)) is not None:
            return line + block.count(b"\n", 0, found.end())
        line += block.count(b"\n")
    return None


def line_of_row(file: TableFile, dialect: Dialect, row: int) -> int:
    """The line of the file in which a row begins, counted from 1."""
    left, line, at = b"", dialect.first_line, 0
    for block in _below_header(file, dialect):
        left += block
        cut = _end_of_rows(left, dialect.quote.encode()) or len(left)
        part, left = left[:cut], left[cut:]
        kept = _kept(file, part, dialect, line)
        rows = _Rows(part, dialect.separator, dialect.quote) if kept is None else kept[0]
        starts = np.delete(rows.starts, [] if kept is None else kept[1])
        if row - at < len(starts):
            return line + part.count(b"\n", 0, int(starts[row - at]))
        at += len(starts)
        line += part.count(b"\n")
    return line
