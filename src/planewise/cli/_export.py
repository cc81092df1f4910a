"""planewise export: what it is asked; ``_export_model.py`` does it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """What --to may be."""

    c = "c"
    onnx = "onnx"
    text = "text"
    html = "html"


def export(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    to: Annotated[Form, typer.Option(help="C99 header, ONNX, readable text, or a page of HTML.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; text is printed without it.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option(help="What all names in a C header begin with.")] = "model",
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written, for programs.")] = False,
) -> None:
    """Write a model as C for a microcontroller, as ONNX, as readable rules, or as a page.

    Examples:
      planewise export wine.planewise --to c --out wine.h --name wine

      planewise export wine.planewise --to text
    """
    from planewise.cli._export_model import export_model

    export_model(model, str(to), out, name, force, as_json)
