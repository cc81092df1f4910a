"""The standard streams of the command: what is printed arrives whole, or the command says once that it did not.

Python's own streams do not promise this. Unbuffered (``PYTHONUNBUFFERED``), they drop what the system did not take at
once; buffered, a write that failed fails a second time when Python ends; and a closed one is None.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from planewise.words import shown

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class OutputError(Exception):
    """The standard output cannot be written to: the command has nothing left to do.

    Not an OSError, because typer and rich end the program on some of those, each in its own way.
    """


class Stream(io.RawIOBase):
    """Where one of the standard streams ends; after its first failure it takes what comes and drops it."""

    def __init__(self, inner: Any, must_arrive: bool) -> None:
        self.inner, self.must_arrive = inner, must_arrive
        self.failure: BaseException | None = None

    def writable(self) -> bool:
        """Asked for by the buffer above it."""
        return True

    def isatty(self) -> bool:
        """Whether somebody looks on."""
        return self.inner is not None and bool(self.inner.isatty())

    def fileno(self) -> int:
        """The number of the file, if it has one."""
        return super().fileno() if self.inner is None else int(self.inner.fileno())

    def write(self, data: Any) -> int:
        """Write what the system takes at once, at least a part; the buffer above comes back with the rest."""
        if self.failure is not None:
            return len(data)
        try:
            if self.inner is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            while (written := self.inner.write(data)) is None:  # a full pipe that does not keep writers waiting
                select.select([], [self.inner], [])
            return int(written)
        except OSError as error:
            self.failure = error
            if self.must_arrive:
                raise OutputError from error
            return len(data)
        except BaseException as error:  # Ctrl-C while the reader keeps it waiting: at the end it must not wait again
            self.failure = error
            raise

    def exit_code(self, code: Any) -> Any:
        """The exit code of the command that gave this one, once all it printed is out; a failure is told here."""
        with suppress(OutputError):
            sys.stdout.flush()
        if code or self.failure is None:
            return code
        if isinstance(self.failure, BrokenPipeError):
            return 141  # the reader has what it wanted (| head): end as other commands do then, without a word
        tell(_in_words(self.failure))
        return 2


@contextmanager
def whole_streams() -> Iterator[Stream]:
    """Take over the standard streams for a command; gives the standard output.

    The error stream is the last resort: when it fails, there is nobody to tell, and the work goes on.
    """
    _hold_places()
    before = sys.stdout, sys.stderr
    output, errors = (
        Stream(_bytes_below(stream), must_arrive) for stream, must_arrive in zip(before, (True, False), strict=True)
    )
    sys.stdout = _text(before[0], output, "surrogateescape")  # names of files come out as they are
    sys.stderr = _text(before[1], errors, "backslashreplace")
    try:
        yield output
    finally:
        with suppress(OutputError):
            sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def tell(words: str) -> None:
    """One message on the error stream, in one line; what a terminal would obey is only shown."""
    sys.stderr.write(f"planewise: {shown(words)}\n")


def _bytes_below(stream: TextIO | None) -> Any:
    """What a stream of text writes its bytes to; none for a closed one."""
    if stream is None:
        return None
    below = getattr(stream, "buffer", None)  # a StringIO, or the window of an editor, has none
    return _Letters(stream) if below is None else getattr(below, "raw", below)


class _Letters:
    """Bytes for a stream that takes only text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, data: Any) -> int:
        self._stream.write(self._decoder.decode(bytes(data)))
        return len(data)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


def _text(stream: TextIO | None, raw: Stream, errors: str) -> TextIO:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    at_once = any(getattr(stream, name, False) for name in ("line_buffering", "write_through"))
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=at_once)


def _hold_places() -> None:
    """Open nothing in the place of closed streams; else the next file would get what libraries write there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _in_words(failure: BaseException) -> str:
    number = getattr(failure, "errno", None)
    if number == errno.EBADF:
        return "the standard output is closed; there is nowhere to print to."
    if number in NO_SPACE:
        return "there is no space left to write to; what was printed is incomplete."
    return f"the standard output cannot be written to: {failure}; what was printed is incomplete."
