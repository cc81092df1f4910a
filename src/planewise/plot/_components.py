"""Two leading components of rows, plain or by a kernel, as the MCM paper's appendix makes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from planewise.mcm.fitted import KernelFunction

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class PlainComponents:
    """Steps A.1 of the appendix: eigenvectors of X'X, divided by the root of their eigenvalue."""

    mean: Numbers
    directions: Numbers

    @classmethod
    def of(cls, rows: Numbers) -> PlainComponents:
        mean = rows.mean(axis=0)
        values, vectors = eigh((rows - mean).T @ (rows - mean))
        return cls(mean, _scaled(values, vectors))

    def __call__(self, rows: Numbers) -> Numbers:
        return (rows - self.mean) @ self.directions


@dataclass(frozen=True)
class KernelComponents:
    """Steps A.2: the same for a centred kernel matrix; new rows are centred by the training rows' means."""

    kernel: KernelFunction
    rows: Numbers
    means: Numbers
    directions: Numbers

    @classmethod
    def of(cls, kernel: KernelFunction, rows: Numbers) -> KernelComponents:
        matrix = kernel(rows, rows)
        means = matrix.mean(axis=0)
        centred = matrix - means - means[:, None] + means.mean()
        size = len(rows)
        least = max(0, size - 2)
        values, vectors = eigh(centred, subset_by_index=(least, size - 1))
        return cls(kernel, rows, means, _scaled(values, vectors))

    def __call__(self, rows: Numbers) -> Numbers:
        matrix = self.kernel(rows, self.rows)
        centred = matrix - self.means - matrix.mean(axis=1)[:, None] + self.means.mean()
        return centred @ self.directions


def _scaled(values: Numbers, vectors: Numbers) -> Numbers:
    """The two leading eigenvectors over the root of their eigenvalue; nothing where that is zero. Signs are fixed."""
    out = np.zeros((len(vectors), 2))
    for place, at in enumerate(np.argsort(values)[::-1][:2]):
        if values[at] > 1e-12 * max(float(np.abs(values).max()), 1e-300):
            vector = vectors[:, at]
            sign = 1.0 if vector[np.abs(vector).argmax()] >= 0 else -1.0
            out[:, place] = sign * vector / np.sqrt(values[at])
    return out
