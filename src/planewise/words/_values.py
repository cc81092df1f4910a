"""Values of the user's table, classes and mixes of classes in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._categories import is_missing
from planewise.words._numbers import number, percent

CLASSES_SHOWN = 5


def value_in_words(value: Any, digits: int = 6) -> str:
    """What a row has in a column, or what is predicted for it: numbers with so many digits, words as they are."""
    if is_missing(value):
        return "missing"
    return number(value, digits) if isinstance(value, (float, np.floating)) else str(value)


def class_in_words(label: Any) -> str:
    """A label, recognisable as one among numbers."""
    return str(label) if isinstance(label, str) else f"class {label}"


def mix_in_words(share: NDArray[Any], classes: NDArray[Any]) -> str:
    """Such as setosa 97 % (virginica 3 %)."""
    order = np.argsort(-share, kind="stable")
    parts = [f"{class_in_words(classes[k])} {percent(share[k])}" for k in order if share[k] >= 0.005 or k == order[0]]
    others = ", ".join(parts[1:CLASSES_SHOWN]) + (", …" if len(parts) > CLASSES_SHOWN else "")
    return parts[0] + (f" ({others})" if others else "")
