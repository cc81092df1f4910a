"""How a file of answers is opened: only a file, only its owner's or a group's, by one review at a time.

In a folder that others can write to, somebody else may have put something under the name: a link to another file, a
pipe on which opening would wait forever, or a file of their own in which they read and change all answers.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

OWNER_ONLY = 0o600  # of new files: notes can be confidential; their owner can share them (chmod g+rw)
# Windows has none of these but the last: there, pipes and devices have no names in folders.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class AnswersFileError(ValueError):
    """The file of answers cannot be used as it is; the message says why."""


def open_to_read(path: Path) -> BinaryIO:
    """A file of answers to read; links are followed, because nothing is written."""
    _refuse_kind(path, os.stat(path))  # before it is opened, because opening some devices does something
    handle = os.open(path, os.O_RDONLY | _BINARY | _NO_WAITING)
    try:
        found = os.fstat(handle)
        _refuse_kind(path, found)
        _refuse_writable_by_all(path, found)
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def open_to_write(path: Path) -> int:
    """The handle of a file of answers, to read it and to append to it; a new one is created for its owner only."""
    if path.is_dir() or not path.parent.is_dir():
        raise AnswersFileError(f"{str(path)!r} must be a file in an existing folder.")
    with contextlib.suppress(FileNotFoundError):
        _refuse_link(path, os.lstat(path))
        _refuse_kind(path, os.lstat(path))
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY | _NO_LINK | _NO_WAITING
        handle = os.open(path, flags, OWNER_ONLY)
    except OSError as error:
        if error.errno == errno.ELOOP:  # it became a link just now
            _refuse_link(path, os.lstat(path))
        raise
    try:
        found = os.fstat(handle)
        _refuse_kind(path, found)
        _refuse_stranger(path, found)
        _refuse_writable_by_all(path, found)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refuse_link(path: Path, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise AnswersFileError(
            f"{str(path)!r} is a symbolic link to {os.readlink(path)!r}. Answers are not written through links: give "
            "the file itself."
        )


def _refuse_kind(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(found.st_mode)), "something else")
        raise AnswersFileError(f"{str(path)!r} is {kind}, not a file: choose another name for the file of answers.")


def _refuse_stranger(path: Path, found: os.stat_result) -> None:
    """An error if the file belongs to somebody who does not share it with a group of this user."""
    if sys.platform == "win32" or found.st_uid in (os.geteuid(), 0):
        return
    if found.st_mode & stat.S_IWGRP and found.st_gid in (os.getegid(), *os.getgroups()):
        return
    raise AnswersFileError(
        f"{str(path)!r} belongs to another user (number {found.st_uid}), who could read and change your answers. "
        "Choose another file; to share this one, its owner must let a group of yours write to it (chgrp, chmod g+rw)."
    )


def _refuse_writable_by_all(path: Path, found: os.stat_result) -> None:
    if sys.platform == "win32" or not found.st_mode & stat.S_IWOTH or not _keeps_rights(path.resolve().parent):
        return
    raise AnswersFileError(
        f"Every user of this machine can change {str(path)!r} (mode {stat.S_IMODE(found.st_mode):04o}): check its "
        "answers, and then let only its owner or a group write to it (chmod o-w)."
    )


def _keeps_rights(folder: Path) -> bool:
    """Whether files can be private there; on some network drives and USB sticks, everybody can write to all files."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:  # made for its owner only
            return not os.fstat(file.fileno()).st_mode & stat.S_IWOTH
    except OSError:
        return True


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
