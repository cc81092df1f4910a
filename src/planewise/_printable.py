"""Text of users made printable: a terminal, an editor or a browser displays its characters and never obeys them.

This module imports nothing of planewise, because the command line needs it before anything slow is imported.
"""

from __future__ import annotations

import json
import re
import unicodedata

MAX_MARKS = 6  # on one letter: more than any writing has
JOINERS = "\u200c\u200d"  # Persian and Indian scripts are not readable without
_NOT_PLAIN = re.compile(r"[^ -~]")


def unpiled(text: str) -> str:
    """Text without piles of marks, which would cover the lines around them.

    >>> len(unpiled("a" + 500 * chr(0x301) + "b"))
    8
    """
    if text.isascii():
        return text
    kept, marks = [], 0
    for letter in text:
        if unicodedata.category(letter) in ("Mn", "Me"):
            marks += 1
        elif letter not in JOINERS:  # which are no letters: marks behind them are on the letter before
            marks = 0
        if marks <= MAX_MARKS:
            kept.append(letter)
    return "".join(kept)


def shown(text: str, breaks: str = "") -> str:
    r"""Text whose characters a terminal, an editor or a browser only displays and never obeys.

    Printable characters, spaces, and the control characters listed in `breaks` stay. All others are written as Python
    writes them in strings: escape sequences, line ends of any kind, marks that reverse the direction of text, lone
    surrogates, which no file can hold.

    >>> print(shown("a" + chr(27) + "[31m" + chr(10) + "b"))
    a\x1b[31m\nb
    """

    def escaped(found: re.Match[str]) -> str:
        letter = found[0]
        return letter if letter in breaks or _is_only_shown(letter) else letter.encode("unicode_escape").decode()

    return _NOT_PLAIN.sub(escaped, unpiled(text))


def shown_json(document: str) -> str:
    r"""A JSON document in which such characters are escaped as JSON does it, so that it means the same.

    >>> print(shown_json('{"town": "Köln' + chr(0x9b) + '"}'))
    {"town": "Köln\u009b"}
    """

    def escaped(found: re.Match[str]) -> str:
        letter = found[0]
        return letter if letter in "\n\t" or _is_only_shown(letter) else json.dumps(letter)[1:-1]

    return _NOT_PLAIN.sub(escaped, document)


def _is_only_shown(letter: str) -> bool:
    # Not assigned (Cn): a letter of a later Unicode than Python's.
    return letter in JOINERS or letter.isprintable() or unicodedata.category(letter) in ("Zs", "Cn")
