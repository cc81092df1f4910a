"""What a user's mistake looks like: one message, exit code 2, and no traceback unless asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from planewise.cli._streams import NO_SPACE, tell

INTERRUPTED = "interrupted; no file was left half-written."


class MistakeError(ValueError):
    """Something the user can put right."""


def is_mistake(error: BaseException) -> bool:
    """Whether it is of a kind that users cause; polars, which is slow to start, is asked only if it is there."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(error, polars.exceptions.PolarsError):
        return True
    return isinstance(error, (ValueError, TypeError, OSError, ImportError))


class Commands(TyperGroup):
    """The commands, all of which end a mistake in the same way; ``--debug`` may stand anywhere."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run and end the program; what it is called with may be a mistake too."""
        try:
            code = super().main(*args, **options | {"standalone_mode": False})
        except Exception as raised:
            error: Any = raised
            if not hasattr(error, "format_message"):  # of click, which typer has inside or beside it
                raise
            code = error.exit_code
            if type(error).__name__ != "NoArgsIsHelpError":  # whose help is there already
                path = error.ctx.command_path if getattr(error, "ctx", None) else "planewise"
                tell(f"{in_one_line(error.format_message()).rstrip('.')}; {path} --help lists what there is.")
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
            tell("there is not enough memory for this; try fewer rows, or --model slm.")
            raise typer.Exit(2) from None
        except Exception as error:
            if ctx.meta["debug"] or not is_mistake(error):
                raise
            tell(in_words(error))
            raise typer.Exit(2) from None


def _is_no_space(error: BaseException) -> bool:
    """Whether the disk, or what one may have of it, is full; polars says so in words only: "(os error 28)"."""
    return getattr(error, "errno", None) in NO_SPACE or any(f"(os error {code})" in str(error) for code in NO_SPACE)


def in_words(error: BaseException) -> str:
    """The message of a mistake."""
    if _is_no_space(error):
        return "there is no space left to write to; what was there before is unchanged."
    name = None if not isinstance(error, OSError) or error.filename is None else str(error.filename)
    if isinstance(error, FileNotFoundError) and name is not None:
        return f"there is no file {name!r}."
    if isinstance(error, IsADirectoryError) and name is not None:
        return f"{name!r} is a folder, and a file is needed."
    if isinstance(error, PermissionError) and name is not None:
        return f"{name!r} may not be read or written."
    if isinstance(error, OSError) and name is not None:
        return f"{name!r} cannot be read or written: {error.strerror}."
    if isinstance(error, UnicodeEncodeError):
        return (
            f"{error.object[error.start]!a} cannot be printed in the encoding {error.encoding}; the environment "
            "variable PYTHONIOENCODING=utf-8 chooses UTF-8."
        )
    return in_one_line(str(error)) or type(error).__name__


def in_one_line(words: str) -> str:
    """The same words without breaks, which messages of other libraries have."""
    return " ".join(line.strip() for line in words.splitlines() if line.strip())


def refuse_existing(path: Path, force: bool, *read: Path) -> None:
    """A mistake if the file is there and may not be replaced, is one of those that are read, or cannot be written."""
    if path.is_dir():
        raise MistakeError(f"{str(path)!r} is a folder; name a file in it.")
    if path.exists() and any(each.exists() and path.samefile(each) for each in read):
        raise MistakeError(f"{str(path)!r} is read, and cannot be written to as well; give another name.")
    if path.exists() and not force:
        raise MistakeError(f"{str(path)!r} exists; --force replaces it.")
    if not path.parent.exists():
        raise MistakeError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to.")
    if not os.access(path.parent, os.W_OK):
        raise MistakeError(f"the folder {str(path.parent)!r} may not be written to.")
