"""Pictures of the papers: drawn by the examples, or from finished cells, each in one file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .results import Results

TOOLS = Path(__file__).resolve().parents[2] / "tools"
Draw = Callable[[Results, Path, str | None], None]


def example(name: str, *, data: bool = False) -> Draw:
    """What ``examples/<name>.py`` draws; with `data`, on the paper's own set if there is a directory of data sets."""

    def draw(results: Results, path: Path, data_home: str | None) -> None:
        home = data_home or os.environ.get("PLANEWISE_DATA")
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(TOOLS / "draw_examples.py"), name, "--out", folder]
            done = subprocess.run(
                command + (["--data", home] if data and home else []), capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise RuntimeError(f"examples/{name}.py failed: {done.stderr.strip().splitlines()[-1]}")
            (picture,) = Path(folder).iterdir()
            path.write_bytes(picture.read_bytes())

    return draw


def save(figure: Any, path: Path) -> None:
    """Writes a figure as the examples do: small."""
    sys.path.insert(0, str(TOOLS))
    try:
        import draw_examples
    finally:
        sys.path.remove(str(TOOLS))
    figure.set_dpi(90)
    draw_examples.save(figure, path)


def put(results: Results, folder: Path, data_home: str | None, *, draw: bool, fresh: bool = False) -> str:
    """The name of a table's picture in `folder`, or nothing if it has none.

    Pictures of cells are drawn anew each time, those of examples if `draw` says so and, unless `fresh`, only once.
    """
    table = results.table
    if table.picture is None or (table.rows and not results.finished):
        return ""
    path = folder / (table.picture_file or f"{table.name}.png")
    if table.rows or (draw and (fresh or not path.exists())):
        folder.mkdir(parents=True, exist_ok=True)
        table.picture(results, path, data_home)
    return path.name if path.exists() else ""
