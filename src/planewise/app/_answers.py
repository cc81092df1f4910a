"""The file of answers: append-only JSON lines. A line is on the disk before anybody is told that it is saved."""

from __future__ import annotations

import errno
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from planewise.app._disk import folder_to_disk, to_disk
from planewise.app._lock import lock
from planewise.app._records import FORMAT, LONGEST_LINE, VERSION, AnswersFileError, Record, read_content


class NotSavedError(OSError):
    """A record could not be written; its words say what is in the file and what to do."""


class AnswersFile:
    """An open, locked file of answers.

    Parameters
    ----------
    path : Path
    belongs_to : dict
        Which model and table the answers are about; a file about others is refused.
    """

    def __init__(self, path: Path, belongs_to: dict[str, Any]) -> None:
        self.path = path
        self.torn: Path | None = None  # where a half line was put that a crash had left
        self._writing = threading.Lock()
        self._place = path.absolute()
        self._broken = ""  # why nothing more may be written
        if path.is_dir() or not path.parent.is_dir():
            raise AnswersFileError(f"{str(path)!r} must be a file in a folder that is there.")
        self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if not lock(self._handle):
                raise AnswersFileError(
                    f"{str(path)!r} is open in another review. Two would not know of each other's answers: end the "
                    "other one, or name another file of answers."
                )
            self.records = self._recover(belongs_to)
        except BaseException:
            os.close(self._handle)
            raise

    def _recover(self, belongs_to: dict[str, Any]) -> list[Record]:
        """Read what is there; put aside what a crash left half-written; begin a new file with its first line."""
        content = read_content(self.path)
        for what in ("model", "table") if content.belongs_to else ():
            there, here = content.belongs_to.get(what), belongs_to[what]
            if there != here:
                raise AnswersFileError(
                    f"{str(self.path)!r} holds answers about another {what} (checksum {_short(there)}, this one has "
                    f"{_short(here)}). Name another file of answers, or the {what} it was made with."
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
        """A name that is not taken: nothing that was written is ever lost, and it is kept before it is cut off."""
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
                f"The answer would be a line of {len(line):,} bytes, and at most {LONGEST_LINE:,} can be read again. "
                "Nothing was saved.",
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
                    raise OSError(errno.ENOSPC, "the disk took only a part of the line")
                to_disk(self._handle)
            except OSError as error:
                failed = f"The answer could not be saved to {str(self.path)!r}: {error.strerror}."
                try:
                    os.ftruncate(self._handle, before)  # what was there stays whole
                except OSError:
                    self._broken = (  # another line would be glued to the half one
                        f"{failed} A part of it could not be taken out of the file again, so that nothing more is "
                        "written: end the review and start it again, which puts half a line aside."
                    )
                    raise NotSavedError(error.errno, self._broken) from error
                raise NotSavedError(error.errno, f"{failed} Nothing was saved; try again.") from error

    def _check_place(self) -> None:
        """Nobody would find what is written to a file that is no longer where it was."""
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
