"""A tree's cells and cutting lines in a plane of two features, exactly: polygons cut by half-planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planewise.explain.planes import Plane
from planewise.plot.trees import DrawnTree

Polygon = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A convex piece of the picture, and the node whose value rows in it get."""

    node: int
    corners: Polygon


@dataclass(frozen=True)
class Cut:
    """Where plane number `plane` of a node runs through that node's part of the picture."""

    node: int
    plane: int
    start: tuple[float, float]
    end: tuple[float, float]


def cut_plane(
    tree: DrawnTree,
    features: tuple[int, int],
    still: Sequence[float],
    box: tuple[float, float, float, float],
) -> tuple[list[Cell], list[Cut]]:
    """Cells and cuts inside `box` (left, right, bottom, top), the other features being as in the row `still`."""
    left, right, bottom, top = box
    whole = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    cells: list[Cell] = []
    cuts: list[Cut] = []
    waiting: list[tuple[int, Polygon]] = [(0, whole)]
    while waiting:
        node, corners = waiting.pop()
        pieces: list[tuple[int, Polygon]] = [(0, corners)]
        for number, plane in enumerate(tree.planes[node]):
            line = _trace(plane, features, still)
            crossing = split(corners, *line)[2]
            if crossing is not None:
                cuts.append(Cut(node, number, crossing[0], crossing[1]))
            halves: list[tuple[int, Polygon]] = []
            for code, piece in pieces:
                below, above, _ = split(piece, *line)
                halves += [(code, below)] if len(below) else []
                halves += [(code | 1 << number, above)] if len(above) else []
            pieces = halves
        for code, piece in pieces:
            child = tree.children[node][code]
            if child == node:
                cells.append(Cell(node, piece))
            else:
                waiting.append((child, piece))
    return cells, cuts


def _trace(plane: Plane, features: tuple[int, int], still: Sequence[float]) -> tuple[float, float, float]:
    """The plane in the picture: the right side is a x + b y >= c."""
    everything, nothing = (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)
    if plane.categories is not None:
        category = still[plane.features[0]]
        missing = category != category
        on_right = plane.missing_right if missing else (int(category) in plane.categories) == plane.members_right
        return everything if on_right else nothing
    slope = [0.0, 0.0]
    rest = float(plane.threshold)
    for feature, weight in zip(plane.features, plane.weights, strict=True):
        if feature in features:
            slope[features.index(feature)] += weight
        else:
            rest -= weight * float(still[feature])
    if rest != rest:  # a missing value among the terms
        return everything if plane.missing_right else nothing
    if slope == [0.0, 0.0]:
        on_right = rest < 0 if plane.strict else rest <= 0
        return everything if on_right else nothing
    return slope[0], slope[1], rest


def split(
    corners: Polygon, a: float, b: float, c: float
) -> tuple[Polygon, Polygon, tuple[tuple[float, float], tuple[float, float]] | None]:
    """A convex polygon's parts with a x + b y below c and from c on, and the border between them if there are two."""
    height = corners @ np.array([a, b]) - c
    # Corners made by an earlier cut lie on their line only to rounding.
    scale = max(1e-300, float(np.abs(corners).max()) * (abs(a) + abs(b)) + abs(c))
    height[np.abs(height) < 1e-12 * scale] = 0.0
    nobody = np.empty((0, 2))
    if (height >= 0).all():
        return nobody, corners, None
    if (height <= 0).all():
        return corners, nobody, None
    below: list[NDArray[np.float64]] = []
    above: list[NDArray[np.float64]] = []
    border: list[tuple[float, float]] = []
    for at in range(len(corners)):
        here, there = corners[at], corners[(at + 1) % len(corners)]
        now, then = height[at], height[(at + 1) % len(corners)]
        if now <= 0:
            below.append(here)
        if now >= 0:
            above.append(here)
        if now == 0:
            border.append((float(here[0]), float(here[1])))
        if now * then < 0:
            point = here + (there - here) * (now / (now - then))
            below.append(point)
            above.append(point)
            border.append((float(point[0]), float(point[1])))
    return np.array(below), np.array(above), (border[0], border[1])
