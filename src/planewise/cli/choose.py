"""Which family of models suits the rows: one that people can read, if it is as good."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planewise._progress import Listener
from planewise.cli.output import size_in_words, stage
from planewise.cli.split import Indices, Split
from planewise.evaluate.evaluation import evaluate
from planewise.evaluate.measures import Measured
from planewise.evaluate.quality import MEASURES, measures
from planewise.store.file import save
from planewise.table.families import (
    FAMILIES,
    READABLE,
    can_predict,
    estimator_class,
    max_columns,
    max_rows,
)
from planewise.table.model import TableModel, target_values, task_of

MAX_ROWS = 6000  # that the families are compared on


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
    errors: tuple[float, ...] = ()  # of the scores, each by the rows of its fold

    @property
    def mean(self) -> float:
        """The mean of the folds."""
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """The standard error of the mean: by the folds, which are few, or by their rows, whichever is larger."""
        n_folds = len(self.scores)
        by_folds = np.std(self.scores, ddof=1) / np.sqrt(n_folds)
        return float(max(by_folds, np.sqrt(np.sum(np.square(self.errors))) / n_folds))


@dataclass
class Choice:
    """The family, why it was chosen, the measure it was compared by, and all trials."""

    family: str
    why: str
    measure: str
    trials: list[Trial]


def choose_family(table: Any, target: str, task: str, split: Split, quiet: bool, *, wanted: str = "auto") -> Choice:
    """Cross-validate families on (a sample of) the rows and choose one.

    Folds are made as rows are held out: at random, by groups or by time.

    "auto" tries all: of those near the best in accuracy or R², one that a person can read, else the smallest.
    "explainable" tries those that a person can read, and takes the one with the least log loss or RMSE.
    """
    n_rows = table.height
    families = [
        family
        for family in (FAMILIES if wanted == "auto" else READABLE)
        if _can_be_fitted(family, task, n_rows, table.width - 1 - len(split.left_out))
    ]
    if n_rows > MAX_ROWS:
        table = table.sample(MAX_ROWS, seed=split.seed, shuffle=True)
    folds = split.folds(table, target, task)
    split.require_folds(folds)
    measure = _COMPARED_BY[wanted, task]
    trials = []
    for number, family in enumerate(families, 1):
        words = f"cross-validating {family} ({number} of {len(families)}) on {table.height} rows"
        with stage(words, quiet) as told:
            trials.append(_tried(family, table, target, task, folds, split, measure, told))
    family, why = (_by_score if wanted == "auto" else _by_loss)(trials, MEASURES[measure])
    return Choice(family, why, measure, trials)


_COMPARED_BY = {
    ("auto", "classification"): "accuracy",
    ("auto", "regression"): "r2",
    ("explainable", "classification"): "log_loss",
    ("explainable", "regression"): "rmse",
}


def _can_be_fitted(family: str, task: str, n_rows: int, n_columns: int) -> bool:
    """Return whether a family can be fitted for this task on a table of this size."""
    most_rows, most_columns = max_rows(family, task), max_columns(family)
    fits = (most_rows is None or n_rows <= most_rows) and (most_columns is None or n_columns <= most_columns)
    return fits and can_predict(family, task)


def _by_score(trials: list[Trial], measure: str) -> tuple[str, str]:
    """Among those within one standard error of the best: the easiest to read, or else the smallest; and why."""
    best = max(trials, key=lambda trial: trial.mean)
    near = {trial.family: trial for trial in trials if trial.mean >= best.mean - best.error}
    readable = [near[family] for family in READABLE if family in near]
    chosen = readable[0] if readable else min(near.values(), key=lambda trial: trial.n_bytes)
    words = f"{best.family} has the best {measure}, {best.mean:.4f} ± {best.error:.4f}"
    if chosen is not best:
        words += f"; {chosen.family} is within one standard error of it ({chosen.mean:.4f}) and "
        if readable:
            words += "easier to read" if best.family in READABLE else "a person can read it"
        else:
            words += f"smaller ({size_in_words(chosen.n_bytes)} instead of {size_in_words(best.n_bytes)})"
    worse = [f"{trial.family} ({trial.mean:.4f})" for trial in trials if trial.family in READABLE]
    if not readable and worse:
        words += (
            f". A person could read {' or '.join(worse)}, but the {measure} is lower by more than one standard error; "
            "--model explainable fits such a model all the same"
        )
    return chosen.family, words


def _by_loss(trials: list[Trial], measure: str) -> tuple[str, str]:
    """The one with the least loss, and why."""
    best = min(trials, key=lambda trial: trial.mean)
    if len(trials) == 1:
        return best.family, "a person can read it, and no other such model can be fitted on a table of this size"
    return best.family, f"of the models that a person can read, it has the lowest {measure}, {best.mean:.4f}"


def _tried(
    family: str, table: Any, target: str, task: str, folds: Any, split: Split, measure: str, told: Listener
) -> Trial:
    scores, errors, n_bytes = [], [], 0
    start = time.perf_counter()
    for done, (train, held_out) in enumerate(folds, 1):
        model = fit_split(TableModel(family, task, random_state=split.seed), table[train], target, split)
        case = evaluate(model, table[held_out])
        found = measures(case).get(measure, Measured(0.0, 0.0, 0.0))  # R², where all targets are equal
        scores.append(found.value)
        errors.append(found.standard_error)
        n_bytes = max(n_bytes, file_size(model))
        told(done, len(folds))
    return Trial(family, scores, n_bytes, time.perf_counter() - start, tuple(errors))


def fit_split(model: TableModel, train: Any, target: str, split: Split, numbers: Any = None) -> TableModel:
    """Fit a model without the column of groups or times; its own cross-validation, if any, keeps to them too."""
    task = task_of(train[target]) if model.task == "auto" else model.task
    folds = None
    if "cv" in estimator_class(model.family, task, train.height)._get_param_names():  # type: ignore[attr-defined]
        folds = split.folds_for_estimators(train, target, task, (model.settings or {}).get("cv"))
    return model.fit(train, target, numbers, left_out=split.left_out, folds=folds)


def file_size(model: Any) -> int:
    """Bytes of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.planewise"
        save(model, path)
        return path.stat().st_size
