"""Every example runs, and shows one picture."""

from __future__ import annotations

import pytest
from PIL import Image
from tools.draw_examples import EXAMPLES, draw, names


@pytest.mark.parametrize("name", names())
def test_an_example_makes_its_picture(name, tmp_path):
    picture = draw(name, tmp_path / "new")
    assert picture.stat().st_size < 100_000
    with Image.open(picture) as image:
        assert image.format == "PNG" and image.width > 400 and len(image.getcolors(10_000)) > 20


def test_every_kept_picture_is_shown_in_the_documentation():
    pictures = EXAMPLES.parent / "docs" / "images"
    pages = "".join(page.read_text(encoding="utf-8") for page in (EXAMPLES.parent / "docs").glob("*.md"))
    assert [path.name for path in pictures.glob("*.png") if f"images/{path.name}" not in pages] == []
    assert all(path.stat().st_size < 80_000 for path in pictures.glob("*.png"))
