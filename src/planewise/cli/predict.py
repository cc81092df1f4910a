"""planewise predict: predictions for every row of a table, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

from planewise.cli.output import is_stdout, note, say, show_json, stage
from planewise.cli.tables import (
    check_ending,
    load_table_model,
    reads_table,
    refuse_existing,
    write_chunks,
)
from planewise.data.files.tables import InputTable
from planewise.table.model import TableModel


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
            help="Add lower and upper: an interval that contains the target in this fraction of rows, such as 0.9.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column of the table to copy; may be repeated.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with the number of rows written.")] = False,
) -> None:
    """Predict every row of a table, which may be larger than memory.

    Examples:
      planewise predict wine.planewise new.csv --out predictions.csv

      planewise predict price.planewise new.csv --interval 0.9 --out predictions.csv

      planewise predict wine.planewise new.parquet --proba --keep id --out predictions.parquet
    """
    if is_stdout(out):
        out = None
    if out is not None:
        check_ending(out)
        refuse_existing(out, force, model, *map(Path, table.given))
    elif as_json:
        raise ValueError("--json requires --out FILE.")
    fitted = load_table_model(model, table)
    if proba and not hasattr(fitted, "predict_proba"):
        raise ValueError("--proba needs a classifier, but this model predicts numbers.")
    if proba and not hasattr(fitted.estimator_, "predict_proba"):
        raise ValueError(f"this {type(fitted.estimator_).__name__} was fitted without probabilities.")
    if interval is not None:
        _check_interval(fitted, interval)
    kept = list(dict.fromkeys(keep or []))
    for name in kept:
        if name in _names(fitted, proba, interval):
            raise ValueError(
                f"--keep {name!r}: the predictions have a column of this name; rename the column of the table first."
            )
    if words := table.in_words():
        note(f"{table.name}: {words}.")
    chunks = _predicted(fitted, table, proba, interval, kept)
    if out is None:
        write_chunks(None, chunks)
        return
    with stage(f"predicting {table.name}", as_json):
        n_rows = write_chunks(out, chunks)
    if as_json:
        show_json({"file": str(out), "rows": n_rows})
    else:
        say(f"{n_rows} rows in {out}")


def _check_interval(model: TableModel, coverage: float) -> None:
    """Raise if the model has no prediction intervals, or none of this coverage."""
    try:
        model.predict_interval  # noqa: B018
    except AttributeError as error:
        raise ValueError(f"--interval: {error.__cause__ or error}") from None
    try:
        model.held_out_errors_.half_width(coverage)  # type: ignore[union-attr]
    except ValueError as error:
        raise ValueError(f"--interval: {error}") from None


def _names(model: TableModel, proba: bool, interval: float | None) -> list[str]:
    if interval is not None:
        return ["prediction", "lower", "upper"]
    return ["prediction", *(f"p({label})" for label in (model.classes_.tolist() if proba else []))]


def _predicted(
    model: TableModel, table: InputTable, proba: bool, interval: float | None, kept: list[str]
) -> Iterator[Any]:
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
            found = [predicted]
            if interval is not None and model.held_out_errors_ is not None:
                found += list(model.held_out_errors_.around(predicted, interval).T)
        columns = [_series(name, values) for name, values in zip(names, found, strict=True)]
        yield written.with_columns(columns) if kept else pl.DataFrame(columns)


def _series(name: str, values: Any) -> pl.Series:
    if values.dtype.kind == "U":  # polars drops a Ctrl-C while it reads an array of text
        return pl.Series(name, values.tolist(), dtype=pl.String)
    return pl.Series(name, values)
