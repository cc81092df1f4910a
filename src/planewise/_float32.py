"""Tables as the dense rows that estimators read: sparse ones, infinities, and columns that float32 cannot resolve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Origins = dict[int, float]  # by column: the number that is subtracted in float64 before the rest becomes float32

MOST_DENSE_BYTES = 4 * 2**30  # of the dense table that a sparse one becomes
LARGEST = float(np.finfo(np.float32).max)
FEWEST_STEPS = 1024  # of float32 that a column's range must have to be read without an origin

_STRETCH = 2**18  # values that are made dense or converted at a time
_RESOLVED = [np.dtype(kind) for kind in ("bool", "int8", "int16", "uint8", "uint16", "float16", "float32")]
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
    if values.dtype in _RESOLVED:
        return {}
    suspects = _suspects(values, counts)
    if not len(suspects):
        return {}
    found = {}
    for j, column in zip(suspects, _columns(values, counts, suspects), strict=True):
        origin = _origin_of(column)
        if origin is not None:
            found[int(j)] = origin
    return found


def _suspects(values: Any, counts: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """The columns that may need an origin: some values are rounded, and none of the first ones are far apart."""
    lossy = np.zeros(values.shape[1], dtype=bool)
    suspect = np.ones(values.shape[1], dtype=bool)
    for rows, part in stretches(values):
        part = part if counts is None else part[counts[rows]]
        if not len(part):
            continue
        lossy |= _may_be_rounded(part)
        left = np.flatnonzero(lossy & suspect)
        for j in left[: len(left) if rows.start == 0 else 0]:
            suspect[j] = _steps(_rounded_values(part[:, j])) < 2 * FEWEST_STEPS
    return np.flatnonzero(lossy & suspect)


def _may_be_rounded(part: NDArray[Any]) -> NDArray[np.bool_]:
    if part.dtype == np.float64:
        return np.bitwise_or.reduce(part.view(np.uint64), axis=0) & _LOST_BITS != 0
    return np.maximum(np.abs(part.max(axis=0).astype(float)), np.abs(part.min(axis=0).astype(float))) > 2.0**24


def _columns(values: Any, counts: NDArray[np.bool_] | None, places: NDArray[np.intp]) -> NDArray[Any]:
    """Some columns, each as one row."""
    parts = []
    for rows, part in stretches(values):
        parts.append(part[:, places] if counts is None else part[counts[rows]][:, places])
    return np.concatenate(parts).T


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


def _origin_of(column: NDArray[Any]) -> float | None:
    rounded = _rounded_values(column)
    if not len(rounded):
        return None
    if column.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            column = column[np.abs(column) <= LARGEST]
    ends = np.array([column.min(), column.max()])
    if not _steps(ends) < FEWEST_STEPS:
        ends = rounded
        if not _steps(rounded) < FEWEST_STEPS or 2 * len(np.unique(rounded.astype(np.float32))) > len(rounded):
            return None
    low, high = ends[0].item(), ends[-1].item()
    top = max(abs(low), abs(high))
    if low == high or not _spacing(high - low) < _spacing(top):  # one value, or too small for float32 from wherever
        return None
    is_noise = high - low <= _NOISE * np.spacing(float(top)) and not (rounded == np.floor(rounded)).all()
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


def _steps(ascending: NDArray[Any]) -> float:
    """How many steps of float32 lie between the first and the last of these."""
    if not len(ascending):
        return 0.0
    low, high = ascending[0].item(), ascending[-1].item()
    return float(high - low) / _spacing(max(abs(low), abs(high)))


def _spacing(size: float) -> float:
    return float(np.spacing(np.float32(size)))
