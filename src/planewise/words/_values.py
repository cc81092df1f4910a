"""Values of the user's table, classes and mixes of classes in words."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._categories import is_missing
from planewise.words._kinds import written
from planewise.words._letters import shorten
from planewise.words._numbers import number, number_to, percent

CLASSES_SHOWN = 5
LONGEST_LABEL = 200


def value_in_words(value: Any, digits: int = 6) -> str:
    """What a row has in a column, or what is predicted for it: numbers with so many digits, others as they are."""
    if is_missing(value):
        return "missing"
    if not isinstance(value, (float, np.floating)):
        return written(value)
    written_out = 1e7 <= abs(float(value)) < 1e15  # such as seconds since 1970
    return number_to(value, 1) if written_out else number(value, digits)


def entry_in_words(value: Any) -> str:
    """A value in a table of vectors: numbers with four digits, words as they are."""
    return number(value) if isinstance(value, (float, np.floating)) and value == value else value_in_words(value)


def label_in_words(label: Any) -> str:
    """A class or a prediction, wherever a reason names it; long labels are shortened."""
    is_boolean = isinstance(label, (bool, np.bool_))  # which stays as a program wrote it
    return shorten(label if is_boolean else value_in_words(label), LONGEST_LABEL)


def class_in_words(label: Any) -> str:
    """A label, recognisable as one among numbers."""
    return str(label) if isinstance(label, str) else f"class {label}"


def mix_in_words(share: NDArray[Any], classes: NDArray[Any]) -> str:
    """Such as setosa 97 % (virginica 3 %)."""
    order = np.argsort(-share, kind="stable")
    parts = [f"{class_in_words(classes[k])} {percent(share[k])}" for k in order if share[k] >= 0.005 or k == order[0]]
    others = ", ".join(parts[1:CLASSES_SHOWN]) + (", …" if len(parts) > CLASSES_SHOWN else "")
    return parts[0] + (f" ({others})" if others else "")


def plain_data(value: Any) -> Any:
    """Python's own numbers, strings, lists and dicts, ready for JSON; numbers that JSON does not know are None.

    >>> plain_data({"a": np.arange(2), "b": (1.5, float("nan"), date(2024, 3, 9))})
    {'a': [0, 1], 'b': [1.5, None, '2024-03-09']}
    """
    if isinstance(value, dict):
        return {str(key): plain_data(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain_data(value.tolist())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
