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


def test_every_kept_picture_is_shown_in_the_documentation():
    pictures = EXAMPLES.parent / "docs" / "images"
    pages = "".join(page.read_text(encoding="utf-8") for page in (EXAMPLES.parent / "docs").glob("*.md"))
    assert [path.name for path in pictures.glob("*.png") if f"images/{path.name}" not in pages] == []
    assert all(path.stat().st_size < 80_000 for path in pictures.glob("*.png"))
