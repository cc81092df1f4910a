"""A review: a model, a table, the queue, and what has been decided. Knows nothing of pages or browsers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from planewise._frames import named
from planewise.answers import (
    AnswersFile,
    Batch,
    ClassAgreement,
    Decisions,
    Ledger,
    NumberAgreement,
    Record,
    Repaired,
    Reviewed,
    TableFile,
    agreement,
    id_column_of,
    is_key,
    is_text,
    now,
    read_content,
    record_key,
    require_about,
    reviewed_table,
    row_fingerprints,
    table_checksum,
)
from planewise.answers import repair as repair_file
from planewise.app._queue import Judgement, Queue, first_untaken, judge
from planewise.io import checksum as model_checksum
from planewise.table import TableModel, as_polars, as_table_model, polars, require_columns
from planewise.words import require_no_offset, require_no_ranking, value_in_words

LONGEST_NOTE = 10_000
LONGEST_NAME = 200
LONGEST_ID = 1000  # characters of a case's id that are kept with an answer
LEAST_PROBABILITY = 0.5  # of a rule
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
    signed: str | None = None  # the signature of the reviewer that the page showed; None: not checked


class Review:
    """People's decisions about a model's predictions for the rows of a table; safe to use from several threads.

    One person at a time decides: `who`, whose decisions are `decisions`. Those of others are kept apart, unseen.
    """

    def __init__(
        self,
        model: Any,
        table: Any,
        answers: str | PathLike[str],
        who: str | None,
        id_column: str | None = None,
        source: str | PathLike[str] | None = None,
        original: Callable[[], Any] | None = None,
    ) -> None:
        self.model: TableModel = as_table_model(model)
        for require in (require_no_ranking, require_no_offset):
            require(self.model.estimator_, "planewise review")
        self.classes = _classes(self.model)
        self.table = as_polars(table)
        if who is not None and not _is_name(who):
            raise ValueError(
                f"who must be the name of the person who decides, 1 to {LONGEST_NAME} characters long; got {who!r}."
            )
        id_column = id_column_of(Path(answers), id_column)
        self.id_column = id_column
        names = [column.name for column in self.model.columns_]
        require_columns([*names, *([] if id_column is None else [id_column])], self.table.columns)
        if self.table.height == 0:
            raise ValueError("The table has no rows to review.")
        self.judgement = self._judged()
        self.source = None if source is None else TableFile.of(Path(source), Path(answers))
        self._original = original
        belongs_to = _belongs_to(self.model, self.table, id_column, self.source)
        self.checksum = f"{belongs_to['model'][:16]}{belongs_to['table'][:16]}"  # of what is reviewed
        self._deciding = threading.RLock()
        self.answers = AnswersFile(Path(answers), belongs_to)
        try:
            _reviewed(self.model, self.table).require_match(self.answers.content, self.answers.path)
            self.ledger = Ledger(self.table.height, self.answers.records)
        except BaseException:
            self.answers.close()
            raise
        newest = self.ledger.newest()
        self.who = self.ledger.spelled(who.strip()) if who is not None else "" if newest is None else newest.who
        self.queue = Queue(self.judgement, self.ledger.of(self.who), self._ids(), id_column or "row")

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

    # ------------------------------------------------------------------------------------------------------- cases
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

    # --------------------------------------------------------------------------------------------------- reviewers
    @property
    def decisions(self) -> Decisions:
        """Those of the person who decides now."""
        return self.ledger.of(self.who)

    def sign(self, who: str) -> None:
        """From now on, this person decides; the name is kept with every decision."""
        if not _is_name(who):
            raise RefusedError(f"Enter your name, at most {LONGEST_NAME} characters: it is saved with every decision.")
        with self._deciding:
            self.who = self.ledger.spelled(who.strip())
            self.queue.decisions = self.ledger.of(self.who)

    @property
    def signature(self) -> str:
        """What a form says instead of the name, so that no decision is saved under another one than its page showed."""
        return hashlib.sha256(self.who.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def others(self) -> list[str]:
        """The other reviewers of this file."""
        return [who for who in self.ledger.reviewers if who != self.who]

    def left_to_compare(self, other: str) -> int:
        """How many cases another person decided that are still open here: until it is 0, those decisions are unseen."""
        return int(np.count_nonzero((self.ledger.of(other).status != 0) & (self.decisions.status == 0)))

    def agreement(self, one: str, other: str) -> ClassAgreement | NumberAgreement:
        """How far two reviewers agree."""
        return agreement(self.ledger.of(one), self.ledger.of(other), self.classes)

    # --------------------------------------------------------------------------------------------------- decisions
    def decide(self, row: int, asked: Asked) -> Record:
        """Save a decision; when this returns, it is on the disk. The same key again changes nothing."""
        with self._deciding:
            self._check_form(asked.key, asked.signed)
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
            return self._save([self._record(asked.key, row, decision, label, note, None)])

    def _check_form(self, key: str, signed: str | None) -> None:
        if not is_key(key):
            raise RefusedError(NO_KEY)
        if not self.who:
            raise RefusedError("Enter your name first: it is saved with every decision.")
        if signed is not None and signed != self.signature:
            raise RefusedError(f"The reviewer is now {self.who}; reload the page.", late=True)

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

    def accept_all(self, key: str, label: int, least: float, n_seen: int, signed: str | None = None) -> Record:
        """Accept all clear cases of a class, see `Queue.clear_cases`, in one piece; one undo takes all of them back.

        `n_seen` is the number of cases that the person was shown.
        """
        with self._deciding:
            self._check_form(key, signed)
            if key in self.ledger.batches:  # sent again
                return self.ledger.batches[key][-1]
            if key in self.ledger.by_id:
                raise RefusedError(CAME_BETWEEN, late=True)
            if not LEAST_PROBABILITY <= least <= 1:
                raise RefusedError(f"The probability must be between {LEAST_PROBABILITY} and 1.")
            rows = np.sort(self.queue.clear_cases(label, least)).tolist()
            if not rows:
                raise RefusedError("No case that is not yet reviewed fits this rule.")
            if len(rows) != n_seen:
                raise RefusedError(CAME_BETWEEN, late=True)
            batch = Batch(key, len(rows), self.rule(label, least))
            return self._save(
                [self._record(record_key(key, row), row, "accept", self.answer(row), "", None, batch) for row in rows]
            )

    def rule(self, label: int, least: float) -> str:
        """A rule in words, as every record of its batch has it."""
        assert self.classes is not None
        return f"accept {self.classes[label]!r} with probability >= {least:g}, where the model is not unsure"

    def undo(self, key: str, undoes: str, signed: str | None = None) -> Record:
        """Undo the last decision or batch that still counts, which must be the one that the person saw."""
        with self._deciding:
            self._check_form(key, signed)
            batch = self.ledger.batches.get(undoes)
            undone = batch[-1] if batch else self.ledger.by_id.get(undoes)
            known = self._saved_before(key, (None if undone is None else undone.row, "undo", None, "", undoes))
            if known is not None:
                return known
            last = self.decisions.last()
            if last is None:
                raise RefusedError("There is nothing to undo.")
            if undoes != (last.id if last.batch is None else last.batch.id):
                raise RefusedError(CAME_BETWEEN, late=True)
            return self._save([self._record(key, last.row, "undo", None, "", undoes)])

    def _saved_before(self, key: str, asked: tuple[Any, ...]) -> Record | None:
        """The record of this very form, if it was sent before; the key of a different one is refused."""
        known = self.ledger.by_id.get(key)
        if known is None or (known.row, known.decision, known.label, known.note, known.undoes) == asked:
            return known
        raise RefusedError(f"This form was already saved ({self.described(known)}); reload the page.", late=True)

    def described(self, record: Record) -> str:
        """A record in words; of a batch, all of it."""
        name = self.queue.name(record.row)
        if record.batch is not None:
            cases = "1 case" if record.batch.size == 1 else f"{record.batch.size:,} cases"
            return f"{cases} accepted as {value_in_words(record.label)} ({record.batch.rule})"
        if record.decision == "accept":
            return f"{name} accepted as {value_in_words(record.label)}"
        if record.decision == "override":
            return f"{name} is {value_in_words(record.label)}, not {value_in_words(record.answer)}"
        return f"a note on {name}" if record.undoes is None else f"undoing a decision on {name}"

    def _record(
        self, key: str, row: int, decision: str, label: Any, note: str, undoes: str | None, batch: Batch | None = None
    ) -> Record:
        return Record(
            id=key,
            row=row,
            row_id=None if self.queue.ids is None else self.queue.ids[row][:LONGEST_ID],
            fingerprint="",  # see `_save`
            answer=self.answer(row),
            decision=decision,
            label=label,
            note=note,
            who=self.who,
            when=now(),
            undoes=undoes,
            batch=batch,
        )

    def _save(self, records: list[Record]) -> Record:
        """Write records in one piece, and return the last."""
        names = [column.name for column in self.model.columns_]
        prints = row_fingerprints(self.table, names, [record.row for record in records])
        records = [replace(record, fingerprint=own) for record, own in zip(records, prints, strict=True)]
        self.answers.append(*records)
        for record in records:
            self.ledger.play(record)
        return records[-1]

    # ------------------------------------------------------------------------------------------------------ export
    def reviewed(self, all_rows: bool = False) -> Any:
        """The table as it was written and, beside it, all decisions, see `planewise.answers.reviewed_table`."""
        original = self.table if self._original is None else as_polars(self._original())
        if original.height != self.table.height:
            raise RefusedError("The file of the table was changed during the review; put it back as it was.", late=True)
        with self._deciding:
            checksum = None if self.source is None else self.source.sha256
            judged = judged_values(self.judgement, self.classes)
            return reviewed_table(original, self.ledger, *judged, all_rows=all_rows, file_checksum=checksum)

    def close(self) -> None:
        """Let others open the answers."""
        self.answers.close()


def _is_name(who: Any) -> bool:
    return is_text(who) and who.strip() != "" and len(who) <= LONGEST_NAME


def labels(
    model: Any, table: Any, answers: str | PathLike[str], id_column: str | None = None, by: str | None = None
) -> Any:
    """The decided rows of a table, with the labels of a review in the model's target column.

    Parameters
    ----------
    model, table, id_column : as in :func:`create_app`
    answers : path
        The file of answers; a review may be using it at the same time.
    by : str or None, default=None
        The reviewer whose decisions count. None: all of them; rows that they disagree about are left out.

    Returns
    -------
    labels : polars.DataFrame
        The table's columns and, last, the target: ready for ``planewise fit``. Rows with only a note are left out.

    Raises
    ------
    AnswersFileError
        If the file is about another model or table, or is damaged.
    """
    fitted, rows = as_table_model(model), as_polars(table)
    decided = list(_ledger_about(fitted, rows, Path(answers), id_column).settled(by).records.values())
    pl = polars()
    kept = rows[[record.row for record in decided]] if decided else rows.head(0)
    values = [record.label for record in decided]
    series = pl.Series(fitted.target_, values, dtype=None if values else pl.String)
    return kept.select(named(name for name in kept.columns if name != fitted.target_)).with_columns(series)


def reviewed(
    model: Any,
    table: Any,
    answers: str | PathLike[str],
    id_column: str | None = None,
    *,
    original: Any = None,
    all_rows: bool = False,
    source: str | PathLike[str] | None = None,
) -> Any:
    """A table with what its review says beside its own columns, which stay as they are.

    Parameters
    ----------
    model, table, id_column, source : as in :func:`create_app`
    answers : path
        The file of answers; a review may be using it at the same time.
    original : data frame or None, default=None
        The table as it was written, where `table` holds its columns in the types of the model.
    all_rows : bool, default=False
        Also return the rows that nobody decided.

    Returns
    -------
    reviewed : polars.DataFrame
        One row per case and reviewer. The columns of the review are last: ``review_row``, ``review_answer``,
        ``review_probability``, ``review_decision``, ``review_label``, ``review_note``, ``review_who``,
        ``review_when``, ``review_rule`` and ``review_table``; where the table has one of these names already, they
        begin with ``review2_``, and so on.

    Raises
    ------
    AnswersFileError
        If the file is about another model or table, or is damaged.
    """
    fitted, rows, path = as_table_model(model), as_polars(table), Path(answers)
    ledger = _ledger_about(fitted, rows, path, id_column)
    file = None if source is None else TableFile.of(Path(source), path)
    return reviewed_table(
        rows if original is None else as_polars(original),
        ledger,
        *judged_values(judge(fitted, rows), _classes(fitted)),
        all_rows=all_rows,
        file_checksum=None if file is None else file.sha256,
    )


def judged_values(judged: Judgement, classes: list[Any] | None) -> tuple[list[Any], list[float] | None]:
    """The model's answer and its probability for each row, as Python values."""
    places = judged.answer.tolist()
    answers = [float(each) for each in places] if classes is None else [classes[place] for place in places]
    return answers, None if judged.probability is None else judged.probability.tolist()


def repair(
    model: Any,
    table: Any,
    answers: str | PathLike[str],
    id_column: str | None = None,
    *,
    source: str | PathLike[str] | None = None,
) -> Repaired | None:
    """Keep the intact lines of a damaged file of answers, and the damaged file beside it (``FILE.damaged1``).

    Parameters
    ----------
    model, table, id_column, source : as in :func:`create_app`
    answers : path
        The file of answers; no review may be using it.

    Returns
    -------
    repaired : Repaired or None
        The number of answers that were kept, the lines that were left out, and the copy; None if nothing is damaged.

    Raises
    ------
    AnswersFileError
        If the file is about another model or table, is not a file of answers, or is open in a review.
    """
    fitted, rows, path = as_table_model(model), as_polars(table), Path(answers)
    id_column = id_column_of(path, None) if id_column is None else id_column  # which may be what is damaged
    file = None if source is None else TableFile.of(Path(source), path)
    return repair_file(path, _belongs_to(fitted, rows, id_column, file), _reviewed(fitted, rows))


def _ledger_about(fitted: TableModel, rows: Any, path: Path, id_column: str | None) -> Ledger:
    """What a file says about a model and a table; an error if it is about others."""
    id_column = id_column_of(path, id_column)
    content = read_content(path)
    require_about(content.belongs_to, _belongs_to(fitted, rows, id_column, None), path)
    _reviewed(fitted, rows).require_match(content, path)
    return Ledger(rows.height, content.records)


def _belongs_to(fitted: TableModel, rows: Any, id_column: str | None, source: TableFile | None) -> dict[str, Any]:
    """What the first line of the file says about the model and the table."""
    names = [column.name for column in fitted.columns_]
    shown = list(dict.fromkeys([*names, *([] if id_column is None else [id_column])]))
    require_columns(shown, rows.columns)
    return {
        "model": model_checksum(fitted),
        "table": table_checksum(rows, shown),
        "kind": type(fitted.estimator_).__name__,
        "target": fitted.target_,
        "rows": rows.height,
        "id": id_column,
        "file": None if source is None else source.name,
        "file_sha256": None if source is None else source.sha256,
    }


def _classes(fitted: TableModel) -> list[Any] | None:
    """The classes as Python values; None where numbers are predicted."""
    return None if fitted.task_ == "regression" else fitted.classes_.tolist()


def _reviewed(fitted: TableModel, rows: Any) -> Reviewed:
    return Reviewed(rows, [column.name for column in fitted.columns_], _classes(fitted))
