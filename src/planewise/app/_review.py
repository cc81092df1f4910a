"""A review: a model, a table, the queue, and what has been decided. Knows nothing of pages or browsers."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from planewise.app._answers import (
    AnswersFile,
    AnswersFileError,
    Decisions,
    Record,
    id_column_of,
    is_key,
    now,
    read_content,
)
from planewise.app._queue import Judgement, Queue, first_untaken, judge
from planewise.io import checksum as model_checksum
from planewise.table import TableModel, as_polars, as_table_model, kind_of, polars, require_columns
from planewise.words import require_no_offset, require_no_ranking, require_one_number, value_in_words

LONGEST_NOTE = 10_000
LONGEST_NAME = 200
LONGEST_ID = 1000  # characters of a case's id that are kept with an answer
CAME_BETWEEN = "Another decision was made in the meantime, perhaps in another window; reload the page."
NO_KEY = "The form has no key; reload the page."


class RefusedError(ValueError):
    """A decision that cannot be made, with a message for the person; `late`: another one was made in the meantime."""

    def __init__(self, words: str, late: bool = False) -> None:
        super().__init__(words)
        self.late = late


@dataclass(frozen=True)
class Asked:
    """What a form says."""

    key: str
    decision: str
    label: Any = None
    note: str = ""
    seen: str | None = None  # id of the decision that the page showed, "" for none; None: not checked


class Review:
    """A person's decisions about a model's predictions for the rows of a table; safe to use from several threads."""

    def __init__(
        self, model: Any, table: Any, answers: str | PathLike[str], who: str, id_column: str | None = None
    ) -> None:
        self.model: TableModel = as_table_model(model)
        for require in (require_one_number, require_no_ranking, require_no_offset):
            require(self.model.estimator_, "planewise review")
        self.table = as_polars(table)
        if not isinstance(who, str) or not who.strip() or len(who) > LONGEST_NAME:
            raise ValueError(
                f"who must be the name of the person who decides, 1 to {LONGEST_NAME} characters long; got {who!r}."
            )
        id_column = id_column_of(Path(answers), id_column)
        self.who, self.id_column = who.strip(), id_column
        names = [column.name for column in self.model.columns_]
        require_columns([*names, *([] if id_column is None else [id_column])], self.table.columns)
        if self.table.height == 0:
            raise ValueError("The table has no rows to review.")
        self.judgement = self._judged()
        shown = list(dict.fromkeys([*names, *([] if id_column is None else [id_column])]))
        belongs_to = {
            "model": model_checksum(self.model),
            "table": table_checksum(self.table, shown),
            "kind": type(self.model.estimator_).__name__,
            "target": self.model.target_,
            "rows": self.table.height,
            "id": id_column,
        }
        self.checksum = f"{belongs_to['model'][:16]}{belongs_to['table'][:16]}"  # of what is reviewed
        self._deciding = threading.Lock()
        self.answers = AnswersFile(Path(answers), belongs_to)
        try:
            self.decisions = Decisions(self.table.height)
            for record in self.answers.records:
                self._check_row(record)
                self.decisions.play(record)
        except BaseException:
            self.answers.close()
            raise
        self.queue = Queue(self.judgement, self.decisions, self._ids(), id_column or "row")

    def _judged(self) -> Judgement:
        """The model's predictions for all rows; an error names the first row that it cannot predict."""
        try:
            return judge(self.model, self.table)
        except ValueError as error:
            row = first_untaken(self.model, self.table)
            if row is None:
                raise
            name = "" if self.id_column is None else f" ({self.id_column} {str(self.table[self.id_column][row])[:60]})"
            raise ValueError(f"The model cannot predict row {row}{name} of the table: {error}") from error

    def _ids(self) -> list[str] | None:
        if self.id_column is None:
            return None
        values = self.table[self.id_column].cast(polars().String).to_list()
        return [f"(none, row {row})" if value is None else value for row, value in enumerate(values)]

    def _check_row(self, record: Record) -> None:
        if not 0 <= record.row < self.table.height:
            raise ValueError(
                f"{str(self.answers.path)!r} has a record of row {record.row}, but the table has only "
                f"{self.table.height} rows."
            )

    # ------------------------------------------------------------------------------------------------------- cases
    @property
    def classes(self) -> list[Any] | None:
        """The classes as Python values; None where numbers are predicted."""
        return None if self.model.task_ == "regression" else self.model.classes_.tolist()

    def answer(self, row: int) -> Any:
        """What the model predicts for a row."""
        found = self.judgement.answer[row]
        return float(found) if self.classes is None else self.classes[int(found)]

    def one(self, row: int) -> Any:
        """The row as a table of one."""
        return self.table[row : row + 1]

    def values(self, row: int) -> dict[str, Any]:
        """The row's values in the columns that the model reads."""
        return {column.name: self.table[column.name][row] for column in self.model.columns_}

    # --------------------------------------------------------------------------------------------------- decisions
    def decide(self, row: int, asked: Asked) -> Record:
        """Save a decision; when this returns, it is on the disk. The same key again changes nothing."""
        if not is_key(asked.key):
            raise RefusedError(NO_KEY)
        with self._deciding:
            answer = self.answer(row)
            decision, label = asked.decision, None
            if decision == "accept":
                label = answer
            elif decision == "override":
                label = self._other_label(answer, asked.label)
            elif decision != "note":
                raise RefusedError("The decision must be to accept, to override or to add a note.")
            note = asked.note.replace("\r\n", "\n").strip()  # browsers send the former
            if len(note) > LONGEST_NOTE:
                raise RefusedError(f"The note has {len(note):,} characters; the maximum is {LONGEST_NOTE:,}.")
            if decision == "note" and not note:
                raise RefusedError("The note is empty.")
            known = self._saved_before(asked.key, (row, decision, label, note, None))
            if known is not None:
                return known
            if decision != "note" and asked.seen is not None:
                standing = self.decisions.decided(row)
                if asked.seen != ("" if standing is None else standing.id):
                    raise RefusedError(CAME_BETWEEN, late=True)
            return self._save(asked.key, row, decision, label, note, None)

    def _other_label(self, answer: Any, label: Any) -> Any:
        if self.classes is None:
            if not isinstance(label, float) or not np.isfinite(label):
                raise RefusedError("Enter the right number.")
            return label
        if label not in self.classes:
            raise RefusedError("Choose the right class.")
        if label == answer:
            raise RefusedError("This is what the model predicts: accept it.")
        return label

    def undo(self, key: str, undoes: str) -> Record:
        """Undo the last decision that still counts, which must be the one that the person saw."""
        if not is_key(key):
            raise RefusedError(NO_KEY)
        with self._deciding:
            undone = self.decisions.by_id.get(undoes)
            known = self._saved_before(key, (None if undone is None else undone.row, "undo", None, "", undoes))
            if known is not None:
                return known
            last = self.decisions.last()
            if last is None:
                raise RefusedError("There is nothing to undo.")
            if last.id != undoes:
                raise RefusedError(CAME_BETWEEN, late=True)
            return self._save(key, last.row, "undo", None, "", last.id)

    def _saved_before(self, key: str, asked: tuple[Any, ...]) -> Record | None:
        """The record of this very form, if it was sent before; the key of a different one is refused."""
        known = self.decisions.by_id.get(key)
        if known is None or (known.row, known.decision, known.label, known.note, known.undoes) == asked:
            return known
        raise RefusedError(f"This form was already saved ({self.described(known)}); reload the page.", late=True)

    def described(self, record: Record) -> str:
        """A record in words."""
        name = self.queue.name(record.row)
        if record.decision == "accept":
            return f"{name} accepted as {value_in_words(record.label)}"
        if record.decision == "override":
            return f"{name} is {value_in_words(record.label)}, not {value_in_words(record.answer)}"
        return f"a note on {name}" if record.undoes is None else f"undoing a decision on {name}"

    def _save(self, key: str, row: int, decision: str, label: Any, note: str, undoes: str | None) -> Record:
        record = Record(
            id=key,
            row=row,
            row_id=None if self.queue.ids is None else self.queue.ids[row][:LONGEST_ID],
            fingerprint=row_fingerprint(self.values(row)),
            answer=self.answer(row),
            decision=decision,
            label=label,
            note=note,
            who=self.who,
            when=now(),
            undoes=undoes,
        )
        self.answers.append(record)
        self.decisions.play(record)
        return record

    def close(self) -> None:
        """Let others open the answers."""
        self.answers.close()


def table_checksum(table: Any, names: list[str]) -> str:
    """SHA-256 of the named columns: numbers as numbers, whatever their type, and everything else as text."""
    pl = polars()
    digest = hashlib.sha256(f"{table.height}".encode())
    for name in names:
        values = table[name]
        digest.update(json.dumps(name).encode())
        if kind_of(values.dtype) in ("number", "truth"):
            numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
            digest.update(np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8").tobytes())
            continue
        words = _as_text(values)
        lengths = words.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy()
        digest.update(lengths.astype("<i8").tobytes())
        digest.update("".join(words.fill_null("").to_list()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _as_text(values: Any) -> Any:
    """A column as text; values of types that polars does not write (lengths of time, lists, ...) as Python does."""
    pl = polars()
    try:
        return values.cast(pl.String)
    except pl.exceptions.PolarsError:
        return pl.Series([None if value is None else str(value) for value in values.to_list()], dtype=pl.String)


def row_fingerprint(values: dict[str, Any]) -> str:
    """A short checksum of a row's values as they are shown."""
    text = json.dumps([[name, None if value is None else str(value)] for name, value in values.items()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def labels(model: Any, table: Any, answers: str | PathLike[str], id_column: str | None = None) -> Any:
    """The decided rows of a table, with the labels of a review in the model's target column.

    Parameters
    ----------
    model, table, id_column : as in :func:`create_app`
    answers : path
        The file of answers; a review may be using it at the same time.

    Returns
    -------
    labels : polars.DataFrame
        The table's columns and, last, the target: ready for ``planewise fit``. Rows with only a note are left out.

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
            raise AnswersFileError(f"{str(path)!r} holds answers about another {what}.")
    decisions = Decisions(rows.height)
    for each in content.records:
        decisions.play(each)
    decided = [record for row in sorted(decisions.by_row) if (record := decisions.decided(row)) is not None]
    pl = polars()
    kept = rows[[record.row for record in decided]] if decided else rows.head(0)
    values = [record.label for record in decided]
    series = pl.Series(fitted.target_, values, dtype=None if values else pl.String)
    return kept.drop(fitted.target_, strict=False).with_columns(series)
