"""Round dates along an axis of days since 1970, and the two values of a boolean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.data.values import Booleans, Dates, ValueKind, value_in_words

Numbers = NDArray[np.float64]
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)
DAYS = (1, 2, 7, 14)
MINUTES = (1, 5, 15, 30, 60, 180, 360, 720)


def ticks_of_kind(kind: ValueKind, low: float, high: float, most: int) -> tuple[Numbers, list[str]]:
    """At most so many round values from low to high, as numbers and in words; fewer where the words are long.

    >>> ticks_of_kind(Dates(), 19_000.0, 19_400.0, 4)[1]
    ['2022-04', '2022-07', '2022-10', '2023-01']
    """
    if isinstance(kind, Booleans):
        both = [value for value in (0.0, 1.0) if low <= value <= high]
        return np.array(both), [value_in_words(bool(value)) for value in both]
    for find, step, words in _steps(kind):
        at = find(low, high, max(min(most, 3), round(most * ROOM[find])), step)
        if at is not None:
            return np.array([kind.number(each) for each in at]), [words(each) for each in at]
    return np.array([low]), [value_in_words(kind.value(low))]


Find = Callable[[float, float, int, int], Sequence[date] | None]


def _steps(kind: Dates) -> Iterator[tuple[Find, int, Callable[[Any], str]]]:
    """What finds round dates at a step, the finest first, and how these are written."""
    if kind.clock is not None:
        yield from ((_moments, step, lambda at: value_in_words(kind.value(kind.number(at)))) for step in MINUTES)
    yield from ((_days, step, date.isoformat) for step in DAYS)
    yield from ((_months, step, lambda at: at.isoformat()[:7]) for step in MONTHS if step < 12)
    yield from ((_months, step, lambda at: at.isoformat()[:4]) for step in MONTHS if step >= 12)


def _moments(low: float, high: float, most: int, step: int) -> list[datetime] | None:
    first, last = np.ceil(low * 1440 / step), np.floor(high * 1440 / step)
    if not 2 <= last - first + 1 <= most:
        return None
    start = datetime(1970, 1, 1, tzinfo=UTC)
    return [start + timedelta(minutes=float(at * step)) for at in np.arange(first, last + 1)]


def _days(low: float, high: float, most: int, step: int) -> list[date] | None:
    first, last = np.ceil(low / step), np.floor(high / step)
    if not 1 <= last - first + 1 <= most:
        return None
    return [date(1970, 1, 1) + timedelta(days=float(at * step)) for at in np.arange(first, last + 1)]


def _months(low: float, high: float, most: int, step: int) -> list[date] | None:
    """First days of months, of years, or of round years."""
    try:
        first, last = (date(1970, 1, 1) + timedelta(days=end) for end in (np.ceil(low), np.floor(high)))
    except OverflowError:
        return None
    start, end = 12 * first.year + first.month - 1 + (first.day > 1), 12 * last.year + last.month - 1
    places = range(-(-start // step) * step, end + 1, step)
    if not 1 <= len(places) <= most:
        return None
    return [date(max(at // 12, 1), at % 12 + 1, 1) for at in places]


ROOM: dict[Any, float] = {_moments: 0.4, _days: 0.6, _months: 1.0}  # for words so long, as a share
