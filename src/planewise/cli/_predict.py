"""planewise predict: predictions for every row of a table, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import TABLE_HELP, say, show_json, tell_of_offset, working

if TYPE_CHECKING:
    from planewise.table import TableModel


def predict(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help=TABLE_HELP, show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(help="CSV, TSV or Parquet file to write; without it, CSV is printed.", show_default=False),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column of the table to copy; may be repeated.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with the number of rows written.")] = False,
) -> None:
    """Predict every row of a table, which may be larger than memory.

    Examples:
      planewise predict wine.planewise new.csv --out predictions.csv

      planewise predict wine.planewise new.parquet --proba --keep id --out predictions.parquet
    """
    from planewise.cli._tables import check_ending, load_table_model, print_chunks, write_chunks

    if out is not None:
        check_ending(out)
        refuse_existing(out, force, model, table)
    elif as_json:
        raise MistakeError("--json describes the file of --out; give one.")
    fitted = load_table_model(model)
    if proba and not hasattr(fitted, "predict_proba"):
        raise MistakeError("--proba needs a classifier, but this model predicts numbers.")
    if proba and not hasattr(fitted.estimator_, "predict_proba"):
        raise MistakeError(f"this {type(fitted.estimator_).__name__} was fitted without probabilities.")
    tell_of_offset(fitted.estimator_)
    kept = list(dict.fromkeys(keep or []))
    for name in kept:
        if name in _names(fitted, proba):
            raise MistakeError(
                f"--keep {name!r}: the predictions have a column of this name; rename the column of the table first."
            )
    counted = _Counted(_predicted(fitted, table, proba, kept))
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
    """Counts the rows of chunks as they pass; an interrupt that polars dropped is raised before the next one."""

    def __init__(self, inner: Iterator[Any]) -> None:
        self.inner, self.rows = inner, 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        from planewise.cli._tables import check_interrupted

        check_interrupted()
        chunk = next(self.inner)
        self.rows += chunk.height
        return chunk


def _names(model: TableModel, proba: bool) -> list[str]:
    from planewise.slm.fitted import output_names

    if several := output_names(model.estimator_):
        return [f"prediction_{each.rpartition(' ')[2]}" for each in several]  # such as prediction_0.1
    return ["prediction", *(f"p({label})" for label in (model.classes_.tolist() if proba else []))]


def _predicted(model: TableModel, table: Path, proba: bool, kept: list[str]) -> Iterator[Any]:
    import polars as pl

    from planewise.cli._tables import chunks

    read = list(dict.fromkeys([*(column.name for column in model.columns_), *kept]))
    names, any_rows = _names(model, proba), False
    for chunk in chunks(table, model.columns_, read):
        any_rows = True
        if proba:
            probability = model.predict_proba(chunk)
            found = [model.classes_[probability.argmax(axis=1)], *probability.T]
        else:
            predicted = model.predict(chunk)
            found = [predicted] if predicted.ndim == 1 else list(predicted.T)
        columns = [pl.Series(name, values) for name, values in zip(names, found, strict=True)]
        yield pl.DataFrame([*(chunk[name] for name in kept), *columns])
    if not any_rows:
        raise MistakeError(f"{str(table)!r} has no rows.")
