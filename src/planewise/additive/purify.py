"""Single-feature effects that several views share are kept in one of them.

Two views with a common feature could trade any function of it without changing their sum. On fixed bins of the feature,
the mean of a view over the bins of its other feature is moved to the view that is the feature's home: a view of this
feature alone or, if there is none, the first view that has it. What remains in the others has mean zero in every bin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
View = tuple[int, ...]
N_BINS = 32
MOST_CATEGORIES = 256  # of a column whose effects are moved


@dataclass(frozen=True)
class ColumnBins:
    """Fixed bins of a column: of about equal weight, or its categories; the last is for missing values."""

    edges: NDArray[np.float32]  # between bins; none for categories
    n_categories: int  # 0 for numbers
    points: NDArray[np.float32]  # a value in each bin, NaN in the last
    share: Floats  # of the weight of the rows

    @classmethod
    def of(cls, column: NDArray[np.float32], weight: Floats, n_categories: int) -> ColumnBins:
        """The bins of the values of training rows."""
        known = ~np.isnan(column)
        gap = float(weight[~known].sum())
        if n_categories:
            codes = column[known].astype(np.intp)
            count = np.bincount(codes, weights=weight[known], minlength=n_categories).astype(np.float64)
            points = np.arange(n_categories, dtype=np.float32)
            return cls(np.empty(0, np.float32), n_categories, *_with_missing(points, count, gap))
        values, place = np.unique(column[known], return_inverse=True)
        if len(values) == 0:
            return cls(np.empty(0, np.float32), 0, *_with_missing(np.zeros(1, np.float32), np.zeros(1), gap))
        each = np.bincount(place, weights=weight[known])
        below = (np.cumsum(each) - each / 2) / each.sum()
        _, bin_of = np.unique(np.minimum(below * N_BINS, N_BINS - 1).astype(np.intp), return_inverse=True)
        count = np.bincount(bin_of, weights=each).astype(np.float64)
        last = np.flatnonzero(np.diff(bin_of, append=bin_of[-1] + 1))
        first = np.r_[0, last[:-1] + 1]
        edges = (values[last[:-1]].astype(np.float64) + values[first[1:]]) / 2
        points = values[(first + last) // 2]
        return cls(edges.astype(np.float32), 0, *_with_missing(points, count, gap))

    def places(self, column: NDArray[np.float32]) -> NDArray[np.intp]:
        """The bin of each value; a category that no training row has is like a missing value."""
        missing = np.isnan(column)
        if self.n_categories:
            known = ~missing & (column >= 0) & (column < self.n_categories)
            return np.where(known, np.where(known, column, 0).astype(np.intp), self.n_categories)
        found = np.searchsorted(self.edges, np.where(missing, 0, column), side="right")
        return np.where(missing, len(self.points) - 1, found)


def _with_missing(points: NDArray[np.float32], count: Floats, gap: float) -> tuple[NDArray[np.float32], Floats]:
    share = np.r_[count, gap]
    return np.r_[points, np.float32(np.nan)].astype(np.float32), share / share.sum()


@dataclass(frozen=True)
class Move:
    """A step function of one column that one view gives to another."""

    column: int
    source: int  # views by their places
    target: int
    values: NDArray[np.float32]  # bins x outputs


@dataclass(frozen=True)
class Purification:
    """What is moved between views, and the constants that are moved from each to the common start."""

    bins: dict[int, ColumnBins]  # of the columns of moves
    moves: list[Move]
    centre: NDArray[np.float32]  # views x outputs

    def in_order(self, order: Sequence[int]) -> Purification:
        """The same for views in another order."""
        place = {old: new for new, old in enumerate(order)}
        moves = [replace(each, source=place[each.source], target=place[each.target]) for each in self.moves]
        return Purification(self.bins, moves, self.centre[list(order)])

    def of_scores(self, rows: NDArray[np.float32], scores: Floats) -> Floats:
        """Scores of views (rows x views x outputs) with everything in its place."""
        scores = scores - self.centre
        for move in self.moves:
            step = self._step(move, rows)
            scores[:, move.source] -= step
            scores[:, move.target] += step
        return scores

    def of_view(self, rows: NDArray[np.float32], score: Floats, place: int) -> Floats:
        """The same for one view: rows x outputs."""
        score = score - self.centre[place]
        for move in self.moves:
            if place in (move.source, move.target):
                step = self._step(move, rows)
                score = score + (step if place == move.target else -step)
        return score

    def _step(self, move: Move, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        return move.values[self.bins[move.column].places(rows[:, move.column])]


# Values of the columns of a view (points x columns) and its place -> scores (points x outputs).
ScoreOfView = Callable[[NDArray[np.float32], int], Floats]


def purify(
    views: Sequence[View],
    rows: NDArray[np.float32],
    weight: Floats,
    category_counts: Sequence[int],
    n_outputs: int,
    score: ScoreOfView,
    constrained: Sequence[int] = (),
) -> Purification:
    """The moves for fitted views; effects of constrained columns stay, so that every view rises where the sum must."""
    used = sorted({column for view in views for column in view})
    bins = {j: ColumnBins.of(rows[:, j], weight, category_counts[j] if category_counts else 0) for j in used}
    home = {j: _home(j, views) for j in used}
    centre = np.zeros((len(views), n_outputs), np.float32)
    moves: list[Move] = []
    for place, view in enumerate(views):
        mean = _means(view, place, bins, n_outputs, score)
        if mean is None:
            continue
        whole = np.tensordot(bins[view[0]].share, mean[0], axes=1)
        centre[place] = whole
        for column, effect in zip(view, mean, strict=True):
            if home[column] != place and column not in constrained:
                step = np.where(bins[column].share[:, None] > 0, effect - whole, 0.0)
                moves.append(Move(column, place, home[column], step.astype(np.float32)))
    return Purification({move.column: bins[move.column] for move in moves}, moves, centre)


def _home(column: int, views: Sequence[View]) -> int:
    having = [place for place, view in enumerate(views) if column in view]
    alone = [place for place in having if len(views[place]) == 1]
    return (alone or having)[0]


def _means(
    view: View, place: int, bins: dict[int, ColumnBins], n_outputs: int, score: ScoreOfView
) -> list[Floats] | None:
    """By column of a view, the mean score in each of its bins (bins x outputs), with independent columns."""
    own = [bins[column] for column in view]
    if any(each.n_categories > MOST_CATEGORIES for each in own):
        return None
    grid = np.stack([each.ravel() for each in np.meshgrid(*(each.points for each in own), indexing="ij")], axis=1)
    found = score(np.ascontiguousarray(grid, np.float32), place).reshape(*(len(each.points) for each in own), n_outputs)
    if len(view) == 1:
        return [found]
    return [np.tensordot(found, own[1].share, axes=(1, 0)), np.tensordot(own[0].share, found, axes=1)]
