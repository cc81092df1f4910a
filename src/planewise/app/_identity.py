"""Checksums of a model, a table and a row: what an answers file says it belongs to."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from planewise.io._arrays import ArrayWriter
from planewise.io._models import pack_model
from planewise.table import TableModel
from planewise.table._columns import kind_of
from planewise.table._polars import polars


def model_checksum(model: TableModel) -> str:
    """Of all that a model file would hold but versions; the same before saving and after loading."""
    arrays = ArrayWriter()
    packed = pack_model(model, arrays)
    digest = hashlib.sha256(json.dumps(packed, sort_keys=True).encode())
    digest.update(json.dumps(arrays.described, sort_keys=True).encode())
    digest.update(arrays.content())
    return digest.hexdigest()


def table_checksum(table: Any, names: list[str]) -> str:
    """Of the named columns; numbers count as numbers, whatever their type, and everything else as text."""
    pl = polars()
    digest = hashlib.sha256(f"{table.height}".encode())
    for name in names:
        values = table[name]
        digest.update(json.dumps(name).encode())
        if kind_of(values.dtype) in ("number", "truth"):
            numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
            digest.update(np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8").tobytes())
            continue
        words = values.cast(pl.String)
        lengths = words.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy()
        digest.update(lengths.astype("<i8").tobytes())
        digest.update("".join(words.fill_null("").to_list()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def row_fingerprint(values: dict[str, Any]) -> str:
    """Of one row's values as they are shown."""
    text = json.dumps([[name, None if value is None else str(value)] for name, value in values.items()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
