"""planewise export: a model elsewhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, size_in_words
from planewise.io import load
from planewise.table import TableModel


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
    import planewise.export as exports

    if out is not None:
        refuse_existing(out, force)
    elif to is not Form.text:
        raise MistakeError(f"--to {to} needs --out FILE.")
    loaded = load(model)
    estimator = loaded.estimator_ if isinstance(loaded, TableModel) else loaded
    if to is Form.c:
        exports.to_c(estimator, out, name=name)
    elif to is Form.onnx:
        exports.to_onnx(estimator, out)
    elif to is Form.html:
        exports.to_html(estimator, out)
    else:
        words = exports.to_text(estimator, out)
        if out is None:
            say(words)
            return
    assert out is not None
    if as_json:
        show_json({"file": str(out), "bytes": out.stat().st_size})
    else:
        say(f"{out}, {size_in_words(out.stat().st_size)}")
    if isinstance(loaded, TableModel) and to in (Form.c, Form.onnx) and not as_json:
        _say_what_it_reads(loaded)


def _say_what_it_reads(model: TableModel) -> None:
    """The order of the columns, and what stands for words and dates: the export knows only numbers."""
    names = list(model.estimator_.feature_names_in_)
    say(f"columns in this order: {', '.join(names)}")
    for place, name in enumerate(names):
        known = getattr(model.estimator_, "categories_", {}).get(place)
        if known is not None:
            say(f"{name}: " + ", ".join(f"{k} is {value}" for k, value in enumerate(known.tolist()[:20])))
    if any(column.kind == "date" for column in model.columns_):
        say("dates are days since 1970-01-01")
    filled = [column for column in model.columns_ if column.missing and column.kind != "category"]
    if filled and not hasattr(model.estimator_, "categories_"):
        say("missing values are read as " + ", ".join(f"{column.name} {column.usual:.4g}" for column in filled))
