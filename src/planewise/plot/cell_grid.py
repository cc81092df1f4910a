"""Cells of two columns of categories with the rows counted in each, and names of categories on axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planewise._text import count, name_in_lines
from planewise.plot.cells import CellGrid, Place
from planewise.plot.style import GREY, INK, Sizes, colour, marker, plain, text_width

MOST_CLASSES = 3  # that have a line of their own in a cell
SPACING = 1.25  # from line to line
WIDTHS = (1.2, 1.8, 2.6, 4.0)  # inches of names up the side
NARROW = 0.45  # inches below which names below an axis are turned


def lines_in(name: str, font: float, inches: float) -> str:
    """A whole name in lines that are no broader than this."""
    return plain_lines(name_in_lines(name, lambda line: text_width(line, font) <= inches))


def plain_lines(lines: Sequence[str]) -> str:
    """Lines that matplotlib shows as they are."""
    return "\n".join(map(plain, lines))


def name_lanes_up(ax: Any, at: Sequence[float], names: Sequence[str], font: float, lane: float) -> None:
    """Whole names up the side, in as many lines as a lane of so many inches has room for."""
    for inches in WIDTHS:
        texts = [lines_in(name, font, inches) for name in names]
        if max((text.count("\n") + 1 for text in texts), default=0) * SPACING * font / 72 <= lane:
            break
    ax.set_yticks(at, texts, fontsize=font)


def name_lanes_across(ax: Any, at: Sequence[float], names: Sequence[str], font: float, lane: float) -> None:
    """Whole names below lanes of so many inches, turned where these are narrow."""
    turned = lane < NARROW
    texts = [lines_in(name, font, WIDTHS[0] if turned else 0.94 * lane) for name in names]
    ax.set_xticks(at, texts, fontsize=font, rotation=90 if turned else 0)


def lane_height(names: Sequence[str], font: float) -> float:
    """Inches that a lane needs for its name in narrow lines."""
    most = max((lines_in(name, font, WIDTHS[0]).count("\n") + 1 for name in names), default=1)
    return SPACING * font / 72 * most + 0.05


def cell_size(grid: CellGrid, wide: float) -> tuple[float, float]:
    """Inches of a figure in which all cells are readable, each so many inches wide."""
    lane = max(0.15 * _n_lines(grid) + 0.12, lane_height(grid.lines, 7))
    return 2.2 + max(wide * len(grid.columns), 2.0), 1.5 + lane * len(grid.lines)


def draw_cells(
    ax: Any,
    grid: CellGrid,
    sizes: Sizes,
    *,
    own: Place | None,
    badges: Mapping[Place, str],
    star: str,
    close_up: bool = False,
) -> None:
    """All cells, or those around the case.

    Parameters
    ----------
    own : (line, column) or None
        The case's cell.
    badges : dict
        What is said of some cells, such as how many of the nearest rows they have.
    star : str
        Colour of the case's star.
    """
    lines, columns = range(len(grid.lines)), range(len(grid.columns))
    if close_up and own is not None:
        lines, columns = (_around(at, every) for at, every in zip(own, (lines, columns), strict=True))
    height, width = sizes.height / len(lines), sizes.width / len(columns)
    font = float(np.clip(0.75 * 72 * height / (_n_lines(grid) + 0.6), 3.5, min(sizes.small, 72 * width / 5.6)))
    for line in lines:
        for column in columns:
            _draw_cell(ax, grid, (line, column), badges.get((line, column), ""), font)
    if own is not None:
        _outline(ax, own, star, sizes, font)
    ax.set_xlim(columns[0] - 0.5, columns[-1] + 0.5)
    ax.set_ylim(lines[-1] + 0.5, lines[0] - 0.5)  # the first on top, as in a table
    name_lanes_up(ax, list(lines), [grid.lines[line] for line in lines], sizes.small, 0.9 * height)
    name_lanes_across(ax, list(columns), [grid.columns[column] for column in columns], sizes.small, width)
    ax.tick_params(length=0)
    for edges, draw in ((columns, ax.axvline), (lines, ax.axhline)):
        for edge in [*edges, edges[-1] + 1]:
            draw(edge - 0.5, color=GREY, linewidth=0.4, zorder=1)


def _around(at: int, every: range) -> range:
    return range(max(at - 1, 0), min(at + 2, len(every)))


def _n_lines(grid: CellGrid) -> int:
    """Return the number of lines of text in a cell: the classes and the badge."""
    n_classes = grid.by_class.shape[2]
    return min(n_classes, MOST_CLASSES) + (n_classes > MOST_CLASSES) + 1


def _draw_cell(ax: Any, grid: CellGrid, at: Place, badge: str, font: float) -> None:
    (line, column), n_rows, n_lines = at, int(grid.n_rows[at]), _n_lines(grid)
    height = 0.84 / n_lines
    texts = {"fontsize": font, "va": "center_baseline", "color": INK, "clip_on": True, "zorder": 4}

    def middle(place: int) -> float:
        return line - 0.36 + height * (place + 0.5)

    if not n_rows:
        return
    counts = grid.by_class[at]
    _bar(ax, at, counts / n_rows, [colour(place) for place in range(len(counts))])
    shown = [int(place) for place in np.argsort(-counts, kind="stable")[:MOST_CLASSES] if counts[place]]
    if len(counts) <= MOST_CLASSES:
        shown = list(range(len(counts)))
    for place, own in enumerate(shown):
        ax.scatter([column - 0.38], [middle(place)], s=0.4 * font**2, c=colour(own), marker=marker(own), zorder=4)
        ax.text(column - 0.24, middle(place), count(counts[own]), **texts)
    if n_rows > counts[shown].sum():
        ax.text(column - 0.44, middle(len(shown)), f"+{count(n_rows - counts[shown].sum())}", **texts)
    if badge:
        box = {"boxstyle": "round,pad=0.15", "facecolor": INK, "edgecolor": "none"}
        look = texts | {"color": "white", "fontsize": 0.85 * font, "bbox": box, "gid": "badge"}
        ax.text(column - 0.42, middle(n_lines - 1), badge, **look)


def _bar(ax: Any, at: Place, shares: Any, tints: Sequence[Any]) -> None:
    """A bar of shares at the top of a cell."""
    line, column = at
    lefts = column - 0.46 + 0.92 * (np.cumsum(shares) - shares)
    ax.barh([line - 0.42] * len(shares), 0.92 * np.asarray(shares), left=lefts, height=0.08, color=tints, zorder=3)


def _outline(ax: Any, at: Place, star: str, sizes: Sizes, font: float) -> None:
    from matplotlib.patches import Rectangle

    line, column = at
    ax.add_patch(
        Rectangle((column - 0.5, line - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=2 * sizes.line, zorder=5)
    )
    ax.scatter(
        [column + 0.3], [line - 0.2], marker="*", s=2.2 * font**2, color=star, edgecolors=INK,
        linewidths=0.8 * sizes.line, zorder=7, gid="query",
    )  # fmt: skip
