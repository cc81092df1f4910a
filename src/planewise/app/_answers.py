"""The file of answers, append-only JSON lines: each is on the disk before anybody is told that it is saved.

`Record` is a line, `Decisions` what all lines together say, `AnswersFile` the open file.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sys
import threading
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

FORMAT, VERSION = "planewise review answers", 1
DECISIONS = ("accept", "override", "note", "undo")
LONGEST_LINE = 1 << 20
BEGINNING = json.dumps({"format": FORMAT, "version": VERSION})[:-1].encode()  # of every file
_KEY = re.compile(r"[0-9a-f]{32}")


class AnswersFileError(ValueError):
    """The file of answers cannot be used as it is; the message says why."""


@dataclass(frozen=True)
class Record:
    """One decision of a person, as it stands in the file."""

    id: str  # made with the form, so that sending it twice saves it once
    row: int
    row_id: str | None
    fingerprint: str  # of the values the model reads
    answer: Any  # the model's
    decision: str  # one of DECISIONS
    label: Any  # the right class or number according to the person; None for notes and undoing
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
            f"{str(path)!r} has version {belongs_to.get('version')!r} of the format of answers; this planewise reads "
            f"version {VERSION}."
        )
    records = [_record(line, number, path) for number, line in enumerate(lines[1:], 2)]
    _check_ids(records, path)
    return Content(belongs_to, records, whole if not unended else len(data), torn, unended)


def id_column_of(path: Path, given: str | None) -> str | None:
    """The column with the names of the cases; in an existing file it is fixed, and a different one is an error."""
    if not path.is_file():
        return given
    with path.open("rb") as file:
        begun = _parsed(file.readline(LONGEST_LINE)) or {}
    if "id" not in begun or begun.get("format") != FORMAT:
        return given
    there = begun["id"]
    if given is not None and given != there:
        how = "without --id" if there is None else f"with --id {there}"
        raise AnswersFileError(f"{str(path)!r} was started {how}: use the same, or another file of answers.")
    return None if there is None else str(there)


def _no_answers(path: Path) -> str:
    return f"{str(path)!r} is not a file of answers: choose another one, or a new name."


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
        f"Line {number} of {str(path)!r} is damaged: it is not a record of a review. Correct or delete it (keep a "
        "copy), or choose another file of answers."
    )


def _check_ids(records: list[Record], path: Path) -> None:
    seen: set[str] = set()
    for number, record in enumerate(records, 2):
        if record.id in seen or (record.undoes is not None and record.undoes not in seen):
            raise AnswersFileError(
                f"Line {number} of {str(path)!r} repeats another record, or undoes one that does not precede it: was "
                "the file edited by hand?"
            )
        seen.add(record.id)


OPEN, ACCEPTED, OVERRIDDEN = 0, 1, 2
_STATUS = {"accept": ACCEPTED, "override": OVERRIDDEN}


@dataclass
class Decisions:
    """The state of all rows; undone records no longer count."""

    n_rows: int
    status: NDArray[np.int8] = field(init=False)
    noted: NDArray[np.bool_] = field(init=False)
    by_id: dict[str, Record] = field(default_factory=dict)
    standing: list[Record] = field(default_factory=list)  # not undone, the last at the end
    by_row: dict[int, list[Record]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.status = np.zeros(self.n_rows, dtype=np.int8)
        self.noted = np.zeros(self.n_rows, dtype=bool)

    def play(self, record: Record) -> None:
        """Take in one more record."""
        self.by_id[record.id] = record
        if record.undoes is None:
            self.standing.append(record)
            self.by_row.setdefault(record.row, []).append(record)
        else:
            undone = self.by_id[record.undoes]
            if self.standing and self.standing[-1] is undone:
                self.standing.pop()
            else:
                self.standing = [each for each in self.standing if each is not undone]
            self.by_row[undone.row] = [each for each in self.by_row[undone.row] if each is not undone]
        self._settle(record.row)

    def _settle(self, row: int) -> None:
        decided = self.decided(row)
        self.status[row] = OPEN if decided is None else _STATUS[decided.decision]
        self.noted[row] = any(record.note for record in self.by_row.get(row, ()))

    def decided(self, row: int) -> Record | None:
        """The decision that counts for a row."""
        return next((each for each in reversed(self.by_row.get(row, ())) if each.decision in _STATUS), None)

    def notes(self, row: int) -> list[Record]:
        """The records of a row that have a note, the oldest first."""
        return [record for record in self.by_row.get(row, ()) if record.note]

    def last(self) -> Record | None:
        """What would be undone."""
        return self.standing[-1] if self.standing else None

    def newest(self) -> Record | None:
        """The record that was written last, whatever it says."""
        return next(reversed(self.by_id.values()), None)


class NotSavedError(OSError):
    """A record could not be written; the message says what is in the file and what to do."""


class AnswersFile:
    """An open, locked file of answers.

    Parameters
    ----------
    path : Path
    belongs_to : dict
        Checksums of the model and the table; a file about others is refused.
    """

    def __init__(self, path: Path, belongs_to: dict[str, Any]) -> None:
        self.path = path
        self.torn: Path | None = None  # where a half line was put that a crash had left
        self._writing = threading.Lock()
        self._place = path.absolute()
        self._broken = ""  # why nothing more may be written
        if path.is_dir() or not path.parent.is_dir():
            raise AnswersFileError(f"{str(path)!r} must be a file in an existing folder.")
        self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if not lock(self._handle):
                raise AnswersFileError(
                    f"{str(path)!r} is open in another review. Two reviews would not know of each other's answers: end "
                    "the other one, or choose another file of answers."
                )
            self.records = self._recover(belongs_to)
        except BaseException:
            os.close(self._handle)
            raise

    def _recover(self, belongs_to: dict[str, Any]) -> list[Record]:
        """Read the records; move aside what a crash left half-written; start a new file with its first line."""
        content = read_content(self.path)
        for what in ("model", "table") if content.belongs_to else ():
            there, here = content.belongs_to.get(what), belongs_to[what]
            if there != here:
                raise AnswersFileError(
                    f"{str(self.path)!r} holds answers about another {what} (checksum {_short(there)}; this one has "
                    f"{_short(here)}). Use the {what} it was started with, or another file of answers."
                )
        if content.torn:
            self.torn = self._put_aside(content.torn)
            os.ftruncate(self._handle, content.n_bytes)
            to_disk(self._handle)
        if content.unended:
            self._write(b"\n")
        if not content.belongs_to:
            first = {"format": FORMAT, "version": VERSION, **belongs_to, "begun": now()}
            self._write(json.dumps(first, ensure_ascii=True).encode() + b"\n")
            folder_to_disk(self.path.parent)
        return content.records

    def _put_aside(self, torn: bytes) -> Path:
        """Keep half a line in a new file before it is cut off: nothing that was written is ever lost."""
        number = 1
        while True:
            path = self.path.with_name(f"{self.path.name}.torn{number}")
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            except FileExistsError:
                number += 1
                continue
            with os.fdopen(handle, "wb") as file:
                file.write(torn)
                file.flush()
                to_disk(file.fileno())
            folder_to_disk(path.parent)
            return path

    def append(self, record: Record) -> None:
        """Write a record; when this returns, it is on the disk."""
        line = record.line()
        if len(line) > LONGEST_LINE:
            raise NotSavedError(
                errno.EFBIG,
                f"The answer would be a line of {len(line):,} bytes; the limit is {LONGEST_LINE:,}. Nothing was saved.",
            )
        self._write(line)

    def _write(self, line: bytes) -> None:
        with self._writing:
            if self._broken:
                raise NotSavedError(errno.EIO, self._broken)
            self._check_place()
            before = os.fstat(self._handle).st_size
            try:
                written = os.write(self._handle, line)
                if written != len(line):
                    raise OSError(errno.ENOSPC, "only a part of the line was written")
                to_disk(self._handle)
            except OSError as error:
                failed = f"The answer could not be saved to {str(self.path)!r}: {error.strerror}."
                try:
                    os.ftruncate(self._handle, before)  # what was there stays whole
                except OSError:
                    self._broken = (  # the next line would be appended to the half one
                        f"{failed} A part of it could not be removed from the file, so nothing more is written: end "
                        "the review and start it again, which moves the part to another file."
                    )
                    raise NotSavedError(error.errno, self._broken) from error
                raise NotSavedError(error.errno, f"{failed} Nothing was saved; try again.") from error

    def _check_place(self) -> None:
        """An error if the file is no longer where it was: what is written to it would be lost."""
        own = os.fstat(self._handle)
        try:
            there = os.stat(self._place)
        except OSError:
            there = None
        if there is None or (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino):
            raise NotSavedError(
                errno.ENOENT,
                f"{str(self.path)!r} was moved or replaced while the review was open. Nothing was saved: put it back "
                "and try again, or end the review and start it again.",
            )

    def close(self) -> None:
        """Let others open the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def now() -> str:
    """The time as the file writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _short(checksum: Any) -> str:
    return str(checksum)[:12]


def to_disk(handle: int) -> None:
    """Wait until what was written is on the disk; macOS has a special call for this, which some disks refuse."""
    if sys.platform != "win32":
        import fcntl

        whole = getattr(fcntl, "F_FULLFSYNC", None)
        if whole is not None:
            with contextlib.suppress(OSError):
                fcntl.fcntl(handle, whole)
                return
    os.fsync(handle)


def folder_to_disk(folder: Path) -> None:
    """Wait until the names of new files are on the disk too; Windows has no such call."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            to_disk(handle)
        finally:
            os.close(handle)


FAR_AWAY = 2**62  # a byte that no file reaches: Windows keeps others from reading what is locked


def lock(handle: int) -> bool:
    """Lock an open file without waiting, and say whether it worked; the lock ends with the process, however it ends."""
    if sys.platform == "win32":
        import msvcrt

        at = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, FAR_AWAY, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, at, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
