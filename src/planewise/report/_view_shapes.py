"""Marks of SVG pictures: forms and colours of classes, the same as in the pictures of matplotlib."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from planewise.plot._style import marker

# Cividis in five steps: even to the eye, and the same to colour-blind ones.
SCALE = ((0, 34, 78), (68, 78, 108), (124, 123, 120), (188, 174, 108), (254, 232, 56))


def _turned(corners: int, start: float, inner: float = 1.0) -> list[tuple[float, float]]:
    """Corners on a circle from an angle in degrees on; with `inner`, every other one nearer to its middle."""
    out = []
    for at in range(corners):
        angle = math.radians(start + 360 * at / corners)
        reach = inner if at % 2 else 1.0
        out.append((reach * math.cos(angle), reach * math.sin(angle)))
    return out


def _plus(thin: float) -> list[tuple[float, float]]:
    quarter = [(thin, -1.0), (thin, -thin), (1.0, -thin)]
    out = []
    for turn in range(4):
        for x, y in quarter:
            for _ in range(turn):
                x, y = -y, x
            out.append((x, y))
    return out


_DIAGONAL = [((x - y) * 0.72, (x + y) * 0.72) for x, y in _plus(0.4)]
FORMS: dict[str, list[tuple[float, float]]] = {
    "^": _turned(3, -90),
    "v": _turned(3, 90),
    "<": _turned(3, 180),
    ">": _turned(3, 0),
    "s": [(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)],
    "D": _turned(4, 0),
    "d": [(0.6, 0), (0, 1.1), (-0.6, 0), (0, -1.1)],
    "P": _plus(0.4),
    "X": _DIAGONAL,
    "p": _turned(5, -90),
    "h": _turned(6, 0),
    "*": _turned(10, -90, 0.45),
}


def class_form(place: int, x: float, y: float, size: float) -> str:
    """The path of a class's mark around a point."""
    form = marker(place)
    return circle(x, y, 0.85 * size) if form == "o" else _drawn(_form_tail(form, size), x, y)


def circle(x: float, y: float, size: float) -> str:
    """A circle as a path."""
    return _drawn(_circle_tail(size), x, y)


def star(x: float, y: float, size: float) -> str:
    """A star of five points as a path."""
    return _drawn(_form_tail("*", size), x, y)


Tail = tuple[float, float, str]  # where a path begins, seen from its middle, and how it goes on


def _drawn(tail: Tail, x: float, y: float) -> str:
    return f"M{x + tail[0]:.1f} {y + tail[1]:.1f}{tail[2]}"


@lru_cache(maxsize=256)
def _circle_tail(size: float) -> Tail:
    r, over = _short(size), _short(2 * size)
    return -size, 0.0, f"a{r} {r} 0 1 0 {over} 0a{r} {r} 0 1 0 -{over} 0z"


@lru_cache(maxsize=1024)
def _form_tail(form: str, size: float) -> Tail:
    """Corners of unit size: the first in place, the others from one to the next."""
    steps = np.round(np.array(FORMS[form]) * size, 1)
    moves = " ".join(f"{_short(a)} {_short(b)}" for a, b in np.diff(steps, axis=0))
    return float(steps[0, 0]), float(steps[0, 1]), f"l{moves}z"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0").replace("-0.", "-.").removeprefix("0") or "0"


def scale_colours(share: NDArray[np.float64]) -> list[str]:
    """Colours of numbers from 0 to 1."""
    at = np.clip(np.nan_to_num(share), 0, 1) * (len(SCALE) - 1)
    channels = [np.interp(at, np.arange(len(SCALE)), channel) for channel in zip(*SCALE, strict=True)]
    return [f"#{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in zip(*channels, strict=True)]
