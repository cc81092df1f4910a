"""The rounds of boosting: what its classifier and its regressor share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from os import PathLike
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._input import category_counts, prediction_rows, thread_count
from planewise._params import Limit, boolean, either, integer, one_of, real
from planewise._progress import Progress
from planewise.slm._boost_checkpoint import Checkpoint, fingerprint
from planewise.slm._explain import ExplainsByContributions
from planewise.slm._growth import ENDLESS, GROWTH_LIMITS, TreeEstimator, growth_options, training_table
from planewise.slm._objectives import LossLike, RawLoss
from planewise.slm._target_statistics import (
    Targets,
    TargetStatistics,
    added_to_sources,
    columns_with_statistics,
    n_tree_columns,
    statistic_places,
    training_rows_with_statistics,
    with_statistics,
)
from planewise.slm.fitted import Forest, Trials, tree_rows

Callback = Callable[[int, dict[str, float]], Any]
History = dict[str, list[float]]
USUAL_DEPTH = 3
MANY_ROWS = 2**18  # a level more pays, and takes less time than others need


class Data(NamedTuple):
    """Rows with their targets and weights."""

    rows: NDArray[np.float32]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]

    def part(self, which: NDArray[np.intp]) -> Data:
        return Data(self.rows[which], self.target[which], self.weight[which])


@dataclass
class Start:
    """Where boosting starts: anew, from an earlier fit (a warm start) or from a checkpoint."""

    base: NDArray[np.float64]  # scores before any tree
    before: Forest | None = None  # trees grown before
    trials: Trials | None = None
    history: History | None = None
    trees_per_round: int = 1

    @property
    def rounds(self) -> int:
        return 0 if self.before is None else self.before.n_trees // self.trees_per_round

    def scores_of(self, rows: NDArray[np.float32], threads: int) -> NDArray[np.float64]:
        if self.before is None:
            return np.tile(self.base, (len(rows), 1))
        return self.before.predict(rows, self.base, n_threads=threads)


class Boosting(ExplainsByContributions, TreeEstimator):
    """What the classifier and the regressor share."""

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
        "subsample": real(0, 1, open_low=True),
        "colsample": real(0, 1, open_low=True),
        "target_statistics": either(integer(0, none=True), one_of("auto")),
        "early_stopping": boolean(),
        "validation_fraction": real(0, 0.9, open_low=True),
        "refit": boolean(),
        "n_iter_no_change": integer(1),
        "tol": real(0),
        "warm_start": boolean(),
        "checkpoint_every": integer(1),
        "verbose": integer(0),
        "base_score": Limit(lambda value: value is None or real(-inf).allows(value), "a finite number or None"),
        "callbacks": Limit(
            lambda value: value is None or (isinstance(value, Sequence) and all(callable(each) for each in value)),
            "a list of functions (round, losses) -> whether to stop, or None",
        ),
        "checkpoint": Limit(lambda value: value is None or isinstance(value, (str, PathLike)), "a path or None"),
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
    target_statistics: int | str | None
    monotonic_cst: Any
    base_score: float | None
    early_stopping: bool
    validation_fraction: float
    refit: bool
    n_iter_no_change: int
    tol: float
    callbacks: Sequence[Callback] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: int
    warm_start: bool
    verbose: int
    base_score_: NDArray[np.float64]
    target_statistics_: dict[int, TargetStatistics]
    _seed: int
    _loss: RawLoss
    _trials: Trials

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "forest_")

    def _learn(
        self,
        data: Data,
        loss: RawLoss,
        X_val: Any,
        y_val: Any,
        read_target: Callable[[Any, NDArray[np.float32]], NDArray[np.float64]],
        stratified: bool,
    ) -> None:
        """Boost on these rows, with validation rows: given ones, or a share of the rows when stopping early."""
        self._check_validation(X_val, y_val)
        # A warm start keeps its seed, and so sets the same rows aside: others would have been learned from already.
        seed = self._seed if self._continues() else self._new_seed()
        everything, validation = data, None
        if X_val is not None:
            theirs = prediction_rows(self, X_val)
            validation = Data(theirs, read_target(y_val, theirs), np.ones(len(theirs)))
        elif self.early_stopping:
            learn, rest = train_test_split(
                np.arange(len(data.target)),
                test_size=self.validation_fraction,
                random_state=seed,
                stratify=data.target if stratified else None,
            )
            data, validation = data.part(np.sort(learn)), data.part(np.sort(rest))
            self._check_rows_set_aside(len(learn))
        data = self._with_target_statistics(data, loss, seed)
        if validation is not None:
            validation = validation._replace(rows=with_statistics(validation.rows, self.target_statistics_))
        ended = self._boost(data, loss, seed, validation)
        if self.early_stopping and X_val is None and self.refit and not self.warm_start and not ended:
            self._boost_again(self._with_target_statistics(everything, loss, seed), loss, seed)

    def _boost_again(self, data: Data, loss: RawLoss, seed: int) -> None:
        """As many rounds as were best, grown from all rows."""
        threads = thread_count(self.n_jobs)
        start = self._start(data, loss, None)
        table = training_table(self, data.rows, data.weight, threads)
        boosting = self._make_booster(table, data, loss, start, seed, threads)
        with Progress(self.n_iter_, "boosting from all rows", shown=self.verbose > 0) as bar:
            for _ in range(self.n_iter_ if self.verbose else 1):
                boosting.rounds(1 if self.verbose else self.n_iter_)
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
            columns = columns_with_statistics(data.rows, self.categories_, self.target_statistics)
            self.target_statistics_ = {}
        if not columns:
            return data
        targets = Targets(data.target, data.weight, loss.n_classes)
        learned = {j: targets.learn(data.rows[:, j], len(self.categories_[j])) for j in columns}
        if not continues:
            self.target_statistics_ = learned
        elif not all(learned[j].equals(self.target_statistics_[j]) for j in columns):  # a warm start on other rows
            return data._replace(rows=with_statistics(data.rows, self.target_statistics_))
        return data._replace(rows=training_rows_with_statistics(data.rows, targets, self.target_statistics_, seed))

    def _check_rows_set_aside(self, n_learned: int) -> None:
        """An error if a warm start would validate on rows that its trees were grown from."""
        if self._continues() and self.forest_.n_samples[0] > max(1, round(self.subsample * n_learned)):
            raise ValueError(
                "warm_start=True with early_stopping=True needs X_val and y_val here: the trees that are there were "
                "grown from all rows, so none of them can be set aside. Or fit with both from the first fit on."
            )

    def _check_validation(self, X_val: Any, y_val: Any) -> None:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: give both or neither.")
        if callable(self.loss) and (self.early_stopping or X_val is not None):
            raise ValueError(
                "early_stopping=True, X_val and y_val need a built-in loss: a custom one has no value to monitor."
            )

    def _boost(self, data: Data, loss: RawLoss, seed: int, validation: Data | None) -> bool:
        """Grow the missing rounds, then make them this estimator's; nothing changes before the end.

        Returns whether a callback ended it.
        """
        threads = thread_count(self.n_jobs)
        checkpoint = self._open_checkpoint(*data, *(validation or ()))
        start = self._start(data, loss, checkpoint)
        table = training_table(self, data.rows, data.weight, threads)
        boosting = self._make_booster(table, data, loss, start, seed, threads)
        monitored = {} if loss.own is not None else {"train": data}
        if validation is not None:
            monitored["validation"] = validation
            their_table = _core.Table(validation.rows, validation.weight, threads)
            scores = start.scores_of(validation.rows, threads)
            boosting.watch(their_table, validation.target, validation.weight, scores)

        def grown() -> Forest:
            new = Forest(boosting.forest())
            return new if start.before is None else Forest.joined([start.before, new])

        history = start.history or {"train": [], "validation": []}
        best_trials, ended = start.trials, False
        is_monitored = bool(validation or self.verbose or self.callbacks or checkpoint)
        if is_monitored:
            self._complete_history(history, monitored, loss, start, threads)
        if is_monitored or loss.own is not None:
            names = list(monitored)
            found, ended = self._run_rounds(boosting, data, loss, start.rounds, history, names, checkpoint, grown)
            best_trials = found or best_trials
        else:
            boosting.rounds(self.n_estimators - start.rounds)
        self._keep(grown(), start, history)
        self.feature_means_, self._seed, self._loss = table.mean, seed, loss
        # A warm start after an early stop continues from the best round, as if later ones had never been.
        self._trials = best_trials if self.early_stopping and best_trials is not None else Trials.of(boosting)
        if not self.warm_start:  # they will not be needed, and are as long as the table
            self._trials = self._trials._replace(left_out=np.empty((0, loss.n_outputs)))
        return ended

    def _start(self, data: Data, loss: RawLoss, checkpoint: Checkpoint | None) -> Start:
        """Where this fit starts."""
        continues = self._continues()
        if continues and self._loss.core != loss.core:
            raise ValueError("warm_start=True needs the same loss and kind of target as the earlier fit.")
        per_round = 1 if self._has_vector_leaves(loss) else loss.n_outputs
        if continues:
            start = Start(self.base_score_, self.forest_, self._trials, trees_per_round=per_round)
            if self.forest_.trees_per_round != per_round:
                raise ValueError("warm_start=True needs the same multi_strategy as the earlier fit.")
        elif self.base_score is None:
            start = Start(loss.start(data.target, data.weight), trees_per_round=per_round)
        else:
            start = Start(np.full(loss.n_outputs, float(self.base_score)), trees_per_round=per_round)
        if checkpoint is not None and (found := checkpoint.read()) is not None:
            start.before = found.forest.head(min(found.forest.n_trees, self.n_estimators * per_round))
            start.history = {name: values[: self.n_estimators] for name, values in found.history.items()}
            start.trials = found.trials
        if continues and self.n_estimators < start.rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {start.rounds} rounds that are there already "
                "when warm_start=True."
            )
        return start

    def _has_vector_leaves(self, loss: RawLoss) -> bool:
        return loss.n_outputs > 1 and getattr(self, "multi_strategy", None) == "multi_output_tree"

    def _make_booster(
        self, table: _core.Table, data: Data, loss: RawLoss, start: Start, seed: int, threads: int
    ) -> _core.Boosting:
        options = _core.BoostOptions()
        options.grow = self._options(len(data.rows), loss)
        options.loss, options.alpha, options.seed = loss.core, loss.alpha, seed
        options.learning_rate, options.reg_lambda = self.learning_rate, self.reg_lambda
        options.subsample, options.colsample = self.subsample, self.colsample
        options.max_rows_per_tree = self.max_rows_per_tree or 2**62
        options.find_smoothing = self.smoothing == "auto"
        options.find_depth = self.max_depth == "auto" and not options.grow.monotone
        options.vector_leaves = self._has_vector_leaves(loss)
        n_before = 0 if start.before is None else start.before.n_trees
        scores = start.scores_of(data.rows, threads)
        boosting = _core.Boosting(table, data.target, data.weight, scores, n_before, options, threads)
        if loss.own is None:
            boosting.begin_at(start.base)
        else:
            score = np.tile(start.base, (len(data.rows), 1))
            boosting.begin_with(loss.derivatives(data.target, score)[1] * data.weight[:, None])
        if start.before is not None:
            start.before.teach(boosting)
        if start.trials is not None:
            boosting.set_trial_losses(start.trials.losses)
            if len(start.trials.left_out) == len(data.rows):  # a warm start may bring others
                boosting.set_left_out(start.trials.left_out)
        return boosting

    def _complete_history(
        self, history: History, monitored: Mapping[str, Data], loss: RawLoss, start: Start, threads: int
    ) -> None:
        """After a warm start: the losses of the rounds that are there already."""
        for name, seen in monitored.items():
            if start.before is not None and len(history[name]) != start.rounds:
                stages = start.before.stages(seen.rows, start.base, threads)
                history[name] = [loss.mean(seen.target, seen.weight, score) for score in stages]

    def _keep(self, forest: Forest, start: Start, history: History) -> None:
        self.n_iter_ = forest.n_trees // start.trees_per_round
        self.best_iteration_ = int(np.argmin(history["validation"])) + 1 if history["validation"] else None
        if self.early_stopping and self.best_iteration_ is not None:
            forest, self.n_iter_ = forest.head(self.best_iteration_ * start.trees_per_round), self.best_iteration_
        self.evals_result_ = {name: values for name, values in history.items() if values}
        self.forest_, self.base_score_ = forest, start.base

    def _run_rounds(
        self,
        boosting: _core.Boosting,
        data: Data,
        loss: RawLoss,
        rounds_before: int,
        history: History,
        monitored: Sequence[str],
        checkpoint: Checkpoint | None,
        grown: Callable[[], Forest],
    ) -> tuple[Trials | None, bool]:
        """Round by round, if losses are monitored or the loss is custom; rounds are counted from the model's first.

        Returns what a warm start needs of the best round, if that is one of these, and whether a callback ended it.
        """
        weight = data.weight[:, None]
        best = None
        with Progress(self.n_estimators, "boosting", first=rounds_before, shown=self.verbose > 0) as bar:
            for number in range(rounds_before + 1, self.n_estimators + 1):
                if self._is_past_best(history["validation"]):
                    break
                if loss.own is None:
                    boosting.rounds(1)
                else:
                    gradient, hessian = loss.derivatives(data.target, boosting.score())
                    boosting.round_with(gradient * weight, hessian * weight)
                now = {name: boosting.loss() if name == "train" else boosting.watched_loss() for name in monitored}
                for name, value in now.items():
                    history[name].append(value)
                losses = history["validation"]
                if self.warm_start and losses and losses[-1] < min(losses[:-1], default=inf):
                    best = Trials.of(boosting)
                bar.step("  ".join(f"{name} {value:.5g}" for name, value in now.items()))
                if checkpoint is not None and number % self.checkpoint_every == 0:
                    checkpoint.write(grown(), history, Trials.of(boosting))
                # All callbacks hear of the round, even when an earlier one asks to stop.
                if any([callback(number, now) for callback in self.callbacks or ()]):
                    return best, True
        return best, False

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
        options.monotone = self._signs(loss)
        if options.monotone:  # one plane per node, and as many planes on a path as without constraints
            options.max_depth = min(options.max_depth * options.max_planes, ENDLESS)
            options.max_planes = 1
        return options

    def _signs(self, loss: RawLoss) -> list[int]:
        """`monotonic_cst` by column: 1, -1 or 0; an empty list if nothing is constrained."""
        given, n = self.monotonic_cst, self.n_features_in_
        if isinstance(given, Mapping):
            names = list(getattr(self, "feature_names_in_", range(n)))
            if unknown := [name for name in given if name not in names]:
                raise ValueError(f"monotonic_cst names {unknown[0]!r}, which is not a column of the data frame in fit.")
            given = [given.get(name, 0) for name in names]
        signs = [] if given is None else np.asarray(given).tolist()
        if given is not None and (not isinstance(signs, list) or len(signs) != n):
            raise ValueError(f"monotonic_cst must have one entry for each of the {n} columns, or be a dict by name.")
        for column, sign in enumerate(signs):
            if isinstance(sign, bool) or sign not in (-1, 0, 1):
                raise ValueError(f"monotonic_cst must hold 1, -1 or 0; column {column} has {sign!r}.")
            if sign != 0 and column in self.categories_:
                raise ValueError(f"monotonic_cst constrains column {column}, which is categorical and has no order.")
        if not any(signs):
            return []
        if loss.n_outputs > 1:
            raise ValueError("monotonic_cst needs a regressor or two classes: with more, no score alone decides.")
        return [*(int(sign) for sign in signs), *(0 for _ in statistic_places(self.target_statistics_))]

    def _open_checkpoint(self, *arrays: NDArray[Any]) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if not isinstance(self.random_state, (int, np.integer)):
            raise ValueError("checkpoint= needs an integer as random_state: a resumed fit must draw the same again.")
        silent = {"n_estimators", "verbose", "n_jobs", "checkpoint", "checkpoint_every", "callbacks", "warm_start"}
        silent.add("class_weight")  # is in the weights, and its keys need not be anything JSON knows
        params = {name: value for name, value in self.get_params().items() if name not in silent}
        return Checkpoint(self.checkpoint, fingerprint(params | {"categories": category_counts(self)}, *arrays))

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

    def _raw(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.forest_.predict(tree_rows(self, X), self.base_score_, n_threads=thread_count(self.n_jobs))

    def predict_contributions(self, X: Any) -> NDArray[np.float64]:
        """What each feature added to the raw score of each row.

        Every step down a tree changes the score; the change is shared among the terms of the node's planes by how far
        they are from the training mean (a missing value or a category counts as one standard deviation).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        contributions : array of shape (n_samples, n_features + 1), or (n_samples, n_classes, n_features + 1)
            The last entry is the mean score of the training rows; a row's entries add up to its raw score: the
            ``decision_function`` of a classifier, the prediction of a regressor (its logarithm for "poisson").
        """
        check_is_fitted(self)
        rows = tree_rows(self, X)
        found = self.forest_.contributions(rows, self.feature_means_, thread_count(self.n_jobs))
        columns = added_to_sources(found[:, :, :-1], self.n_features_in_, self.target_statistics_)
        out = np.concatenate([columns, found[:, :, -1:] + self.base_score_[:, None]], axis=2)
        return out[:, 0] if out.shape[1] == 1 else out

    def _staged_raw(self, X: Any) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self)
        yield from self.forest_.stages(tree_rows(self, X), self.base_score_, thread_count(self.n_jobs))
