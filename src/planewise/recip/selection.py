"""Which views are kept: the paper's Algorithm 1 with an exact row solver, greedy choice with swaps, and the lasso.

Z is (views, rows) float32 without missing values; weight is one number per row.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from planewise import _core
from planewise.recip.entropy import LARGEST
from planewise.recip.rows import FloatArray, Indices, Vector, weighted_sum

SETTLED = 1e-6
MOST_ROUNDS = 50
MOST_SWEEPS = 20
FIXED_POINT_ROUNDS = 20  # of the lasso
MOST_PASSES = 10_000  # over the coefficients, in each of them
# Tolerances of the lasso: strong penalties need the first, or no view is left where some should be. The robust one only
# needs its largest coefficient.
EXACT, LOOSE = 1e-7, 1e-4
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
        objective.append(float(weighted_sum(weight, (value - T) ** 2) - lam / (2 * total) * weighted_sum(used, used)))
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
        return [int(weighted_sum(weight, np.minimum(Z, LARGEST)).argmin())]
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
    return float(weighted_sum(weight, Z[kept].min(axis=0) - Z.min(axis=0)) / weight.sum())


def _summed(group: NDArray[np.int32] | Indices, values: Vector, n_groups: int) -> Vector:
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)


# ------------------------------------------------------------ the lasso and its robust form (section 2.4)
def _design(Z: FloatArray, weight: Vector, unit: bool = True) -> tuple[Vector, Vector]:
    """Z as (rows, views) and T; with `unit`, columns have length one, else the view of the largest entropies wins.

    Rows without weight are left out: the robust lasso soon has many.
    """
    counting = weight > 0
    Z, root = Z[:, counting], np.sqrt(weight[counting])
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


class RootLasso:
    """Minimises ||T - Z beta||_2 + lam ||beta||_1, and counts the problems it could not solve."""

    def __init__(self, unit: bool = True, tol: float = EXACT) -> None:
        self.unit = unit  # whether the columns of Z are brought to length one
        self.tol = tol
        self.n_problems = self.n_unsolved = 0

    def coefficients(self, Z: FloatArray, weight: Vector, lam: float) -> Vector:
        """Find beta. The norm is not squared: its lasso has the penalty lam ||r||, r being the residual, by turns."""
        design, target = _design(Z, weight, self.unit)
        model = Lasso(fit_intercept=False, precompute=True, warm_start=True, max_iter=MOST_PASSES, tol=self.tol)
        beta, solved = np.zeros(len(Z)), True
        residual = norm = float(np.linalg.norm(target))
        for _ in range(FIXED_POINT_ROUNDS):
            if residual <= 1e-9 * norm:
                break
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # one of our own is enough
                model.set_params(alpha=lam * residual / len(target)).fit(design, target)
            beta, solved = model.coef_, model.n_iter_ < MOST_PASSES
            before, residual = residual, float(np.linalg.norm(target - design @ beta))
            if abs(residual - before) <= self.tol * before:
                break
        self.n_problems += 1
        self.n_unsolved += not solved
        return beta


def lasso_views(Z: FloatArray, weight: Vector, lam: float, most: int | None, lasso: RootLasso) -> list[int]:
    """The views that have a coefficient in the lasso of T on Z, the largest `most` of them."""
    size = np.abs(lasso.coefficients(Z, weight, lam))
    order = [int(j) for j in np.argsort(-size, kind="stable") if size[j] > 0]
    return order[:most] if order else [int(weighted_sum(weight, Z).argmin())]


def robust_lasso_views(
    Z: FloatArray, weight: Vector, lam: float, most: int | None, min_support: float, lasso: RootLasso
) -> list[int]:
    """One view at a time: the largest coefficient of a lasso on rows weighted by what the views so far leave open.

    It ends after `most` views, or when a view is the best one for no more than `min_support` of the rows.
    """
    T = Z.min(axis=0)
    kept: list[int] = []
    attention = weight
    for _ in range(most or MOST_ROBUST_ROUNDS):
        size = np.abs(lasso.coefficients(Z, attention, lam))
        size[kept] = 0
        if not size.any():
            break
        new = int(size.argmax())
        if kept:
            better = Z[new] < Z[kept].min(axis=0)
            if weighted_sum(weight, better) <= min_support * weight.sum():
                break
        kept.append(new)
        attention = weight * (Z[kept].min(axis=0) - T)
        if not attention.any():
            break
        attention = attention * (weight.sum() / attention.sum())
    return kept or [int(weighted_sum(weight, Z).argmin())]
