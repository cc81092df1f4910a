"""Rows in a plane: one marker each while these can be distinguished, by density beyond that."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.plot.style import NUMBERS_MAP, colour, colours_rgb, marker, spread_of

MOST_POINTS = 4000
SAMPLE = 250  # of the rows drawn by density, those that still show a marker
BINS = 90

Numbers = NDArray[np.float64]


def draw_classes(
    ax: Any, x: Numbers, y: Numbers, label: NDArray[Any], n_classes: int, *, size: float, alpha: float = 0.85
) -> None:
    """Rows by colour and marker of their class; `label` counts classes from 0, other values are left out."""
    if len(x) > MOST_POINTS:
        _draw_density(ax, x, y, colours_rgb(n_classes)[np.clip(label, 0, None)])
        alpha, size = 0.9, 0.8 * size
    for number, chosen in enumerate(_markers_of(label, n_classes, len(x))):
        if len(chosen):
            ax.scatter(
                x[chosen], y[chosen], s=size, c=colour(number), marker=marker(number), alpha=alpha,
                linewidths=0.25, edgecolors="white", zorder=3, gid=f"class {number}",
            )  # fmt: skip


def draw_numbers(ax: Any, x: Numbers, y: Numbers, target: Numbers, norm: Any, *, size: float) -> None:
    """Rows coloured by a number."""
    import matplotlib as mpl

    if len(x) > MOST_POINTS:
        _draw_density(ax, x, y, mpl.colormaps[NUMBERS_MAP](norm(target))[:, :3])
        return
    ax.scatter(
        x, y, s=size, c=target, cmap=NUMBERS_MAP, norm=norm, linewidths=0.4, edgecolors="white", zorder=3, gid="rows"
    )


def _markers_of(label: NDArray[Any], n_classes: int, n_rows: int) -> list[NDArray[np.intp]]:
    """Rows of each class that get a marker: all, or of many an evenly spread few, none of the classes left out."""
    rows = [np.flatnonzero(label == number) for number in range(n_classes)]
    if n_rows <= MOST_POINTS:
        return rows
    return [mine[:: max(1, -(-len(mine) // max(8, SAMPLE * len(mine) // n_rows)))] for mine in rows]


def _draw_density(ax: Any, x: Numbers, y: Numbers, rgb: Numbers) -> None:
    """An image of mean colours, the more opaque the more rows there are."""
    image, extent = density_image(x, y, rgb)
    ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="bilinear", zorder=2)


def density_image(x: Numbers, y: Numbers, rgb: Numbers) -> tuple[Numbers, tuple[float, float, float, float]]:
    """Mean colours of the rows in each bin, opacity by the logarithm of their number; and the image's borders."""
    left, right = spread_of(x)
    bottom, top = spread_of(y)
    across = np.clip(((x - left) / (right - left) * BINS).astype(np.intp), 0, BINS - 1)
    up = np.clip(((y - bottom) / (top - bottom) * BINS).astype(np.intp), 0, BINS - 1)
    place = up * BINS + across
    rows = np.bincount(place, minlength=BINS * BINS).astype(np.float64)
    image = np.ones((BINS * BINS, 4))
    for channel in range(3):
        sums = np.bincount(place, weights=rgb[:, channel], minlength=BINS * BINS)
        image[:, channel] = np.where(rows > 0, sums / np.maximum(rows, 1), 1.0)
    image[:, 3] = np.where(rows > 0, 0.25 + 0.7 * np.log1p(rows) / np.log1p(rows.max()), 0.0)
    return image.reshape(BINS, BINS, 4), (left, right, bottom, top)
