"""Answers as a table for the next fit: the reviewed rows with the label that the person gave or accepted."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from planewise.app._decisions import Decisions
from planewise.app._identity import model_checksum, table_checksum
from planewise.app._records import AnswersFileError, id_column_of, read_content
from planewise.table._columns import require_columns
from planewise.table._polars import as_polars, polars
from planewise.table._wrap import as_table_model


def labels(model: Any, table: Any, answers: str | PathLike[str], id_column: str | None = None) -> Any:
    """The decided rows of a table, with the labels of a review in the model's target column.

    Parameters
    ----------
    model, table, id_column : as in :func:`create_app`
    answers : path
        The file of answers; it may be in use by a running review.

    Returns
    -------
    labels : polars.DataFrame
        The table's columns and, last, the target: ready for ``planewise fit``. Rows that were only noted are not in it.

    Raises
    ------
    AnswersFileError
        If the file is about another model or table, or is damaged.
    """
    fitted, rows, path = as_table_model(model), as_polars(table), Path(answers)
    id_column = id_column_of(path, id_column)
    names = list(
        dict.fromkeys([*(column.name for column in fitted.columns_), *([] if id_column is None else [id_column])])
    )
    require_columns(names, rows.columns)
    content = read_content(path)
    here = {"model": model_checksum(fitted), "table": table_checksum(rows, names)}
    for what, checksum in here.items():
        if content.belongs_to.get(what) != checksum:
            raise AnswersFileError(f"{str(path)!r} holds answers about another {what} than this one.")
    decisions = Decisions(rows.height)
    for each in content.records:
        decisions.play(each)
    decided = [record for row in sorted(decisions.by_row) if (record := decisions.decided(row)) is not None]
    pl = polars()
    kept = rows[[record.row for record in decided]] if decided else rows.head(0)
    values = [record.label for record in decided]
    series = pl.Series(fitted.target_, values, dtype=None if values else pl.String)
    return kept.drop(fitted.target_, strict=False).with_columns(series)
