"""Weighted measures with their 95 % confidence intervals, all in closed form.

Rows are taken as independent. Rows of unequal weights count as (sum of w)^2 / (sum of w^2) of them (Kish), so that
weights may have any scale: multiplying all of them by a number changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Z = 1.959963984540054  # of the normal distribution, for 95 %


@dataclass(frozen=True)
class Measured:
    """A value and what it may well be on other rows."""

    value: float
    low: float
    high: float


def share(hit: NDArray[np.bool_], weight: Vector) -> Measured:
    """The share of hits, with Wilson's interval, which is sound near 0 and 1 and for few rows."""
    n = weight.sum() ** 2 / (weight**2).sum()
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
    """The mean of losses."""
    value = float(np.average(loss, weights=weight))
    half = Z * _standard_error(loss - value, weight)
    return Measured(value, value - half, value + half)


def root_mean(squares: Vector, weight: Vector) -> Measured:
    """The root of the mean of squares: the bounds of the mean, their roots."""
    found = mean(squares, weight)
    return Measured(*(float(np.sqrt(max(0.0, each))) for each in (found.value, found.low, found.high)))


def explained(target: Vector, predicted: Vector, weight: Vector) -> Measured:
    """R²: 1 less the ratio of two means, whose error follows from that of its first-order change a row."""
    centre = np.average(target, weights=weight)
    squares, spread = (target - predicted) ** 2, (target - centre) ** 2
    around = float(np.average(spread, weights=weight))
    left = float(np.average(squares, weights=weight)) / around
    half = Z * _standard_error((squares - left * spread) / around, weight)
    return Measured(1 - left, 1 - left - half, min(1.0, 1 - left + half))


def _standard_error(centred: Vector, weight: Vector) -> float:
    return float(np.sqrt(np.sum((weight * centred) ** 2)) / weight.sum())
