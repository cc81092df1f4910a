"""The rounds of boosting and what its fitted models answer: what classifier, regressor and ranker share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._params import Limit, boolean, either, integer, one_of, real
from planewise._progress import Progress, is_heard
from planewise.data.problem import thread_count
from planewise.trees.arrays import Forest, Trials, require_finite_values, tree_rows
from planewise.trees.boost_data import Data, Floats, Given, TargetReader, read_offset, read_validation_rows
from planewise.trees.constraints import ALL_ROWS, check_earlier_trees, constrain
from planewise.trees.explain import ExplainsByContributions
from planewise.trees.growth import GROWTH_LIMITS, TreeEstimator, growth_options, training_table
from planewise.trees.losses import LossLike, RawLoss
from planewise.trees.scoring import Booster, Monitor, Scoring
from planewise.trees.target_statistics import (
    Targets,
    TargetStatistics,
    added_to_sources,
    columns_with_statistics,
    folds,
    look_at_targets,
    n_tree_columns,
    present_categories,
    statistic_places,
    training_rows_with_statistics,
    with_statistics,
)

Callback = Callable[[int, dict[str, float]], Any]
USUAL_DEPTH = 3
MANY_ROWS = 2**18  # a level more pays, and takes less time than others need


class Boosting(ExplainsByContributions, TreeEstimator):
    """What classifier, regressor and ranker share."""

    parameter_limits: ClassVar[Mapping[str, Limit]] = GROWTH_LIMITS | {
        "n_estimators": integer(1),
        "max_depth": either(integer(1, none=True), one_of("auto")),
        "learning_rate": real(0, open_low=True),
        "reg_lambda": real(0),
        "smoothing": either(real(0), one_of("auto")),
        "min_split_gain": real(0),
        "min_child_weight": real(0),
        "noise_margin": real(0),
        "max_rows_per_node": either(integer(16, none=True), one_of("auto")),
        "max_rows_per_tree": integer(256, none=True),
        "remember_directions": boolean(),
        "subsample": real(0, 1, open_low=True),
        "colsample": real(0, 1, open_low=True),
        "target_statistics": either(integer(0, none=True), one_of("auto")),
        "early_stopping": boolean(),
        "validation_fraction": real(0, 0.9, open_low=True),
        "refit": boolean(),
        "n_iter_no_change": integer(1),
        "tol": real(0),
        "scoring": Limit(
            lambda value: value is None or isinstance(value, str) or callable(value),
            "None, the name of a scikit-learn scorer or a function (estimator, X, y) -> score",
        ),
        "warm_start": boolean(),
        "verbose": integer(0),
        "base_score": Limit(lambda value: value is None or real(-inf).allows(value), "a finite number or None"),
        "callbacks": Limit(
            lambda value: value is None or (isinstance(value, Sequence) and all(callable(each) for each in value)),
            "a list of functions (round, losses) -> whether to stop, or None",
        ),
    }
    loss: LossLike
    n_estimators: int
    learning_rate: float
    min_child_weight: float
    min_split_gain: float
    reg_lambda: float
    subsample: float
    colsample: float
    max_rows_per_tree: int | None
    remember_directions: bool
    target_statistics: int | str | None
    base_score: float | None
    early_stopping: bool
    validation_fraction: float
    refit: bool
    n_iter_no_change: int
    tol: float
    scoring: Any
    callbacks: Sequence[Callback] | None
    warm_start: bool
    verbose: int
    n_iter_: int
    base_score_: Floats
    target_statistics_: dict[int, TargetStatistics]
    train_score_: Floats
    validation_score_: Floats
    has_offset_: bool
    _seed: int
    _trials: Trials
    _loss: RawLoss

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "forest_")

    def _learn(
        self,
        data: Data,
        loss: RawLoss,
        given: Given,
        read_target: TargetReader,
        classes: NDArray[Any] | None = None,
    ) -> None:
        """Boost on these rows, with validation rows: given ones, or a share of the rows when stopping early."""
        scoring, validation = self._read_given(given, data, loss, read_target)
        # A warm start keeps its seed, and so sets the same rows aside: others would have been learned from already.
        seed = self._seed if self._continues() else self._new_seed()
        everything = data
        sets_aside = self.early_stopping and given.X_val is None
        if sets_aside:
            learn, rest = self._rows_to_set_aside(data, seed, classes)
            data, validation = data.part(learn), data.part(rest)
            self._check_rows_set_aside(len(learn))
        data = self._with_target_statistics(data, loss, seed)
        if validation is not None:
            validation = validation._replace(rows=with_statistics(validation.rows, self.target_statistics_))
        ended = self._boost(data, loss, seed, validation, scoring)
        if sets_aside and self.refit and not self.warm_start and not ended:
            self._boost_again(self._with_target_statistics(everything, loss, seed), loss, seed)

    def _read_given(
        self, given: Given, data: Data, loss: RawLoss, read_target: TargetReader
    ) -> tuple[Scoring | None, Data | None]:
        """Return the scorer and the validation rows, checked."""
        self._check_given(given, data.offset)
        scoring = None if self.scoring is None else Scoring(self, loss)
        return scoring, None if given.X_val is None else read_validation_rows(self, given, loss, read_target)

    def _rows_to_set_aside(
        self, data: Data, seed: int, classes: NDArray[Any] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows to learn from and those to validate on, both in order."""
        try:
            learn, rest = train_test_split(
                np.arange(len(data.target)),
                test_size=self.validation_fraction,
                random_state=seed,
                stratify=None if classes is None else data.target,
            )
        except ValueError as error:
            reason = str(error).split(". ")[0].rstrip(".")
            raise ValueError(
                f"early_stopping=True cannot set aside validation_fraction={self.validation_fraction} of the rows: "
                f"{reason}. Pass X_val and y_val, or use early_stopping=False."
            ) from error
        return np.sort(learn), np.sort(rest)

    def _boost_again(self, data: Data, loss: RawLoss, seed: int) -> None:
        """As many rounds as were best, grown from all rows."""
        threads = thread_count(self.n_jobs)
        start = self._start(data, loss)
        table = training_table(self, data.rows, data.weight, threads)
        boosting = self._make_booster(table, data, loss, start, seed, threads)
        with Progress(self.n_iter_, "boosting from all rows", shown=self.verbose > 0) as bar:
            if loss.own is None and not self.verbose and not is_heard():
                boosting.rounds(self.n_iter_)
            else:
                for _ in range(self.n_iter_):
                    _one_round(boosting, data, loss)
                    bar.step()
        self.forest_, self.base_score_ = Forest(boosting.forest()), start.base
        self._trials = self._trials._replace(losses=boosting.trial_losses())
        self.feature_means_ = table.mean

    def _with_target_statistics(self, data: Data, loss: RawLoss, seed: int) -> Data:
        """Training rows as trees read them; a warm start keeps the statistics that its trees refer to."""
        continues = self._continues()
        if continues:
            columns = list(self.target_statistics_)
        else:
            present = {j: int(each.sum()) for j, each in present_categories(data.rows, self.categories_).items()}
            columns = columns_with_statistics(present, self.target_statistics)
            self.target_statistics_ = {}
        if not columns:
            return data
        target, weight = data.target, data.weight
        if loss.core == "ranking":
            target = target[:, 0]
        elif loss.own is None and loss.n_classes is None and data.offset is not None:
            target, weight = loss.without_offset(target, weight, data.offset)
        targets, fold = Targets.of([look_at_targets(target, weight, loss.n_classes)]), folds(len(data.rows), seed)
        sums = {j: targets.sums(target, weight, data.rows[:, j], fold, len(self.categories_[j])) for j in columns}
        learned = {j: targets.learn(sums[j]) for j in columns}
        if not continues:
            self.target_statistics_ = learned
        elif not all(learned[j].equals(self.target_statistics_[j]) for j in columns):  # a warm start on other rows
            return data._replace(rows=with_statistics(data.rows, self.target_statistics_))
        return data._replace(rows=training_rows_with_statistics(data.rows, targets, sums, seed))

    def _check_rows_set_aside(self, n_learned: int) -> None:
        """An error if a warm start would validate on rows that its trees were grown from."""
        if self._continues() and self.forest_.n_samples[0] > max(1, round(self.subsample * n_learned)):
            raise ValueError(
                "warm_start=True with early_stopping=True requires X_val and y_val here: the existing trees were "
                "fitted on all rows, so no rows are left for validation. Or fit with both from the first fit on."
            )

    def _check_given(self, given: Given, offset: Floats | None) -> None:
        given.check()
        if callable(self.loss) and self.scoring is None and (self.early_stopping or given.X_val is not None):
            raise ValueError(
                "early_stopping=True and X_val need a built-in loss or the parameter scoring: a custom loss has no "
                "value to monitor."
            )
        if self._continues() and self.has_offset_ != (offset is not None):
            with_it = "with an offset: pass it" if self.has_offset_ else "without an offset: pass none"
            raise ValueError(f"warm_start=True continues from a fit {with_it} here as well.")

    def _boost(self, data: Data, loss: RawLoss, seed: int, validation: Data | None, scoring: Scoring | None) -> bool:
        """Grow the missing rounds, then make them this estimator's; nothing changes before the end.

        Returns whether a callback ended it.
        """
        threads = thread_count(self.n_jobs)
        start = self._start(data, loss)
        table = training_table(self, data.rows, data.weight, threads)
        boosting = self._make_booster(table, data, loss, start, seed, threads)
        monitor = Monitor(boosting, loss, scoring, data)
        monitor.best_trials = start.trials
        if validation is not None:
            their_table = _core.Table(validation.rows, validation.weight, threads)
            scores = start.scores_of(validation, threads)
            number = boosting.watch(their_table, validation.target, validation.weight, scores)
            monitor.follow(validation, number)
        ended = False
        is_monitored = bool(validation is not None or scoring or self.verbose or self.callbacks)
        if is_monitored and start.before is not None:
            monitor.complete(lambda seen: start.stages(seen, threads))
        if is_monitored or loss.own is not None or is_heard():
            ended = self._run_rounds(monitor, data, start.rounds, is_monitored)
        else:
            boosting.rounds(self.n_estimators - start.rounds)
        new = Forest(boosting.forest())
        self._keep(new if start.before is None else Forest.joined([start.before, new]), start.base, monitor)
        self.feature_means_, self._seed, self._loss = table.mean, seed, loss
        self.has_offset_ = data.offset is not None
        return ended

    def _start(self, data: Data, loss: RawLoss) -> Start:
        """Where this fit starts."""
        continues = self._continues()
        if continues and not self._loss.is_like(loss):
            raise ValueError("warm_start=True needs the same loss and kind of target as the earlier fit.")
        if continues:
            start = Start(self.base_score_, self.forest_, self._trials)
        elif self.base_score is None:
            start = Start(loss.start(data.target, data.weight, data.offset))
        else:
            start = Start(np.full(loss.n_outputs, float(self.base_score)))
        if continues:
            check_earlier_trees(self, self.forest_, self._statistic_sources())
        if continues and self.n_estimators < start.rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {start.rounds} existing rounds when "
                "warm_start=True."
            )
        return start

    def _make_booster(
        self, table: _core.Table, data: Data, loss: RawLoss, start: Start, seed: int, threads: int
    ) -> _core.Boosting:
        options = self._boost_options(len(data.rows), loss, seed)
        n_before = 0 if start.before is None else start.before.n_trees
        boosting = _core.Boosting(
            table, data.target, data.weight, start.scores_of(data, threads), n_before, options, threads
        )
        before = start.scores_before(data)
        if loss.own is None:
            boosting.begin_at(before)
        else:
            before = np.array(np.broadcast_to(before, (len(data.rows), loss.n_outputs)))
            boosting.begin_with(loss.derivatives(data.target, before)[1] * data.weight[:, None])
        if start.before is not None:
            start.before.teach(boosting)
        if start.trials is not None:
            boosting.set_trial_losses(start.trials.losses)
            if len(start.trials.left_out) == len(data.rows):  # a warm start may bring others
                boosting.set_left_out(start.trials.left_out)
        return boosting

    def _boost_options(self, n_rows: int, loss: RawLoss, seed: int) -> _core.BoostOptions:
        options = loss.core_options()
        options.grow, options.seed = self._options(n_rows, loss), seed
        options.learning_rate, options.reg_lambda = self.learning_rate, self.reg_lambda
        options.subsample, options.colsample = self.subsample, self.colsample
        options.max_rows_per_tree = self.max_rows_per_tree or ALL_ROWS
        options.remember = bool(self.remember_directions)
        options.find_smoothing = self.smoothing == "auto"
        options.find_depth = self.max_depth == "auto" and not options.grow.monotone
        return options

    def _keep(self, forest: Forest, base: Floats, monitor: Monitor) -> None:
        """Trees up to the best round, if that is asked for, and what a warm start continues from."""
        require_finite_values(forest)
        losses, trials = monitor.losses(), monitor.best_trials
        self.n_iter_ = forest.n_trees // len(base)
        self.best_iteration_ = int(np.argmin(losses)) + 1 if losses else None
        if self.early_stopping and self.best_iteration_ is not None:
            forest, self.n_iter_ = forest.head(self.best_iteration_ * len(base)), self.best_iteration_
        self.train_score_, self.validation_score_ = monitor.scores("train"), monitor.scores("validation")
        self.forest_, self.base_score_ = forest, base
        # A warm start after an early stop continues from the best round, as if later ones had never been.
        self._trials = trials if self.early_stopping and trials is not None else Trials.of(monitor.boosting)
        if not self.warm_start:  # they will not be needed, and are as long as the table
            self._trials = self._trials._replace(left_out=np.empty((0, monitor.loss.n_outputs)))

    def _run_rounds(
        self,
        monitor: Monitor,
        data: Data,
        rounds_before: int,
        is_monitored: bool,
    ) -> bool:
        """Round by round, if losses are monitored or the loss is custom; rounds are counted from the model's first.

        Returns whether a callback ended it.
        """
        boosting = monitor.boosting
        with Progress(self.n_estimators, "boosting", first=rounds_before, shown=self.verbose > 0) as bar:
            for number in range(rounds_before + 1, self.n_estimators + 1):
                if self._is_past_best(monitor.losses()):
                    break
                _one_round(boosting, data, monitor.loss)
                now = monitor.after_round() if is_monitored else {}
                losses = monitor.losses()
                if self.warm_start and losses and losses[-1] < min(losses[:-1], default=inf):
                    monitor.best_trials = Trials.of(boosting)
                bar.step("  ".join(f"{name} {value:.5g}" for name, value in now.items()))
                # All callbacks are called, even when an earlier one asks to stop.
                if any([callback(number, now) for callback in self.callbacks or ()]):
                    return True
        return False

    def _is_past_best(self, losses: list[float]) -> bool:
        """Whether the last `n_iter_no_change` rounds brought nothing better (by more than `tol`)."""
        if not self.early_stopping or len(losses) <= self.n_iter_no_change:
            return False
        return min(losses[-self.n_iter_no_change :]) >= min(losses[: -self.n_iter_no_change]) - self.tol

    def _options(self, n_rows: int, loss: RawLoss) -> _core.GrowOptions:
        options = growth_options(self, seed=0)
        if self.max_rows_per_node == "auto":  # the search should cost about as much as the passes over all rows
            options.max_rows_per_node = min(max(2048, n_rows // 8), 8191)
        options.min_child_weight = self.min_child_weight
        options.min_split_gain = self.min_split_gain
        options.noise_margin = self.noise_margin
        options.smoothing = 8.0 if self.smoothing == "auto" else float(self.smoothing)  # 8: where nothing is tried
        options.max_joint = 8
        if self.max_depth == "auto":  # where nothing is tried
            options.max_depth = USUAL_DEPTH + (n_rows > MANY_ROWS)
        constrain(options, self, loss.n_classes or 1, self._statistic_sources())
        return options

    def _statistic_sources(self) -> list[int]:
        """The columns of X that the further columns of the trees' rows are made from."""
        return [place.source for place in statistic_places(self.target_statistics_)]

    # ----------------------------------------------------------------------------------------------- fitted models
    def get_feature_importances(self, kind: str = "gain") -> NDArray[np.float64]:
        """Share of each feature in the planes, by "gain", by number of planes ("split") or by their rows ("cover")."""
        n_features, statistics = self.n_features_in_, self.target_statistics_
        shares = self._trees().importances(n_tree_columns(n_features, statistics), kind)
        return added_to_sources(shares, n_features, statistics)

    @property
    def n_stored_numbers_(self) -> int:
        """Number of non-zero weights, thresholds, leaf values and target statistics."""
        return super().n_stored_numbers_ + sum(each.n_numbers for each in self.target_statistics_.values())

    @property
    def n_bytes_(self) -> int:
        """Bytes of the arrays that prediction needs."""
        return super().n_bytes_ + sum(4 * each.n_numbers for each in self.target_statistics_.values())

    def _n_trees(self, n_rounds: int | None) -> int:
        """The number of trees in the first rounds; all if None."""
        check_is_fitted(self)
        if n_rounds is None:
            return self.forest_.n_trees
        if self.n_iter_ == 0:
            raise ValueError("n_rounds must be None here: the model knows one class and has no rounds.")
        if not integer(1, self.n_iter_).allows(n_rounds):
            raise ValueError(f"n_rounds must be an integer from 1 to n_iter_, {self.n_iter_}; got {n_rounds!r}.")
        return int(n_rounds) * self.forest_.trees_per_round

    def _raw(self, X: Any, offset: Any = None, n_rounds: int | None = None) -> Floats:
        last, rows = self._n_trees(n_rounds), tree_rows(self, X)
        raw = self.forest_.predict(rows, self.base_score_, last=last, n_threads=thread_count(self.n_jobs))
        given = read_offset(offset, len(rows), self._loss)
        return raw if given is None else raw + given

    def apply(self, X: Any, *, n_rounds: int | None = None) -> NDArray[np.int32]:
        """The node in which each row ends, in every tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        n_rounds : int or None, default=None
            Use the trees of the first rounds only.

        Returns
        -------
        nodes : int array of shape (n_samples, n_trees)
            Numbers of nodes, counted from the root of each tree: mostly leaves. Trees are in the order they were grown
            in. With more than two classes, a round has one tree per class, next to each other, in the order of the
            classes: those of round ``r``, counted from 0, are the columns ``r * n_classes`` to
            ``(r + 1) * n_classes - 1``.
        """
        n_trees = self._n_trees(n_rounds)
        return self.forest_.head(n_trees).apply(tree_rows(self, X), thread_count(self.n_jobs))

    def predict_contributions(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """What each feature added to the raw score of each row, without an offset.

        Every step down a tree changes the score; the change is shared among the terms of the node's planes by how far
        they are from the training mean (a missing value or a category counts as one standard deviation).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        n_rounds : int or None, default=None
            Use the first rounds only.

        Returns
        -------
        contributions : array of shape (n_samples, n_features + 1), or (n_samples, n_classes, n_features + 1)
            The last entry is the mean score of the training rows; a row's entries add up to its raw score: the
            ``decision_function`` of a classifier, the prediction of a regressor (its logarithm for "poisson", "gamma"
            and "tweedie").
        """
        n_trees = self._n_trees(n_rounds)
        return self._contributions(X, self.forest_.head(n_trees))

    def _staged_raw(self, X: Any, offset: Any = None) -> Iterator[Floats]:
        check_is_fitted(self)
        rows = tree_rows(self, X)
        given = read_offset(offset, len(rows), self._loss)
        for raw in self.forest_.stages(rows, self.base_score_, thread_count(self.n_jobs)):
            yield raw if given is None else raw + given


def _one_round(boosting: Booster, data: Data, loss: RawLoss) -> None:
    """Grow one round, with the built-in loss or a custom one."""
    if loss.own is None:
        boosting.rounds(1)
        return
    assert isinstance(boosting, _core.Boosting)
    weight = data.weight[:, None]
    gradient, hessian = loss.derivatives(data.target, boosting.score())
    boosting.round_with(gradient * weight, hessian * weight)


@dataclass
class Start:
    """Where boosting starts: anew, or from an earlier fit (a warm start)."""

    base: Floats  # scores before any tree, without offsets
    before: Forest | None = None  # trees grown before
    trials: Trials | None = None

    @property
    def rounds(self) -> int:
        return 0 if self.before is None else self.before.n_trees // len(self.base)

    def scores_before(self, data: Data) -> Floats:
        """Scores before any tree, offsets included: (rows, outputs), or (1, outputs) if they are the same for all."""
        return self.base[None] if data.offset is None else self.base + data.offset

    def stages(self, data: Data, threads: int) -> Iterator[Floats]:
        """Scores after each round that is there already."""
        return iter(()) if self.before is None else self.before.stages(data.rows, self.scores_before(data), threads)

    def scores_of(self, data: Data, threads: int) -> Floats:
        """Scores now, added up in the order of an uninterrupted fit."""
        if self.before is not None and data.offset is None:
            return self.before.predict(data.rows, self.base, n_threads=threads)
        scores = self.scores_before(data)
        for now in self.stages(data, threads):
            scores = now
        return scores
