"""planewise export: a model as C, ONNX, text or HTML."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import planewise.export as exports
from planewise._atomic import write_whole
from planewise.cli.output import is_stdout, note, print_data, say, show_json, size_in_words
from planewise.cli.tables import refuse_existing
from planewise.export.models import input_lines, plain_model
from planewise.recip.classifier import RECIPClassifier
from planewise.report.page import report
from planewise.store.file import load
from planewise.table.model import TableModel


class Form(StrEnum):
    """The values of --to."""

    c = "c"
    onnx = "onnx"
    text = "text"
    html = "html"


def export(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    to: Annotated[Form, typer.Option(help="C99 header, ONNX, readable text, or HTML page.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="File to write; - prints it. Without it, text is printed.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option(help="Prefix of all names in a C header.")] = "model",
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Store the numbers of a C header in fewer bytes, slightly rounded."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with the file and its size.")] = False,
) -> None:
    """Write a model as C for a microcontroller, as ONNX, as readable rules, or as an HTML page.

    Examples:
      planewise export wine.planewise --to c --out wine.h --name wine

      planewise export wine.planewise --to c --compact --out wine.h

      planewise export wine.planewise --to text
    """
    if out is not None:
        refuse_existing(out, force, model)
    elif to != "text":
        raise ValueError(f"--to {to} needs --out FILE, or --out - to print it.")
    if compact and to != "c":
        raise ValueError(f"--compact is for --to c, not for --to {to}.")
    printed = out is None or is_stdout(out)
    if printed and as_json:
        raise ValueError("--json requires --out FILE.")
    loaded = load(model)
    _require_exportable(loaded, to)
    content = _content(loaded, to, name, compact)
    if printed and to == "text":
        say(*str(content).removesuffix("\n").split("\n"))  # names add no lines to it
    elif printed:
        if to == "onnx" and sys.stdout.isatty():
            raise ValueError("ONNX is not text for a terminal; give --out FILE.")
        print_data(content)
    else:
        assert out is not None
        write_whole(out, content)
        _tell_of_file(out, as_json)
    if to in ("c", "onnx") and out is not None and not as_json:
        lines = input_lines(loaded, str(to))
        for line in lines if printed else ():
            note(line)
        if not printed:
            say(*lines)


def _require_exportable(loaded: Any, to: str) -> None:
    """Raise a ValueError if models of this kind cannot be written as C or ONNX."""
    if to not in ("c", "onnx"):
        return
    estimator = loaded.estimator_ if isinstance(loaded, TableModel) else loaded
    if isinstance(estimator, RECIPClassifier):
        raise ValueError(
            "a recip model keeps its training rows and cannot be written as C or ONNX. Use --to text or --to html, or "
            "fit with --model tree, forest, boosting, kernel or additive."
        )
    try:
        plain_model(loaded, to)
    except TypeError as error:  # for other commands and callers, it is not the user's error
        raise ValueError(str(error)) from None


def _content(loaded: Any, to: str, name: str, compact: bool) -> str | bytes:
    """The model in another form."""
    if to == "c":
        return exports.to_c(loaded, name=name, values="compact" if compact else "exact")
    if to == "onnx":
        made: bytes = exports.to_onnx(loaded).SerializeToString()
        return made
    if to == "html":
        return report(loaded)
    return exports.to_text(loaded)


def _tell_of_file(out: Path, as_json: bool) -> None:
    if as_json:
        show_json({"file": str(out), "bytes": out.stat().st_size})
    else:
        say(f"{out}, {size_in_words(out.stat().st_size)}")
