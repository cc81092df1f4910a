"""Machines trained on scaled rows: what the classifier, its calibration and its search share."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from planewise.machines.conformal_factor import ConformalFactor, fit_conformal_factor
from planewise.machines.kernels import Kernel, Matrix
from planewise.machines.program import (
    BLOCK_VALUES,
    HELD_BYTES,
    Columns,
    ComputedColumns,
    HeldColumns,
    Norm,
    ProgramPath,
    Solution,
)
from planewise.machines.rows import DistinctRows, Indices, Labels, Vector, distinct_rows, plain_rows
from planewise.machines.settings import Settings

# In turn, where the published program, mu = 0, has no solution that numbers hold; times C if that is below 1, or the
# machine without a vector would be the best one.
LEAST_MUS = (1e-6, 1e-5, 1e-4)
# Without a penalty, the programs of sixteen of the paper's small sets took at most eight steps per row if they could be
# solved; the others cycled.
STEPS_A_ROW = 20
LEAST_EIGENVALUE = 1e-8  # of the largest: what rounding, also to float32, makes of zero
MOST_CHECKED = 1000  # rows by which a kernel is found to be positive semidefinite


class Design:
    """The columns of the program: kernel values with the centres, or the features themselves for a linear machine."""

    def __init__(
        self, problem: DistinctRows, kernel: Kernel | None, *, precomputed: bool = False, factor: Vector | None = None
    ) -> None:
        """`kernel` None: the columns are those of the problem's rows; `factor` is r of each centre.

        Kernels are scaled to a mean diagonal of one, so that mu means the same for all.
        """
        self.problem, self.kernel = problem, kernel
        self.factor = np.ones(len(problem.centres)) if factor is None else factor
        self.held: Matrix | None = None
        self.scale = 1.0
        if kernel is None and not precomputed:
            self.held = problem.rows
        elif kernel is None:
            self.scale = _one_over(np.abs(problem.rows.diagonal()).mean())
            self.held = self.scale * problem.rows
        else:
            self.scale = _one_over((np.abs(kernel.diagonal(problem.centres)) * self.factor**2).mean())
            if 8 * len(problem.rows) * len(problem.centres) <= HELD_BYTES:
                by_pair = kernel(problem.centres, problem.centres)
                by_pair *= self.scale * self.factor[:, None]
                by_pair *= self.factor
                distinct = len(problem.rows) == len(problem.centres)
                self.held = by_pair if distinct else by_pair[problem.centre_of_row]

    def columns(self, rows: Indices | None = None, centres: Indices | None = None) -> Columns:
        """All of them, or those of some rows and centres."""
        if self.held is not None:
            if rows is None:
                return HeldColumns(self.held)
            return HeldColumns(self.held[rows] if centres is None else self.held[np.ix_(rows, centres)])
        assert self.kernel is not None
        take_row = np.arange(len(self.problem.rows)) if rows is None else rows
        take_centre = np.arange(len(self.problem.centres)) if centres is None else centres
        return ComputedColumns(
            self.kernel,
            self.problem.rows[take_row],
            self.problem.centres[take_centre],
            self.factor[self.problem.centre_of_row[take_row]],
            self.scale * self.factor[take_centre],
        )

    def norm(self, rows: Indices | None = None, centres: Indices | None = None) -> Norm:
        """The norm x'K x of these columns."""
        problem = self.problem
        if self.kernel is None and self.held is problem.rows:
            return Norm.plain()
        column = problem.centre_of_row if rows is None else problem.centre_of_row[rows]
        if centres is not None:
            column = np.searchsorted(centres, column)
        centre = np.unique(column, return_index=True)[1]
        return Norm(centre, column)

    def require_norm(self) -> None:
        """An error unless K is positive semidefinite, by the whole of it or, of many rows, a part."""
        kernel = self.kernel
        if kernel is None and self.held is self.problem.rows:
            return
        if kernel is not None:
            if not kernel.is_semidefinite:
                raise ValueError(
                    f"rho needs a positive semidefinite kernel, and {kernel.name!r} with a negative coef0 is not; use "
                    "rho=0, or a kernel such as 'rbf'."
                )
            return
        some = np.linspace(0, len(self.problem.centres) - 1, min(len(self.problem.centres), MOST_CHECKED)).astype(int)
        rows = self.norm().centre[some]
        values = self.columns(rows, some).take(np.arange(len(some)))
        eigenvalues = np.linalg.eigvalsh((values + values.T) / 2)
        if eigenvalues[0] < -LEAST_EIGENVALUE * np.abs(eigenvalues).max():
            raise ValueError(
                f"rho needs a positive semidefinite kernel; this one's matrix has the eigenvalue {eigenvalues[0]:.3g} "
                f"(the largest is {eigenvalues[-1]:.3g}). Use rho=0."
            )


def _one_over(mean: float) -> float:
    return 1 / float(mean) if mean > 0 else 1.0


@dataclass(frozen=True)
class Duel:
    """One two-class program: its rows (None: all), the centres it may choose (None: all), and the rows' signs."""

    rows: Indices | None
    centres: Indices | None
    sign: Vector


def duels(problem: DistinctRows, n_classes: int, multi_class: str, *, linear: bool) -> Iterator[Duel]:
    """The two-class programs: one for two classes, one per class ("ovr") or one per pair ("ovo") for more."""
    label = problem.label
    if n_classes == 2:
        yield Duel(None, None, np.where(label == 1, 1.0, -1.0))
    elif multi_class == "ovr":
        for c in range(n_classes):
            yield Duel(None, None, np.where(label == c, 1.0, -1.0))
    else:
        for a, b in combinations(range(n_classes), 2):
            rows = np.flatnonzero((label == a) | (label == b))
            centres = None if linear else np.unique(problem.centre_of_row[rows])
            yield Duel(rows, centres, np.where(label[rows] == a, 1.0, -1.0))


@dataclass(frozen=True)
class Trained:
    """Machines that share their vectors."""

    settings: Settings
    origin: Indices  # the user's rows that are support vectors; for a linear machine none
    vectors: Matrix  # scaled; for a linear machine none
    coefficients: Matrix  # machines x vectors (or x features)
    intercept: Vector
    factor: ConformalFactor | None
    solutions: list[Solution]
    mu: float = 0.0  # the penalty in use

    @property
    def converged(self) -> bool:
        return all(solution.converged for solution in self.solutions)

    def raw_scores(self, X: Matrix) -> Matrix:
        """Scores of scaled rows by machine."""
        settings = self.settings
        if settings.precomputed:
            return X[:, self.origin] @ self.coefficients.T + self.intercept
        if settings.kernel is None:
            return X @ self.coefficients.T + self.intercept
        scores = kernel_scores(settings.kernel, X, self.vectors, self.coefficients)
        if self.factor is not None:
            scores *= self.factor(X)[:, None]
        return scores + self.intercept


def kernel_scores(kernel: Kernel, X: Matrix, vectors: Matrix, coefficients: Matrix) -> Matrix:
    """K(X, vectors) @ coefficients', in blocks of rows."""
    if len(vectors) == 0:
        return np.zeros((len(X), len(coefficients)))
    step = max(1, BLOCK_VALUES // len(vectors))
    coefficients = np.asfortranarray(coefficients)  # the last bits of the products depend on it; files do not keep it
    return np.concatenate([kernel(X[at : at + step], vectors) @ coefficients.T for at in range(0, len(X), step)])


@dataclass(frozen=True)
class Followed:
    """Machines along a path, one after another."""

    coefficients: NDArray[np.float64]  # points x machines x columns
    intercept: Matrix  # points x machines
    n_vectors: Indices
    converged: NDArray[np.bool_]

    def raw_scores(self, values: Matrix) -> NDArray[np.float64]:
        """Points x rows x machines, from the values that the coefficients multiply."""
        n_points, n_machines, n_columns = self.coefficients.shape
        scores = values @ self.coefficients.reshape(-1, n_columns).T
        return scores.reshape(-1, n_points, n_machines).transpose(1, 0, 2) + self.intercept[:, None]


class MachinePaths:
    """The two-class programs of one problem, along a path of costs."""

    def __init__(
        self,
        settings: Settings,
        X: Matrix,
        label: Labels,
        weight: Vector,
        origin: Indices | None = None,
        factor: ConformalFactor | None = None,
    ) -> None:
        rows = np.arange(len(X)) if origin is None else origin
        make = plain_rows if settings.kernel is None else distinct_rows
        self.settings, self.factor = settings, factor
        if settings.precomputed:
            X = X[:, rows]
        self.problem: DistinctRows = make(X, label, weight, rows)
        self.by_centre = None if factor is None else factor(self.problem.centres)
        self.design = Design(self.problem, settings.kernel, precomputed=settings.precomputed, factor=self.by_centre)
        self.duels: list[Duel] = list(
            duels(self.problem, settings.n_classes, settings.multi_class, linear=settings.linear)
        )
        self._begin()

    def with_rho(self, rho: float) -> MachinePaths:
        """The same programs with another price of the norm, from the beginning."""
        other = copy(self)
        other.settings = replace(self.settings, rho=rho)
        other._begin()
        return other

    def _begin(self) -> None:
        self.solved: dict[tuple[float, float, bool], Trained] = {}
        rho = self.settings.rho
        if rho > 0:
            self.design.require_norm()
        weights = [self.problem.weight if duel.rows is None else self.problem.weight[duel.rows] for duel in self.duels]
        self.paths = [
            ProgramPath(
                self.design.columns(duel.rows, duel.centres),
                duel.sign,
                weight,
                norm=self.design.norm(duel.rows, duel.centres) if rho > 0 else None,
            )
            for duel, weight in zip(self.duels, weights, strict=True)
        ]
        # What C is multiplied by: the program's is that of a mean.
        self.totals = [float(weight.sum()) if self.settings.slack == "sum" else 1.0 for weight in weights]

    def solve(self, C: float, mu: float, *, published: bool = False) -> Trained:
        """The machines at these costs, starting from those of the last ones.

        `published`: the program without a penalty, or what stands in for it. It can have many optima, and the way to it
        decides which one is found, so it starts anew; and it gives up early.
        """
        if (C, mu, published) not in self.solved:
            if published:
                before = self.solved
                self._begin()
                self.solved = before
            self.solved[C, mu, published] = self._solve(C, mu, published)
        return self.solved[C, mu, published]

    def _solve(self, C: float, mu: float, published: bool) -> Trained:
        settings = self.settings
        solutions = self._solutions(C, mu, published)
        chosen = [
            solution.chosen if duel.centres is None else duel.centres[solution.chosen]
            for duel, solution in zip(self.duels, solutions, strict=True)
        ]
        coefficients = np.zeros((len(solutions), self.n_columns))
        for machine, (places, solution) in enumerate(zip(chosen, solutions, strict=True)):
            coefficients[machine, places] = solution.coefficients
        intercept = np.array([solution.intercept for solution in solutions])
        if settings.linear:
            no_rows = np.zeros(0, dtype=np.intp)
            return Trained(settings, no_rows, self.problem.centres[:0], coefficients, intercept, None, solutions, mu)
        used = np.flatnonzero(coefficients.any(axis=0))
        coefficients = coefficients[:, used] * self.design.scale
        if self.by_centre is not None:
            coefficients = coefficients * self.by_centre[used]
        order = np.argsort(self.problem.origin[used])
        return Trained(
            settings,
            self.problem.origin[used][order],
            self.problem.centres[used][order] if not settings.precomputed else self.problem.centres[:0],
            coefficients[:, order],
            intercept,
            self.factor,
            solutions,
            mu,
        )

    @property
    def n_columns(self) -> int:
        return self.problem.rows.shape[1] if self.settings.kernel is None else len(self.problem.centres)

    def can_follow(self) -> bool:
        """Whether `follow` is possible: the columns are in memory."""
        return self.design.held is not None

    def follow(self, C: float, mus: list[float], most: float) -> Followed:
        """The machines of falling mus above 0, until they have more vectors than `most`, all in one go."""
        settings = self.settings
        found = []
        for path, duel, total in zip(self.paths, self.duels, self.totals, strict=True):
            by_column, intercept, converged = path.follow(
                C * total,
                mus,
                settings.rho,
                settings.relaxation,
                int(most),
                tol=settings.tol,
                max_iter=settings.max_iter,
            )
            if duel.centres is not None:
                whole = np.zeros((len(by_column), self.n_columns))
                whole[:, duel.centres] = by_column
                by_column = whole
            found.append((by_column, intercept, converged))
        n_done = min(len(intercept) for _, intercept, _ in found)
        coefficients = np.stack([by_column[:n_done] for by_column, _, _ in found], axis=1)
        n_vectors = np.count_nonzero(coefficients.any(axis=1), axis=1)
        too_many = np.flatnonzero(n_vectors > most)
        n_done = int(too_many[0]) + 1 if len(too_many) else n_done
        return Followed(
            coefficients[:n_done],
            np.stack([intercept[:n_done] for _, intercept, _ in found], axis=1),
            np.zeros(n_done, dtype=np.intp) if settings.linear else n_vectors[:n_done],
            np.all([converged[:n_done] for _, _, converged in found], axis=0),
        )

    def values(self, X: Matrix) -> Matrix:
        """What `Followed.coefficients` multiply: of scaled rows, the kernel values with all centres."""
        settings = self.settings
        if settings.precomputed:
            return self.design.scale * X[:, self.problem.origin]
        return X if settings.kernel is None else self.design.scale * settings.kernel(X, self.problem.centres)

    def _solutions(self, C: float, mu: float, published: bool) -> list[Solution]:
        settings = self.settings

        def solve(path: ProgramPath, cost: float) -> Solution:
            most = min(settings.max_iter, STEPS_A_ROW * len(path.sign)) if published else settings.max_iter
            solution = path.solve(cost, mu, settings.rho, tol=settings.tol, max_iter=most)
            if settings.relaxation == 1 or mu == 0 or not solution.converged:
                return solution
            return path.relax(cost, settings.relaxation * mu, settings.rho, max_iter=settings.max_iter)

        costs = [C * total for total in self.totals]
        jobs = min(settings.n_jobs, len(self.paths))
        if jobs == 1:
            return [solve(path, cost) for path, cost in zip(self.paths, costs, strict=True)]
        solutions: list[Solution] = Parallel(n_jobs=jobs, prefer="threads")(
            delayed(solve)(path, cost) for path, cost in zip(self.paths, costs, strict=True)
        )
        return solutions


def train_machines(
    paths: MachinePaths, C: float, mu: float, gamma_conformal: float | None, shrinkage: float
) -> Trained:
    """The machines at these costs, with a conformal kernel unless `gamma_conformal` is None or nothing is left of r.

    Where the program without a penalty (mu = 0) has no solution that numbers can hold, that of the least penalty is
    taken which has one.
    """
    conformal = gamma_conformal is not None and shrinkage > 0  # (1 - s) + s r is one where s = 0
    published = mu == 0 and paths.settings.rho == 0
    tried = []
    least = min(1.0, C * min(paths.totals))
    for penalty in (0.0, *(least * each for each in LEAST_MUS)) if published else (mu,):
        trained = paths.solve(C, penalty, published=published)
        if conformal:
            assert gamma_conformal is not None
            trained = _with_factor(paths, trained, gamma_conformal, shrinkage).solve(C, penalty, published=published)
        if trained.converged:
            return trained
        tried.append(trained)
    return tried[0]


def _with_factor(paths: MachinePaths, base: Trained, gamma_conformal: float, shrinkage: float) -> MachinePaths:
    """The programs with the kernel that the support vectors of `base` make better (Algorithm 1, steps 2 to 5)."""
    settings, problem = paths.settings, paths.problem
    assert settings.kernel is not None
    factor = fit_conformal_factor(
        settings.kernel,
        problem.rows,
        problem.label,
        base.vectors,
        gamma_conformal,
        problem.weight,
        printed=settings.printed,
    ).shrunk(shrinkage)
    origin = problem.origin[problem.centre_of_row]
    return MachinePaths(settings, problem.rows, problem.label, problem.weight, origin, factor)
