"""What SVG pictures are made of: marks of classes as in the pictures of matplotlib, badges, arrows, shadings."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from planewise.plot.style import marker
from planewise.plot.views import Numbers

ROOM_OF_MARK, ROOM_OF_STAR, ROOM_OF_BADGE = 11.0, 17.0, 15.0  # least distances between middles
EDGE = 8.0  # no badge comes nearer to the frame
REACHES = (12.5, 18.0, 25.0, 35.0, 47.0)  # the far ones where many rows have the same values
TURNS = np.pi / 8 * np.array([0, 2, -2, 4, -4, 6, -6, 8, 1, -1, 3, -3, 5, -5, 7, -7])
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


Tail = tuple[float, float, str]  # where a path begins, seen from its middle, and how it continues


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


def badge_places(points: dict[int, Numbers], star: Numbers, size: tuple[float, float]) -> dict[int, Numbers]:
    """A place for each number beside its mark, away from the star, from other marks and from other numbers."""
    taken = np.array([*points.values(), star])
    room = np.array([ROOM_OF_MARK] * len(points) + [ROOM_OF_STAR])
    out = {}
    for order, point in points.items():
        away = point - star
        turns = np.arctan2(away[1], away[0]) + TURNS
        ways = np.column_stack([np.cos(turns), np.sin(turns)])
        tries = np.concatenate([point + reach * ways for reach in REACHES])
        tries = np.clip(tries, EDGE, np.array(size) - EDGE)
        apart = np.hypot(*np.moveaxis(tries[:, None] - taken, 2, 0))
        best = tries[np.maximum(room - apart, 0).sum(axis=1).argmin()]
        out[order] = best
        taken, room = np.concatenate([taken, best[None]]), np.append(room, ROOM_OF_BADGE)
    return out


def arrow(start: Numbers, end: Numbers) -> str:
    """The path of a line with a head that ends beside the star."""
    way = end - start
    length = float(np.hypot(*way))
    if length < 24:
        return f"M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"
    unit = way / length
    begin, tip, side = start + 9 * unit, end - 12 * unit, np.array([-unit[1], unit[0]])
    one, other = tip - 7 * unit + 4 * side, tip - 7 * unit - 4 * side
    return (
        f"M{begin[0]:.1f} {begin[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}M{one[0]:.1f} {one[1]:.1f}"
        f"L{tip[0]:.1f} {tip[1]:.1f}L{other[0]:.1f} {other[1]:.1f}"
    )


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels of shape (height, width, 4): red, green, blue, opacity."""
    height, width, _ = pixels.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)  # 8 bits a channel, colours with opacity
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def png_address(pixels: NDArray[np.uint8]) -> str:
    """The same as an address that holds the picture itself."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(pixels)).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
