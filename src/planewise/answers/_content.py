"""What a file of answers holds, and whether it can be: every line is checked before any of them counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from planewise.answers._lines import Line, lines_of
from planewise.answers._opening import AnswersFileError, open_to_read
from planewise.answers._record import Record

FORMAT, VERSION = "planewise review answers", 3
VERSIONS = (1, 2, 3)  # that are read; in versions 1 and 2, lines have no checksums
BEGINNINGS = [json.dumps({"format": FORMAT, "version": each})[:-1].encode() for each in VERSIONS]  # of every file
REPAIR = "Put back a copy of the file, or keep its intact answers: planewise review MODEL TABLE --repair."
# What the first line says besides the format and the version; files of version 1 lack some.
_FIRST: dict[str, Any] = {
    "model": str, "table": str, "kind": str, "target": str, "rows": int, "id": (str, type(None)),
    "file": (str, type(None)), "file_sha256": (str, type(None)), "begun": str,
}  # fmt: skip


@dataclass(frozen=True)
class Content:
    """What a file holds: its first line, all records, and what a crash left after the last whole line."""

    belongs_to: dict[str, Any] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the records' lines, counted from 1
    n_bytes: int = 0  # of whole lines
    torn: bytes = b""
    unended: bool = False  # the last line is whole but for its line break
    check: str = ""  # the checksum of the last line; "" if that has none


def read_content(path: Path) -> Content:
    """Read and check a file; a line that is damaged anywhere but at the end is an error, not a loss."""
    with open_to_read(path) as file:
        return content_of(file, path)


def content_of(file: BinaryIO, path: Path) -> Content:
    """What an open file holds; `path` is for errors."""
    begun: dict[str, Any] = {}
    records: list[Record] = []
    numbers: list[int] = []
    before: list[tuple[int, str]] = []  # where each record begins, and the checksum of the line before it
    last = Line(0, 0)
    for line in lines_of(file):
        if line.torn:
            break
        if line.number == 1:
            begun = _first_line(line, path)
        elif line.wrong:
            raise damaged(line.number, path, line.wrong)
        elif not line.follows:
            raise AnswersFileError(
                f"Line {line.number} of {str(path)!r} was not written after line {line.number - 1}: lines were lost, "
                f"repeated, moved or added there. {REPAIR}"
            )
        elif not is_continuation(line):
            records.append(_record(line, begun.get("rows"), path))
            numbers.append(line.number)
            before.append((last.end, last.check))
        last = line
    n_bytes, check, unended = last.end, last.check, not last.ended
    n_cut = _check_batches(records, numbers, path)
    if n_cut:  # the end of the file is part of a batch that was never confirmed
        (n_bytes, check), unended = before[-n_cut], False
        del records[-n_cut:], numbers[-n_cut:]
    file.seek(n_bytes)
    torn = file.read()
    if not begun:  # a new file, or one that a crash left with half of its first line
        if not any(torn.startswith(each) or each.startswith(torn) for each in BEGINNINGS):
            raise AnswersFileError(not_answers(path, "it does not begin like one"))
        return Content(torn=torn)
    _check_undoing(records, numbers, path, begun["version"])
    return Content(begun, records, numbers, n_bytes, torn, unended, check)


def is_continuation(line: Line) -> bool:
    """Whether a line says that a file of an older version is continued in this one."""
    return line.number > 1 and line.check != "" and line.value.get("format") == FORMAT


def id_column_of(path: Path, given: str | None) -> str | None:
    """The column with the names of the cases; in an existing file it is fixed, and a different one is an error."""
    if not path.exists():
        return given
    with open_to_read(path) as file:
        first = next(lines_of(file), Line(1, 0, torn=True))
    if first.torn or first.wrong or first.value.get("format") != FORMAT or "id" not in first.value:
        return given  # the error, if it is one, is told when the whole file is read
    there = first.value["id"]
    if not isinstance(there, (str, type(None))):
        return given
    if given is not None and given != there:
        how = "without --id-column" if there is None else f"with --id-column {there}"
        raise AnswersFileError(f"{str(path)!r} was started {how}: use the same, or another file of answers.")
    return there


def not_answers(path: Path, why: str) -> str:
    """The message about a file of another kind."""
    return f"{str(path)!r} is not a file of answers (line 1: {why}): choose another one, or a new name."


def damaged(number: int, path: Path, why: str) -> AnswersFileError:
    """The error about a damaged line."""
    return AnswersFileError(f"Line {number} of {str(path)!r} is damaged: {why}. {REPAIR}")


def require_about(belongs_to: dict[str, Any], here: dict[str, Any], path: Path) -> None:
    """An error if a file is about another model or table than `here`."""
    for what in ("model", "table"):
        if belongs_to.get(what) != here[what]:
            raise AnswersFileError(
                f"{str(path)!r} holds answers about another {what} (checksum {_short(belongs_to.get(what))}; this one "
                f"has {_short(here[what])}). Use the {what} it was started with, or another file of answers."
            )


def _short(checksum: Any) -> str:
    return str(checksum)[:12]


def require_version(first: dict[str, Any], path: Path) -> int:
    """The version that an intact first line names; an error if it is not known here."""
    version = first.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise AnswersFileError(
            f"{str(path)!r} has version {ascii(version)[:60]} of the format of answers (line 1); this planewise reads "
            f"versions {', '.join(map(str, VERSIONS[:-1]))} and {VERSIONS[-1]}."
        )
    return version


def odd_keys(first: dict[str, Any]) -> list[str]:
    """What a first line says and cannot say."""
    kinds = ((name, kind) for name, kind in _FIRST.items() if name in first)
    return [name for name, kind in kinds if not isinstance(first[name], kind) or isinstance(first[name], bool)]


def _first_line(line: Line, path: Path) -> dict[str, Any]:
    if line.wrong and line.check:
        raise damaged(1, path, line.wrong)
    if line.wrong or line.value.get("format") != FORMAT:
        raise AnswersFileError(not_answers(path, line.wrong or f"its format is not {FORMAT!r}"))
    version = require_version(line.value, path)
    if version >= 3 and not (line.check and line.follows):
        raise damaged(1, path, "its checksum is missing" if line.follows else "it was not the first line")
    for name in odd_keys(line.value):
        raise damaged(1, path, f"{name} cannot be {ascii(line.value[name])[:60]}")
    return line.value


def _record(line: Line, n_rows: int | None, path: Path) -> Record:
    try:
        record = Record.read(line.value)
    except ValueError as error:
        raise damaged(line.number, path, str(error)) from None
    if n_rows is not None and record.row >= n_rows:
        raise damaged(line.number, path, f"row is {record.row}, but the table has {n_rows} rows")
    return record


def _check_batches(records: Sequence[Record], numbers: Sequence[int], path: Path) -> int:
    """The number of lines at the end that are a part of a batch; an error if a part is elsewhere."""
    place = 0
    seen: set[str] = set()
    while place < len(records):
        batch, who = records[place].batch, records[place].who
        if batch is None:
            place += 1
            continue
        if batch.id in seen:
            raise damaged(numbers[place], path, "it repeats the id of another batch")
        seen.add(batch.id)
        rest = records[place : place + batch.size]
        n_lines = next((k for k, each in enumerate(rest) if (each.batch, each.who) != (batch, who)), len(rest))
        if n_lines < batch.size:
            if place + n_lines == len(records):
                return n_lines
            raise damaged(
                numbers[place],
                path,
                f"{batch.size} decisions were made at once, but only {n_lines} of them are there",
            )
        place += n_lines
    return 0


def _check_undoing(records: Sequence[Record], numbers: Sequence[int], path: Path, version: int) -> None:
    """An error if an id occurs twice, or if a line undoes anything but a decision, note or batch that still counts."""
    seen: set[str] = set()
    standing: dict[str, str] = {}  # who decided what can be undone, by its id
    for number, record in zip(numbers, records, strict=True):
        if record.id in seen:
            raise damaged(number, path, "it repeats the id of another line")
        seen.add(record.id)
        if record.undoes is None:
            standing[record.id if record.batch is None else record.batch.id] = record.who
            continue
        who = standing.pop(record.undoes, None)
        if who is None:
            raise damaged(number, path, "no line before it says what it undoes, or another line undoes that too")
        if who != record.who and version > 1:  # in files of version 1, everybody could undo everything
            raise damaged(number, path, f"it undoes a decision of another reviewer, {ascii(who)[:60]}")
