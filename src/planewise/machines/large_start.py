"""Where the descent begins: a width of the kernel and weights that are good already, from a part of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve

from planewise.data.problem import FloatArray
from planewise.machines.maps import FeatureMap

RIDGES = (1e-2, 1e-3, 1e-4)  # none smaller: large weights would make every move of a prototype a leap
MOST_NEWTON_STEPS = 8
TRIED_BY = 3000  # rows, or four a component, on which widths are compared
MOST_ROWS, MOST_NUMBERS = 20_000, 2**21  # for the weights; and the features of these rows that may be held


class Start(NamedTuple):
    """A map and the weights and intercepts to go with it."""

    feature_map: FeatureMap
    weights: FloatArray
    intercept: FloatArray
    gamma: float


def rows_to_start_from(n_rows: int, n_components: int) -> int:
    """How many rows `find_start` is to get."""
    return min(n_rows, MOST_ROWS, max(4 * n_components, MOST_NUMBERS // n_components))


def find_start(
    gammas: list[float],
    draw: Callable[[float], FeatureMap],
    rows: FloatArray,
    signs: FloatArray,
    weight: FloatArray,
    factor: FloatArray | None = None,
) -> Start:
    """The width that serves least squares best on rows left out, and then the squared hinge's weights on all rows.

    `factor` is the conformal r of each row, which multiplies its features.
    """
    n_components = draw(gammas[0]).n_components
    n_tried = min(len(rows), max(TRIED_BY, 4 * n_components))
    n_judged = n_tried // 4
    judged, learned = slice(0, n_judged), slice(n_judged, n_tried)
    best_error, gamma, ridge = np.inf, gammas[0], RIDGES[0]
    for each in gammas:
        features = _times(draw(each).forward(rows[:n_tried]).features, factor)
        if not np.isfinite(features).all():
            raise ValueError(f"The kernel's values overflow in float32 (gamma={each:g}); use a smaller gamma.")
        for strength in RIDGES:
            weights, intercept = _ridge(features[learned], signs[learned], weight[learned], strength)
            residual = features[judged] @ weights + intercept - signs[judged]
            error = float(weight[judged] @ np.square(residual).sum(axis=1))
            if error < best_error:
                best_error, gamma, ridge = error, each, strength
    feature_map = draw(gamma)
    features = _times(feature_map.forward(rows).features, factor)
    return Start(feature_map, *_squared_hinge(features, signs, weight, ridge), gamma)


def _times(features: FloatArray, factor: FloatArray | None) -> FloatArray:
    return features if factor is None else features * factor[: len(features), None]


def _squared_hinge(
    features: FloatArray, signs: FloatArray, weight: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Newton's method: least squares on the rows whose margin is below one, until these stay the same."""
    weights, intercept = _ridge(features, signs, weight, ridge)
    for k in range(signs.shape[1]):
        active = np.ones(len(features), dtype=bool)
        for _ in range(MOST_NEWTON_STEPS):
            before, active = active, signs[:, k] * (features @ weights[:, k] + intercept[k]) < 1
            if np.array_equal(active, before) or len(np.unique(signs[active, k])) < 2:
                break
            part, bias = _ridge(features[active], signs[active, k : k + 1], weight[active], ridge)
            weights[:, k], intercept[k] = part[:, 0], bias[0]
    return weights, intercept


def _ridge(
    features: FloatArray, targets: FloatArray, weight: FloatArray, strength: float
) -> tuple[FloatArray, FloatArray]:
    share = weight / weight.sum()
    centre, target_centre = share @ features, share @ targets
    centred = features - centre
    gram = (centred.T @ (centred * share[:, None])).astype(np.float64)
    moment = (centred.T @ ((targets - target_centre) * share[:, None])).astype(np.float64)
    damped = gram + strength * np.eye(len(gram))
    weights = solve(damped, moment, assume_a="pos")
    return weights.astype(np.float32), (target_centre - centre @ weights).astype(np.float32)
