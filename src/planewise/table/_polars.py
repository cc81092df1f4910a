"""polars, which is optional, and any table as a polars one."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw

from planewise._extras import require


def polars() -> Any:
    """The module, or an error that says how to get it."""
    return require("A table model", "polars", "cli")


def as_polars(table: Any) -> Any:
    """A data frame of any library as one of polars."""
    pl = polars()
    if isinstance(table, pl.DataFrame):
        return table
    if not nw.dependencies.is_into_dataframe(table):
        raise TypeError(f"A table with named columns is needed (polars, pandas, Arrow); got {type(table).__name__}.")
    return nw.from_native(table, eager_only=True).to_polars()
