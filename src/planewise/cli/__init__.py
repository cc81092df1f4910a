"""The command ``planewise``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without its extra, say how to get it."""
    try:
        import polars  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.stderr.write(f"planewise: {error.name} is missing; the command line needs: pip install 'planewise[cli]'\n")
        raise SystemExit(2) from None
    from planewise.cli._app import app

    app()
