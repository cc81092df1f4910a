"""A display as the last line of a notebook's cell: one short line, whatever it holds."""

from __future__ import annotations

import numpy as np
import pytest
from kept_pictures import PICTURES

from planewise import SLMClassifier, plot
from planewise.plot import PartitionDisplay, TreeDisplay

DISPLAYS = [getattr(plot, name) for name in plot.__all__ if name.endswith("Display")]


@pytest.fixture(scope="module")
def displays():
    """Every display that the kept pictures are drawn from."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for kind in DISPLAYS:
            patch.setattr(kind, "plot", lambda self, *_, **__: found.append(self))
        for draw in PICTURES.values():
            draw(None)
    return found


def test_every_display_shows_itself_in_one_short_line(displays):
    assert {type(display) for display in displays} == set(DISPLAYS)
    for display in displays:
        line = repr(display)
        assert len(line) < 120
        assert line.startswith(f"<{type(display).__name__}: ")
        assert line.isprintable()
        assert "array(" not in line


def test_the_line_says_what_is_in_the_picture(displays):
    lines = {repr(display) for display in displays if isinstance(display, (TreeDisplay, PartitionDisplay))}
    tree = next(display.tree for display in displays if isinstance(display, TreeDisplay))
    planes, leaves = sum(map(len, tree.planes)), sum(not each for each in tree.planes)
    assert f"<TreeDisplay: {planes} planes, {leaves} leaves>" in lines
    assert "<PartitionDisplay: x0 and x1, 150 rows>" in lines


def test_one_of_a_thing_is_not_written_as_many():
    tree = SLMClassifier().fit(np.zeros((5, 2)), np.zeros(5))
    assert repr(TreeDisplay.from_estimator(tree)) == "<TreeDisplay: 0 planes, 1 leaf>"


def test_long_names_are_shortened_and_control_characters_replaced(displays):
    display = next(display for display in displays if isinstance(display, PartitionDisplay))
    names = display.names
    display.names = ["a\n" * 500, "b\x1b[31m" * 500]
    line = repr(display)
    display.names = names
    assert len(line) < 120
    assert line.isprintable()
