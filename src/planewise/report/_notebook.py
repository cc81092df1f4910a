"""Explanations in notebooks: a piece of HTML whose styles reach nothing else, with a picture that answers the mouse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planewise.export._words import number
from planewise.report import _page

MOST_NEIGHBOURS = 10
WIDTH, HEIGHT, MARGIN = 380, 270, 48

# Every rule begins with our own class; colours follow the notebook's text where it is light or dark.
STYLE = """
.planewise-view { font: 14px/1.45 system-ui, sans-serif; max-width: 48rem; }
.planewise-view table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; }
.planewise-view th, .planewise-view td { text-align: left; padding: .1rem .8rem .1rem 0;
  border-bottom: 1px solid #8885; overflow-wrap: break-word; max-width: 20rem; }
.planewise-view .wide { overflow-x: auto; }
.planewise-view svg { max-width: 100%; height: auto; }
.planewise-view svg text { fill: currentColor; font-size: 11px; }
.planewise-view svg .frame { fill: none; stroke: #8888; }
.planewise-view svg .for { fill: #0072b2; } .planewise-view svg .against { fill: #d55e00; }
.planewise-view svg .query { fill: none; stroke: currentColor; stroke-width: 2; }
.planewise-view svg .mark:hover { stroke: currentColor; stroke-width: 3; }
"""


def explanation_html(data: Mapping[str, Any], sentence: str) -> str:
    """An explanation: its sentence, the view drawn, and the rows that decided."""
    body = [_page.paragraph(sentence)]
    if data["view"] is not None:
        near = _neighbours(data)
        body.append(_picture(data, near))
        body.append(_table(data, near))
    return f'<style>{STYLE}</style>\n<div class="planewise-view">\n' + "\n".join(body) + "\n</div>"


def _neighbours(data: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Neighbours with the side they speak for; those of numbers all decide together."""
    if data["kind"] == "number":
        return [("for", each) for each in data["neighbours"]]
    return [(side, each) for side in ("for", "against") for each in data["neighbours"][side]]


def _answer(each: Mapping[str, Any]) -> str:
    return str(each["label"]) if "label" in each else number(each["target"])


def _table(data: Mapping[str, Any], near: list[tuple[str, Mapping[str, Any]]]) -> str:
    names = data["view"]["features"]
    shown = sorted(near, key=lambda pair: pair[1]["distance"])[:MOST_NEIGHBOURS]
    columns = ["row", "class" if data["kind"] == "class" else "value", "distance", *names]
    rows = [
        [", ".join(map(str, each["rows"])), _answer(each), number(each["distance"], 3), *_values(each["values"], names)]
        for _, each in shown
    ]
    own = ["this case", "", "", *_values(data["query"], names)]
    return _page.table(columns, [own, *rows])


def _values(values: Mapping[str, Any], names: list[str]) -> list[str]:
    return [number(values[name]) if isinstance(values[name], float) else str(values[name]) for name in names]


def _picture(data: Mapping[str, Any], near: list[tuple[str, Mapping[str, Any]]]) -> str:
    """The case and its nearest rows in the first two features of the view; nothing where these are no numbers."""
    names = data["view"]["features"][:2]
    points = [[each.get(name) for name in names] for each in (data["query"], *(each["values"] for _, each in near))]
    if len(names) < 2 or not all(isinstance(value, float) and math.isfinite(value) for at in points for value in at):
        return ""
    across, up = (_places([at[axis] for at in points], axis) for axis in (0, 1))
    marks = [
        _mark(side, x, y, f"row {', '.join(map(str, each['rows']))}: {_answer(each)}, {_where(names, at)}")
        for (side, each), at, x, y in zip(near, points[1:], across[1:], up[1:], strict=True)
    ]
    units = data["view"]["units"]
    titles = [f"{name} [{unit}]" if unit else str(name) for name, unit in zip(names, units, strict=False)]
    return (
        f'<svg role="img" aria-label="{_page.said("The case among its nearest rows: " + " and ".join(titles))}" '
        f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">\n'
        f'<rect class="frame" x="{MARGIN}" y="8" width="{WIDTH - MARGIN - 8}" height="{HEIGHT - MARGIN + 6}"/>\n'
        f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{_page.said(titles[0], 50)}</text>\n'
        f'<text x="12" y="{HEIGHT / 2:.0f}" text-anchor="middle" transform="rotate(-90 12 {HEIGHT / 2:.0f})">'
        f"{_page.said(titles[1], 24)}</text>\n"
        + _ends([at[0] for at in points], [at[1] for at in points])
        + "\n".join(marks)
        + f'\n<circle class="mark query" cx="{across[0]:.1f}" cy="{up[0]:.1f}" r="8">'
        f"<title>{_page.said('this case: ' + _where(names, points[0]))}</title></circle>\n</svg>"
    )


def _ends(across: list[float], up: list[float]) -> str:
    """The least and the greatest value along each side."""
    places = [
        (MARGIN + 12, HEIGHT - 20, "middle", min(across)),
        (WIDTH - 20, HEIGHT - 20, "middle", max(across)),
        (MARGIN - 4, HEIGHT - MARGIN + 4, "end", min(up)),
        (MARGIN - 4, 26, "end", max(up)),
    ]
    return "".join(
        f'<text x="{x}" y="{y}" text-anchor="{anchor}">{number(value, 3)}</text>\n' for x, y, anchor, value in places
    )


def _mark(side: str, x: float, y: float, words: str) -> str:
    """A circle for the answer's side, a triangle for the other: by form as well as by colour."""
    title = f"<title>{_page.said(words)}</title>"
    if side == "for":
        return f'<circle class="mark for" cx="{x:.1f}" cy="{y:.1f}" r="4.5">{title}</circle>'
    corners = f"{x:.1f},{y - 5:.1f} {x - 5:.1f},{y + 4:.1f} {x + 5:.1f},{y + 4:.1f}"
    return f'<polygon class="mark against" points="{corners}">{title}</polygon>'


def _where(names: list[str], at: list[Any]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in zip(names, at, strict=True))


def _places(values: list[float], axis: int) -> list[float]:
    """Where values are drawn, between the frame's sides."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    start, end = (MARGIN + 12, WIDTH - 20) if axis == 0 else (HEIGHT - MARGIN, 22)
    middle = 0.5 if high == low else 0.0
    return [start + ((value - low) / span + middle) * (end - start) for value in values]
