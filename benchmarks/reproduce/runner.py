"""Runs the cells that are not finished, each kept as soon as it is done."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import version
from itertools import product

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from planewise._progress import Progress

from .declaration import Data, Experiment, Method, Table
from .methods import missing
from .sources import code_hash
from .store import Finished, Key, Store


@dataclass(frozen=True)
class Cell:
    """One data set, method and seed of an experiment."""

    experiment: Experiment
    data: Data
    method: Method
    seed: int

    @property
    def key(self) -> Key:
        """What the store knows it by."""
        return self.data.name, self.method.name, self.seed

    @property
    def place(self) -> tuple[str, str, str]:
        """Experiment, data set and method."""
        return self.experiment.name, self.data.name, self.method.name

    @property
    def fingerprint(self) -> str:
        """Of all that was declared about it."""
        return self.experiment.fingerprint(self.data, self.method)

    def __str__(self) -> str:
        return f"{self.data.name}, {self.method.name}, seed {self.seed}"


def cells_of(experiment: Experiment, quick: bool) -> list[Cell]:
    """All cells."""
    return [
        Cell(experiment, data, method, seed)
        for data in experiment.data
        for method in experiment.methods
        for seed in range(experiment.n_seeds(data.name, method.name, quick))
    ]


def is_finished(cell: Cell, store: Store, metrics: Collection[str] = ()) -> bool:
    """Whether the store has it, as it is declared today, with these metrics (a protocol may have got new ones)."""
    found = store.cells(cell.experiment.name).get(cell.key)
    return found is not None and found.fingerprint == cell.fingerprint and found.metrics.keys() >= set(metrics)


def experiments_of(tables: Iterable[Table]) -> list[Experiment]:
    """Those the tables need, each once."""
    return list({table.experiment.name: table.experiment for table in tables}.values())


def metrics_shown(tables: Iterable[Table]) -> dict[tuple[str, str, str], set[str]]:
    """By experiment, data set and method: the metrics that the tables show of its cells."""
    shown: dict[tuple[str, str, str], set[str]] = {}
    for table in tables:
        for row, column in product(table.rows, table.columns):
            data, method, metric = table.cell(row, column)
            shown.setdefault((table.experiment.name, data, method), set()).add(metric)
    return shown


@dataclass(frozen=True)
class Report:
    """How a run went."""

    ran: int
    kept: int
    missing: dict[str, list[str]]  # package: the methods that need it
    failed: list[str]


def run(
    tables: Iterable[Table],
    store: Store,
    *,
    quick: bool = False,
    fresh: bool = False,
    jobs: int = 1,
    data_home: str | None = None,
    progress: bool = True,
    methods: Sequence[str] = ("*",),
) -> Report:
    """Runs what is not finished (with `fresh`, everything) and says how that went.

    `methods` are patterns of names ("SLM*"): only these are run.
    """
    todo: list[Cell] = []  # the first seeds first, so that a run broken off has something of everything
    kept = 0
    lacking: dict[str, list[str]] = {}
    tables = list(tables)
    experiments, shown = experiments_of(tables), metrics_shown(tables)
    cells = [cell for experiment in experiments for cell in cells_of(experiment, quick)]
    cells = [cell for cell in cells if any(fnmatchcase(cell.method.name, each) for each in methods)]
    for cell in sorted(cells, key=lambda cell: cell.seed):
        packages = missing(cell.method)
        for package in packages:
            if cell.method.name not in lacking.setdefault(package, []):
                lacking[package].append(cell.method.name)
        if not fresh and is_finished(cell, store, shown.get(cell.place, ())):
            kept += 1
        elif not packages:
            todo.append(cell)
    failed = []
    with Progress(len(todo), "cells", shown=progress) as bar:
        for cell, answer in _answers(todo, jobs, data_home):
            if isinstance(answer, Finished):
                store.add(cell.experiment.name, cell.key, answer)
            else:
                failed.append(f"{cell}: {answer}")
            bar.step(str(cell))
    for experiment in experiments:
        store.tidy(experiment.name, {cell.key for cell in cells_of(experiment, quick=False)})
    return Report(len(todo) - len(failed), kept, lacking, failed)


def run_cell(cell: Cell, data_home: str | None) -> Finished | str:
    """The cell's figures, or what went wrong."""
    start = time.process_time()  # a cell has one thread: what it would take on a machine that does nothing else
    try:
        with one_thread():
            metrics = cell.experiment.protocol.run(cell.data, cell.method, cell.seed, data_home)
    except Exception as error:  # one bad cell must not end a run of hours
        return f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    return Finished(metrics, cell.fingerprint, seconds, f"planewise {version('planewise')}", code_hash())


@contextmanager
def one_thread() -> Iterator[None]:
    """Cells run side by side, so each has one thread; that a search tried a point without converging is no news."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _answers(cells: list[Cell], jobs: int, data_home: str | None) -> Iterator[tuple[Cell, Finished | str]]:
    if jobs == 1:
        for cell in cells:
            yield cell, run_cell(cell, data_home)
        return
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run_cell, cell, data_home): cell for cell in cells}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)
