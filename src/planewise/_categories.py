"""Categorical columns: which they are, and their categories as the numbers 0, 1, ... that the core knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Categories = dict[int, NDArray[Any]]  # by column: the values seen in fit, sorted

MOST_CATEGORIES = 65_535


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
    if names is None:
        raise ValueError("categorical_features has names, but X has none: pass a data frame, or numbers of columns.")
    unknown = [name for name in chosen.tolist() if name not in names]
    if unknown:
        raise ValueError(f"categorical_features names {unknown[0]!r}, which is no column of X.")
    return sorted({names.index(name) for name in chosen.tolist()})


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


def encode(values: NDArray[Any], known: NDArray[Any]) -> NDArray[np.float32]:
    """The number of each value's category: NaN for a missing one, one past the last for one not seen in fit."""
    missing = _missing(values)
    code = np.full(len(values), np.float32(len(known)))
    if len(known):
        number = {value: k for k, value in enumerate(known.tolist())}
        code = np.array([number.get(value, len(known)) for value in values.tolist()], dtype=np.float32)
    code[missing] = np.nan
    return code


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([value is None or value is _PANDAS_NA or value != value for value in values.tolist()], dtype=bool)


class _Nothing:
    """Stands for pandas.NA where pandas is not installed."""


try:  # pandas.NA does not say whether it equals itself
    from pandas import NA as _PANDAS_NA
except ImportError:
    _PANDAS_NA = _Nothing()
