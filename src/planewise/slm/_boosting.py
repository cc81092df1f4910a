"""The rounds of boosting: what its classifier and its regressor share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._input import (
    category_counts,
    prediction_rows,
    thread_count,
    training_rows,
    training_rows_again,
)
from planewise._params import Limit, boolean, either, integer, one_of, real
from planewise._progress import Progress
from planewise._shown import ShownInNotebooks
from planewise.slm._boost_checkpoint import Checkpoint, Trials, fingerprint
from planewise.slm._explain import ExplainsByContributions
from planewise.slm._flat_forest import FlatForest, ForestImportances
from planewise.slm._growth import ENDLESS, GROWTH_LIMITS, growth_options
from planewise.slm._objectives import LossLike, RawLoss

Callback = Callable[[int, dict[str, float]], Any]

BOOST_LIMITS = GROWTH_LIMITS | {
    "n_estimators": integer(1),
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
    "early_stopping": boolean(),
    "validation_fraction": real(0, 0.9, open_low=True),
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


class Data(NamedTuple):
    """Rows with their targets and weights."""

    rows: NDArray[np.float32]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]

    def part(self, which: NDArray[np.intp]) -> Data:
        return Data(self.rows[which], self.target[which], self.weight[which])


class Boosting(ExplainsByContributions, ShownInNotebooks, ForestImportances, BaseEstimator):
    """What the classifier and the regressor share."""

    forest_: FlatForest
    base_score_: NDArray[np.float64]
    n_features_in_: int
    _seed: int
    _loss: RawLoss
    _trials: Trials

    def __init__(
        self,
        *,
        loss: LossLike = "auto",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 10,
        min_child_weight: float = 1e-3,
        min_split_gain: float = 0.0,
        noise_margin: float = 0.1,
        reg_lambda: float = 1.0,
        smoothing: float | str = "auto",
        subsample: float = 1.0,
        colsample: float = 1.0,
        max_planes: int = 2,
        plane_choice: str = "joint",
        max_cosine: float = 0.7,
        min_relative_gain: float = 0.0,
        n_projections: int = 16,
        subspace: str = "candidate",
        subspace_size: int | list[int] = 3,
        max_coef: int = 5,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | str | None = "auto",
        max_rows_per_tree: int | None = 65536,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        base_score: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        callbacks: Sequence[Callback] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: int = 10,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.min_split_gain = min_split_gain
        self.noise_margin = noise_margin
        self.reg_lambda = reg_lambda
        self.smoothing = smoothing
        self.subsample = subsample
        self.colsample = colsample
        self.max_planes = max_planes
        self.plane_choice = plane_choice
        self.max_cosine = max_cosine
        self.min_relative_gain = min_relative_gain
        self.n_projections = n_projections
        self.subspace = subspace
        self.subspace_size = subspace_size
        self.max_coef = max_coef
        self.coef_decay = coef_decay
        self.rank_decay = rank_decay
        self.n_bins = n_bins
        self.bins = bins
        self.refine_thresholds = refine_thresholds
        self.max_rows_per_node = max_rows_per_node
        self.max_rows_per_tree = max_rows_per_tree
        self.max_ranked_features = max_ranked_features
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.base_score = base_score
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _goes_on(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "forest_")

    def _rows(self, X: Any) -> NDArray[np.float32]:
        """The training rows: those of the earlier fit when going on from it."""
        return training_rows_again(self, X) if self._goes_on() else training_rows(self, X)

    def _learn(
        self,
        data: Data,
        loss: RawLoss,
        X_val: Any,
        y_val: Any,
        read_target: Callable[[Any, NDArray[np.float32]], NDArray[np.float64]],
        stratified: bool,
    ) -> None:
        """Boost on these rows, and watch others: given ones, or a share of the rows when stopping early."""
        self._check_watched(X_val, y_val)
        # A warm start keeps its seed, and so sets the same rows aside: others would have been learned from already.
        seed = self._seed if self._goes_on() else int(check_random_state(self.random_state).randint(2**31 - 1))
        watched = None
        if X_val is not None:
            theirs = prediction_rows(self, X_val)
            watched = Data(theirs, read_target(y_val, theirs), np.ones(len(theirs)))
        elif self.early_stopping:
            learn, watch = train_test_split(
                np.arange(len(data.target)),
                test_size=self.validation_fraction,
                random_state=seed,
                stratify=data.target if stratified else None,
            )
            data, watched = data.part(np.sort(learn)), data.part(np.sort(watch))
        self._boost(data, loss, seed, watched)

    def _check_watched(self, X_val: Any, y_val: Any) -> None:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: give both or neither.")
        if callable(self.loss) and (self.early_stopping or X_val is not None):
            raise ValueError(
                "early_stopping=True, X_val and y_val need a built-in loss: one of your own has no value to watch."
            )

    def _boost(self, data: Data, loss: RawLoss, seed: int, watched: Data | None) -> None:
        """Grow the rounds that are missing, then make them this estimator's; nothing changes before the end."""
        rows, target, weight = data
        threads = thread_count(self.n_jobs)
        going_on = self._goes_on()
        if going_on and self._loss.core != loss.core:
            raise ValueError("warm_start=True goes on with the loss and the kind of target of the earlier fit.")
        trials = None
        if going_on:
            base, before, trials = self.base_score_, self.forest_, self._trials
        else:
            start = loss.start(target, weight)
            base = start if self.base_score is None else np.full(loss.n_outputs, float(self.base_score))
            before = None
        vector_leaves = loss.n_outputs > 1 and getattr(self, "multi_strategy", None) == "multi_output_tree"
        a_round = 1 if vector_leaves else loss.n_outputs
        if before is not None and before.trees_per_round != a_round:
            raise ValueError("warm_start=True goes on with the multi_strategy of the earlier fit.")
        history: dict[str, list[float]] = {"train": [], "validation": []}
        checkpoint = self._open_checkpoint(rows, target, weight, *(watched or ()))
        if checkpoint is not None and (found := checkpoint.read()) is not None:
            before = found.forest.head(min(found.forest.n_trees, self.n_estimators * a_round))
            history = {name: values[: self.n_estimators] for name, values in found.history.items()}
            trials = found.trials
        rounds_before = before.n_trees // a_round if before is not None else 0
        if going_on and self.n_estimators < rounds_before:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {rounds_before} rounds that are there already "
                "when warm_start=True."
            )

        def scores_of(these: NDArray[np.float32]) -> NDArray[np.float64]:
            if before is None:
                return np.tile(base, (len(these), 1))
            return before.sum(these, base, n_threads=threads)

        table = _core.Table(rows, weight, threads, category_counts(self))
        boosting = _core.Boosting(
            table,
            target,
            weight,
            scores_of(rows),
            0 if before is None else before.n_trees,
            loss.core,
            loss.alpha,
            self.learning_rate,
            self.reg_lambda,
            self.subsample,
            self.colsample,
            self.max_rows_per_tree or 2**62,
            seed,
            self.smoothing == "auto",
            vector_leaves,
            self._options(len(rows), loss),
            threads,
        )
        if loss.own is None:
            boosting.begin_at(base)
        else:
            boosting.begin_with(loss.derivatives(target, np.tile(base, (len(rows), 1)))[1] * weight[:, None])
        if before is not None:
            for output in range(a_round):
                boosting.recall(output, *before.recent_directions(output, _core.MOST_KNOWN))
        if trials is not None:
            boosting.set_smoothing_losses(trials.losses)
            if len(trials.left_out) == len(rows):  # a warm start may bring others
                boosting.set_left_out(trials.left_out)
        if watched is not None:
            their_table = _core.Table(watched.rows, watched.weight, threads)
            boosting.watch(their_table, watched.target, watched.weight, scores_of(watched.rows))
        monitored = {} if loss.own is not None else {"train": data}
        if watched is not None:
            monitored["validation"] = watched
        looked_at = bool(watched or self.verbose or self.callbacks or checkpoint)
        for name, seen in monitored.items():
            if looked_at and before is not None and len(history[name]) != rounds_before:  # a warm start
                stages = before.stages(seen.rows, base, threads)
                history[name] = [loss.mean(seen.target, seen.weight, score) for score in stages]

        def grown() -> FlatForest:
            new = FlatForest.from_core(boosting.forest(), loss.n_outputs)
            return new if before is None else before.followed_by(new)

        best_trials = trials
        if looked_at or loss.own is not None:
            watch = list(monitored)
            found_at_best = self._run_rounds(boosting, data, loss, rounds_before, history, watch, checkpoint, grown)
            best_trials = found_at_best or trials
        else:
            boosting.rounds(self.n_estimators - rounds_before)
        forest = grown()
        self.n_iter_ = forest.n_trees // a_round
        self.best_iteration_ = int(np.argmin(history["validation"])) + 1 if history["validation"] else None
        if self.early_stopping and self.best_iteration_ is not None:
            forest, self.n_iter_ = forest.head(self.best_iteration_ * a_round), self.best_iteration_
        self.feature_means_ = table.mean
        self.evals_result_ = {name: values for name, values in history.items() if values}
        self.forest_, self.base_score_, self._seed, self._loss = forest, base, seed, loss
        # A warm start after an early stop goes on from the best round, as if later ones had never been.
        self._trials = best_trials if self.early_stopping and best_trials is not None else Trials.of(boosting)
        if not self.warm_start:  # nobody will need them, and they are as long as the table
            self._trials = self._trials._replace(left_out=np.empty((0, loss.n_outputs)))

    def _run_rounds(
        self,
        boosting: _core.Boosting,
        data: Data,
        loss: RawLoss,
        rounds_before: int,
        history: dict[str, list[float]],
        monitored: Sequence[str],
        checkpoint: Checkpoint | None,
        grown: Callable[[], FlatForest],
    ) -> Trials | None:
        """Round by round, where somebody looks on or brings a loss; rounds are counted from one, and from the first.

        Returns what a warm start needs of the best round, if that is one of these.
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
                    break
        return best

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
        options.monotone = self._signs(loss)
        if options.monotone:  # one plane a node, and as many planes on a path as without constraints
            options.max_depth = min(options.max_depth * options.max_planes, ENDLESS)
            options.max_planes = 1
        return options

    def _signs(self, loss: RawLoss) -> list[int]:
        """`monotonic_cst` by column: 1, -1 or 0; an empty list if nothing is constrained."""
        given, n = self.monotonic_cst, self.n_features_in_
        if isinstance(given, Mapping):
            names = list(getattr(self, "feature_names_in_", range(n)))
            if unknown := [name for name in given if name not in names]:
                raise ValueError(f"monotonic_cst names {unknown[0]!r}, which is no column of the data frame in fit.")
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
        return [int(sign) for sign in signs]

    def _open_checkpoint(self, *arrays: NDArray[Any]) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if not isinstance(self.random_state, (int, np.integer)):
            raise ValueError(
                "checkpoint= needs a whole number as random_state: a resumed fit must draw the same again."
            )
        silent = {"n_estimators", "verbose", "n_jobs", "checkpoint", "checkpoint_every", "callbacks", "warm_start"}
        silent.add("class_weight")  # is in the weights, and its keys need not be anything JSON knows
        params = {name: value for name, value in self.get_params().items() if name not in silent}
        return Checkpoint(self.checkpoint, fingerprint(params | {"categories": category_counts(self)}, *arrays))

    def _raw(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.forest_.sum(prediction_rows(self, X), self.base_score_, n_threads=thread_count(self.n_jobs))

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
        rows = prediction_rows(self, X)
        out = self.forest_.contributions(rows, self.feature_means_, thread_count(self.n_jobs))
        out[:, :, -1] += self.base_score_
        return out[:, 0] if out.shape[1] == 1 else out

    def _staged_raw(self, X: Any) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self)
        yield from self.forest_.stages(prediction_rows(self, X), self.base_score_, thread_count(self.n_jobs))
