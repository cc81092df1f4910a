"""The commands together."""

from __future__ import annotations

import typer

from planewise.cli._demo import demo
from planewise.cli._describe import describe
from planewise.cli._explain import explain
from planewise.cli._export import export
from planewise.cli._fit import fit
from planewise.cli._mistakes import Commands
from planewise.cli._predict import predict
from planewise.cli._reproduce import SETTINGS, reproduce
from planewise.cli._review import review

app = typer.Typer(
    name="planewise",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Small models you can see through, for tables.",
    epilog="Exit codes: 0 success, 2 an error that the message explains, 130 interrupted. "
    "Add --debug to any command to see the traceback of an error.",
)


def _print_version(asked: bool) -> None:
    """Called while the options are read: later, a missing command would be an error."""
    if asked:
        import planewise

        typer.echo(f"planewise {planewise.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Small models you can see through, for tables."""


for command in (demo, fit, predict, describe, explain, export, review):
    app.command(no_args_is_help=command is not demo)(command)
app.command(context_settings=SETTINGS)(reproduce)
