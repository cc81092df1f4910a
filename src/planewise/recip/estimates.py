"""Two estimates of how clear a class is around a point of a view: from distances, as published, or from counts.

Both estimate the odds of all other classes against one, to the power 1 - alpha: Z of a training row and its own class,
the ratio of eq. 9 of a query and any class.

Distances (eq. 5): the k-th nearest row of the class and the k-th of all others. Where values repeat, both are zero and
nothing is known; and with k = 1 single rows decide. Counts: of the k nearest rows of any class, those of the class
against the others, both smoothed; rows that are equally far share the last places. On the development sets counts were
worth three points of accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from planewise.explain.projections import ViewColumns
from planewise.recip.decision import Ratios, class_ratios
from planewise.recip.entropy import LARGEST, local_entropies
from planewise.recip.neighbours import (
    class_neighbours,
    nearest,
    nearest_class_weights,
    own_and_other_weights,
)
from planewise.recip.rows import FloatArray, Indices, Vector

TINY = np.float32(1e-30)  # so that a prior weight beyond float32 divides nothing by zero
NEIGHBOURS_AT_ONCE = 2**23  # so many are held at a time


class Near(NamedTuple):
    """Rows near a query, sorted by distance; of the weight of each, `share` counts."""

    distance: FloatArray
    rows: NDArray[np.int32]
    share: Vector

    def where(self, chosen: NDArray[np.bool_]) -> Near:
        return Near(self.distance[chosen], self.rows[chosen], self.share[chosen])


@dataclass(frozen=True)
class Reference:
    """The rows that answer."""

    points: FloatArray
    label: NDArray[np.int32]
    weight: Vector
    gap: FloatArray
    n_classes: int


class Sides(Protocol):
    """The neighbours of queries in views."""

    def of_class(self, view: int, query: int, label: int) -> tuple[Near, Near]:
        """Those that speak for a class, and those that speak against it."""
        ...


class Estimate(Protocol):
    """What the classifier asks of an estimate."""

    def entropies(
        self,
        reference: Reference,
        views: Sequence[ViewColumns],
        rows: Indices,
        n_threads: int,
        step: Callable[[], Any] | None,
    ) -> FloatArray:
        """Z as (views, rows); NaN where a row lacks a value of the view."""
        ...

    def power(self, dimension: int) -> float:
        """What odds or distances are raised to."""
        ...

    def judge(
        self, reference: Reference, views: list[ViewColumns], queries: FloatArray, exclude: Any, n_threads: int
    ) -> tuple[Ratios, Sides]:
        """Ratios of all classes, and the neighbours they come from."""
        ...

    def per_query(self, n_classes: int) -> int:
        """Neighbours that a query takes in a view."""
        ...


def in_blocks(
    estimate: Estimate,
    reference: Reference,
    views: list[ViewColumns],
    queries: FloatArray,
    exclude: NDArray[np.int32] | None,
    n_threads: int,
) -> Iterator[tuple[slice, Ratios, Sides]]:
    """Judge queries, so many at a time that their neighbours take little memory."""
    size = max(1, NEIGHBOURS_AT_ONCE // (len(views) * estimate.per_query(reference.n_classes)))
    for first in range(0, len(queries), size):
        block = slice(first, first + size)
        without = None if exclude is None else exclude[block]
        yield block, *estimate.judge(reference, views, queries[block], without, n_threads)


@dataclass(frozen=True)
class Distances:
    """The published estimate: (d_theta / d_others)^(m (1 - alpha))."""

    k: int
    tsallis_order: float

    def entropies(
        self,
        reference: Reference,
        views: Sequence[ViewColumns],
        rows: Indices,
        n_threads: int,
        step: Callable[[], Any] | None,
    ) -> FloatArray:
        return local_entropies(
            reference.points,
            reference.label,
            views,
            rows,
            k=self.k,
            tsallis_order=self.tsallis_order,
            gap=reference.gap,
            n_threads=n_threads,
            step=step,
        )

    def power(self, dimension: int) -> float:
        return dimension * (1 - self.tsallis_order)

    def per_query(self, n_classes: int) -> int:
        return n_classes * self.k

    def judge(
        self, reference: Reference, views: list[ViewColumns], queries: FloatArray, exclude: Any, n_threads: int
    ) -> tuple[Ratios, Sides]:
        rows, distance = class_neighbours(
            reference.points,
            reference.label,
            reference.n_classes,
            views,
            queries,
            self.k,
            exclude=exclude,
            categorical=reference.gap,
            n_threads=n_threads,
        )
        dimension = np.array([len(view) for view in views])
        return class_ratios(distance, dimension, self.tsallis_order), SidesOfClasses(rows, distance)


@dataclass(frozen=True)
class SidesOfClasses:
    """The k nearest rows of every class: (views, queries, classes, k)."""

    rows: NDArray[np.int32]
    distance: FloatArray

    def of_class(self, view: int, query: int, label: int) -> tuple[Near, Near]:
        rows, distance = self.rows[view, query], self.distance[view, query]
        k = rows.shape[1]
        others = np.delete(rows, label, axis=0).ravel(), np.delete(distance, label, axis=0).ravel()
        order = np.lexsort(others)[:k]
        own, other = (distance[label], rows[label]), (others[1][order], others[0][order])
        mine, against = (Near(far, near, np.ones(len(near))).where(near >= 0) for far, near in (own, other))
        return mine, against


@dataclass(frozen=True)
class Counts:
    """Of the k nearest rows those of the class against the others, as odds smoothed towards the classes' shares.

    ((w_others + s (1 - share)) / (w_theta + s share))^(1 - alpha), w being sums of weights, s the prior weight and
    alpha the Tsallis order. Rows that are as far away as the k-th share the places that nearer rows leave.
    """

    k: int
    tsallis_order: float
    prior_weight: float
    share: Vector  # of the classes in training

    def entropies(
        self,
        reference: Reference,
        views: Sequence[ViewColumns],
        rows: Indices,
        n_threads: int,
        step: Callable[[], Any] | None,
    ) -> FloatArray:
        own, odds = own_and_other_weights(
            reference.points,
            reference.label,
            reference.weight,
            views,
            rows,
            self.k,
            categorical=reference.gap,
            n_threads=n_threads,
            step=step,
        )
        share = self.share[reference.label[rows]].astype(np.float32)
        prior = np.float32(self.prior_weight)
        for mine, others in zip(own, odds, strict=True):  # by view, in place: both are large
            others += prior * (1 - share)
            others /= np.maximum(mine + prior * share, TINY)
            others **= np.float32(1 - self.tsallis_order)
            np.minimum(others, np.float32(LARGEST), out=others)
        return odds

    def power(self, dimension: int) -> float:
        return 1 - self.tsallis_order

    def per_query(self, n_classes: int) -> int:
        return 3 * n_classes + 1

    def judge(
        self, reference: Reference, views: list[ViewColumns], queries: FloatArray, exclude: Any, n_threads: int
    ) -> tuple[Ratios, Sides]:
        how: dict[str, Any] = {"exclude": exclude, "categorical": reference.gap, "n_threads": n_threads}
        counts, nearer, tied = nearest_class_weights(
            reference.points, reference.label, reference.weight, reference.n_classes, views, queries, self.k, **how
        )
        others = np.maximum(counts.sum(axis=2)[..., None] - counts, 0)  # shares are rounded
        odds = (others + self.prior_weight * (1 - self.share)) / (counts + self.prior_weight * self.share)
        ratio = odds ** (1 - self.tsallis_order)
        ratio[nearer + tied == 0] = np.inf
        dimension = np.array([len(view) for view in views])
        return Ratios(ratio, np.broadcast_to(np.float32(0), ratio.shape), dimension), SidesOfCounts(
            reference, views, queries, exclude, self.k, nearer, tied
        )


@dataclass(frozen=True)
class SidesOfCounts:
    """The nearest rows, sought again where they are asked for; how many there are is known: (views, queries)."""

    reference: Reference
    views: list[ViewColumns]
    queries: FloatArray
    exclude: NDArray[np.int32] | None
    k: int
    nearer: NDArray[np.int32]
    tied: NDArray[np.int32]

    def of_class(self, view: int, query: int, label: int) -> tuple[Near, Near]:
        near = self._found(view, query)
        mine = self.reference.label[near.rows] == label
        return near.where(mine), near.where(~mine)

    def _found(self, view: int, query: int) -> Near:
        """All rows up to the k-th distance."""
        n_nearer, n_tied = int(self.nearer[view, query]), int(self.tied[view, query])
        if n_nearer + n_tied == 0:
            return Near(np.empty(0, np.float32), np.empty(0, np.int32), np.empty(0))
        columns = list(self.views[view])
        rows, distance = nearest(
            self.reference.points[:, columns],
            [tuple(range(len(columns)))],
            self.queries[query : query + 1, columns],
            n_nearer + n_tied,
            exclude=None if self.exclude is None else self.exclude[query : query + 1],
            categorical=self.reference.gap[columns],
        )
        share = np.ones(n_nearer + n_tied)
        if n_tied:
            share[n_nearer:] = (self.k - n_nearer) / n_tied
        return Near(distance[0, 0], rows[0, 0], share)
