"""One way to write a plane, for text, reports and pictures: which term comes first, and what it is divided by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planewise._text import MINUS, number, number_to, shorten, step_from, tidy
from planewise.data.float32 import LARGEST, Origins
from planewise.data.values import Columns


@dataclass(frozen=True)
class Plane:
    """A row is on the right side when its weighted sum reaches the threshold (`strict`: exceeds it).

    On a categorical column: when its category is among `categories` (or is not, unless `members_right`).
    """

    features: tuple[int, ...]
    weights: tuple[float, ...]
    threshold: float
    categories: tuple[int, ...] | None = None
    strict: bool = False
    missing_right: bool = False
    members_right: bool = True
    origins: tuple[float, ...] = ()  # of the columns, where some are not zero

    @property
    def shift(self) -> float:
        """The part of the threshold that comes from the origins."""
        return sum(weight * origin for weight, origin in zip(self.weights, self.origins, strict=bool(self.origins)))

    @property
    def is_relative(self) -> bool:
        """Whether it is written with differences from origins: rounded weights times large numbers say nothing."""
        return len(self.features) > 1 and any(self.origins)


def read_plane(trees: Any, place: int, origins: Origins | None = None) -> Plane:
    """A plane of fitted trees, by its place among all of them, in the user's units.

    `origins` are the estimator's ``feature_origins_``.
    """
    terms = slice(trees.term_start[place], trees.term_start[place + 1])
    members: Sequence[int] = trees.set_category[trees.set_start[place] : trees.set_start[place + 1]].tolist()
    features, weights = trees.term_feature[terms].tolist(), trees.term_weight[terms].tolist()
    starts = tuple((origins or {}).get(feature, 0.0) for feature in features)
    shift = sum(weight * start for weight, start in zip(weights, starts, strict=True))
    return Plane(
        tuple(features),
        tuple(weights),
        float(trees.threshold[place]) + shift,
        tuple(members) or None,
        missing_right=bool(trees.missing_right[place]),
        members_right=not members or bool(trees.term_weight[terms][0] >= trees.threshold[place]),
        origins=starts if any(starts) else (),
    )


@dataclass(frozen=True)
class NormalForm:
    """A plane divided so that its largest weight is one: "at least", or "at most" if it was turned round."""

    order: tuple[int, ...]  # of the terms: the first has a plus sign
    weights: tuple[float, ...]  # in that order
    threshold: float
    divisor: float  # by which a row's sum is divided, too
    turned: bool


def normal_form(weights: Iterable[Any], threshold: Any) -> NormalForm:
    """Terms with a plus sign first, the largest weight one, and no plane with minus signs alone.

    >>> form = normal_form([-2.0, 4.0], 6.0)
    >>> form.order, form.weights, form.threshold, form.turned
    ((1, 0), (1.0, -0.5), 1.5, False)
    >>> normal_form([-2.0], 3.0).threshold, normal_form([-2.0], 3.0).turned
    (-1.5, True)
    """
    plain = [float(weight) for weight in weights]
    turned = max(plain) <= 0
    divisor = max(map(abs, plain)) * (-1.0 if turned else 1.0)
    divided = [weight / divisor for weight in plain]
    order = tuple(sorted(range(len(plain)), key=lambda term: divided[term] < 0))
    return NormalForm(order, tuple(divided[term] for term in order), float(threshold) / divisor, divisor, turned)


def plane_in_words(plane: Plane, columns: Columns) -> str:
    """What lies on the right side of a plane, for text.

    >>> plane_in_words(Plane((0, 1), (2.0, -1.0), 3.0, missing_right=True), Columns(["length", "width"]))
    'length − 0.5·width ≥ 1.5 or missing'
    >>> columns = Columns(["length", "seconds"])
    >>> plane_in_words(Plane((0, 1), (1.0, 0.5), 2 + 8.5e8, origins=(0.0, 1.7e9)), columns)
    'length + 0.5·(seconds − 1,700,000,000) ≥ 2'
    """
    if plane.categories is not None:
        words = _membership(plane, columns, longest=None, n_shown=8)
    else:
        words = _terms(plane, columns, longest=None, digits=4, threshold_digits=6)
    return " ".join([*words, *(["or missing"] if plane.missing_right else [])])


def formula(plane: Plane, columns: Columns, longest: int = 24) -> list[str]:
    """The same for pictures: fewer digits and short names, in words to be joined by spaces or lines.

    >>> formula(Plane((0, 1), (2.0, -1.0), 3.0), Columns(["length", "width"]))
    ['length', '− 0.5·width', '≥ 1.5']
    >>> formula(Plane((1,), (-2.0,), 3.0), Columns(["length", "width"]))
    ['width', '≤ −1.5']
    """
    if plane.categories is not None:
        return _membership(plane, columns, longest, n_shown=4)
    words = _terms(plane, columns, longest, digits=3, threshold_digits=3)
    return [part for word in words for part in word.replace("(days from ", "(days from\n").split("\n")]


def _terms(plane: Plane, columns: Columns, longest: int | None, digits: int, threshold_digits: int) -> list[str]:
    plane = counted_from(plane, columns)
    form = plane_form(plane)
    named = [_term(_short(columns.names[plane.features[term]], longest), plane, term, columns) for term in form.order]
    return [*_weighted(form.weights, named, digits), _bound(plane, form, threshold_digits, columns)]


def counted_from(plane: Plane, columns: Columns) -> Plane:
    """The plane with origins for its dates, if it weighs several columns: sums then count days from these."""
    if len(plane.features) == 1 or not any(feature in columns.kinds for feature in plane.features):
        return plane
    known = plane.origins or (0.0,) * len(plane.features)
    starts = tuple(
        columns.kinds[feature].offset if feature in columns.kinds else origin
        for feature, origin in zip(plane.features, known, strict=True)
    )
    return replace(plane, origins=starts)


def plane_form(plane: Plane) -> NormalForm:
    """The normal form that a plane is written in."""
    return normal_form(plane.weights, plane.threshold - plane.shift if plane.is_relative else plane.threshold)


def _term(name: str, plane: Plane, term: int, columns: Columns) -> str:
    """What the weight of a term is multiplied by: a column, days, whether a boolean is true, or from an origin on."""
    kind = columns.kinds.get(plane.features[term])
    if not len(plane.features) > 1:
        return name
    if kind is not None:
        return kind.term(name)
    origin = plane.origins[term] if plane.is_relative else 0.0
    return f"({name} {'+' if origin < 0 else MINUS} {number_to(abs(origin), math.ulp(origin))})" if origin else name


def _bound(plane: Plane, form: NormalForm, digits: int, columns: Columns) -> str:
    """The threshold with its relation; only infinities are beyond the largest numbers."""
    strict, threshold = plane.strict, plane.threshold - plane.shift
    kind = columns.kinds.get(plane.features[0]) if len(plane.features) == 1 else None
    shown = None
    if abs(threshold) >= LARGEST:
        strict = threshold < 0
        shown = f"{MINUS if (threshold < 0) != form.turned else ''}∞"
    relation = ("<" if form.turned else ">") if strict else ("≤" if form.turned else "≥")
    if kind is not None and shown is None:
        return kind.relation(relation, form.threshold)
    if shown is None:
        step = threshold_step(plane, digits)
        shown = number(form.threshold, digits) if step is None else number_to(form.threshold, step)
    return f"{relation} {shown}"


def threshold_step(plane: Plane, digits: int) -> float | None:
    """The step to which a threshold that includes an origin is written, in normal form; None without an origin."""
    if plane.shift == 0 or plane.is_relative:
        return None
    form = normal_form(plane.weights, plane.threshold)
    return step_from(plane.shift / form.divisor, form.threshold, digits)


def _short(name: str, longest: int | None) -> str:
    return name if longest is None else shorten(name, longest)


def _weighted(weights: Sequence[Any], names: Sequence[str], digits: int) -> list[str]:
    """A weight of one is not written."""
    words: list[str] = []
    for weight, name in zip(weights, names, strict=True):
        size = number(abs(float(weight)), digits)
        minus, plus = (f"{MINUS} ", "+ ") if words else (MINUS, "")
        words.append(f"{minus if weight < 0 else plus}{name if size == '1' else f'{size}·{name}'}")
    return words


def linear_sum(weights: Sequence[Any], names: Sequence[str]) -> str:
    """Such as 0.8·alcohol − 0.3·ash."""
    return " ".join(_weighted(weights, names, digits=4))


def _membership(plane: Plane, columns: Columns, longest: int | None, n_shown: int) -> list[str]:
    """Such as "town is Ulm", or "town in {Bonn, Ulm}"."""
    column = plane.features[0]
    known = columns.categories.get(column)
    members = [tidy(code if known is None else known[code]) for code in plane.categories or ()]
    shown = [_short(member, None if longest is None else max(4, longest // 2)) for member in members[:n_shown]]
    name = _short(columns.names[column], longest)
    if len(members) == 1:
        return [name, f"{'is' if plane.members_right else 'is not'} {shown[0]}"]
    more = f", … {len(members)} in all" if len(members) > n_shown else ""
    return [name, f"{'in' if plane.members_right else 'not in'} {{{', '.join(shown)}{more}}}"]


def cell_in_words(codes: Sequence[int], letters: str) -> str:
    """Which sides of its node's planes a cell lies on: "yes" or "no" for one plane, letters for several.

    >>> cell_in_words([1], "AB"), cell_in_words([0, 2], "AB"), cell_in_words([1, 2], "AB"), cell_in_words([1], "A")
    ('A and not B', 'not A', '(A and not B) or (not A and B)', 'yes')
    """
    if len(letters) == 1:
        return "yes" if codes[0] else "no"
    every = [
        " and ".join(letters[k] if right else f"not {letters[k]}" for k, right in sides)
        for sides in _sides(codes, len(letters))
    ]
    return (every[0] or "always") if len(every) == 1 else " or ".join(f"({each})" for each in every)


def cell_in_marks(codes: Sequence[int], n_planes: int, letters: str = "ABCDEFGH") -> str:
    """The same for pictures: ✓ for the right side of a plane, ✗ for the other.

    >>> cell_in_marks([1], 2), cell_in_marks([0, 2], 2), cell_in_marks([1, 2], 2), cell_in_marks([1], 1)
    ('A✓B✗', 'A✗', 'A✓B✗ or A✗B✓', 'yes')
    """
    if n_planes == 1:
        return "yes" if codes[0] else "no"
    every = ["".join(f"{letters[k]}{'✓' if right else '✗'}" for k, right in sides) for sides in _sides(codes, n_planes)]
    return " or ".join(every)


def _sides(codes: Sequence[int], n_planes: int) -> list[list[tuple[int, int]]]:
    """The planes that matter with the side of each; more than one such list only if one cannot say it."""
    fixed = [k for k in range(n_planes) if len({code >> k & 1 for code in codes}) == 1]
    if len(codes) == 2 ** (n_planes - len(fixed)):  # the cell is all that these sides allow
        return [[(k, codes[0] >> k & 1) for k in fixed]]
    return [[(k, code >> k & 1) for k in range(n_planes)] for code in codes]
