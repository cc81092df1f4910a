"""The machine's linear program, solved exactly by column generation along paths of its costs.

    min  h + C / W sum_i w_i q_i + mu sum_j |x_j|     W = sum_i w_i
    s.t. s_i f_i + q_i >= 1,   s_i f_i + q_i <= h,   q >= 0,   f = G x + b

The native program holds only the columns of G that were ever worth a price above mu; it keeps its vertex from one pair
(C, mu) to the next, so that a path costs little more than its last point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from planewise._core import ComplexityProgram
from planewise.mcm._kernels import Kernel, Matrix
from planewise.mcm._rows import Indices, Vector

HELD_BYTES = 64_000_000  # a kernel matrix up to this size is computed once and kept
BLOCK_VALUES = 500_000  # kernel values computed at a time otherwise
SINGLE_BLOCK_VALUES = 128_000  # the same in float32: what a core's own cache holds
# Columns added to the program before prices are found anew: this many, or this share of those it has. For small
# programs 5 and 100 took up to twice the time; for large ones the share took 0.7 to 0.9 of the time of 20.
COLUMNS_A_ROUND = 20
SHARE_A_ROUND = 0.25
HANDICAP = 1e-7  # by which columns' prices differ at most, relatively
PRICE_ROUNDING = 1e-14  # of a price, relative to the sum it is the result of
DEAR_SLACK = 1e5  # times mu: from here on the price of slack is raised in steps
LEAST_MU = 1e-3
SMALLEST_SHARES = (1e-6, 1e-8, 1e-10, 1e-12)  # of the largest coefficient: what is smaller is dropped,
WORTH_KEEPING = 1e-6  # unless the value of the machine rises by this share
WORST_GAP = 1e-5  # between value and bound, relatively: above it a solution is not called one


class Columns(Protocol):
    """The columns of G, which may never be in memory all at once."""

    n_columns: int

    def take(self, which: Indices) -> Matrix:
        """Some columns, each as a row of the answer."""

    def prices(self, multiplier: Vector) -> tuple[Vector, float]:
        """|G' m|, the price of every column, and how far these may be off."""

    def exact_prices(self, multiplier: Vector, which: Indices) -> Vector:
        """The same for some columns, to rounding."""


class HeldColumns:
    """Columns of a matrix in memory."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.n_columns = matrix.shape[1]

    def take(self, which: Indices) -> Matrix:
        return np.ascontiguousarray(self.matrix[:, which].T)

    def prices(self, multiplier: Vector) -> tuple[Vector, float]:
        return np.abs(multiplier @ self.matrix), 0.0

    def exact_prices(self, multiplier: Vector, which: Indices) -> Vector:
        return np.abs(multiplier @ self.matrix[:, which])


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

    def prices(self, multiplier: Vector) -> tuple[Vector, float]:
        if self.single is None:
            return self.exact_prices(multiplier, np.arange(self.n_columns)), 0.0
        by = self.row_factor * multiplier
        products, error = self.single.products(by)
        return np.abs(products * self.centre_factor), error * float(np.abs(self.centre_factor).max())

    def exact_prices(self, multiplier: Vector, which: Indices) -> Vector:
        counts = np.flatnonzero(multiplier)  # rows above 1 and below h have none
        rows, by = self.rows[counts], (self.row_factor * multiplier)[counts]
        step = max(1, BLOCK_VALUES // max(1, len(counts)))
        out = np.empty(len(which))
        for at in range(0, len(which), step):
            out[at : at + step] = self.kernel(self.centres[which[at : at + step]], rows) @ by
        return np.abs(out * self.centre_factor[which])


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

    def prices(self, multiplier: Vector) -> tuple[Vector, float]:
        return self.columns.prices(self._once(multiplier))

    def exact_prices(self, multiplier: Vector, which: Indices) -> Vector:
        return self.columns.exact_prices(self._once(multiplier), which)

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

    @property
    def gap(self) -> float:
        return max(0.0, self.objective - self.dual) / self.objective


class Measured(NamedTuple):
    """The value of a machine, whoever made it."""

    h: float
    mean_slack: float
    objective: float


class ProgramPath:
    """One program along a path of costs, each solution the start of the next.

    Parameters
    ----------
    columns : Columns
        G, whose coefficients cost mu each.
    sign, weight : arrays of shape (n_rows,)
        Labels as +1 and -1, and positive weights.
    free : array of shape (n_free, n_rows) or None
        Further columns whose coefficients cost nothing, as the intercept's.
    """

    def __init__(self, columns: Columns, sign: Vector, weight: Vector, free: Matrix | None = None) -> None:
        # By a power of two, which changes no digit: only their ratios count, and the solver's tolerances are absolute.
        self.columns, self.sign, self.weight = columns, sign, np.ldexp(weight, -np.frexp(weight.max())[1])
        self.program = ComplexityProgram(sign, self.weight)
        self.n_free = 0 if free is None else len(free)
        if free is not None:
            self.program.add_columns(np.ascontiguousarray(free), np.zeros(len(free)))
        # Of several optima always the same one, whatever the way to it.
        self.handicap = HANDICAP * np.random.default_rng(0).random(columns.n_columns)
        self.known = np.zeros(0, dtype=np.intp)  # columns in the program, in its order
        self.means = np.zeros(0)

    def solve(self, C: float, mu: float, *, tol: float = 1e-8, max_iter: int = 100_000) -> Solution:
        """The optimum at these costs; not ``converged`` if `max_iter` steps did not reach it."""
        program, before = self.program, self.program.steps()
        for rung in _rungs(C, mu):
            program.set_costs(rung / float(self.weight.sum()), mu)
            solved, highest = False, 0.0
            while _walk(program, max_iter - (program.steps() - before)):
                dear, highest = self._dear_columns(mu, tol)
                if len(dear) == 0:
                    solved = True
                    break
                self._add(dear)
        everything = np.arange(len(self.known))
        steps = program.steps() - before
        return self._solution(program, everything, C, mu, highest, solved, steps, max_iter)

    def _dear_columns(self, mu: float, tol: float) -> tuple[Indices, float]:
        """The columns most worth adding, and the highest price of all where none is."""
        multiplier = self.program.multipliers()
        price, error = self.columns.prices(multiplier)
        limit = mu * (1 + self.handicap + tol) + PRICE_ROUNDING * float(np.abs(multiplier).sum())
        excess = price - limit
        excess[self.known] = -np.inf
        most = max(COLUMNS_A_ROUND, int(SHARE_A_ROUND * len(self.known)))
        best = _largest(excess, most)
        surely = best[excess[best] > error]
        if len(surely) or error == 0:
            return surely, float(price.max(initial=0.0))
        doubtful = np.flatnonzero(excess > -error)
        exact = self.columns.exact_prices(multiplier, doubtful)
        dear = doubtful[exact > limit[doubtful]]
        # The program itself prices known columns no higher than this; the rest are below it by more than the error.
        return dear[:most], max(mu * (1 + HANDICAP), float(exact.max(initial=0.0)))

    def relax(self, whole: Solution, C: float, mu: float, *, max_iter: int = 100_000) -> Solution:
        """The columns of the last solution, `whole`, at another mu: their coefficients, less drawn to zero.

        Objective and bound are those of the program that chose the columns.
        """
        program, before = self.program.restricted(), self.program.steps()
        program.set_costs(C / float(self.weight.sum()), mu)
        solved = _walk(program, max_iter)
        kept = self.program.free_columns()[1 + self.n_free :] - (1 + self.n_free)
        relaxed = self._solution(program, kept, C, mu, 0.0, solved, program.steps() - before, max_iter)
        return replace(
            relaxed,
            objective=whole.objective,
            dual=whole.dual,
            n_iter=whole.n_iter + relaxed.n_iter,
            converged=whole.converged and solved,
        )

    def _add(self, which: Indices) -> None:
        block = self.columns.take(which)
        means = block.mean(axis=1)  # the intercept absorbs them, and the systems are better conditioned
        self.program.add_columns(np.ascontiguousarray(block - means[:, None]), 1.0 + self.handicap[which])
        self.known = np.concatenate([self.known, which])
        self.means = np.concatenate([self.means, means])

    def _solution(
        self,
        program: ComplexityProgram,
        of: Indices,
        C: float,
        mu: float,
        highest_price: float,
        solved: bool,
        steps: int,
        max_iter: int,
    ) -> Solution:
        """What the vertex of a program on the known columns `of` says."""
        values = program.coefficients()
        own = values[1 + self.n_free :]
        size = np.abs(own)
        margin = program.scores()
        whole = self._measure(margin, own, C, mu)
        kept, measured = own != 0, whole
        # What rounding leaves of a zero is not a support vector; what the machine needs, however small, is one.
        for share in SMALLEST_SHARES:
            tiny = kept & (size <= share * size.max(initial=0.0))
            if not tiny.any():
                break
            block = self.columns.take(self.known[of][tiny]) - self.means[of][tiny, None]
            without = self._measure(margin - self.sign * (own[tiny] @ block), own * ~tiny, C, mu)
            if without.objective <= whole.objective * (1 + WORTH_KEEPING):
                kept, measured = kept & ~tiny, without
                break
        order = np.argsort(self.known[of][kept])
        # Multipliers scaled down until no column is priced above mu are feasible: their value is a bound.
        shrink = min(1.0, mu / highest_price) if highest_price > 0 and mu > 0 else 1.0
        dual = 1.0 + shrink * (program.dual_value() - 1.0) if solved else 1.0
        return Solution(
            chosen=self.known[of][kept][order],
            coefficients=own[kept][order],
            intercept=float(values[0] - own[kept] @ self.means[of][kept]),
            free_coefficients=values[1 : 1 + self.n_free],
            h=measured.h,
            objective=measured.objective,
            dual=dual,
            n_iter=steps,
            max_iter=max_iter,
            converged=solved and measured.objective - dual <= WORST_GAP * measured.objective,
            mean_slack=measured.mean_slack,
        )

    def _measure(self, margin: Vector, coefficients: Vector, C: float, mu: float) -> Measured:
        h = max(1.0, float(margin.max()))
        mean_slack = float(np.average(np.maximum(0.0, 1.0 - margin), weights=self.weight))
        return Measured(h, mean_slack, h + C * mean_slack + mu * float(np.abs(coefficients).sum()))


def _rungs(C: float, mu: float) -> list[float]:
    """Prices of slack up to C.

    Where slack is very dear compared with mu, a walk from far off meets vertices too close to distinguish; one from the
    solution at a lower price does not.
    """
    rungs = [C]
    while rungs[-1] > DEAR_SLACK * max(mu, LEAST_MU):
        rungs.append(rungs[-1] / 10)
    return rungs[::-1]


def _walk(program: ComplexityProgram, most_steps: int) -> bool:
    """To the optimum over the program's columns, from the beginning if the numbers fail; false if not reached."""
    before = program.steps()
    outcome = program.walk(max(0, most_steps))
    if outcome == "failed":
        program.restart()  # another way rarely fails too
        outcome = program.walk(max(0, most_steps - (program.steps() - before)))
    return outcome == "optimal"


def _largest(values: Vector, count: int) -> Indices:
    """The places of the largest values, the largest first; among equals the first."""
    if len(values) > 4 * count:
        bound = np.partition(values, len(values) - count)[len(values) - count]
        places = np.flatnonzero(values >= bound)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")[:count]]
