"""What a line of an answers file says, and how the lines of a file are read."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

FORMAT, VERSION = "planewise review answers", 1
DECISIONS = ("accept", "override", "note", "undo")
LONGEST_LINE = 1 << 20
BEGINNING = json.dumps({"format": FORMAT, "version": VERSION})[:-1].encode()  # of every file
_KEY = re.compile(r"[0-9a-f]{32}")


class AnswersFileError(ValueError):
    """The answers file cannot be used as it is; the message says why."""


@dataclass(frozen=True)
class Record:
    """One decision of a person, as it stands in the file."""

    id: str  # made with the form, so that sending it twice saves it once
    row: int
    row_id: str | None
    fingerprint: str  # of the values the model reads
    answer: Any  # the model's
    decision: str  # one of DECISIONS
    label: Any  # what the row is, as the person says; None for notes and undoing
    note: str
    who: str
    when: str  # UTC, ISO 8601
    undoes: str | None  # the id of another record

    def line(self) -> bytes:
        """The line of the file."""
        return json.dumps(asdict(self), ensure_ascii=True, allow_nan=False).encode() + b"\n"


def is_key(text: str) -> bool:
    """Whether a text can be the id of a record."""
    return _KEY.fullmatch(text) is not None


@dataclass(frozen=True)
class Content:
    """What a file holds: its first line, all records, and what a crash left after the last whole line."""

    belongs_to: dict[str, Any]
    records: list[Record]
    n_bytes: int  # of whole lines
    torn: bytes
    unended: bool  # the last line is whole but for its line break


def read_content(path: Path) -> Content:
    """Read and check a file; a line that is damaged anywhere but at the end is an error, not a loss."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    torn, unended = data[whole:], False
    lines = data[:whole].split(b"\n")[:-1]
    if torn and (lines or torn.startswith(b"{")) and _parsed(torn) is not None:
        lines, torn, unended = [*lines, torn], b"", True
    if not lines:  # a new file, or one that a crash left with half of its first line
        if not (torn.startswith(BEGINNING) or BEGINNING.startswith(torn)):
            raise AnswersFileError(_no_answers(path))
        return Content({}, [], 0, torn, False)
    belongs_to = _parsed(lines[0])
    if belongs_to is None or belongs_to.get("format") != FORMAT:
        raise AnswersFileError(_no_answers(path))
    if belongs_to.get("version") != VERSION:
        raise AnswersFileError(
            f"{str(path)!r} was written in version {belongs_to.get('version')!r} of the form of answers, and this "
            f"planewise reads version {VERSION}."
        )
    records = [_record(line, number, path) for number, line in enumerate(lines[1:], 2)]
    _check_ids(records, path)
    return Content(belongs_to, records, whole if not unended else len(data), torn, unended)


def id_column_of(path: Path, given: str | None) -> str | None:
    """The column by which cases are called: that of a file already begun, which may not be another than is given."""
    if not path.is_file():
        return given
    with path.open("rb") as file:
        begun = _parsed(file.readline(LONGEST_LINE)) or {}
    if "id" not in begun or begun.get("format") != FORMAT:
        return given
    there = begun["id"]
    if given is not None and given != there:
        how = "without --id" if there is None else f"with --id {there}"
        raise AnswersFileError(f"{str(path)!r} was begun {how}: give the same, or name another file of answers.")
    return None if there is None else str(there)


def _no_answers(path: Path) -> str:
    return f"{str(path)!r} is no file of answers: name another one, or a new one."


def _parsed(line: bytes) -> dict[str, Any] | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _record(line: bytes, number: int, path: Path) -> Record:
    value = _parsed(line)
    names = {field.name for field in fields(Record)}
    if value is not None and set(value) == names:
        text = all(isinstance(value[name], str) for name in ("id", "decision", "note", "who", "when", "fingerprint"))
        if text and type(value["row"]) is int and value["decision"] in DECISIONS:
            return Record(**value)
    raise AnswersFileError(
        f"Line {number} of {str(path)!r} is damaged: it is no record of a review. Put it right or take it out (keep a "
        "copy), or name another file of answers."
    )


def _check_ids(records: list[Record], path: Path) -> None:
    seen: set[str] = set()
    for number, record in enumerate(records, 2):
        if record.id in seen or (record.undoes is not None and record.undoes not in seen):
            raise AnswersFileError(
                f"Line {number} of {str(path)!r} repeats another record, or undoes one that is not before it: was the "
                "file changed by hand?"
            )
        seen.add(record.id)
