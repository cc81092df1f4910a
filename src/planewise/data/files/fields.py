"""The fields of one row of text; unlike those of Python's csv module, they may have any length."""

from __future__ import annotations

from typing import NamedTuple

from planewise._text import tidy
from planewise.data.files.reading import TableFileError


class Fields(NamedTuple):
    """The fields of a row, and where the quote is that opens a field and is never closed, if there is one."""

    texts: list[str]
    open_quote: int | None = None


def split_fields(row: str, separator: str, quote: str) -> Fields:
    """The fields of a row without their quotes.

    A quote opens a field only at its beginning. Inside such a field, a doubled quote stands for one, and what follows
    the closing quote belongs to the field.

    >>> split_fields('"a""b",5" disk,"c', ",", '"')
    Fields(texts=['a"b', '5" disk', 'c'], open_quote=15)
    """
    texts: list[str] = []
    at = 0
    while True:
        quoted = ""
        if row.startswith(quote, at):
            start, (quoted, at) = at, _quoted(row, at + 1, quote)
            if at < 0:
                return Fields([*texts, quoted], start)
        end = row.find(separator, at)
        if end < 0:
            return Fields([*texts, quoted + row[at:]])
        texts.append(quoted + row[at:end])
        at = end + 1


def _quoted(row: str, at: int, quote: str) -> tuple[str, int]:
    """What stands between quotes, and the place behind the closing one; -1 if there is none."""
    pieces = []
    while (end := row.find(quote, at)) >= 0:
        pieces.append(row[at:end])
        at = end + 1
        if not row.startswith(quote, at):
            return quote.join(pieces), at
        at += 1
    return quote.join([*pieces, row[at:]]), -1


def unclosed_quote(name: str, line: int, row: str, at: int) -> TableFileError:
    """The error for a quote, at this place of a row that begins in this line, that is never closed."""
    return TableFileError(
        f"{name!r} cannot be read as a table: the quote that opens in line {line + row.count(chr(10), 0, at)}, before "
        f"{tidy(row[at + 1 : at + 31])!r}, is never closed. Close it, or remove it."
    )
