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

from planewise._text import unpiled

WIDTH = 110
LONGEST_STRING = 4095  # bytes that every C99 compiler allows
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
    with np.errstate(over="ignore"):
        fits = np.isfinite(np.float32(value))
    if not fits:
        raise ValueError(
            f"The model holds the number {float(value):.4g}, which a float of C cannot hold; bring the columns and the "
            "target to usual sizes before fit, or, for a machine, take values='exact'."
        )
    return _with_point(str(np.float32(value))) + "f"


def double_literal(value: Any) -> str:
    """A double in C, exactly."""
    return _with_point(repr(float(value)))


def _with_point(text: str) -> str:
    return text if "." in text or "e" in text else text + ".0"


def table(kind: str, name: str, items: Sequence[str], item_bytes: int, comment: str) -> Table:
    """A constant table with a line that says what it holds."""
    lines = [""]
    for item in items:  # whole: a line must not end within a string
        if lines[-1] and len(lines[-1]) + len(item) + 2 > WIDTH - 4:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    body = "\n".join(f"    {line}" for line in lines).rstrip(",")
    text = f"/* {in_comment(comment)} */\nstatic const {kind} {name}[{len(items)}] = {{\n{body}\n}};\n"
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
    long_ones, items = "", []
    for place, value in enumerate(listed):
        literal, n_bytes = string_literal(str(value))
        if n_bytes > LONGEST_STRING:
            long_ones += _letters_table(f"{name}_long_{place}", str(value))
            literal = f"{name}_long_{place}"
        items.append(literal)
    return long_ones + table("char *const", name, items, 0, comment).text


# ------------------------------------------------------------------------------------------------- text from the data
# Names, labels and categories come from a table that somebody else may have written. They reach a header in two ways
# only, and each has a list of the characters that stay as they are: `in_comment`, through which every comment goes as a
# whole, and `_in_quotes` for strings. All other text of a header consists of numbers and of the checked `name`.

SYMBOLS = "°€£¥¢§©®±·×÷−–—…‰‘’‚“”„«»≤≥≠≈√∞∑∂∆µ"
# Default_Ignorable_Code_Point of Unicode: nothing is seen of these, although some are letters or marks by their kind.
UNSEEN = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)


def in_comment(text: str) -> str:
    r"""Text for a comment: letters, digits, spaces and harmless signs stay, other characters are shown by their code.

    Without * no comment ends or begins, without \ no line continues on the next, without ? there is no trigraph, and no
    line ends. Letters of all scripts stay, so that names can be read: in a comment it does no harm that one looks like
    another, and right-to-left ones reorder no code, because no line has both a comment from data and code. Characters
    that reverse the direction of text or cannot be seen do not stay, nor do signs that only look like those of C.

    >>> in_comment("Größe */ in m²?")
    'Größe <U+002A>/ in m²<U+003F>'
    """
    return "".join(letter if _may_stay(letter) else f"<U+{ord(letter):04X}>" for letter in unpiled(text))


def _may_stay(letter: str) -> bool:
    if letter.isascii():
        return letter.isprintable() and letter not in "*\\?"
    if any(first <= ord(letter) <= last for first, last in UNSEEN):
        return False
    return letter in SYMBOLS or unicodedata.category(letter)[0] in "LN" or unicodedata.category(letter) in ("Mn", "Mc")


def comment(lines: Iterable[str]) -> str:
    """A block comment; long lines are broken."""
    broken = [part for line in lines for part in (wrap(in_comment(line), WIDTH - 3, drop_whitespace=False) or [""])]
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in broken) + " */\n"


def string_literal(text: str) -> tuple[str, int]:
    """A string in C, in UTF-8, and how many bytes it has."""
    content = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(map(_in_quotes, content)) + '"', len(content)


def _letters_table(name: str, text: str) -> str:
    """A string that is longer than compilers must allow, character by character."""
    letters = [f"'{_in_quotes(byte)}'" for byte in text.encode("utf-8", "surrogatepass")]
    return table("char", name, [*letters, "0"], 1, "a text too long for a string").text


def _in_quotes(byte: int) -> str:
    """One byte of a string: printable ASCII stays, behind a backslash if it means something there; others in octal."""
    sign = chr(byte)
    if sign in "\"'\\?":  # a question mark can begin a trigraph
        return "\\" + sign
    return sign if 32 <= byte < 127 else f"\\{byte:03o}"
