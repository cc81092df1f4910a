"""Rounds of boosting on rows that lie in parts.

Beyond `max_rows_per_tree` rows, a sample of them decides the planes of a round's trees, and the values are sums over
all rows. So a round asks the parts twice: for the largest derivatives of their rows, while the trees are grown here;
and for sums by node, after all rows were sent down the trees. The rows of a new sample are fetched every few rounds.
The sums are whole numbers. The trees are therefore the same to the bit for any number of parts, and as from one table
in memory, where the core takes the same steps.

A part keeps its scores beside its rows. If it comes without them, because its worker was lost or it has moved, they are
made again from the trees so far, by the same additions in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise.data.chunks import Part, Parts
from planewise.trees.arrays import Forest
from planewise.trees.losses import RawLoss

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]


# ------------------------------------------------------------------------------------------------ what parts are asked
@dataclass(frozen=True)
class Setup:
    """What a part must know of a fit."""

    fit: str  # its name
    loss: RawLoss
    base: Floats  # scores before any tree


@dataclass
class _State:
    """What a part keeps for a fit."""

    rows: _core.BoostRows
    rounds: int  # whose trees have moved the scores
    is_routed: bool = False  # whether the rows were sent down the trees of the next round


class Behind(NamedTuple):
    """The answer of a part whose scores are not those after the rounds so far."""

    rounds: int


class SampledRows(NamedTuple):
    """Rows of the sample that lie in a part."""

    rows: NDArray[np.float32]
    target: Floats
    weight: Floats
    score: Floats


class Ready(NamedTuple):
    """What a part says before a round."""

    sizes: Floats  # the largest derivatives, by tree
    sample: SampledRows | None  # if the sample is a new one
    loss: Floats | None  # digits of the loss and of the weight


class Asked(NamedTuple):
    """What all parts are asked before a round."""

    rounds: int  # so far
    trees: Forest | None  # of the last one, with their values
    with_loss: bool


class Routing(NamedTuple):
    """What all parts need to send their rows down the trees of a round."""

    rounds: int  # so far
    trees: Forest
    sizes: Floats
    bag: tuple[int, float]


def _state_of(part: Part, setup: Setup, rounds: int) -> _State | None:
    """The state of a part; a new one if no round has been."""
    if setup.fit not in part.states and rounds == 0:
        return _new_state(part, setup)
    state: _State | None = part.states.get(setup.fit)
    return state


def _new_state(part: Part, setup: Setup) -> _State:
    scores = np.tile(setup.base, (len(part), 1))
    rows = _core.BoostRows(part.rows, part.target, part.weight, scores, setup.loss.core_options(), part.first)
    state = part.states[setup.fit] = _State(rows, 0)
    return state


def prepare(part: Part, setup: Setup, asked: Asked, sample: Numbers | None, *, n_threads: int) -> Ready | Behind:
    """Move the scores by the trees of the last round, unless that was done, and answer for the next one."""
    state = _state_of(part, setup, asked.rounds)
    if state is None:
        return Behind(0)
    if state.rounds == asked.rounds - 1 and state.is_routed and asked.trees is not None:
        asked.trees.move(state.rows, n_threads)
        state.rounds, state.is_routed = asked.rounds, False
    if state.rounds != asked.rounds:
        return Behind(state.rounds)
    scored, rows = state.rows, None
    if sample is not None:
        rows = SampledRows(
            scored.values_of(sample, n_threads), part.target[sample], part.weight[sample], scored.scores_of(sample)
        )
    loss = scored.loss_sums(n_threads) if asked.with_loss else None
    return Ready(scored.sizes(n_threads), rows, loss)


def route(part: Part, setup: Setup, routing: Routing, *, n_threads: int) -> Integers | Behind:
    """Send the rows down the trees of a round: sums by the node in which they end."""
    state = _state_of(part, setup, routing.rounds)
    if state is None or state.rounds != routing.rounds:
        return Behind(0 if state is None else state.rounds)
    sums = routing.trees.route(state.rows, routing.sizes, routing.bag, n_threads)
    state.is_routed = True
    return sums


def follow(part: Part, setup: Setup, rounds: int, trees: Forest | None, *, n_threads: int) -> Floats | Behind:
    """Of rows that are not learned from: the loss after the round with these trees."""
    state = _state_of(part, setup, rounds if trees is None else rounds - 1)
    if state is None:
        return Behind(0)
    if state.rounds == rounds - 1 and trees is not None:
        trees.follow(state.rows, n_threads)
        state.rounds = rounds
    if state.rounds != rounds:
        return Behind(state.rounds)
    return state.rows.loss_sums(n_threads)


def scores_of(part: Part, setup: Setup, rounds: int, *, n_threads: int) -> Floats | Behind:
    """The raw scores after so many rounds."""
    state: _State | None = part.states.get(setup.fit)
    if state is None or state.rounds != rounds:
        return Behind(0 if state is None else state.rounds)
    return state.rows.score()


def answer_again(
    part: Part,
    setup: Setup,
    question: Callable[..., Any],
    common: tuple[Any, ...],
    so_far: tuple[int, Forest],
    own: tuple[Any, ...] | None,
    *,
    n_threads: int,
) -> Any:
    """Make the scores again from all trees so far, and answer at once: they may be lost again before the next visit."""
    if own is None:  # of a part that has answered
        return None
    state = _new_state(part, setup)
    rounds, forest = so_far
    forest.follow(state.rows, n_threads)
    state.rounds = rounds
    return question(part, setup, *common, *own, n_threads=n_threads)


def forget(part: Part, setup: Setup, *, n_threads: int) -> None:
    """The fit has ended."""
    part.states.pop(setup.fit, None)


# ---------------------------------------------------------------------------------------------------------- the driver
class BoostingInParts:
    """What ``_core.Boosting`` is for rows in one place, for rows in parts: the same questions, the same answers."""

    def __init__(
        self,
        parts: Parts,
        table: _core.Table,
        setup: Setup,
        options: _core.BoostOptions,
        n_threads: int,
        monitored: bool,
    ) -> None:
        self.parts, self.table, self.setup = parts, table, setup
        self.n_threads, self.monitored = n_threads, monitored
        self.n_outputs = setup.loss.n_outputs
        self._rounds = _core.Rounds(sum(parts.sizes), self.n_outputs, options)
        self._n_rounds = 0
        self._last: Forest | None = None  # trees of the last round
        self._ready: list[Ready] | None = None  # what the parts said before the next round
        self._sample_number: int | None = None
        self._sample: SampledRows | None = None  # that decides planes
        self._scored_sample: _core.BoostRows | None = None  # with its scores now
        self._pool = ThreadPoolExecutor(1, "planewise-ask")
        self._sets: list[Parts] = []
        self._set_losses: list[float | None] = []
        self._begin()

    # ------------------------------------------------------------------------------------- as _core.Boosting has it
    def rounds(self, count: int) -> None:
        """Grow that many rounds."""
        for _ in range(count):
            self._round()

    def loss(self) -> float:
        """Weighted mean loss on the training rows now."""
        found = [ready.loss for ready in self._prepared() if ready.loss is not None]
        return _mean_of(found)

    def watch(self, parts: Parts) -> int:
        """Follow the scores of one more set of rows; returns its number."""
        self._sets.append(parts)
        self._set_losses.append(None)
        return len(self._sets) - 1

    def watched_loss(self, set: int) -> float:
        """Weighted mean loss on a watched set now."""
        found = self._set_losses[set]
        if found is None:
            parts = self._sets[set]
            found = _mean_of(self._ask(parts, follow, self._n_rounds, self._last))
            self._set_losses[set] = found
        return found

    def score(self) -> Floats:
        """Raw scores of the training rows now, from all parts."""
        self._prepared()
        return np.concatenate(self._ask(self.parts, scores_of, self._n_rounds))

    def watched_score(self, set: int) -> Floats:
        """Raw scores of a watched set now, from all parts."""
        self.watched_loss(set)
        return np.concatenate(self._ask(self._sets[set], scores_of, self._n_rounds))

    def forest(self) -> _core.Forest:
        """Return the trees of this fit so far."""
        return self._rounds.forest()

    def trial_losses(self) -> Floats:
        """Return zeros: no trials are run on large data."""
        return np.zeros((self.n_outputs, _core.N_TRIAL_LOSSES))

    def left_out(self) -> Floats:
        """Return no rows: no trials are run on large data."""
        return np.empty((0, self.n_outputs))

    # ------------------------------------------------------------------------------------------------------- inside
    def _begin(self) -> None:
        """Compute the derivatives of some rows before any tree."""
        loss, rows = self.setup.loss, self._rounds.start_rows()
        taken = self.parts.gather_rows(rows.astype(np.intp))
        scores = np.tile(self.setup.base, (len(rows), 1))
        target, weight = np.ascontiguousarray(taken.target), np.ascontiguousarray(taken.weight)
        _, hessian = _core.derivatives(loss.core_options(), target, weight, scores)
        self._rounds.begin(hessian, weight)

    def _round(self) -> None:
        if self._sample_number != self._rounds.sample_number():
            self._prepared()
        preparing = self._pool.submit(self._prepared)  # the parts work while trees are grown here
        assert self._sample is not None and self._scored_sample is not None
        every, rows = np.arange(len(self._sample.weight), dtype=np.uint32), self._sample.rows
        gradient, hessian, weight = self._scored_sample.slopes_of(every, self.n_threads)
        trees = Forest(self._rounds.grow(self.table, rows, gradient, hessian, weight, self.n_threads))
        sizes = np.max([each.sizes for each in preparing.result()], axis=0)
        routing = Routing(self._n_rounds, trees, sizes, self._rounds.bag())
        sums = np.sum(self._ask(self.parts, route, routing), axis=0)
        self._last, self._ready = Forest(self._rounds.finish(sums, sizes)), None
        self._last.follow(self._scored_sample, self.n_threads)
        self._n_rounds += 1
        self._set_losses = [None] * len(self._sets)

    def _prepared(self) -> list[Ready]:
        """What the parts say before the next round, after they have moved their scores by the last one."""
        if self._ready is not None:
            return self._ready
        number, places = self._rounds.sample_number(), None
        if number != self._sample_number:
            found = places_by_part(self.parts, self._rounds.sample_rows())
            places = [each.astype(np.uint32) for each, _ in found]
        asked = Asked(self._n_rounds, self._last, self.monitored)
        each = [None] * len(self.parts.sizes) if places is None else places
        self._ready = self._ask(self.parts, prepare, asked, each=each)
        if places is not None:
            self._keep_sample([ready.sample for ready in self._ready if ready.sample is not None])
            self._sample_number = number
        return self._ready

    def _keep_sample(self, found: Sequence[SampledRows]) -> None:
        """Let the rows of a new sample decide the planes of the next rounds."""
        self._sample = SampledRows(*(np.concatenate(each) for each in zip(*found, strict=True)))
        rows, target, weight, score = self._sample
        self._scored_sample = _core.BoostRows(rows, target, weight, score, self.setup.loss.core_options(), 0)

    def _ask(self, parts: Parts, question: Callable[..., Any], *common: Any, each: Sequence[Any] | None = None) -> Any:
        """The answers of all parts; those that lack scores make them again first."""
        answers = parts.ask(question, self.setup, *common, each=each)
        late = [k for k, answer in enumerate(answers) if isinstance(answer, Behind)]
        if late:
            own: list[tuple[Any, ...] | None] = [None] * len(answers)
            for k in late:
                own[k] = () if each is None else (each[k],)
            so_far = self._n_rounds, Forest(self._rounds.forest()).head(self._n_rounds * self.n_outputs)
            again = parts.ask(answer_again, self.setup, question, common, so_far, each=own)
            for k in late:
                answers[k] = again[k]
        return answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let the parts forget this fit; after an error they may not answer, and are released with their rows."""
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
        if kind is None:
            for parts in (self.parts, *self._sets):
                parts.ask(forget, self.setup)


def _mean_of(found: Sequence[Floats]) -> float:
    """The mean loss from its digits and those of the weights, by part."""
    loss, weight = (_core.exact_total(np.ascontiguousarray(np.stack(found)[:, k])) for k in range(2))
    return loss / weight if weight > 0 else 0.0


def places_by_part(parts: Parts, rows: NDArray[Any]) -> list[tuple[NDArray[np.intp], int]]:
    """By part, which of its rows have these ascending numbers in the table, and how many lie in parts before."""
    starts = np.concatenate([[0], np.cumsum(parts.sizes)])
    ends = np.searchsorted(rows, starts)
    return [
        (rows[begin:end].astype(np.intp) - first, int(begin))
        for begin, end, first in zip(ends[:-1], ends[1:], starts[:-1], strict=True)
    ]
