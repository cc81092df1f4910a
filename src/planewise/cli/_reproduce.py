"""planewise reproduce: the papers' tables and figures, which live in a checkout of the repository."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from planewise.cli._mistakes import MistakeError

# The options are those of benchmarks/reproduce/__main__.py, which also answers --help in a checkout.
SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def reproduce(
    context: typer.Context,
    checkout: Annotated[Path | None, typer.Option(help="The checkout whose code is run.")] = None,
) -> None:
    """Run the papers' tables and figures, and duels with peers; without a name, list them (needs a checkout).

    Examples:
      planewise reproduce

      planewise reproduce slm-table-1 --quick --jobs 2

      planewise reproduce --help
    """
    raise typer.Exit(_command(checkout)(list(context.args), command="planewise reproduce"))


def _command(named: Path | None) -> Callable[..., int]:
    """The command of the named checkout, or of the one the package itself lies in.

    Nothing is looked for around the working directory: that would run whatever code lies in a folder one happens to
    be in.
    """
    folder = _own_checkout() if named is None else named.resolve()
    if folder is None or not (folder / "benchmarks/reproduce/__main__.py").is_file():
        if named is not None:
            raise MistakeError(f"--checkout: {str(named)!r} has no benchmarks/reproduce: it is no planewise checkout.")
        raise MistakeError(
            "the papers' tables are run by benchmarks/reproduce, which is no part of the installed package: get a "
            "checkout of the planewise repository (git clone) and name it: planewise reproduce --checkout FOLDER."
        )
    sys.path.insert(0, str(folder))
    main: Callable[..., int] = importlib.import_module("benchmarks.reproduce.__main__").main
    return main


def _own_checkout() -> Path | None:
    """Where ``src/planewise`` of this very file lies; None if it was installed as a copy."""
    source = Path(__file__).resolve().parents[2]
    is_checkout = source.name == "src" and (source.parent / "native/bindings.cpp").is_file()
    return source.parent if is_checkout else None
