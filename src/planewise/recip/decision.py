"""Which view decides a query, and for which class (eq. 9 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planewise.recip.rows import FloatArray, Vector

SMALLEST_RATIO, LARGEST_RATIO = 1e-7, 1e7
NUDGE = 1 + 1e-9


@dataclass(frozen=True)
class Ratios:
    """For views, queries and classes: how much nearer the class is than all others, and how far those are.

    ``ratio`` is (d_theta / d_not_theta)^(m (1 - alpha)): below 1 speaks for the class. It is infinite where it cannot
    be judged: a missing value of the query, or fewer than k rows on either side.
    """

    ratio: Vector  # (views, queries, classes)
    other: FloatArray
    dimension: NDArray[np.intp]  # of each view

    def of_views(self, views: list[int]) -> Ratios:
        return Ratios(self.ratio[views], self.other[views], self.dimension[views])

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Whether a view says anything of a query: (views, queries)."""
        return np.asarray(np.isfinite(self.ratio).any(axis=2))


@dataclass(frozen=True)
class Decisions:
    """Of each query: the class and the view that decided it (-1 where no view could), and the probabilities."""

    label: NDArray[np.intp]
    view: NDArray[np.intp]
    probability: Vector


def class_ratios(distance: FloatArray, dimension: NDArray[np.intp], tsallis_order: float) -> Ratios:
    """From the distances of the k nearest rows of each class, (views, queries, classes, k)."""
    own, other = distance[..., -1], kth_of_others(distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = own.astype(np.float64) / other
        ratio[(own == 0) & (other == 0)] = 1
        ratio **= (dimension * (1 - tsallis_order))[:, None, None]
    np.minimum(ratio, LARGEST_RATIO, out=ratio)
    ratio[np.isinf(own) | np.isinf(other)] = np.inf
    return Ratios(ratio, other, dimension)


def kth_of_others(distance: FloatArray) -> FloatArray:
    """For each class the distance to the k-th nearest row of all other classes.

    At most k of the 2k nearest rows are of the class, so that its k-th other is among them.
    """
    n_classes, k = distance.shape[2:]
    if n_classes == 2:
        return distance[:, :, ::-1, -1]
    flat = distance.reshape(*distance.shape[:2], n_classes * k)
    near = np.argpartition(flat, 2 * k - 1, axis=2)[..., : 2 * k]
    near_distance = np.take_along_axis(flat, near, axis=2)
    order = np.argsort(near_distance, axis=2, kind="stable")
    near_distance = np.take_along_axis(near_distance, order, axis=2)
    near_class = np.take_along_axis(near, order, axis=2) // k
    out = np.empty(distance.shape[:3], dtype=np.float32)
    for c in range(n_classes):
        kth = (np.cumsum(near_class != c, axis=2) >= k).argmax(axis=2)
        out[:, :, c] = np.take_along_axis(near_distance, kth[..., None], axis=2)[..., 0]
    return out


def select(ratios: Ratios, prior: Vector) -> Decisions:
    """The view and class of the least ratio; of equal ones the farther other side, then the lower dimension.

    A class's probability is one over its own best ratio, normalised; where no view can judge, its share in training.
    """
    ratio, n_classes = ratios.ratio, ratios.ratio.shape[2]
    candidates = ratio == ratio.min(axis=(0, 2), keepdims=True)
    for worth in (ratios.other, -ratios.dimension[:, None, None]):
        there = np.where(candidates, worth, -np.inf)
        candidates &= there == there.max(axis=(0, 2), keepdims=True)
    chosen = np.moveaxis(candidates, 1, 0).reshape(ratio.shape[1], -1).argmax(axis=1)
    view, label = np.divmod(chosen, n_classes)
    odds = 1 / np.maximum(ratio.min(axis=0), SMALLEST_RATIO)  # 0 for a class that no view can judge
    return _decided(label, view, odds, np.asarray(ratios.judged.any(axis=0)), prior)


def vote(ratios: Ratios, prior: Vector) -> Decisions:
    """Every view votes for its own class; of equally many votes the last class wins, as in the paper (its class 1).

    The view shown is that of the least ratio among those that voted for the winner.
    """
    n_classes = ratios.ratio.shape[2]
    judged = ratios.judged
    choice = by_view(ratios)
    votes = (judged[..., None] & (choice[..., None] == np.arange(n_classes))).sum(axis=0).astype(np.float64)
    label = n_classes - 1 - votes[:, ::-1].argmax(axis=1)
    own = np.take_along_axis(ratios.ratio, np.where(choice == label, label, 0)[..., None], axis=2)[..., 0]
    view = np.where(judged & (choice == label), own, np.inf).argmin(axis=0)
    return _decided(label, view, votes, np.asarray(judged.any(axis=0)), prior)


def by_view(ratios: Ratios) -> NDArray[np.intp]:
    """The class each view would answer for each query: the least ratio, of equal ones the farther other side."""
    least = ratios.ratio == ratios.ratio.min(axis=2, keepdims=True)
    return np.where(least, ratios.other, -np.inf).argmax(axis=2)


def _decided(
    label: NDArray[np.intp], view: NDArray[np.intp], odds: Vector, judged: NDArray[np.bool_], prior: Vector
) -> Decisions:
    """Probabilities from odds, with the label's above all others, and the prior where no view could judge."""
    label = np.where(judged, label, prior.argmax())
    odds = np.where(judged[:, None], odds, prior)
    rows = np.arange(len(label))
    tied = odds.argmax(axis=1) != label
    odds[rows[tied], label[tied]] = odds[tied].max(axis=1) * NUDGE
    return Decisions(label, np.where(judged, view, -1), odds / odds.sum(axis=1, keepdims=True))
