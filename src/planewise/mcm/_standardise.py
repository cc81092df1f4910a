"""Rows without gaps, brought to comparable columns: what kernels need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planewise._input import FloatArray
from planewise._warn import warn_user

MEASURED_BY = 20_000  # rows, evenly spread, that tell the scale of a column
ROUNDING = 4e-7  # of a column's centre: a smaller spread is what float32 makes of a constant
SMALLEST = 1e-36  # spread that float32 can divide by
OUTERMOST = 1e-3  # share of the weight on either side that may be wild


@dataclass(frozen=True)
class Standardisation:
    """Column centres and scales, in the user's units."""

    centre: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, weight: NDArray[np.float64]) -> Standardisation:
        """The mean and a standard deviation that a few wild values cannot blow up.

        Values beyond the outermost thousandths count as these. A column of two values is scaled by half their distance:
        a rare mark in a 0/1 column would otherwise lie many deviations away and drown all the others in the kernel.
        """
        step = -(-len(rows) // MEASURED_BY)
        share = weight[::step] / weight[::step].sum()
        low, high = rows.min(axis=0), rows.max(axis=0)
        two_values = np.all((rows == low) | (rows == high), axis=0)
        centre, scale = np.empty(rows.shape[1]), np.empty(rows.shape[1])
        for j in range(rows.shape[1]):
            column = rows[::step, j].astype(np.float64)
            if two_values[j]:
                centre[j], spread = np.sum(share * column), (float(high[j]) - float(low[j])) / 2
            else:
                centre[j], spread = _moments(column, share)
            # A constant column stays as it is, and so does one whose spread is rounding.
            scale[j] = spread if spread > max(ROUNDING * abs(centre[j]), SMALLEST) else 1.0
            if scale[j] != spread and high[j] > low[j]:
                warn_user(
                    f"Column {j} varies by {high[j] - low[j]:.3g} around {centre[j]:.9g}, which float32 cannot tell "
                    "from rounding: it is left out. Subtract its mean before, in double precision."
                )
        return cls(centre.astype(np.float32), scale.astype(np.float32))

    @classmethod
    def none(cls, n_features: int) -> Standardisation:
        """Leaves everything as it is."""
        return cls(np.zeros(n_features, np.float32), np.ones(n_features, np.float32))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Rows in standard units."""
        return (rows - self.centre) / self.scale

    def undo(self, rows: FloatArray) -> FloatArray:
        """Rows in the user's units."""
        return rows * self.scale + self.centre


def _moments(column: NDArray[np.float64], share: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard deviation of the column, wild values brought in; of all of it if the rest does not vary."""
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(share[order])
    ends = np.searchsorted(reached, [OUTERMOST, 1 - OUTERMOST])
    tame = np.clip(column, *column[order[np.minimum(ends, len(order) - 1)]])
    if tame.min() == tame.max():
        tame = column
    centre = np.sum(share * tame)
    return float(centre), float(np.sqrt(np.sum(share * np.square(tame - centre))))
