"""Pieces of C text: names, literals, tables, comments."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 110
KEYWORDS = (
    " alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const consteval "
    "constexpr continue decltype default delete do double else enum explicit export extern false float for friend goto "
    "if inline int long main mutable namespace new noexcept not nullptr operator or private protected public register "
    "requires restrict return short signed sizeof static struct switch template this throw true try typedef typeid "
    "typename union unsigned using virtual void volatile while xor "
)


@dataclass(frozen=True)
class Table:
    """A constant table of a header, as text and in bytes."""

    text: str
    n_bytes: int


def checked_name(name: Any) -> str:
    """The name as a prefix of C names; an error unless it can be one."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name) or f" {name} " in KEYWORDS:
        raise ValueError(
            f"name must be a C name, such as 'wine_model': at most 64 letters, digits and underscores, a letter first, "
            f"and no keyword of C or C++; got {name!r}."
        )
    return name


def unsigned_type(largest: int) -> tuple[str, int]:
    """The smallest unsigned type that holds a number, and its bytes."""
    for bits in (8, 16):
        if largest < 2**bits:
            return f"uint{bits}_t", bits // 8
    return "uint32_t", 4


def float_literal(value: Any) -> str:
    """A float in C: the shortest decimal that reads back as the same float32."""
    return _with_point(str(np.float32(value))) + "f"


def double_literal(value: Any) -> str:
    """A double in C, exactly."""
    return _with_point(repr(float(value)))


def _with_point(text: str) -> str:
    return text if "." in text or "e" in text else text + ".0"


def table(kind: str, name: str, items: Sequence[str], item_bytes: int, comment: str) -> Table:
    """A constant table with a line that says what it holds."""
    body = "\n".join(wrap(", ".join(items), WIDTH - 4, break_long_words=False, break_on_hyphens=False))
    body = "    " + body.replace("\n", "\n    ")
    text = f"/* {plain(comment)} */\nstatic const {kind} {name}[{len(items)}] = {{\n{body}\n}};\n"
    return Table(text, len(items) * item_bytes)


def number_table(kind: str, name: str, values: NDArray[Any] | Sequence[Any], comment: str) -> Table:
    """A table of numbers: "float", "double" or an integer type."""
    if kind == "float":
        return table(kind, name, [float_literal(value) for value in values], 4, comment)
    if kind == "double":
        return table(kind, name, [double_literal(value) for value in values], 8, comment)
    n_bytes = int(re.sub(r"\D", "", kind)) // 8
    return table(kind, name, [_integer(int(value), kind) for value in values], n_bytes, comment)


def _integer(value: int, kind: str) -> str:
    if kind != "int64_t":
        return str(value)
    # The least one cannot be written as a literal: its absolute value fits no type.
    return "(-9223372036854775807LL - 1)" if value == -(2**63) else f"{value}LL"


def values_table(name: str, values: NDArray[Any], comment: str) -> str:
    """Labels or categories as a table: words as strings, numbers as numbers."""
    listed = values.tolist()
    if values.dtype.kind in "biu":
        numbers = [int(value) for value in listed]
        fits = all(-(2**31) < value < 2**31 for value in numbers)
        if fits or all(-(2**63) <= value < 2**63 for value in numbers):
            return number_table("int32_t" if fits else "int64_t", name, numbers, comment).text
    if values.dtype.kind == "f" and np.isfinite(values.astype(np.float64)).all():
        return number_table("double", name, listed, comment).text
    return table("char *const", name, [string_literal(str(value)) for value in listed], 0, comment).text


def string_literal(text: str) -> str:
    """A string in C, in UTF-8."""
    out = []
    for byte in text.encode("utf-8", "surrogateescape"):
        if byte in b'"\\?':  # a question mark may begin a trigraph
            out.append("\\" + chr(byte))
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def plain(text: str) -> str:
    """Text that cannot end a comment, continue a line or write from right to left."""
    shown = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("??", "? ?")


def comment(lines: Iterable[str]) -> str:
    """A block comment; long lines are broken."""
    broken = [part for line in lines for part in (wrap(plain(line), WIDTH - 3, drop_whitespace=False) or [""])]
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in broken) + " */\n"
