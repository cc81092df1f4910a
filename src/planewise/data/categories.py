"""Categorical columns: which they are, and their categories as the numbers 0, 1, ... that the core knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise._params import Limit

Categories = dict[int, NDArray[Any]]  # by column: the values seen in fit, sorted

MOST_CATEGORIES = 65_535


def categorical_limit() -> Limit:
    """What the parameter ``categorical_features`` may be."""
    return Limit(
        lambda value: (
            value is None
            or (isinstance(value, str) and value == "from_dtype")
            or (not isinstance(value, (str, Mapping)) and np.ndim(value) == 1)
        ),
        "'from_dtype', a list of columns (names, numbers or a mask) or None",
    )


def categorical_columns(given: Any, names: list[str] | None, n_columns: int, by_dtype: list[int]) -> list[int]:
    """The columns that `categorical_features` means; `by_dtype` are those whose data type says so."""
    if given is None:
        return []
    if isinstance(given, str):
        return by_dtype
    chosen = np.asarray(given)
    if chosen.size == 0:
        return []
    if chosen.dtype.kind == "b":
        if len(chosen) != n_columns:
            raise ValueError(
                f"categorical_features has {len(chosen)} entries as a mask, but X has {n_columns} columns."
            )
        return [int(j) for j in np.flatnonzero(chosen)]
    if chosen.dtype.kind in "iu":
        wrong = chosen[(chosen < 0) | (chosen >= n_columns)]
        if wrong.size:
            raise ValueError(f"categorical_features names column {wrong[0]}, but X has {n_columns} columns.")
        return sorted({int(j) for j in chosen})
    if chosen.dtype.kind not in "UO":
        raise ValueError(f"categorical_features must hold names, whole numbers or a mask; got {chosen.dtype} values.")
    if names is None:
        raise ValueError(
            "categorical_features has column names, but X has none; pass a data frame, or use column numbers."
        )
    place = {name: j for j, name in reversed(list(enumerate(names)))}  # the first of equal names
    unknown = [name for name in chosen.tolist() if name not in place]
    if unknown:
        raise ValueError(f"categorical_features names {unknown[0]!r}, which is not a column of X.")
    return sorted({place[name] for name in chosen.tolist()})


def as_label(value: Any) -> Any:
    """A category as it is kept: strings, numbers and booleans as they are, anything else by its text.

    Intervals (of ``pandas.cut``), dates and periods can then be saved, exported and named without the library that
    made them, and are found again whether a later table has the objects or their text.
    """
    return value if isinstance(value, (str, Real, np.bool_)) or is_missing(value) else str(value)


def distinct_labels(values: list[Any], column: str) -> list[Any]:
    """The labels of different categories; an error if two of them have the same text."""
    labels = [as_label(value) for value in values]
    twice = next((label for label, count in Counter(labels).items() if count > 1), None)
    if twice is not None:
        raise ValueError(
            f"Column {column!r} is categorical, and two of its categories have the same text {twice!r}; make their "
            "texts different."
        )
    return labels


@dataclass(frozen=True)
class Coded:
    """The values of a categorical column, each once or as they come, and the place of each row's value among them."""

    distinct: NDArray[Any]  # in the order of the rows
    place: NDArray[np.intp] | slice


def first_places(code: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The row in which each code is first, in the order of rows, and for each row the place of its code among them."""
    if code.size and code.min() >= -1 and code.max() < 2**15:
        code = code.astype(np.int16)  # sorted in a fraction of the time
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[place]


def is_text(values: NDArray[Any]) -> bool:
    """Whether these are strings, perhaps with missing values (None, NaN, pandas.NA) or floats among them."""
    kinds = {kind.__name__ for kind in set(map(type, values.tolist()))} if values.dtype.kind == "O" else set()
    return "str" in kinds and kinds <= {"str", "float", "NoneType", "NAType"}


def by_text(values: NDArray[Any]) -> Coded:
    """Text, each value once; any other values as they come, because equal ones can differ, such as 1 and True."""
    if not is_text(values):
        return Coded(values, slice(None))
    listed = values.tolist()
    number = {value: place for place, value in enumerate(dict.fromkeys(listed))}
    distinct = np.empty(len(number), dtype=object)
    distinct[:] = list(number)
    return Coded(distinct, np.fromiter(map(number.__getitem__, listed), np.intp, len(listed)))


def learn_categories(values: NDArray[Any], column: str) -> NDArray[Any]:
    """The distinct values of a categorical column, sorted, without missing ones."""
    present = values[~_missing(values)]
    try:
        known = np.unique(present)
    except TypeError:
        raise ValueError(
            f"Column {column!r} is categorical and mixes values that have no order, such as words and "
            "numbers; make them all strings."
        ) from None
    if len(known) > MOST_CATEGORIES:
        raise ValueError(
            f"Column {column!r} has {len(known)} categories; at most {MOST_CATEGORIES} are possible. "
            "Is it an identifier? Leave it out, or encode it otherwise."
        )
    return known


def encode(values: NDArray[Any], known: NDArray[Any], column: str) -> NDArray[np.float32]:
    """The number of each value's category: NaN for a missing one, one past the last for one not seen in fit."""
    missing = _missing(values)
    if values.dtype.kind in "iuf" and known.dtype.kind in "iuf":
        place = np.minimum(np.searchsorted(known, values), max(len(known) - 1, 0))
        seen = known[place] == values if len(known) else np.zeros(len(values), dtype=bool)
        code = np.where(seen, place, len(known)).astype(np.float32)
    else:
        number = {value: k for k, value in enumerate(known.tolist())}
        code = np.array([number.get(value, len(known)) for value in values.tolist()], dtype=np.float32)
    code[missing] = np.nan
    if len(known) and not missing.all() and not (code < len(known)).any():
        mine, theirs = known.tolist()[0], values[~missing].tolist()[0]
        if isinstance(mine, str) != isinstance(theirs, str):  # not new categories, but another way to write them
            raise ValueError(
                f"Column {column!r} had categories such as {mine!r} in fit, but now has values such as {theirs!r}."
            )
    return code


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([is_missing(value) for value in values.tolist()], dtype=bool)


def is_missing(value: Any) -> bool:
    """None, NaN, or pandas.NA, which does not say whether it equals itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


# Characters of a text in an array of fixed width, where each value takes as much memory as the longest one. An array
# with a longer text holds Python objects instead.
WIDEST_TEXT = 256
SMALL_ARRAY = 4096  # bytes; below, texts of any lengths are in an array of fixed width
LONGEST_TEXT = 10_000  # characters of a category, a class or a name that a model file can hold


def as_label_array(values: Any) -> NDArray[Any]:
    """Convert labels (a list, a Series, an array) to an array; of Python objects if any label is a long text."""
    if nw.dependencies.is_polars_series(values) and values.dtype == nw.dependencies.get_polars().String:
        values = values.to_list()  # the Series itself would become an array of fixed width
    if isinstance(values, (list, tuple)) and _has_long_text(values):
        return np.array(values, dtype=object)
    array = np.asarray(values)
    return array.astype(object) if array.dtype.kind == "U" and array.itemsize > 4 * WIDEST_TEXT else array


def text_array(texts: list[str]) -> NDArray[Any]:
    """Texts as an array of fixed width, or of Python objects if some are long, or much longer than the others."""
    longest = max(map(len, texts), default=0)
    is_uneven = 4 * longest * len(texts) > 16 * sum(map(len, texts)) + SMALL_ARRAY
    return np.array(texts, dtype=object if longest > WIDEST_TEXT or is_uneven else np.str_)


def _has_long_text(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list, or one of the lists in it, has a text too long for an array of fixed width."""
    for value in values:
        if isinstance(value, str):
            if len(value) > WIDEST_TEXT:
                return True
        elif isinstance(value, (list, tuple)) and _has_long_text(value):
            return True
    return False
