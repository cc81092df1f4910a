"""Letters of the user's text that would harm what is around them, wherever it is shown."""

from __future__ import annotations

import unicodedata

MOST_MARKS = 6  # on one letter: more than any writing has
JOINERS = "\u200c\u200d"  # Persian and Indian scripts are not readable without


def unpiled(text: str) -> str:
    """Text without piles of marks: they cover the lines around them, and can be broken nowhere.

    >>> len(unpiled("a" + 500 * chr(0x301) + "b"))
    8
    """
    if text.isascii():
        return text
    kept, marks = [], 0
    for letter in text:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks <= MOST_MARKS:
            kept.append(letter)
    return "".join(kept)


def shown(text: str, breaks: str = "") -> str:
    """Text whose characters are only displayed, by a terminal, an editor or a browser, and never obeyed.

    Printable characters, spaces, and those control characters that `breaks` lists stay. All others become �: escape
    sequences, line ends of any kind, marks that reverse the direction of text, lone surrogates, which no file can hold.

    >>> shown("a" + chr(27) + "[31m" + chr(10) + "b")
    'a�[31m�b'
    """
    return "".join(letter if letter in breaks or _is_only_shown(letter) else "�" for letter in unpiled(text))


def _is_only_shown(letter: str) -> bool:
    # Not assigned (Cn): a letter of a later Unicode than Python's.
    return letter in JOINERS or letter.isprintable() or unicodedata.category(letter) in ("Zs", "Cn")
