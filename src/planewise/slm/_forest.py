"""Forests of trees of hyperplanes, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._input import (
    all_or_nothing,
    category_counts,
    counted_classes,
    prediction_rows,
    real_targets,
    row_weights,
    thread_count,
    training_rows,
    training_rows_again,
    without_zero_weights,
)
from planewise._params import (
    Limit,
    NamesItself,
    boolean,
    check_parameters,
    class_weights,
    either,
    integer,
    one_of,
    real,
)
from planewise._progress import Progress
from planewise._shown import ShownInNotebooks
from planewise.slm._documentation import document_growth
from planewise.slm._explain import ExplainsByContributions
from planewise.slm._flat_forest import FlatForest, ForestImportances
from planewise.slm._flat_tree import smoothed
from planewise.slm._growth import most_terms, tree_options
from planewise.slm._tree import TREE_LIMITS

FOREST_LIMITS = TREE_LIMITS | {
    "n_estimators": integer(1),
    "rows_per_projection": integer(0, 1_000_000),
    "bootstrap": boolean(),
    "max_samples": either(integer(1, none=True), real(0, 1, open_low=True)),
    "oob_score": Limit(
        lambda value: boolean().allows(value) or callable(value),
        "True or False, or a function (y_true, y_pred) -> score",
    ),
    "warm_start": boolean(),
    "verbose": integer(0),
}
CLASSIFIER_LIMITS = FOREST_LIMITS | {
    "criterion": one_of("entropy", "gini"),
    "voting": one_of("soft", "hard"),
    "class_weight": class_weights("balanced", "balanced_subsample"),
}

# Grows trees first .. last-1 on their draws of the rows.
Grow = Callable[[int, int], dict[str, Any]]


class _SLMForest(NamesItself, ExplainsByContributions, ShownInNotebooks, ForestImportances, BaseEstimator):
    """What the classifier and the regressor share."""

    _seed: int
    _drawn: tuple[int, int]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 2,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_loss: float = 0.0,
        noise_margin: float = 0.0,
        smoothing: float = 0.0,
        max_planes: int = 1,
        plane_choice: str = "joint",
        max_cosine: float = 0.7,
        min_relative_gain: float = 0.5,
        n_projections: int = 50,
        rows_per_projection: int = 2,
        subspace: str = "candidate",
        subspace_size: int | list[int] = 4,
        max_coef: int = 5,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 256,
        max_ranked_features: int | None = 512,
        categorical_features: Any = "from_dtype",
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.min_loss = min_loss
        self.noise_margin = noise_margin
        self.smoothing = smoothing
        self.max_planes = max_planes
        self.plane_choice = plane_choice
        self.max_cosine = max_cosine
        self.min_relative_gain = min_relative_gain
        self.n_projections = n_projections
        self.rows_per_projection = rows_per_projection
        self.subspace = subspace
        self.subspace_size = subspace_size
        self.max_coef = max_coef
        self.coef_decay = coef_decay
        self.rank_decay = rank_decay
        self.n_bins = n_bins
        self.bins = bins
        self.refine_thresholds = refine_thresholds
        self.max_rows_per_node = max_rows_per_node
        self.max_ranked_features = max_ranked_features
        self.categorical_features = categorical_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
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
        """The training rows, after a look at the parameters that must agree with each other."""
        if not self.bootstrap and self.oob_score:
            raise ValueError("oob_score needs bootstrap=True: without it every tree has seen every row.")
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError("max_samples needs bootstrap=True: without it every tree gets all rows.")
        going_on = self._goes_on()
        rows = training_rows_again(self, X) if going_on else training_rows(self, X)
        if going_on and self.n_estimators < self.forest_.n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {self.forest_.n_trees} trees that are there "
                "already when warm_start=True."
            )
        return rows

    def _draws(self, n_rows: int) -> int:
        """Rows drawn for each tree; 0 means that each gets all rows as they are."""
        if not self.bootstrap:
            return 0
        if self.max_samples is None:
            return n_rows
        if not isinstance(self.max_samples, Integral):
            return max(1, round(n_rows * float(self.max_samples)))
        if self.max_samples > n_rows:
            raise ValueError(
                f"max_samples={self.max_samples} must be at most {n_rows}, the number of rows of any weight."
            )
        return int(self.max_samples)

    def _options(self) -> _core.GrowOptions:
        options = tree_options(self, seed=0)
        options.rows_per_projection = self.rows_per_projection
        return options

    def _next_seed(self) -> int:
        """The seed of the trees; that of the earlier fit when going on from it."""
        return self._seed if self._goes_on() else int(check_random_state(self.random_state).randint(2**31 - 1))

    def _grow(self, grow: Grow, seed: int, drawn: tuple[int, int], at_once: int, n_columns: int) -> None:
        """Grow the trees that are missing, `at_once` at a time, and keep the last `n_columns` of their values.

        `drawn` is how many rows there are and how many each tree draws: what out-of-bag rows are found again by.
        """
        if self._goes_on() and self.oob_score and self._drawn != drawn:
            raise ValueError(
                "oob_score with warm_start=True needs the same rows, bootstrap and max_samples as the earlier fit."
            )
        parts = [self.forest_] if self._goes_on() else []
        first = parts[0].n_trees if parts else 0
        with Progress(self.n_estimators - first, "forest", shown=self.verbose > 0) as bar:
            for begin in range(first, self.n_estimators, at_once):
                end = min(begin + at_once, self.n_estimators)
                parts.append(self._flat(grow(begin, end), n_columns))
                for _ in range(begin, end):
                    bar.step()
        self.forest_, self._seed, self._drawn = FlatForest.joined(parts), seed, drawn
        for stale in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
            self.__dict__.pop(stale, None)
        self.n_planes_ = self.forest_.n_planes
        self.n_parameters_ = self.n_planes_ * (most_terms(self) + 1)

    def _at_once(self, threads: int) -> int:
        """All trees in one call; where somebody looks on, as many as there are threads."""
        return threads if self.verbose else self.n_estimators

    def _flat(self, grown: dict[str, Any], n_columns: int) -> FlatForest:
        """The core's trees, their values smoothed as those of a single tree are."""
        value = grown["value"]
        if self.smoothing > 0:
            root = np.repeat(grown["node_start"][:-1], np.diff(grown["node_start"]))
            weight, n_samples = grown["weight"], grown["n_samples"]
            prior = self.smoothing * np.minimum(1.0, weight[root] / n_samples[root])
            value = smoothed(value, weight, grown["parent"] + root, grown["depth"], prior)
        value = np.ascontiguousarray(value[:, -n_columns:])
        return FlatForest.from_core(grown | {"value": value}, n_columns)

    def _out_of_bag(self, n_rows: int, draws: int) -> Any:
        """For each tree, the rows it has not seen."""
        for tree in range(self.forest_.n_trees):
            yield tree, np.flatnonzero(_core.bootstrap(n_rows, draws, self._seed, tree) == 0)

    def _check_oob(self, seen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows some tree has not seen; a warning when there are others."""
        judged = seen > 0
        if not judged.all():
            warn(
                f"{np.count_nonzero(~judged)} rows were drawn for every tree and have no out-of-bag prediction: "
                "they are NaN and do not count in oob_score_. More trees would help.",
                stacklevel=5,
            )
        return judged

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The node in which each row ends, in every tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        nodes : int32 array of shape (n_samples, n_estimators)
            Numbers of nodes, counted from each tree's own root.
        """
        check_is_fitted(self)
        return self.forest_.apply(prediction_rows(self, X), thread_count(self.n_jobs))

    def predict_contributions(self, X: Any) -> NDArray[np.float64]:
        """What each feature added to each row's prediction.

        Every step down a tree changes the value; the change is shared among the terms of the node's planes by how far
        they are from the training mean (a missing value or a category counts as one standard deviation).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        contributions : array of shape (n_samples, n_features + 1), or (n_samples, n_classes, n_features + 1)
            The last entry is the mean over the training rows; a row's entries add up to its prediction: the number, the
            probability of the second of two classes, or of each class (the trees' mean, whatever `voting` is).
        """
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        out = self.forest_.contributions(rows, self.feature_means_, thread_count(self.n_jobs)) / self.forest_.n_trees
        out[:, :, -1] += self._start()
        return out[:, 0] if out.shape[1] == 1 else out

    def _start(self) -> float:
        """What the trees' values are counted from."""
        return 0.0

    @property
    def n_stored_numbers_(self) -> int:
        """Non-zero weights, thresholds and leaf values: an honest count of what the model holds."""
        check_is_fitted(self)
        return self.forest_.stored_numbers()

    @property
    def n_bytes_(self) -> int:
        """Bytes of the arrays that prediction needs."""
        check_is_fitted(self)
        return self.forest_.nbytes()


@document_growth
class SLMForestClassifier(ClassifierMixin, _SLMForest):
    """A forest of classification trees whose nodes split by oblique planes.

    Every tree is an `SLMClassifier` with its own draw of candidates (with `bootstrap`, of rows as well), and they vote.
    The trees are not pruned: what one has learnt by chance the others do not confirm. One plane a node served many
    trees better than several, which are there by `max_planes`.

    Parameters
    ----------
    n_estimators : int, default=<n_estimators>
        Trees.
    criterion : {"entropy", "gini"}, default=<criterion>
        Loss of a node.
    {growth_parameters}
    {tree_parameters}
    {forest_parameters}
    voting : {"soft", "hard"}, default=<voting>
        "soft": probabilities are the mean of the trees'. "hard" (published): each tree votes for one class, ties go to
        the class with the larger mean; probabilities are proportional to votes / T + mean / (2 T), T being the number
        of trees, so that the largest belongs to the winner.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=<class_weight>
        Weights of the classes, multiplied into the sample weights; zero leaves a class out. "balanced_subsample"
        balances every tree's own draw, and grows one tree after another on one thread; without `bootstrap` it is
        the same as "balanced".
    {forest_closing_parameters}
    {closing_parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    {forest_attributes}
    oob_decision_function_ : array of shape (n_samples, n_classes)
        What the trees that have not seen a row say about it, if `oob_score`; NaN if there are none.

    See Also
    --------
    SLMForestRegressor : The same for numbers.
    SLMClassifier : One tree.

    Notes
    -----
    The published forest: ``n_estimators=20, bootstrap=False, voting="hard", max_planes=2, plane_choice="cosine",
    subspace="node", refine_thresholds=False, noise_margin=0, smoothing=0, min_samples_leaf=1, max_rows_per_node=None,
    rows_per_projection=0``, with lists for `subspace_size`, `coef_decay` and `rank_decay`.

    References
    ----------
    .. [1] H. Fu, Y. Yang, V. K. Mishra, C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and
       Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import SLMForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = SLMForestClassifier(bootstrap=True, oob_score=True, random_state=0).fit(X[::2], y[::2])
    >>> forest.score(X[1::2], y[1::2]) > 0.94
    True
    >>> forest.oob_score_ > 0.94
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASSIFIER_LIMITS
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        criterion: str = "entropy",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 3,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_loss: float = 0.0,
        noise_margin: float = 0.0,
        smoothing: float = 0.0,
        max_planes: int = 1,
        plane_choice: str = "joint",
        max_cosine: float = 0.7,
        min_relative_gain: float = 0.5,
        n_projections: int = 50,
        rows_per_projection: int = 2,
        subspace: str = "candidate",
        subspace_size: int | list[int] = 6,
        max_coef: int = 5,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 256,
        max_ranked_features: int | None = 512,
        categorical_features: Any = "from_dtype",
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        voting: str = "soft",
        class_weight: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            min_loss=min_loss,
            noise_margin=noise_margin,
            smoothing=smoothing,
            max_planes=max_planes,
            plane_choice=plane_choice,
            max_cosine=max_cosine,
            min_relative_gain=min_relative_gain,
            n_projections=n_projections,
            rows_per_projection=rows_per_projection,
            subspace=subspace,
            subspace_size=subspace_size,
            max_coef=max_coef,
            coef_decay=coef_decay,
            rank_decay=rank_decay,
            n_bins=n_bins,
            bins=bins,
            refine_thresholds=refine_thresholds,
            max_rows_per_node=max_rows_per_node,
            max_ranked_features=max_ranked_features,
            categorical_features=categorical_features,
            bootstrap=bootstrap,
            max_samples=max_samples,
            oob_score=oob_score,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.criterion = criterion
        self.voting = voting
        self.class_weight = class_weight

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. Without `bootstrap` a whole number weighs as much as that many equal rows
            (but `min_samples_leaf` counts rows); with it every row is equally likely to be drawn, and its weight counts
            as often as it was.

        Returns
        -------
        self
        """
        check_parameters(self)
        threads = thread_count(self.n_jobs)
        rows = self._rows(X)
        each_its_own = self.class_weight == "balanced_subsample" and self.bootstrap
        by_class = "balanced" if self.class_weight == "balanced_subsample" else self.class_weight
        classes, label, weight = counted_classes(self, y, rows, sample_weight, None if each_its_own else by_class)
        if self._goes_on() and not np.array_equal(classes, self.classes_):
            raise ValueError("y has other classes than the earlier fit that warm_start=True goes on from.")
        counts = weight > 0
        rows, label, weight = without_zero_weights(rows, label, weight)
        draws, seed, options = self._draws(len(rows)), self._next_seed(), self._options()
        table = _core.Table(rows, weight, threads, category_counts(self))
        self.feature_means_ = table.mean
        gini = self.criterion == "gini"

        def grow(first: int, last: int) -> dict[str, Any]:
            own = weight
            if each_its_own:
                times = _core.bootstrap(len(rows), draws, seed, first)
                own = weight * _balanced(label, times, len(classes))
            return _core.grow_class_trees(
                table, label, own, len(classes), gini, options, draws, seed, first, last, threads
            )

        self.classes_ = classes
        # Of two classes the second one's probability says all.
        n_columns = 1 if len(classes) == 2 else len(classes)
        self._grow(grow, seed, (len(rows), draws), 1 if each_its_own else self._at_once(threads), n_columns)
        if self.oob_score:
            self._judge_out_of_bag(rows, label, draws, counts)
        return self

    def _judge_out_of_bag(
        self, rows: NDArray[np.float32], label: NDArray[np.int32], draws: int, counts: NDArray[np.bool_]
    ) -> None:
        n_classes = len(self.classes_)
        seen = np.zeros(len(rows), dtype=np.int64)
        mean, votes = np.zeros((len(rows), n_classes)), np.zeros((len(rows), n_classes))
        nothing = np.zeros(self.forest_.n_outputs)
        for tree, out in self._out_of_bag(len(rows), draws):
            probability = self._spread(self.forest_.sum(rows[out], nothing, tree, tree + 1, thread_count(self.n_jobs)))
            mean[out] += probability
            votes[out, probability.argmax(axis=1)] += 1
            seen[out] += 1
        judged = self._check_oob(seen)
        with np.errstate(invalid="ignore"):
            mean /= seen[:, None]
            answer = mean
            if self.voting == "hard":
                answer = (votes + mean / 2) / (seen[:, None] + 0.5)
        self.oob_decision_function_ = np.full((len(counts), n_classes), np.nan)
        self.oob_decision_function_[counts] = answer
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_score_ = (
            float(score(self.classes_[label[judged]], self.classes_[answer[judged].argmax(axis=1)]))
            if judged.any()
            else np.nan
        )

    def _spread(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """One column a class from the stored ones, which add up to one but for float32's rounding."""
        if len(self.classes_) == 2:
            return np.hstack([1 - given, given])
        return given / given.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``."""
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        forest = self.forest_ if self.voting == "soft" else self.forest_.as_votes()
        total = forest.sum(rows, np.zeros(forest.n_outputs), n_threads=thread_count(self.n_jobs))
        return self._spread(total / forest.n_trees)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]


@document_growth
class SLMForestRegressor(RegressorMixin, _SLMForest):
    """A forest of regression trees whose nodes split by oblique planes.

    Every tree is an `SLMRegressor` with its own draw of candidates (with `bootstrap`, of rows as well); predictions are
    the mean of the trees'. One plane a node served many trees better than several, which are there by `max_planes`.

    Parameters
    ----------
    n_estimators : int, default=<n_estimators>
        Trees.
    {growth_parameters}
    {tree_parameters}
    {forest_parameters}
    {forest_closing_parameters}
    {closing_parameters}

    Attributes
    ----------
    {forest_attributes}
    oob_prediction_ : array of shape (n_samples,)
        What the trees that have not seen a row say about it, if `oob_score`; NaN if there are none.

    See Also
    --------
    SLMForestClassifier : The same for classes.
    SLMRegressor : One tree.

    Notes
    -----
    The published forest: ``n_estimators=20, bootstrap=False, max_planes=2, plane_choice="cosine", subspace="node",
    refine_thresholds=False, noise_margin=0, smoothing=0, min_samples_leaf=1, max_rows_per_node=None,
    rows_per_projection=0``, with lists for `subspace_size`, `coef_decay` and `rank_decay`.

    Examples
    --------
    >>> from planewise import SLMForestRegressor
    >>> from planewise.datasets import make_friedman
    >>> X, y = make_friedman(1, random_state=0)
    >>> forest = SLMForestRegressor(random_state=0).fit(X[:600], y[:600])
    >>> forest.score(X[600:], y[600:]) > 0.8
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = FOREST_LIMITS
    _centre: float

    def _start(self) -> float:
        return self._centre

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. Without `bootstrap` a whole number weighs as much as that many equal rows
            (but `min_samples_leaf` counts rows); with it every row is equally likely to be drawn, and its weight counts
            as often as it was.

        Returns
        -------
        self
        """
        check_parameters(self)
        threads = thread_count(self.n_jobs)
        rows = self._rows(X)
        target = real_targets(self, y, rows)
        weight = row_weights(sample_weight, rows)
        counts = weight > 0
        rows, target, weight = without_zero_weights(rows, target, weight)
        draws, seed, options = self._draws(len(rows)), self._next_seed(), self._options()
        table = _core.Table(rows, weight, threads, category_counts(self))
        self.feature_means_ = table.mean
        # Trees hold what they add to this, so that float32 is enough for targets far from zero.
        centre = self._centre if self._goes_on() else float(np.average(target, weights=weight))
        apart = target - centre

        def grow(first: int, last: int) -> dict[str, Any]:
            return _core.grow_number_trees(table, apart, weight, options, draws, seed, first, last, threads)

        self._grow(grow, seed, (len(rows), draws), self._at_once(threads), 1)
        self._centre = centre
        if self.oob_score:
            self._judge_out_of_bag(rows, target, draws, counts)
        return self

    def _judge_out_of_bag(
        self, rows: NDArray[np.float32], target: NDArray[np.float64], draws: int, counts: NDArray[np.bool_]
    ) -> None:
        seen, total = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows))
        nothing = np.zeros(1)
        for tree, out in self._out_of_bag(len(rows), draws):
            total[out] += self.forest_.sum(rows[out], nothing, tree, tree + 1, thread_count(self.n_jobs))[:, 0]
            seen[out] += 1
        judged = self._check_oob(seen)
        with np.errstate(invalid="ignore"):
            answer = self._centre + total / seen
        self.oob_prediction_ = np.full(len(counts), np.nan)
        self.oob_prediction_[counts] = answer
        score = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = float(score(target[judged], answer[judged])) if judged.any() else np.nan

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        total = self.forest_.sum(rows, np.zeros(1), n_threads=thread_count(self.n_jobs))
        return self._centre + total[:, 0] / self.forest_.n_trees


def _balanced(label: NDArray[np.int32], times: NDArray[np.uint32], n_classes: int) -> NDArray[np.float64]:
    """Weights that make the classes of a draw weigh the same; rows of a class that was not drawn are not in it."""
    drawn = np.bincount(label, weights=times, minlength=n_classes)
    present = drawn > 0
    by_class = np.ones(n_classes)
    by_class[present] = drawn.sum() / (np.count_nonzero(present) * drawn[present])
    return by_class[label]
