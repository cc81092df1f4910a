"""A table as a plain dict of NumPy columns: the only place that knows polars from pandas.

Numbers are numeric arrays, with NaN where one is missing. Text is an object array of `str`, with
None where one is missing. So everything else needs NumPy alone.
"""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np

from planewise._atomic import write_whole
from planewise._extras import needs

Columns = dict[str, np.ndarray]
Library = Literal["polars", "pandas"]

TARGET = "target"


def is_installed(module: str) -> bool:
    """Tell whether `module` can be imported."""
    try:
        import_module(module)
    except ImportError:
        return False
    return True


def table_library() -> Library:
    """Return the library that reads and writes parquet files: polars, or else pandas."""
    if is_installed("polars"):
        return "polars"
    if is_installed("pandas") and is_installed("pyarrow"):
        return "pandas"
    raise ModuleNotFoundError(needs("Reading this data set", "polars (or pandas with pyarrow)", "data"), name="polars")


def read_parquet(path: Path) -> Columns:
    """Read a parquet file."""
    native = import_module(table_library()).read_parquet(path)
    frame = nw.from_native(native, eager_only=True)
    return {name: _from_series(frame[name]) for name in frame.columns}


def write_parquet(columns: Columns, path: Path) -> None:
    """Write a parquet file that is, at every moment, either whole or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    _build(columns, table_library()).write_parquet(content)
    write_whole(path, content.getvalue())


def _from_series(series: nw.Series[Any]) -> np.ndarray:
    if series.dtype.is_numeric():
        # A copy, because the libraries lend read-only views of their own memory.
        return np.array(series.to_numpy())
    if series.dtype == nw.Boolean and series.null_count() == 0:
        return np.array(series.to_numpy(), dtype=np.int8)
    return text_column(series.to_list())


def text_column(values: list[Any]) -> np.ndarray:
    """Make a text column of `values`; whatever the libraries use for "missing" becomes None."""
    column = np.empty(len(values), dtype=object)
    # The only float among text is pandas' NaN.
    column[:] = [None if v is None or isinstance(v, float) else str(v) for v in values]
    return column


def is_text(column: np.ndarray) -> bool:
    """Tell text from numbers."""
    return column.dtype == object


def is_missing(column: np.ndarray) -> np.ndarray:
    """Mark the rows that have no value."""
    if is_text(column):
        return np.array([value is None for value in column], dtype=bool)
    return np.asarray(np.isnan(column))


def numbers_if_all_are(column: np.ndarray) -> np.ndarray:
    """Turn text into numbers if every value present is one, and into integers if all are whole."""
    if not is_text(column) or is_missing(column).all():
        return column
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in column])
    except ValueError:
        return column
    return integers_if_all_are(numbers)


def integers_if_all_are(column: np.ndarray) -> np.ndarray:
    """Turn floats into integers if nothing is lost."""
    whole = np.isfinite(column).all() and (column == np.round(column)).all()
    return column.astype(np.int64) if whole else column


def take_rows(columns: Columns, keep: np.ndarray) -> Columns:
    """Return the marked rows."""
    return {name: column[keep] for name, column in columns.items()}


def to_array(columns: Columns, name: str) -> np.ndarray:
    """Return the columns side by side as float64; `name` is for the error about text columns."""
    text = [column for column, values in columns.items() if is_text(values)]
    if text:
        shown = ", ".join(text[:5]) + (", ..." if len(text) > 5 else "")
        raise ValueError(
            f"Data set {name!r} has text columns ({shown}), which an array of numbers cannot hold. Pass as_frame=True "
            "to get them as category columns."
        )
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=np.float64)
    for j, values in enumerate(columns.values()):
        array[:, j] = values
    return array


def to_frame(columns: Columns, library: Library) -> Any:
    """Return a native frame of `library`, text as its category type, missing as its null."""
    frame = _build(columns, library)
    text = [name for name, values in columns.items() if is_text(values)]
    if text:
        frame = frame.with_columns(nw.col(*text).cast(nw.Categorical))
    return frame.to_native()


def _build(columns: Columns, library: Library) -> nw.DataFrame[Any]:
    # Lists, because polars would keep an object array as opaque Python objects.
    table = {name: v.tolist() if is_text(v) else v for name, v in columns.items()}
    frame: nw.DataFrame[Any] = nw.from_native(import_module(library).DataFrame(table), eager_only=True)
    floats = [nw.col(name) for name, v in columns.items() if v.dtype.kind == "f"]
    # What `when` leaves out is null, which polars keeps apart from NaN.
    return frame.with_columns(*(nw.when(~column.is_nan()).then(column) for column in floats))
