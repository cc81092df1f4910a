"""The file of answers, append-only JSON lines: each is on the disk before anybody is told that it is saved."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from planewise.answers._record import Record

FORMAT, VERSION = "planewise review answers", 2
VERSIONS = (1, 2)  # that are read; files of version 1 are continued as they are
LONGEST_LINE = 1 << 20
BEGINNINGS = [json.dumps({"format": FORMAT, "version": each})[:-1].encode() for each in VERSIONS]  # of every file


class AnswersFileError(ValueError):
    """The file of answers cannot be used as it is; the message says why."""


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
        if not any(torn.startswith(each) or each.startswith(torn) for each in BEGINNINGS):
            raise AnswersFileError(_no_answers(path))
        return Content({}, [], 0, torn, False)
    belongs_to = _parsed(lines[0])
    if belongs_to is None or belongs_to.get("format") != FORMAT:
        raise AnswersFileError(_no_answers(path))
    if belongs_to.get("version") not in VERSIONS:
        raise AnswersFileError(
            f"{str(path)!r} has version {belongs_to.get('version')!r} of the format of answers; this planewise reads "
            f"versions {' and '.join(map(str, VERSIONS))}."
        )
    records = [_record(line, number, path) for number, line in enumerate(lines[1:], 2)]
    n_bytes = len(data) if unended else whole
    n_cut = _check_batches(records, path)
    if n_cut:  # the end of the file is part of a batch that was never confirmed
        n_bytes = len(b"".join(line + b"\n" for line in lines[:-n_cut]))
        records, torn, unended = records[:-n_cut], data[n_bytes:], False
    _check_ids(records, path)
    return Content(belongs_to, records, n_bytes, torn, unended)


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
        how = "without --id-column" if there is None else f"with --id-column {there}"
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
    found = Record.read(_parsed(line))
    if found is None:
        raise _damaged(number, path, "it is not a record of a review")
    return found


def _damaged(number: int, path: Path, why: str) -> AnswersFileError:
    return AnswersFileError(
        f"Line {number} of {str(path)!r} is damaged: {why}. Correct or delete it (keep a copy), or choose another file "
        "of answers."
    )


def _check_batches(records: list[Record], path: Path) -> int:
    """The number of lines at the end that are a part of a batch; an error if a part is elsewhere."""
    place = 0
    while place < len(records):
        batch = records[place].batch
        if batch is None:
            place += 1
            continue
        n_lines = 0
        while place + n_lines < len(records) and records[place + n_lines].batch == batch and n_lines < batch.size:
            n_lines += 1
        if n_lines < batch.size:
            if place + n_lines == len(records):
                return n_lines
            raise _damaged(
                place + 2, path, f"{batch.size} decisions were made at once, but only {n_lines} of them are there"
            )
        place += n_lines
    return 0


def _check_ids(records: list[Record], path: Path) -> None:
    seen: set[str] = set()
    for number, record in enumerate(records, 2):
        if record.id in seen or (record.undoes is not None and record.undoes not in seen):
            raise AnswersFileError(
                f"Line {number} of {str(path)!r} repeats another record, or undoes one that does not precede it: was "
                "the file edited by hand?"
            )
        seen.add(record.id)
        if record.batch is not None:
            seen.add(record.batch.id)


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

    def append(self, *records: Record) -> None:
        """Write records in one piece; when this returns, they are on the disk."""
        lines = [record.line() for record in records]
        longest = max(map(len, lines))
        if longest > LONGEST_LINE:
            raise NotSavedError(
                errno.EFBIG,
                f"The answer would be a line of {longest:,} bytes; the limit is {LONGEST_LINE:,}. Nothing was saved.",
            )
        self._write(b"".join(lines))

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
