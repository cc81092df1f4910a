"""Which rows a model learns from, and which family of models suits them: one that people can read, if it is as good."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from planewise.cli._mistakes import MistakeError
from planewise.cli._show import size_in_words, working
from planewise.evaluate import MEASURES, evaluate, measures, score
from planewise.io import save
from planewise.table import FAMILIES, READABLE, TREES, TableModel, max_columns, max_rows, target_values

FOLDS = 3
MAX_ROWS = 6000  # that the families are compared on

Indices = NDArray[np.intp]


def split_rows(table: Any, target: str, task: str, share: float, seed: int) -> tuple[Indices, Indices]:
    """Training rows and held-out rows, in the order of the table; every held-out class is also in training."""
    if table.height < 10:
        raise MistakeError(f"the table has {table.height} rows with a value of {target!r}; at least 10 are needed.")
    y = target_values(table[target], task)
    strata = None
    if task == "classification":
        counts = np.unique(y, return_counts=True)[1]
        if counts.min() >= 2 and len(counts) <= share * len(y):
            strata = y
    train, test = train_test_split(np.arange(len(y)), test_size=share, random_state=seed, stratify=strata)
    train.sort()
    test.sort()
    if task == "classification":
        unseen = ~np.isin(y[test], np.unique(y[train]))
        train, test = np.concatenate([train, test[unseen]]), test[~unseen]  # classes of one row cannot be measured
    return train, test


def sample_rows(train: Any, target: str, task: str, n_rows: int, seed: int) -> Indices:
    """A sample of the rows in their order, with at least one of every class."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(train.height)
    if task == "classification":
        first = np.unique(target_values(train[target], task)[chosen], return_index=True)[1]
        chosen = np.concatenate([chosen[first], np.delete(chosen, first)])
    return np.sort(chosen[:n_rows])


@dataclass
class Trial:
    """What cross-validation found about a family."""

    family: str
    scores: list[float]  # accuracies or R², or losses
    n_bytes: int
    seconds: float

    @property
    def mean(self) -> float:
        """The mean of the folds."""
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores)))


@dataclass
class Choice:
    """The family, why it was chosen, the measure it was compared by, and all trials."""

    family: str
    why: str
    measure: str
    trials: list[Trial]


def choose_family(
    table: Any, target: str, task: str, seed: int, quiet: bool, *, wanted: str = "auto", from_files: bool = False
) -> Choice:
    """Cross-validate families on (a sample of) the rows and choose one; `from_files`: all rows do not fit in memory.

    "auto" tries all: of those near the best in accuracy or R², one that a person can read, else the smallest.
    "explainable" tries those that a person can read, and takes the one with the least log loss or RMSE.
    """
    n_rows = table.height
    families = [
        family
        for family in (FAMILIES if wanted == "auto" else READABLE)
        if _can_be_fitted(family, task, n_rows, table.width - 1) and (family in TREES or not from_files)
    ]
    if n_rows > MAX_ROWS:
        table = table.sample(MAX_ROWS, seed=seed, shuffle=True)
    folds = _folds(target_values(table[target], task), task, seed)
    measure = _COMPARED_BY[wanted, task]
    trials = []
    for family in families:
        with working(f"cross-validating {family} on {table.height} rows", quiet):
            trials.append(_tried(family, table, target, task, folds, seed, measure))
    family, why = (_by_score if wanted == "auto" else _by_loss)(trials, MEASURES[measure])
    return Choice(family, why, measure, trials)


_COMPARED_BY = {
    ("auto", "classification"): "accuracy",
    ("auto", "regression"): "r2",
    ("explainable", "classification"): "log_loss",
    ("explainable", "regression"): "rmse",
}


def _can_be_fitted(family: str, task: str, n_rows: int, n_columns: int) -> bool:
    """Whether a family can be fitted on a table of this size."""
    most_rows, most_columns = max_rows(family, task), max_columns(family)
    return (most_rows is None or n_rows <= most_rows) and (most_columns is None or n_columns <= most_columns)


def _by_score(trials: list[Trial], measure: str) -> tuple[str, str]:
    """Among those within one standard error of the best: the easiest to read, or else the smallest; and why."""
    best = max(trials, key=lambda trial: trial.mean)
    near = {trial.family: trial for trial in trials if trial.mean >= best.mean - best.error}
    readable = [near[family] for family in READABLE if family in near]
    chosen = readable[0] if readable else min(near.values(), key=lambda trial: trial.n_bytes)
    words = f"{best.family} has the best {measure}, {best.mean:.4f} ± {best.error:.4f}"
    if chosen is best:
        return chosen.family, words
    words += f"; {chosen.family} is within one standard error of it ({chosen.mean:.4f}) and "
    if readable:
        words += "easier to read" if best.family in READABLE else "a person can read it"
    else:
        words += f"smaller ({size_in_words(chosen.n_bytes)} instead of {size_in_words(best.n_bytes)})"
    return chosen.family, words


def _by_loss(trials: list[Trial], measure: str) -> tuple[str, str]:
    """The one with the least loss, and why."""
    best = min(trials, key=lambda trial: trial.mean)
    if len(trials) == 1:
        return best.family, "a person can read it, and no other such model can be fitted on a table of this size"
    return best.family, f"of the models that a person can read, it has the lowest {measure}, {best.mean:.4f}"


def _folds(y: NDArray[Any], task: str, seed: int) -> list[tuple[Indices, Indices]]:
    smallest = int(np.unique(y, return_counts=True)[1].min()) if task == "classification" else 0
    make = StratifiedKFold if smallest >= FOLDS else KFold
    return list(make(FOLDS, shuffle=True, random_state=seed).split(y, y))


def _tried(family: str, table: Any, target: str, task: str, folds: Any, seed: int, measure: str) -> Trial:
    scores, n_bytes = [], 0
    start = time.perf_counter()
    for train, held_out in folds:
        model = TableModel(family, task, random_state=seed).fit(table[train], target)
        case = evaluate(model, table[held_out])
        scores.append(score(case) if measure in ("accuracy", "r2") else measures(case)[measure].value)
        n_bytes = max(n_bytes, file_size(model))
    return Trial(family, scores, n_bytes, time.perf_counter() - start)


def file_size(model: Any) -> int:
    """Bytes of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.planewise"
        save(model, path)
        return path.stat().st_size
