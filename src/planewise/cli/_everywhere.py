"""Options that may stand anywhere on the command line: --quiet, --log, --config and --debug; and the log file."""

from __future__ import annotations

import copy
import logging
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from planewise._printable import shown
from planewise.cli._mistakes import MistakeError
from planewise.cli._streams import OutputError, shown_traceback

FLAGS = ("quiet", "debug")
VALUES = ("log", "config")
ANYWHERE = (*FLAGS, *VALUES)
SECRET = ("--token",)
_STAMP = re.compile(rb"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
_log = logging.getLogger("planewise")


@dataclass
class Everywhere:
    """What the options say for the command that runs."""

    quiet: bool = False
    debug: bool = False
    log: str | None = None
    config: str | None = None


chosen = Everywhere()


def take(args: list[str]) -> tuple[Everywhere, list[str]]:
    """The options that may stand anywhere, and all other arguments; what follows ``--`` is left alone."""
    found, rest, given = Everywhere(), [], iter(args)
    for arg in given:
        name, equals, value = arg.removeprefix("--").partition("=") if arg.startswith("--") else ("", "", "")
        if name in FLAGS and not equals:
            setattr(found, name, True)
        elif name in VALUES:
            value = value if equals else next(given, "")
            if not value:
                raise MistakeError(f"--{name} needs the name of a file.")
            setattr(found, name, value)
        else:
            rest.append(arg)
            if arg == "--":
                rest.extend(given)
    return found, rest


def is_quiet() -> bool:
    """Whether only results and errors are wanted."""
    return chosen.quiet


def log(words: str, level: int = logging.INFO) -> None:
    """Write a line into the log, if there is one."""
    if chosen.log is not None:
        _log.log(level, "%s", words)


@contextmanager
def recorded(options: Everywhere, args: list[str]) -> Iterator[None]:
    """Apply the options while a command runs."""
    global chosen
    handler = None if options.log is None else _Handler(options.log, encoding="utf-8", errors="backslashreplace")
    if logging.lastResort is not None:  # without a log, warnings go to the error stream
        logging.lastResort.setFormatter(_Shown())
    show, before = warnings.showwarning, _log.level
    start = time.perf_counter()
    chosen = options
    if handler is not None:
        handler.setFormatter(_Line())
        _log.addHandler(handler)
        _log.setLevel(logging.INFO)
        log(f"planewise {shlex.join(_without_secrets(args))}")
    warnings.showwarning = _warn(show)
    how = "with exit code 0"
    try:
        yield
    except OutputError:
        how = "because the standard output could not be written"
        raise
    except BaseException as error:
        how = f"with exit code {getattr(error, 'exit_code', 1)}"
        if not hasattr(error, "exit_code"):
            log(f"{type(error).__name__}: {error}", logging.ERROR)
        raise
    finally:
        log(f"ended {how} after {time.perf_counter() - start:.1f} s")
        warnings.showwarning = show
        chosen = Everywhere()
        if handler is not None:
            _log.removeHandler(handler)
            _log.setLevel(before)
            handler.close()


def _without_secrets(args: list[str]) -> list[str]:
    kept, hide = [], False
    for arg in args:
        name, equals, _ = arg.partition("=")
        kept.append("***" if hide else f"{name}=***" if equals and name in SECRET else arg)
        hide = arg in SECRET
    return kept


def _warn(show: Any) -> Any:
    def warn(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        log(f"{category.__name__}: {message}", logging.WARNING)
        if not chosen.quiet:
            text = shown(str(message), breaks="\n")
            show(message if text == str(message) else text, category, filename, lineno, file, line)

    return warn


def wrong_log(options: Everywhere) -> Exception | None:
    """Why the file of --log cannot be appended to, if it cannot."""
    if options.log is None:
        return None
    path = Path(options.log)
    try:
        with open(path, "ab"):
            pass
        with open(path, "rb") as file:
            start = file.read(19)
    except OSError as error:
        return MistakeError(f"--log {options.log!r} cannot be written: {error.strerror}.")
    if start and not _STAMP.match(start):
        return MistakeError(f"--log {options.log!r}: the file exists and is not a log of planewise.")
    return None


class _Handler(logging.FileHandler):
    """Appends to a file; what it cannot write is told once, and the work goes on."""

    _told = False

    def handleError(self, record: logging.LogRecord) -> None:
        """Called by logging when a write fails."""
        if not self._told:
            self._told = True
            sys.stderr.write(f"planewise: the log {self.baseFilename!r} cannot be written: {sys.exc_info()[1]}.\n")


class _Shown(logging.Formatter):
    """The message in one line, and a traceback in indented lines: nothing in them steers a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Of a copy, because other handlers get the record too, and may have kept a traceback in it."""
        own = copy.copy(record)
        own.exc_text = None
        return super().format(own)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Line breaks in names add no lines."""
        record.message = shown(" ".join(record.message.splitlines()))
        record.levelname = record.levelname.lower()
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """The traceback."""
        return shown_traceback(super().formatException(ei))


class _Line(_Shown):
    """A time stamp, the level and the message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """The local time with its offset from UTC."""
        return datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="seconds")
