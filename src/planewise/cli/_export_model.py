"""A model elsewhere."""

from __future__ import annotations

from pathlib import Path

import planewise.export as exports
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, size_in_words
from planewise.export._models import PlainModel, TreeEnsemble, plain_model
from planewise.io import load
from planewise.recip import RECIPClassifier, RECIPRegressor
from planewise.table import TableModel
from planewise.words import shorten

CATEGORIES_LISTED = 20


def export_model(model: Path, to: str, out: Path | None, name: str, force: bool, as_json: bool) -> None:
    """What `planewise export` does; its options are described there."""
    if out is not None:
        refuse_existing(out, force, model)
    elif to != "text":
        raise MistakeError(f"--to {to} needs --out FILE.")
    loaded = load(model)
    estimator = loaded.estimator_ if isinstance(loaded, TableModel) else loaded
    if to in ("c", "onnx") and isinstance(estimator, (RECIPClassifier, RECIPRegressor)):
        raise MistakeError(
            "a recip model keeps its rows and cannot be written as C or ONNX; --to text and --to html can, or fit with "
            "--model slm, forest, boost or mcm."
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
            say(*words.removesuffix("\n").split("\n"))  # names make no lines in it
            return
    assert out is not None
    if as_json:
        show_json({"file": str(out), "bytes": out.stat().st_size})
    else:
        say(f"{out}, {size_in_words(out.stat().st_size)}")
    if to in ("c", "onnx") and not as_json:
        _say_what_it_reads(plain_model(loaded, to))


def _say_what_it_reads(model: PlainModel) -> None:
    """The order of the columns, and what stands for words and dates: the export knows only numbers."""
    say(f"columns in this order: {', '.join(shorten(name) for name in model.input_names)}")
    for place, known in model.categories.items():
        listed = ", ".join(f"{k} is {shorten(value)}" for k, value in enumerate(known.tolist()[:CATEGORIES_LISTED]))
        more = f" and {len(known) - CATEGORIES_LISTED} more, in the file" if len(known) > CATEGORIES_LISTED else ""
        say(f"{shorten(model.input_names[place])}: {listed}{more}")
    for place, unit in model.units.items():
        say(f"{shorten(model.input_names[place])}: {unit}")
    takes_gaps = isinstance(model, TreeEnsemble) or model.reading is not None
    say("missing values are NaN" if takes_gaps else "missing values are not allowed")
