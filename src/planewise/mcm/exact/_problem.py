"""From rows to the columns of the linear program, and the two-class programs of several classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from planewise.mcm._kernels import Kernel, Matrix
from planewise.mcm._rows import DistinctRows, Indices, Vector
from planewise.mcm.exact._linear_program import HELD_BYTES, Columns, ComputedColumns, HeldColumns


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


def _one_over(mean: float) -> float:
    return 1 / float(mean) if mean > 0 else 1.0


@dataclass(frozen=True)
class Duel:
    """One two-class program: its rows (None: all), the centres it may choose (None: all), and the rows' signs."""

    rows: Indices | None
    centres: Indices | None
    sign: Vector


def duels(problem: DistinctRows, n_classes: int, multi_class: str, *, linear: bool) -> Iterator[Duel]:
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
