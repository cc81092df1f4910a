"""A model file as a model of tables."""

from __future__ import annotations

from pathlib import Path

from planewise.io import load
from planewise.table import TableModel
from planewise.table._wrap import as_table_model


def load_table_model(path: Path) -> TableModel:
    """What `planewise fit` wrote; or an estimator that was fitted on a data frame and saved, whose names it knows."""
    return as_table_model(load(path), named=repr(str(path)))
