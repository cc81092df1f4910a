"""A view of categories as a table of cells: how many rows of each class are in each, and where the case is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planewise.plot.cells import MISSING, CellGrid, Place
from planewise.plot.style import colour
from planewise.plot.views import holds_categories
from planewise.report._view_scene import MOST_NEIGHBOURS, Neighbour, Plane, neighbours_of
from planewise.report._view_shapes import class_form, star
from planewise.report.html import breakable, said
from planewise.words import count, counted, joined, number, shorten, signed

WIDTH, LINE = 52.0, 14.0  # of a cell and of a line in it
MOST_CLASSES = 3  # that have a line of their own in a cell


@dataclass(frozen=True)
class GridDrawing:
    """The cells of a plane with one case in it.

    `tints` gives the colours of numbers; `before` has the case's values before they were changed.
    """

    data: Mapping[str, Any]
    plane: Plane
    names: Sequence[str]  # of the classes
    tints: Any
    before: Mapping[str, Any] | None = None

    def table(self) -> str:
        """All cells, with the names of the categories whole."""
        grid = self._grid
        own = self.plane.cell_of(self.data, self.data["query"])
        before = None if self.before is None else self.plane.cell_of(self.data, self.before)
        near: dict[Place, list[Neighbour]] = {}
        for each in neighbours_of(self.data, most=None):
            at = self.plane.cell_of(self.data, each.values)
            if at is not None:
                near.setdefault(at, []).append(each)
        lines = []
        for line, name in enumerate(grid.lines):
            cells = "".join(self._cell((line, column), own, before, near) for column in range(len(grid.columns)))
            lines.append(f'<tr><th scope="row" dir="auto">{breakable(shorten(name, 60))}</th>{cells}</tr>\n')
        label = f"{self._rows.capitalize()} by {' and '.join(self._axis_names())}"
        return (
            f'<div class="pw-wide" tabindex="0" role="region" aria-label="{said(label)}">\n<table class="pw-grid">\n'
            f"<thead>{self._head()}</thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table></div>\n"
        )

    @property
    def _grid(self) -> CellGrid:
        assert self.plane.grid is not None
        return self.plane.grid

    def notes(self) -> list[str]:
        """What the key says of the numbers."""
        rows = "mean and number of {}" if self._grid.mean is not None else "{} of each class"
        found = [f"numbers: {rows.format(self._rows)}"]
        if self.plane.surface is not None:
            towards = said(f" to the score of {shorten(self.data['prediction'], 30)}") if self.names else ""
            found.append(f"with a sign: what this view adds{towards}")
        if len(self.names) > MOST_CLASSES:
            found.append("+: of all other classes")
        if self.plane.crowd:
            found.append("nearest: how many of them are among the nearest rows")
        return found

    @property
    def _rows(self) -> str:
        return "training rows" if self.plane.crowd else "nearest rows"

    def _axis_names(self) -> list[str]:
        return [shorten(axis.name, 60) for axis in (self._grid.down, self._grid.across) if axis is not None]

    def _head(self) -> str:
        down, *across = self._axis_names()
        corner = f'<th scope="col" dir="auto">{breakable(shorten(down, 60))}</th>'
        if not across:
            return f'<tr>{corner}<th scope="col">{self._rows}</th></tr>'
        columns = self._grid.columns
        names = "".join(f'<th scope="col" dir="auto">{breakable(shorten(name, 60))}</th>' for name in columns)
        name = f'<th scope="colgroup" colspan="{len(columns)}" dir="auto">{breakable(shorten(across[0], 60))}</th>'
        return f"<tr><td></td>{name}</tr>\n<tr>{corner}{names}</tr>"

    # -------------------------------------------------------------------------------------------------------- cells
    def _cell(
        self, at: Place, own: Place | None, before: Place | None, near: Mapping[Place, Sequence[Neighbour]]
    ) -> str:
        nearest, width = near.get(at, []), WIDTH + (18.0 if at in (own, before) else 0.0)
        parts, height = self._contents(at)
        if score := self._score(at):
            parts.append(f'<text x="0" y="{height + 8:g}">{score}</text>')
            height += LINE
        if nearest:
            words = f"{count(n_rows_of(nearest))} nearest"
            badge = 6 + 5.6 * len(words)
            parts.append(
                f'<rect class="pw-badge" x="0.5" y="{height - 1:g}" width="{badge:g}" height="13" rx="6.5"/><text '
                f'class="pw-number" x="{badge / 2 + 0.5:g}" y="{height + 8.5:g}" text-anchor="middle">{words}</text>'
            )
            height, width = height + LINE, max(width, badge + 1)
        if at == own:
            tint = colour(self.plane.place_of(self.data["prediction"])) if self.names else "none"
            parts.append(f'<path class="pw-star" fill="{tint}" d="{star(width - 8, 11, 8)}"/>')
        elif at == before:
            parts.append(f'<path class="pw-ghost" fill="none" stroke-dasharray="2 2" d="{star(width - 8, 11, 8)}"/>')
        for each in reversed(nearest):  # what is picked in a table or another view is outlined here
            parts.append(
                f'<rect class="pw-hold" data-row="{each.key}" x="0" y="0" width="{width:g}" height="{height:g}"/>'
            )
        words = said(self._in_words(at, own, before, nearest), most=2000)
        return (
            f'<td class="{"pw-here" if at == own else "pw-other"}"><svg class="pw-cell" role="img" '
            f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" aria-label="{words}">'
            f"<title>{words}</title>{''.join(parts)}</svg></td>"
        )

    def _contents(self, at: Place) -> tuple[list[str], float]:
        """What is drawn of a cell's rows, and how high it is."""
        grid, n_rows = self._grid, int(self._grid.n_rows[at])
        if not n_rows:
            return [f'<text class="pw-none" x="{WIDTH / 2:g}" y="13" text-anchor="middle">–</text>'], LINE + 4
        if grid.mean is not None:
            words = [number(grid.mean[at], 3), counted(n_rows, "row")]
            texts = [f'<text x="0" y="{20 + LINE * line:g}">{said(each)}</text>' for line, each in enumerate(words)]
            return [_bar([(1.0, self.tints([grid.mean[at]])[0])]), *texts], 10 + 2 * LINE
        counts = grid.by_class[at].tolist()
        out = [_bar([(each / n_rows, colour(place)) for place, each in enumerate(counts)])]
        shown = list(range(len(counts)))
        if len(counts) > MOST_CLASSES:
            shown = sorted((place for place in shown if counts[place]), key=lambda place: -counts[place])[:MOST_CLASSES]
        for line, place in enumerate(shown):
            y = 10 + LINE * line
            out.append(f'<path class="pw-class" fill="{colour(place)}" d="{class_form(place, 6, y + 6, 5)}"/>')
            out.append(f'<text x="15" y="{y + 10:g}">{count(counts[place])}</text>')
        others = n_rows - sum(counts[place] for place in shown)
        if others:
            out.append(f'<text x="0" y="{20 + LINE * len(shown):g}">+{count(others)}</text>')
        return out, 12 + LINE * (len(shown) + bool(others))

    def _score(self, at: Place) -> str:
        """What the view adds for rows of a cell, where views are added up; nothing for categories that share a lane."""
        surface, axes = self.plane.surface, [self._grid.down, self._grid.across]
        values = {}
        for axis, names, lane in zip(axes, (self._grid.lines, self._grid.columns), at, strict=True):
            if axis is not None:
                own = axis.drawn or axis.categories
                if lane >= len(own) and names[lane] != MISSING:
                    return ""
                values[axis.column] = own[lane] if lane < len(own) else None
        return "" if surface is None else signed(surface.score(self.data, values), 2)

    def _in_words(self, at: Place, own: Place | None, before: Place | None, nearest: Sequence[Neighbour]) -> str:
        """Such as "history: none, purpose: car: 3 training rows, 2 good and 1 bad"."""
        grid, n_rows = self._grid, int(self._grid.n_rows[at])
        lanes = [grid.lines[at[0]], grid.columns[at[1]]]
        where = ", ".join(f"{name}: {shorten(lane, 60)}" for name, lane in zip(self._axis_names(), lanes, strict=False))
        rows = self._rows if n_rows != 1 else self._rows.removesuffix("s")
        words = f"{where}. {count(n_rows) if n_rows else 'No'} {rows}"
        if grid.mean is not None and n_rows:
            words += f", mean {number(grid.mean[at])}"
        elif n_rows:
            words += f": {self._classes_in_words(dict(enumerate(grid.by_class[at].tolist())))}"
        if score := self._score(at):
            words += f". The view adds {score}"
        if nearest and self.plane.crowd:
            words += f". {count(n_rows_of(nearest))} of them {'is' if n_rows_of(nearest) == 1 else 'are'} nearest"
            if self.names:
                words += f": {self._classes_in_words(by_answer(nearest, self.plane.labels))}"
        if at in (own, before):
            words += ". This case" + (" is here" if at == own else " was here before the change")
        return words

    def _classes_in_words(self, counts: Mapping[int, int]) -> str:
        return joined([f"{count(each)} {shorten(self.names[place], 30)}" for place, each in counts.items() if each])


def folded(data: Mapping[str, Any]) -> list[list[Neighbour]]:
    """The neighbours, the nearest first; in a view of categories, those with the same values together."""
    near = neighbours_of(data, most=None)
    if not all(holds_categories(each) for each in data["view"]["scaling"][:2]):
        return [[each] for each in near[:MOST_NEIGHBOURS]]
    found: dict[Any, list[Neighbour]] = {}
    for each in near:
        found.setdefault(tuple(each.values.values()), []).append(each)
    return list(found.values())[:MOST_NEIGHBOURS]


def n_rows_of(near: Sequence[Neighbour]) -> int:
    """Equal rows are one neighbour; here they count as many."""
    return sum(max(len(each.rows), 1) for each in near)


def by_answer(near: Sequence[Neighbour], labels: Sequence[Any]) -> dict[int, int]:
    """Rows of each class, by its place."""
    return {place: n_rows_of([each for each in near if each.answer == label]) for place, label in enumerate(labels)}


def _bar(parts: Sequence[tuple[float, str]]) -> str:
    """A bar of shares."""
    out, left = [], 0.0
    for share, tint in parts:
        if share:
            out.append(f'<rect x="{WIDTH * left:.1f}" y="1" width="{WIDTH * share:.1f}" height="5" fill="{tint}"/>')
        left += share
    return "".join(out)
