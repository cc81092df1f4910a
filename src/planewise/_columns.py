"""One column of a data frame, as numbers or as categories; what it holds, in words."""

from __future__ import annotations

from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise._categories import Coded, as_label, by_text, distinct_labels, first_places, is_text
from planewise._frames import codes, objects


def coded(column: nw.Series[Any]) -> Coded:
    """A categorical column's values; of a dictionary, only its entries become labels."""
    entry = codes(column) if column.dtype in (nw.Categorical, nw.Enum) and len(column) else None
    if entry is None:
        return by_text(as_values(column))
    first, place = first_places(entry)
    return Coded(as_values(column[first.tolist()]), place)


def as_values(column: nw.Series[Any]) -> NDArray[Any]:
    """A categorical column's values: numbers as they are, others as Python objects, by `as_label`."""
    if column.dtype in (nw.Categorical, nw.Enum):
        native = column.to_native()
        if not nw.dependencies.is_pandas_series(native):
            column = column.cast(nw.String)
        elif hasattr(native.dtype, "pyarrow_dtype"):  # a dictionary of Arrow's, which has no codes of pandas'
            plain = type(native.dtype)(native.dtype.pyarrow_dtype.value_type)
            column = nw.from_native(native.astype(plain), series_only=True)
        else:
            labels = distinct_labels(native.cat.categories.tolist(), column.name)
            if not all(isinstance(label, Real) for label in labels):  # each made once: pandas makes one per row
                return np.array([*labels, np.nan], dtype=object)[native.cat.codes.to_numpy()]  # -1, the last: missing
    values = objects(column)
    if values.dtype.kind in "iuf":
        return values
    values = values.astype(object)
    if is_text(values):
        return values
    out = np.empty(len(values), dtype=object)
    out[:] = [as_label(value) for value in values]
    return out


def column_to_floats(estimator: Any, column: nw.Series[Any], dtype: Any, *, in_fit: bool) -> NDArray[Any]:
    """A column of numbers as an array; a ValueError that names the column if it holds something else."""
    values = numbers_in(column, dtype)
    if values is not None:
        return values
    holds = what_it_holds(column)
    if not in_fit:
        raise ValueError(
            f"Column {column.name!r} held numbers in fit, but now holds {holds}; give it the numbers it held, or "
            "fit again."
        )
    takes_categories = hasattr(estimator, "categorical_features")
    advice = what_to_do(column.dtype, type(estimator).__name__, takes_categories=takes_categories)
    raise ValueError(f"Column {column.name!r} holds {holds}; {advice}, or leave it out.")


def numbers_in(column: nw.Series[Any], dtype: Any) -> NDArray[Any] | None:
    """A column of numbers as an array; None if it holds something else."""
    kind = column.dtype
    if column.null_count() == len(column):  # of whatever type: nothing in it can be misread
        return np.full(len(column), np.nan, dtype=dtype)
    if kind == nw.Boolean:
        column = column.cast(nw.Float32)
    elif not kind.is_numeric():
        if kind not in (nw.Object, nw.Unknown):  # text as an array would take rows times the longest
            return None
        values = column.to_numpy()
        # Plain numbers can hide in a column of objects (ints, floats and None mixed) or a sparse one.
        if all(v is None or isinstance(v, Real) for v in values):
            return np.array([np.nan if v is None else v for v in values], dtype=dtype)
        return None
    with np.errstate(over="ignore"):  # too large for float32: refused as an infinity, by name
        return np.asarray(_with_gaps(column) if column.null_count() else column.to_numpy(), dtype=dtype)


def _with_gaps(column: nw.Series[Any]) -> NDArray[Any]:
    """Numbers of which some are missing."""
    if not column.dtype.is_integer():
        return column.cast(nw.Float64).to_numpy()
    values = column.fill_null(0).to_numpy().astype(np.float64)  # Arrow itself casts no number beyond 2**53
    values[column.is_null().to_numpy()] = np.nan
    return values


def what_it_holds(column: nw.Series[Any]) -> str:
    """What a column holds that has some values, in words."""
    example = repr(column.drop_nulls().to_list()[0])
    return f"{kind_in_words(column.dtype)} such as {example if len(example) <= 60 else example[:57] + '...'}"


def kind_in_words(kind: Any) -> str:
    if kind in (nw.Categorical, nw.Enum):
        return "categories"
    if kind == nw.String:
        return "text"
    if kind == nw.Duration:
        return "durations"
    return "dates" if kind in (nw.Date, nw.Datetime) else f"{kind} values"


def what_to_do(kind: Any, estimator: str, *, takes_categories: bool) -> str:
    """With a column that an estimator cannot be fitted on."""
    if kind in (nw.Date, nw.Datetime):
        return "convert it to a number, such as the days since a date"
    if kind == nw.Duration:
        return "convert it to a number, such as seconds"
    if not takes_categories:
        return f"{estimator} takes numbers only: encode it, as by sklearn.preprocessing.OneHotEncoder in a Pipeline"
    dtype = "" if kind in (nw.Categorical, nw.Enum) else ", give it a category dtype"
    return f"{estimator} needs numbers or categories: name it in categorical_features{dtype}"
