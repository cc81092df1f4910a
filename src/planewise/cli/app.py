"""The list of commands; the module of a command is imported when the command runs."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

COMMANDS = {
    "demo": "Compare every family with scikit-learn on bundled data.",
    "fit": "Fit a model that predicts a column of a table.",
    "predict": "Predict every row of a table.",
    "describe": "Describe a model file.",
    "explain": "Explain the prediction for a row.",
    "export": "Write a model as C, ONNX, text or HTML.",
}


class LazyGroup(TyperGroup):
    """Imports a command only to run it or to print its help: the libraries of all commands take seconds to import."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replace the placeholder of a command by the command."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            module = import_module(f"planewise.cli.{name}")
            single = typer.Typer(add_completion=False, rich_markup_mode="rich")
            single.command(name)(getattr(module, str(name)))
            command = typer.main.get_command(single)
        return name, command, rest


app = typer.Typer(
    name="planewise",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 2 an error that the message explains, 1 a file or stream that cannot be read or "
    "written, 130 interrupted by Ctrl-C.",
)
for _name, _help in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


def _print_version(wanted: bool) -> None:
    if wanted:
        from planewise import __version__

        typer.echo(f"planewise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Compact, readable models for tabular data."""
