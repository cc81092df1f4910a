"""Boosting on rows that lie in parts: its estimators, without where the parts are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise._progress import is_heard
from planewise.data.categories import Categories
from planewise.data.chunks import Part, Parts
from planewise.data.problem import thread_count
from planewise.trees.arrays import Forest
from planewise.trees.boost_data import Data, Floats
from planewise.trees.boosting import Boosting
from planewise.trees.chunked_rounds import BoostingInParts, Setup, places_by_part
from planewise.trees.growth import table_categories
from planewise.trees.losses import RawLoss, check_targets, classification_loss, regression_loss
from planewise.trees.scoring import Monitor, Scoring
from planewise.trees.target_statistics import (
    Statistics,
    TargetLook,
    Targets,
    columns_with_statistics,
    folds,
    look_at_targets,
    present_categories,
    training_rows_with_statistics,
    with_statistics,
)


# ------------------------------------------------------------------------------------------------ what parts are asked
def target_and_weight_of(part: Part, *, n_threads: int) -> tuple[Floats, Floats]:
    """Targets and weights."""
    return part.target, part.weight


def start_sums_of(part: Part, loss: RawLoss, *, n_threads: int) -> Floats:
    """What the constant before any tree follows from."""
    return loss.sums(part.target, part.weight)


def some_rows_of(part: Part, given: tuple[NDArray[np.intp], int], *, n_threads: int) -> Part:
    """A part of its own from the rows at these places; with the number of its first row."""
    places, first = given
    return Part(part.rows[places], part.target[places], part.weight[places], first)


def present_in(part: Part, categories: Categories, *, n_threads: int) -> dict[int, NDArray[np.bool_]]:
    """By categorical column, which of its categories are there."""
    return present_categories(part.rows, categories)


def look_at_targets_of(part: Part, n_classes: int | None, *, n_threads: int) -> TargetLook:
    """What target statistics need of the targets."""
    return look_at_targets(part.target, part.weight, n_classes)


def statistic_sums_of(
    part: Part, targets: Targets, n_categories: Mapping[int, int], seed: int, *, n_threads: int
) -> dict[int, Floats]:
    """Sums by fold and category, by column."""
    fold = folds(len(part), seed, part.first)
    return {
        j: targets.sums(part.target, part.weight, part.rows[:, j], fold, count) for j, count in n_categories.items()
    }


def training_part_with_statistics(
    part: Part, targets: Targets, sums: Mapping[int, Floats], seed: int, *, n_threads: int
) -> Part:
    """Training rows as trees read them."""
    rows = training_rows_with_statistics(part.rows, targets, sums, seed, part.first)
    return Part(rows, part.target, part.weight, part.first)


def part_with_statistics(part: Part, statistics: Statistics, *, n_threads: int) -> Part:
    """Other rows as trees read them."""
    return Part(with_statistics(part.rows, statistics), part.target, part.weight, part.first)


def ranges_of(part: Part, *, n_threads: int) -> Floats:
    """What the rows say of their columns."""
    return _core.column_ranges(part.rows, part.weight, n_threads)


def sums_of(part: Part, ranges: Floats, centre: Floats, *, n_threads: int) -> NDArray[np.int64]:
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


# -------------------------------------------------------------------------------------------------------------- losses
def class_loss_of(estimator: Any, n_classes: int) -> RawLoss:
    """The loss of a classifier."""
    return classification_loss(estimator.loss, max(2, n_classes))


def number_loss_of(estimator: Any, parts: Parts) -> RawLoss:
    """The loss of a regressor, after a look at its targets."""
    loss = regression_loss(estimator.loss, estimator.alpha, np.ones(1), estimator.base_score, estimator.power)
    if loss.link == "exp" and loss.own is None and not any(parts.ask(check_targets_of, loss)):
        raise ValueError(f"loss={loss.core!r} needs targets of zero or more, not all of them zero.")
    return loss


def check_targets_of(part: Part, loss: RawLoss, *, n_threads: int) -> bool:
    """An error if the loss is not defined for a target; whether some are not zero."""
    check_targets(loss, part.target, "y", np.arange(part.first, part.first + len(part)))
    return bool(part.target.any())


# ------------------------------------------------------------------------------------------------------------- columns
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


# ---------------------------------------------------------------------------------------------------------- estimators
class BoostsParts(Boosting):
    """Boosting whose rows lie in parts."""

    _keep_constant: Callable[[Data, RawLoss], None]  # of a classifier that knows one class

    def _can_stay_in_parts(self, n_rows: int, has_validation_rows: bool) -> bool:
        """Whether trees are grown on a sample of so many rows, as they are in memory."""
        if self.early_stopping and not has_validation_rows:
            n_rows -= ceil(self.validation_fraction * n_rows)
        return self.max_rows_per_tree is not None and round(self.subsample * n_rows) > self.max_rows_per_tree

    def _refuse_in_parts(self, loss: RawLoss) -> None:
        """An error that names what needs all rows in one place."""
        name = type(self).__name__
        if loss.own is not None or not loss.starts_at_mean:
            called = "A custom loss" if loss.own is not None else f"loss={self.loss!r}"
            raise ValueError(
                f"{called} needs all rows in one place, and {name} keeps them in parts beyond max_rows_per_tree rows. "
                "Use another loss, or fit the ordinary estimator on a sample of the rows."
            )
        if self.warm_start:
            raise ValueError(
                "warm_start=True is not possible beyond max_rows_per_tree rows in parts; set it to False, or fit the "
                "ordinary estimator on a sample of the rows."
            )

    def _with_statistics_in_parts(self, parts: Parts, loss: RawLoss, seed: int) -> Parts:
        """Training rows as trees read them."""
        self.target_statistics_ = {}
        found = parts.ask(present_in, self.categories_)
        present = {j: int(np.any([each[j] for each in found], axis=0).sum()) for j in self.categories_}
        columns = columns_with_statistics(present, self.target_statistics)
        if not columns:
            return parts
        n_categories = {j: len(self.categories_[j]) for j in columns}
        targets = Targets.of(parts.ask(look_at_targets_of, loss.n_classes))
        answers = parts.ask(statistic_sums_of, targets, n_categories, seed)
        sums = {j: np.sum([each[j] for each in answers], axis=0) for j in columns}
        self.target_statistics_ = {j: targets.learn(sums[j]) for j in columns}
        return parts.derive(training_part_with_statistics, targets, sums, each=[seed] * len(parts.sizes))

    def _learn_in_parts(
        self,
        parts: Parts,
        validation: Parts | None,
        loss: RawLoss,
    ) -> None:
        """Boost on these rows, with validation rows: given ones, or a share of the rows when stopping early."""
        self._refuse_in_parts(loss)
        if len(getattr(self, "classes_", "ab")) == 1:
            return self._keep_constant(
                Data(np.empty((sum(parts.sizes), 0), np.float32), np.empty(0), np.empty(0)), loss
            )
        seed = self._new_seed()
        everything = parts if self.refit else None
        sets_aside = self.early_stopping and validation is None
        if sets_aside:
            learn, rest = self._rows_to_set_aside(_judged(parts, True), seed, getattr(self, "classes_", None))
            parts, validation = _some(parts, learn), _some(parts, rest)
        parts = self._with_statistics_in_parts(parts, loss, seed)
        if validation is not None and self.target_statistics_:
            validation = validation.derive(part_with_statistics, each=[self.target_statistics_] * len(validation.sizes))
        ended = self._boost_parts(parts, loss, seed, validation)
        if sets_aside and everything is not None and not ended:
            everything = self._with_statistics_in_parts(everything, loss, seed)
            boosting, base = self._make_booster_of_parts(everything, loss, seed, monitored=False)
            with boosting:
                boosting.rounds(self.n_iter_)
            self.forest_, self.base_score_ = Forest(boosting.forest()), base
            self.feature_means_ = boosting.table.mean

    def _boost_parts(self, parts: Parts, loss: RawLoss, seed: int, validation: Parts | None) -> bool:
        """Grow the rounds, then make them this estimator's. Returns whether a callback ended it."""
        scoring = None if self.scoring is None else Scoring(self, loss)
        monitored = bool(validation is not None or scoring or self.verbose or self.callbacks)
        boosting, base = self._make_booster_of_parts(parts, loss, seed, monitored)
        train = _judged(parts, bool(scoring))
        monitor = Monitor(boosting, loss, scoring, train)
        with boosting:
            if validation is not None:
                monitor.follow(_judged(validation, bool(scoring)), boosting.watch(validation))
            ended = False
            if monitored or is_heard():
                ended = self._run_rounds(monitor, train, 0, monitored)
            else:
                boosting.rounds(self.n_estimators)
        self._keep(Forest(boosting.forest()), base, monitor)
        self.feature_means_, self._seed, self._loss = boosting.table.mean, seed, loss
        self.has_offset_ = False
        return ended

    def _make_booster_of_parts(
        self, parts: Parts, loss: RawLoss, seed: int, monitored: bool
    ) -> tuple[BoostingInParts, Floats]:
        """Return the booster and the scores before any tree."""
        if self.base_score is None:
            base = loss.start_of_sums(np.stack(parts.ask(start_sums_of, loss)))
        else:
            base = np.full(loss.n_outputs, float(self.base_score))
        setup = Setup(uuid.uuid4().hex, loss, base)
        table = training_table_of(parts, self)
        options = self._boost_options(sum(parts.sizes), loss, seed)
        return BoostingInParts(parts, table, setup, options, self._threads_to_grow(), monitored), base

    def _threads_to_grow(self) -> int:
        """Threads of this process, which grows the trees while the parts wait."""
        return thread_count(-1 if self.n_jobs is None else self.n_jobs)


def _judged(parts: Parts, is_needed: bool) -> Data:
    """Return the targets and weights of all parts, if they are needed here."""
    found = parts.ask(target_and_weight_of) if is_needed else [(np.empty(0), np.empty(0))]
    target, weight = (np.concatenate(each) for each in zip(*found, strict=True))
    return Data(np.empty((len(target), 0), np.float32), target, weight)


def _some(parts: Parts, rows: NDArray[np.intp]) -> Parts:
    """The rows with these ascending numbers as a table of their own, in as many parts."""
    return parts.derive(some_rows_of, each=places_by_part(parts, rows))
