"""How commands begin and end: options for all of them, the file of options, and one line for an error.

An error that a user can correct is one message with exit code 2, and a traceback only with --debug.
"""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from planewise.cli import _signals
from planewise.cli._config import Config, find_config, taken
from planewise.cli._everywhere import ANYWHERE, Everywhere, recorded, take, wrong_log
from planewise.cli._mistakes import MistakeError, in_one_line, in_words, is_mistake
from planewise.cli._streams import note, tell


class Command(TyperCommand):
    """One command, which also shows the options of all commands, and says which options it takes from a file."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its own options and those that may stand anywhere; the group has taken these out before."""
        shared = [] if ctx.parent is None else [each for each in ctx.parent.command.params if each.name in ANYWHERE]
        return _without_types([*super().get_params(ctx), *shared])

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        for name in ANYWHERE:
            ctx.params.pop(name, None)
        found = taken(ctx) if ctx.default_map else []
        if found:
            note(f"{ctx.meta['config'].path}: {' '.join(found)}")
        return super().invoke(ctx)


class Commands(TyperGroup):
    """The commands, which all report errors in the same way."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options before the name of a command."""
        return _without_types(super().get_params(ctx))

    def main(self, *args: Any, **options: Any) -> Any:
        """Run and end the program; wrong arguments are reported too."""
        try:
            code = super().main(*args, **options | {"standalone_mode": False})
        except Exception as raised:
            code = _usage(raised)
        sys.exit(code)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take out the options that may stand anywhere, and read the file of options."""
        if ctx.resilient_parsing:  # a shell asks for completions
            return super().parse_args(ctx, args)
        ctx.meta["args"], ctx.meta["everywhere"], ctx.meta["mistake"] = args, Everywhere(), None
        try:
            given, args = take(args)
            config = find_config(given, self.commands)
            ctx.meta["everywhere"], ctx.meta["config"] = _with_config(given, config), config
            if config is not None:
                ctx.default_map = config.by_command
        except (MistakeError, OSError) as error:  # told by `invoke`, so that --help and --version work nevertheless
            ctx.meta["mistake"] = error
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        options: Everywhere = ctx.meta["everywhere"]
        mistake = ctx.meta["mistake"] or wrong_log(options)
        if mistake is not None:
            tell(in_words(mistake))
            raise typer.Exit(2)
        with recorded(options, ctx.meta["args"]):
            return self._told(ctx, options.debug)

    def _told(self, ctx: Any, debug: bool) -> Any:
        """Run the command; what a user can correct is told, and ends it."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            tell(_signals.in_words())
            raise typer.Exit(_signals.exit_code()) from None
        except MemoryError:
            if debug:
                raise
            tell("not enough memory; try fewer rows, or --model slm.")
            raise typer.Exit(2) from None
        except Exception as error:
            if hasattr(error, "format_message"):
                raise typer.Exit(_usage(error)) from None
            if debug or not is_mistake(error):
                raise
            tell(in_words(error))
            raise typer.Exit(2) from None


def _without_types(params: list[Any]) -> list[Any]:
    """Help shows flags as flags, without "<bool>"."""
    for each in params:
        if getattr(each, "is_flag", False) and each.metavar is None:
            each.metavar = ""
    return params


def _with_config(given: Everywhere, config: Config | None) -> Everywhere:
    """What the command line says, and below it what the file says."""
    for name, value in ({} if config is None else config.everywhere).items():
        if not getattr(given, name):
            setattr(given, name, value)
    return given


def _usage(error: Any) -> int:
    """Report wrong arguments; the exit code."""
    if not hasattr(error, "format_message"):  # not an error of click, a part of typer
        raise error
    context = getattr(error, "ctx", None)
    if type(error).__name__ != "NoArgsIsHelpError":  # its help was printed already
        path = context.command_path if context else "planewise"
        where = _file_of(error, context)
        words = in_one_line(error.format_message()).rstrip(".").replace(": Value error, ", ": ")
        tell(f"{where}{words} See {path} --help." if words.endswith("?") else f"{where}{words}; see {path} --help.")
    return int(error.exit_code)


def _file_of(error: Any, context: Any) -> str:
    """The file that a wrong value comes from, if it is not from the command line."""
    param = getattr(error, "param", None)
    if context is None or param is None or not context.default_map:
        return ""
    source = context.get_parameter_source(param.name)
    return f"{context.meta['config'].path}: " if source is not None and source.name == "DEFAULT_MAP" else ""
