"""planewise explain: what it is asked; ``_explain_row.py`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def explain(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file.", show_default=False)],
    row: Annotated[int, typer.Option(help="Which row, counted from 0; the header does not count.", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="Write a page of HTML too.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --html.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON text for programs.")] = False,
) -> None:
    """Say why a row gets its answer: the way down a tree, what each column added, or the vectors it is near to.

    Examples:
      planewise explain wine.planewise new.csv --row 17

      planewise explain wine.planewise new.csv --row 17 --html why.html
    """
    from planewise.cli._explain_row import explain_row

    explain_row(model, table, row, html, force, as_json)
