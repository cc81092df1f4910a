"""Where numbers and arrows go in a picture, so that they cover little."""

from __future__ import annotations

import numpy as np

from planewise.plot._view_plane import Numbers

ROOM_OF_MARK, ROOM_OF_STAR, ROOM_OF_BADGE = 11.0, 17.0, 15.0  # least distances between middles
EDGE = 8.0  # no badge comes nearer to the frame
REACHES = (12.5, 18.0, 25.0, 35.0, 47.0)  # the far ones where many rows have the same values
TURNS = np.pi / 8 * np.array([0, 2, -2, 4, -4, 6, -6, 8, 1, -1, 3, -3, 5, -5, 7, -7])


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
