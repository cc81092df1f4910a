"""Pictures of the papers: drawn by the examples, or from finished cells, each in one file."""

from __future__ import annotations

import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from .results import Results

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Draw = Callable[[Results, Path, str | None], None]


def example(name: str, *, data: bool = False) -> Draw:
    """What ``examples/<name>.py`` draws; with `data`, on the paper's own set if there is a directory of data sets."""

    def draw(results: Results, path: Path, data_home: str | None) -> None:
        import matplotlib.pyplot as plt

        home = data_home or os.environ.get("PLANEWISE_DATA")
        plt.close("all")
        with patch.dict(os.environ, {"PLANEWISE_DATA": home if data and home else ""}), patch.object(plt, "show"):
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        save(plt.gcf(), path)

    return draw


def save(figure: Any, path: Path) -> None:
    """Write a figure and close it."""
    import matplotlib.pyplot as plt

    figure.savefig(path, dpi=90)
    plt.close(figure)


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
