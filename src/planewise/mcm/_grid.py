"""The points of a search, evaluated along warm-started paths."""

from __future__ import annotations

from dataclasses import dataclass, replace

from joblib import Parallel, delayed

from planewise.mcm._folds import Folds
from planewise.mcm._kernels import Matrix
from planewise.mcm._linear_program import Indices, Vector
from planewise.mcm._multiclass import class_scores
from planewise.mcm._problem import Labels, find_scaling
from planewise.mcm._training import MachinePaths, Settings, Trained, train_conformal


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
    scale: bool | str,
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
        scaling = find_scaling(X[train], weight[train], scale)
        return walk(task, scaling(X[train]), label[train], weight[train], train, scaling(X[held]), max_support)

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
    last: dict[float, Trained] = {}  # by C
    for point in sorted(task.points, key=lambda point: (-point.mu / point.C, point.C)):
        C, before = point.C, last.get(point.C)
        if before is not None and len(before.origin) > most:
            continue
        base = last[C] = paths.solve(C, point.mu)
        trained = base
        share = 1.0 if point.shrinkage is None else point.shrinkage
        if point.gamma_conformal is not None and share > 0:  # (1 - s) + s r is one where s = 0
            trained = train_conformal(paths, base, C, point.mu, point.gamma_conformal, share)
        raw = trained.raw_scores(X_held)
        scores = class_scores(raw, task.settings.n_classes, task.settings.multi_class)
        converged = all(solution.converged for solution in trained.solutions)
        found[point] = Held(scores, len(trained.origin), converged)
    return found


def _with_gamma(settings: Settings, gamma: float | None) -> Settings:
    if settings.kernel is None or gamma is None:
        return settings
    return replace(settings, kernel=replace(settings.kernel, gamma=gamma))
