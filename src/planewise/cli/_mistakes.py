"""How errors that a user can correct are reported: one message, exit code 2, and a traceback only with --debug."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from planewise.cli._streams import NO_SPACE, tell

INTERRUPTED = "interrupted; no half-written file was left."


class MistakeError(ValueError):
    """Something that the user can correct."""


def is_mistake(error: BaseException) -> bool:
    """Whether it is of a kind that users cause; polars, which is slow to import, is asked only if it is loaded."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(error, polars.exceptions.PolarsError):
        return True
    return isinstance(error, (ValueError, TypeError, OSError, ImportError))


class Commands(TyperGroup):
    """The commands, which all report errors in the same way; ``--debug`` may stand anywhere."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run and end the program; wrong arguments are reported too."""
        try:
            code = super().main(*args, **options | {"standalone_mode": False})
        except Exception as raised:
            error: Any = raised
            if not hasattr(error, "format_message"):  # an error of click, a part of typer
                raise
            code = error.exit_code
            if type(error).__name__ != "NoArgsIsHelpError":  # its help was printed already
                path = error.ctx.command_path if getattr(error, "ctx", None) else "planewise"
                tell(f"{in_one_line(error.format_message()).rstrip('.')}; see {path} --help.")
        sys.exit(code)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take --debug out wherever it stands."""
        ctx.meta["debug"] = "--debug" in args
        return super().parse_args(ctx, [arg for arg in args if arg != "--debug"])

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            tell(INTERRUPTED)
            raise typer.Exit(130) from None
        except MemoryError:
            if ctx.meta["debug"]:
                raise
            tell("not enough memory; try fewer rows, or --model slm.")
            raise typer.Exit(2) from None
        except Exception as error:
            if ctx.meta["debug"] or not is_mistake(error):
                raise
            tell(in_words(error))
            raise typer.Exit(2) from None


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
    if isinstance(error, UnicodeEncodeError):
        return (
            f"{error.object[error.start]!a} cannot be printed in the encoding {error.encoding}; set the environment "
            "variable PYTHONIOENCODING=utf-8."
        )
    return in_one_line(str(error)) or type(error).__name__


def in_one_line(words: str) -> str:
    """The same words without line breaks, which messages of other libraries may have."""
    return " ".join(line.strip() for line in words.splitlines() if line.strip())


def refuse_existing(path: Path, force: bool, *read: Path) -> None:
    """An error if the file exists without --force, is one of those that are read, or cannot be written."""
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
