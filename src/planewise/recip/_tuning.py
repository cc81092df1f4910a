"""How strongly views are priced, found by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from planewise.recip._rows import Vector

Choose = Callable[[Vector, float], list[int]]  # weights of the rows, lam -> kept views
Judge = Callable[[list[list[int]]], list[Vector]]  # sets of views -> the loss of every row, by its other neighbours

LAMS = (0.3, 1.0, 3.0, 10.0)
FOLDS = 5


def find_lam(
    lams: Sequence[float], choose: Choose, judge: Judge, weight: Vector, random: np.random.RandomState
) -> tuple[float, Vector]:
    """The lam of the least held-out loss, of equal ones the largest; and the loss of each.

    Views are chosen without the rows of a fold, which are then answered by all other rows in those views. (The local
    entropies of the rows that choose do see held-out rows as neighbours.)
    """
    fold = _folds(weight, random)
    trials = [(lam, k) for lam in lams for k in range(int(fold.max()) + 1)]
    sets = [choose(np.where(fold == k, 0.0, weight), lam) for lam, k in trials]
    total = np.zeros(len(lams))
    for (lam, k), lost in zip(trials, judge(sets), strict=True):
        held = fold == k
        total[lams.index(lam)] += weight[held] @ lost[held]
    loss = total / weight.sum()
    best = max(range(len(lams)), key=lambda place: (-loss[place], lams[place]))
    return float(lams[best]), loss


def _folds(weight: Vector, random: np.random.RandomState) -> NDArray[np.intp]:
    """The fold of each row, -1 for rows that do not count; rows are dealt out in a random order."""
    fold = np.full(len(weight), -1)
    counting = random.permutation(np.flatnonzero(weight > 0))
    fold[counting] = np.arange(len(counting)) % FOLDS
    return fold
