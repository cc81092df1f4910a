"""How an answers file knows the table it is about: by its values, and by its file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from planewise._frames import named
from planewise.table import kind_of, polars


@dataclass(frozen=True)
class TableFile:
    """The file of a table: its path relative to the answers file, and the checksum of its bytes."""

    name: str
    sha256: str

    @classmethod
    def of(cls, path: Path, answers: Path) -> Self | None:
        """None for a folder or a pattern, which no answers file can name."""
        if not path.is_file():
            return None
        try:
            name = Path(os.path.relpath(path.resolve(), Path(os.path.realpath(answers)).parent)).as_posix()
        except ValueError:  # Windows: on another drive
            name = path.resolve().as_posix()
        return cls(name, cls.checksum(path))

    @staticmethod
    def checksum(path: Path) -> str:
        """SHA-256 of the bytes."""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def table_checksum(table: Any, names: list[str]) -> str:
    """SHA-256 of the named columns: numbers as numbers, whatever their type, and everything else as text."""
    pl = polars()
    digest = hashlib.sha256(f"{table.height}".encode())
    for name in names:
        values = table[name]
        digest.update(json.dumps(name).encode())
        if kind_of(values.dtype) in ("number", "truth"):
            digest.update(_as_numbers(values).tobytes())
            continue
        words = _as_text(values)
        lengths = words.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy()
        digest.update(lengths.astype("<i8").tobytes())
        digest.update("".join(words.fill_null("").to_list()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def row_fingerprints(table: Any, names: list[str], rows: Sequence[int]) -> Iterator[str]:
    """Short checksums of the values in some rows, which agree wherever `table_checksum` does."""
    part = table.select(named(names))[list(rows)]
    numeric = [name for name in names if kind_of(part[name].dtype) in ("number", "truth")]
    texts = [_as_text(part[name]).to_list() for name in names if name not in numeric]
    numbers = np.column_stack([_as_numbers(part[name]) for name in numeric] or [np.zeros((len(part), 0))])
    begun = hashlib.sha256(json.dumps(names).encode())
    for place, row in enumerate(numbers):
        digest = begun.copy()
        digest.update(row.tobytes())
        digest.update(json.dumps([each[place] for each in texts]).encode())
        yield digest.hexdigest()[:16]


def _as_numbers(values: Any) -> Any:
    """As 64-bit floats, of which one is missing."""
    numbers = values.cast(polars().Float64).fill_null(np.nan).to_numpy()
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8")


def old_fingerprint(values: Sequence[tuple[str, Any]]) -> str:
    """As files of version 1 have it: of values as Python writes them, whatever the types of the table are."""
    text = json.dumps([[name, None if value is None else str(value)] for name, value in values])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _as_text(values: Any) -> Any:
    """A column as text; values of types that polars does not write (lengths of time, lists, ...) as Python does."""
    pl = polars()
    try:
        return values.cast(pl.String)
    except pl.exceptions.PolarsError:
        words = [None if value is None else str(value) for value in values.to_list()]
        return pl.Series(values.name, words, dtype=pl.String)
