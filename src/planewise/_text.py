"""Numbers as people read them."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MINUS = "−"
SMALLEST_EXPONENT, LARGEST_EXPONENT = -4, 6  # outside, a number is written with its exponent


def number(value: Any, digits: int = 4) -> str:
    """A number with so many significant digits, without an exponent where that is short.

    Digits before the decimal point are never rounded away, and from five of them on they are in groups of three.

    >>> number(1234.5), number(123456.7), number(0.00123), number(-2.0), number(1e9), number(2.34567, 3)
    ('1234', '123,457', '0.00123', '−2', '1e9', '2.35')
    """
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value).replace("-", MINUS)
    size = int(f"{value:.16e}".split("e")[1])  # before rounding: 9,999,500 has seven digits
    if SMALLEST_EXPONENT <= size <= LARGEST_EXPONENT:
        text = f"{value:{',' if size >= 4 else ''}.{max(digits - 1 - size, 0)}f}"
        return _without_zeros(text).replace("-", MINUS)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{_without_zeros(mantissa)}e{int(exponent)}".replace("-", MINUS)


def number_to(value: Any, step: float) -> str:
    """A number with all its digits down to a step, for numbers that differ by little.

    >>> number_to(1_700_000_300.5, 0.1), number_to(1_700_000_300.5, 1)
    ('1,700,000,300.5', '1,700,000,300')
    """
    decimals = max(0, -math.floor(math.log10(step)))
    return _without_zeros(f"{float(value):,.{decimals}f}").replace("-", MINUS)


def step_from(origin: float, value: float, digits: int) -> float:
    """The step to which a number must be written so that its distance from an origin has this many digits."""
    finest, apart = math.ulp(value), abs(value - origin)
    return max(finest, 10.0 ** (math.floor(math.log10(apart)) - digits + 1)) if apart > 0 else finest


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: Any, digits: int = 4) -> str:
    """A number with its sign, also a plus; zero has no sign."""
    return ("+" if value > 0 else "") + number(value, digits)


def percent(share: Any, decimals: int | None = None) -> str:
    """A share in per cent: with so many decimals, or with one where it is small.

    >>> percent(0.97), percent(0.031), percent(0), percent(0.97123, 1)
    ('97%', '3.1%', '0%', '97.1%')
    """
    share = float(share)
    if decimals is None:
        decimals = 0 if share >= 0.1 else 1
    return "0%" if share == 0 else f"{100 * share:.{decimals}f}%"


def count(value: Any) -> str:
    """A number of rows."""
    return f"{value:,.0f}"


def counted(value: Any, thing: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(2000, "row"), counted(3, "leaf"), counted(3, "category")
    ('1 row', '2,000 rows', '3 leaves', '3 categories')
    """
    endings = {"leaf": "leaves", "category": "categories"}
    many = next((thing.removesuffix(one) + more for one, more in endings.items() if thing.endswith(one)), f"{thing}s")
    return f"{count(value)} {thing if value == 1 else many}"


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
    """One printable line of at most `most` characters.

    >>> shorten("concave  points error", 12)
    'concav…error'
    """
    return cut(tidy(value), most)


def cut(text: str, most: int = 80) -> str:
    """At most `most` characters, without the middle: names that begin alike often differ at the end."""
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


def feature_names(estimator: Any, given: Sequence[Any] | None = None) -> list[str]:
    """Names of the columns: those given, those the estimator knows, or x0, x1, ..."""
    n_features = getattr(estimator, "n_features_in_", None)
    if given is not None:
        names = [str(name) for name in given]
        if n_features is not None and len(names) != n_features:
            raise ValueError(f"feature_names has {len(names)} names for {n_features} features; give one per feature.")
        return names
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None:
        return [str(name) for name in known]
    if n_features is None:
        raise ValueError("The number of features is not known; pass feature_names.")
    return [f"x{place}" for place in range(n_features)]


def categories_of(estimator: Any) -> Mapping[int, Sequence[Any]]:
    """The categories of the estimator's categorical columns, by column."""
    known: Mapping[int, Sequence[Any]] = getattr(estimator, "categories_", {})
    return known


def find_feature(feature: Any, names: Sequence[str]) -> int:
    """The place of a feature that is given by name or place."""
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool):
        if not -len(names) <= feature < len(names):
            raise ValueError(f"There is no feature number {feature}; the last one is {len(names) - 1}.")
        return int(feature) % len(names)
    if str(feature) not in names:
        raise ValueError(f"There is no feature named {feature!r}; the names are {', '.join(map(repr, names[:8]))}...")
    return list(names).index(str(feature))


def with_unit(name: str, units: Mapping[str, str] | None) -> str:
    """The name of an axis: "length (cm)" where `units` has {"length": "cm"}."""
    return f"{name} ({units[name]})" if units and name in units else name


def names_of_classes(classes: Sequence[Any], given: Sequence[Any] | Mapping[Any, Any] | None = None) -> list[str]:
    """Names of the classes: as in a mapping {label: name}, in the order of ``classes_``, or the labels themselves."""
    if given is None:
        return [tidy(label) for label in classes]
    if isinstance(given, Mapping):
        missing = [label for label in classes if label not in given]
        if missing:
            raise ValueError(f"class_names has no name for the class {missing[0]!r}.")
        return [tidy(given[label]) for label in classes]
    if len(given) != len(classes):
        raise ValueError(f"class_names has {len(given)} names for {len(classes)} classes; give one per class.")
    return [tidy(name) for name in given]


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
