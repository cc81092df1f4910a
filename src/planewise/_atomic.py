"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

_new: set[Path] = set()


def must_be_new(path: str | PathLike[str], new: bool = True) -> None:
    """Say that a file that is written later must not replace another one (or, with `new` False, may do so).

    A command looks at its start whether the file exists; while it works, another process may have written it.
    """
    (_new.add if new else _new.discard)(Path(path).absolute())


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that takes its place in one step, when the block ends.

    It is written beside the target and put in its place only when everything is on the disk: an error or a kill leaves
    what was there before. A folder in its place, or none to be in, is told before anything is written.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write {target.name!r} into.")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _usual_mode(target))
        if target.absolute() in _new:
            _new.discard(target.absolute())
            _place_new(name, target)
        else:
            os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _place_new(name: str, target: Path) -> None:
    """Give a file its name unless another file has it, in one step: of two processes, one fails."""
    try:
        try:
            os.link(name, target)
            os.unlink(name)
        except FileExistsError:
            raise
        except (OSError, AttributeError):  # a file system without links: whoever creates the name may replace it
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.replace(name, target)
    except FileExistsError:
        raise ValueError(
            f"{str(target)!r} was written by another process in the meantime; it is kept, and nothing was saved here."
        ) from None


def write_whole(path: str | PathLike[str], content: str | bytes) -> None:
    """Write a file in one step; when writing fails, what was there stays as it was."""
    with replacing(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def _usual_mode(target: Path) -> int:
    """The rights of the file to be replaced, or those a new one would get: temporary files are their owner's alone."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
