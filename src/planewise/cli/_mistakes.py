"""What a user's mistake looks like: one message, exit code 2, and no traceback unless asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars
import typer
from typer.core import TyperGroup


class MistakeError(ValueError):
    """Something the user can put right."""


MISTAKES = (ValueError, TypeError, OSError, ImportError, polars.exceptions.PolarsError)


class Commands(TyperGroup):
    """The commands, all of which end a mistake in the same way; ``--debug`` may stand anywhere."""

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
        except MISTAKES as error:
            if ctx.meta["debug"]:
                raise
            tell(in_words(error))
            raise typer.Exit(2) from None
        except MemoryError:
            if ctx.meta["debug"]:
                raise
            tell("there is not enough memory for this; try fewer rows, or --model slm.")
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            tell("interrupted; nothing was written.")
            raise typer.Exit(130) from None


def in_words(error: BaseException) -> str:
    """The message of a mistake."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no file {str(error.filename)!r}."
    if isinstance(error, IsADirectoryError) and error.filename is not None:
        return f"{str(error.filename)!r} is a folder, and a file is needed."
    if isinstance(error, PermissionError) and error.filename is not None:
        return f"{str(error.filename)!r} may not be read or written."
    return str(error) or type(error).__name__


def tell(words: str) -> None:
    """One message on the error stream."""
    sys.stderr.write(f"planewise: {words}\n")


def refuse_existing(path: Path, force: bool) -> None:
    """A mistake if the file is there and may not be replaced, or has no folder to be in."""
    if path.is_dir():
        raise MistakeError(f"{str(path)!r} is a folder; name a file in it.")
    if path.exists() and not force:
        raise MistakeError(f"{str(path)!r} exists; --force replaces it.")
    if not path.parent.exists():
        raise MistakeError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to.")
