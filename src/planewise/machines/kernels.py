"""Kernel functions, as small objects that can be called on two tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._params import Limit, real

Matrix = NDArray[np.float64]
SMOOTHEST = 0.05  # of "scale": many features say less each, and a smoother kernel holds them together
KERNEL_NAMES = ("linear", "rbf", "poly")


@dataclass(frozen=True)
class Kernel:
    """A kernel k(x, x') with its parameters.

    Parameters
    ----------
    name : {"linear", "rbf", "poly"}
    gamma : float
        Scale of the distance or of the scalar product.
    degree : int
        Power of "poly".
    coef0 : float
        Constant of "poly".

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.machines.kernels import Kernel
    >>> kernel = Kernel("rbf", gamma=0.5)
    >>> kernel(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])
    """

    name: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __call__(self, X: NDArray[Any], Y: NDArray[Any]) -> Matrix:
        """The kernel values of every row of X (down) with every row of Y (across)."""
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, in words
            values = self._by_name(X, Y)
            fine = np.isfinite(values.sum())  # no value of one sign hides another's overflow: their sum is NaN
        if not fine and not np.isfinite(values).all():
            raise ValueError(
                f"The values of the kernel {self.name!r} overflow (gamma={self.gamma:g}"
                + (f", degree={self.degree}" if self.name == "poly" else "")
                + "); use a smaller gamma or degree, or scaling='standard'."
            )
        return values

    def _by_name(self, X: NDArray[Any], Y: NDArray[Any]) -> Matrix:
        if self.name == "rbf":
            values = -self.gamma * squared_distances(X, Y)
            return np.exp(values, out=values)
        values = X @ Y.T
        if self.name == "linear":
            return values
        values *= self.gamma
        values += self.coef0
        return values**self.degree

    def diagonal(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """The kernel value of every row with itself."""
        if self.name == "rbf":
            return np.ones(len(X))
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", X, X)
            if self.name == "linear":
                return squares
            return (self.gamma * squares + self.coef0) ** self.degree

    @property
    def is_semidefinite(self) -> bool:
        """Whether every matrix of kernel values is positive semidefinite."""
        return self.name != "poly" or self.coef0 >= 0


def squared_distances(X: NDArray[Any], Y: NDArray[Any]) -> Matrix:
    """Squared Euclidean distances by one matrix product, none negative."""
    values = X @ Y.T
    values *= -2
    values += np.einsum("ij,ij->i", X, X)[:, None]
    values += np.einsum("ij,ij->i", Y, Y)
    return np.maximum(values, 0, out=values)


def gamma_limit(words: Sequence[str] = ("smooth", "medium", "scale", "auto")) -> Limit:
    """What the parameter ``gamma`` may be: a number, or one of these words."""

    def allows(value: Any) -> bool:
        return value in words if isinstance(value, str) else real(0, open_low=True).allows(value)

    *first, last = (repr(word) for word in words)
    return Limit(allows, f"a number above 0, {', '.join(first)} or {last}")


def gamma_value(gamma: float | str, X: NDArray[Any], weight: NDArray[np.float64], n_features: int) -> float:
    """Return the number that ``gamma`` means for these prepared and scaled rows; X had `n_features` columns.

    The columns that categories and missing values become do not count as features; what they add to distances does.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1 / n_features
    share = weight / weight.sum()
    mean = float((share @ X).mean())
    variance = float((share @ (X - mean) ** 2).mean())
    scale = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    smoother = max(1 / n_features, SMOOTHEST)
    return scale * {"smooth": smoother, "medium": smoother**0.5, "scale": 1.0}[gamma]
