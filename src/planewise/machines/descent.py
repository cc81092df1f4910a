"""Stochastic minimisation of h + C mean[1 - y f]_+ + mu |w|_1 over the weights and, if asked, the feature map.

One step, on one mini-batch: the sub-gradient of the hinge of every row and of the batch's own bound on h = max y f;
Adam's steps, with a proximal step for |w|_1 in the same metric, so that weights become zero and stay so; and the
running average of all iterates, which is the model. C is the penalty on a mean here (that on a row times the rows), and
the objective is divided by it throughout: one learning rate then serves every C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from planewise import _core
from planewise._progress import Progress
from planewise.data.problem import FloatArray
from planewise.machines.columns import PreparedScaling
from planewise.machines.maps import FeatureMap

BLOCK = 2048  # rows whose features are held at once
CHUNK = 256  # rows whose gradient is one piece of work, and which share a bound on h
MOMENTUM, SQUARES = 0.9, 0.99
LONGEST_MEMORY = 0.99  # of the average over the iterates
DROPPED = 1e-6  # a weight below this share of the largest is zero
# Of the start, which is found on a part of the rows.
RIDGES = (1e-2, 1e-3, 1e-4)  # none smaller: large weights would make every move of a prototype a leap
MOST_NEWTON_STEPS = 8
TRIED_BY = 3000  # rows, or four a component, on which widths are compared
MOST_ROWS, MOST_NUMBERS = 20_000, 2**21  # for the weights; and the features of these rows that may be held

Places = NDArray[np.intp]


class Sample(NamedTuple):
    """Rows in the user's columns; they are prepared and scaled when they are needed, a batch or block at a time."""

    rows: FloatArray
    label: NDArray[np.int32]  # the number of each row's class
    weight: NDArray[np.float64]
    scaling: PreparedScaling
    outputs: NDArray[Any]  # the class each output stands for: the second of two, or one after another
    factor: FloatArray | None = None  # the conformal r of each row

    def take(self, places: Places) -> Sample:
        """Some of the rows."""
        factor = None if self.factor is None else self.factor[places]
        return self._replace(
            rows=self.rows[places], label=self.label[places], weight=self.weight[places], factor=factor
        )

    def standard(self) -> FloatArray:
        """The rows in standard units."""
        return self.scaling(self.rows)

    def signs(self) -> FloatArray:
        """The y of each row, a column for each output: 1 for its class, -1 for others."""
        return np.where(self.label[:, None] == self.outputs, np.float32(1), np.float32(-1))

    def blocks(self, places: Places | None = None) -> list[Places]:
        """The places of all rows (or of those given), some at a time."""
        places = np.arange(len(self.rows)) if places is None else places
        return [places[first : first + BLOCK] for first in range(0, len(places), BLOCK)]

    def in_blocks(self, work: Callable[[Sample], NDArray[Any]], pool: Executor | None) -> NDArray[Any]:
        """What `work` makes of the rows, block by block, joined."""
        each = (pool.map if pool else map)(lambda places: work(self.take(places)), self.blocks())
        return np.concatenate(list(each))


@dataclass(frozen=True)
class LinearModel:
    """f(x) = r(x) phi(x) w + b, a column for each output."""

    feature_map: FeatureMap
    weights: FloatArray
    intercept: FloatArray

    def scores(self, rows: FloatArray, factor: FloatArray | None = None) -> FloatArray:
        """The scores f of a block of rows; `factor` is the conformal r of each."""
        score = self.feature_map.forward(rows).features @ self.weights
        if factor is not None:
            score *= factor[:, None]
        return score + self.intercept


class Learner:
    """The state of the descent."""

    def __init__(
        self,
        feature_map: FeatureMap,
        weights: FloatArray,
        intercept: FloatArray,
        *,
        C: float,
        mu: float,
        learning_rate: float,
        refine: bool,
    ) -> None:
        self.C, self.mu, self.learning_rate, self.refine = C, mu, learning_rate, refine
        self.feature_map = feature_map
        self.arrays = [weights, intercept, *(feature_map.arrays if refine else [])]
        self.rates = [1.0, 1.0, *(feature_map.rates if refine else [])]
        self.averaged = [array.copy() for array in self.arrays]
        self.momentum = [np.zeros_like(array) for array in self.arrays]
        self.squares = [np.zeros_like(array) for array in self.arrays]
        self.n_updates = 0

    def step(
        self,
        rows: FloatArray,
        signs: FloatArray,
        weight: FloatArray,
        factor: FloatArray | None,
        rate: float,
        pool: Executor | None,
    ) -> None:
        """One update by a mini-batch; `signs` is y, a column for each output, and `weight` has a mean of one."""
        pieces = [slice(first, first + CHUNK) for first in range(0, len(rows), CHUNK)]

        def gradient_of(piece: slice) -> list[FloatArray]:
            return self._gradient(
                rows[piece], signs[piece], weight[piece], None if factor is None else factor[piece], len(rows)
            )

        parts = list((pool.map if pool else map)(gradient_of, pieces))
        gradient = parts[0]
        for part in parts[1:]:  # always in this order: the sum is the same for any number of threads
            for total, other in zip(gradient, part, strict=True):
                total += other
        self._move(gradient[:-1], gradient[-1], rate * self.learning_rate)

    def _gradient(
        self, rows: FloatArray, signs: FloatArray, weight: FloatArray, factor: FloatArray | None, n_batch: int
    ) -> list[FloatArray]:
        weights, intercept = self.arrays[:2]
        forward = self.feature_map.forward(rows)
        score = forward.features @ weights
        if factor is not None:
            score *= factor[:, None]
        margin = signs * (score + intercept)
        slope = (margin < 1) * (weight / -np.float32(n_batch))[:, None]
        widest = margin.argmax(axis=0)
        for k, row in enumerate(widest):
            if margin[row, k] > 1:  # h = max(1, max y f) over these rows
                slope[row, k] += len(rows) / (n_batch * self.C)
        slope *= signs
        in_intercept = slope.sum(axis=0)
        if factor is not None:
            slope *= factor[:, None]
        if self.refine:
            in_weights, in_map = self.feature_map.backward(forward, slope, weights)
        else:
            in_weights, in_map = forward.features.T @ slope, []
        mean = forward.features.mean(axis=0) if factor is None else factor @ forward.features / len(rows)
        return [in_weights, in_intercept, *in_map, mean * np.float32(len(rows) / n_batch)]

    def _move(self, gradient: list[FloatArray], mean: FloatArray, rate: float) -> None:
        """Adam's step; the weights' along the features less their mean, for which the intercept makes up.

        Kernel values are all positive, and without this a step of all weights would mostly lift or lower f as a whole.
        """
        self.n_updates += 1
        gradient[0] -= mean[:, None] * gradient[1]
        weights_before = self.arrays[0].copy()
        # Both moments start at zero; this makes up for it.
        unbiased = np.sqrt(1 - SQUARES**self.n_updates) / (1 - MOMENTUM**self.n_updates)
        memory = min(LONGEST_MEMORY, self.n_updates / (self.n_updates + 9))
        for k, array in enumerate(self.arrays):
            _core.adam_step(
                array,
                gradient[k],
                self.momentum[k],
                self.squares[k],
                self.averaged[k],
                rate * self.rates[k] * unbiased,
                self.mu / self.C if k == 0 else 0.0,
                MOMENTUM,
                SQUARES,
                memory,
            )
            if k == 0:
                self.arrays[1] -= mean @ (array - weights_before)
        if self.refine:
            self.feature_map = self.feature_map.with_arrays(self.arrays[2:])

    def restart(self) -> None:
        """Continue from the average, with all moments at zero."""
        for array, averaged, momentum, squares in zip(
            self.arrays, self.averaged, self.momentum, self.squares, strict=True
        ):
            array[...], momentum[...], squares[...] = averaged, 0, 0
        self.n_updates = 0
        if self.refine:
            self.feature_map = self.feature_map.with_arrays(self.arrays[2:])

    def model(self) -> LinearModel:
        """The averaged iterate, without the features whose weights the last proximal steps left at zero."""
        weights = np.where(self.arrays[0] == 0, np.float32(0), self.averaged[0])
        largest = np.abs(weights).max(initial=0)
        weights = np.where(np.abs(weights) > DROPPED * largest, weights, np.float32(0))
        kept = np.flatnonzero(weights.any(axis=1))
        feature_map = self.feature_map.with_arrays(self.averaged[2:]) if self.refine else self.feature_map
        return LinearModel(feature_map.take(kept), weights[kept], self.averaged[1].copy())


class Schedule:
    """A learning rate that warms up and then falls to zero along a line, sooner when told to."""

    def __init__(self, n_updates: int, warm_up: int = 50) -> None:
        self.end, self.warm_up = n_updates, min(warm_up, n_updates // 4)
        self._start, self._peak = 0, 1.0

    def rate(self, update: int) -> float:
        """Of the update with this number, the first being 0."""
        falling = self._peak * (self.end - update) / (self.end - self._start)
        return falling * min(1.0, (update + 1) / (self.warm_up + 1))

    def finish_soon(self, update: int) -> None:
        """Fall to zero within a third of the updates so far, if that is sooner."""
        sooner = update + max(1, update // 3)
        if sooner < self.end:
            self._peak, self._start, self.end = self.rate(update), update, sooner


class Descent:
    """One way down: learns from some rows of a sample, and watches others."""

    def __init__(
        self,
        learner: Learner,
        sample: Sample,
        learned: Places,
        watched: Places,
        *,
        batch_size: int,
        n_iter_no_change: int,
        rng: np.random.Generator,
        pool: Executor | None,
    ) -> None:
        self.learner, self.sample, self.learned = learner, sample, learned
        self.held_out = sample.take(watched) if len(watched) else None
        self.batch_size, self.n_iter_no_change = batch_size, n_iter_no_change
        self.rng, self.pool = rng, pool
        self.hinges: list[float] = []
        self.n_passes = 0

    def run(self, n_passes: int, n_looks: int, bar: Progress) -> LinearModel:
        """All passes, or those until the held-out rows are served as well as they will be; the best model."""
        schedule = Schedule(n_passes * -(-len(self.learned) // self.batch_size))
        every = max(1, schedule.end // n_looks)
        best, best_look, update = self.learner.model(), 0, 0
        least = self._hinge(best)
        batches: Iterator[Sample] = iter(())
        while update < schedule.end:
            batch = next(batches, None)
            if batch is None:
                batches, self.n_passes = self._one_pass(), self.n_passes + 1
                continue
            learn(self.learner, batch, schedule.rate(update), self.pool)
            update += 1
            if update % every:
                continue
            bar.step()
            if self.held_out is None:
                continue
            model, look = self.learner.model(), update // every
            self.hinges.append(self._hinge(model))
            if self.hinges[-1] < least:
                best, least, best_look = model, self.hinges[-1], look
            elif look - best_look >= self.n_iter_no_change:
                schedule.finish_soon(update)
        return self.learner.model() if self.held_out is None else best

    def _one_pass(self) -> Iterator[Sample]:
        return batches_of(self.sample, self.rng.permutation(self.learned), self.batch_size)

    def _hinge(self, model: LinearModel) -> float:
        if self.held_out is None:
            return 0.0
        hinge = np.maximum(0, 1 - scores_of(model, self.held_out, self.pool) * self.held_out.signs())
        return float(np.average(hinge.sum(axis=1), weights=self.held_out.weight))


def batches_of(sample: Sample, order: Places, batch_size: int) -> Iterator[Sample]:
    """Mini-batches in this order of rows."""
    for first in range(0, len(order), batch_size):
        yield sample.take(order[first : first + batch_size])


def learn(learner: Learner, batch: Sample, rate: float, pool: Executor | None) -> None:
    """One step."""
    learner.step(batch.standard(), batch.signs(), batch.weight.astype(np.float32), batch.factor, rate, pool)


def scores_of(
    model: LinearModel, sample: Sample, pool: Executor | None, dtype: type[np.floating[Any]] = np.float32
) -> NDArray[np.float64]:
    """The scores f of all rows, block by block, computed in this precision."""
    scores = sample.in_blocks(lambda block: model.scores(block.standard().astype(dtype), block.factor), pool)
    return scores.astype(np.float64)


# ----------------------------------------------------------------------------------------------------------- the start
class Start(NamedTuple):
    """A map and the weights and intercepts to go with it."""

    feature_map: FeatureMap
    weights: FloatArray
    intercept: FloatArray
    gamma: float


def rows_to_start_from(n_rows: int, n_components: int) -> int:
    """How many rows `find_start` is to get."""
    return min(n_rows, MOST_ROWS, max(4 * n_components, MOST_NUMBERS // n_components))


def find_start(
    gammas: list[float],
    draw: Callable[[float], FeatureMap],
    rows: FloatArray,
    signs: FloatArray,
    weight: FloatArray,
    factor: FloatArray | None = None,
) -> Start:
    """The width that serves least squares best on rows left out, and then the squared hinge's weights on all rows.

    `factor` is the conformal r of each row, which multiplies its features.
    """
    n_components = draw(gammas[0]).n_components
    n_tried = min(len(rows), max(TRIED_BY, 4 * n_components))
    n_judged = n_tried // 4
    judged, learned = slice(0, n_judged), slice(n_judged, n_tried)
    best_error, gamma, ridge = np.inf, gammas[0], RIDGES[0]
    for each in gammas:
        features = _times(draw(each).forward(rows[:n_tried]).features, factor)
        if not np.isfinite(features).all():
            raise ValueError(f"The kernel's values overflow in float32 (gamma={each:g}); use a smaller gamma.")
        for strength in RIDGES:
            weights, intercept = _ridge(features[learned], signs[learned], weight[learned], strength)
            residual = features[judged] @ weights + intercept - signs[judged]
            error = float(weight[judged] @ np.square(residual).sum(axis=1))
            if error < best_error:
                best_error, gamma, ridge = error, each, strength
    feature_map = draw(gamma)
    features = _times(feature_map.forward(rows).features, factor)
    return Start(feature_map, *_squared_hinge(features, signs, weight, ridge), gamma)


def _times(features: FloatArray, factor: FloatArray | None) -> FloatArray:
    return features if factor is None else features * factor[: len(features), None]


def _squared_hinge(
    features: FloatArray, signs: FloatArray, weight: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Newton's method: least squares on the rows whose margin is below one, until these stay the same."""
    weights, intercept = _ridge(features, signs, weight, ridge)
    for k in range(signs.shape[1]):
        active = np.ones(len(features), dtype=bool)
        for _ in range(MOST_NEWTON_STEPS):
            before, active = active, signs[:, k] * (features @ weights[:, k] + intercept[k]) < 1
            if np.array_equal(active, before) or len(np.unique(signs[active, k])) < 2:
                break
            part, bias = _ridge(features[active], signs[active, k : k + 1], weight[active], ridge)
            weights[:, k], intercept[k] = part[:, 0], bias[0]
    return weights, intercept


def _ridge(
    features: FloatArray, targets: FloatArray, weight: FloatArray, strength: float
) -> tuple[FloatArray, FloatArray]:
    share = weight / weight.sum()
    centre, target_centre = share @ features, share @ targets
    centred = features - centre
    gram = (centred.T @ (centred * share[:, None])).astype(np.float64)
    moment = (centred.T @ ((targets - target_centre) * share[:, None])).astype(np.float64)
    damped = gram + strength * np.eye(len(gram))
    weights = solve(damped, moment, assume_a="pos")
    return weights.astype(np.float32), (target_centre - centre @ weights).astype(np.float32)
