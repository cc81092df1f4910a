"""Boosting on rows that lie in parts, in this process or on workers.

Beyond `max_rows_per_tree` rows, a sample of them decides the planes of a round's trees, and the values are sums over all
rows. So a round asks the parts twice: for the rows of the sample, with the largest derivatives of all rows; and for sums
by node, after all rows were sent down the trees. The sums are whole numbers. The trees are therefore the same to the bit
for any number of parts, and as from one table in memory, where the core takes the same steps.

A part keeps its scores beside its rows. If it comes without them, because its worker was lost or it has moved, they are
made again from the trees so far, by the same additions in the same order.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise._fit_callbacks import FitTasks
from planewise._input import thread_count
from planewise.parts import Part, Parts
from planewise.slm._boost_checkpoint import Checkpoint
from planewise.slm._boost_data import Data, Floats
from planewise.slm._boost_start import Start
from planewise.slm._boosting import Boosting
from planewise.slm._evaluation import Metrics, Monitor
from planewise.slm._growth import table_categories
from planewise.slm._objectives import RawLoss, check_targets, classification_loss, regression_loss
from planewise.slm._target_statistics import statistics_limit
from planewise.slm.fitted import Forest

Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]


# ------------------------------------------------------------------------------------------ what parts are asked: columns
def ranges_of(part: Part, *, n_threads: int) -> Floats:
    """What the rows say of their columns."""
    return _core.column_ranges(part.rows, part.weight, n_threads)


def sums_of(part: Part, ranges: Floats, centre: Floats, *, n_threads: int) -> Integers:
    """Sums of the columns, or of squared differences from the centre."""
    return _core.column_sums(part.rows, part.weight, ranges, centre, n_threads)


def body_of(part: Part, step: int, *, n_threads: int) -> tuple[NDArray[np.float32], Floats]:
    """Some rows with their weights, picked by their values, which tell where most values of a column lie."""
    picked = _core.body_rows(part.rows, step, n_threads)
    return part.rows[picked], part.weight[picked]


def column_of(part: Part, column: int, *, n_threads: int) -> tuple[NDArray[np.float32], Floats]:
    """The values of a column, without missing ones, and their weights."""
    there = ~np.isnan(part.rows[:, column])
    return part.rows[there, column], part.weight[there]


def target_of(part: Part, *, n_threads: int) -> Floats:
    """The targets."""
    return part.target


def start_sums_of(part: Part, loss: RawLoss, *, n_threads: int) -> Floats:
    """What the constant before any tree follows from."""
    return loss.sums(part.target, part.weight)


def digest_of(part: Part, *, n_threads: int) -> str:
    """A fingerprint of rows, targets and weights."""
    digest = hashlib.sha256(np.ascontiguousarray(part.rows).data)
    for each in (part.target, part.weight):
        digest.update(np.ascontiguousarray(each).data)
    return digest.hexdigest()


def some_rows_of(part: Part, given: tuple[NDArray[np.intp], int], *, n_threads: int) -> Part:
    """A part of its own from the rows at these places; with the number of its first row."""
    places, first = given
    return Part(part.rows[places], part.target[places], part.weight[places], first)


def training_table_of(parts: Parts, estimator: Any) -> _core.Table:
    """What the core must know of the columns of all rows."""
    answers = parts.ask(ranges_of)
    ranges = answers[0]
    for other in answers[1:]:
        ranges = _core.join_ranges(ranges, other)
    sums = np.sum(parts.ask(sums_of, ranges, np.empty(0)), axis=0)
    centre = _core.column_centres(sums, ranges)
    squares = np.sum(parts.ask(sums_of, ranges, centre), axis=0)
    n_columns = len(centre)
    table = _core.table_of_parts(ranges, sums, squares, table_categories(estimator, n_columns))
    if estimator.bins == "robust":
        _find_bodies(parts, table, ranges, n_columns)
    return table


def _find_bodies(parts: Parts, table: _core.Table, ranges: Floats, n_columns: int) -> None:
    """Where most values of each column lie."""
    step = _core.body_step(ranges)
    rows, weight = (np.concatenate(each) for each in zip(*parts.ask(body_of, step), strict=True))
    _core.begin_bodies(table)
    for j in range(n_columns):
        if not _core.set_body(table, j, np.ascontiguousarray(rows[:, j]), weight, step == 1):
            values, theirs = (np.concatenate(each) for each in zip(*parts.ask(column_of, j), strict=True))
            _core.set_body(table, j, values, theirs, True)


# -------------------------------------------------------------------------------------------------------------- losses
def class_loss_of(estimator: Any, n_classes: int) -> RawLoss:
    """The loss of a classifier."""
    return classification_loss(estimator.loss, max(2, n_classes))


def number_loss_of(estimator: Any, parts: Parts) -> RawLoss:
    """The loss of a regressor, after a look at its targets."""
    widths = {width for width, n_rows in zip(parts.ask(width_of), parts.sizes, strict=True) if n_rows}
    stand_in = np.ones((1, max(widths))) if max(widths) > 1 else np.ones(1)
    loss = regression_loss(estimator.loss, estimator.alpha, stand_in, estimator.base_score, estimator.power)
    if loss.link == "exp" and loss.own is None:
        some = np.any(parts.ask(check_targets_of, loss), axis=0)
        if not some.all():
            raise ValueError(f"loss={loss.core!r} needs targets of zero or more, not all of them zero.")
    return loss


def width_of(part: Part, *, n_threads: int) -> int:
    """How many targets a row has."""
    return 1 if part.target.ndim == 1 else part.target.shape[1]


def check_targets_of(part: Part, loss: RawLoss, *, n_threads: int) -> NDArray[np.bool_]:
    """An error if the loss is not defined for a target; by output, whether some are not zero."""
    check_targets(loss, part.target, "y", np.arange(part.first, part.first + len(part)))
    return np.atleast_1d(part.target.any(axis=0))


# ------------------------------------------------------------------------------------------ what parts are asked: rounds
@dataclass(frozen=True)
class Setup:
    """What a part must know of a fit."""

    fit: str  # its name
    loss: RawLoss
    has_vector_leaves: bool
    base: Floats  # scores before any tree

    def options(self) -> _core.BoostOptions:
        """The core's options, as far as parts need them."""
        options = self.loss.core_options()
        options.vector_leaves = self.has_vector_leaves
        return options


@dataclass
class _State:
    """What a part keeps for a fit."""

    rows: _core.BoostRows
    rounds: int  # whose trees have moved the scores
    is_routed: bool = False  # whether the rows were sent down the trees of the next round


class Behind(NamedTuple):
    """The answer of a part whose scores are not those after the rounds so far."""

    rounds: int


class Ready(NamedTuple):
    """What a part says before a round."""

    sizes: Floats  # the largest derivatives, by tree
    gradient: Floats  # of the rows of the sample that lie here
    hessian: Floats
    weight: Floats
    rows: NDArray[np.float32] | None  # the same, if the sample is a new one
    loss: Floats | None  # digits of the loss and of the weight


class Asked(NamedTuple):
    """What all parts are asked before a round."""

    rounds: int  # so far
    trees: Forest | None  # of the last one, with their values
    units: Floats
    with_rows: bool
    with_loss: bool


class Routing(NamedTuple):
    """What all parts need to send their rows down the trees of a round."""

    rounds: int  # so far
    trees: Forest
    units: Floats
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
    rows = _core.BoostRows(part.rows, part.target, part.weight, scores, setup.options(), part.first)
    state = part.states[setup.fit] = _State(rows, 0)
    return state


def prepare(part: Part, setup: Setup, asked: Asked, sample: Numbers, *, n_threads: int) -> Ready | Behind:
    """Move the scores by the trees of the last round, unless that was done, and answer for the next one."""
    state = _state_of(part, setup, asked.rounds)
    if state is None:
        return Behind(0)
    if state.rounds == asked.rounds - 1 and state.is_routed and asked.trees is not None:
        asked.trees.move(state.rows, n_threads)
        state.rounds, state.is_routed = asked.rounds, False
    if state.rounds != asked.rounds:
        return Behind(state.rounds)
    scored = state.rows
    rows = scored.values_of(sample, n_threads) if asked.with_rows else None
    loss = scored.loss_sums(n_threads) if asked.with_loss else None
    slopes = scored.slopes_of(sample, asked.units, n_threads)
    return Ready(scored.sizes(asked.units, n_threads), *slopes, rows, loss)


def route(part: Part, setup: Setup, routing: Routing, *, n_threads: int) -> Integers | Behind:
    """Send the rows down the trees of a round: sums by the node in which they end."""
    state = _state_of(part, setup, routing.rounds)
    if state is None or state.rounds != routing.rounds:
        return Behind(0 if state is None else state.rounds)
    sums = routing.trees.route(state.rows, routing.units, routing.sizes, routing.bag, n_threads)
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


def catch_up(part: Part, setup: Setup, given: tuple[int, Forest] | None, *, n_threads: int) -> None:
    """Make the scores again from all trees so far, if any are given."""
    if given is None:
        return
    state = _new_state(part, setup)
    state.rounds, forest = given
    forest.follow(state.rows, n_threads)


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
        start: Start,
        n_threads: int,
        monitored: bool,
    ) -> None:
        self.parts, self.table, self.setup, self.start = parts, table, setup, start
        self.n_threads, self.monitored = n_threads, monitored
        self.n_outputs = setup.loss.n_outputs
        n_before = 0 if start.before is None else start.before.n_trees
        self._rounds = _core.Rounds(sum(parts.sizes), self.n_outputs, n_before, options)
        self._n_rounds = start.rounds
        self._last: Forest | None = None  # trees of the last round
        self._ready: list[Ready] | None = None  # what the parts said before the next round
        self._sample_number: int | None = None
        self._sample_rows: list[Numbers] = []  # of the sample that decides planes: their places in each part
        self._sample = np.empty((0, 0), np.float32)  # their features
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

    def watched_loss(self, number: int) -> float:
        """Weighted mean loss on a watched set now."""
        found = self._set_losses[number]
        if found is None:
            parts = self._sets[number]
            found = _mean_of(self._ask(parts, follow, self._n_rounds, self._last))
            self._set_losses[number] = found
        return found

    def forest(self) -> _core.Forest:
        """The trees of this fit so far, without those before."""
        return self._rounds.forest()

    def trial_losses(self) -> Floats:
        """Nothing is tried where rows abound."""
        return np.zeros((self.n_outputs, _core.N_TRIAL_LOSSES))

    def left_out(self) -> Floats:
        """Nothing is tried where rows abound."""
        return np.empty((0, self.n_outputs))

    # ------------------------------------------------------------------------------------------------------- inside
    def _begin(self) -> None:
        """Derivatives before any tree, of some rows; and the directions of trees that are there already."""
        loss, rows = self.setup.loss, self._rounds.start_rows()
        taken = self.parts.gather_rows(rows.astype(np.intp))
        scores = np.tile(self.setup.base, (len(rows), 1))
        target, weight = np.ascontiguousarray(taken.target), np.ascontiguousarray(taken.weight)
        self._rounds.begin(*_core.derivatives(loss.core_options(), target, weight, scores), weight)
        if self.start.before is not None:
            self.start.before.teach(self._rounds)

    def _round(self) -> None:
        ready = self._prepared()
        sizes = np.max([each.sizes for each in ready], axis=0)
        slopes = (np.concatenate([each[k] for each in ready]) for k in range(1, 4))
        native = self._rounds.grow(self.table, self._sample, *slopes, sizes, self.n_threads)
        routing = Routing(self._n_rounds, Forest(native), self._rounds.units(), sizes, self._rounds.bag())
        sums = np.sum(self._ask(self.parts, route, routing), axis=0)
        self._last, self._ready = Forest(self._rounds.finish(sums)), None
        self._n_rounds += 1
        self._set_losses = [None] * len(self._sets)

    def _prepared(self) -> list[Ready]:
        """What the parts say before the next round, after they have moved their scores by the last one."""
        if self._ready is None:
            is_new = self._sample_number != self._rounds.sample_number()
            if is_new:
                self._sample_number, rows = self._rounds.sample_number(), self._rounds.sample_rows()
                self._sample_rows = [places.astype(np.uint32) for places, _ in _by_part(self.parts, rows)]
            asked = Asked(self._n_rounds, self._last, self._rounds.units(), is_new, self.monitored)
            self._ready = self._ask(self.parts, prepare, asked, each=self._sample_rows)
            if is_new:
                self._sample = np.concatenate([each.rows for each in self._ready])
        return self._ready

    def _ask(self, parts: Parts, question: Callable[..., Any], *common: Any, each: Sequence[Any] | None = None) -> Any:
        """The answers of all parts; those that lack scores get them first."""
        while True:
            answers = parts.ask(question, self.setup, *common, each=each)
            behind = [isinstance(answer, Behind) for answer in answers]
            if not any(behind):
                return answers
            so_far = self._n_rounds, self._all_trees()
            parts.ask(catch_up, self.setup, each=[so_far if late else None for late in behind])

    def _all_trees(self) -> Forest:
        new = Forest(self._rounds.forest())
        return new if self.start.before is None else Forest.joined([self.start.before, new])

    def close(self) -> None:
        """Let the parts forget this fit."""
        for parts in (self.parts, *self._sets):
            parts.ask(forget, self.setup)


def _mean_of(found: Sequence[Floats]) -> float:
    """The mean loss from its digits and those of the weights, by part."""
    loss, weight = (_core.exact_total(np.ascontiguousarray(np.stack(found)[:, k])) for k in range(2))
    return loss / weight if weight > 0 else 0.0


class BoostsParts(Boosting):
    """Boosting whose rows lie in parts."""

    _keep_constant: Callable[[Data, RawLoss], None]  # of a classifier that knows one class

    def _refuse_in_parts(self, loss: RawLoss) -> None:
        """An error that names what needs all rows in one place."""
        name = type(self).__name__
        if loss.own is not None or not loss.starts_at_mean:
            called = "A custom loss" if loss.own is not None else f"loss={loss.core!r}"
            raise ValueError(
                f"{called} needs all rows in one place, and {name} keeps them in parts beyond max_rows_per_tree rows. "
                "Use another loss, or fit the ordinary estimator on a sample of the rows."
            )
        for parameter, hint in {
            "eval_metric": "early stopping is then decided by the loss",
            "warm_start": "a checkpoint lets an interrupted fit continue",
        }.items():
            if getattr(self, parameter):
                raise ValueError(
                    f"{parameter} is not possible beyond max_rows_per_tree rows in parts; leave it out: {hint}."
                )
        if self._statistics_wanted():
            column, count = self._statistics_wanted()[0]
            raise ValueError(
                f"Column {column} has {count} categories, for which target statistics would be used: these are not "
                "possible beyond max_rows_per_tree rows in parts. Use target_statistics=None, or leave the column out."
            )

    def _statistics_wanted(self) -> list[tuple[Any, int]]:
        """The columns that would have target statistics, with their number of categories."""
        limit = statistics_limit(self.target_statistics)
        names = getattr(self, "feature_names_in_", None)
        found = [
            (j, len(each)) for j, each in sorted(self.categories_.items()) if limit is not None and len(each) > limit
        ]
        return [(j if names is None else repr(str(names[j])), count) for j, count in found]

    def _learn_in_parts(
        self,
        parts: Parts,
        sets: Mapping[str, Parts],
        loss: RawLoss,
        tasks: FitTasks,
    ) -> None:
        """Boost on these rows, with validation rows: given ones, or a share of the rows when stopping early."""
        self._refuse_in_parts(loss)
        self._check_checkpoint()
        if len(getattr(self, "classes_", "ab")) == 1:
            return self._keep_constant(
                Data(np.empty((sum(parts.sizes), 0), np.float32), np.empty(0), np.empty(0)), loss
            )
        self.target_statistics_ = {}
        seed, everything = self._new_seed(), parts
        sets_aside = self.early_stopping and "validation" not in sets
        if sets_aside:
            target = np.concatenate(parts.ask(target_of))
            data = Data(np.empty((len(target), 0), np.float32), target, target)
            learn, rest = self._rows_to_set_aside(data, seed, getattr(self, "classes_", None))
            parts, sets = _some(parts, learn), {"validation": _some(parts, rest), **sets}
        ended = self._boost_parts(parts, loss, seed, sets, tasks)
        if sets_aside and self.refit and not ended:
            tasks.begin("refit")
            boosting, start = self._make_booster_of_parts(everything, loss, seed, None, monitored=False)
            boosting.rounds(self.n_iter_)
            self.forest_, self.base_score_ = Forest(boosting.forest()), start.base
            self.feature_means_ = boosting.table.mean
            boosting.close()
            tasks.end(lambda: {})

    def _boost_parts(self, parts: Parts, loss: RawLoss, seed: int, sets: Mapping[str, Parts], tasks: FitTasks) -> bool:
        """Grow the rounds, then make them this estimator's. Returns whether a callback ended it."""
        checkpoint = self._checkpoint_of_parts(parts, sets)
        monitored = bool(sets or self.verbose or self.callbacks or checkpoint)
        boosting, start = self._make_booster_of_parts(parts, loss, seed, checkpoint, monitored)
        nothing = Data(np.empty((0, 1), np.float32), np.empty(0), np.empty(0))
        monitor = Monitor(boosting, loss, Metrics(None, loss, None), nothing, start.history or {})

        def grown() -> Forest:
            new = Forest(boosting.forest())
            return new if start.before is None else Forest.joined([start.before, new])

        def keep(made: Boosting) -> None:
            made._keep(grown(), start, monitor)
            made.feature_means_, made._seed, made._loss = boosting.table.mean, seed, loss
            made.has_offset_ = False

        for name, each in sets.items():
            monitor.follow(name, nothing, boosting.watch(each))
        ended = False
        if monitored or tasks:
            listeners = self._listeners(monitor, grown, keep, checkpoint, tasks)
            ended = self._run_rounds(monitor, nothing, start.rounds, monitored, listeners, tasks.begin)
        else:
            boosting.rounds(self.n_estimators - start.rounds)
        keep(self)
        boosting.close()
        return ended

    def _make_booster_of_parts(
        self, parts: Parts, loss: RawLoss, seed: int, checkpoint: Checkpoint | None, monitored: bool
    ) -> tuple[BoostingInParts, Start]:
        """The booster and where it starts."""
        if self.base_score is None:
            base = loss.start_of_sums(np.stack(parts.ask(start_sums_of, loss)))
        else:
            base = np.full(loss.n_outputs, float(self.base_score))
        start = Start(base, trees_per_round=1 if self._has_vector_leaves(loss) else loss.n_outputs)
        self._continue_from(checkpoint, start)
        setup = Setup(uuid.uuid4().hex, loss, self._has_vector_leaves(loss), base)
        table = training_table_of(parts, self)
        options = self._boost_options(sum(parts.sizes), loss, seed)
        return BoostingInParts(parts, table, setup, options, start, self._threads_to_grow(), monitored), start

    def _threads_to_grow(self) -> int:
        """Threads of this process, which grows the trees while the parts wait."""
        return thread_count(-1 if self.n_jobs is None else self.n_jobs)

    def _checkpoint_of_parts(self, parts: Parts, sets: Mapping[str, Parts]) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        digests = {name: each.ask(digest_of) for name, each in {"train": parts, **sets}.items()}
        return self._checkpoint_for({"parts": digests, "sets": list(sets)})


def _by_part(parts: Parts, rows: NDArray[Any]) -> list[tuple[NDArray[np.intp], int]]:
    """By part, which of its rows have these ascending numbers in the table, and how many lie in parts before."""
    starts = np.concatenate([[0], np.cumsum(parts.sizes)])
    ends = np.searchsorted(rows, starts)
    return [
        (rows[begin:end].astype(np.intp) - first, int(begin))
        for begin, end, first in zip(ends[:-1], ends[1:], starts[:-1], strict=True)
    ]


def _some(parts: Parts, rows: NDArray[np.intp]) -> Parts:
    """The rows with these ascending numbers as a table of their own, in as many parts."""
    return parts.derive(some_rows_of, each=_by_part(parts, rows))
