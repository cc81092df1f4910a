"""Which point of a search to take: the sparsest machine whose held-out loss is not measurably worse than the best's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise.machines.folds import Held, Point
from planewise.machines.kernels import Matrix
from planewise.machines.rows import Indices, Labels, Vector
from planewise.machines.scores import calibrate, choose_class, log_losses
from planewise.machines.search_parts import excess_and_error

ERROR_SHARE = 0.5  # what a wrong class adds to the log-loss of a row when points are compared
NEIGHBOUR_SHARE = 0.5  # of the losses next to a point on its path, when points are compared


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
