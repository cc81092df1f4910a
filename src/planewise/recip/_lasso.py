"""The lasso and its robust form, which the paper compares RECIP with: T regressed on Z (section 2.4)."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Lasso

from planewise.recip._rows import FloatArray, Vector

FIXED_POINT_ROUNDS = 20
MOST_ROBUST_ROUNDS = 20


def _design(Z: FloatArray, weight: Vector) -> tuple[Vector, Vector]:
    """Z as (rows, views) with columns of length one, else the view of the largest entropies wins; and T."""
    root = np.sqrt(weight)
    design = np.asfortranarray((Z * root).T, dtype=np.float64)
    length = np.linalg.norm(design, axis=0)
    design /= np.where(length > 0, length, 1)
    return design, Z.min(axis=0) * root


def largest_penalty(Z: FloatArray, weight: Vector) -> float:
    """The least lam at which no view is left."""
    design, target = _design(Z, weight)
    norm = float(np.linalg.norm(target))
    return float((target @ design).max()) / norm if norm > 0 else 1.0


def lasso_views(Z: FloatArray, weight: Vector, lam: float, most: int | None) -> list[int]:
    """The views with a coefficient in the minimum of ||T - Z beta||_2 + lam ||beta||_1, the largest `most` of them.

    The columns of Z are brought to length one.
    """
    size = np.abs(_coefficients(Z, weight, lam))
    order = [int(j) for j in np.argsort(-size, kind="stable") if size[j] > 0]
    return order[:most] if order else [int((Z @ weight).argmin())]


def robust_lasso_views(Z: FloatArray, weight: Vector, lam: float, most: int | None, min_support: float) -> list[int]:
    """One view at a time: the largest coefficient of a lasso on rows weighted by what the views so far leave open.

    It ends after `most` views, or when a view is the best one for no more than `min_support` of the rows.
    """
    T = Z.min(axis=0)
    kept: list[int] = []
    attention = weight
    for _ in range(most or MOST_ROBUST_ROUNDS):
        size = np.abs(_coefficients(Z, attention, lam))
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


def _coefficients(Z: FloatArray, weight: Vector, lam: float) -> Vector:
    """Find beta. The norm is not squared: its lasso has the penalty lam ||r||, r being the residual, found by turns."""
    design, target = _design(Z, weight)
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
