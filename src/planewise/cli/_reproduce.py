"""planewise reproduce: the papers' tables and figures, which live in a checkout of the repository."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from planewise.cli._mistakes import MistakeError

# The options are those of benchmarks/reproduce/__main__.py, which also answers --help in a checkout.
SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def reproduce(context: typer.Context) -> None:
    """Run the papers' tables and figures, and duels with peers; without a name, list them (needs a checkout).

    Examples:
      planewise reproduce

      planewise reproduce slm-table-1 --quick --jobs 2

      planewise reproduce --help
    """
    raise typer.Exit(_command()(list(context.args), command="planewise reproduce"))


def _command() -> Callable[..., int]:
    """The command of the checkout that the working directory, or the package itself, is in."""
    here = Path.cwd()
    around = (here, *here.parents, *Path(__file__).resolve().parents)
    checkout = next((str(folder) for folder in around if (folder / "benchmarks/reproduce/__main__.py").is_file()), None)
    if checkout is None:
        raise MistakeError(
            "the papers' tables are run by benchmarks/reproduce, which is no part of the installed package: get a "
            "checkout of the planewise repository (git clone), cd into it and run the same command there."
        )
    sys.path.insert(0, checkout)
    main: Callable[..., int] = importlib.import_module("benchmarks.reproduce.__main__").main
    return main
