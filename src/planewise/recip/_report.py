"""The global picture: which share of the rows each view decides, and how well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class ViewsReport:
    """A plain table with a row a view: ``report[0]["accuracy"]``, ``print(report)``, ``report.to_pandas()``.

    Made by ``views_report`` of :class:`RECIPClassifier` and :class:`RECIPRegressor`.
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.rows[place]

    def __str__(self) -> str:
        columns = list(self.rows[0])
        cells = [columns] + [[_cell(row[name]) for name in columns] for row in self.rows]
        width = [max(len(line[at]) for line in cells) for at in range(len(columns))]
        lines = ["  ".join(cell.ljust(wide) for cell, wide in zip(line, width, strict=True)).rstrip() for line in cells]
        return "\n".join(lines)

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """A pandas DataFrame; needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def to_polars(self) -> Any:
        """A polars DataFrame; needs polars."""
        import polars as pl

        return pl.DataFrame(self.rows)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
