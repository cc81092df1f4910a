"""Cross-validation of a search: rows held out, scores of machines that have not seen them, and the point to choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, check_random_state

from planewise.machines.columns import ScalingOfRows
from planewise.machines.kernels import Matrix
from planewise.machines.rows import Indices, Labels, Vector
from planewise.machines.scores import calibrate, choose_class, class_scores, log_losses
from planewise.machines.search_parts import by_point_and_fold, excess_and_error
from planewise.machines.settings import Settings
from planewise.machines.training import MachinePaths, train_machines

Folds = list[tuple[Indices, Indices]]

AT_A_TIME = 3  # machines of a path
# A path ends once all of these are worse than the best before them by so many standard errors, and by this log-loss.
WORSE_BY_ERRORS, WORSE_BY_LOSS = 2.0, 0.02
ERROR_SHARE = 0.5  # what a wrong class adds to the log-loss of a row when points are compared
NEIGHBOUR_SHARE = 0.5  # of the losses next to a point on its path, when points are compared


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
    labels = np.zeros(len(X), dtype=np.int32)
    labels[kept] = label
    folds = split_rows(cv, X, labels, kept, groups, are_classes=True)
    if any(len(np.unique(label[train])) < len(np.unique(label)) for train, _ in folds):
        raise ValueError("The training part of a fold of 'cv' lacks a class; use stratified folds.")
    return folds


def split_rows(cv: Any, X: Matrix, y: NDArray[Any], kept: Indices, groups: Any = None, *, are_classes: bool) -> Folds:
    """The same for targets y of any kind, of all rows."""
    groups = None if groups is None else np.asarray(groups)
    check_consistent_length(X, groups)
    place = np.full(len(X), -1)
    place[kept] = np.arange(len(kept))
    try:
        pairs = list(check_cv(cv, y, classifier=are_classes).split(X, y, groups))
    except ValueError as error:
        if groups is None and "'groups'" in str(error):
            raise ValueError(f"cv={cv!r} needs the group of every row: pass them as fit(X, y, groups=...).") from error
        raise
    folds = []
    for pair in pairs:
        train, held = (place[rows][place[rows] >= 0] for rows in (np.arange(len(X))[part] for part in pair))
        if len(train) == 0 or len(held) == 0:
            what = "learns from" if len(train) == 0 else "holds out"
            raise ValueError(f"A fold of 'cv' {what} no row that counts.")
        folds.append((train, held))
    return folds


@dataclass(frozen=True)
class Point:
    """One choice of what is searched for; None where the kernel has no such parameter."""

    C: float
    mu: float
    rho: float = 0.0
    gamma: float | None = None
    gamma_conformal: float | None = None
    shrinkage: float | None = None

    @property
    def path(self) -> tuple[Any, ...]:
        """What points have in common that differ only in mu."""
        return (self.C, self.rho, self.gamma, self.gamma_conformal, self.shrinkage)


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
    judged_by: Vector,
    folds: Folds,
    *,
    scaling: ScalingOfRows,
    most_vectors: Callable[[int], float],
    n_jobs: int,
) -> dict[Point, list[Held | None]]:
    """Held-out scores of every point in every fold; None where a path ended before it."""
    by_gamma: dict[float | None, list[Point]] = {}
    for point in points:
        by_gamma.setdefault(point.gamma, []).append(point)
    # Narrow kernels' paths are the long ones: begin with them, so that no thread waits for the last.
    order = sorted(by_gamma, key=lambda gamma: -(gamma or 0.0))
    tasks = [Task(fold, _with_gamma(settings, gamma), by_gamma[gamma]) for gamma in order for fold in range(len(folds))]

    def run(task: Task) -> dict[Point, Held]:
        train, held = folds[task.fold]
        scale = scaling(X[train], weight[train])
        part = Fold(scale(X[train]), label[train], weight[train], train, scale(X[held]), label[held], judged_by[held])
        return walk(task, part, most_vectors(len(train)))

    return by_point_and_fold(run, tasks, points, len(folds), n_jobs)


@dataclass(frozen=True)
class Fold:
    """Scaled rows to learn from, with their places among all rows, and scaled rows held out."""

    X: Matrix
    label: Labels
    weight: Vector
    origin: Indices
    X_held: Matrix
    label_held: Labels
    weight_held: Vector


def walk(task: Task, fold: Fold, most: float) -> dict[Point, Held]:
    """Down the path of each C and rho, from the largest mu to the smallest, until machines have too many vectors."""
    found: dict[Point, Held] = {}
    start = MachinePaths(replace(task.settings, rho=0.0), fold.X, fold.label, fold.weight, fold.origin)
    values = start.values(fold.X_held) if start.can_follow() else None
    for rho in dict.fromkeys(point.rho for point in task.points):
        mine = [point for point in task.points if point.rho == rho]
        paths = start.with_rho(rho) if rho > 0 else start
        plain = all(point.gamma_conformal is None and (point.mu > 0 or rho > 0) for point in mine)
        if plain and values is not None:
            found |= _follow(paths, mine, values, fold.label_held, fold.weight_held, most)
        else:
            found |= _step_by_step(paths, mine, fold.X_held, most)
    return found


def _follow(
    paths: MachinePaths, points: list[Point], values: Matrix, label: Labels, weight: Vector, most: float
) -> dict[Point, Held]:
    """One path after another, a few machines at a time, while they have not become clearly worse than they were."""
    found: dict[Point, Held] = {}
    settings = paths.settings
    for C in dict.fromkeys(point.C for point in points):
        falling = sorted((point for point in points if point.C == C), key=lambda point: -point.mu)
        mine = paths.with_rho(settings.rho)  # from the beginning: no path depends on which others there are
        best: Vector | None = None
        for at in range(0, len(falling), AT_A_TIME):
            some = falling[at : at + AT_A_TIME]
            followed = mine.follow(C, [point.mu for point in some], most)
            losses = []
            for point, raw, n_vectors, converged in zip(
                some, followed.raw_scores(values), followed.n_vectors, followed.converged, strict=False
            ):
                scores = class_scores(raw, settings.n_classes, settings.multi_class)
                found[point] = Held(scores, int(n_vectors), bool(converged))
                losses.append(log_losses(scores, label, calibrate(scores, label, weight)))
            least = min(losses, key=lambda loss: float(weight @ loss))
            if len(followed.n_vectors) < len(some) or followed.n_vectors[-1] > most:
                break
            if best is not None and _clearly_worse(least, best, weight):
                break
            if best is None or weight @ least < weight @ best:
                best = least
    return found


def _clearly_worse(loss: Vector, than: Vector, weight: Vector) -> bool:
    (excess,), (error,) = excess_and_error(loss[None], than, weight / weight.sum())
    return bool(excess > max(WORSE_BY_ERRORS * error, WORSE_BY_LOSS))


def _step_by_step(paths: MachinePaths, points: list[Point], X_held: Matrix, most: float) -> dict[Point, Held]:
    """Machine by machine, for conformal kernels, the program without penalties, and kernels not in memory.

    The paths are walked side by side: h hardly counts in the objective, so that machines of equal mu / C are nearly the
    same one, and each is the best start for the next.
    """
    found: dict[Point, Held] = {}
    settings = paths.settings
    ended: dict[float, float] = {}  # by C, the mu whose machine without a factor has too many vectors
    for point in sorted(points, key=lambda point: (-point.mu / point.C, point.C)):
        C, mu = point.C, point.mu
        if mu < ended.get(C, 0.0):  # other points of that mu still count
            continue
        share = 1.0 if point.shrinkage is None else point.shrinkage
        trained = train_machines(paths, C, mu, point.gamma_conformal, share)
        if len(paths.solve(C, mu, published=mu == 0 and point.rho == 0).origin) > most:
            ended[C] = mu
        raw = trained.raw_scores(X_held)
        scores = class_scores(raw, settings.n_classes, settings.multi_class)
        found[point] = Held(scores, len(trained.origin), trained.converged)
    return found


def _with_gamma(settings: Settings, gamma: float | None) -> Settings:
    if settings.kernel is None or gamma is None:
        return settings
    return replace(settings, kernel=replace(settings.kernel, gamma=gamma))


# ---------------------------------------------------------------------------------------------------------- the choice
class Tolerance(NamedTuple):
    """How much worse than the best a point may be: so many standard errors of the difference, or this log-loss."""

    errors: float
    loss: float


# Chosen on 17 develop sets, twelve splits of each.
TOLERANCES = {"best": Tolerance(0.0, 0.0), "balanced": Tolerance(0.5, 0.01), "sparsest": Tolerance(1.0, 0.04)}
# A path all of whose points are worse by more, in the first fold or in the first draw of folds, is left out of the
# rest.
RACES = (Tolerance(1.5, 0.015), Tolerance(0.7, 0.007))


class Losses(NamedTuple):
    """Held-out losses of points, each with its own slope of the probabilities."""

    by_row: Matrix  # points x rows: the mean over the folds that held the row out; NaN for points not tried
    log_loss: Vector  # its part without errors, a mean over rows
    slope: Vector
    share: Vector  # of the rows: their weights, divided by the sum; 0 for rows never held out


def held_out_losses(parts: list[list[Held | None]], held: list[Indices], label: Labels, weight: Vector) -> Losses:
    """Of each point in the folds `held`; points that lack a fold are not tried."""
    rows = np.concatenate(held)
    times = np.bincount(rows, minlength=len(label))
    by_row, log_loss, slope = np.full((len(parts), len(label)), np.nan), *np.full((2, len(parts)), np.nan)
    own_label, own_weight = label[rows], weight[rows]
    for p, part in enumerate(parts):
        scores = [each.scores for each in part if each is not None]
        if len(scores) < len(held):
            continue
        pooled = np.concatenate(scores)
        slope[p] = calibrate(pooled, own_label, own_weight)
        losses = log_losses(pooled, own_label, slope[p])
        log_loss[p] = np.average(losses, weights=own_weight)
        losses += ERROR_SHARE * (choose_class(pooled) != own_label)
        by_row[p] = np.bincount(rows, weights=losses, minlength=len(label)) / np.maximum(times, 1)
    counts = np.where(times > 0, weight, 0.0)
    return Losses(by_row, log_loss, slope, counts / counts.sum())


def smooth(points: list[Point], by_row: Matrix) -> Matrix:
    """Losses averaged with their neighbours' on the path of mu: their noise differs, what they measure hardly does."""
    paths: dict[object, list[int]] = {}
    for p in sorted(range(len(points)), key=lambda p: -points[p].mu):
        paths.setdefault(points[p].path, []).append(p)
    out = np.full(by_row.shape, np.nan)
    for path in paths.values():
        known = ~np.isnan(by_row[path, 0])
        own = np.pad(np.where(known[:, None], by_row[path], 0.0), ((1, 1), (0, 0)))
        count = np.pad(known.astype(np.float64), 1)[:, None]
        total = own[1:-1] + NEIGHBOUR_SHARE * (own[:-2] + own[2:])
        parts = count[1:-1] + NEIGHBOUR_SHARE * (count[:-2] + count[2:])
        out[path] = np.where(known[:, None], total / np.maximum(parts, 1.0), np.nan)
    return out


def near_the_best(by_row: Matrix, share: Vector, tolerance: Tolerance) -> NDArray[np.bool_]:
    """The points whose mean loss exceeds the smallest by no more than allowed; the error is that of the difference."""
    mean = by_row @ share
    best = int(np.nanargmin(mean))
    excess, error = excess_and_error(by_row, by_row[best], share)
    with np.errstate(invalid="ignore"):
        return excess <= np.maximum(tolerance.errors * error, tolerance.loss) + 1e-12


def choose(by_row: Matrix, share: Vector, n_support: Vector, tolerance: Tolerance) -> int:
    """The sparsest point near the best; among equals the one of the smaller loss."""
    near = np.flatnonzero(near_the_best(by_row, share, tolerance))
    order = np.lexsort(((by_row[near] @ share).round(9), n_support[near]))
    return int(near[order[0]])


def stay_in_the_race(points: list[Point], losses: Losses, tolerance: Tolerance) -> list[Point]:
    """The points on paths that have one near the best, down to one step beyond the last of these."""
    near = near_the_best(smooth(points, losses.by_row), losses.share, tolerance)
    least: dict[object, float] = {}
    for p in np.flatnonzero(near):
        least[points[p].path] = min(points[p].mu, least.get(points[p].path, np.inf))
    out = []
    for path, mu in least.items():
        falling = sorted({point.mu for point in points if point.path == path}, reverse=True)
        last = falling[min(falling.index(mu) + 1, len(falling) - 1)]
        out += [point for point in points if point.path == path and point.mu >= last]
    return out
