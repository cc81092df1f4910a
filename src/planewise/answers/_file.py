"""The file of answers, append-only JSON lines: each is on the disk before anybody is told that it is saved."""

from __future__ import annotations

import errno
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from planewise.answers._content import FORMAT, VERSION, Content, content_of, require_about
from planewise.answers._lines import LONGEST_LINE, checksum, sealed
from planewise.answers._opening import OWNER_ONLY, AnswersFileError, folder_to_disk, lock, open_to_write, to_disk
from planewise.answers._record import Record


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
        self._handle = open_to_write(path)
        try:
            if not lock(self._handle):
                raise AnswersFileError(
                    f"{str(path)!r} is open in another review. Two reviews would not know of each other's answers: end "
                    "the other one, or choose another file of answers."
                )
            self.content = self._recover(belongs_to)
        except BaseException:
            os.close(self._handle)
            raise

    @property
    def records(self) -> list[Record]:
        """Those that the file held when it was opened."""
        return self.content.records

    def _recover(self, belongs_to: dict[str, Any]) -> Content:
        """Read the records; move aside what a crash left half-written; start a new file with its first line."""
        with open(self._handle, "rb", closefd=False) as file:
            content = content_of(file, self.path)
        if content.belongs_to:
            require_about(content.belongs_to, belongs_to, self.path)
        if content.torn:
            self.torn = put_aside(self.path, "torn", content.torn)
            os.ftruncate(self._handle, content.n_bytes)
            to_disk(self._handle)
        if content.unended:
            self._write(b"\n")
        self._check = content.check
        if not content.belongs_to:
            first, self._check = sealed({"format": FORMAT, "version": VERSION, **belongs_to, "begun": now()}, "")
            self._write(first)
            folder_to_disk(self.path.parent)
        return content

    def append(self, *records: Record) -> None:
        """Write records in one piece; when this returns, they are on the disk."""
        with self._writing:
            check, lines = self._check, []
            for value in [*self._continuation(), *(record.value() for record in records)]:
                line, check = sealed(value, check or self._checksum_of_all())
                lines.append(line)
            longest = max(map(len, lines))
            if longest > LONGEST_LINE:
                raise NotSavedError(
                    errno.EFBIG,
                    f"The answer would be a line of {longest:,} bytes; the limit is {LONGEST_LINE:,}. Nothing was "
                    "saved.",
                )
            self._write(b"".join(lines))
            self._check = check

    def _continuation(self) -> list[dict[str, Any]]:
        """What comes before the first line with a checksum in a file of an older version."""
        return [] if self._check else [{"format": FORMAT, "version": VERSION, "begun": now()}]

    def _checksum_of_all(self) -> str:
        with open(self._handle, "rb", closefd=False) as file:
            file.seek(0)
            return checksum(file.read())

    def _write(self, line: bytes) -> None:
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
            there = os.lstat(self._place)
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


def put_aside(path: Path, why: str, data: bytes) -> Path:
    """Keep bytes in a new file FILE.why1 (or 2, ...): nothing that was written is ever lost."""
    number = 1
    while True:
        aside = path.with_name(f"{path.name}.{why}{number}")
        try:
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), OWNER_ONLY)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            to_disk(file.fileno())
        folder_to_disk(aside.parent)
        return aside


def now() -> str:
    """The time as the file writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
