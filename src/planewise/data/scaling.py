"""Columns in comparable units: standardised, and their long tails compressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._optional import warn_user
from planewise._params import Limit

# arcsinh(2 z) is nearly linear for |z| < 1/2 and a logarithm beyond: 0.3 points of accuracy more than plain z for
# kernel machines on the develop sets, by any rule of selection. Clipping at 3 gained less, ranks lost.
TAIL_FACTOR = 2.0
CONSTANT = 10 * float(np.finfo(np.float64).eps)  # a spread up to this share of the mean is rounding

MEASURED_BY = 20_000  # rows, evenly spread, by which `robust_scaling` measures a column
ROUNDING = 4e-7  # of a column's mean: a smaller spread is what float32 makes of a constant
SMALLEST = 1e-36  # spread that float32 can divide by
FARTHEST = 1e18  # standard units whose squares float32 can hold
OUTERMOST = 1e-3  # share of the weight on either side that may be wild

Numbers = NDArray[Any]
Vector = NDArray[np.float64]


def scaling_limit(*words: str) -> Limit:
    """What the parameter ``scaling`` may be: one of these words, or None for X as it is."""
    return Limit(
        lambda value: value is None or (isinstance(value, str) and value in words),
        ", ".join(repr(word) for word in words) + " or None",
    )


@dataclass(frozen=True)
class Scaling:
    """By column, what is subtracted and what is divided by."""

    mean: Numbers
    spread: Numbers
    tails: Scaling | None = None  # of arcsinh(TAIL_FACTOR z), z being the standardised columns; None: z is used

    def __call__(self, X: Numbers) -> Any:
        """Rows in standard units; in float32, those beyond `FARTHEST` are as far away as that."""
        with np.errstate(over="ignore"):
            z = (X - self.mean) / self.spread
        if getattr(z, "dtype", None) == np.float32:
            np.clip(z, -FARTHEST, FARTHEST, out=z)
        return z if self.tails is None else self.tails(np.arcsinh(TAIL_FACTOR * z))

    def of_columns(self, columns: Any) -> Scaling:
        """The scaling of some of the columns."""
        tails = None if self.tails is None else self.tails.of_columns(columns)
        return Scaling(self.mean[columns], self.spread[columns], tails)

    def inverse(self, Z: Numbers) -> Any:
        """Rows in the user's units."""
        z = Z if self.tails is None else np.sinh(self.tails.inverse(Z)) / TAIL_FACTOR
        return z * self.spread + self.mean


class ScalingToFloat32(Scaling):
    """Subtracts and divides in float64, for columns that float32 cannot resolve before."""

    def __call__(self, X: Numbers) -> Any:
        """Rows in standard units, as float32."""
        return np.clip(super().__call__(X), -FARTHEST, FARTHEST).astype(np.float32)


def no_scaling(n_features: int, dtype: Any = np.float64) -> Scaling:
    """Leaves columns as they are."""
    return Scaling(np.zeros(n_features, dtype), np.ones(n_features, dtype))


def find_scaling(X: NDArray[np.float64], weight: Vector, wanted: str | None) -> Scaling:
    """By the weighted mean and standard deviation, so that a weight of two is the row twice.

    `wanted` is "standard", "arcsinh" (compresses tails as well), "robust" or None. A constant column is only centred.
    """
    if wanted is None:
        return no_scaling(X.shape[1])
    if wanted == "robust":
        return Scaling(*_robust_columns(X, weight))
    share = weight / weight.sum()
    mean = share @ X
    _, size = np.frexp(np.abs(X - mean).max(axis=0))  # squares of anything are within the range of numbers then
    spread = np.ldexp(np.sqrt(share @ np.ldexp(X - mean, -size) ** 2), size)
    plain = Scaling(mean, np.where(spread <= CONSTANT * np.abs(mean), 1.0, spread))
    if wanted == "standard":
        return plain
    return replace(plain, tails=find_scaling(np.arcsinh(TAIL_FACTOR * plain(X)), weight, "standard"))


def robust_scaling(rows: NDArray[Any], weight: Vector, places: Sequence[int] | None = None) -> Scaling:
    """The scaling "robust" to float32, in the type of the rows; `places` are the columns' places in X."""
    mean, spread = _robust_columns(rows, weight, places)
    if rows.dtype == np.float64:
        return ScalingToFloat32(mean, spread)
    return Scaling(mean.astype(np.float32), spread.astype(np.float32))


def _robust_columns(rows: NDArray[Any], weight: Vector, places: Sequence[int] | None = None) -> tuple[Vector, Vector]:
    """A mean and a standard deviation of each column that a few wild values cannot inflate.

    Values beyond the outermost thousandths are clipped to these. A column of two values is scaled by half their
    distance: a rare 1 in a 0/1 column would otherwise lie many deviations away and drown all other columns in a kernel.
    """
    rounding = CONSTANT if rows.dtype == np.float64 else ROUNDING
    step = -(-len(rows) // MEASURED_BY)
    share = weight[::step] / weight[::step].sum()
    low, high = rows.min(axis=0), rows.max(axis=0)
    two_values = np.all((rows == low) | (rows == high), axis=0)
    mean, spread = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for j in range(rows.shape[1]):
        column = rows[::step, j].astype(np.float64)
        if two_values[j]:
            mean[j], found = np.sum(share * column), (float(high[j]) - float(low[j])) / 2
        else:
            mean[j], found = _robust_moments(column, share)
        # A constant column stays as it is, and so does one whose spread is rounding.
        spread[j] = found if found > max(rounding * abs(mean[j]), SMALLEST) else 1.0
        if spread[j] != found and high[j] > low[j]:
            warn_user(
                f"Column {j if places is None else places[j]} varies by {high[j] - low[j]:.3g} around {mean[j]:.9g}, "
                f"which {rows.dtype} cannot distinguish from rounding: it is left out. Subtract its mean first, in "
                "double precision."
            )
    return mean, spread


def _robust_moments(column: Vector, share: Vector) -> tuple[float, float]:
    """Mean and standard deviation of the clipped column; of the column itself if nothing else varies."""
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(share[order])
    ends = np.searchsorted(reached, [OUTERMOST, 1 - OUTERMOST])
    tame = np.clip(column, *column[order[np.minimum(ends, len(order) - 1)]])
    if tame.min() == tame.max():
        tame = column
    mean = np.sum(share * tame)
    return float(mean), float(np.sqrt(np.sum(share * np.square(tame - mean))))
