"""Every display looks as it did when somebody looked at it: by blocks of colour, which no type changes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from kept_pictures import KEPT, PICTURES, blocks, drawn
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

TOLERANCE = 10  # of 255, in any block: a little softer or harder an edge, as releases of matplotlib differ


def difference(name, figure):
    with np.load(KEPT) as kept:
        return int(np.abs(blocks(figure).astype(int) - kept[name].astype(int)).max())


@pytest.mark.parametrize("name", PICTURES)
def test_a_display_looks_as_it_did(name):
    assert difference(name, drawn(name)) <= TOLERANCE


@pytest.mark.parametrize("name", PICTURES)
def test_another_type_changes_nothing(name):
    figure = drawn(name, "DejaVu Serif")
    assert difference(name, figure) <= TOLERANCE


def test_every_display_has_a_kept_picture():
    import planewise.plot

    source = KEPT.parent.with_name("kept_pictures.py").read_text(encoding="utf-8")
    made = {name for name in planewise.plot.__all__ if name.endswith("Display")}
    assert all(f"{name}(" in source or f"{name}.from_" in source for name in made)


# Changes that must be noticed: each does to the drawn figure what a mistake in the code would.


def marks(figure):
    """The points of the data, as matplotlib holds them: collections of marks, and lines that have marks."""
    artists = [artist for ax in figure.axes for artist in (*ax.collections, *ax.lines)]
    return [each for each in artists if each.get_visible() and _has_marks(each)]


def _has_marks(artist):
    if isinstance(artist, Line2D):
        return artist.get_marker() not in (None, "None", "", " ")
    return isinstance(artist, PathCollection) and len(artist.get_offsets()) > 0


def drop(figure):
    """Marks are not drawn."""
    for artist in marks(figure):
        artist.set_visible(False)


def recolour(figure):
    """Colours are turned round: red for green, green for blue, blue for red."""
    for ax in figure.axes:
        for artist in (*ax.collections, *ax.lines, *ax.patches):
            for part in ("facecolor", "edgecolor", "color"):
                get, put = getattr(artist, f"get_{part}", None), getattr(artist, f"set_{part}", None)
                if get is None or put is None or (part == "color" and hasattr(artist, "get_facecolor")):
                    continue
                now = np.array(get(), dtype=object)
                if isinstance(get(), str):
                    put(np.roll(to_rgb(get()), 1))
                elif now.size:
                    colours = np.atleast_2d(np.asarray(get(), dtype=float)).copy()
                    colours[:, :3] = np.roll(colours[:, :3], 1, axis=1)
                    put(colours if len(colours) > 1 else colours[0])
        for image in ax.images:
            image.set_data(np.roll(np.asarray(image.get_array()), 1, axis=-1))


def move(figure):
    """Marks lie a tenth of the axes too far to the left."""
    for artist in marks(figure):
        ax = artist.axes
        shift = artist.get_transform() if isinstance(artist, Line2D) else artist.get_offset_transform()
        moved = shift + ScaledTranslation(-0.1 * ax.bbox.width / figure.dpi, 0, figure.dpi_scale_trans)
        if isinstance(artist, Line2D):
            artist.set_transform(moved)
        else:
            artist.set_offset_transform(moved)


@pytest.mark.parametrize("change", [drop, recolour, move])
@pytest.mark.parametrize("name", PICTURES)
def test_a_real_change_is_noticed(name, change):
    figure = drawn(name)
    change(figure)
    assert difference(name, figure) > 1.5 * TOLERANCE
    plt.close(figure)
