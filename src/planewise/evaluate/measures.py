"""Weighted measures with their 95% confidence intervals.

Rows are taken as independent. Rows of unequal weights count as (sum of w)^2 / (sum of w^2) of them (Kish), so that
weights may have any scale: multiplying all of them by a number changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from sklearn.metrics import roc_auc_score

Vector = NDArray[np.float64]
Z = 1.959963984540054  # of the normal distribution, for 95%


@dataclass(frozen=True)
class Measured:
    """A measured value, and the bounds of its 95% confidence interval."""

    value: float
    low: float
    high: float

    @property
    def standard_error(self) -> float:
        """What the width of the interval says."""
        return (self.high - self.low) / (2 * Z)


def share(hit: NDArray[np.bool_], weight: Vector) -> Measured:
    """The share of hits, with Wilson's interval, which is sound near 0 and 1 and for few rows."""
    n = _n_rows(weight)
    p = float(np.average(hit, weights=weight))
    centre = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    # Rounding must not put a share of 0 or 1 outside its interval.
    return Measured(p, float(np.clip(centre - half, 0, p)), float(np.clip(centre + half, p, 1)))


def mean_of_shares(parts: list[Measured]) -> Measured:
    """The mean of independent shares; the distances to their bounds add up in squares."""
    value = float(np.mean([part.value for part in parts]))
    below = np.sqrt(sum((part.value - part.low) ** 2 for part in parts)) / len(parts)
    above = np.sqrt(sum((part.high - part.value) ** 2 for part in parts)) / len(parts)
    return Measured(value, max(0.0, value - float(below)), min(1.0, value + float(above)))


def mean(loss: Vector, weight: Vector) -> Measured:
    """The mean of losses, none of which is negative."""
    value = float(np.average(loss, weights=weight))
    half = Z * standard_error(loss - value, weight)
    return Measured(value, max(0.0, value - half), value + half)


def root_mean(squares: Vector, weight: Vector) -> Measured:
    """The root of the mean of squares: the bounds of the mean, their roots."""
    found = mean(squares, weight)
    return Measured(*(float(np.sqrt(max(0.0, each))) for each in (found.value, found.low, found.high)))


def explained(target: Vector, predicted: Vector, weight: Vector) -> Measured:
    """R²: 1 less the ratio of two means, whose error follows from that of its first-order change per row."""
    centre = np.average(target, weights=weight)
    squares, spread = (target - predicted) ** 2, (target - centre) ** 2
    around = float(np.average(spread, weights=weight))
    left = float(np.average(squares, weights=weight)) / around
    half = Z * standard_error((squares - left * spread) / around, weight)
    return Measured(1 - left, 1 - left - half, min(1.0, 1 - left + half))


def area(chance: Vector, positive: NDArray[np.bool_], weight: Vector) -> Measured:
    """The area under the ROC curve, with Newcombe's interval (2006, method 5), sound near 1 as Wilson's is for shares.

    Its bounds are the areas t at which the found one is 1.96 standard errors away, the error being that of t.
    """
    value = float(roc_auc_score(positive, chance, sample_weight=weight))
    if np.ptp(chance[weight > 0]) == 0:
        return Measured(value, value, value)  # a constant has an area of 0.5 by definition
    m, n = _n_rows(weight[positive]), _n_rows(weight[~positive])

    def away(t: float) -> float:
        """By how many standard errors the found area is off t, less 1.96."""
        pairs = (1 - t) / (2 - t) + t / (1 + t)
        variance = t * (1 - t) * (1 + ((m + n) / 2 - 1) * pairs) / (m * n)
        return (value - t) ** 2 - Z**2 * variance

    inside = float(np.clip(value, 1e-9, 1 - 1e-9))  # 0 and 1 themselves are no standard errors away
    low = brentq(away, 0.0, inside) if value > 0 else 0.0
    high = brentq(away, inside, 1.0) if value < 1 else 1.0
    return Measured(value, min(low, value), max(high, value))


def _n_rows(weight: Vector) -> float:
    """How many rows of equal weight these are worth."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def standard_error(centred: Vector, weight: Vector) -> float:
    """Of the weighted mean, by the distances from it."""
    return float(np.sqrt(np.sum((weight * centred) ** 2)) / weight.sum())
