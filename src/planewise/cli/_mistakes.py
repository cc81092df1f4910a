"""Errors that a user can correct, in words of one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from planewise._atomic import must_be_new
from planewise.cli._streams import NO_SPACE, is_stdout


class MistakeError(ValueError):
    """Something that the user can correct."""


def is_mistake(error: BaseException) -> bool:
    """Whether it is of a kind that users cause; polars, which is slow to import, is asked only if it is loaded."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(error, polars.exceptions.PolarsError):
        return True
    return isinstance(error, (ValueError, TypeError, OSError, ImportError))


def _is_no_space(error: BaseException) -> bool:
    """Whether the disk or the user's quota is full; polars says so only in its message: "(os error 28)"."""
    return getattr(error, "errno", None) in NO_SPACE or any(f"(os error {code})" in str(error) for code in NO_SPACE)


def in_words(error: BaseException) -> str:
    """The message of an error."""
    if _is_no_space(error):
        return "there is no space left; existing files are unchanged."
    name = None if not isinstance(error, OSError) or error.filename is None else str(error.filename)
    if isinstance(error, FileNotFoundError) and name is not None:
        return f"there is no file {name!r}."
    if isinstance(error, IsADirectoryError) and name is not None:
        return f"{name!r} is a folder, not a file."
    if isinstance(error, PermissionError) and name is not None:
        return f"permission denied: {name!r}."
    if isinstance(error, OSError) and name is not None:
        return f"{name!r} cannot be read or written: {error.strerror}."
    return in_one_line(str(error)) or type(error).__name__


def in_one_line(words: str) -> str:
    """The same words without line breaks, which messages of other libraries may have."""
    return " ".join(line.strip() for line in words.splitlines() if line.strip())


def refuse_existing(path: Path, force: bool, *read: Path) -> None:
    """An error if the file exists without --force, is one of those that are read, or cannot be written.

    Without --force, it must not exist either when it is written in the end.
    """
    if is_stdout(path):
        return
    if path.is_dir():
        raise MistakeError(f"{str(path)!r} is a folder; give the name of a file.")
    if path.exists() and any(each.exists() and path.samefile(each) for each in read):
        raise MistakeError(f"{str(path)!r} is an input of this command and cannot be replaced; give another name.")
    if path.exists() and not force:
        raise MistakeError(f"{str(path)!r} already exists; use --force to replace it.")
    if not path.parent.exists():
        raise MistakeError(f"the folder {str(path.parent)!r} for {path.name!r} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise MistakeError(f"permission denied: the folder {str(path.parent)!r} is not writable.")
    must_be_new(path, not force)
