"""Columns of a data frame that are read together: plain numbers of one type, and categories by their codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

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
