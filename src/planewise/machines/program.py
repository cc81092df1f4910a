"""The machine's program, solved exactly by column generation along paths of its prices.

    min  h + C / W sum_i w_i q_i + mu sum_j |x_j| + rho x'K x     W = sum_i w_i
    s.t. s_i f_i + q_i >= 1,   s_i f_i + q_i <= h,   q >= 0,   f = G x + b

K are the kernel values of the columns' centres, the rows of G that are centres. With rho = 0 this is a linear program.
The native program holds only the columns of G that were ever worth a price above mu; it keeps its point from one set of
prices to the next, so that a path costs little more than its last point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise.machines.kernels import Kernel, Matrix
from planewise.machines.rows import Indices, Vector

HELD_BYTES = 256_000_000  # a kernel matrix up to this size (5,600 rows) is computed once and kept
BLOCK_VALUES = 500_000  # kernel values computed at a time otherwise
SINGLE_BLOCK_VALUES = 128_000  # the same in float32: what a core's own cache holds
HANDICAP = 1e-7  # by which columns' prices differ at most, relatively


class Columns(Protocol):
    """The columns of G, which may never be in memory all at once."""

    n_columns: int

    def take(self, which: Indices) -> Matrix:
        """Some columns, each as a row of the answer."""

    def products(self, multiplier: Vector) -> tuple[Vector, float]:
        """G' m, one number for every column, and how far these may be off."""

    def exact_products(self, multiplier: Vector, which: Indices) -> Vector:
        """The same for some columns, to rounding."""


class HeldColumns:
    """Columns of a matrix in memory, row by row."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = np.ascontiguousarray(matrix)
        self.n_columns = matrix.shape[1]

    def take(self, which: Indices) -> Matrix:
        return np.ascontiguousarray(self.matrix[:, which].T)

    def products(self, multiplier: Vector) -> tuple[Vector, float]:
        return multiplier @ self.matrix, 0.0

    def exact_products(self, multiplier: Vector, which: Indices) -> Vector:
        return multiplier @ self.matrix[:, which]


class ComputedColumns:
    """Columns k(x_i, c_j) r(x_i) r(c_j), computed in blocks whenever they are asked for."""

    def __init__(
        self, kernel: Kernel, rows: Matrix, centres: Matrix, row_factor: Vector, centre_factor: Vector
    ) -> None:
        self.kernel, self.rows, self.centres = kernel, rows, centres
        self.row_factor, self.centre_factor = row_factor, centre_factor
        self.n_columns = len(centres)
        self.single: SinglePrecision | None = None
        if kernel.name == "rbf":
            single = SinglePrecision(kernel.gamma, rows, centres)
            self.single = single if np.isfinite(single.error) else None  # or the numbers are too large for it

    def take(self, which: Indices) -> Matrix:
        values = self.kernel(self.centres[which], self.rows)
        return values * self.centre_factor[which, None] * self.row_factor

    def products(self, multiplier: Vector) -> tuple[Vector, float]:
        if self.single is None:
            return self.exact_products(multiplier, np.arange(self.n_columns)), 0.0
        by = self.row_factor * multiplier
        products, error = self.single.products(by)
        return products * self.centre_factor, error * float(np.abs(self.centre_factor).max())

    def exact_products(self, multiplier: Vector, which: Indices) -> Vector:
        counts = np.flatnonzero(multiplier)  # rows above 1 and below h have none
        rows, by = self.rows[counts], (self.row_factor * multiplier)[counts]
        step = max(1, BLOCK_VALUES // max(1, len(counts)))
        out = np.empty(len(which))
        for at in range(0, len(which), step):
            out[at : at + step] = self.kernel(self.centres[which[at : at + step]], rows) @ by
        return out * self.centre_factor[which]


class SinglePrecision:
    """Products of a Gaussian kernel matrix with a vector in float32: a quarter of the time, and an error bound."""

    def __init__(self, gamma: float, rows: Matrix, centres: Matrix) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # the error is infinite then
            self.rows, self.centres = rows.astype(np.float32), centres.astype(np.float32)
            norms = [np.einsum("ij,ij->i", table, table) for table in (self.rows, self.centres)]
            self.row_part, self.centre_part = (-np.float32(gamma) * norm for norm in norms)
        self.doubled = np.float32(2 * gamma)
        # Of an exponent: rounding of norms and products. Of a value and a sum: a few units in the last place.
        self.error = 1e-6 + 4e-7 * gamma * float(max(norm.max() for norm in norms))

    def products(self, by: Vector) -> tuple[Vector, float]:
        counts = np.flatnonzero(by)
        rows = np.ascontiguousarray(self.rows[counts].T) * self.doubled
        row_part, weight = self.row_part[counts], by[counts].astype(np.float32)
        out = np.empty(len(self.centres))
        step = max(1, SINGLE_BLOCK_VALUES // max(1, len(counts)))
        for at in range(0, len(out), step):
            values = self.centres[at : at + step] @ rows
            values += self.centre_part[at : at + step, None]
            values += row_part
            out[at : at + step] = np.exp(values, out=values) @ weight
        return out, self.error * float(np.abs(by).sum())


class RepeatedColumns:
    """Every column twice, one copy under the other: the two rows that regression makes of each."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.n_columns = columns.n_columns

    def take(self, which: Indices) -> Matrix:
        once = self.columns.take(which)
        return np.hstack([once, once])

    def products(self, multiplier: Vector) -> tuple[Vector, float]:
        return self.columns.products(self._once(multiplier))

    def exact_products(self, multiplier: Vector, which: Indices) -> Vector:
        return self.columns.exact_products(self._once(multiplier), which)

    @staticmethod
    def _once(multiplier: Vector) -> Vector:
        half = len(multiplier) // 2
        return multiplier[:half] + multiplier[half:]


@dataclass(frozen=True)
class Solution:
    """An optimum with its proof: `dual` bounds the program's value from below, `gap` is (objective - dual) relative."""

    chosen: Indices
    coefficients: Vector
    intercept: float
    free_coefficients: Vector
    h: float
    objective: float
    dual: float
    n_iter: int
    max_iter: int  # the limit of n_iter that was in use
    converged: bool
    mean_slack: float

    @classmethod
    def of(cls, machine: _core.Machine) -> Solution:
        """Of what the native program found."""
        return cls(**{name: getattr(machine, name) for name in cls.__dataclass_fields__})

    @property
    def gap(self) -> float:
        return max(0.0, self.objective - self.dual) / self.objective


@dataclass(frozen=True)
class Norm:
    """What x'K x is: by column, the row of its centre, and by row, the column of its point; K is G there."""

    centre: Indices
    column: Indices

    @classmethod
    def plain(cls) -> Norm:
        """K is the identity, as for a linear machine, whose columns are features."""
        nothing = np.zeros(0, dtype=np.intp)
        return cls(nothing, nothing)


class ProgramPath:
    """One program along a path of prices, each solution the start of the next.

    Parameters
    ----------
    columns : Columns
        G, whose coefficients cost mu each.
    sign, weight : arrays of shape (n_rows,)
        Labels as +1 and -1, and positive weights.
    free : array of shape (n_free, n_rows) or None
        Further columns whose coefficients cost nothing, as the intercept's.
    norm : Norm or None
        The norm that costs rho; None: rho is 0, a linear program.
    """

    def __init__(
        self,
        columns: Columns,
        sign: Vector,
        weight: Vector,
        free: Matrix | None = None,
        norm: Norm | None = None,
    ) -> None:
        self.columns, self.sign, self.norm = columns, sign, norm
        by = Norm.plain() if norm is None else norm
        self.program = _core.ProgramPath(
            np.ascontiguousarray(sign, dtype=np.float64),
            np.ascontiguousarray(weight, dtype=np.float64),
            # Of several optima always the same one, whatever the way to it.
            HANDICAP * np.random.default_rng(0).random(columns.n_columns),
            np.empty((0, len(sign))) if free is None else np.ascontiguousarray(free),
            by.centre.astype(np.int64),
            by.column.astype(np.int64),
            norm is not None,
        )
        self.last: _core.Machine | None = None

    def solve(self, C: float, mu: float, rho: float = 0.0, *, tol: float = 1e-8, max_iter: int = 100_000) -> Solution:
        """The optimum at these prices; not ``converged`` if `max_iter` steps did not reach it."""
        if isinstance(self.columns, HeldColumns):
            self.last = self.program.solve(self.columns.matrix, C, mu, rho, tol, max_iter)
        else:
            self.last = self._generate(C, mu, rho, tol, max_iter)
        return Solution.of(self.last)

    def _generate(self, C: float, mu: float, rho: float, tol: float, max_iter: int) -> _core.Machine:
        """As the native program does for columns in memory."""
        program, columns, before = self.program, self.columns, self.program.steps()
        solved, highest, products = False, 0.0, np.zeros(columns.n_columns)
        for price in _core.slack_prices(C, mu, rho):
            program.charge(price, mu, rho)
            solved = False
            while not solved and program.walk(max(0, max_iter - (program.steps() - before))):
                multiplier = program.multipliers()
                products, error = columns.products(multiplier)
                dear, doubtful, highest = program.dear_columns(products, error, tol)
                if error > 0 and len(dear) == 0:
                    dear, highest = program.dear_among(doubtful, columns.exact_products(multiplier, doubtful), tol)
                solved = len(dear) == 0
                if not solved:
                    program.add(dear, np.ascontiguousarray(columns.take(dear)))
        if solved and mu == 0 and rho > 0:
            products = columns.exact_products(program.multipliers(), np.arange(columns.n_columns))
        return program.machine(highest, solved, program.steps() - before, max_iter, products)

    def relax(self, C: float, mu: float, rho: float = 0.0, *, max_iter: int = 100_000) -> Solution:
        """The columns of the last solution at another mu: their coefficients, less drawn to zero.

        Objective and bound are those of the program that chose the columns.
        """
        assert self.last is not None
        return Solution.of(self.program.relax(self.last, C, mu, rho, max_iter))

    def follow(
        self,
        C: float,
        mus: list[float],
        rho: float,
        relaxation: float,
        most_vectors: int,
        *,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ) -> tuple[Matrix, Vector, NDArray[np.bool_]]:
        """The machines of falling mus, each relaxed, up to the first of more vectors than allowed.

        Returns the coefficients of all columns by machine, intercepts, and whether each is solved. Columns must be in
        memory.
        """
        assert isinstance(self.columns, HeldColumns)
        by_column, intercept, converged = self.program.follow(
            self.columns.matrix, C, np.asarray(mus, dtype=np.float64), rho, relaxation, tol, max_iter, most_vectors
        )
        return by_column, intercept, converged.astype(bool)
