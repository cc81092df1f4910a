"""What a model file keeps about its fit: when, from which files and rows, and how good the model was."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from planewise._text import counted, first_of, number

Record = dict[str, Any]

MAX_FILES = 20  # whose names are kept
USUAL_COVERAGE = 0.9
SPLITS = {  # how rows were held out; with the column, if there is one
    "random": "at random",
    "group": "whole groups of {column!r}",
    "time": "the latest by {column!r}",
}
_CAUTIONS = {
    "group": "Rows of one group resemble each other, so with few groups this is less certain.",
    "time": "The held-out rows are the latest ones; if the data keep changing, later rows may lie outside more often.",
}


def new_record(
    files: Sequence[str],
    seed: int,
    *,
    rows: Mapping[str, int] | None = None,
    split: Mapping[str, Any] | None = None,
    quality: Mapping[str, Any] | None = None,
    linear_is_as_good: bool | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Record:
    """A record of a fit that ends now; `reading` is how the table was written.

    Of the files it keeps the names, not the folders, which may be private.
    """
    import planewise

    return {
        "date": date_of_record(),
        "planewise": planewise.__version__,
        "files": [os.path.basename(file) for file in files[:MAX_FILES]],
        "n_files": len(files),
        "rows": None if rows is None else {name: rows[name] for name in ("read", "with_target", "fitted", "held_out")},
        "split": None if split is None else {name: split[name] for name in ("kind", "column", "share")},
        "seed": seed,
        "quality": quality,
        "linear_is_as_good": linear_is_as_good,
        "reading": reading,
    }


def date_of_record() -> str:
    """Now in UTC, or the time of SOURCE_DATE_EPOCH, with which the same fit gives the same bytes."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        moment = datetime.now(UTC)
    else:
        try:
            moment = datetime.fromtimestamp(int(given), UTC)
        except (ValueError, OverflowError, OSError):
            raise ValueError(
                f"The environment variable SOURCE_DATE_EPOCH must be a number of seconds since 1970; got {given!r}."
            ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def record_in_words(record: Record) -> list[tuple[str, str]]:
    """When, from what and how a model was fitted: names and facts."""
    names = first_of([str(name) for name in record["files"]], 5)
    if record["n_files"] > len(record["files"]):
        names += f" ({counted(record['n_files'], 'file')} in all)"
    date = record["date"].replace("T", " ").replace("Z", " UTC")
    facts = [("fitted", f"{date} by planewise {record['planewise']}, from {names}, seed {record['seed']}")]
    rows, split = record["rows"], record["split"]
    if rows is not None:
        words = f"{rows['fitted']:,} of {counted(rows['read'], 'row')} for training"
        if split is not None:
            words += f", {rows['held_out']:,} held out ({SPLITS[split['kind']].format(column=split['column'])})"
        facts.append(("rows", words))
    return facts


def interval_in_words(model: Any) -> str:
    """How far held-out rows lie from their predictions; empty without held-out rows that were numbers."""
    errors = model.held_out_errors_
    if errors is None:
        return ""
    if errors.max_coverage < USUAL_COVERAGE:
        return f"{counted(errors.n_rows, 'held-out row')}: too few for intervals that hold 9 of 10 rows."
    width = number(errors.half_width(USUAL_COVERAGE), 3)
    kind = "" if model.record_ is None or model.record_["split"] is None else model.record_["split"]["kind"]
    caution = f" {_CAUTIONS[kind]}" if kind in _CAUTIONS else ""
    return (
        f"At least 9 of 10 held-out rows lie within ±{width} of the prediction, and so should 9 of 10 new rows that "
        f"are like them.{caution}"
    )


def facts_of(model: Any) -> list[tuple[str, str]]:
    """What is known of a model's fit, for its description."""
    known = [] if model.record_ is None else record_in_words(model.record_)
    interval = interval_in_words(model)
    return [*known, *([("intervals", interval)] if interval else [])]
