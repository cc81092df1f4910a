"""The commands together."""

from __future__ import annotations

from typing import Annotated

import typer

from planewise.cli._commands import Command, Commands
from planewise.cli._completion import Shell, get_ready, install_completion, show_completion
from planewise.cli._demo import demo
from planewise.cli._describe import describe
from planewise.cli._explain import explain
from planewise.cli._export import export
from planewise.cli._fit import fit
from planewise.cli._predict import predict

ANYWHERE = "Options of every command"

app = typer.Typer(
    name="planewise",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Small models you can see through, for tables.",
    epilog="Exit codes: 0 success, 2 an error that the message explains, 129 the terminal was closed, 130 interrupted "
    "by Ctrl-C, 141 the reader of the output has gone, 143 terminated.",
)


def _print_version(asked: bool) -> None:
    """Called while the options are read: later, a missing command would be an error."""
    if asked:
        import planewise

        typer.echo(f"planewise {planewise.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
    show: Annotated[
        Shell | None,
        typer.Option(
            "--show-completion",
            help="Print the script that lets a shell complete commands and options, and exit.",
            is_eager=True,
            callback=show_completion,
            show_default=False,
        ),
    ] = None,
    install: Annotated[
        Shell | None,
        typer.Option(
            "--install-completion",
            help="Write this script where the shell finds it, and exit.",
            is_eager=True,
            callback=install_completion,
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", help="Print results and errors only, nothing else.", rich_help_panel=ANYWHERE),
    ] = False,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Append to this file what is done, warnings and errors, with time stamps.",
            rich_help_panel=ANYWHERE,
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Read options from this TOML file; by default from the file that the environment variable "
            "PLANEWISE_CONFIG names, or from planewise.toml in the working directory.",
            rich_help_panel=ANYWHERE,
            show_default=False,
        ),
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=ANYWHERE)
    ] = False,
) -> None:
    """Small models you can see through, for tables."""


for command in (demo, fit, predict, describe, explain, export):
    app.command(cls=Command)(command)
get_ready()
