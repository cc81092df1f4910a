"""Names and numbers as they are written into pictures: safe, short, and the user's own."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planewise._letters import unpiled

MINUS = "−"
LONGEST = 2000  # letters; no picture has room for more


def tidy(text: Any) -> str:
    """Any value as one printable line; of text by the megabyte, its ends."""
    text = str(text)
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + "…" + text[-LONGEST // 2 + 1 :]
    line = unpiled(" ".join(text.split()))
    return "".join("�" if unicodedata.category(letter) in ("Cc", "Cs", "Co", "Cn", "Cf") else letter for letter in line)


def plain(text: Any) -> str:
    r"""Text that matplotlib shows as it is: between two dollar signs it would look for mathematics.

    >>> plain("price in $ and $")
    'price in \\$ and \\$'
    """
    return tidy(text).replace("$", r"\$")


def shorten(text: Any, most: int) -> str:
    """At most so many letters, the middle left out: ends tell names apart that begin alike.

    >>> shorten("concave points error", 12)
    'concav…error'
    """
    line = tidy(text)
    if len(line) <= most:
        return line
    tail = (most - 1) // 2
    return line[: most - 1 - tail] + "…" + (line[-tail:] if tail else "")


def number(value: float) -> str:
    """Three digits that matter, without exponents where they can be helped.

    >>> number(1234.5), number(0.00123), number(-2.0), number(1e9)
    ('1,234', '0.00123', '−2', '1e9')
    """
    value = float(value)
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else str(value)
    size = abs(value)
    if 1000 <= size < 1e7:
        text = f"{value:,.0f}"
    elif 1e-4 <= size < 1000:
        text = f"{value:.3g}"
    else:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text.replace("-", MINUS)


def count(value: float) -> str:
    """A number of rows."""
    return f"{value:,.0f}"


def feature_names(estimator: Any, given: Sequence[Any] | None, X: Any = None) -> list[str]:
    """Names of the columns: those given, those the estimator or the table knows, or x0, x1, ..."""
    known = getattr(estimator, "feature_names_in_", None)
    n_features = _n_features(estimator, X)
    if given is not None:
        names = [str(name) for name in given]
        if n_features is not None and len(names) != n_features:
            raise ValueError(f"feature_names has {len(names)} names for {n_features} features; give one a feature.")
        return names
    if known is None and X is not None:
        known = getattr(X, "columns", None)
    if known is not None:
        return [str(name) for name in known]
    if n_features is None:
        raise ValueError("The number of features is not known; pass feature_names.")
    return [f"x{number}" for number in range(n_features)]


def _n_features(estimator: Any, X: Any) -> int | None:
    found = getattr(estimator, "n_features_in_", None)
    if found is None and X is not None:
        found = np.shape(X)[1]
    return None if found is None else int(found)


def with_unit(name: str, units: Mapping[str, str] | None) -> str:
    """The name of an axis: "length (cm)" where `units` has {"length": "cm"}."""
    return f"{name} ({units[name]})" if units and name in units else name


def class_names(classes: Sequence[Any], given: Sequence[Any] | Mapping[Any, Any] | None) -> list[str]:
    """Names of the classes: as in a mapping {label: name}, in the order of ``classes_``, or the labels themselves."""
    if given is None:
        return [tidy(label) for label in classes]
    if isinstance(given, Mapping):
        missing = [label for label in classes if label not in given]
        if missing:
            raise ValueError(f"class_names has no name for the class {missing[0]!r}.")
        return [tidy(given[label]) for label in classes]
    if len(given) != len(classes):
        raise ValueError(f"class_names has {len(given)} names for {len(classes)} classes; give one a class.")
    return [tidy(name) for name in given]


def find_feature(feature: Any, names: Sequence[str]) -> int:
    """The place of a feature that is given by name or place."""
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool):
        if not -len(names) <= feature < len(names):
            raise ValueError(f"There is no feature number {feature}; there are {len(names)}, counted from 0.")
        return int(feature) % len(names)
    if str(feature) not in names:
        raise ValueError(f"There is no feature named {feature!r}; the names are {', '.join(map(repr, names[:8]))}...")
    return list(names).index(str(feature))
