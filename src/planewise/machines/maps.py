"""Explicit feature maps, and how a loss on their weights pulls at the maps themselves.

A map turns rows into features phi(x), one column each. The forward pass also keeps what the backward pass needs, and
the backward pass gets the slope of the loss in f = phi(x) w, a column for each output, and answers with the gradient
in w and in the map's own arrays. Rows whose slope is zero (their margin is wide enough) cost nothing there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from planewise.data.problem import FloatArray
from planewise.machines.kernels import Kernel


class Forward(NamedTuple):
    """Features of a block of rows, and what the backward pass needs besides."""

    features: FloatArray
    rows: FloatArray


class PrototypeMap:
    """phi_j(x) = exp(-sum_d s_d (x_d - c_jd)^2), the RBF kernel on prototypes c_j, a scale s_d for every column.

    Both the prototypes and the logarithms of the scales can be learned. The span of these columns is that of a Nystroem
    map on the same prototypes; its whitening is left out, so that a weight of zero is a prototype less.
    """

    def __init__(self, prototypes: FloatArray, log_scale: FloatArray) -> None:
        self.n_components = len(prototypes)
        self.arrays = [prototypes, log_scale]  # what can be learned
        # How far each may move in a step, relative to the weights: a step moves every column at once, so that distances
        # change with the root of their number.
        self.rates = [min(1.0, 3 / np.sqrt(prototypes.shape[1]))] * 2
        self._root = np.exp(log_scale / 2)
        scaled = prototypes * self._root
        norms = np.einsum("ij,ij->i", scaled, scaled)
        # One product gives 2 x.c - |x|^2 - |c|^2, without passes over the matrix.
        self._right = np.column_stack([2 * scaled, np.ones_like(norms), -norms])
        self._scaled = scaled

    unit = 1.0  # of the features, in kernel values

    @property
    def prototypes(self) -> FloatArray:
        """The c_j."""
        return self.arrays[0]

    def forward(self, rows: FloatArray) -> Forward:
        """Compute the features of rows."""
        scaled = rows * self._root
        norms = np.einsum("ij,ij->i", scaled, scaled)
        left = np.column_stack([scaled, -norms, np.ones_like(norms)])
        exponent = left @ self._right.T
        np.minimum(exponent, 0, out=exponent)
        return Forward(np.exp(exponent, out=exponent), scaled)

    def backward(self, forward: Forward, slope: FloatArray, weights: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Compute the gradients in the weights and in the arrays."""
        width = forward.rows.shape[1]
        in_weights = np.empty_like(weights)
        pull_rows = np.zeros_like(self._scaled)  # sum_i of the pull S_ij times row i
        pull = np.zeros(len(weights), np.float32)  # sum_i S_ij
        squares = np.zeros(width, np.float32)  # sum_ij S_ij x_id^2
        for k in range(weights.shape[1]):
            active = np.flatnonzero(slope[:, k])
            features, rows, steep = forward.features[active], forward.rows[active], slope[active, k]
            summed = features.T @ np.column_stack([rows * steep[:, None], steep])
            in_weights[:, k] = summed[:, -1]
            pull_rows += weights[:, k, None] * summed[:, :-1]
            pull += weights[:, k] * summed[:, -1]
            squares += (steep * (features @ weights[:, k])) @ (rows * rows)
        in_prototypes = (pull_rows - self._scaled * pull[:, None]) * (2 * self._root)
        crossed = np.einsum("ij,ij->j", self._scaled, pull_rows)
        in_log_scale = 2 * crossed - squares - pull @ (self._scaled * self._scaled)
        return in_weights, [in_prototypes, in_log_scale]

    def take(self, kept: Any) -> PrototypeMap:
        return PrototypeMap(self.arrays[0][kept], self.arrays[1].copy())

    def with_arrays(self, arrays: list[FloatArray]) -> PrototypeMap:
        return PrototypeMap(*arrays)


class KernelMap:
    """phi_j(x) = k(x, c_j) / unit for any kernel; the prototypes stay where they are."""

    def __init__(self, kernel: Kernel, prototypes: FloatArray, unit: float) -> None:
        self.kernel, self.prototypes, self.unit = kernel, prototypes, unit
        self.n_components = len(prototypes)
        self.arrays: list[FloatArray] = []
        self.rates: list[float] = []

    @classmethod
    def of(cls, kernel: Kernel, prototypes: FloatArray) -> KernelMap:
        """With the unit that makes the mean square one on the prototypes: one learning rate then serves any kernel."""
        size = float(np.sqrt(np.mean(np.square(kernel(prototypes, prototypes)))))
        return cls(kernel, prototypes, size if np.isfinite(size) and size > 0 else 1.0)

    def forward(self, rows: FloatArray) -> Forward:
        if self.n_components == 0:
            return Forward(np.empty((len(rows), 0), rows.dtype), rows)
        return Forward((self.kernel(rows, self.prototypes) / self.unit).astype(rows.dtype), rows)

    def backward(self, forward: Forward, slope: FloatArray, weights: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        return forward.features.T @ slope, []

    def take(self, kept: Any) -> KernelMap:
        return KernelMap(self.kernel, self.prototypes[kept], self.unit)

    def with_arrays(self, arrays: list[FloatArray]) -> KernelMap:
        return self


FeatureMap = PrototypeMap | KernelMap
