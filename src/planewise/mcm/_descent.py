"""The passes over the rows: mini-batches, a falling learning rate, looks at rows held out."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._progress import Progress
from planewise.mcm._sample import Places, Sample
from planewise.mcm._stochastic import Learner, LinearModel


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


def decide(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """The number of the class: the second of two where f > 0, else that of the largest f."""
    return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
