"""Where model files are: at a path, or in an open file object."""

from __future__ import annotations

import io
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from planewise._atomic import replacing

Place = str | PathLike[str] | IO[bytes]


def read_bytes(source: Place) -> bytes:
    """All of a file, or of a file object from its position to its end."""
    if not _is_file_object(source, "read", "rb"):
        return Path(source).read_bytes()  # type: ignore[arg-type]
    content = source.read()  # type: ignore[union-attr]
    if not isinstance(content, bytes | bytearray | memoryview):
        raise TypeError(
            f"The file object gave {type(content).__name__} instead of bytes; open it in binary and blocking mode."
        )
    return bytes(content)


def write_bytes(target: Place, content: bytes) -> None:
    """Write a file in one step; or to a file object at its position, which stays open."""
    if not _is_file_object(target, "write", "wb"):
        with replacing(target) as file:  # type: ignore[arg-type]
            file.write(content)
        return
    left = memoryview(content)
    while left:
        n_written = target.write(left)  # type: ignore[union-attr]
        if n_written is None and isinstance(target, io.RawIOBase):
            raise BlockingIOError("The file object takes no more bytes now; open it in blocking mode.")
        if n_written is None:  # file objects that are not of Python's io may not say it
            return
        if not isinstance(n_written, int) or n_written < 1:
            raise OSError(f"The file object's write returned {n_written!r} instead of the number of bytes it wrote.")
        left = left[n_written:]


def named(place: Place) -> str:
    """What errors call it."""
    if isinstance(place, str | PathLike):
        return f"The file {fspath(place)!r}"
    name = getattr(place, "name", None)
    return f"The file {name!r}" if isinstance(name, str) else "The file object"


def _is_file_object(place: Any, method: str, mode: str) -> bool:
    """Whether it is a file object; an error if it is one of text, or neither that nor a path."""
    if isinstance(place, str | PathLike):
        return False
    if not callable(getattr(place, method, None)):
        raise TypeError(
            f"A model file is given by a path or by a file object with the method {method}; got {type(place).__name__}."
        )
    if isinstance(place, io.TextIOBase) or hasattr(place, "encoding"):
        buffered = " (or pass its .buffer)" if hasattr(place, "buffer") else ""
        raise TypeError(
            f"A model file is bytes, but the file object is one of text: open it with mode={mode!r}{buffered}."
        )
    return True
