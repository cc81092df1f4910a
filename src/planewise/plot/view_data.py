"""A view of RECIP as a plane: where values are drawn, and what the ratio is everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from planewise._text import count, number, tidy
from planewise.data.categories import is_missing
from planewise.data.tables import column_values
from planewise.data.values import (
    Booleans,
    ValueKind,
    as_number,
    kind_from,
    value_in_words,
    value_of_kind,
)
from planewise.plot.date_ticks import ticks_of_kind
from planewise.recip.neighbours import nearest_class_weights

Numbers = NDArray[np.float64]
LARGEST = 1e7  # eq. 9: a distance over none
MOST_LANES = 12  # of categories on an axis
LONG = 8.0  # tails that reach so many standard deviations are compressed


@dataclass(frozen=True)
class Axis:
    """One feature of a view: its name, and how its values become places in the picture.

    The model measures distances in scaled values. The picture shows these, but for long tails: where `tails` is true
    they are compressed, so that the bulk of the rows is not pressed into a corner. `categories` are the values of a
    column that does not hold numbers or dates, such as "false" and "true"; they have lanes that stand `gap` apart.
    Where `drawn` names some of them, the others share the last lane.
    """

    name: str
    column: int
    scaling: Mapping[str, Any]
    categories: tuple[str, ...] = ()
    tails: bool = False
    drawn: tuple[str, ...] = ()

    @property
    def lanes(self) -> list[str]:
        """Names of the lanes of categories."""
        own = self.drawn or self.categories
        left = len(self.categories) - len(own)
        return [*own, f"… and {count(left)} more"] if left else [*own]

    def lanes_of(self, values: Iterable[Any]) -> Numbers:
        """The lane of each value; NaN where it is missing or not known."""
        lane = dict.fromkeys(self.categories, len(self.drawn))
        lane |= {word: at for at, word in enumerate(self.drawn or self.categories)}
        return np.array([np.nan if is_missing(v) else lane.get(self.word(v), np.nan) for v in values], dtype=np.float64)

    def with_lanes(self, counts: Mapping[str, int], first: Iterable[Any], most: int = MOST_LANES) -> Axis:
        """The same with so many lanes: for the categories in `first`, then for the most frequent ones by `counts`."""
        known, frequent = {*self.categories}, sorted(self.categories, key=lambda word: -counts.get(word, 0))
        ranked = dict.fromkeys(word for word in [*map(str, first), *frequent] if word in known)
        kept = {*list(ranked)[: most - 1]}
        return replace(self, drawn=tuple(word for word in self.categories if word in kept))

    @property
    def kind(self) -> ValueKind | None:
        """What the numbers stand for, if the column holds dates or booleans."""
        return kind_from(self.scaling)

    @property
    def _centre(self) -> float:
        return as_number(self.kind, self.scaling.get("centre", 0.0))

    def in_words(self, value: Any) -> str:
        """A value of an explanation's data, with four digits if it is a number."""
        return value_in_view(value, self.scaling)

    @property
    def gap(self) -> float:
        """The distance between two categories."""
        if isinstance(self.kind, Booleans):  # which are numbers to the model
            false, true = self._scaled(np.array([0.0, 1.0]))
            return float(true - false)
        return float(self.scaling.get("gap", 1.0))

    def word(self, value: Any) -> str:
        """The category that a value is."""
        return str(value) if self.kind is None else self.in_words(value)

    def places(self, values: Sequence[Any] | NDArray[Any]) -> Numbers:
        """Where values are drawn; NaN where one is missing or not known."""
        if self.categories:
            return self.gap * self.lanes_of(values)
        scaled = self._scaled(np.array([as_number(self.kind, value) for value in values], dtype=np.float64))
        return np.arcsinh(2 * scaled) if self.tails else scaled

    def _scaled(self, raw: Numbers) -> Numbers:
        scaled: Numbers = (raw - self._centre) / self.scaling.get("spread", 1.0)
        if "tail_factor" in self.scaling:
            drawn = np.arcsinh(self.scaling["tail_factor"] * scaled)
            scaled = (drawn - self.scaling["tail_centre"]) / self.scaling["tail_spread"]
        return scaled

    def scaled(self, places: Numbers) -> Numbers:
        """What the model measures distances in."""
        return np.sinh(places) / 2 if self.tails else np.asarray(places, dtype=np.float64)

    def values(self, places: Numbers) -> Numbers:
        """The user's numbers at places: the inverse of `places`."""
        scaled = self.scaled(places)
        if "tail_factor" in self.scaling:
            drawn = scaled * self.scaling["tail_spread"] + self.scaling["tail_centre"]
            scaled = np.sinh(drawn) / self.scaling["tail_factor"]
        return scaled * self.scaling.get("spread", 1.0) + self._centre

    def ticks(self, low: float, high: float, most: int) -> tuple[Numbers, list[str]]:
        """Round numbers of the user's between two places, and where they lie."""
        if self.categories:
            at: Numbers = self.gap * np.arange(len(self.lanes), dtype=np.float64)
            return at, [tidy(word) for word in self.lanes]
        first, last = self.values(np.array([low, high]))
        if self.kind is not None:
            raw, words = ticks_of_kind(self.kind, float(first), float(last), most)
            return self.places(raw), words
        tries = [even_steps(float(first), float(last), most)]
        if self.tails or "tail_factor" in self.scaling:
            wanted = self.values(np.linspace(low, high, most + 2)[1:-1])
            tries.insert(0, np.unique([0.0, *(_round(value) for value in wanted)]))
        for raw in tries:  # powers suit a wide range, even steps a narrow one
            at = self.places(raw)
            kept = _apart(at, raw, low, high, (high - low) / (2 * most))
            if len(kept) >= 3:
                break
        return at[kept], [number(value) for value in raw[kept]]


def value_in_view(value: Any, scaling: Mapping[str, Any]) -> str:
    """A value of an explanation's data in words; the view's scaling says whether it is a date or boolean."""
    return value_in_words(value_of_kind(kind_from(scaling), value), 4)


def _apart(at: Numbers, raw: Numbers, low: float, high: float, least: float) -> list[int]:
    """Ticks inside the picture that keep so far apart; zero goes first."""
    kept: list[int] = []
    for tick in sorted(range(len(at)), key=lambda tick: (raw[tick] != 0, tick)):
        if low <= at[tick] <= high and all(abs(at[tick] - at[other]) >= least for other in kept):
            kept.append(tick)
    return sorted(kept)


def even_steps(low: float, high: float, most: int) -> Numbers:
    """At most so many round numbers from low to high, evenly apart by 1, 2, 2.5 or 5 times a power of ten.

    >>> even_steps(0.3, 9.8, 6).tolist()
    [2.0, 4.0, 6.0, 8.0]
    """
    span = float(high) - float(low)
    if not (np.isfinite(span) and span > 0):
        return np.array([low])
    power = 10.0 ** np.floor(np.log10(span / most))
    for step in power * np.array([1, 2, 2.5, 5, 10, 20]):
        first, last = np.ceil(low / step), np.floor(high / step)
        if last - first + 1 <= most:
            return np.array([float(f"{at * step:.12g}") for at in np.arange(first, last + 1)])
    return np.array([low])


def _round(value: float) -> float:
    """The nearest of ..., 1, 2, 5, 10, 20, ...: neighbouring ticks of a stretched axis differ by more."""
    if value == 0 or not np.isfinite(value):
        return 0.0
    power = 10.0 ** np.floor(np.log10(abs(value)))
    nearest = min((1, 2, 5, 10), key=lambda digit: abs(np.log(abs(value) / (digit * power))))
    return float(f"{np.sign(value) * nearest * power:.6g}")


def holds_categories(scaling: Mapping[str, Any]) -> bool:
    """Whether a column of a view is drawn in lanes: categories, or booleans."""
    return scaling.get("kind") == "categories" or isinstance(kind_from(scaling), Booleans)


def axes_of(view: Mapping[str, Any], X: Any) -> list[Axis]:
    """The axes of an explanation's view; `X` says which categories there are."""
    found = []
    for name, column, unit, scaling in zip(
        view["features"], view["columns"], view["units"], view["scaling"], strict=True
    ):
        words: tuple[str, ...] = ()
        values = column_values(X, column)
        if isinstance(kind_from(scaling), Booleans):
            words = ("false", "true")
        elif holds_categories(scaling):
            words = tuple(sorted({str(value) for value in values.tolist() if not is_missing(value)}))
        axis = Axis(f"{name} ({unit})" if unit else str(name), int(column), scaling, words)
        if not words and "tail_factor" not in scaling:
            axis = replace(axis, tails=_has_tails(axis.places(values)))
        found.append(axis)
    return found


def drawn_axes(
    axes: Sequence[Axis],
    X: Any,
    view: Mapping[str, Any],
    cases: Iterable[Mapping[str, Any]],
) -> list[Axis]:
    """The axes as they are drawn: categories beside numbers go up the side, those of the `cases` first have lanes.

    Parameters
    ----------
    axes, X, view
        What :func:`axes_of` gives, the table and the explanation's view.
    cases : iterable of dict
        The case, then rows whose categories should have lanes too: {feature: value}.
    """
    rows, found = list(cases), list(axes)
    for at, (axis, name) in enumerate(zip(axes, features_of(axes, view), strict=True)):
        if len(axis.categories) > MOST_LANES:
            counts = Counter(str(value) for value in column_values(X, axis.column).tolist())
            own, *near = [str(row.get(name)) for row in rows]
            near.sort(key=lambda word: (-counts[word], word))  # of equally near rows none comes first
            found[at] = axis.with_lanes(counts, [own, *near])
    if len(found) > 1 and found[0].categories and not found[1].categories:
        found[:2] = found[1], found[0]
    return found


def features_of(axes: Iterable[Axis], view: Mapping[str, Any]) -> list[str]:
    """The axes' features as an explanation's view names them."""
    name = dict(zip(view["columns"], view["features"], strict=True))
    return [name[axis.column] for axis in axes]


def _has_tails(scaled: Numbers) -> bool:
    known = scaled[np.isfinite(scaled)]
    spread = float(known.std()) if len(known) else 0.0
    return spread > 0 and float(np.abs(known - known.mean()).max()) > LONG * spread


def rows_in(axes: Sequence[Axis], X: Any) -> Numbers:
    """Places of rows, shape (n_rows, n_axes)."""
    return np.column_stack([axis.places(column_values(X, axis.column)) for axis in axes])


def scaled_in(axes: Sequence[Axis], places: Numbers) -> Numbers:
    """Places as the model measures distances between them."""
    return np.column_stack([axis.scaled(places[:, at]) for at, axis in enumerate(axes)])


def ratio_at(points: Numbers, rows: Numbers, label: NDArray[np.intp], n_classes: int, k: int, power: float) -> Numbers:
    """Eq. 9 at points: how much nearer each class is than all others; shape (n_points, n_classes)."""
    near = np.full((len(points), n_classes, k), np.inf)
    for c in range(n_classes):
        mine = rows[label == c]
        if len(mine):
            distance, _ = cKDTree(mine).query(points, k=np.arange(1, min(k, len(mine)) + 1))
            near[:, c, : distance.shape[1]] = distance
    ratio = np.full((len(points), n_classes), np.inf)
    for c in range(n_classes):
        others = np.sort(np.delete(near, c, axis=1).reshape(len(points), -1), axis=1)
        own, other = near[:, c, k - 1], others[:, k - 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where((own == 0) & (other == 0), 1.0, own / other)
        known = np.isfinite(own) & np.isfinite(other)
        ratio[known, c] = np.minimum(one[known] ** power, LARGEST)
    return ratio


def odds_at(
    points: Numbers,
    rows: Numbers,
    label: NDArray[np.intp],
    k: int,
    power: float,
    smoothing: float,
    share: Numbers,
    weight: Numbers,
) -> Numbers:
    """The same from counts: of the k nearest rows those of other classes against those of each, smoothed."""
    view = [tuple(range(rows.shape[1]))]
    known, queries = rows.astype(np.float32), points.astype(np.float32)
    counts = nearest_class_weights(known, label.astype(np.int32), weight, len(share), view, queries, k)[0][0]
    others = np.maximum(counts.sum(axis=1, keepdims=True) - counts, 0)
    return ((others + smoothing * (1 - share)) / (counts + smoothing * share)) ** power


@dataclass(frozen=True)
class DecidingRows:
    """The rows of a view as the model counts them: equal ones once, each with its weight.

    ``places`` has a column for each of the view's axes, NaN where a value is missing; ``label`` holds places among the
    classes.
    """

    axes: Sequence[Axis]
    places: Numbers
    label: NDArray[np.intp]
    weight: Numbers
    n_classes: int

    def ratios_at(self, data: Mapping[str, Any], places: Numbers) -> Numbers:
        """The ratio of each class at places of the view, by which the model of an explanation's data decides there."""
        known = np.isfinite(self.places).all(axis=1)
        points, rows = scaled_in(self.axes, places), scaled_in(self.axes, self.places[known])
        label, k, power = self.label[known], int(data["k"]), float(data["power"])
        if data["estimate"] == "distances":
            return ratio_at(points, rows, label, self.n_classes, k, power)
        share = np.zeros(self.n_classes)
        np.add.at(share, self.label, self.weight)  # of all rows; unlike np.bincount, never writes outside
        share /= self.weight.sum()
        return odds_at(points, rows, label, k, power, float(data["prior_weight"]), share, self.weight[known])
