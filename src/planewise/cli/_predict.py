"""planewise predict: what it is asked; ``_predict_rows.py`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="CSV, TSV or Parquet file; without it, CSV is printed.", show_default=False)
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="The probability of every class too.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of the table to copy; may be repeated.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print how many rows were written, for programs.")] = False,
) -> None:
    """Predict every row of a table, which may be larger than memory.

    Examples:
      planewise predict wine.planewise new.csv --out answers.csv

      planewise predict wine.planewise new.parquet --proba --keep id --out answers.parquet
    """
    from planewise.cli._predict_rows import predict_rows

    predict_rows(model, table, out, proba, keep or [], force, as_json)
