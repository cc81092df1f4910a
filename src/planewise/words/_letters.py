"""Text from data, short enough to fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planewise._printable import shown

LONGEST_REPR = 110
LONGEST = 2000  # letters of one line; nothing has room for more
LONGEST_NAME = 60  # letters of a name that is broken into lines


def tidy(value: Any) -> str:
    """Any value as one printable line; of very long text, its two ends."""
    text = str(value)
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + "…" + text[-LONGEST // 2 + 1 :]
    return shown(" ".join(text.split()))


def shorten(value: Any, most: int = 80) -> str:
    """One printable line of at most so many letters.

    >>> shorten("concave  points error", 12)
    'concav…error'
    """
    return cut(tidy(value), most)


def cut(text: str, most: int = 80) -> str:
    """At most so many letters, without the middle: names that begin alike often differ at the end."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return text[: most - 1 - tail] + "…" + (text[-tail:] if tail else "")


def joined(words: list[str]) -> str:
    """Words as a list in a sentence.

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def first_of(words: list[str], most: int) -> str:
    """The first words of a list, and how many more there are.

    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def wrap(words: list[str], fits: Any) -> list[str]:
    """Lines of as many words as `fits(line)` allows, at least one per line."""
    lines: list[str] = []
    for word in words:
        if lines and fits(f"{lines[-1]} {word}"):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def name_in_lines(name: Any, fits: Callable[[str], bool]) -> list[str]:
    """A name of up to 60 letters, whole, as lines that fit.

    It is broken at spaces, after hyphens, slashes and underscores, and inside a word that is too long for a line.

    >>> name_in_lines("critical/other existing credit", lambda line: len(line) <= 10)
    ['critical/', 'other', 'existing', 'credit']
    """
    lines = [""]
    for piece in re.findall(r"[^ /_-]*[/_-]+ ?|[^ /_-]+ ?", shorten(name, LONGEST_NAME)):
        if not fits((lines[-1] + piece).rstrip()) and lines[-1]:
            lines.append("")
        lines[-1] += piece
        while not fits(lines[-1].rstrip()) and len(lines[-1].rstrip()) > 1:
            end = next((at for at in range(len(lines[-1]) - 1, 1, -1) if fits(lines[-1][:at])), 1)
            lines[-1:] = [lines[-1][:end], lines[-1][end:]]
    return [line.rstrip() for line in lines]


def one_line(thing: Any, facts: str, most: int = LONGEST_REPR) -> str:
    """The ``repr`` of an object that holds a lot: its class and a few facts.

    >>> one_line(Exception(), "3 rows")
    '<Exception: 3 rows>'
    """
    name = type(thing).__name__
    return f"<{name}: {shorten(facts, most - len(name) - 4)}>"
