"""planewise describe: what it is asked; ``_describe_model.py`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def describe(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="Write a page of HTML too.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --html.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON text for programs.")] = False,
) -> None:
    """Say what a model file holds: what it predicts from which columns, its size, its parameters, what matters to it.

    Examples:
      planewise describe wine.planewise

      planewise describe wine.planewise --html wine.html
    """
    from planewise.cli._describe_model import describe_model

    describe_model(model, html, force, as_json)
