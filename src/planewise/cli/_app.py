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
    epilog="Exit codes: 0 done, 2 a mistake that the message names, 130 interrupted. "
    "With --debug, anywhere, an error shows where it is from.",
)


def print_version(asked: bool) -> None:
    """Print the version and end, if that is asked."""
    if asked:
        import planewise

        typer.echo(planewise.__version__)
        raise typer.Exit


@app.callback()
def planewise_itself(
    version: bool = typer.Option(
        False, "--version", help="Print the version and end.", callback=print_version, is_eager=True
    ),
) -> None:
    """Small models you can see through, for tables."""


for command in (demo, fit, predict, describe, explain, export, review):
    app.command(no_args_is_help=command is not demo)(command)
app.command(context_settings=SETTINGS)(reproduce)
