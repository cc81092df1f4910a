"""Which views are kept: the paper's Algorithm 1 with an exact row solver, greedy choice with swaps, and the lasso.

Z is (views, rows) float32 without missing values, weight one number per row, and everything here is the same for
any loss in Z: entropies of classes, errors of a regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Lasso

from planewise import _core
from planewise.recip._entropy import LARGEST
from planewise.recip._rows import FloatArray, Indices, Vector

SETTLED = 1e-6
MOST_ROUNDS = 50
MOST_SWEEPS = 20
TRIED_BY_MEAN, TRIED_BY_GAIN = 30, 10
FIXED_POINT_ROUNDS = 20  # of the lasso
MOST_ROBUST_ROUNDS = 20
WORTH_A_THREAD = 1_000_000  # entries of Z; a round on fewer takes less than waking a thread


@dataclass(frozen=True)
class Loop:
    """Where Algorithm 1 ended: each row's views and shares, how much each view is used, the objective by round."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    share: Vector  # of the second
    used: Vector  # c_j = sum_i w_i b_ij
    objective: list[float]

    @property
    def largest(self) -> NDArray[np.int32]:
        """The view of each row's largest share."""
        return np.where(self.share > 0.5, self.second, self.first)


def without_missing(Z: FloatArray, weight: Vector) -> Vector:
    """Missing entries become the largest, in place; rows without any entry get no weight."""
    missing = np.isnan(Z)
    if not missing.any():
        return weight
    Z[missing] = LARGEST
    return np.where(missing.all(axis=0), 0.0, weight)


def least_by_row(Z: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """T and the view that has it; of equal ones the first, which has the lowest dimension."""
    best = Z.argmin(axis=0).astype(np.int32)
    return Z[best, np.arange(Z.shape[1])], best


def recip_loop(
    Z: FloatArray,
    weight: Vector,
    lam: float,
    *,
    least: tuple[FloatArray, NDArray[np.int32]] | None = None,
    tol: float = SETTLED,
    max_iter: int = MOST_ROUNDS,
    n_threads: int = 1,
) -> Loop:
    """Algorithm 1. Each round lowers F = sum_i w_i (z_i . b_i - T_i)^2 - lam / (2 N) sum_j c_j^2.

    The price of a view is delta_j = 1 - c_j / N: the linear part of a concave cost of using it, so that the loop
    majorises and minimises. Views that no row uses cost 1, and of those only a row's best can matter to it.
    """
    T, best = least_by_row(Z) if least is None else least
    total = float(weight.sum())
    delta = np.ones(len(Z))
    objective: list[float] = []
    for _ in range(max_iter):
        cheaper = np.flatnonzero(delta < 1)
        order = cheaper[np.argsort(delta[cheaper], kind="stable")].astype(np.int32)
        busy = n_threads if len(order) * Z.shape[1] > WORTH_A_THREAD else 1
        first, second, share, value = _core.choose_projections(Z, T, best, order, delta[order], lam, busy)
        used = _summed(first, weight * (1 - share), len(Z)) + _summed(second, weight * share, len(Z))
        objective.append(float(weight @ (value - T) ** 2 - lam / (2 * total) * (used @ used)))
        before, delta = delta, 1 - used / total
        if np.abs(delta - before).max() < tol:
            break
    return Loop(first, second, share, used, objective)


def used_views(loop: Loop) -> list[int]:
    """Views that any row uses, however little: |B_j|_1 > 0, as Algorithm 1 has it."""
    return [int(j) for j in np.flatnonzero(loop.used > 0)]


def kept_views(loop: Loop, weight: Vector, min_support: float) -> list[int]:
    """Views that are the largest part of more than `min_support` of the weight; if none is, the most used one."""
    support = _summed(loop.largest, weight, len(loop.used)) / weight.sum()
    kept = np.flatnonzero(support > min_support)
    return [int(j) for j in kept] if len(kept) else [int(loop.used.argmax())]


def greedy_views(Z: FloatArray, weight: Vector, most: int | None, min_support: float, n_threads: int = 1) -> list[int]:
    """Up to `most` views by the largest gain, then swaps while they help: facility location on min(Z, 1).

    With None views are added as long as they gain more than `min_support` of the whole weight.
    """
    kept: list[int] = []
    current = np.ones(Z.shape[1], dtype=np.float32)
    while most is None or len(kept) < most:
        gain = _core.projection_gains(Z, weight, current, n_threads)
        best = int(gain.argmax())
        if gain[best] <= (min_support * weight.sum() if most is None else 0):
            break
        kept.append(best)
        np.minimum(current, Z[best], out=current)
    if not kept:
        return [int((np.minimum(Z, LARGEST) @ weight).argmin())]
    return _swapped(Z, weight, kept, n_threads)


def answering_views(
    Z: FloatArray, weight: Vector, most: int | None, min_support: float, n_threads: int = 1
) -> list[int]:
    """Views whose answers lose least, added one by one, then swapped while that helps.

    A row is answered for its class by the least Z, and against it by one over the largest: a view that is sure and
    wrong costs, which no sum of the rows' best entropies sees. The loss of a row is log(1 + least Z * largest Z), the
    log-loss of its answer. Views are added while one lowers the mean by more than clearing up `min_support` of the
    rows would, or until there are `most`.
    """
    worth = min_support * np.log(2) * weight.sum()
    kept: list[int] = []
    before = np.inf
    while most is None or len(kept) < most:
        loss = _answer_loss(Z, weight, kept, n_threads)
        best = int(loss.argmin())
        if kept and loss[best] >= before - worth:
            break
        kept.append(best)
        before = loss[best]
    for _ in range(MOST_SWEEPS if len(kept) > 1 else 0):
        start = before
        for place in range(len(kept)):
            loss = _answer_loss(Z, weight, kept[:place] + kept[place + 1 :], n_threads)
            best = int(loss.argmin())
            if loss[best] < before * (1 - 1e-9):
                kept[place], before = best, loss[best]
        if before == start:
            break
    return kept


def tried_views(
    Z: FloatArray,
    weight: Vector,
    judge: Callable[[list[list[int]]], list[Vector]],
    most: int | None,
    min_support: float,
) -> list[int]:
    """Views whose answers lose least as judged by trial, added one by one: for losses that are not entropies.

    The views tried are those of the least mean loss, and those chosen greedily. One is added while it lowers the loss
    by more than `min_support` of it.
    """
    by_mean = np.argsort(Z @ weight, kind="stable")[:TRIED_BY_MEAN]
    tried = sorted({int(j) for j in by_mean} | set(greedy_views(Z, weight, TRIED_BY_GAIN, min_support)))
    kept: list[int] = []
    before = np.inf
    while most is None or len(kept) < most:
        new = [j for j in tried if j not in kept]
        if not new:
            break
        losses = [float(weight @ lost) for lost in judge([[*kept, j] for j in new])]
        best = int(np.argmin(losses))
        if kept and losses[best] >= before * (1 - min_support):
            break
        kept.append(new[best])
        before = losses[best]
    return kept


def _answer_loss(Z: FloatArray, weight: Vector, others: list[int], n_threads: int) -> Vector:
    """The loss of answers if each view joined these."""
    n_rows = Z.shape[1]
    least = Z[others].min(axis=0) if others else np.full(n_rows, np.inf, dtype=np.float32)
    largest = Z[others].max(axis=0) if others else np.zeros(n_rows, dtype=np.float32)
    return _core.decision_losses(Z, weight, least, largest, n_threads)


def _swapped(Z: FloatArray, weight: Vector, kept: list[int], n_threads: int) -> list[int]:
    if len(kept) == 1:
        return kept
    for _ in range(MOST_SWEEPS):
        changed = False
        for place, view in enumerate(kept):
            others = [other for other in kept if other != view]
            gain = _core.projection_gains(Z, weight, np.minimum(Z[others].min(axis=0), np.float32(1)), n_threads)
            best = int(gain.argmax())
            if gain[best] > gain[view] * (1 + 1e-9):
                kept[place] = best
                changed = True
        if not changed:
            break
    return kept


def support_and_order(Z: FloatArray, weight: Vector, kept: list[int]) -> tuple[list[int], Vector, Indices]:
    """The kept views, the most used first; what share of the weight each is best for; each row's place among them."""
    kept = sorted(kept)
    best = Z[kept].argmin(axis=0)
    support = _summed(best, weight, len(kept)) / weight.sum()
    order = np.argsort(-support, kind="stable")
    place = np.empty(len(kept), dtype=np.intp)
    place[order] = np.arange(len(kept))
    return [kept[j] for j in order], support[order], place[best]


def optimality_gap(Z: FloatArray, weight: Vector, kept: list[int]) -> float:
    """What the kept views lack to the bound (7), the best view of every row: a mean over the rows."""
    return float(weight @ (Z[kept].min(axis=0) - Z.min(axis=0)) / weight.sum())


def _summed(group: NDArray[np.int32] | Indices, values: Vector, n_groups: int) -> Vector:
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)


# ------------------------------------------------------------ the lasso and its robust form (section 2.4)
def _design(Z: FloatArray, weight: Vector, unit: bool = True) -> tuple[Vector, Vector]:
    """Z as (rows, views) and T; with `unit`, columns have length one, else the view of the largest entropies wins."""
    root = np.sqrt(weight)
    design = np.asfortranarray((Z * root).T, dtype=np.float64)
    if unit:
        length = np.linalg.norm(design, axis=0)
        design /= np.where(length > 0, length, 1)
    return design, Z.min(axis=0) * root


def largest_penalty(Z: FloatArray, weight: Vector, unit: bool = True) -> float:
    """The least lam at which no view is left."""
    design, target = _design(Z, weight, unit)
    norm = float(np.linalg.norm(target))
    return float((target @ design).max()) / norm if norm > 0 else 1.0


def lasso_views(Z: FloatArray, weight: Vector, lam: float, most: int | None, unit: bool = True) -> list[int]:
    """The views with a coefficient in the minimum of ||T - Z beta||_2 + lam ||beta||_1, the largest `most` of them.

    With `unit`, the columns of Z are brought to length one.
    """
    size = np.abs(_coefficients(Z, weight, lam, unit))
    order = [int(j) for j in np.argsort(-size, kind="stable") if size[j] > 0]
    return order[:most] if order else [int((Z @ weight).argmin())]


def robust_lasso_views(
    Z: FloatArray, weight: Vector, lam: float, most: int | None, min_support: float, unit: bool = True
) -> list[int]:
    """One view at a time: the largest coefficient of a lasso on rows weighted by what the views so far leave open.

    It ends after `most` views, or when a view is the best one for no more than `min_support` of the rows.
    """
    T = Z.min(axis=0)
    kept: list[int] = []
    attention = weight
    for _ in range(most or MOST_ROBUST_ROUNDS):
        size = np.abs(_coefficients(Z, attention, lam, unit))
        size[kept] = 0
        if not size.any():
            break
        new = int(size.argmax())
        if kept:
            better = Z[new] < Z[kept].min(axis=0)
            if weight @ better <= min_support * weight.sum():
                break
        kept.append(new)
        attention = weight * (Z[kept].min(axis=0) - T)
        if not attention.any():
            break
        attention = attention * (weight.sum() / attention.sum())
    return kept or [int((Z @ weight).argmin())]


def _coefficients(Z: FloatArray, weight: Vector, lam: float, unit: bool = True) -> Vector:
    """Find beta. The norm is not squared: its lasso has the penalty lam ||r||, r being the residual, found by turns."""
    design, target = _design(Z, weight, unit)
    model = Lasso(fit_intercept=False, warm_start=True, max_iter=10_000, tol=1e-4)
    residual = float(np.linalg.norm(target))
    for _ in range(FIXED_POINT_ROUNDS):
        if residual <= 1e-9 * np.linalg.norm(target):
            break
        model.set_params(alpha=lam * residual / len(target)).fit(design, target)
        before, residual = residual, float(np.linalg.norm(target - design @ model.coef_))
        if abs(residual - before) <= 1e-4 * before:
            break
    return model.coef_ if hasattr(model, "coef_") else np.zeros(len(Z))
