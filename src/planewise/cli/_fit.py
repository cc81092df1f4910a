"""planewise fit: what it is asked; ``_fit_table.py`` does it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Family(StrEnum):
    """What --model may be."""

    auto = "auto"
    slm = "slm"
    forest = "forest"
    boost = "boost"
    mcm = "mcm"
    recip = "recip"


class Task(StrEnum):
    """What --task may be."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def fit(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file.", show_default=False)],
    target: Annotated[str, typer.Option(help="The column to predict.", show_default=False)],
    model: Annotated[
        Family, typer.Option(help="The family; auto cross-validates all and takes the smallest good one.")
    ] = Family.auto,
    out: Annotated[
        Path | None, typer.Option(help="Where the model goes, such as m.planewise.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the estimator, name=value; may be repeated.", show_default=False),
    ] = None,
    task: Annotated[Task, typer.Option(help="Classes or numbers; auto looks at the target.")] = Task.auto,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column not to learn from; may be repeated.", show_default=False)
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Share of the rows that quality is measured on.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON text for programs.")] = False,
) -> None:
    """Learn a column of a table: find out what its columns are, fit, and measure on rows that were held out.

    Examples:
      planewise fit wine.csv --target quality --out wine.planewise

      planewise fit wine.csv --target quality --model slm --set max_depth=4 --set max_planes=2
    """
    from planewise.cli._fit_table import fit_table

    fit_table(table, target, str(model), out, settings or [], str(task), drop or [], test_size, seed, force, as_json)
