"""Looking at pictures without their type: coarse blocks of colour, and texts that overlap or leave the figure."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text


def coarse(figure, blocks=12):
    """Mean colours of blocks of the picture drawn without any text: what a font cannot change."""
    for text in figure.findobj(Text):
        text.set_visible(False)
    figure.set_layout_engine("none")
    figure.set_dpi(60)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)
    rows = np.array_split(pixels, blocks, axis=0)
    return np.array([[part.mean(axis=(0, 1)) for part in np.array_split(row, blocks, axis=1)] for row in rows])


def texts_of(figure):
    """The visible, non-empty texts and their boxes in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    unseen = _unseen_tick_labels(figure)
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in unseen
    ]


def _unseen_tick_labels(figure):
    """Labels of ticks that exist outside the axes' limits, or of axes that are switched off."""
    unseen = set()
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not (axes.axison and low <= tick.get_loc() <= high):
                    unseen |= {id(tick.label1), id(tick.label2)}
    return unseen


def overlapping_texts(figure, slack=1.0):
    """Pairs of texts that cover each other by more than `slack` pixels both ways."""
    return _overlapping(texts_of(figure), slack)


def _overlapping(texts, slack=1.0):
    pairs = []
    for at, (one, a) in enumerate(texts):
        for other, b in texts[at + 1 :]:
            across = min(a.x1, b.x1) - max(a.x0, b.x0)
            up = min(a.y1, b.y1) - max(a.y0, b.y0)
            if across > slack and up > 0.25 * min(a.height, b.height):
                pairs.append((one, other))
    return pairs


def clipped_texts(figure, slack=2.0):
    """Texts that reach over the figure's border."""
    return _clipped(figure, texts_of(figure), slack)


def _clipped(figure, texts, slack=2.0):
    width, height = figure.canvas.get_width_height()
    return [
        text
        for text, box in texts
        if box.x0 < -slack or box.y0 < -slack or box.x1 > width + slack or box.y1 > height + slack
    ]


def assert_readable(figure):
    texts = texts_of(figure)
    clipped, overlapping = _clipped(figure, texts), _overlapping(texts)
    assert not clipped, f"over the border: {clipped}"
    assert not overlapping, f"one over the other: {overlapping}"
