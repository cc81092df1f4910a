"""What a view of a sum of views says everywhere in its picture, and where the answer of the whole model changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.plot.style import colours_rgb
from planewise.plot.view_data import Axis, Numbers

Box = tuple[float, float, float, float]  # left, right, bottom, top
STEPS = 96  # of borders along each side
STRONGEST = 0.45  # opacity of the shading
# A view's columns, values of each, and a case's values -> own scores, and those of the whole model.
ScoresAt = Callable[[Any, Sequence[Sequence[Any]], Sequence[Any] | None], tuple[Numbers, Numbers | None]]


@dataclass(frozen=True)
class Surface:
    """One view of a model."""

    scores_at: ScoresAt
    axes: Sequence[Axis]  # as they are drawn
    view: tuple[int, ...]  # its columns

    def own(self, places: Numbers) -> Numbers:
        """The view's scores at places: points x outputs. Zero where several categories share a lane."""
        own = self.scores_at(self.view, self._values(places), None)[0]
        for at, axis in enumerate(self.axes):
            if axis.drawn:
                own[places[:, at] > axis.gap * (len(axis.drawn) - 0.5)] = 0.0
        return own

    def whole(self, data: Mapping[str, Any], places: Numbers) -> Numbers:
        """The scores of the whole model, with the other columns as in the case of an explanation's data."""
        found = self.scores_at(self.view, self._values(places), list(data["query"].values()))[1]
        assert found is not None
        return found

    def _values(self, places: Numbers) -> list[Sequence[Any]]:
        """By column of the view, in its own order: a picture may have turned it."""
        found = {axis.column: values_at(axis, places[:, at]) for at, axis in enumerate(self.axes)}
        return [found[column] for column in self.view]

    def border(self, data: Mapping[str, Any], box: Box) -> NDArray[np.float64]:
        """Where the class that the whole model predicts changes, in a view of two columns with the case's other values.

        Pieces x ends x (x, y).
        """
        x, y = np.linspace(box[0], box[1], STEPS + 1), np.linspace(box[2], box[3], STEPS + 1)
        grid = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
        return contour(x, y, self._margin(data, self.whole(data, grid)).reshape(len(y), len(x)))

    def _margin(self, data: Mapping[str, Any], whole: Numbers) -> Numbers:
        if whole.shape[1] == 1:
            return whole[:, 0]  # of either class: the border is the same
        labels = [each["label"] for each in data["probabilities"]]
        place = labels.index(data["prediction"])
        return whole[:, place] - np.delete(whole, place, axis=1).max(axis=1)


def values_at(axis: Axis, places: Numbers) -> Sequence[Any]:
    """The user's values at places: numbers, or the nearest category."""
    if not axis.categories:
        return axis.values(places).tolist()
    lanes = axis.drawn or axis.categories  # the last one drawn may stand for several
    at = np.clip(np.round(places / axis.gap), 0, len(lanes) - 1).astype(np.intp)
    return [lanes[each] for each in at.tolist()]


def shaded_classes(own: Numbers, n_classes: int) -> NDArray[np.uint8]:
    """Red, green, blue and opacity by the class that scores speak for; the stronger, the higher its score."""
    if own.shape[1] == 1:
        own = np.column_stack([np.zeros(len(own)), own])
    ordered = np.sort(own, axis=1)
    strength = STRONGEST * (1 - np.exp(ordered[:, -2] - ordered[:, -1]))
    colours = colours_rgb(n_classes)[own.argmax(axis=1)]
    return np.round(255 * np.column_stack([colours, strength])).astype(np.uint8)


def contour(x: Numbers, y: Sequence[float] | Numbers, z: Numbers) -> NDArray[np.float64]:
    """Where values on a grid (y by x) cross zero, as straight pieces: pieces x 2 ends x (x, y).

    >>> contour(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([[-1.0, 1.0], [-1.0, 1.0]])).tolist()
    [[[0.5, 0.0], [0.5, 1.0]]]
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    above = z > 0
    pieces = []
    mixed = above[:-1, :-1].astype(int) + above[:-1, 1:] + above[1:, :-1] + above[1:, 1:]
    for row, column in np.argwhere((mixed > 0) & (mixed < 4)):
        corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
        ends = []
        for (r0, c0), (r1, c1) in zip(corners, corners[1:] + corners[:1], strict=True):
            if above[r0, c0] != above[r1, c1]:
                share = z[r0, c0] / (z[r0, c0] - z[r1, c1])
                ends.append((x[c0] + share * (x[c1] - x[c0]), y[r0] + share * (y[r1] - y[r0])))
        pieces += [(ends[k], ends[k + 1]) for k in range(0, len(ends) - 1, 2)]
    return np.array(pieces, np.float64).reshape(-1, 2, 2)
