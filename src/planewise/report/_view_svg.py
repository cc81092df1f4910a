"""The view in which a case is decided, as SVG that answers the mouse, fingers and keys by ``view.js``.

The markup holds no script, no handlers and no style attributes, so that pages with a strict content security policy can
show it; without the script it is a picture to read. All of it stands in an element of the class ``planewise-view``
(see :func:`planewise.report.views.block`), to which the rules of ``view.css`` are limited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from planewise._categories import is_missing
from planewise.plot.style import colour
from planewise.plot.views import Axis, Numbers, even_steps, value_in_view
from planewise.report._view_grid import GridDrawing
from planewise.report._view_scene import Box, Neighbour, Scene, TrainingRows, n_neighbours, scene
from planewise.report._view_shapes import arrow, badge_places, circle, class_form, scale_colours, star
from planewise.report.html import said
from planewise.words import class_names, count, name_in_lines, number, shorten, tidy, value_in_words

MAX_POINTS = 1500  # rows that are drawn beside the neighbours
MOST_NEAR = 400  # of these in the close-up
MOST_IN_KEY = 12
MOST_CATEGORIES = 200  # whose names a row's words may hold
MOST_CLASSES = 30  # whose names stand beside their lanes
WIDTH, HEIGHT, TOP, RIGHT, BOTTOM = 420.0, 264.0, 10.0, 10.0, 46.0  # the height is the least of the frame
LETTER, LINE = 6.6, 13.0  # width of one, about, and height of a line
LONGEST_LINE = 18  # letters of a name up the side
Ticks = list[tuple[float, list[str]]]  # where, and lines of text


def view_figure(
    data: Mapping[str, Any],
    rows: Any,
    target: Any = None,
    *,
    ident: str,
    classes: Sequence[Any] | Mapping[Any, Any] | None = None,
    moved_from: Mapping[str, Any] | None = None,
    most_points: int = MAX_POINTS,
) -> str:
    """One case in a view: the training rows, the ratio shaded underneath, and the numbered rows that decided.

    Parameters
    ----------
    data : dict
        What ``data()`` or ``data_in()`` of a ProjectionExplanation gives.
    rows, target : training table and targets, or a TrainingRows and None
        A TrainingRows remembers what is the same for all cases. None and None: neighbours alone are drawn.
    ident : str
        An id for the figure, unlike any other on the page.
    classes : list or mapping, default=None
        Names of the classes in their order, or {label: name}.
    moved_from : dict, default=None
        The case's values before they were changed: {feature: value}. They are drawn as a ghost with an arrow.
    most_points : int, default=1500
        How many training rows are drawn at most; the figure says so if there are more.
    """
    check_ident(ident)
    if data["view"] is None:
        return (
            f'<p class="pw-note" id="{ident}">{said("; ".join(data.get("reasons") or ["No view can judge it"]))}.</p>'
        )
    training = rows if isinstance(rows, TrainingRows) else TrainingRows(rows, target)
    shown = scene(data, training, moved_from)
    names = [shorten(name, 60) for name in class_names(shown.plane.labels, classes)] if shown.plane.labels else []
    drawing = _Drawing(data, shown, names, most_points)
    if shown.plane.grid is not None:
        panels = [drawing.grid(moved_from).table()]
    else:
        panels = [drawing.panel(shown.whole, "The whole view", outline=shown.near, numbered=shown.near is None)]
    if shown.plane.grid is None and shown.near is not None:
        panels.append(drawing.panel(shown.near, "Around this case", numbered=True))
    return (
        f'<figure class="pw-figure" id="{ident}">\n<div class="pw-panels">\n{"".join(panels)}</div>\n'
        f"{drawing.key()}\n<figcaption>{said(drawing.caption(), most=2000)}</figcaption>\n</figure>"
    )


def check_ident(ident: str) -> None:
    """Ids go into markup as they are."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,80}", ident):
        raise ValueError(f"ident must be a letter followed by letters, digits, - or _; got {ident!r}.")


@dataclass(frozen=True)
class _Frame:
    """Where a box of the plane lies in a picture."""

    box: Box
    left: float
    height: float

    @property
    def width(self) -> float:
        return WIDTH - self.left - RIGHT

    def points(self, places: Numbers) -> Numbers:
        """Places as points inside the frame."""
        left, right, bottom, top = self.box
        at = np.atleast_2d(places)
        x, y = (at[:, 0] - left) / (right - left), (top - at[:, 1]) / (top - bottom)
        return np.column_stack([x * self.width, y * self.height])


@dataclass(frozen=True)
class _Drawing:
    data: Mapping[str, Any]
    scene: Scene
    names: list[str]  # of the classes
    most_points: int

    # ------------------------------------------------------------------------------------------------------- panels
    def grid(self, moved_from: Mapping[str, Any] | None = None) -> GridDrawing:
        """The cells that stand for panels where all axes hold categories."""
        return GridDrawing(self.data, self.scene.plane, self.names, self.tints, moved_from)

    def panel(self, box: Box, title: str, *, outline: Box | None = None, numbered: bool) -> str:
        """One SVG: the whole view, or what is near."""
        plane = self.scene.plane
        ticks_x = _ticks(plane.axes[0], box[0], box[1], 6)
        ticks_y = self._ticks_up(box)
        longest = max((len(line) for _, lines in ticks_y for line in lines), default=0)
        frame = _Frame(box, 34.0 + LETTER * max(longest, 2), _height_for(ticks_y, box))
        height = TOP + frame.height + BOTTOM
        label = f"{title}: {' and '.join(self._axis_names())}"
        parts = [self._axes(frame, ticks_x, ticks_y)]
        parts.append(
            f'<svg class="pw-plot" x="{frame.left:g}" y="{TOP:g}" width="{frame.width:g}" height="{frame.height:g}" '
            f'viewBox="0 0 {frame.width:g} {frame.height:g}">\n'
        )
        shading = plane.shading(self.data, box)
        if shading is not None:
            parts.append(
                f'<image width="{frame.width:g}" height="{frame.height:g}" preserveAspectRatio="none" '
                f'href="{shading}"/>\n'
            )
        most = self.most_points if outline is not None or self.scene.near is None else MOST_NEAR
        parts.append(self._crowd(frame, min(most, self.most_points), 2.6 if outline is not None else 3.4))
        parts.append(self._border(frame))
        parts.append(self._outline(frame, outline))
        parts.append(self._joins(frame))
        parts.append(self._marks(frame, numbered))
        parts.append(self._case(frame))
        parts.append("</svg>\n")
        return (
            f'<svg class="pw-view" role="group" aria-label="{said(label)}" viewBox="0 0 {WIDTH:g} {height:g}" '
            f'width="{WIDTH:g}" height="{height:g}">\n{"".join(parts)}</svg>\n'
        )

    def _axis_names(self) -> list[str]:
        plane = self.scene.plane
        if plane.lanes:
            return [plane.axes[0].name, "classes" if plane.labels else "value"]
        return [axis.name for axis in plane.axes[:2]]

    def _ticks_up(self, box: Box) -> Ticks:
        plane = self.scene.plane
        if not plane.lanes:
            return _ticks(plane.axes[1], box[2], box[3], 5)
        if plane.labels:
            return _thinned([(float(at), _lines(name)) for at, name in enumerate(self.names)], MOST_CLASSES)
        return [(float(at), [number(at)]) for at in even_steps(box[2], box[3], 5)]

    def _axes(self, frame: _Frame, across: Ticks, up: Ticks) -> str:
        names = [*self._axis_names(), ""]
        if self.scene.plane.lanes and self.scene.plane.labels:
            names[1] = ""  # the classes' names say it
        bottom, middle = TOP + frame.height, TOP + frame.height / 2
        out = [
            f'<rect class="pw-frame" x="{frame.left:g}" y="{TOP:g}" width="{frame.width:g}" '
            f'height="{frame.height:g}" fill="none"/>\n'
        ]
        for at, lines in across:
            x = frame.left + float(frame.points(np.array([at, 0.0]))[0, 0])
            out.append(f'<path class="pw-tick" d="M{x:.1f} {bottom:g}v4"/>')
            half, end = LETTER * len(lines[0]) / 2, WIDTH - 1
            where = f'x="{end:g}" y="{bottom + 16:g}" text-anchor="end"'  # a wide one stays inside the picture
            if x + half < end:
                where = f'x="{x:.1f}" y="{bottom + 16:g}" text-anchor="middle"'
            out.append(f"<text {where}>{said(lines[0])}</text>\n")
        for at, lines in up:
            y = TOP + float(frame.points(np.array([0.0, at]))[0, 1])
            out.append(f'<path class="pw-tick" d="M{frame.left:g} {y:.1f}h-4"/>')
            for line, words in enumerate(lines):
                at_y = y + 4 + LINE * (line - (len(lines) - 1) / 2)
                out.append(f'<text x="{frame.left - 7:g}" y="{at_y:.1f}" text-anchor="end">{said(words)}</text>\n')
        out.append(
            f'<text class="pw-name" x="{frame.left + frame.width / 2:g}" y="{bottom + BOTTOM - 8:g}" '
            f'text-anchor="middle">{said(shorten(names[0], 52))}</text>\n'
        )
        out.append(
            f'<text class="pw-name" x="12" y="{middle:g}" text-anchor="middle" transform="rotate(-90 12 {middle:g})">'
            f"{said(shorten(names[1], 38))}</text>\n"
        )
        return "".join(out)

    # --------------------------------------------------------------------------------------------------------- rows
    def _crowd(self, frame: _Frame, most: int, size: float) -> str:
        """The training rows: forms by class for the eye, and their numbers packed for the script's words."""
        plane = self.scene.plane
        chosen = plane.within(frame.box, most)
        if not len(chosen):
            return ""
        points, target = frame.points(plane.rows[chosen]), plane.target[chosen]
        size *= float(np.clip(np.sqrt(900 / len(chosen)), 0.75, 1.0))
        out = [f'<g class="pw-rows" data-rows="{self._packed(chosen, points)}" data-words="{self._words()}">\n']
        if plane.labels:
            for place in np.unique(target).tolist():
                path = "".join(class_form(place, x, y, size) for x, y in points[target == place])
                out.append(f'<path fill="{colour(place)}" d="{path}"/>\n')
        else:
            tints = self.tints(target)
            for tint in dict.fromkeys(tints):
                path = "".join(circle(x, y, size) for (x, y), own in zip(points, tints, strict=True) if own == tint)
                out.append(f'<path fill="{tint}" d="{path}"/>\n')
        return "".join(out) + "</g>\n"

    def _packed(self, chosen: Any, points: Numbers) -> str:
        """Of each row: x, y, class or number, row number, and its values; categories by their places."""
        plane = self.scene.plane
        columns = [_coded(axis, values[chosen]) for axis, values in zip(plane.axes, plane.values, strict=True)]
        names = np.full(len(chosen), "", dtype=object) if plane.numbers is None else plane.numbers[chosen]
        answers = plane.target[chosen] if plane.labels else [f"{each:.4g}" for each in plane.target[chosen]]
        rows = zip(points, answers, names, *columns, strict=True)
        return ";".join(f"{at[0]:.0f},{at[1]:.0f}," + ",".join(map(str, rest)) for at, *rest in rows)

    def _words(self) -> str:
        plane = self.scene.plane
        words = {
            "axes": [shorten(axis.name, 60) for axis in plane.axes],
            "classes": self.names,
            "categories": [[shorten(each, 40) for each in axis.categories[:MOST_CATEGORIES]] for axis in plane.axes],
        }
        return said(json.dumps(words, ensure_ascii=False), most=None)

    def tints(self, target: Any) -> list[str]:
        """Colours of numbers, in a few steps so that rows of one colour share a path."""
        low, high = self._range()
        share = (np.asarray(target, dtype=np.float64) - low) / ((high - low) or 1.0)
        return scale_colours(np.round(np.clip(share, 0, 1) * 24) / 24)

    def _range(self) -> tuple[float, float]:
        target = self.scene.plane.target.astype(np.float64)
        return float(target.min()), float(target.max())

    # -------------------------------------------------------------------------------------------- the case and why
    def _border(self, frame: _Frame) -> str:
        """Where the answer of the whole model changes; of one feature and numbers, its prediction as a curve."""
        plane = self.scene.plane
        if plane.surface is None:
            return ""
        if plane.lanes and not plane.labels:
            x = np.linspace(frame.box[0], frame.box[1], 2 * int(frame.width))
            points = frame.points(np.column_stack([x, plane.surface.curve(self.data, x)]))
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        else:
            ends = plane.surface.border(self.data, frame.box)
            pieces = frame.points(ends.reshape(-1, 2)).reshape(-1, 4)
            path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in pieces)
        return f'<path class="pw-border" fill="none" d="{path}"/>\n' if path else ""

    def _has_border(self) -> bool:
        plane = self.scene.plane
        if plane.surface is None or plane.grid is not None:
            return False
        is_curve = plane.lanes and not plane.labels
        return is_curve or len(plane.surface.border(self.data, self.scene.whole)) > 0

    def _border_in_words(self) -> str:
        plane = self.scene.plane
        if plane.labels:
            return "where the whole model's answer changes, other columns as in this case"
        if plane.lanes:
            return "prediction of the whole model, other columns as in this case"
        return "where the whole model predicts the same as for this case, other columns as in it"

    def _outline(self, frame: _Frame, box: Box | None) -> str:
        if box is None:
            return ""
        (x, y), (end, low) = frame.points(np.array([[box[0], box[3]], [box[1], box[2]]]))
        return (
            f'<rect class="pw-near" x="{x:.1f}" y="{y:.1f}" width="{end - x:.1f}" height="{low - y:.1f}" '
            'fill="none" stroke-dasharray="5 3"/>\n'
        )

    def _joins(self, frame: _Frame) -> str:
        (x, y) = frame.points(self.scene.at)[0]
        out = []
        for each in self.scene.neighbours:
            if np.isfinite([x, y, *each.at]).all():
                end = frame.points(each.at)[0]
                dash = ' stroke-dasharray="1.5 3"' if each.side == "against" else ""
                out.append(
                    f'<path class="pw-join pw-{each.side}" data-row="{each.key}" fill="none"{dash} '
                    f'd="M{x:.1f} {y:.1f}L{end[0]:.1f} {end[1]:.1f}"/>\n'
                )
        return "".join(out)

    def _marks(self, frame: _Frame, numbered: bool) -> str:
        """Neighbours, the farthest first, so that the nearest lie on top; badges last, over all marks."""
        shown = [each for each in self.scene.neighbours if np.isfinite(each.at).all()]
        points = {each.order: frame.points(each.at)[0] for each in shown}
        badges = badge_places(points, frame.points(self.scene.at)[0], (frame.width, frame.height)) if numbered else {}
        out = []
        for each in reversed(shown):
            x, y = points[each.order]
            place = self.scene.plane.place_of(each.answer) if self.names else 0
            tint = colour(place) if self.names else self.tints([each.answer])[0]
            size = 5.2 if numbered else 3.6
            form = class_form(place, x, y, size) if self.names else circle(x, y, 0.85 * size)
            badge = ""
            if numbered:
                at = badges[each.order]
                badge = (
                    f'<circle class="pw-badge" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="7.2"/>'
                    f'<text class="pw-number" x="{at[0]:.1f}" y="{at[1] + 3.2:.1f}" text-anchor="middle">'
                    f"{each.order}</text>"
                )
            focus = ' tabindex="0" role="button" aria-pressed="false"' if numbered else ""
            out.append(
                f'<g class="pw-mark pw-{each.side}"{focus} data-row="{each.key}"><title>'
                f"{said(self.neighbour_in_words(each))}</title>"
                f'<circle class="pw-hit" cx="{x:.1f}" cy="{y:.1f}" r="9" fill-opacity="0"/>'
                f'<path class="pw-form" fill="{tint}" d="{form}"/>{badge}</g>\n'
            )
        return "".join(out)

    def _case(self, frame: _Frame) -> str:
        """The case's star, and where it was before a change."""
        if not np.isfinite(self.scene.at).all():
            return ""
        x, y = frame.points(self.scene.at)[0]
        out = []
        if self.scene.before is not None:
            old = frame.points(self.scene.before)[0]
            out.append(
                f'<g class="pw-before"><title>{said("before the change")}</title>'
                f'<path class="pw-ghost" fill="none" stroke-dasharray="2 2" d="{star(old[0], old[1], 9)}"/>'
                f'<path class="pw-arrow" fill="none" d="{arrow(old, np.array([x, y]))}"/></g>\n'
            )
        tint = "#ffffff"
        if self.names:
            tint = colour(self.scene.plane.place_of(self.data["prediction"]))
        elif self.scene.plane.crowd:
            tint = self.tints([self.data["prediction"]])[0]
        out.append(
            f'<g class="pw-case"><title>{said(self._case_in_words())}</title>'
            f'<path class="pw-star" fill="{tint}" d="{star(x, y, 10)}"/></g>\n'
        )
        return "".join(out)

    # -------------------------------------------------------------------------------------------------------- words
    def _values_in_words(self, values: Mapping[str, Any]) -> str:
        view = self.data["view"]
        parts = []
        for name, unit, scaling in zip(view["features"], view["units"], view["scaling"], strict=True):
            value = shorten(value_in_view(values.get(name), scaling), 40)
            parts.append(f"{shorten(name, 40)} {value}" + (f" {shorten(unit, 12)}" if unit else ""))
        return ", ".join(parts)

    def neighbour_in_words(self, each: Neighbour) -> str:
        """What stands under the mouse."""
        answer = self.names[self.scene.plane.place_of(each.answer)] if self.names else value_in_words(each.answer, 4)
        values = self._values_in_words(each.values)
        return f"{each.order}. training row {each.names()}: {answer}; {values}; distance {number(each.distance, 3)}"

    def _case_in_words(self) -> str:
        return f"this case: {self._values_in_words(self.data['query'])}"

    def caption(self) -> str:
        """What the picture shows, and what it does not."""
        plane, words = self.scene.plane, []
        if len(plane.axes) > 2:
            drawn = " × ".join(shorten(axis.name, 40) for axis in plane.axes[:2])
            name = self.data["view"]["features"][2]
            own = shorten(plane.axes[2].in_words(self.data["query"].get(name)), 40)
            near = [shorten(plane.axes[2].in_words(each.values.get(name)), 20) for each in self.scene.neighbours[:8]]
            words.append(
                f"Drawn are {drawn}; the view has {shorten(plane.axes[2].name, 40)} too: this case {own}, "
                f"its nearest rows {', '.join(near)}, so that rows which look near may be far."
            )
        if plane.grid is not None:
            return " ".join([*words, *self._grid_caption()])
        if plane.crowd:
            known, drawn_rows = len(plane.rows), len(plane.within(self.scene.whole, self.most_points))
            if drawn_rows < known:
                words.append(f"{count(drawn_rows)} of {count(known)} training rows are drawn.")
        if plane.surface is not None and plane.grid is None and not self._has_border():
            same = "answer" if plane.labels else "prediction"
            words.append(f"With the other columns as in this case, the whole model's {same} changes nowhere here.")
        if not np.isfinite(self.scene.at).all():
            words.append("This case has a value that no training row had, and cannot be drawn.")
        listed = len(self.scene.neighbours)
        every = n_neighbours(self.data)
        if listed < every:
            words.append(f"{listed} of {count(every)} neighbours are drawn.")
        if any(axis.tails for axis in plane.axes[:2]):
            words.append(
                "Axes with long tails are drawn closer towards their ends; the numbers on them are the data's own."
            )
        return " ".join(words)

    def _grid_caption(self) -> list[str]:
        words = []
        if self.scene.plane.cell_of(self.data, self.data["query"]) is None:
            words.append("This case has a value that no training row had, and cannot be drawn.")
        if any(len(each.rows) > 1 for each in self.scene.neighbours):
            words.append(
                "Training rows that are equal in all columns and in the target count as one of the nearest rows, with "
                "the sum of their weights; here, each of them is counted."
            )
        return words

    def key(self) -> str:
        """What forms, colours and lines mean."""
        plane = self.scene.plane
        entries = []
        for place, name in enumerate(self.names[:MOST_IN_KEY]):
            entries.append((f'<path fill="{colour(place)}" d="{class_form(place, 8, 7, 5)}"/>', name))
        if len(self.names) > MOST_IN_KEY:
            entries.append(("", f"and {len(self.names) - MOST_IN_KEY} more"))
        if not self.names and plane.crowd:
            low, high = self._range()
            for share, value in ((0.0, low), (0.5, (low + high) / 2), (1.0, high)):
                tint = scale_colours(np.array([share]))[0]
                entries.append((f'<path fill="{tint}" d="{circle(8, 7, 4.5)}"/>', number(value)))
        entries.append((f'<path class="pw-star" fill="none" d="{star(8, 7, 6)}"/>', "this case"))
        sides = {each.side for each in self.scene.neighbours} if plane.grid is None else set()
        if "for" in sides:
            words = "nearest rows of its class" if self.names else "nearest rows"
            entries.append(('<path class="pw-join" fill="none" d="M0 7h16"/>', words))
        if "against" in sides:
            entries.append(
                ('<path class="pw-join" fill="none" stroke-dasharray="1.5 3" d="M0 7h16"/>', "nearest rows of others")
            )
        if self._has_border():
            entries.append(('<path class="pw-border" fill="none" d="M0 7h16"/>', self._border_in_words()))
        items = "".join(
            '<li><svg width="16" height="14" viewBox="0 0 16 14" aria-hidden="true">'
            f'{drawn}</svg> <span dir="auto">{said(tidy(words))}</span></li>'
            for drawn, words in entries
        )
        note = ""
        if plane.shading(self.data, self.scene.whole) is not None:
            note = f"<li>shading: {self._shading_in_words()}</li>"
        if plane.grid is not None:
            note = "".join(f"<li>{each}</li>" for each in self.grid().notes())
        return f'<ul class="pw-key">{items}{note}</ul>'

    def _shading_in_words(self) -> str:
        if self.scene.plane.surface is None:
            return "the nearer class; the stronger, the clearer"
        if self.names:
            return "the class that this view speaks for; the stronger, the higher its score"
        return "what this view alone predicts"


def _ticks(axis: Axis, low: float, high: float, most: int) -> Ticks:
    at, words = axis.ticks(low, high, most)
    inside = [(float(x), _lines(text)) for x, text in zip(at, words, strict=True) if low <= x <= high]
    if axis.categories:
        return inside
    return _thinned(inside, max(2, int(400 / (LETTER * (2 + max((len(text[0]) for _, text in inside), default=1))))))


def _lines(name: str) -> list[str]:
    return name_in_lines(name, lambda line: len(line) <= LONGEST_LINE)


def _height_for(ticks: Ticks, box: Box) -> float:
    """Height of a frame in which lines of neighbouring ticks keep apart."""
    needed = [
        ((len(a) + len(b)) / 2 * LINE + 4) * (box[3] - box[2]) / abs(at - before)
        for (before, a), (at, b) in pairwise(ticks)
    ]
    return max(HEIGHT, *needed) if needed else HEIGHT


def _thinned(ticks: Ticks, most: int) -> Ticks:
    """Every so many-th of them, if they are too many to be read."""
    return ticks[:: -(-len(ticks) // most)] if len(ticks) > most else ticks


def _coded(axis: Axis, values: Any) -> list[str]:
    """Values as numbers or dates, which need no escaping, nothing for what is missing; categories by their places.

    One beyond those whose names are there has the place after them all.
    """
    if axis.kind is not None and not axis.categories:
        return ["" if is_missing(value) else axis.in_words(value) for value in values.tolist()]
    if not axis.categories:
        return ["" if is_missing(value) else f"{float(value):.4g}" for value in values.tolist()]
    named = axis.categories[:MOST_CATEGORIES]
    place = {word: at for at, word in enumerate(named)}
    return ["" if is_missing(value) else str(place.get(axis.word(value), len(named))) for value in values.tolist()]
