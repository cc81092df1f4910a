"""The standard streams of the command: output arrives whole, or the command says once that it did not.

Python's own streams do not promise this. Unbuffered (``PYTHONUNBUFFERED``), they drop what the system did not accept at
once; buffered, a write that failed fails a second time when Python ends; and a closed stream is None.
"""

from __future__ import annotations

import codecs
import errno
import io
import logging
import os
import re
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from planewise._printable import shown

LONGEST = 4000  # letters of a message
COLOURS = r"\x1b\[[0-9;]*m"  # of rich; all that is printed besides text
PROGRESS = r"\r|\x1b\[\d*[AK]|\x1b\[\?25[lh]"  # what moves a bar on the error stream
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class OutputError(Exception):
    """The standard output cannot be written to, so the command ends.

    Not an OSError, because typer and rich end the program on some of those, each in its own way.
    """


class Stream(io.RawIOBase):
    """The raw end of a standard stream; after its first failure it accepts and drops everything."""

    def __init__(self, inner: Any, must_arrive: bool) -> None:
        self.inner, self.must_arrive = inner, must_arrive
        self.failure: BaseException | None = None

    def writable(self) -> bool:
        """The buffer above asks for this."""
        return True

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.inner is not None and bool(self.inner.isatty())

    def fileno(self) -> int:
        """The number of the file, if it has one."""
        return super().fileno() if self.inner is None else int(self.inner.fileno())

    def write(self, data: Any) -> int:
        """Write what the system accepts at once, at least a part; the buffer above calls again with the rest."""
        if self.failure is not None:
            return len(data)
        try:
            if self.inner is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            while (written := self.inner.write(data)) is None:  # a full pipe that does not block
                select.select([], [self.inner], [])
            return int(written)
        except OSError as error:
            self.failure = error
            if self.must_arrive:
                raise OutputError from error
            return len(data)
        except BaseException as error:
            if not self._is_ready():  # Ctrl-C while the pipe is full: at the end it must not wait again
                self.failure = error
            raise

    def _is_ready(self) -> bool:
        """Whether more can be written at once, as far as the system knows."""
        try:
            return bool(select.select([], [self.inner], [], 0)[1])
        except (OSError, ValueError, TypeError):
            return False

    def exit_code(self, code: Any) -> Any:
        """The exit code once all output is flushed; a failure to write is reported here."""
        with suppress(OutputError):
            sys.stdout.flush()
        if code or self.failure is None:
            return code
        if isinstance(self.failure, BrokenPipeError):
            return 141  # the reader has enough (| head): end silently, as other commands do
        tell(_in_words(self.failure))
        return 2


@contextmanager
def whole_streams() -> Iterator[Stream]:
    """Take over the standard streams for a command; yields the standard output.

    If the error stream fails, there is nowhere to report it, and the work goes on.
    """
    _hold_places()
    before = sys.stdout, sys.stderr
    output, errors = (
        Stream(_bytes_below(stream), must_arrive) for stream, must_arrive in zip(before, (True, False), strict=True)
    )
    # File names are printed byte for byte, except at a terminal.
    sys.stdout = _text(before[0], output, "backslashreplace" if output.isatty() else "surrogateescape", COLOURS)
    sys.stderr = _text(before[1], errors, "backslashreplace", f"{COLOURS}|{PROGRESS}")
    try:
        yield output
    finally:
        with suppress(OutputError):
            sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def tell(words: str) -> None:
    """Print one message on the error stream, in one line; control characters are shown, never obeyed."""
    from planewise.cli._everywhere import log

    log(words, logging.ERROR)
    sys.stderr.write(f"planewise: {_short(words)}\n")


def note(words: str) -> None:
    """The same for what is no error: not with --quiet."""
    from planewise.cli._everywhere import is_quiet, log

    log(words, logging.WARNING)
    if not is_quiet():
        sys.stderr.write(f"planewise: {_short(words)}\n")


def _short(words: str) -> str:
    """A message without the middle of what is too long to read, such as a cell that holds a book."""
    text = shown(words)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def shown_traceback(text: str) -> str:
    """A traceback as it is printed: text of strangers in it is only shown, and no line of it passes for a message.

    The streams alone do not promise this: the sequences that move a progress bar pass them, whoever wrote them.
    """
    return "\n".join(f"  {line}" for line in shown(text.rstrip("\n"), breaks="\n").split("\n"))


def is_stdout(path: Path | None) -> bool:
    """Whether an option means the standard output: ``-``; a file of this name is ``./-``."""
    return path is not None and str(path) == "-"


def has_unicode(stream: TextIO) -> bool:
    """Whether all characters can be printed."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


def print_bytes(content: str | bytes) -> None:
    """Print what programs read: text as UTF-8, whatever the encoding of the terminal.

    Programs get every byte as it is; people, at a terminal, see control characters and are not fooled by them.
    """
    sys.stdout.flush()
    below = getattr(sys.stdout, "buffer", None)
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if sys.stdout.isatty():
        sys.stdout.write(shown(data.decode("utf-8", "surrogateescape"), breaks="\n\t"))
    elif below is None:  # the window of an editor
        sys.stdout.write(data.decode("utf-8", "surrogateescape"))
    else:
        below.write(data)


def _bytes_below(stream: TextIO | None) -> Any:
    """What a text stream writes its bytes to; None for a closed one."""
    if stream is None:
        return None
    below = getattr(stream, "buffer", None)  # missing in a StringIO or the window of an editor
    return _Letters(stream) if below is None else getattr(below, "raw", below)


class _Letters:
    """Accepts bytes for a stream that accepts only text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, data: Any) -> int:
        self._stream.write(self._decoder.decode(bytes(data)))
        return len(data)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


_SIMPLER = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "×": "x", "·": ".", "±": "+-", "→": "->", "←": "<-", "≥": ">=",
    "≤": "<=", "≠": "!=", "≈": "~", "…": "...", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "²": "^2",
    "√": "sqrt ", "∞": "inf", "•": "*", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "─": "-", "━": "-",
    "│": "|", "✓": "yes",
}  # fmt: skip


def _readable(error: UnicodeError) -> tuple[str | bytes, int]:
    """What is printed for a character that the encoding lacks: a similar one, or its code; file names byte for byte."""
    assert isinstance(error, UnicodeEncodeError)
    letter = error.object[error.start]
    if "\udc80" <= letter <= "\udcff":
        return bytes([ord(letter) - 0xDC00]), error.start + 1
    return _SIMPLER.get(letter) or letter.encode("ascii", "backslashreplace").decode(), error.start + 1


codecs.register_error("planewise_readable", _readable)


class _Guarded(io.TextIOWrapper):
    """Text for people, without control characters but those of our own; what is printed has none, if nothing slips."""

    own = ""

    def write(self, text: str) -> int:
        """Write it."""
        if _CONTROLS.search(text) is not None:
            pieces = re.split(f"({self.own})", text)
            pieces[::2] = [_CONTROLS.sub(lambda found: shown(found[0]), piece) for piece in pieces[::2]]
            super().write("".join(pieces))
        else:
            super().write(text)
        return len(text)


# C0 but tab and line feed, C1, marks of direction and other line ends; lone surrogates are bytes of file names.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _text(stream: TextIO | None, raw: Stream, errors: str, own: str) -> TextIO:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if not encoding.lower().startswith("utf"):
        errors = "planewise_readable"
    at_once = any(getattr(stream, name, False) for name in ("line_buffering", "write_through"))
    text = _Guarded(io.BufferedWriter(raw), encoding, errors, line_buffering=at_once)
    text.own = own
    return text


def _hold_places() -> None:
    """Occupy the numbers of closed streams; else the next opened file would get what libraries print."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number


def _in_words(failure: BaseException) -> str:
    number = getattr(failure, "errno", None)
    if number == errno.EBADF:
        return "the standard output is closed, so nothing can be printed."
    if number in NO_SPACE:
        return "there is no space left; the output is incomplete."
    return f"the standard output cannot be written to: {failure}; the output is incomplete."
