"""Planes as short formulas in the user's units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planewise._planes import normal_form
from planewise.plot._drawn_tree import DrawnTree, Plane
from planewise.plot._words import MINUS, number, shorten, tidy

MOST_CATEGORIES = 4


def formula(
    plane: Plane, names: Sequence[str], categories: Mapping[int, Sequence[Any]] | None = None, most: int = 24
) -> list[str]:
    """The words of a plane, one term each, to be joined by spaces or lines; names have at most `most` letters.

    In its normal form: the largest weight needs no number, and a single term stands alone.

    >>> formula(Plane((0, 1), (2.0, -1.0), 3.0), ["length", "width"])
    ['length', '− 0.5·width', '≥ 1.5']
    >>> formula(Plane((1,), (-2.0,), 3.0), ["length", "width"])
    ['width', '≤ −1.5']
    """
    if plane.categories is not None:
        return _membership(plane, names, categories, most)
    form = normal_form(plane.weights, plane.threshold)
    words = []
    for place, (term, weight) in enumerate(zip(form.order, form.weights, strict=True)):
        name = shorten(names[plane.features[term]], most)
        size = "" if abs(abs(weight) - 1) < 5e-4 else f"{number(abs(weight))}·"
        sign = "" if place == 0 else ("+ " if weight > 0 else f"{MINUS} ")
        words.append(f"{sign}{size}{name}")
    relation = ("<" if form.turned else ">") if plane.strict else ("≤" if form.turned else "≥")
    return [*words, f"{relation} {number(form.threshold)}"]


def _membership(
    plane: Plane, names: Sequence[str], categories: Mapping[int, Sequence[Any]] | None, most: int
) -> list[str]:
    column = plane.features[0]
    known = (categories or {}).get(column)
    members = [tidy(code if known is None else known[code]) for code in plane.categories or ()]
    shown = [shorten(member, max(4, most // 2)) for member in members[:MOST_CATEGORIES]]
    more = f", … {len(members)} in all" if len(members) > MOST_CATEGORIES else ""
    relation = "in" if plane.members_right else "not in"
    return [shorten(names[column], most), f"{relation} {{{', '.join(shown)}{more}}}"]


def sides(codes: Sequence[int], n_planes: int, letters: str = "ABCDEFGH") -> str:
    """By which sides of the node's planes a cell is reached: ✓ for the right one, ✗ for the other.

    >>> sides([1], 2), sides([0, 2], 2), sides([1, 2], 2), sides([1], 1)
    ('A✓B✗', 'A✗', 'A✓B✗ or A✗B✓', 'yes')
    """
    if n_planes == 1:
        return "yes" if codes[0] else "no"
    fixed = [k for k in range(n_planes) if len({code >> k & 1 for code in codes}) == 1]
    if len(codes) == 2 ** (n_planes - len(fixed)):
        return _sides_of(codes[0], fixed, letters)
    return " or ".join(_sides_of(code, range(n_planes), letters) for code in codes)


def _sides_of(code: int, planes: Sequence[int], letters: str) -> str:
    return "".join(f"{letters[k]}{'✓' if code >> k & 1 else '✗'}" for k in planes)


def wrap(words: Sequence[str], fits: Any) -> list[str]:
    """Lines of as many words as `fits(line)` allows, at least one each."""
    lines: list[str] = []
    for word in words:
        if lines and fits(f"{lines[-1]} {word}"):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def categories_of(estimator: Any) -> Mapping[int, Sequence[Any]]:
    """The categories of the estimator's categorical columns."""
    known = getattr(estimator, "categories_", None)
    return known if isinstance(known, dict) else {}  # an encoder's are a list


def all_formulas(
    tree: DrawnTree, names: Sequence[str], categories: Mapping[int, Sequence[Any]] | None = None, most: int = 24
) -> list[list[list[str]]]:
    """The words of every plane of every node."""
    return [[formula(plane, names, categories, most) for plane in planes] for planes in tree.planes]
