"""Which rows are held out when, and what machines that have not seen them say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, check_random_state

from planewise._scaling import find_scaling
from planewise.mcm._kernels import Matrix
from planewise.mcm._rows import Indices, Labels, Vector
from planewise.mcm._scores import class_scores
from planewise.mcm.exact._settings import Settings
from planewise.mcm.exact._training import MachinePaths, train_machines

Folds = list[tuple[Indices, Indices]]


def stratified_folds(n_folds: int, label: Labels, random_state: Any) -> Folds:
    """Shuffled folds with equal shares of each class; the only row of a class is never held out."""
    random = check_random_state(random_state)
    fold = np.full(len(label), -1)
    start = 0
    for c in np.unique(label):
        members = random.permutation(np.flatnonzero(label == c))
        if len(members) > 1:
            fold[members] = (start + np.arange(len(members))) % n_folds
            start += len(members)
    if (fold < 0).all():
        raise ValueError(
            "No class has two distinct rows, so that none can be held out: probability=True, conformal='shrunk' and "
            "MCMClassifierCV need some."
        )
    held = [np.flatnonzero(fold == k) for k in range(n_folds)]
    return [(np.setdiff1d(np.arange(len(label)), rows), rows) for rows in held if len(rows)]


def given_folds(cv: Any, X: Matrix, label: Labels, kept: Indices, groups: Any = None) -> Folds:
    """The folds of a splitter or a list of (train, test) rows of X, as places among the rows that count."""
    groups = None if groups is None else np.asarray(groups)
    check_consistent_length(X, groups)
    place = np.full(len(X), -1)
    place[kept] = np.arange(len(kept))
    labels = np.zeros(len(X), dtype=np.int32)
    labels[kept] = label
    folds = []
    try:
        pairs = list(check_cv(cv, labels, classifier=True).split(X, labels, groups))
    except ValueError as error:
        if groups is None and "'groups'" in str(error):
            raise ValueError(f"cv={cv!r} needs the group of every row: pass them as fit(X, y, groups=...).") from error
        raise
    for train, held in pairs:
        pair = [place[rows][place[rows] >= 0] for rows in (np.arange(len(X))[train], np.arange(len(X))[held])]
        if len(np.unique(label[pair[0]])) < len(np.unique(label)):
            raise ValueError("The training part of a fold of 'cv' lacks a class; use stratified folds.")
        if len(pair[1]) == 0:
            raise ValueError("A fold of 'cv' holds out no row that counts.")
        folds.append((pair[0], pair[1]))
    return folds


@dataclass(frozen=True)
class Point:
    """One choice of what is searched for; None where the kernel has no such parameter."""

    C: float
    mu: float
    gamma: float | None = None
    gamma_conformal: float | None = None
    shrinkage: float | None = None


@dataclass(frozen=True)
class Held:
    """What a machine said about rows it had not seen, and how many vectors it needed."""

    scores: Matrix
    n_vectors: int
    converged: bool


@dataclass(frozen=True)
class Task:
    """The points of one gamma, in one fold."""

    fold: int
    settings: Settings
    points: list[Point]


def evaluate(
    settings: Settings,
    points: list[Point],
    X: Matrix,
    label: Labels,
    weight: Vector,
    folds: Folds,
    *,
    scaling: str | None,
    max_support: float,
    n_jobs: int,
) -> dict[Point, list[Held | None]]:
    """Held-out scores of every point in every fold; None where a path ended before it."""
    by_gamma: dict[float | None, list[Point]] = {}
    for point in points:
        by_gamma.setdefault(point.gamma, []).append(point)
    # Wide kernels' paths are the long ones: begin with them, so that no thread waits for the last.
    order = sorted(by_gamma, key=lambda gamma: -(gamma or 0.0))
    tasks = [Task(fold, _with_gamma(settings, gamma), by_gamma[gamma]) for gamma in order for fold in range(len(folds))]

    def run(task: Task) -> dict[Point, Held]:
        train, held = folds[task.fold]
        scale = find_scaling(X[train], weight[train], scaling)
        return walk(task, scale(X[train]), label[train], weight[train], train, scale(X[held]), max_support)

    if min(n_jobs, len(tasks)) == 1:
        answers = [run(task) for task in tasks]
    else:
        answers = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(run)(task) for task in tasks)
    found: dict[Point, list[Held | None]] = {point: [None] * len(folds) for point in points}
    for task, answer in zip(tasks, answers, strict=True):
        for point, held in answer.items():
            found[point][task.fold] = held
    return found


def walk(
    task: Task, X: Matrix, label: Labels, weight: Vector, origin: Indices, X_held: Matrix, max_support: float
) -> dict[Point, Held]:
    """Down the path of each C, from the largest mu to the smallest, until machines have too many vectors.

    The paths are walked side by side: h hardly counts in the objective, so that machines of equal mu / C are nearly the
    same one, and each is the best start for the next.
    """
    found: dict[Point, Held] = {}
    paths = MachinePaths(task.settings, X, label, weight, origin)
    most = max_support * len(X)
    ended: dict[float, float] = {}  # by C, the mu whose machine without a factor has too many vectors
    for point in sorted(task.points, key=lambda point: (-point.mu / point.C, point.C)):
        C, mu = point.C, point.mu
        if mu < ended.get(C, 0.0):  # other points of that mu still count
            continue
        share = 1.0 if point.shrinkage is None else point.shrinkage
        trained = train_machines(paths, C, mu, point.gamma_conformal, share)
        if len(paths.solve(C, mu, published=mu == 0).origin) > most:
            ended[C] = mu
        raw = trained.raw_scores(X_held)
        scores = class_scores(raw, task.settings.n_classes, task.settings.multi_class)
        found[point] = Held(scores, len(trained.origin), trained.converged)
    return found


def _with_gamma(settings: Settings, gamma: float | None) -> Settings:
    if settings.kernel is None or gamma is None:
        return settings
    return replace(settings, kernel=replace(settings.kernel, gamma=gamma))
