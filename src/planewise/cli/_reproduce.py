"""planewise reproduce: the tables and figures of the papers, by the code in a checkout of the repository."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from planewise.cli._everywhere import is_quiet
from planewise.cli._mistakes import MistakeError

# The options are those of benchmarks/reproduce/__main__.py, which also answers --help in a checkout.
SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def reproduce(
    context: typer.Context,
    checkout: Annotated[Path | None, typer.Option(help="Checkout of the repository whose code is run.")] = None,
) -> None:
    """Reproduce tables and figures of the papers and comparisons with other libraries (needs a checkout).

    Without a name, list them.

    Examples:
      planewise reproduce

      planewise reproduce slm-table-1 --quick --jobs 2

      planewise reproduce --help
    """
    args = [*context.args, *(["--quiet"] if is_quiet() else [])]
    raise typer.Exit(_command(checkout)(args, command="planewise reproduce"))


def _command(named: Path | None) -> Callable[..., int]:
    """The command of the given checkout, or of the one that the package itself is in.

    The working directory is not searched: that would run whatever code happens to be there.
    """
    folder = _own_checkout() if named is None else named.resolve()
    if folder is None or not (folder / "benchmarks/reproduce/__main__.py").is_file():
        if named is not None:
            raise MistakeError(
                f"--checkout: {str(named)!r} is not a planewise checkout: it has no benchmarks/reproduce."
            )
        raise MistakeError(
            "this needs benchmarks/reproduce, which is not part of the installed package: clone the planewise "
            "repository and run planewise reproduce --checkout FOLDER."
        )
    sys.path.insert(0, str(folder))
    main: Callable[..., int] = importlib.import_module("benchmarks.reproduce.__main__").main
    return main


def _own_checkout() -> Path | None:
    """The checkout that contains this file; None if the package was installed as a copy."""
    source = Path(__file__).resolve().parents[2]
    is_checkout = source.name == "src" and (source.parent / "native/bindings.cpp").is_file()
    return source.parent if is_checkout else None
