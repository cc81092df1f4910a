"""What a picture of a view shows, as numbers: rows, neighbours and the case in the plane of the view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._tables import column_values
from planewise.plot.cells import CellGrid, Place, cell_grid, is_grid
from planewise.plot.style import colours_rgb, limits
from planewise.plot.surfaces import STRONGEST, ScoresAt, Surface, as_answers, shaded_classes
from planewise.plot.views import Axis, DecidingRows, Numbers, axes_of, drawn_axes, features_of, rows_in
from planewise.report._view_shapes import png_address, scale_colours

MOST_NEIGHBOURS = 30  # that are drawn and listed
STEPS = 56  # of the shading along each side
MOST_PLANES = 16  # remembered
Box = tuple[float, float, float, float]  # left, right, bottom, top
GOLDEN, SILVER = 0.6180339887, 0.7548776662


class TrainingRows:
    """The rows a model was fitted on, as pictures show them; what is the same for all cases is worked out once.

    Parameters
    ----------
    rows : table or None
        None: pictures show a case's neighbours alone.
    target : array or None
    numbers : array of int or None
        What each row is called; None: rows have no names in pictures.
    weight : array or None
        How much each row counts; None: all the same.
    often : array of int or None
        How many rows of the fit each row stands for; None: one.
    scores_at : callable or None
        ``view_surface`` of a sum of views; None: shading comes from the rows.
    """

    def __init__(
        self,
        rows: Any,
        target: Any,
        numbers: Sequence[int] | NDArray[Any] | None = None,
        weight: NDArray[Any] | None = None,
        often: NDArray[Any] | None = None,
        scores_at: ScoresAt | None = None,
    ) -> None:
        if (rows is None) != (target is None):
            raise ValueError("rows and target go together: give both or neither.")
        if rows is not None and len(target) != len(rows):
            raise ValueError(f"target has {len(target)} values for {len(rows)} rows.")
        self.rows, self.target, self.numbers, self.weight, self.often = rows, target, numbers, weight, often
        self.scores_at = scores_at
        self._planes: dict[Any, Plane] = {}
        self._axes: dict[Any, list[Axis]] = {}

    @classmethod
    def of(cls, model: Any) -> TrainingRows:
        """Those of a fitted model of views or of an explanation; equal rows are one, named by the first of them."""
        known, scores_at = model.fitted_rows(), getattr(model, "view_surface", None)
        if len(known.target) == 0:  # a model that keeps no rows
            return cls(None, None, scores_at=scores_at)
        return cls(known.values, known.target, known.row_number, known.weight, known.n_repeats, scores_at)

    def plane(self, data: Mapping[str, Any]) -> Plane:
        """The rows in the view of an explanation's data."""
        if self.rows is None:
            return replace(_neighbours_as_rows(data, self.scores_at).plane(data), crowd=False)
        view = data["view"]
        known = (data["task"], *(tuple(view[part]) for part in ("columns", "features", "units")))
        if known not in self._axes:
            self._axes[known] = axes_of(view, self.rows)
        rows = [data["query"], *(each.values for each in neighbours_of(data, most=None))]
        axes = drawn_axes(self._axes[known], self.rows, view, rows, self.often)
        key = (*known, *(axis.drawn for axis in axes))
        if key not in self._planes:
            while len(self._planes) >= MOST_PLANES:
                self._planes.pop(next(iter(self._planes)), None)
            self._planes[key] = _plane(data, self, axes)
        return self._planes[key]


@dataclass
class Plane:
    """A view with its rows: where they are drawn, and the shading underneath."""

    axes: list[Axis]  # all of the view's
    task: str
    labels: list[Any]  # classes in their order; none for numbers
    rows: Numbers  # (n_rows, 2): places
    target: NDArray[Any]  # places among the classes, or numbers
    values: list[NDArray[Any]]  # a column an axis, in the user's units
    numbers: NDArray[Any] | None
    weight: NDArray[Any] | None
    often: NDArray[Any] | None = None  # rows of the fit that each row stands for
    crowd: bool = True  # rows besides the neighbours are known
    surface: Surface | None = None  # of a view that is added to others
    _shading: dict[Box, str] = field(default_factory=dict)

    @property
    def lanes(self) -> bool:
        """One feature: height is the class, or the number itself."""
        return len(self.axes) == 1

    @cached_property
    def grid(self) -> CellGrid | None:
        """Rows counted in cells, where all axes that are drawn hold categories."""
        if not is_grid(self.axes):
            return None
        return cell_grid(self.axes, self.values, self.target, len(self.labels), self.often)

    def cell_of(self, data: Mapping[str, Any], values: Mapping[str, Any]) -> Place | None:
        """Where a row of an explanation's data is in the grid."""
        assert self.grid is not None
        names = features_of(self.axes, data["view"])
        return self.grid.place_of({axis.column: values.get(name) for axis, name in zip(self.axes, names, strict=True)})

    def extent(self, *points: Numbers) -> Box:
        """A box that holds the rows and these points."""
        every = np.concatenate([self.rows, *(np.atleast_2d(point) for point in points)])
        left, right = _roomy(self.axes[0], limits(every[:, 0]))
        if self.lanes and self.labels:
            return left, right, -0.5, len(self.labels) - 0.5
        across = limits(every[:, 1])
        return left, right, *(across if self.lanes else _roomy(self.axes[1], across))

    def shading(self, data: Mapping[str, Any], box: Box) -> str | None:
        """The ratio or score as a picture: what the view speaks for everywhere, the stronger, the clearer it is."""
        if self.surface is not None:
            return self._score_shading(data, box, self.surface)
        if self.task == "regression" or not self.crowd or len(self.axes) > 2:
            return None  # a plane through rows that lie all around it would say little
        if any(axis.categories for axis in self.axes):
            return None
        return self._remembered(
            box, lambda: self._coloured(self.ratios_at(data, self._grid(box)).reshape(-1, STEPS, len(self.labels)))
        )

    def _remembered(self, box: Box, draw: Callable[[], NDArray[np.uint8]]) -> str:
        if box not in self._shading:
            while len(self._shading) >= 4:
                self._shading.pop(next(iter(self._shading)), None)
            self._shading[box] = png_address(draw())
        return self._shading[box]

    def _score_shading(self, data: Mapping[str, Any], box: Box, surface: Surface) -> str | None:
        """What the view's own score speaks for; of numbers, what the view alone would predict."""
        if self.task == "regression" and (self.lanes or not self.crowd):
            return None  # a curve says more; and without rows there is no scale

        def draw() -> NDArray[np.uint8]:
            own = surface.own(self._grid(box))
            if self.labels:
                return shaded_classes(own, len(self.labels)).reshape(-1, STEPS, 4)
            alone = as_answers(data, own[:, 0] + data["base"])
            low, high = float(self.target.min()), float(self.target.max())
            share = (alone - low) / ((high - low) or 1.0)
            tints = np.array([[int(tint[at : at + 2], 16) for at in (1, 3, 5)] for tint in scale_colours(share)])
            opacity = np.full((len(tints), 1), round(255 * STRONGEST))
            return np.hstack([tints, opacity]).astype(np.uint8).reshape(-1, STEPS, 4)

        return self._remembered(box, draw)

    def _grid(self, box: Box) -> Numbers:
        """Points over a box, from its top down; of one feature a single line."""
        steps = (np.arange(STEPS) + 0.5) / STEPS
        x, y = box[0] + steps * (box[1] - box[0]), box[3] + steps * (box[2] - box[3])  # lines go down
        return x[:, None] if self.lanes else np.column_stack([part.ravel() for part in np.meshgrid(x, y)])

    def ratios_at(self, data: Mapping[str, Any], places: Numbers) -> Numbers:
        """The ratio of each class at places of the view's features, by which the model decides."""
        weight = np.ones(len(self.target)) if self.weight is None else self.weight
        rows = self.rows[:, : len(self.axes)]
        return DecidingRows(self.axes, rows, self.target, weight, len(self.labels)).ratios_at(data, places)

    def _coloured(self, ratio: Numbers) -> NDArray[np.uint8]:
        winner, least = ratio.argmin(axis=2), ratio.min(axis=2)
        colours = colours_rgb(len(self.labels))[winner]
        strength = 0.42 * np.clip(1 - least, 0, 1)[..., None]
        return np.round(255 * np.concatenate([colours, strength], axis=2)).astype(np.uint8)

    def within(self, box: Box, most: int) -> NDArray[np.intp]:
        """At most so many of the rows in a box, evenly taken, the same ones every time."""
        if not self.crowd:
            return np.empty(0, dtype=np.intp)
        x, y = self.rows[:, 0], self.rows[:, 1]
        inside = np.flatnonzero((x >= box[0]) & (x <= box[1]) & (y >= box[2]) & (y <= box[3]))
        if len(inside) <= most:
            return inside
        return inside[np.linspace(0, len(inside) - 1, most).astype(np.intp)]

    def place_of(self, label: Any) -> int:
        return self.labels.index(label)


@dataclass(frozen=True)
class Neighbour:
    """One of the rows that decided."""

    order: int  # 1 is the nearest
    side: str  # "for" or "against"
    rows: list[int]  # the user's
    answer: Any
    distance: float
    values: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What ties its mark to its line in the table."""
        return str(self.rows[0]) if self.rows else f"n{self.order}"

    def names(self) -> str:
        """Its rows, a few of them if they are many."""
        shown = ", ".join(map(str, self.rows[:3]))
        return shown + (f" and {len(self.rows) - 3} more" if len(self.rows) > 3 else "")


@dataclass(frozen=True)
class PlacedNeighbour(Neighbour):
    """The same, and where it is drawn."""

    at: Numbers


@dataclass(frozen=True)
class Scene:
    """One case in a plane."""

    plane: Plane
    at: Numbers
    neighbours: list[PlacedNeighbour]
    before: Numbers | None  # where the case was before a change of its values

    @cached_property
    def whole(self) -> Box:
        return self.plane.extent(*self._points())

    @cached_property
    def near(self) -> Box | None:
        """A box around the case that holds its neighbours; None where that is about the whole view."""
        whole, near = self.whole, self._surroundings()
        if near is None:
            return None
        share = [(near[at + 1] - near[at]) / (whole[at + 1] - whole[at]) for at in (0, 2)]
        return near if (share[0] if self.plane.lanes else max(share)) < 0.62 else None

    def _surroundings(self) -> Box | None:
        around = np.array([each.at for each in self.neighbours] + ([] if self.before is None else [self.before]))
        if not (len(around) and np.isfinite(self.at).all()):
            return None
        whole = self.whole
        reach = np.nanmax(np.abs(around - self.at), axis=0)
        least = 0.04 * np.array([whole[1] - whole[0], whole[3] - whole[2]])
        for at, axis in enumerate(self.plane.axes[:2]):
            if axis.categories:
                least[at] = max(least[at], 0.75 * axis.gap)
        across, up = np.maximum(1.25 * reach, least)
        x, y = self.at
        if self.plane.lanes:
            return float(x - across), float(x + across), whole[2], whole[3]
        return float(x - across), float(x + across), float(y - up), float(y + up)

    def _points(self) -> list[Numbers]:
        return [self.at, *(each.at for each in self.neighbours), *([] if self.before is None else [self.before])]


def scene(data: Mapping[str, Any], training: TrainingRows, moved_from: Mapping[str, Any] | None = None) -> Scene:
    """A case by its explanation's data; `moved_from` has its values before they were changed."""
    plane = training.plane(data)
    near = neighbours_of(data)
    own = data["prediction"]
    places = _places(
        plane, data, [data["query"], *(each.values for each in near)], [own, *(each.answer for each in near)]
    )
    neighbours = [PlacedNeighbour(**vars(each), at=at) for each, at in zip(near, places[1:], strict=True)]
    before = None
    if moved_from is not None:
        before = _places(plane, data, [moved_from], [own])[0]
        if not np.isfinite(before).all() or np.allclose(before, places[0]):
            before = None
    return Scene(plane, places[0], neighbours, before)


def neighbours_of(data: Mapping[str, Any], most: int | None = MOST_NEIGHBOURS) -> list[Neighbour]:
    """The rows that decided, the nearest first, at most so many; those of numbers all decide together."""
    if data["task"] == "regression":
        found = [("for", each) for each in data["neighbours"]]
    else:
        found = [(side, each) for side in ("for", "against") for each in data["neighbours"][side]]
    found.sort(key=lambda pair: pair[1]["distance"])
    if most is not None and len(found) > most:
        found = _without_favour(found)
    return [
        Neighbour(
            order, side, [int(row) for row in each["rows"]], each["label"] if "label" in each else each["target"],
            float(each["distance"]), each["values"],
        )
        for order, (side, each) in enumerate(found[:most], 1)
    ]  # fmt: skip


def _without_favour(found: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Sorted by distance, with the two sides of equally far rows mixed evenly: the first ones stand for all."""
    ordered: list[tuple[str, dict[str, Any]]] = []
    for _, group in groupby(found, key=lambda pair: float(f"{pair[1]['distance']:.4g}")):
        tied = list(group)
        size = Counter(side for side, _ in tied)
        seen: Counter[str] = Counter()
        places = []
        for side, _ in tied:
            seen[side] += 1
            places.append((seen[side] - 0.5) / size[side])
        ordered += [tied[at] for at in sorted(range(len(tied)), key=places.__getitem__)]
    return ordered


def n_neighbours(data: Mapping[str, Any]) -> int:
    """How many rows decided; where many are equally far, not all of them are listed."""
    if data["task"] == "regression":
        return len(data["neighbours"])
    counts = data.get("counts")
    return sum(map(len, data["neighbours"].values())) if counts is None else counts["n_for"] + counts["n_against"]


def _places(plane: Plane, data: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], answers: list[Any]) -> Numbers:
    """Places of the case (the first) and its neighbours: these are set apart where an axis has lanes or categories."""
    order = np.arange(len(rows))
    columns = []
    for axis, name, ratio in zip(plane.axes[:2], features_of(plane.axes, data["view"]), (GOLDEN, SILVER), strict=False):
        at = axis.places([row.get(name) for row in rows])
        if axis.categories:
            at = at + 0.5 * axis.gap * _spread(order, ratio)
        columns.append(at)
    if plane.lanes:
        heights = [plane.place_of(each) for each in answers] if plane.labels else answers
        columns.append(np.array(heights, dtype=np.float64) + (0.6 * _spread(order, SILVER) if plane.labels else 0.0))
    return np.column_stack(columns)


def _spread(order: NDArray[Any], ratio: float) -> Numbers:
    """Even, fixed steps to both sides; none for the first."""
    return np.modf(order * ratio + 0.5)[0] - 0.5


def _plane(data: Mapping[str, Any], training: TrainingRows, axes: list[Axis]) -> Plane:
    rows = training.rows
    known = np.asarray(training.target)
    labels: list[Any] = []
    if data["task"] != "regression":
        labels = [each["label"] for each in data["probabilities"]]
        place = {label: at for at, label in enumerate(labels)}
        unknown = [label for label in dict.fromkeys(known.tolist()) if label not in place]
        if unknown:
            raise ValueError(f"target contains the class {unknown[0]!r}, which the explanation does not know.")
        known = np.array([place[label] for label in known.tolist()], dtype=np.intp)
    values = [np.asarray(column_values(rows, axis.column)) for axis in axes]
    places = rows_in(axes[:2], rows)
    order = np.arange(len(known)) + 1
    for at, (axis, ratio) in enumerate(zip(axes[:2], (GOLDEN, SILVER), strict=False)):
        if axis.categories:
            places[:, at] += 0.6 * axis.gap * _spread(order, ratio)
    if len(axes) == 1:
        heights = known + 0.6 * _spread(order, SILVER) if labels else known.astype(np.float64)
        places = np.column_stack([places[:, 0], heights])
    numbers = None if training.numbers is None else np.asarray(training.numbers)
    surface = None if training.scores_at is None else Surface(training.scores_at, axes, tuple(data["view"]["columns"]))
    weight, often = training.weight, training.often
    return Plane(axes, data["task"], labels, places, known, values, numbers, weight, often, surface=surface)


def _neighbours_as_rows(data: Mapping[str, Any], scores_at: ScoresAt | None) -> TrainingRows:
    """The neighbours and the case, which stands for no row, for axes that know nothing else."""
    view, near = data["view"], neighbours_of(data, most=None)
    own = data["prediction"]
    table = np.full((len(near) + 1, max(view["columns"]) + 1), None, dtype=object)
    for at, values in enumerate([data["query"], *(each.values for each in near)]):
        for name, column in zip(view["features"], view["columns"], strict=True):
            table[at, column] = values[name]
    answers = np.empty(len(near) + 1, dtype=object)
    answers[:] = [own, *(each.answer for each in near)]
    often = np.array([0, *(max(len(each.rows), 1) for each in near)])
    target = answers.astype(np.float64) if data["task"] == "regression" else answers
    return TrainingRows(table, target, often=often, scores_at=scores_at)


def _roomy(axis: Axis, given: tuple[float, float]) -> tuple[float, float]:
    """Room for all marks of the outermost categories."""
    if not axis.categories:
        return given
    return min(given[0], -0.5 * axis.gap), max(given[1], axis.gap * (len(axis.lanes) - 0.5))
