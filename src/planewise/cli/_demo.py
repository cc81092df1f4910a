"""planewise demo: what it is asked; ``_demo_run.py`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path | None, typer.Option(help="The page to write; without it, planewise-demo.html.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out.")] = False,
) -> None:
    """Fit every family on bundled data beside scikit-learn's, print quality, size and time, and write a page.

    Example:
      planewise demo --out demo.html
    """
    from planewise.cli._demo_run import run_demo

    run_demo(out, force)
