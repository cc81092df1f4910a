"""planewise predict: predictions for every row of a table, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._everywhere import is_quiet
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._reading import note_reading, reads_table
from planewise.cli._show import SafeCsv, say, show_json, tell_of_offset
from planewise.cli._stages import stage
from planewise.cli._streams import is_stdout

if TYPE_CHECKING:
    from planewise.files import InputTable
    from planewise.table import TableModel


@reads_table
def predict(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: InputTable,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV, TSV or Parquet file to write; without it, CSV is printed, as with -.", show_default=False
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Add lower and upper: an interval that holds the number in this share of the rows, such as 0.9.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column of the table to copy; may be repeated.", show_default=False)
    ] = None,
    safe_csv: SafeCsv = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with the number of rows written.")] = False,
) -> None:
    """Predict every row of a table, which may be larger than memory.

    Examples:
      planewise predict wine.planewise new.csv --out predictions.csv

      planewise predict price.planewise new.csv --interval 0.9 --out predictions.csv

      planewise predict wine.planewise new.parquet --proba --keep id --out predictions.parquet
    """
    from planewise.cli._tables import check_ending, load_table_model, print_chunks, remembered_by, write_chunks

    if is_stdout(out):
        out = None
    if out is not None:
        check_ending(out)
        refuse_existing(out, force, model, *table.local_names())
    elif as_json:
        raise MistakeError("--json describes the file of --out; give one.")
    fitted = load_table_model(model)
    if proba and not hasattr(fitted, "predict_proba"):
        raise MistakeError("--proba needs a classifier, but this model predicts numbers.")
    if proba and not hasattr(fitted.estimator_, "predict_proba"):
        raise MistakeError(f"this {type(fitted.estimator_).__name__} was fitted without probabilities.")
    if interval is not None:
        _check_interval(fitted, interval)
    tell_of_offset(fitted.estimator_)
    kept = list(dict.fromkeys(keep or []))
    for name in kept:
        if name in _names(fitted, proba, interval):
            raise MistakeError(
                f"--keep {name!r}: the predictions have a column of this name; rename the column of the table first."
            )
    table.remember(remembered_by(fitted))
    note_reading(table)
    counted = _Counted(_predicted(fitted, table, proba, interval, kept))
    if out is None:
        print_chunks(counted, safe_csv)
        return
    with stage(f"predicting {table.name}", as_json):
        write_chunks(out, counted, safe_csv)
    if as_json:
        show_json({"file": str(out), "rows": counted.rows})
    elif not is_quiet():
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


def _check_interval(model: TableModel, coverage: float) -> None:
    """An error if the model has no prediction intervals, or none of this coverage."""
    try:
        model.predict_interval  # noqa: B018
    except AttributeError as error:
        raise MistakeError(f"--interval: {error.__cause__ or error}") from None
    try:
        model.held_out_errors_.half_width(coverage)  # type: ignore[union-attr]
    except ValueError as error:
        raise MistakeError(f"--interval: {error}") from None


def _names(model: TableModel, proba: bool, interval: float | None) -> list[str]:
    if interval is not None:
        return ["prediction", "lower", "upper"]
    return ["prediction", *(f"p({label})" for label in (model.classes_.tolist() if proba else []))]


def _predicted(
    model: TableModel, table: InputTable, proba: bool, interval: float | None, kept: list[str]
) -> Iterator[Any]:
    import numpy as np
    import polars as pl

    read = [column.name for column in model.columns_]
    names = _names(model, proba, interval)
    for chunk, written in table.chunks_and_kept(model.columns_, read, kept):
        if chunk.height == 0:  # a table without rows
            classes = getattr(model, "classes_", None) if model.task_ == "classification" else None
            found = [np.empty(0) if k or classes is None else classes[:0] for k in range(len(names))]
        elif proba:
            probability = model.predict_proba(chunk)
            found = [model.classes_[probability.argmax(axis=1)], *probability.T]
        else:
            predicted = model.predict(chunk)
            found = [predicted] if predicted.ndim == 1 else list(predicted.T)
            if interval is not None and model.held_out_errors_ is not None:
                found += list(model.held_out_errors_.around(predicted, interval).T)
        columns = [pl.Series(name, values) for name, values in zip(names, found, strict=True)]
        yield written.with_columns(columns) if kept else pl.DataFrame(columns)
