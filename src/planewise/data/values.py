"""Columns that hold dates or booleans: estimators read them as numbers, and people read them as they are in the table.

A `TableModel` tells its estimator of them (`tell_kinds`); whatever writes or draws a value asks `kinds_of`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from planewise._text import categories_of, feature_names, number, number_to, percent, shorten
from planewise.data.categories import is_missing

FIRST_DAY, A_DAY = datetime(1970, 1, 1, tzinfo=UTC), timedelta(days=1)


@dataclass(frozen=True)
class Dates:
    """Dates, which estimators read as days since 1970.

    Attributes
    ----------
    origin : float
        The day from which sums over several columns count.
    clock : str or None
        The time zone of their times of day, "" if they state none; None if they are whole days.
    """

    origin: float = 0.0
    clock: str | None = None

    def number(self, value: Any) -> float:
        """What an estimator reads: of a date, of its text, or of what is a number already."""
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
            return (moment - FIRST_DAY) / A_DAY
        return float((value - FIRST_DAY.date()).days) if isinstance(value, date) else float(value)

    def value(self, days: float) -> Any:
        """The date that is read as this number; the number itself where no calendar reaches."""
        try:
            if self.clock is None:
                return FIRST_DAY.date() + timedelta(days=round(days))
            moment = FIRST_DAY + timedelta(minutes=round(days * 1440))
            zone = _zone(self.clock)
            return moment.replace(tzinfo=None) if zone is None else moment.astimezone(zone)
        except OverflowError:
            return float(days)

    def relation(self, relation: str, threshold: float) -> str:
        """What a threshold means for the dates, such as "≥ 2020-04-15"."""
        if self.clock is None and math.isfinite(threshold):
            # A whole day is on the same side of a moment as of the next day, or of the day itself.
            threshold = math.ceil(threshold) if relation in ("≥", "<") else math.floor(threshold)
        shown = self.value(threshold)
        return f"{relation} {number(shown) if isinstance(shown, float) else written(shown)}"

    def term(self, name: str) -> str:
        """What a weight in a sum is multiplied by."""
        return f"(days from {written(self.day)} to {name})"

    @property
    def day(self) -> Any:
        """The origin as a date."""
        return Dates().value(self.offset)

    @property
    def offset(self) -> float:
        """What is subtracted from a date in a sum."""
        return float(round(self.origin))

    def scaling(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """How values become coordinates, as JSON has it: the centre of dates is a date too."""
        told = dict(known) | {"values": "dates", "clock": self.clock}
        try:
            centre = FIRST_DAY.replace(tzinfo=None) + timedelta(days=known["centre"])
        except OverflowError:
            return told
        return told | {"centre": centre.isoformat()}


@dataclass(frozen=True)
class Booleans:
    """Booleans, which estimators read as 0 and 1."""

    offset = 0.0

    def number(self, value: Any) -> float:
        """What an estimator reads: of a boolean, of its text, or of what is a number already."""
        return float(value == "true") if isinstance(value, str) else float(value)

    def value(self, share: float) -> Any:
        """The boolean that is read as this number; the number itself where it is neither, as in a mean."""
        return bool(share) if share in (0.0, 1.0) else float(share)

    def relation(self, relation: str, threshold: float) -> str:
        """What a threshold means for the booleans, such as "is true"."""
        inside = threshold > 0 if relation in ("≥", "<") else threshold >= 0
        inside &= threshold <= 1 if relation in ("≥", "<") else threshold < 1
        if not inside:  # all rows are on one side
            return f"{relation} {number(threshold)}"
        return f"is {written(relation in ('≥', '>'))}"

    def term(self, name: str) -> str:
        """What a weight in a sum is multiplied by."""
        return indicator(name, True)

    def scaling(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """How values become coordinates, as JSON has it."""
        return dict(known) | {"values": "booleans"}


ValueKind = Dates | Booleans
Kinds = Mapping[int, ValueKind]  # by column; the others hold numbers or categories


def kinds_of(estimator: Any) -> Kinds:
    """The columns of an estimator that hold dates or booleans, if it was told."""
    known: Kinds = getattr(estimator, "_kinds", {})
    return known


def tell_kinds(estimator: Any, kinds: Kinds) -> None:
    """Tell an estimator, and the best one of a search, which of its columns hold dates or booleans."""
    for each in (estimator, getattr(estimator, "best_estimator_", None)):
        if each is not None:
            each._kinds = dict(kinds)


def kind_from(scaling: Mapping[str, Any]) -> ValueKind | None:
    """The kind of a column, from its `scaling` in an explanation's data; None for numbers and categories."""
    values = scaling.get("values")
    return Dates(clock=scaling["clock"]) if values == "dates" else Booleans() if values == "booleans" else None


@dataclass(frozen=True)
class Columns:
    """Columns as people know them: names, categories, and which of them hold dates or booleans.

    >>> columns = Columns(["age", "smoker", "admitted"], kinds={1: Booleans(), 2: Dates()})
    >>> columns.value(0, 41.0), columns.value(1, 1.0), str(columns.value(2, 19791.0))
    (41.0, True, '2024-03-09')
    """

    names: Sequence[str]
    categories: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any, names: Sequence[str] | None = None) -> Columns:
        """Those of a fitted estimator; `names` are those to use instead of its own."""
        named = feature_names(estimator) if names is None else names
        return cls(named, categories_of(estimator), kinds_of(estimator))

    def value(self, column: int, value: Any) -> Any:
        """A value as it is in the table, from what the estimator read."""
        kind = self.kinds.get(column)
        return value if kind is None or not isinstance(value, (float, np.floating)) else _known(kind, value)

    def row(self, values: Sequence[Any]) -> list[Any]:
        """A row as it is in the table, from what the estimator read."""
        if not self.kinds:
            return list(values)
        return [self.value(column, value) for column, value in enumerate(values)]


def plain_value(kind: ValueKind | None, value: float) -> Any:
    """A value as JSON has it: a number, true or false, or a date of ISO 8601."""
    found = value if kind is None else kind.value(value)
    return found.isoformat() if isinstance(found, date) else found


def as_number(kind: ValueKind | None, value: Any) -> float:
    """The number that an estimator reads; NaN where a value is missing."""
    if is_missing(value):
        return math.nan
    return float(value) if kind is None else kind.number(value)


def value_of_kind(kind: ValueKind | None, value: Any) -> Any:
    """A value of explanations' data as dates and booleans; others as they are."""
    if kind is None or is_missing(value):
        return value
    return kind.value(kind.number(value))


def indicator(name: str, value: Any) -> str:
    """What is 1 for some rows and 0 for all others, such as "(smoker is true)"."""
    return f"({name} is {written(value)})"


def written(value: Any) -> str:
    """A date without its seconds where they are zero, and a boolean as tables have them; others as text.

    >>> written(datetime(2024, 3, 9, 12)), written(date(2024, 3, 9)), written(True), written("True")
    ('2024-03-09 12:00', '2024-03-09', 'true', 'True')
    """
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(" ", "auto" if value.second or value.microsecond else "minutes")
    return str(value)


def _known(kind: ValueKind, value: Any) -> Any:
    return value if is_missing(value) else kind.value(float(value))


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a machine without this time zone: as it is in UTC
        return UTC


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
    """Such as setosa 97% (virginica 3%)."""
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
