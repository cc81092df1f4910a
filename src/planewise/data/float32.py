"""Tables as the dense rows that estimators read: sparse ones, infinities, and columns that float32 cannot resolve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Origins = dict[int, float]  # by column: the number that is subtracted in float64 before the rest becomes float32

MOST_DENSE_BYTES = 4 * 2**30  # of the dense table that a sparse one becomes
LARGEST = float(np.finfo(np.float32).max)
FEWEST_STEPS = 1024  # of float32 that a column's range must have to be read without an origin
MOST_ROUNDED = 8 * FEWEST_STEPS  # values of a column that are kept to decide on its origin

_STRETCH = 2**18  # values that are made dense or converted at a time
RESOLVED = [np.dtype(kind) for kind in ("bool", "int8", "int16", "uint8", "uint16", "float16", "float32")]
_LOST_BITS = np.uint64(2**29 - 1)  # of a float64: those that a float32 has no place for
_NOISE = 16  # last places of float64: closer numbers that are not whole differ by rounding only


def require_dense_size(X: Any, dtype: DTypeLike) -> None:
    """ValueError if a sparse table would be too large as a dense one."""
    n_bytes = X.shape[0] * X.shape[1] * np.dtype(dtype).itemsize
    if n_bytes > MOST_DENSE_BYTES:
        raise ValueError(
            f"X is sparse and has {X.shape[0]:,} rows and {X.shape[1]:,} columns; as a dense table of "
            f"{np.dtype(dtype)} it would take {n_bytes / 2**30:,.1f} GiB, and at most "
            f"{MOST_DENSE_BYTES / 2**30:g} GiB are allowed. "
            "Reduce its columns first, for example by sklearn.decomposition.TruncatedSVD or "
            "sklearn.feature_selection.SelectKBest, or use fewer rows."
        )


def stretches(values: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
    """An array or a CSR table as dense pieces of some rows each."""
    step = max(1, _STRETCH // max(1, values.shape[1]))
    for begin in range(0, values.shape[0], step):
        part = values[begin : begin + step]
        yield slice(begin, begin + step), part if isinstance(part, np.ndarray) else part.toarray()


def fill(out: NDArray[Any], columns: Any, values: Any, origins: Origins) -> None:
    """Write a table into these columns of `out`; `origins` are those of its own columns."""
    with np.errstate(over="ignore", invalid="ignore"):  # too large for float32: an infinity
        for rows, part in stretches(values):
            if not origins:
                out[rows, columns] = part
                continue
            shifted = part.astype(np.float64)
            for j, origin in origins.items():
                shifted[:, j] = _less_origin(part[:, j], origin)
            out[rows, columns] = shifted


def _less_origin(column: NDArray[Any], origin: float) -> NDArray[np.float64]:
    """What is left of a column; whole numbers are subtracted as such, for float64 does not hold all of them."""
    rough = column.astype(np.float64) - origin
    if column.dtype.kind not in "iu" or not origin.is_integer():
        return rough
    exact = (column.astype(np.uint64) - np.uint64(int(origin) % 2**64)).view(np.int64)  # wraps round, and back
    return np.where(np.abs(rough) < 2.0**62, exact.astype(np.float64), rough)


# ------------------------------------------------------------------------------------------------------------- origins
def find_origins(values: Any, counts: NDArray[np.bool_] | None = None) -> Origins:
    """The columns of a table that float32 cannot resolve, each with a number near its values.

    That are columns whose rounded values would have fewer than `FEWEST_STEPS` steps of float32 between the smallest
    and the largest: all values, or, if float32 merges at least half of these, the values that it cannot hold. (Then a
    code such as 0 or -1 among them does not matter.) Only different values matter, not how often they occur.

    Parameters
    ----------
    values : array or CSR table of any numeric type
    counts : bool array, default=None
        The rows to look at.
    """
    if values.dtype in RESOLVED:
        return {}
    suspects = np.flatnonzero(np.logical_and(*_rounded_and_close(values, counts)))
    found = ((int(j), origin_of(_spread_of(column))) for j, column in _columns(values, counts, suspects))
    return {j: origin for j, origin in found if origin is not None}


@dataclass(frozen=True, eq=False)
class Spread:
    """What of a column's values decides whether it has an origin; of some rows, to be joined with that of others.

    Attributes
    ----------
    low, high : int, float or None
        The smallest and the largest value that is finite in float32; None if there is none.
    rounded : array
        The different values that float32 does not hold, ascending; of more than `MOST_ROUNDED`, some of them with the
        first and the last.
    is_whole : bool
        Whether all of those are whole numbers.
    is_settled : bool
        Whether the column has no origin, whatever other rows hold: rounded values are far apart.
    """

    low: Any
    high: Any
    rounded: NDArray[Any]
    is_whole: bool = True
    is_settled: bool = False

    def joined(self, other: Spread) -> Spread:
        """The spread of the rows of both."""
        lows = [each for each in (self.low, other.low) if each is not None]
        highs = [each for each in (self.high, other.high) if each is not None]
        rounded = np.concatenate([self.rounded, other.rounded]) if len(other.rounded) else self.rounded
        return Spread(
            min(lows, default=None),
            max(highs, default=None),
            _thinned(np.unique(rounded)) if len(other.rounded) else rounded,
            self.is_whole and other.is_whole,
            self.is_settled or other.is_settled,
        )

    def as_floats(self) -> Spread:
        """The same for whole numbers of which float64 holds every one."""
        low, high = (None if each is None else float(each) for each in (self.low, self.high))
        return Spread(low, high, self.rounded.astype(np.float64), self.is_whole, self.is_settled)


def spreads(values: Any, counts: NDArray[np.bool_] | None = None) -> list[Spread]:
    """The spread of each column; the parameters are those of `find_origins`."""
    lossy, close = _rounded_and_close(values, counts)
    ends = _ends(values, counts)
    none = np.empty(0, dtype=values.dtype)
    found = [Spread(*ends[j], none, is_settled=bool(lossy[j] and not close[j])) for j in range(values.shape[1])]
    for j, column in _columns(values, counts, np.flatnonzero(lossy & close)):
        found[j] = _spread_of(column)
    return found


def _ends(values: Any, counts: NDArray[np.bool_] | None) -> list[tuple[Any, Any]]:
    """The smallest and the largest value of each column that is finite in float32."""
    found: list[tuple[Any, Any]] = [(None, None)] * values.shape[1]
    for rows, part in stretches(values):
        part = part if counts is None else part[counts[rows]]
        if not len(part):
            continue
        low, high = np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
        if part.dtype.kind == "f" and not (np.maximum(-low, high) <= LARGEST).all():
            part = np.where(np.abs(part) <= LARGEST, part, np.nan)
            low, high = np.fmin.reduce(part, axis=0), np.fmax.reduce(part, axis=0)
        for j, ends in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            if ends[0] == ends[0]:
                before = found[j]
                found[j] = ends if before[0] is None else (min(before[0], ends[0]), max(before[1], ends[1]))
    return found


def _rounded_and_close(values: Any, counts: NDArray[np.bool_] | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each column, whether some values are rounded, and whether none of the first ones of these are far apart."""
    lossy = np.zeros(values.shape[1], dtype=bool)
    close = np.ones(values.shape[1], dtype=bool)
    if values.dtype in RESOLVED:
        return lossy, close
    for rows, part in stretches(values):
        part = part if counts is None else part[counts[rows]]
        if not len(part):
            continue
        lossy |= _may_be_rounded(part)
        left = np.flatnonzero(lossy & close)
        for j in left[: len(left) if rows.start == 0 else 0]:
            rounded = _rounded_values(part[:, j])
            close[j] = not len(rounded) or _steps(rounded[0].item(), rounded[-1].item()) < 2 * FEWEST_STEPS
    return lossy, close


def _may_be_rounded(part: NDArray[Any]) -> NDArray[np.bool_]:
    if part.dtype == np.float64:
        return np.bitwise_or.reduce(part.view(np.uint64), axis=0) & _LOST_BITS != 0
    return np.maximum(np.abs(part.max(axis=0).astype(float)), np.abs(part.min(axis=0).astype(float))) > 2.0**24


def _columns(
    values: Any, counts: NDArray[np.bool_] | None, places: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Some columns, each with its place."""
    if len(places):
        parts = []
        for rows, part in stretches(values):
            parts.append(part[:, places] if counts is None else part[counts[rows]][:, places])
        yield from zip(places.tolist(), np.concatenate(parts).T, strict=True)


def _rounded_values(column: NDArray[Any]) -> NDArray[Any]:
    """The different values that float32 does not hold, ascending."""
    if column.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            column = np.unique(column[np.abs(column) <= LARGEST])
        return column[column.astype(np.float32) != column]
    column = np.unique(column)
    size = column.astype(np.uint64) if column.dtype.kind == "u" else np.abs(column).astype(np.uint64)
    last_bit = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    return column[size // last_bit > 2**24]


def _spread_of(column: NDArray[Any]) -> Spread:
    rounded = _rounded_values(column)
    if column.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            column = column[np.abs(column) <= LARGEST]
    low, high = (column.min().item(), column.max().item()) if len(column) else (None, None)
    return Spread(low, high, _thinned(rounded), bool((rounded == np.floor(rounded)).all()))


def _thinned(rounded: NDArray[Any]) -> NDArray[Any]:
    """At most `MOST_ROUNDED` of these ascending values; as many are more than float32 has in `FEWEST_STEPS`, twice."""
    if len(rounded) <= MOST_ROUNDED:
        return rounded
    return rounded[np.linspace(0, len(rounded) - 1, MOST_ROUNDED).astype(np.intp)]


def origin_of(spread: Spread) -> float | None:
    """The origin of a column, None if float32 resolves it."""
    rounded = spread.rounded
    if spread.is_settled or not len(rounded):
        return None
    low, high = spread.low, spread.high
    if not _steps(low, high) < FEWEST_STEPS:
        low, high = rounded[0].item(), rounded[-1].item()
        if not _steps(low, high) < FEWEST_STEPS or 2 * len(np.unique(rounded.astype(np.float32))) > len(rounded):
            return None
    top = max(abs(low), abs(high))
    if low == high or not _spacing(high - low) < _spacing(top):  # one value, or too small for float32 from wherever
        return None
    is_noise = high - low <= _NOISE * np.spacing(float(top)) and not spread.is_whole
    return None if is_noise else _round_number_below(low, high - low)


def _round_number_below(value: Any, size: Any) -> float:
    """A number with few digits, for people to read: the value if it is whole, or a number at most `size` below it.

    >>> _round_number_below(1_700_000_031.25, 600.0), _round_number_below(1_700_000_031, 600)
    (1700000000.0, 1700000031.0)
    """
    if float(value).is_integer():
        return float(value)
    digits = math.floor(math.log10(size))
    if digits < 0:  # dividing by a power of ten is exact to the last digit, multiplying by 0.01 is not
        return math.floor(value * 10**-digits) / 10**-digits
    return float(value // 10**digits * 10**digits)


def _steps(low: Any, high: Any) -> float:
    """How many steps of float32 lie between two values."""
    return float(high - low) / _spacing(max(abs(low), abs(high)))


def _spacing(size: float) -> float:
    return float(np.spacing(np.float32(size)))
