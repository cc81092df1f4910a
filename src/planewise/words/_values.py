"""Values of the user's table, classes and mixes of classes in words."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._categories import is_missing
from planewise.words._letters import shorten
from planewise.words._numbers import number, number_to, percent

CLASSES_SHOWN = 5
LONGEST_LABEL = 200


def value_in_words(value: Any, digits: int = 6) -> str:
    """What a row has in a column, or what is predicted for it: numbers with so many digits, words as they are."""
    if is_missing(value):
        return "missing"
    if not isinstance(value, (float, np.floating)):
        return str(value)
    written_out = 1e7 <= abs(float(value)) < 1e15  # such as seconds since 1970
    return number_to(value, 1) if written_out else number(value, digits)


def entry_in_words(value: Any) -> str:
    """A value in a table of vectors: numbers with four digits, words as they are."""
    return number(value) if isinstance(value, (float, np.floating)) and value == value else value_in_words(value)


def threshold_in_words(value: Any, relation: str, threshold: float) -> str | None:
    """A threshold on days since 1970, or on 0 and 1, in the terms of a date or boolean; None for any other value.

    >>> threshold_in_words(date(2024, 3, 9), "≥", 18366.5), threshold_in_words(True, "≤", 0.5)
    ('≥ 2020-04-15', 'is False')
    """
    if isinstance(value, (bool, np.bool_)) and 0 < threshold < 1:
        return f"is {relation == '≥'}"
    if isinstance(value, datetime):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(minutes=round(threshold * 1440))
        own = moment.replace(tzinfo=None) if value.tzinfo is None else moment.astimezone(value.tzinfo)
        return f"{relation} {own.isoformat(' ', 'minutes')}"
    if isinstance(value, date):  # a whole day is on the same side of a moment as of the next day or the day itself
        days = math.ceil(threshold) if relation == "≥" else math.floor(threshold)
        return f"{relation} {date(1970, 1, 1) + timedelta(days=days)}"
    return None


def label_in_words(label: Any) -> str:
    """A class or a prediction, wherever a reason names it; long labels are shortened."""
    return shorten(value_in_words(label), LONGEST_LABEL)


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
