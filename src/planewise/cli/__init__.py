"""The command ``planewise``."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec

from planewise._optional import needs


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    A user's error ends with exit code 2, a file or stream that cannot be read or written with 1, and Ctrl-C with 130.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # such as a minus sign on a console with cp1252
    try:
        try:
            for package in ("polars", "rich", "typer"):
                if find_spec(package) is None:
                    raise ModuleNotFoundError(needs("The command line", package, "cli"))
            from planewise.cli.app import app

            app(args, prog_name="planewise")
        finally:
            print(end="", flush=True)
    except BrokenPipeError:  # the reader has enough (| head)
        _drop_output()
        code = 1
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        if (found := _exit_code(error)) is None:
            raise
        code = found
        print(f"planewise: {_message(error)}", file=sys.stderr)
        if isinstance(error, OSError):
            _drop_output()
    raise SystemExit(code)


def _exit_code(error: Exception) -> int | None:
    """Return 2 for an error in what the user gave, 1 for one of the system, and None for a bug."""
    polars = sys.modules.get("polars")  # slow to import
    user_errors = (ValueError, ModuleNotFoundError, FileNotFoundError, IsADirectoryError, NotADirectoryError)
    if isinstance(error, user_errors) or (polars is not None and isinstance(error, polars.exceptions.PolarsError)):
        return 2
    return 1 if isinstance(error, OSError) else None


def _message(error: Exception) -> str:
    """Return the message of an error as one printable line."""
    from planewise._text import tidy

    if isinstance(error, OSError) and error.strerror is not None:
        return tidy(f"{error.strerror}." if error.filename is None else f"{str(error.filename)!r}: {error.strerror}.")
    return tidy(error) or type(error).__name__


def _drop_output() -> None:
    """Redirect the standard output, so that Python does not fail to flush it a second time when it exits."""
    with suppress(AttributeError, io.UnsupportedOperation):  # it is closed, or not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
