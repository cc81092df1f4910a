"""planewise export: a model as C, ONNX, text or HTML."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, size_in_words


class Form(StrEnum):
    """What --to may be."""

    c = "c"
    onnx = "onnx"
    text = "text"
    html = "html"


def export(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    to: Annotated[Form, typer.Option(help="C99 header, ONNX, readable text, or HTML page.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="File to write; without it, text is printed.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option(help="Prefix of all names in a C header.")] = "model",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with the file and its size.")] = False,
) -> None:
    """Write a model as C for a microcontroller, as ONNX, as readable rules, or as an HTML page.

    Examples:
      planewise export wine.planewise --to c --out wine.h --name wine

      planewise export wine.planewise --to text
    """
    import planewise.export as exports
    from planewise.io import load
    from planewise.recip import RECIPClassifier, RECIPRegressor
    from planewise.table import TableModel

    if out is not None:
        refuse_existing(out, force, model)
    elif to != "text":
        raise MistakeError(f"--to {to} needs --out FILE.")
    loaded = load(model)
    estimator = loaded.estimator_ if isinstance(loaded, TableModel) else loaded
    if to in ("c", "onnx") and isinstance(estimator, (RECIPClassifier, RECIPRegressor)):
        raise MistakeError(
            "a recip model keeps its training rows and cannot be written as C or ONNX. Use --to text or --to html, or "
            "fit with --model slm, forest, boost, mcm or views."
        )
    if to == "c":
        exports.to_c(loaded, out, name=name)
    elif to == "onnx":
        exports.to_onnx(loaded, out)
    elif to == "html":
        from planewise.report import report

        report(loaded, path=out)
    else:
        words = exports.to_text(loaded, out)
        if out is None:
            say(*words.removesuffix("\n").split("\n"))  # names add no lines to it
            return
    assert out is not None
    if as_json:
        show_json({"file": str(out), "bytes": out.stat().st_size})
        return
    say(f"{out}, {size_in_words(out.stat().st_size)}")
    if to in ("c", "onnx"):
        say(*exports.input_lines(loaded, str(to)))
