"""Finished cells of a table beside what the paper printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .declaration import Edge, Figure, Table
from .methods import missing
from .runner import Cell, is_finished
from .store import Store


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    values : tuple of float
        Ours, seed by seed.
    seeds : tuple of int
        The seeds that are finished.
    why_none : str
        Why there are none.
    doubt : str
        Why the printed figure cannot be right.
    """

    row: Edge
    column: Edge
    printed: Figure | None
    values: tuple[float, ...]
    seeds: tuple[int, ...]
    why_none: str
    doubt: str
    digits: int

    @property
    def mean(self) -> float:
        """Of our seeds."""
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        """Of our seeds, the population's."""
        return float(np.std(self.values))

    def of_seeds(self, seeds: set[int]) -> Entry:
        """The same with fewer seeds."""
        kept = [(value, seed) for value, seed in zip(self.values, self.seeds, strict=True) if seed in seeds]
        return replace(self, values=tuple(value for value, _ in kept), seeds=tuple(seed for _, seed in kept))

    @property
    def difference(self) -> float | None:
        """Ours less the printed one."""
        return self.mean - self.printed.mean if self.values and self.printed else None


@dataclass(frozen=True)
class Results:
    """A table, filled as far as cells are finished."""

    table: Table
    entries: dict[tuple[str, str], Entry]
    finished: int
    declared: int
    quick: bool = False

    def __getitem__(self, place: tuple[str, str]) -> Entry:
        return self.entries[place]

    @property
    def is_final(self) -> bool:
        """Whether all that is declared is there: nothing is met or missed by a few seeds."""
        return not self.quick and self.finished == self.declared

    def standard_error(self, title: str, differences: NDArray[np.float64]) -> float:
        """Of the mean over seeds, for a data set's row or column.

        Splits of one table share most of their rows, so that their variance says too little: it counts
        1 / n + test rows / training rows times (Nadeau and Bengio's correction). Generated rows are drawn anew.
        """
        name = next(edge.data for edge in (*self.table.rows, *self.table.columns) if edge.title == title)
        data = next(each for each in self.table.experiment.data if each.name == name)
        shared = getattr(self.table.experiment.protocol, "test_by_train", 0.0) if data.source[0] == "load" else 0.0
        return float(differences.std(ddof=1) * np.sqrt(1 / len(differences) + shared))

    def pairs(self, ours: str, theirs: str) -> Iterator[tuple[str, Entry, Entry]]:
        """Two methods' (or columns') entries for each data set where both have figures, whichever way the table lies.

        A data set that the paper has under two names counts once; of an unfinished run the seeds count that both have.
        """
        by_row = any(ours == row.title for row in self.table.rows)
        seen: set[str] = set()
        for edge in self.table.columns if by_row else self.table.rows:
            places = [(title, edge.title) if by_row else (edge.title, title) for title in (ours, theirs)]
            one, other = (self.entries[place] for place in places)
            both = set(one.seeds) & set(other.seeds)
            if both and edge.data not in seen:
                seen.add(edge.data)
                yield edge.title, one.of_seeds(both), other.of_seeds(both)


def collect(table: Table, store: Store, *, quick: bool = False) -> Results:
    """Fill a table from the store."""
    experiment = table.experiment
    data = {each.name: each for each in experiment.data}
    methods = {each.name: each for each in experiment.methods}
    entries, used, unfinished = {}, set(), set()
    for row in table.rows:
        for column in table.columns:
            values: dict[int, float] = {}
            data_name, method_name, metric = table.cell(row, column)
            why_none = row.not_run or column.not_run or experiment.not_run.get((data_name, method_name), "")
            if not why_none:
                lacking = missing(methods[method_name])
                for seed in range(experiment.n_seeds(data_name, method_name, quick)):
                    cell = Cell(experiment, data[data_name], methods[method_name], seed)
                    used.add(cell.key)
                    if not is_finished(cell, store, {metric}):
                        unfinished.add(cell.key)
                    else:
                        values[seed] = store.cells(experiment.name)[cell.key].metrics[metric]
                why_none = "" if values else (f"{', '.join(lacking)} is not installed" if lacking else "not yet run")
            entries[row.title, column.title] = Entry(
                row,
                column,
                table.printed.get((row.title, column.title)),
                tuple(values.values()),
                tuple(values),
                why_none,
                table.doubt(row, column),
                next(digits for digits in (row.digits, column.digits, table.digits) if digits is not None),
            )
    return Results(table, entries, len(used - unfinished), len(used), quick)
