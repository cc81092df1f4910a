"""Regression surfaces on scaled rows: what the regressor and its search share.

The program chooses the support vectors. Their coefficients are then those of the program, those of the program at a
smaller mu, or those of a ridge regression on the chosen columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planewise.data.scaling import find_scaling
from planewise.machines.kernels import Kernel, Matrix
from planewise.machines.program import Norm, ProgramPath, RepeatedColumns, Solution
from planewise.machines.rows import Indices, Vector, distinct_rows, plain_rows
from planewise.machines.training import STEPS_A_ROW, Design, kernel_scores

# mu is this share of C, divided by the root of the rows. Chosen by cross-validation inside the training parts of nine
# develop sets (800 rows each, gamma "medium"): 0.90 of the error of SVR with 0.11 of its vectors; a third of it, 0.89
# with 0.17; three times it, 0.92 with 0.07.
MU_BY_C = 1e-3
FIRST_MU_BY_C = 1e-2
# Penalties of the ridge regression, on the kernel norm, relative to the mean squared error: the largest first.
RIDGES = np.geomspace(1.0, 1e-8, 17)
LEAST_NORM = 1e-10  # of the largest: directions shorter than this are rounding


@dataclass(frozen=True)
class SurfaceSettings:
    """What stays the same along a path of costs."""

    kernel: Kernel | None  # None: the columns are those of X (a linear machine, or a kernel given as a matrix)
    precomputed: bool
    epsilon: float
    relaxation: float | str
    tol: float
    max_iter: int
    slack: str = "mean"  # what C multiplies: the mean of the slacks, or their sum
    rho: float = 0.0

    @property
    def linear(self) -> bool:
        return self.kernel is None and not self.precomputed


@dataclass(frozen=True)
class Surface:
    """A fitted surface, in the units of y and on scaled rows."""

    settings: SurfaceSettings
    origin: Indices  # the user's rows that are support vectors; for a linear machine none
    vectors: Matrix  # scaled; for a linear machine or a kernel matrix none
    coefficients: Vector  # by vector (or by feature)
    intercept: float
    solution: Solution

    def predict(self, X: Matrix) -> Vector:
        """The surface at scaled rows, or at rows of a kernel matrix."""
        if self.settings.precomputed:
            heights = X[:, self.origin] @ self.coefficients
        elif self.settings.kernel is None:
            heights = X @ self.coefficients
        else:
            heights = kernel_scores(self.settings.kernel, X, self.vectors, self.coefficients[None])[:, 0]
        return np.asarray(heights + self.intercept)


class SurfacePath:
    """The program of one problem along a path of costs, each machine the start of the next."""

    def __init__(self, settings: SurfaceSettings, X: Matrix, target: Vector, weight: Vector, origin: Indices) -> None:
        """Rows are scaled (a kernel matrix has only the columns of these rows); `origin` are their numbers."""
        self.settings = settings
        self.scaling_of_y = find_scaling(target[:, None], weight, "standard")
        levels, level = np.unique(self.scaling_of_y(target[:, None])[:, 0], return_inverse=True)
        make = plain_rows if settings.precomputed else distinct_rows
        self.rows = make(X, level.reshape(-1).astype(np.int32), weight, origin)
        self.design = Design(self.rows, settings.kernel, precomputed=settings.precomputed)
        self.columns = self.design.columns()
        self.norm = self._norm() if settings.rho > 0 else None
        # What C is multiplied by: the program's is that of a mean, over both copies of every row.
        self.total = 2 * float(weight.sum()) if settings.slack == "sum" else 1.0
        self.target = levels[self.rows.label]
        self.path = self._begin()
        self.reached = FIRST_MU_BY_C  # the smallest mu / C that the path has been at

    def _begin(self) -> ProgramPath:
        target, epsilon = self.target, self.settings.epsilon
        return ProgramPath(
            RepeatedColumns(self.columns),
            np.repeat([1.0, -1.0], len(target)),
            np.tile(self.rows.weight, 2),
            free=np.concatenate([target + epsilon, target - epsilon])[None],
            norm=self.norm,
        )

    def _norm(self) -> Norm:
        """The norm x'K x: centres are among the first copies of the rows."""
        self.design.require_norm()
        once = self.design.norm()
        return Norm(once.centre, np.tile(once.column, 2))

    def penalty(self, C: float) -> float:
        """The mu that suits this many rows: of equal weight, or as many as their weights are worth."""
        share = self.rows.weight / self.rows.weight.max()
        n_rows = share.sum() ** 2 / (share @ share)
        return C * self.total * MU_BY_C / float(np.sqrt(n_rows))

    def solve(self, C: float, mu: float) -> Surface:
        """The machine at these costs, starting from the last one.

        Without a penalty (mu = 0) there can be many optima, and the way to it decides which one is found: it starts
        anew.
        """
        settings, cost = self.settings, C * self.total
        if mu == 0:
            self.path = self._begin()
        solution = self._walk(cost, mu)
        if settings.relaxation == 1 or mu == 0:
            return self._of_the_program(solution)
        if settings.relaxation == "ridge":
            return self._surface(solution, *self._ridge(solution.chosen))
        if not solution.converged:
            return self._of_the_program(solution)
        relaxed = self.path.relax(cost, float(settings.relaxation) * mu, settings.rho, max_iter=settings.max_iter)
        return self._of_the_program(relaxed)

    def _walk(self, C: float, mu: float) -> Solution:
        """The optimum, from the beginning and in smaller strides if the numbers fail: another way rarely fails too."""
        limit, tol = self.settings.max_iter, self.settings.tol
        first = min(limit, STEPS_A_ROW * len(self.path.sign)) if mu > 0 else limit
        solution, steps = self._stride(C, mu, 10.0, tol, first)
        if not solution.converged and mu > 0 and steps < limit:
            self.path, self.reached = self._begin(), FIRST_MU_BY_C
            solution, more = self._stride(C, mu, 3.0, tol, limit - steps)
            steps += more
        return replace(solution, n_iter=steps, max_iter=limit)

    def _stride(self, C: float, mu: float, by: float, tol: float, max_steps: int) -> tuple[Solution, int]:
        """Down to mu from where the path has been: a walk from far off meets vertices too close to distinguish."""
        penalties = [mu]
        while 0 < by * penalties[-1] < C * self.reached:
            penalties.append(by * penalties[-1])
        steps = 0
        for penalty in reversed(penalties):
            solution = self.path.solve(C, penalty, self.settings.rho, tol=tol, max_iter=max_steps - steps)
            steps += solution.n_iter
        if mu > 0:
            self.reached = min(self.reached, mu / C)
        return solution, steps

    def _of_the_program(self, solution: Solution) -> Surface:
        """The surface y = -(G lambda + b) / p."""
        slope = float(solution.free_coefficients[0])
        by = -1.0 / slope if slope > 0 else 0.0
        return self._surface(solution, by * solution.coefficients, by * solution.intercept)

    def _ridge(self, chosen: Indices) -> tuple[Vector, float]:
        norm = np.eye(len(chosen))
        if self.settings.precomputed:
            assert self.design.held is not None
            norm = self.design.held[np.ix_(chosen, chosen)]
        elif self.settings.kernel is not None:
            centres = self.rows.centres[chosen]
            norm = self.design.scale * self.settings.kernel(centres, centres)
        return ridge_regression(self.columns.take(chosen).T, norm, self.target, self.rows.weight)

    def _surface(self, solution: Solution, coefficients: Vector, intercept: float) -> Surface:
        mean, spread = float(self.scaling_of_y.mean[0]), float(self.scaling_of_y.spread[0])
        coefficients, intercept = spread * coefficients, mean + spread * intercept
        no_rows, no_vectors = np.zeros(0, dtype=np.intp), self.rows.centres[:0]
        if self.settings.linear:
            weights = np.zeros(self.rows.rows.shape[1])
            weights[solution.chosen] = coefficients
            return Surface(self.settings, no_rows, no_vectors, weights, intercept, solution)
        origin = self.rows.origin[solution.chosen]
        order = np.argsort(origin)
        return Surface(
            self.settings,
            origin[order],
            no_vectors if self.settings.precomputed else self.rows.centres[solution.chosen][order],
            (self.design.scale * coefficients)[order],
            intercept,
            solution,
        )


def ridge_regression(columns: Matrix, norm: Matrix, target: Vector, weight: Vector) -> tuple[Vector, float]:
    """Coefficients c and intercept b of the least mean (y - G c - b)^2 + r c' K c.

    Of the penalties r, the one with the smallest error on rows left out one at a time: errors e_i of the fit itself,
    divided by what the row does not decide of its own prediction, 1 - H_ii.
    """
    share = weight / weight.sum()
    mean = float(share @ target)
    if columns.shape[1] == 0:
        return np.zeros(0), mean
    means = share @ columns
    centred, y = columns - means, target - mean
    size, direction = np.linalg.eigh(norm)
    size = np.abs(size)  # a kernel that is not positive definite has negative ones
    to_unit = direction / np.sqrt(np.maximum(size, LEAST_NORM * size.max()))
    scores = centred @ to_unit  # in coordinates where the penalty is a sum of squares
    eigenvalue, axes = np.linalg.eigh(scores.T @ (share[:, None] * scores))
    along = scores @ axes
    projected = along.T @ (share * y)
    shrunk = 1 / (np.maximum(eigenvalue, 0)[:, None] + RIDGES)
    errors = y[:, None] - along @ (projected[:, None] * shrunk)
    own = share[:, None] * (1 + along**2 @ shrunk)
    left_out = errors / np.maximum(1 - own, 1e-9)
    best = int(np.argmin(share @ left_out**2))
    coefficients = to_unit @ (axes @ (projected * shrunk[:, best]))
    return coefficients, mean - float(means @ coefficients)
