"""Lines of an answers file as bytes: each ends with a checksum of itself, and names that of the line before it.

The first finds damage inside a line; the second finds lines that are missing, repeated, moved or added. Both find
accidents: they are not signatures, and whoever may write to the file can write new ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

LONGEST_LINE = 1 << 20
_SEALED = re.compile(rb'(\{.*), "check": "([0-9a-f]{16})"\}', re.DOTALL)


@dataclass(frozen=True)
class Line:
    """A line that was read, and what is wrong with it."""

    number: int  # counted from 1
    end: int  # the place in the file behind it
    value: dict[str, Any] = field(default_factory=dict)  # without the checksums
    check: str = ""  # the checksum that it ends with; "" in files of older versions
    wrong: str = ""  # why its content cannot be trusted
    follows: bool = True  # whether it was written after the line before it
    ended: bool = True  # with a line break
    torn: bool = False  # a crash left it: it was never confirmed


def sealed(value: dict[str, Any], after: str) -> tuple[bytes, str]:
    """The line to write after one with the checksum `after`, and its own checksum."""
    body = json.dumps(value | ({"after": after} if after else {}), ensure_ascii=True, allow_nan=False).encode()[:-1]
    check = checksum(body)
    return body + f', "check": "{check}"}}\n'.encode(), check


def checksum(data: bytes) -> str:
    """Of a line, or of all lines that have none of their own."""
    return hashlib.sha256(data).hexdigest()[:16]


def lines_of(file: BinaryIO) -> Iterator[Line]:
    """All lines, damaged ones too; never more than one of them in memory."""
    unsealed: Any = hashlib.sha256()  # all bytes of a file of an older version, until a line with a checksum follows
    after, number, end = "", 0, 0
    while raw := file.readline(LONGEST_LINE + 1):
        number += 1
        end += len(raw) if len(raw) <= LONGEST_LINE else len(raw) + _skip_line(file, raw)
        line = _read(raw, number, end, after if unsealed is None or number == 1 else unsealed.hexdigest()[:16])
        if line.check:
            unsealed = None
        elif unsealed is None and not line.wrong and not line.torn:
            line = Line(number, end, wrong="its checksum is missing")
        if unsealed is not None:
            unsealed.update(raw)
        after = line.check
        yield line


def _skip_line(file: BinaryIO, raw: bytes) -> int:
    """The number of bytes until the next line."""
    n_bytes = 0
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(LONGEST_LINE)
        n_bytes += len(raw)
    return n_bytes


def _read(raw: bytes, number: int, end: int, after: str) -> Line:
    if len(raw) > LONGEST_LINE:
        return Line(number, end, wrong=f"it is longer than {LONGEST_LINE:,} bytes")
    ended = raw.endswith(b"\n")
    if not ended and not _begins_with_an_object(raw):
        return Line(number, end, ended=False, torn=True)
    found = _SEALED.fullmatch(raw.rstrip(b"\r\n"))
    check = "" if found is None else found[2].decode()
    if found is not None and checksum(found[1]) != check:
        return Line(number, end, check=check, wrong="its checksum is that of a different line", ended=ended)
    try:
        value = parsed(raw)
    except ValueError as error:
        return Line(number, end, check=check, wrong=str(error), ended=ended)
    if found is None:
        return Line(number, end, value, ended=ended)
    follows = value.pop("after", "") == after
    del value["check"]
    return Line(number, end, value, check, follows=follows, ended=ended)


def parsed(line: bytes) -> dict[str, Any]:
    """A line as an object of JSON; the words of the error continue "is damaged:"."""
    try:
        text = line.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_object, parse_int=_whole_number, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ValueError("it is not text in UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError:
        mark = text.startswith("\ufeff")
        raise ValueError(f"it {'begins with a byte order mark' if mark else 'is not a line of JSON'}") from None
    if not isinstance(value, dict):
        raise ValueError("it is not an object of JSON")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"it has the key {twice[:40]!r} twice")
    return found


def _whole_number(digits: str) -> int:
    if len(digits) > 20:  # Python would refuse thousands of digits, and says how to read them nevertheless
        raise ValueError(f"it has a whole number of {len(digits):,} digits")
    return int(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _begins_with_an_object(raw: bytes) -> bool:
    """Whether a last line without a line break is more than the beginning of one, which a crash could have left."""
    try:
        value, _ = json.JSONDecoder().raw_decode(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)
