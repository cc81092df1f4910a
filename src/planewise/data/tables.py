"""Rows, columns and values of tables of any kind: arrays, sparse matrices, data frames."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from planewise.data.categories import is_missing
from planewise.data.float32 import require_dense_size
from planewise.data.frames import column_at, objects
from planewise.data.problem import is_table

Numbers = NDArray[np.float64]


def n_rows(X: Any) -> int:
    """Return the number of rows of a table of any kind."""
    if issparse(X):
        return int(X.shape[0])
    return len(nw.from_native(X, eager_only=True)) if is_table(X) else len(X)


def as_array(X: Any) -> NDArray[Any]:
    """What is not a data frame as a dense array."""
    if issparse(X):
        require_dense_size(X, X.dtype)
        return np.asarray(X.toarray())
    return np.asarray(X)


def take(X: Any, rows: NDArray[Any]) -> Any:
    """Some rows of a table, as a table of the same kind."""
    if is_table(X):
        return nw.to_native(nw.from_native(X, eager_only=True)[rows.tolist()])
    return X.tocsr()[rows] if issparse(X) else np.asarray(X)[rows]


def rows_as_given(X: Any) -> list[Any]:
    """The rows of an array or data frame, each as a sequence of the user's own values."""
    return list(nw.from_native(X, eager_only=True).iter_rows()) if is_table(X) else as_array(X).tolist()


def numeric_column(X: Any, place: int, name: str) -> Numbers:
    """A column as numbers, or an error that names it."""
    values = column_values(X, place)
    try:
        return np.array([np.nan if is_missing(v) else v for v in values] if values.dtype == object else values, float)
    except (TypeError, ValueError):
        raise ValueError(f"Feature {name!r} does not hold numbers, so it cannot be an axis.") from None


def column_values(X: Any, place: int) -> NDArray[Any]:
    """Return the values of a column as they were given."""
    if is_table(X):
        column = column_at(nw.from_native(X, eager_only=True), place)
        values = objects(column)
        return values if values.dtype.kind in "iufb" else values.astype(object)
    return X.tocsc()[:, [place]].toarray()[:, 0] if issparse(X) else np.asarray(X)[:, place]


def usual_row(X: Any) -> list[Any]:
    """One row of medians; of columns that hold no numbers, the most frequent value."""
    width = nw.from_native(X, eager_only=True).shape[1] if is_table(X) else np.shape(X)[1]
    return [_usual(X, place) for place in range(width)]


def _usual(X: Any, place: int) -> Any:
    values = column_values(X, place)
    if values.dtype.kind in "iufb":
        known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        return float(np.median(known)) if len(known) else np.nan
    kept = [value for value in values.tolist() if not is_missing(value)]
    if not kept:
        return None
    found, counts = np.unique(np.array([str(value) for value in kept], dtype=object), return_counts=True)
    wanted = found[counts.argmax()]
    return next(value for value in kept if str(value) == wanted)


def rows_like(X: Any, usual: list[Any], varied: dict[int, ArrayLike]) -> Any:
    """A table of the kind of X: the `varied` columns as given, the others as in the row `usual`."""
    length = len(np.asarray(next(iter(varied.values()))))
    if not is_table(X):
        rows = np.empty((length, len(usual)), dtype=np.float64)
        for place, value in enumerate(usual):
            rows[:, place] = varied.get(place, value)
        return rows
    frame = nw.from_native(X, eager_only=True)
    columns, floats = {}, {frame.columns[place] for place in varied}
    for place, name in enumerate(frame.columns):
        if place in varied:
            columns[name] = np.asarray(varied[place], dtype=np.float64).tolist()
        else:
            columns[name] = [usual[place]] * length
    made = nw.from_dict(columns, backend=frame.implementation)
    # Columns that vary, and whole numbers whose median may be none, stay floats.
    kept = [made[name].cast(kind) for name, kind in frame.schema.items() if not (name in floats or kind.is_integer())]
    return nw.to_native(made.with_columns(*kept) if kept else made)
