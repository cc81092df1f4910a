"""From the user's rows to the rows and columns of the linear program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from planewise.mcm._kernels import Kernel, Matrix
from planewise.mcm._linear_program import HELD_BYTES, Columns, ComputedColumns, HeldColumns, Indices, Vector

# arcsinh(2 z) is nearly linear for |z| < 1/2 and a logarithm beyond: 0.3 points of accuracy more than plain z on the
# develop sets, by any rule of selection. Clipping at 3 gained less, ranks lost.
TAIL_FACTOR = 2.0
MOST_ROWS = 50_000
SECONDS_A_KERNEL_VALUE = 1e-8
ROUNDS_EXPECTED = 30
COLUMNS_EXPECTED = 300

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Scaling:
    """Means and spreads by which columns are standardised; all zeros and ones where the user wants none."""

    mean: Vector
    spread: Vector
    drawn_in: Scaling | None = None  # of the standardised columns, once their long tails are drawn in

    def __call__(self, X: Matrix) -> Matrix:
        scaled = (X - self.mean) / self.spread
        return scaled if self.drawn_in is None else self.drawn_in(np.arcsinh(TAIL_FACTOR * scaled))


def find_scaling(X: Matrix, weight: Vector, wanted: bool | str) -> Scaling:
    """Weighted, so that a weight of two is the row twice; a constant column is only centred.

    `wanted` True draws in long tails, "standard" does not, False leaves columns as they are.
    """
    if wanted is False:
        return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    share = weight / weight.sum()
    mean = share @ X
    _, size = np.frexp(np.abs(X - mean).max(axis=0))  # squares of anything are within the range of numbers then
    spread = np.ldexp(np.sqrt(share @ np.ldexp(X - mean, -size) ** 2), size)
    constant = spread <= 10 * np.finfo(np.float64).eps * np.abs(mean)
    plain = Scaling(mean, np.where(constant, 1.0, spread))
    if wanted == "standard":
        return plain
    return replace(plain, drawn_in=find_scaling(np.arcsinh(TAIL_FACTOR * plain(X)), weight, "standard"))


@dataclass(frozen=True)
class Problem:
    """Distinct rows with their labels and weights, and the distinct points among them that may be support vectors.

    Rows are in the order of their values, so that neither the order nor the repetition of the user's rows matters.
    """

    rows: Matrix
    label: Labels
    weight: Vector
    centres: Matrix
    origin: Indices  # the user's row of each centre
    centre_of_row: Indices


def distinct_rows(X: Matrix, label: Labels, weight: Vector, origin: Indices) -> Problem:
    """Rows equal in x and label become one, weights added; rows equal in x only share the column."""
    centres, first, centre = np.unique(X, axis=0, return_index=True, return_inverse=True)
    centre = centre.reshape(-1)
    n_labels = int(label.max()) + 1
    pair, member = np.unique(centre * n_labels + label, return_inverse=True)
    total = np.bincount(member.reshape(-1), weights=weight).astype(np.float64, copy=False)
    centre_of_row = pair // n_labels
    return Problem(
        centres[centre_of_row], (pair % n_labels).astype(np.int32), total, centres, origin[first], centre_of_row
    )


def plain_rows(X: Matrix, label: Labels, weight: Vector, origin: Indices) -> Problem:
    """Rows as they are, each a centre: for kernels given as a matrix."""
    return Problem(X, label, weight, X, origin, np.arange(len(X)))


class Design:
    """The columns of the program: kernel values with the centres, or the features themselves for a linear machine."""

    def __init__(
        self, problem: Problem, kernel: Kernel | None, *, precomputed: bool = False, factor: Vector | None = None
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


def _one_over(mean: float) -> float:
    return 1 / float(mean) if mean > 0 else 1.0


@dataclass(frozen=True)
class Duel:
    """One two-class program: its rows (None: all), the centres it may choose (None: all), and the rows' signs."""

    rows: Indices | None
    centres: Indices | None
    sign: Vector


def duels(problem: Problem, n_classes: int, multi_class: str, *, linear: bool) -> Iterator[Duel]:
    """The two-class programs: one for two classes, one a class ("ovr") or one a pair ("ovo") for more."""
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


def refuse_too_many_rows(name: str, n_rows: int, instead: str) -> None:
    """An error with what an exact kernel machine on so many rows would take, and what to do `instead`."""
    if n_rows <= MOST_ROWS:
        return
    memory = 8 * n_rows * COLUMNS_EXPECTED / 1e9
    minutes = ROUNDS_EXPECTED * SECONDS_A_KERNEL_VALUE * n_rows**2 / 60
    raise ValueError(
        f"X has {n_rows:,} rows, and {name} is exact for at most {MOST_ROWS:,}: about {minutes:,.0f} minutes of kernel "
        f"values and {memory:.1f} GB of columns would be needed ({8 * n_rows**2 / 1e9:,.0f} GB for the whole kernel "
        f"matrix). Use {instead}kernel='linear', or a sample of the rows."
    )
