"""planewise fit --corrections: the decisions of a review teach the model, and the report says what they changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from planewise._frames import named
from planewise.answers import Ledger, TableFile, exported_columns, read_content, row_fingerprints
from planewise.cli._choose import fit_split
from planewise.cli._mistakes import MistakeError
from planewise.cli._review import tell_torn
from planewise.cli._show import say, show_table
from planewise.cli._split import Split
from planewise.evaluate import MEASURES, Measured, evaluate, in_words, measures
from planewise.files import InputTable, Reading
from planewise.table import TableModel, read_as
from planewise.words import counted, number

REMEDY = "export it with planewise review MODEL TABLE --export reviewed.csv, and give --corrections reviewed.csv"


@dataclass(frozen=True)
class Taught:
    """The decided rows of one file, with their labels."""

    file: Path
    rows: pl.DataFrame
    labels: list[Any]
    numbers: list[int]  # of the rows in the reviewed table; -1 if they are not known
    overridden: list[bool]  # the model's answer was wrong
    tables: list[str | None]  # checksums of the reviewed tables, one per row; None if they are not known
    n_disputed: int  # cases left out because reviewers disagree


class Lesson:
    """What reviews teach a model: used in the order of the methods. Without files, it changes nothing."""

    def __init__(self, files: list[Path], by: str | None, target: str, split: Split) -> None:
        if by is not None and not files:
            raise MistakeError("--corrections-by chooses a reviewer of --corrections: give the answers file too.")
        if files:
            split.refuse("--corrections", "corrected rows could be like those that are held out")
        self.files, self.by, self.target, self.split = files, by, target, split
        self.n_added = 0
        self._counts = dict.fromkeys(("labels_changed", "labels_confirmed", "in_held_out_rows"), 0)

    def read(self, table: InputTable, why_too_large: str, n_read: int, rows: pl.DataFrame) -> None:
        """Read all files; `table` is the one to fit, of which `n_read` rows were read, and `rows` have a target."""
        if self.files and why_too_large:
            raise MistakeError(
                f"--corrections needs all rows in memory, but {why_too_large}; use a table with fewer rows."
            )
        self._n_read = n_read
        read = [(_from_answers if _is_answers(file) else _from_export) for file in self.files]
        texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
        known = table.reading.with_remembered(table.remembered())
        reading = replace(known, categories=[*dict.fromkeys([*known.categories, *texts])])  # codes keep their zeros
        self._given = [one(file, self.by, self.target, reading) for one, file in zip(read, self.files, strict=True)]
        paths = table.paths if self._given else []
        self._own: dict[str | None, Path] = {TableFile.checksum(file): file for file in paths}
        inside = [(one.file, self._own[each]) for one in self._given for each in one.tables if each in self._own]
        if inside and len(self._own) > 1:
            reviewed, fitted = map(str, inside[0])
            raise MistakeError(
                f"{reviewed!r} is about {fitted!r}, one of several files to fit: rows of it may be held out. Join the "
                "files to one table, and review that."
            )

    def taught(
        self, rows: pl.DataFrame, numbers: NDArray[np.intp], learned: NDArray[np.intp], held_out: NDArray[np.intp]
    ) -> tuple[pl.DataFrame, NDArray[np.intp]]:
        """Training rows with other labels, and further rows; with their numbers, as the rows of the table have them.

        `learned` and `held_out` are places in `rows`. Decisions about the table itself, or about rows of another file
        with the same values, replace labels, except in the held-out part: there, labels that were given in view of a
        model's predictions would make it look better than it is. All other rows are added, and numbered on.
        """
        train, train_numbers = rows[learned], numbers[learned]
        self._plain = train, train_numbers
        if not self._given:
            return train, train_numbers
        decided = [_as_in(train, one, self.target) for one in self._given]
        own = [
            [table in self._own and row >= 0 for table, row in zip(one.tables, one.numbers, strict=True)]
            for one in self._given
        ]
        others = [part for part, known in zip(decided, own, strict=True) if not all(known)]
        places = _Places(rows, self.target, numbers, learned, held_out, others)
        told: dict[int, Any] = {}  # labels by places in the training rows
        parts, cases, new_numbers = [train], [train.head(0)], train_numbers.tolist()
        for one, found, known in zip(self._given, decided, own, strict=True):
            new, used = [], []
            prints = places.fingerprints(found)
            for place, (row, label) in enumerate(zip(one.numbers, found[self.target].to_list(), strict=True)):
                same = known[place]
                is_held_out, equal = places.by_number(row) if same else places.by_values(prints[place])
                if is_held_out:
                    self._counts["in_held_out_rows"] += 1
                    continue
                if one.overridden[place]:
                    used.append(place)
                told |= dict.fromkeys(equal, label)
                if not equal:
                    new.append(place)
                    new_numbers.append(row if same else self._n_read + len(new_numbers) - len(train_numbers))
            parts.append(found[new])
            cases.append(found[used])
        joined = pl.concat(parts, how="vertical_relaxed")
        labels = joined[self.target].to_list()
        self._counts["labels_changed"] = sum(labels[place] != label for place, label in told.items())
        self._counts["labels_confirmed"] = len(told) - self._counts["labels_changed"]
        for place, label in told.items():
            labels[place] = label
        self._cases, self.n_added = pl.concat(cases, how="vertical_relaxed"), joined.height - train.height
        corrected = joined.with_columns(pl.Series(self.target, labels, dtype=joined[self.target].dtype))
        return corrected, np.array(new_numbers, dtype=np.intp)

    def changes(self, fitted: TableModel, test: pl.DataFrame) -> dict[str, Any] | None:
        """For programs: what the corrections changed, beside the same model fitted without them; None without any."""
        if not self._given:
            return None
        plain, cases = clone(fitted), self._cases
        fit_split(plain, self._plain[0], self.target, self.split, self._plain[1])
        out: dict[str, Any] = {
            "n_decided": sum(len(one.labels) for one in self._given),
            **{f"n_{name}": count for name, count in self._counts.items()},
            "n_rows_added": self.n_added,
            "n_disputed": sum(one.n_disputed for one in self._given),
            "n_overridden": cases.height,
        }
        for name, model in (("without", plain), ("with", fitted)):
            out[f"quality_{name}"] = {what: asdict(each) for what, each in measures(evaluate(model, test)).items()}
            what = "n_overridden_right" if fitted.task_ == "classification" else "mean_error_overridden"
            out[f"{what}_{name}"] = _on_cases(model, cases[self.target], cases) if cases.height else None
        return out


class _Places:
    """Where decided rows are in the table to fit: by their numbers in the same file, else by their values."""

    def __init__(
        self,
        rows: pl.DataFrame,
        target: str,
        numbers: NDArray[np.intp],
        learned: NDArray[np.intp],
        held_out: NDArray[np.intp],
        others: list[pl.DataFrame],  # decided rows, not all of which are of the same file
    ) -> None:
        self._names = [name for name in rows.columns if name != target]
        self._train = {int(row): place for place, row in enumerate(numbers[learned])}
        self._held_out = set(numbers[held_out].tolist())
        wanted = {each for part in others for each in self.fingerprints(part)}
        self._held_out_prints: set[str] = set()
        self._train_prints: dict[str, list[int]] = {}
        if not wanted:
            return
        self._held_out_prints = wanted.intersection(row_fingerprints(rows, self._names, held_out.tolist()))
        for place, each in enumerate(row_fingerprints(rows, self._names, learned.tolist())):
            if each in wanted:
                self._train_prints.setdefault(each, []).append(place)

    def fingerprints(self, part: pl.DataFrame) -> list[str]:
        """Of the values of rows, without the target."""
        return list(row_fingerprints(part, self._names, range(part.height)))

    def by_number(self, row: int) -> tuple[bool, list[int]]:
        """Whether the row is held out, and its place in the training rows."""
        return row in self._held_out, [self._train[row]] if row in self._train else []

    def by_values(self, fingerprint: str) -> tuple[bool, list[int]]:
        """Whether a row with the same values is held out, and the places of such rows in the training rows."""
        return fingerprint in self._held_out_prints, self._train_prints.get(fingerprint, [])


def _on_cases(model: TableModel, told: pl.Series, cases: pl.DataFrame) -> float:
    """The number of cases with the right class, or the mean absolute error."""
    predicted = model.predict(cases)
    if model.task_ == "classification":
        return sum(label == each for label, each in zip(told.to_list(), predicted.tolist(), strict=True))
    return float(np.abs(told.cast(pl.Float64).to_numpy() - predicted).mean())


def _is_answers(file: Path) -> bool:
    if file.exists() and not file.is_file():  # reading from a pipe could wait forever
        raise MistakeError(f"--corrections {file} is not a file.")
    with file.open("rb") as opened:
        return opened.read(10).startswith(b'{"format"') or file.suffix.lower() == ".jsonl"


def _from_answers(file: Path, by: str | None, target: str, reading: Reading) -> Taught:
    about = read_content(file)
    begun = about.belongs_to
    if begun.get("target") != target:
        raise MistakeError(f"{str(file)!r} holds answers about {begun.get('target')!r}, not about --target {target!r}.")
    if not begun.get("file"):
        raise MistakeError(
            f"{str(file)!r} does not name the file of its table (version 1, or several files): {REMEDY}."
        )
    tell_torn(about, file)
    table = file.parent / begun["file"]
    if not table.is_file():
        raise MistakeError(f"{str(file)!r} is about {str(table)!r}, which is not there: put it back, or {REMEDY}.")
    if TableFile.checksum(table) != begun.get("file_sha256"):
        raise MistakeError(
            f"{str(table)!r} was changed after the review of {str(file)!r} began (other checksum): put the reviewed "
            f"table back, or {REMEDY}."
        )
    reviewed = _read(table, target, reading)
    if reviewed.height != begun.get("rows"):
        raise MistakeError(
            f"{str(file)!r} is about a table of {begun.get('rows')} rows, but {str(table)!r} has {reviewed.height} as "
            f"it is read here: read it as the review did, or {REMEDY}."
        )
    ledger = Ledger(reviewed.height, about.records)
    if by is not None and by not in ledger.reviewers:
        raise MistakeError(
            f"--corrections-by {by}: the reviewers of {str(file)!r} are {', '.join(ledger.reviewers) or 'none'}."
        )
    settled = ledger.settled(by)
    records = list(settled.records.values())
    numbers = [record.row for record in records]
    rows = reviewed[numbers]
    wrong = [record.decision == "override" for record in records]
    labels = [record.label for record in records]
    tables = [begun["file_sha256"]] * len(numbers)
    return Taught(file, rows, labels, numbers, wrong, tables, len(settled.disputed))


def _read(file: Path, target: str, reading: Reading) -> pl.DataFrame:
    """All rows of a reviewed table; its target, if it has one, does not matter."""
    table = InputTable([file], reading)
    table.read_as_text([name for name in table.columns if name == target])
    return table.read()


def _from_export(file: Path, by: str | None, target: str, reading: Reading) -> Taught:
    found = replace(reading, separator=None, encoding=None, header=None, comment=None)  # it is written by planewise
    rows = _read(file, target, found)
    columns = exported_columns(rows.columns, new=False)
    if columns is None:
        raise MistakeError(
            f"{str(file)!r} is neither an answers file nor an exported review: it has no column 'review_label'."
        )
    there = [name for name in columns.all if name in rows.columns]
    rows = rows.filter(pl.col(columns("label")).is_not_null())
    if by is not None:
        rows = _by_reviewer(rows, columns("who"), by, file)
    numbers = _cells(rows, columns("row"), pl.Int64)
    tables = _cells(rows, columns("table"), pl.String)
    labels = rows[columns("label")].to_list()
    decisions = _cells(rows, columns("decision"), pl.String)
    wrong = [each is None or each == "override" for each in decisions]
    numbers = [-1 if row is None else row for row in numbers]
    values = rows.drop(there)
    features = [name for name in values.columns if name != target]
    prints = row_fingerprints(values, features, range(values.height))
    cases = [(sha256 or values_of, row) for sha256, values_of, row in zip(tables, prints, numbers, strict=True)]
    kept, n_disputed = _undisputed(cases, labels)
    return Taught(
        file,
        values[kept],
        [labels[place] for place in kept],
        [numbers[place] for place in kept],
        [wrong[place] for place in kept],
        [tables[place] for place in kept],
        n_disputed,
    )


def _by_reviewer(rows: pl.DataFrame, column: str, by: str, file: Path) -> pl.DataFrame:
    """The rows that one reviewer decided."""
    who = pl.Series(_cells(rows, column, pl.String), dtype=pl.String)
    own = (who == by).fill_null(False)
    if not own.any():
        names = ", ".join(who.drop_nulls().unique(maintain_order=True)) or "none"
        raise MistakeError(f"--corrections-by {by}: the reviewers of {str(file)!r} are {names}.")
    return rows.filter(own)


def _cells(rows: pl.DataFrame, column: str, dtype: Any) -> list[Any]:
    """A column of the export; None in every row if it was left out."""
    return rows[column].cast(dtype, strict=False).to_list() if column in rows.columns else [None] * rows.height


def _undisputed(cases: list[tuple[str, int]], labels: list[Any]) -> tuple[list[int], int]:
    """The places of one decision per case, without cases that reviewers disagree about, and the number of those.

    A case is a table, known by its checksum, and a row of it; a negative row is not known, and is a case of its own.
    """
    first: dict[tuple[str, int], int] = {}
    disputed = set()
    for place, case in enumerate(cases):
        if case[1] >= 0 and first.setdefault(case, place) != place and labels[place] != labels[first[case]]:
            disputed.add(case)
    kept = [place for place, case in enumerate(cases) if case[1] < 0 or (first[case] == place and case not in disputed)]
    return kept, len(disputed)


def _as_in(train: pl.DataFrame, one: Taught, target: str) -> pl.DataFrame:
    """The decided rows with the columns of the training rows in their types, and the labels as target."""
    missing = [name for name in train.columns if name != target and name not in one.rows.columns]
    if missing:
        raise MistakeError(
            f"{str(one.file)!r}: the reviewed table has no column {missing[0]!r}, which the table to fit has; --drop "
            f"{missing[0]} fits without it."
        )
    told = pl.Series(target, one.labels, dtype=None if one.labels else train[target].dtype, strict=False)
    rows = one.rows.with_columns(told).select(named(train.columns))
    return rows.with_columns(_in_type(rows[name], train[name].dtype, one.file) for name in train.columns)


def _in_type(values: pl.Series, dtype: Any, file: Path) -> pl.Series:
    if values.dtype == dtype or (values.dtype.is_numeric() and dtype.is_numeric()):
        return values
    try:
        return read_as(values, dtype)
    except (pl.exceptions.PolarsError, ValueError):
        raise MistakeError(
            f"{str(file)!r}: column {values.name!r} holds values such as {values.drop_nulls()[0]!r} ({values.dtype}), "
            f"but the table to fit has {dtype} there."
        ) from None


def show_changes(found: dict[str, Any], n_held_out: int) -> None:
    """For people."""
    parts = [
        f"{counted(found['n_labels_changed'], 'label')} changed" if found["n_labels_changed"] else "",
        f"{counted(found['n_labels_confirmed'], 'label')} confirmed" if found["n_labels_confirmed"] else "",
        f"{counted(found['n_rows_added'], 'training row')} added" if found["n_rows_added"] else "",
    ]
    what = ", ".join(filter(None, parts)) or "nothing to learn"
    say("", f"corrections  {counted(found['n_decided'], 'decision')}: {what}")
    held = found["n_in_held_out_rows"]
    if held:
        say(f"{counted(held, 'decision')} about held-out rows not used: these rows keep their labels")
    if found["n_disputed"]:
        say(f"{counted(found['n_disputed'], 'case')} left out: the reviewers disagree (--corrections-by chooses one)")
    cases = counted(found["n_overridden"], "overridden case")
    if found.get("n_overridden_right_with") is not None:
        n_now, n_before = found["n_overridden_right_with"], found["n_overridden_right_without"]
        say(f"of {cases} in training, the model now gets {n_now} right; without the corrections {n_before}")
    elif found.get("mean_error_overridden_with") is not None:
        now, before = (number(found[f"mean_error_overridden_{name}"]) for name in ("with", "without"))
        say(f"mean absolute error on {cases} in training: {now}; without the corrections {before}")
    rows = [
        [MEASURES[name], in_words(name, Measured(**found["quality_without"][name])), in_words(name, Measured(**each))]
        for name, each in found["quality_with"].items()
    ]
    show_table(f"quality on {n_held_out} held-out rows", ["measure", "without corrections", "with corrections"], rows)
