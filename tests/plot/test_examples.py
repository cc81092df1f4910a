"""Each example of the gallery runs and draws a picture."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IMAGES = EXAMPLES.parent / "docs" / "images"


@pytest.mark.parametrize("path", sorted({*EXAMPLES.glob("*.py")} - {EXAMPLES / "serve.py"}), ids=lambda path: path.stem)
def test_an_example_draws_a_picture(path, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.figure(k) for k in plt.get_fignums()))
    try:
        runpy.run_path(str(path), run_name="__main__")
        assert shown
        assert all(axes.has_data() for figure in shown for axes in figure.axes)
    finally:
        plt.close("all")


def test_every_kept_picture_is_shown_in_the_documentation():
    pages = "".join(page.read_text(encoding="utf-8") for page in IMAGES.parent.glob("*.md"))
    assert [path.name for path in IMAGES.glob("*.png") if f"images/{path.name}" not in pages] == []
