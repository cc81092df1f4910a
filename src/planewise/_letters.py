"""Letters of the user's text that would harm what is around them, wherever it is shown."""

from __future__ import annotations

import unicodedata

MOST_MARKS = 6  # on one letter: more than any writing has


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
