"""A reviewed table: the columns as they were, and beside them what the model and the reviewers say."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from planewise.answers._decisions import Ledger
from planewise.answers._record import Record
from planewise.table import polars

LABEL = "label"
EXPORTED = ("row", "answer", "probability", "decision", LABEL, "note", "who", "when", "rule", "table")
FORMATS = {"csv": "text/csv; charset=utf-8", "tsv": "text/tab-separated-values; charset=utf-8",
           "parquet": "application/vnd.apache.parquet"}  # fmt: skip
_LABEL_COLUMN = re.compile(r"review(\d*)_label")


class ExportedColumns(NamedTuple):
    """The names that the columns of a review have in an exported table."""

    prefix: str

    def __call__(self, name: str) -> str:
        """The column of, for example, the label."""
        return self.prefix + name

    @property
    def all(self) -> list[str]:
        """All that an export can have."""
        return [self(name) for name in EXPORTED]


def exported_columns(names: Sequence[str], *, new: bool) -> ExportedColumns | None:
    """The columns of the last review in a table, or names for a new one.

    They begin with ``review_``; where the table has such a column already, with ``review2_``, and so on.
    """
    there = set(names)
    if not new:
        numbers = [int(found.group(1) or 1) for name in names if (found := _LABEL_COLUMN.fullmatch(name))]
        return _numbered(max(numbers)) if numbers else None
    number = 1
    while there & set(_numbered(number).all):
        number += 1
    return _numbered(number)


def _numbered(number: int) -> ExportedColumns:
    return ExportedColumns("review_" if number == 1 else f"review{number}_")


def reviewed_table(
    original: Any,
    ledger: Ledger,
    answers: Sequence[Any],
    probability: Sequence[float] | None,
    *,
    all_rows: bool = False,
    file_checksum: str | None = None,
) -> Any:
    """The columns of a table as they are and, after them, the review: one row per case and reviewer.

    Without `all_rows`, only decided cases; with it, a case that nobody decided has one row with empty columns.
    """
    pl = polars()
    places: list[int] = []
    cells: list[tuple[Any, ...]] = []
    reviewers = ledger.reviewers
    for row in range(original.height):
        told = [cell for who in reviewers if (cell := _told(ledger, who, row, all_rows))]
        if not told and all_rows:
            told = [(None,) * 6]
        places += [row] * len(told)
        cells += told
    columns = exported_columns(original.columns, new=True)
    assert columns is not None
    decision, label, note, who, when, rule = zip(*cells, strict=True) if cells else ((),) * 6
    found = {
        "row": pl.Series(places, dtype=pl.Int64),
        "answer": pl.Series([answers[row] for row in places]),
        "probability": pl.Series(
            [None if probability is None else probability[row] for row in places], dtype=pl.Float64
        ),
        "decision": pl.Series(decision, dtype=pl.String),
        LABEL: pl.Series(label),
        "note": pl.Series(note, dtype=pl.String),
        "who": pl.Series(who, dtype=pl.String),
        "when": pl.Series(when, dtype=pl.String),
        "rule": pl.Series(rule, dtype=pl.String),
        "table": pl.Series([file_checksum] * len(places), dtype=pl.String),
    }
    return original[places].with_columns(found[name].alias(columns(name)) for name in EXPORTED)


def _told(ledger: Ledger, who: str, row: int, with_notes: bool) -> tuple[Any, ...] | None:
    """What a reviewer says about a row: decision, label, notes, name, time, rule; None for nothing."""
    decisions = ledger.of(who)
    if row not in decisions.by_row:
        return None
    decided, notes = decisions.decided(row), decisions.notes(row)
    if decided is None and not (with_notes and notes):
        return None
    last: Record = notes[-1] if decided is None else decided
    rule = None if last.batch is None else last.batch.rule
    texts = "\n".join(each.note for each in notes) or None
    return (None if decided is None else decided.decision, last.label, texts, who, last.when, rule)


def table_bytes(table: Any, form: str) -> bytes:
    """A reviewed table as a file."""
    file = io.BytesIO()
    if form == "parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file, separator="\t" if form == "tsv" else ",")
    return file.getvalue()
