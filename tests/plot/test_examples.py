"""Every example runs, and writes a small picture."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in ("demo", "picture"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_makes_its_picture(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [script, "--out", str(tmp_path / "new")])
    monkeypatch.syspath_prepend(EXAMPLES)
    runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    (picture,) = (tmp_path / "new").iterdir()
    assert str(picture) in capsys.readouterr().out
    assert picture.stat().st_size < 100_000
    with Image.open(picture) as image:
        assert image.format == "PNG" and image.width > 400 and len(image.getcolors(10_000)) > 20


def test_every_example_has_its_picture_in_the_documentation():
    pictures = EXAMPLES.parent / "docs" / "images"
    page = (EXAMPLES.parent / "docs" / "pictures.md").read_text(encoding="utf-8")
    shown = {path.name for path in pictures.glob("*.png")}
    assert all(f"images/{name}" in page for name in shown)
    assert all(path.stat().st_size < 80_000 for path in pictures.glob("*.png"))
