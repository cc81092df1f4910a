"""Answers for every row of a table, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from planewise.cli._load import load_table_model
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._polars import check_interrupted, pl
from planewise.cli._read import chunks
from planewise.cli._show import say, show_json, working
from planewise.cli._write import check_ending, print_chunks, write_chunks
from planewise.table import TableModel


def predict_rows(
    model: Path, table: Path, out: Path | None, proba: bool, keep: list[str], force: bool, as_json: bool
) -> None:
    """What `planewise predict` does; its options are described there."""
    if out is not None:
        check_ending(out)
        refuse_existing(out, force, model, table)
    elif as_json:
        raise MistakeError("--json says what was written; it needs --out.")
    fitted = load_table_model(model)
    if proba and not hasattr(fitted, "predict_proba"):
        raise MistakeError("the model predicts numbers; there are no probabilities to ask for.")
    if proba and not hasattr(fitted.estimator_, "predict_proba"):
        raise MistakeError(f"this {type(fitted.estimator_).__name__} was fitted without probabilities.")
    kept = list(dict.fromkeys(keep))
    for name in kept:
        if name in _answer_names(fitted, proba):
            raise MistakeError(
                f"--keep {name!r} cannot be: the answers have a column of this name; rename it in the table first."
            )
    counted = _Counted(_answers(fitted, table, proba, kept))
    if out is None:
        print_chunks(counted)
        return
    with working(f"predicting {table.name}", as_json):
        write_chunks(out, counted)
    if as_json:
        show_json({"file": str(out), "rows": counted.rows})
    else:
        say(f"{counted.rows} rows in {out}")


class _Counted:
    """Chunks, and how many rows went by; a Ctrl-C that was dropped on the way is heard before the next, or the end."""

    def __init__(self, inner: Iterator[pl.DataFrame]) -> None:
        self.inner, self.rows = inner, 0

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self

    def __next__(self) -> pl.DataFrame:
        check_interrupted()
        chunk = next(self.inner)
        self.rows += chunk.height
        return chunk


def _answer_names(model: TableModel, proba: bool) -> list[str]:
    return ["prediction", *(f"p({label})" for label in (model.classes_.tolist() if proba else []))]


def _answers(model: TableModel, table: Path, proba: bool, kept: list[str]) -> Iterator[pl.DataFrame]:
    names = list(dict.fromkeys([*(column.name for column in model.columns_), *kept]))
    any_rows = False
    answer_names = _answer_names(model, proba)
    for chunk in chunks(table, model.columns_, names):
        any_rows = True
        columns = [chunk[name] for name in kept]
        if proba:
            probability = model.predict_proba(chunk)
            found = [model.classes_[probability.argmax(axis=1)], *probability.T]
        else:
            found = [model.predict(chunk)]
        columns += [pl.Series(name, values) for name, values in zip(answer_names, found, strict=True)]
        yield pl.DataFrame(columns)
    if not any_rows:
        raise MistakeError(f"{str(table)!r} has no rows.")
