"""Atomic file writes."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that takes its place in one step, when the block ends.

    It is written beside the target and put in its place only when everything is on the disk: an error or a kill leaves
    what was there before. It has no name until then, so that the system removes it with a process that is killed; on
    file systems that cannot do this, its name ends in ``.part``. A folder in its place, or none to be in, is told
    before anything is written.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write {target.name!r} into.")
    name = ""
    handle = _open_unnamed(target.parent)
    if handle is None:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not name:
                name = f"{target}{secrets.token_hex(4)}.part"
                _give_name(file.fileno(), name)
        _give_rights(name, target)
        os.replace(name, target)
    except BaseException:
        if name:
            Path(name).unlink(missing_ok=True)
        raise


def _open_unnamed(folder: Path) -> int | None:
    """A new file in a folder that has no name yet; None if the system or the file system has no such files."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except (OSError, AttributeError):
        return None
    if os.path.exists(f"/proc/self/fd/{handle}"):  # by which it gets a name
        return handle
    os.close(handle)
    return None


def _give_name(handle: int, name: str) -> None:
    """Give a whole file without a name one that no file has; where there are no links, to a copy of it."""
    unnamed = f"/proc/self/fd/{handle}"
    folder = os.open(os.path.dirname(name) or ".", os.O_PATH)  # which needs no right to read it
    try:  # os.link follows links only beside a folder
        os.link(unnamed, os.path.basename(name), dst_dir_fd=folder, follow_symlinks=True)
    except OSError:
        with open(unnamed, "rb") as whole, open(name, "xb", opener=_for_owner) as copy:
            shutil.copyfileobj(whole, copy)
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        os.close(folder)


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_whole(path: str | PathLike[str], content: str | bytes) -> None:
    """Write a file in one step; when writing fails, what was there stays as it was."""
    with replacing(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def _give_rights(name: str, target: Path) -> None:
    """Give a file, which is its owner's alone, the rights of the one to be replaced, or those that a new one gets."""
    try:
        old = target.stat()
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        return
    mode = old.st_mode & 0o777
    if hasattr(os, "chown") and os.stat(name).st_gid != old.st_gid:
        try:
            os.chown(name, -1, old.st_gid)
        except OSError:  # the rights were meant for the other group
            mode &= ~0o070
    os.chmod(name, mode)
