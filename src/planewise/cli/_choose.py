"""Which family of models suits a table: all of them cross-validated, the smallest among the best."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from planewise.cli._quality import quality_of
from planewise.cli._show import size_in_words, working
from planewise.io import save
from planewise.table import TableModel
from planewise.table._families import FAMILIES, MOST_ROWS_OF_A_REGRESSION_MACHINE, MOST_ROWS_OF_VIEWS
from planewise.table._model import target_values, task_of

FOLDS = 3
MOST_ROWS = 6000  # of the table that the families are compared on


@dataclass
class Trial:
    """What cross-validation found of a family."""

    family: str
    scores: list[float]
    n_bytes: int
    seconds: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores)))


@dataclass
class Choice:
    """The family, why it was taken, and all trials."""

    family: str
    why: str
    measure: str
    trials: list[Trial]


def choose_family(table: Any, target: str, task: str, seed: int, quiet: bool) -> Choice:
    """Cross-validate the families on (a sample of) the rows; of those near the best, the smallest."""
    n_rows = table.height
    if n_rows > MOST_ROWS:
        table = table.sample(MOST_ROWS, seed=seed, shuffle=True)
    task = task_of(table[target]) if task == "auto" else task
    y = target_values(table[target], task)
    classes = task == "classification"
    smallest = int(np.unique(y, return_counts=True)[1].min()) if classes else FOLDS
    make = StratifiedKFold if classes and smallest >= FOLDS else KFold
    folds = list(make(FOLDS, shuffle=True, random_state=seed).split(y, y))
    trials = []
    for family in FAMILIES:
        if family == "mcm" and not classes and n_rows > MOST_ROWS_OF_A_REGRESSION_MACHINE:
            continue  # the exact machine could not be fitted on all rows
        if family == "recip" and n_rows > MOST_ROWS_OF_VIEWS:
            continue
        with working(f"cross-validating {family} on {table.height} rows", quiet):
            trials.append(_tried(family, table, target, task, folds, seed))
    best = max(trials, key=lambda trial: trial.mean)
    near = [trial for trial in trials if trial.mean >= best.mean - best.error]
    chosen = min(near, key=lambda trial: trial.n_bytes)
    measure = "accuracy" if classes else "R2"
    words = f"{best.family} has the best {measure}, {best.mean:.4f} ± {best.error:.4f}"
    if chosen is not best:
        sizes = f"{size_in_words(chosen.n_bytes)}, not {size_in_words(best.n_bytes)}"
        words += f"; {chosen.family} is within one standard error ({chosen.mean:.4f}) and smaller: {sizes}"
    return Choice(chosen.family, words, measure, trials)


def _tried(family: str, table: Any, target: str, task: str, folds: Any, seed: int) -> Trial:
    scores, n_bytes = [], 0
    start = time.perf_counter()
    for train, held in folds:
        model = TableModel(family, task, random_state=seed).fit(table[train], target)
        scores.append(next(iter(quality_of(model, table[held]).values())))
        n_bytes = max(n_bytes, file_size(model))
    return Trial(family, scores, n_bytes, time.perf_counter() - start)


def file_size(model: Any) -> int:
    """Bytes of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.planewise"
        save(model, path)
        return path.stat().st_size
