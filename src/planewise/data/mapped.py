"""Rows in memory-mapped files: of tables larger than memory, and of what a fit makes from these."""

from __future__ import annotations

import os
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from planewise.data.float32 import Origins

FloatArray = NDArray[np.float32]
BLOCK_VALUES = 2**22  # that are in memory when a file is written


class MappedTable(ABC):
    """A table whose rows are in a file, as float32; estimators that can use it as it is ask it for them."""

    @abstractmethod
    def training_rows(self, estimator: Any, origins: Origins | None = None) -> FloatArray:
        """The rows to fit an estimator on, which learns of the columns; with these origins, if any are given."""

    @abstractmethod
    def prediction_rows(self, estimator: Any) -> FloatArray:
        """The rows as a fitted estimator reads them."""


def is_mapped(rows: NDArray[Any]) -> TypeGuard[np.memmap[Any, Any]]:
    """Whether an array is in a file."""
    return isinstance(rows, np.memmap) and rows.filename is not None


def take_rows(rows: FloatArray, which: NDArray[Any]) -> FloatArray:
    """Some rows; of a table in a file, in a file as well."""
    if not is_mapped(rows):
        return rows[which]
    if which.dtype == bool:
        which = np.flatnonzero(which)
    return write_rows(rows, (rows[which[part]] for part in blocks(len(which), rows.shape[1])), len(which))


def add_columns(rows: FloatArray, further: list[FloatArray]) -> FloatArray:
    """The rows with further columns; of a table in a file, in a file as well."""
    if not further:
        return rows
    if not is_mapped(rows):
        return np.hstack([rows, *further])
    width = rows.shape[1] + sum(each.shape[1] for each in further)
    parts = blocks(len(rows), width)
    return write_rows(rows, (np.hstack([rows[p], *(each[p] for each in further)]) for p in parts), len(rows), width)


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """All rows, as many at a time as are in memory when a file is written."""
    step = max(1, BLOCK_VALUES // max(1, n_columns))
    return (slice(begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step))


def write_rows(like: np.memmap[Any, Any], parts: Iterable[FloatArray], n_rows: int, width: int = 0) -> FloatArray:
    """Rows in a file beside that of others. It is gone when nothing refers to the rows any more."""
    assert like.filename is not None
    folder = Path(like.filename).parent
    handle, name = tempfile.mkstemp(dir=folder, prefix="rows-", suffix=".float32")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                write_block(file, part, folder)
        mapped: np.memmap[Any, Any] = np.memmap(name, np.float32, "r", shape=(n_rows, width or like.shape[1]))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    try:
        os.unlink(name)  # the mapping keeps the content
    except OSError:  # not on Windows, where a file in use stays
        weakref.finalize(mapped, _remove, name)
    return mapped


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)


def write_block(file: Any, values: NDArray[Any], folder: Path) -> None:
    """Append an array to a file; if there is no space, an error that says where."""
    try:
        file.write(np.ascontiguousarray(values).data if values.size else b"")
        file.flush()
    except OSError as error:
        raise OSError(
            error.errno,
            f"Rows cannot be written to the folder {str(folder)!r}: {error.strerror or error}. A table takes 4 bytes "
            "per value there; choose another place with the parameter folder",
        ) from error
