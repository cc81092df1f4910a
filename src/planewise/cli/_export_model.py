"""A model elsewhere."""

from __future__ import annotations

from pathlib import Path

import planewise.export as exports
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, size_in_words
from planewise.io import load
from planewise.table import TableModel


def export_model(model: Path, to: str, out: Path | None, name: str, force: bool, as_json: bool) -> None:
    """What `planewise export` does; its options are described there."""
    if out is not None:
        refuse_existing(out, force, model)
    elif to != "text":
        raise MistakeError(f"--to {to} needs --out FILE.")
    loaded = load(model)
    estimator = loaded.estimator_ if isinstance(loaded, TableModel) else loaded
    if to == "c":
        exports.to_c(estimator, out, name=name)
    elif to == "onnx":
        exports.to_onnx(estimator, out)
    elif to == "html":
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
    if isinstance(loaded, TableModel) and to in ("c", "onnx") and not as_json:
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
