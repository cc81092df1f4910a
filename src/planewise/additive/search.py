"""The choice of views: greedily by their gains; how many, how deep and for how many rounds, by left-out loss.

Only what rows hold decides: equal rows stay together, wherever they are, so that a weight of two is a row given twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise.additive.gains import BinnedColumns, Floats, View
from planewise.trees.boost_data import Data
from planewise.trees.losses import RawLoss

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to learn from, and rows to leave out
REFIT_ROUNDS, REFIT_RATE = 8, 0.3  # of the views so far, before the next one is chosen
FEW_ROWS, MANY_ROWS = 2_000, 10_000  # up to these: ten folds, five folds; beyond, a fifth of the rows is left out
SEARCHED_ROWS = 20_000  # of which gains are computed
HELD_OUT_EVERY = 5
COUNTS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32)  # of views that are tried, beside the largest
SECOND_DEPTH, DEPTH_OF_MANY = 2, 3  # tried by `max_depth="auto"` after 1; used beyond MANY_ROWS


class Grower(Protocol):
    """What grows trees on views: a views estimator."""

    n_estimators: int
    n_iter_no_change: int

    def booster(
        self, data: Data, loss: RawLoss, views: Sequence[View], *, depth: int, rate: float | None, n_threads: int
    ) -> _core.Boosting: ...

    def table(self, data: Data, n_threads: int) -> _core.Table: ...


class Plan(NamedTuple):
    """What cross-validation found best."""

    n_views: int
    depth: int
    n_rounds: int
    loss: float


class Candidates(NamedTuple):
    """The views to choose from, and how many of them may be chosen."""

    views: list[View]
    most: int
    are_given: bool = False  # by the user: all of them, in this order


def all_views(columns: Sequence[int], max_dim: int) -> list[View]:
    """All singles and, if two may meet, all pairs of these columns."""
    singles: list[View] = [(j,) for j in columns]
    return singles + (list(combinations(columns, 2)) if max_dim > 1 else [])


def find_views(
    grower: Grower, data: Data, loss: RawLoss, candidates: Candidates, category_counts: list[int], n_threads: int
) -> list[View]:
    """The best view for what is left by those before it, again and again; their trees are refitted in between."""
    if candidates.are_given:
        return list(candidates.views)
    few = data if len(data.rows) <= SEARCHED_ROWS else data.part(_spread(data.rows, SEARCHED_ROWS))
    binned = BinnedColumns(few.rows, few.weight, category_counts)
    known = set(binned.informative)
    free = [view for view in candidates.views if known.issuperset(view)] or candidates.views[:1]
    options, scores = loss.core_options(), loss.start(few.target, few.weight)[None]
    found: list[View] = []
    while len(found) < candidates.most and free:
        every = np.ascontiguousarray(np.broadcast_to(scores, (len(few.rows), loss.n_outputs)))
        gradient, hessian = _core.derivatives(options, few.target, few.weight, every, n_threads)
        gains = binned.gains(gradient, hessian, free, n_threads)
        found.append(free.pop(int(np.argmax(gains))))
        if len(found) < candidates.most:
            booster = grower.booster(few, loss, found, depth=1, rate=REFIT_RATE, n_threads=n_threads)
            booster.rounds(REFIT_ROUNDS * len(found))
            scores = booster.score()
    return found


def best_plan(
    grower: Grower,
    data: Data,
    loss: RawLoss,
    candidates: Candidates,
    category_counts: list[int],
    *,
    depth: int | str,
    parts: Sequence[Fold],
    many: bool,
    map_folds: Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]],
    n_threads: int,
) -> Plan:
    """How many views, how deep and for how many rounds: what has the least loss on rows that were left out.

    With `many` rows, only the rounds are chosen.
    """
    together = len(parts) == 1  # then all threads work on the one part
    threads = n_threads if together else 1
    first_depth = (DEPTH_OF_MANY if many else 1) if depth == "auto" else int(depth)

    def views_of(part: Fold) -> list[View]:
        return find_views(grower, data.part(part[0]), loss, candidates, category_counts, threads)

    def trials(fold: tuple[Fold, list[View], Sequence[int], int]) -> list[list[float]]:
        part, views, counts, tried = fold
        learn, rest = data.part(part[0]), data.part(part[1])
        return [_losses(grower, learn, rest, loss, views[:count], tried, threads) for count in counts]

    def plans(counts: Sequence[int], tried: int) -> list[Plan]:
        every = list(map_folds(trials, [(part, own, counts, tried) for part, own in zip(parts, views, strict=True)]))
        return [_plan(count, tried, [each[at] for each in every], weight) for at, count in enumerate(counts)]

    weight = np.array([float(data.weight[rest].sum()) for _, rest in parts])
    views = list(map_folds(views_of, parts))
    most = min(len(own) for own in views)
    counts = [most] if candidates.are_given or many else sorted({count for count in COUNTS if count < most} | {most})
    found = plans(counts, first_depth)
    best = min(found, key=lambda plan: plan.loss)
    if depth == "auto" and not many:
        best = min([best, *plans(sorted({best.n_views, most}), SECOND_DEPTH)], key=lambda plan: plan.loss)
    return best


def _plan(n_views: int, depth: int, losses: list[list[float]], weight: Floats) -> Plan:
    """The round with the least loss, averaged over folds."""
    longest = max(map(len, losses))
    # A fold that stopped early would not have become better: its last loss stands for the later rounds.
    curves = np.array([each + each[-1:] * (longest - len(each)) for each in losses])
    mean = weight @ curves / weight.sum()
    at = int(np.argmin(mean))
    return Plan(n_views, depth, at + 1, float(mean[at]))


def _losses(
    grower: Grower, learn: Data, rest: Data, loss: RawLoss, views: list[View], depth: int, n_threads: int
) -> list[float]:
    """Left-out losses after each round, until they have not fallen for a while."""
    booster = grower.booster(learn, loss, views, depth=depth, rate=None, n_threads=n_threads)
    start = loss.start(learn.target, learn.weight)[None]
    watched = booster.watch(grower.table(rest, n_threads), rest.target, rest.weight, start)
    losses: list[float] = []
    while len(losses) < grower.n_estimators and len(losses) - _rounds_to_least(losses) < grower.n_iter_no_change:
        booster.rounds(len(views))
        losses.append(booster.watched_loss(watched))
    return losses


def _rounds_to_least(losses: list[float]) -> int:
    return int(np.argmin(losses)) + 1 if losses else 0


# ---------------------------------------------------------------------------------------------------------- folds
def n_different(rows: NDArray[np.float32]) -> int:
    """How many rows differ from each other."""
    return len(np.unique(row_keys(rows, 0)))


def folds(data: Data, cv: int | None, seed: int, stratify: bool) -> list[Fold]:
    """Rows to learn from and rows to leave out; equal rows are never on both sides."""
    rank = _ranks(data.rows, seed, data.target if stratify else None)
    different = int(rank.max()) + 1
    if cv is None and different > MANY_ROWS:
        rest = rank % HELD_OUT_EVERY == 0
        return [(np.flatnonzero(~rest), np.flatnonzero(rest))]
    count = min(cv or (10 if different <= FEW_ROWS else 5), different)
    if count < 2:
        every = np.arange(len(data.rows))
        return [(every, every)]  # nothing can be left out where all rows are equal
    place = rank % count
    return [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(count)]


def given_folds(cv: Any, X: Any, y: Any, kept: NDArray[np.intp], n_rows: int) -> list[Fold]:
    """The user's folds, by the places of those rows that count."""
    place = np.full(n_rows, -1)
    place[kept] = np.arange(len(kept))
    found = []
    for part in cv.split(X, y) if hasattr(cv, "split") else cv:
        learn, rest = (place[np.arange(n_rows)[rows]] for rows in part)
        found.append((learn[learn >= 0], rest[rest >= 0]))
    if not found or any(len(side) == 0 for fold in found for side in fold):
        raise ValueError("cv must give at least one fold, each with rows to learn from and rows to leave out.")
    return found


def _ranks(rows: NDArray[np.float32], seed: int, label: Floats | None) -> NDArray[np.intp]:
    """A random order of the different rows, by which folds are dealt; rows of a class follow each other."""
    key = row_keys(rows, seed)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if label is None:
        return group
    least = np.full(len(first), np.inf)
    np.minimum.at(least, group, label)  # of the classes that equal rows have
    order = np.lexsort((np.arange(len(first)), least))
    rank = np.empty(len(first), np.intp)
    rank[order] = np.arange(len(first))
    return rank[group]


def row_keys(rows: NDArray[np.float32], seed: int) -> NDArray[np.uint64]:
    """A number for each row that depends on its values alone."""
    key = np.full(len(rows), np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15), np.uint64)
    for column in rows.T:
        same = np.where(np.isnan(column), np.float32(np.nan), column + np.float32(0.0))  # one NaN, one zero
        key = _mixed(key ^ np.ascontiguousarray(same).view(np.uint32).astype(np.uint64))
    return key


def _mixed(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def _spread(rows: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """So many different rows, and all that equal them, in order; always the same ones."""
    key = row_keys(rows, 0)
    different = np.unique(key)
    return np.flatnonzero(key <= different[min(count, len(different)) - 1])
