"""The factor r of a conformal kernel r(x) r(x') k(x, x'), which separates the classes best (eqs 12 to 17, corrected).

r(x) = alpha_0 + sum_j alpha_j k1(x, a_j) with cores a_j and an RBF k1 of width gamma_c. With K1 = [1, k1(x_i, a_j)] the
scatters of r(x) phi(x), between the classes and within them, are alpha' B alpha and alpha' W alpha, where

    B = K1' (blockdiag_c(K_cc / M_c) - K / M) K1        W = K1' (diag(k_ii) - blockdiag_c(K_cc / M_c)) K1

and alpha solves B alpha = eta (W + epsilon I) alpha for the largest eta. The printed equations divide by M in place of
M_c, which makes B indefinite; `printed` solves them all the same, for comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from planewise.machines.kernels import Kernel

Numbers = NDArray[np.float64]
SHRINKAGES = (0.0, 0.25, 0.5, 0.75, 1.0)
RIDGE = 1e-3  # epsilon, as a share of the mean diagonal of W
BLOCK = 1024  # rows whose kernel values are held at once


@dataclass(frozen=True)
class ConformalFactor:
    """r(x), a function of rows in the units of the cores; without cores, r = 1."""

    cores: NDArray[Any]
    coef: Numbers  # alpha, that of the constant first
    gamma: float  # gamma_c
    eigenvalue: float  # eta
    between: Numbers  # the 2 by 2 form of B on (r = 1, r), and so
    within: Numbers  # of W
    shrinkage: float = 1.0  # s: what is used is (1 - s) + s r

    @classmethod
    def one(cls, n_features: int) -> ConformalFactor:
        """The factor that changes nothing."""
        return cls(np.empty((0, n_features)), np.ones(1), 1.0, 0.0, np.zeros((2, 2)), np.zeros((2, 2)))

    def __call__(self, rows: NDArray[Any]) -> Numbers:
        """The r of every row."""
        return self.blend(_design(rows, self.cores, self.gamma) @ self.coef, self.shrinkage)

    @staticmethod
    def blend(r: Numbers, shrinkage: float) -> Numbers:
        """(1 - s) + s r."""
        return (1 - shrinkage) + shrinkage * r

    def shrunk(self, shrinkage: float) -> ConformalFactor:
        """The same factor, shrunk towards one."""
        return replace(self, shrinkage=shrinkage)

    def separability(self, shrinkage: float) -> float:
        """Scatter between the classes over that within them, of what `blend` makes of r; NaN where both are zero."""
        mix = np.array([1 - shrinkage, shrinkage])
        between, within = mix @ self.between @ mix, mix @ self.within @ mix
        return float(between / within) if within > 0 else float("inf" if between > 0 else "nan")


def fit_conformal_factor(
    kernel: Kernel,
    X: NDArray[Any],
    y: NDArray[Any],
    cores: NDArray[Any],
    gamma_conformal: float,
    sample_weight: Numbers | None = None,
    *,
    printed: bool = False,
) -> ConformalFactor:
    """The factor r for a kernel, by the eigenproblem above; kernel values are computed in blocks and not kept.

    Parameters
    ----------
    kernel : Kernel
        k, on the rows as they are.
    X, y : arrays of shape (n_samples, n_features) and (n_samples,)
        Rows (standardised, if that is wanted) and class labels of any kind, two or more of them.
    cores : array of shape (n_cores, n_features)
        a_j, in the units of X; with none, or with one class only, r = 1.
    gamma_conformal : float
        gamma_c of k1.
    sample_weight : array of shape (n_samples,), default=None
        omega; none zero.
    printed : bool, default=False
        Solve eqs 13 to 15 with 1 / M in place of 1 / M_c, as they are printed.
    """
    label = np.unique(y, return_inverse=True)[1]
    weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    design = _design(X, cores, gamma_conformal)
    scatters = _scatters_of_kernel(kernel, X, label, weight, design)
    return _solve(scatters, cores, gamma_conformal, printed)


def fit_factor_on_features(
    blocks: Iterable[tuple[NDArray[Any], NDArray[Any], NDArray[Any], Numbers]],
    cores: NDArray[Any],
    gamma_conformal: float,
    *,
    printed: bool = False,
) -> ConformalFactor:
    """The factor r for an explicit map phi, in one pass over blocks of (rows, phi(rows), class numbers, weights).

    With S_c = K1_c' diag(omega) Phi_c the forms need no matrix of rows by rows: the one of the classes is
    sum_c S_c S_c' / Omega_c, that of everything S S' / Omega.
    """
    own, moment = np.zeros((2, len(cores) + 1, len(cores) + 1))
    sums: dict[int, Numbers] = {}
    totals: dict[int, float] = {}
    for rows, features, label, weight in blocks:
        design = _design(rows, cores, gamma_conformal)
        weighted = design * weight[:, None]
        own += design.T @ (weighted * np.einsum("ij,ij->i", features, features, dtype=np.float64)[:, None])
        moment += design.T @ weighted
        for c in np.unique(label):
            members = label == c
            sums[c] = sums.get(c, 0) + weighted[members].T @ features[members].astype(np.float64)
            totals[c] = totals.get(c, 0) + weight[members].sum()
    squares = {c: sums[c] @ sums[c].T for c in sums}
    everything, total = np.sum(list(sums.values()), axis=0), sum(totals.values())
    scatters = Scatters(
        own,
        np.sum([squares[c] / totals[c] for c in sums], axis=0),
        np.sum(list(squares.values()), axis=0) / total,
        everything @ everything.T / total,
        moment / total,
    )
    return _solve(scatters, cores, gamma_conformal, printed)


class Scatters(NamedTuple):
    """The parts of B and W, quadratic forms of alpha."""

    own: Numbers  # K1' diag(k_ii) K1
    classes: Numbers  # K1' blockdiag_c(K_cc / M_c) K1
    classes_by_all: Numbers  # the same divided by M, as printed
    everything: Numbers  # K1' K K1 / M
    moment: Numbers  # K1' K1 / M

    def forms(self, printed: bool) -> tuple[Numbers, Numbers]:
        """B and W."""
        classes = self.classes_by_all if printed else self.classes
        between, within = classes - self.everything, self.own - classes
        return (between + between.T) / 2, (within + within.T) / 2


def _design(rows: NDArray[Any], cores: NDArray[Any], gamma: float) -> Numbers:
    """K1: a column of ones, and k1 of every row and core."""
    ones = np.ones((len(rows), 1))
    return np.hstack([ones, Kernel("rbf", gamma)(rows, cores)]) if len(cores) else ones


def _scatters_of_kernel(
    kernel: Kernel, X: NDArray[Any], label: NDArray[np.intp], weight: Numbers, design: Numbers
) -> Scatters:
    weighted = design * weight[:, None]
    members = [np.flatnonzero(label == c) for c in np.unique(label)]
    everything = np.zeros((design.shape[1], design.shape[1]))
    classes, together = np.zeros_like(everything), np.zeros_like(everything)
    for mine in members:
        for first in range(0, len(mine), BLOCK):
            block = mine[first : first + BLOCK]
            for theirs in members:
                product = weighted[block].T @ (kernel(X[block], X[theirs]) @ weighted[theirs])
                everything += product
                if theirs is mine:
                    classes += product / weight[mine].sum()
                    together += product
    own, total = design.T @ (weighted * kernel.diagonal(X)[:, None]), weight.sum()
    return Scatters(own, classes, together / total, everything / total, design.T @ weighted / total)


def _solve(scatters: Scatters, cores: NDArray[Any], gamma: float, printed: bool) -> ConformalFactor:
    """The alpha of the largest eta, with a mean r of 0 or more and a mean r^2 of 1."""
    between, within = scatters.forms(printed=False)
    moment, size = scatters.moment, len(between)
    if size == 1 or not np.trace(between) > 1e-12 * abs(np.trace(within)):  # no core, or one class
        return ConformalFactor.one(cores.shape[1])
    numerator, denominator = scatters.forms(printed)
    # Where the rows of a class are all alike, the scatter within is rounding and cannot say what is small.
    spread = max(np.trace(denominator), 1e-6 * np.trace(between))
    ridge = RIDGE * spread / size
    (eigenvalue,), vectors = eigh(numerator, denominator + ridge * np.eye(size), subset_by_index=[size - 1, size - 1])
    coef = vectors[:, 0]
    if moment[0] @ coef < 0:
        coef = -coef
    mean_square = coef @ moment @ coef
    if not mean_square > 0:  # columns of constants alone: what is left of r is rounding
        return ConformalFactor.one(cores.shape[1])
    coef = coef / np.sqrt(mean_square)
    both = np.column_stack([np.eye(size)[0], coef])
    return ConformalFactor(cores, coef, gamma, float(eigenvalue), both.T @ between @ both, both.T @ within @ both)
