"""Columns of a data frame that are read together: plain numbers of one type, and categories by their codes."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise.data.categories import (
    Coded,
    as_label,
    by_text,
    distinct_labels,
    first_places,
    is_text,
)

FLOATS = {"float32", "float64"}
PLAIN = FLOATS | {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
NUMPY_NAMES = {"boolean": "bool", "float": "float32", "double": "float64"}  # of types that polars and Arrow name so
DTYPES = {np.dtype(name): name for name in PLAIN}  # none with swapped bytes


def named(names: Iterable[str]) -> Any:
    """Columns of a polars frame by their exact names; a text alone such as "*" or "^a.*$" would be a pattern."""
    import polars.selectors

    return polars.selectors.by_name(*names)


def refuse_patterns(names: Iterable[Any], what: str = "the table", error: type[ValueError] = ValueError) -> None:
    """An error for a name that polars takes for a pattern even where it is the name of a series."""
    for name in names:
        if isinstance(name, str) and name.startswith("^") and name.endswith("$"):
            raise error(
                f"{what} has a column {name!r}: polars, which reads it, takes names that begin with ^ and end with $ "
                "for patterns. Rename it."
            )


def plain_columns(frame: nw.DataFrame[Any]) -> dict[str, list[int]]:
    """By type, the places of columns that hold numbers or booleans as a NumPy array does.

    Only columns of one type may become one array: a large whole number that passes through another type is rounded.
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(_type_names(nw.to_native(frame))):
        if name in PLAIN:
            places.setdefault(name, []).append(place)
    return places


def _type_names(native: Any) -> list[str]:
    """The type of each column, empty for whole numbers or booleans of which some are missing."""
    if nw.dependencies.is_pandas_dataframe(native):
        return [DTYPES.get(kind, "") if isinstance(kind, np.dtype) else "" for kind in native.dtypes.tolist()]
    if nw.dependencies.is_polars_dataframe(native):
        kinds = native.dtypes
        missing = list(native.null_count().row(0)) if kinds else []
    elif nw.dependencies.is_pyarrow_table(native):
        kinds, missing = native.schema.types, [column.null_count for column in native.columns]
    else:
        return []
    written = {kind: str(kind).lower() for kind in set(kinds)}
    names = [NUMPY_NAMES.get(written[kind], written[kind]) for kind in kinds]
    return [name if name in FLOATS or not gaps else "" for name, gaps in zip(names, missing, strict=True)]


def block(frame: nw.DataFrame[Any], places: list[int]) -> NDArray[Any]:
    """Plain columns of one type as one array."""
    native = nw.to_native(frame)
    if nw.dependencies.is_pyarrow_table(native):
        return np.stack([native.column(place).to_numpy() for place in places], axis=1)
    if len(places) < native.shape[1]:
        if nw.dependencies.is_pandas_dataframe(native):
            native = native.iloc[:, places]
        else:
            columns = native.get_columns()
            native = type(native)([columns[place] for place in places])
    return np.asarray(native.to_numpy())


def column_at(frame: nw.DataFrame[Any], place: int) -> nw.Series[Any]:
    """One column, in a time that does not depend on how many there are."""
    native = nw.to_native(frame)
    if nw.dependencies.is_pandas_dataframe(native):
        return nw.from_native(native.iloc[:, place], series_only=True)
    if nw.dependencies.is_polars_dataframe(native):
        return nw.from_native(native.to_series(place), series_only=True)
    if nw.dependencies.is_pyarrow_table(native):
        return nw.from_native(native.column(place), series_only=True).alias(native.schema.field(place).name)
    return frame[:, place]


def objects(column: nw.Series[Any]) -> NDArray[Any]:
    """The values as an array; text as Python objects, never as an array of fixed width."""
    native = nw.to_native(column)
    return np.asarray(native.to_numpy() if nw.dependencies.is_polars_series(native) else column.to_numpy())


def codes(column: nw.Series[Any]) -> NDArray[Any] | None:
    """The entry of each row in the dictionary of a categorical column, -1 for missing ones; None if it has none."""
    native = nw.to_native(column)
    if nw.dependencies.is_polars_series(native):
        physical = native.to_physical()
        return np.where(native.is_null().to_numpy(), -1, physical.fill_null(0).to_numpy().astype(np.int64))
    if nw.dependencies.is_pandas_series(native):
        if not hasattr(native.dtype, "pyarrow_dtype"):
            return np.asarray(native.cat.codes)
        native = native.array.__arrow_array__()
    if not nw.dependencies.is_pyarrow_chunked_array(native):
        return None
    indices = [chunk.indices.cast("int64").fill_null(-1) for chunk in native.unify_dictionaries().chunks]
    return np.concatenate([part.to_numpy(zero_copy_only=False) for part in indices]) if indices else None


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
    """Return what a data type holds, such as "text"."""
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
