"""Forests of trees of hyperplanes, for classification and regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._optional import warn_user
from planewise._params import (
    Limit,
    boolean,
    check_parameters,
    class_weights,
    either,
    integer,
    keep_parameters,
    one_of,
    real,
)
from planewise._progress import Progress, is_heard
from planewise.data.mapped import blocks
from planewise.data.problem import (
    IN_FLOAT32,
    Problem,
    all_or_nothing,
    class_problem,
    number_problem,
    prediction_rows,
    thread_count,
)
from planewise.trees.arrays import Forest
from planewise.trees.constraints import constrain
from planewise.trees.explain import ExplainsByContributions
from planewise.trees.growth import (
    SINGLE_TREE_LIMITS,
    TreeEstimator,
    most_terms,
    training_table,
    tree_options,
)

# Grows trees first .. last-1 of a bag on a table.
Grow = Callable[[_core.Table, _core.BagOptions, int, int, int], _core.Forest]


class Span(NamedTuple):
    """Some trees of a forest, and the seed that all its trees have."""

    first: int
    last: int
    seed: int


class _SLMForest(ExplainsByContributions, TreeEstimator):
    """What the classifier and the regressor share."""

    parameter_limits: ClassVar[Mapping[str, Limit]] = SINGLE_TREE_LIMITS | {
        "n_estimators": integer(1),
        "rows_per_projection": integer(0, 1_000_000),
        "bootstrap": boolean(),
        "max_samples": either(integer(1, none=True), real(0, 1, open_low=True)),
        "oob_score": Limit(
            lambda value: boolean().allows(value) or callable(value),
            "True or False, or a function (y_true, y_pred) -> score",
        ),
        "verbose": integer(0),
    }
    n_estimators: int
    rows_per_projection: int
    bootstrap: bool
    max_samples: float | None
    oob_score: bool | Callable[[Any, Any], float]
    verbose: int
    _span: Span | None = None  # set where other places grow the other trees

    def _check_parameters(self) -> None:
        """Limits, and the parameters that must agree with each other."""
        check_parameters(self)
        if not self.bootstrap and self.oob_score:
            raise ValueError("oob_score needs bootstrap=True: without it every tree has seen every row.")
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError("max_samples needs bootstrap=True: without it every tree gets all rows.")

    def _draws(self, n_rows: int) -> int:
        """Number of rows drawn for each tree; 0 means that each gets all rows as they are."""
        if not self.bootstrap:
            return 0
        if self.max_samples is None:
            return n_rows
        if not isinstance(self.max_samples, Integral):
            return max(1, round(n_rows * float(self.max_samples)))
        if self.max_samples > n_rows:
            raise ValueError(
                f"max_samples={self.max_samples} must be at most {n_rows}, the number of rows with a weight above zero."
            )
        return int(self.max_samples)

    def _options(self, n_classes: int = 1) -> _core.GrowOptions:
        options = tree_options(self, seed=0)
        options.rows_per_projection = self.rows_per_projection
        constrain(options, self, n_classes)
        return options

    def _grow(self, problem: Problem, grow: Grow, n_columns: int, one_by_one: bool = False) -> _core.BagOptions:
        """Grow the trees, keep the last `n_columns` of their values, and return what their rows were drawn by."""
        threads = thread_count(self.n_jobs)
        bag = _core.BagOptions()
        bag.grow, bag.draws = self._options(n_columns), self._draws(len(problem.rows))
        bag.seed = self._span.seed if self._span else self._new_seed()
        table = training_table(self, problem.rows, problem.weight, threads)
        parts: list[Forest] = []
        first, last = self._span[:2] if self._span else (0, self.n_estimators)
        # All trees in one call; with a progress line, as many as there are threads, or about a twentieth of all.
        at_once = 1 if one_by_one else threads if self.verbose else self.n_estimators
        if is_heard():
            at_once = min(at_once, threads * ceil(self.n_estimators / (20 * threads)))

        with Progress(last - first, "forest", shown=self.verbose > 0) as bar:
            for begin in range(first, last, at_once):
                end = min(begin + at_once, last)
                grown = grow(table, bag, begin, end, threads)
                parts.append(Forest(grown.compacted(n_columns, self.smoothing, bag.grow.monotone)))
                del grown
                for _ in range(begin, end):
                    bar.step()
        self._keep(Forest.joined(parts), table)
        return bag

    def _keep(self, forest: Forest, table: _core.Table) -> None:
        """Make these trees the fitted ones."""
        self.forest_ = forest
        for stale in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
            self.__dict__.pop(stale, None)
        self.feature_means_ = table.mean
        self.n_planes_ = forest.n_planes
        self.n_parameters_ = self.n_planes_ * (most_terms(self) + 1)

    # --------------------------------------------------------------------------------------------- out-of-bag rows
    def _out_of_bag(
        self, rows: NDArray[np.float32], bag: _core.BagOptions
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each tree, the rows it has not seen, some at a time, and its values for them."""
        nothing = np.zeros(self.forest_.n_outputs)
        for tree in range(self.forest_.n_trees):
            every = np.flatnonzero(_core.bootstrap(len(rows), bag.draws, bag.seed, tree) == 0)
            for part in blocks(len(every), rows.shape[1]):
                out = every[part]
                yield out, self.forest_.predict(rows[out], nothing, tree, tree + 1, thread_count(self.n_jobs))

    def _keep_out_of_bag(
        self,
        name: str,
        answer: NDArray[np.float64],
        counts: NDArray[np.bool_],
        score: Callable[[NDArray[np.bool_]], float],
    ) -> None:
        """Keep the rows' answers (NaN where every tree has seen the row) and the score of the others."""
        judged = ~np.isnan(answer.reshape(len(answer), -1)[:, 0])
        if not judged.all():
            warn_user(
                f"{np.count_nonzero(~judged)} rows were drawn for every tree and have no out-of-bag prediction: "
                "they are NaN and do not count in oob_score_. More trees would help."
            )
        whole = np.full((len(counts), *answer.shape[1:]), np.nan)
        whole[counts] = answer
        setattr(self, name, whole)
        self.oob_score_ = float(score(judged)) if judged.any() else np.nan

    # ------------------------------------------------------------------------------------------------------ answers
    def apply(self, X: Any) -> NDArray[np.int32]:
        """The node in which each row ends, in every tree.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)

        Returns
        -------
        nodes : int32 array of shape (n_samples, n_estimators)
            Numbers of nodes, counted from each tree's own root.
        """
        check_is_fitted(self)
        return self.forest_.apply(prediction_rows(self, X), thread_count(self.n_jobs))


class SLMForestClassifier(ClassifierMixin, _SLMForest):
    """A forest of classification trees whose nodes split by oblique planes.

    Every tree is an `SLMClassifier` with its own draw of candidates (with `bootstrap`, of rows as well), and they vote.
    The trees are not pruned: what one tree has learned by chance is not confirmed by the others. Many trees with one
    plane per node did better than trees with several, for which there is `max_planes`. Symbols before a
    colon, such as ``p:``, are those of the SLM paper.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"entropy", "gini"}, default="entropy"
        Loss of a node.
    max_depth : int or None, default=None
        Maximum depth of each tree; None for no limit.
    min_samples_split : int, default=2
        Minimum number of rows for a node to be split.
    min_samples_leaf : int, default=3
        Minimum number of rows in a child; a smaller cell is merged with its nearest neighbour.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. If given, growth is not level by level: each step splits the most promising half of
        the open nodes.
    min_impurity_decrease : float, default=0.0
        A split must lower the loss, divided by the weight of all rows, by at least this. Entropy is in nats.
    min_loss : float, default=0.0
        A node whose mean loss is at most this is a leaf.
    noise_margin : float, default=0.0
        A split must gain more than this times the gain expected by chance from the best of the same number of random
        planes. 0 keeps every split, as in the paper.
    smoothing : float, default=0.0
        Weight of the parent's value in a node's value, in rows. 0 gives plain means, as in the paper.
    max_planes : int, default=1
        q: maximum number of planes per node, which then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: "joint" takes the one that gains most on the existing cells; "cosine",
        as in the paper, the good candidate that is least similar to the planes chosen so far.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more similar than this are not added.
    min_relative_gain : float, default=0.5
        1 - rho: a further plane must gain, on its own, at least this share of what the best candidate gains.
    n_projections : int, default=50
        p: number of oblique candidates per node and round; every single feature is a candidate as well, unless
        `axis_candidates` says otherwise.
    rows_per_projection : int, default=2
        A small node draws at most one oblique candidate per this many of its rows. 0 always draws `n_projections`, as
        in the paper.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or all candidates of a round share one draw, as in the paper.
    subspace_size : int or list of int, default=6
        R: maximum number of features in a plane. A list gives several rounds, whose candidates are pooled.
    root_features : int or None, default=None
        D0: number of features that a tree may use, those that separate best at its root. None allows all.
    axis_candidates : {"all", "subspace", "none"}, default="all"
        Which features are candidates on their own: all of them, those in the node's draw (as in the paper; needs
        ``subspace="node"``), or none. Categorical columns always are. With "none", a node in which fewer than two
        features can be combined is a leaf.
    max_coef : int, default=5
        A_int: largest coefficient, on standardised features.
    min_coef : {0, 1}, default=1
        Lower limit of the largest coefficient of a feature. 0, as in the paper, lets features of low rank fade out.
    coef_decay : float or list of float, default=0.0
        alpha: the largest coefficient of the feature of rank d is max(min_coef, floor(max_coef * exp(-alpha * d))).
    rank_decay : float or list of float, default=0.1
        beta: the feature of rank d is drawn with probability proportional to exp(-beta * d).
    n_bins : int, default=16
        B: number of bins of the one-dimensional test.
    bins : {"uniform", "robust", "quantile"}, default="uniform"
        Bins of equal width, as in the paper ("uniform"); the same, but where a few far values take most of the range,
        only over the range of the others ("robust"); or bins with about equally many rows ("quantile").
    refine_thresholds : bool, default=True
        Test again between the bins next to the best threshold, and put it midway between two rows. False keeps
        thresholds on the edges of bins, as in the paper.
    max_rows_per_node : int or None, default=256
        Candidates of a node with more rows are judged by this many of them, spread evenly. None uses all rows, which
        takes one byte per row and candidate.
    max_ranked_features : int or None, default=512
        Number of features that a node below the root considers: half of them the best of its parent, half random. None
        considers all.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. Planes
        split such a column alone, into two sets of categories. An unseen category goes to the heavier side.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the probability of the second class may not fall as the feature rises, -1 if it may
        not rise, 0 otherwise. Nodes then have one plane, and trees `max_depth` times `max_planes` levels. Not for more
        than two classes.
    interaction_cst : "pairwise", "no_interactions", list of groups or None, default=None
        Which columns may be used together. The columns of all planes on a path from the root to a leaf lie in one
        group, a list or set of names or numbers; columns in no group form a further one. "pairwise" lets any two
        columns meet, "no_interactions" none. Each tree then uses what can meet its best column; boosting adds up
        trees of different groups.
    bootstrap : bool, default=False
        Whether each tree is grown on rows drawn with replacement. False uses all rows, as in the paper.
    max_samples : int, float or None, default=None
        With `bootstrap`, how many rows are drawn for each tree: a number, a share, or None for as many as there are.
    oob_score : bool or callable, default=False
        Whether to score the forest on its out-of-bag rows, each predicted by the trees that have not seen it: by
        accuracy or R2, or by a function ``(y_true, y_pred)``.
    voting : {"soft", "hard"}, default="soft"
        "soft": probabilities are the mean over the trees. "hard", as in the paper: each tree votes for one class, and
        ties go to the class with the larger mean; probabilities are proportional to votes / T + mean / (2 T) for T
        trees.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out. "balanced_subsample"
        balances the rows drawn for each tree, and grows the trees on a single thread; without `bootstrap` it is the
        same as "balanced".
    verbose : int, default=0
        1 shows a progress line.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    forest_ : Forest
        All trees as flat arrays; weights and thresholds are in the units of the data. Values are the
        probabilities (of the second class alone if there are two).
    n_planes_ : int
        Number of planes in the forest.
    n_parameters_ : int
        Model size as the paper counts it (eq. 37): planes * (D0 + 1).
    n_stored_numbers_, n_bytes_ : int
        Number of non-zero weights, thresholds and leaf values; and the bytes that prediction needs.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    feature_means_ : float32 array of shape (n_features,)
        Means of the training columns, from their origins; NaN for categories.
    categories_ : dict
        The categories of each categorical column, by its number.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the trees read the column. Empty for ordinary tables.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.
    oob_score_ : float
        The score of the out-of-bag predictions, if `oob_score`.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Probabilities of each row by the trees that have not seen it, if `oob_score`; NaN if there is no such tree.

    See Also
    --------
    SLMForestRegressor : The same for regression.
    SLMClassifier : One tree.

    Notes
    -----
    The forest of the paper: ``n_estimators=20, bootstrap=False, voting="hard", max_planes=2, plane_choice="cosine",
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

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        **_SLMForest.parameter_limits,
        "criterion": one_of("entropy", "gini"),
        "voting": one_of("soft", "hard"),
        "class_weight": class_weights("balanced", "balanced_subsample"),
    }
    criterion: str
    voting: str
    class_weight: Any
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
        root_features: int | None = None,
        axis_candidates: str = "all",
        max_coef: int = 5,
        min_coef: int = 1,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 256,
        max_ranked_features: int | None = 512,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        voting: str = "soft",
        class_weight: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. Without `bootstrap` an integer weighs as much as that many equal rows
            (but `min_samples_leaf` counts rows); with it every row is equally likely to be drawn, and its weight
            counts as often as it was.

        Returns
        -------
        self
        """
        self._check_parameters()
        balances_draws = self.class_weight == "balanced_subsample" and self.bootstrap
        by_class = "balanced" if self.class_weight == "balanced_subsample" else self.class_weight
        problem = class_problem(
            self,
            X,
            y,
            sample_weight,
            class_weight=None if balances_draws else by_class,
        )
        label, n_classes = problem.label, len(problem.classes)

        def grow(table: _core.Table, bag: _core.BagOptions, first: int, last: int, threads: int) -> _core.Forest:
            weight = problem.weight
            if balances_draws:
                times = _core.bootstrap(len(label), bag.draws, bag.seed, first)
                weight = weight * _balanced(label, times, n_classes)
            gini = self.criterion == "gini"
            return _core.grow_class_trees(table, label, weight, n_classes, gini, bag, first, last, threads)

        self.classes_ = problem.classes
        # With two classes, the probability of the second one is enough.
        bag = self._grow(problem, grow, 1 if n_classes == 2 else n_classes, one_by_one=balances_draws)
        if self.oob_score:
            self._judge_out_of_bag(problem.rows, label, problem.counts, bag)
        return self

    def _judge_out_of_bag(
        self, rows: NDArray[np.float32], label: NDArray[np.int32], counts: NDArray[np.bool_], bag: _core.BagOptions
    ) -> None:
        shape = len(rows), len(self.classes_)
        seen, mean, votes = np.zeros((len(rows), 1)), np.zeros(shape), np.zeros(shape)
        for out, value in self._out_of_bag(rows, bag):
            probability = self._spread(value)
            mean[out] += probability
            votes[out, probability.argmax(axis=1)] += 1
            seen[out] += 1
        with np.errstate(invalid="ignore"):
            mean /= seen
            answer = mean if self.voting == "soft" else (votes + mean / 2) / (seen + 0.5)

        def score(judged: NDArray[np.bool_]) -> float:
            by = self.oob_score if callable(self.oob_score) else accuracy_score
            return by(self.classes_[label[judged]], self.classes_[answer[judged].argmax(axis=1)])

        self._keep_out_of_bag("oob_decision_function_", answer, counts, score)

    def _spread(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """One column per class from the stored ones, which add up to one up to float32's rounding."""
        if len(self.classes_) == 2:
            return np.hstack([1 - given, given])
        return given / given.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``."""
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        forest = self.forest_ if self.voting == "soft" else self.forest_.as_votes()
        total = forest.predict(rows, np.zeros(forest.n_outputs), n_threads=thread_count(self.n_jobs))
        return self._spread(total / forest.n_trees)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]


class SLMForestRegressor(RegressorMixin, _SLMForest):
    """A forest of regression trees whose nodes split by oblique planes.

    Every tree is an `SLMRegressor` with its own draw of candidates (with `bootstrap`, of rows as well); predictions are
    the mean over the trees. Many trees with one plane per node did better than trees with several, for which there is
    `max_planes`. Symbols before a colon, such as ``p:``, are those of the SLM paper.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=None
        Maximum depth of each tree; None for no limit.
    min_samples_split : int, default=2
        Minimum number of rows for a node to be split.
    min_samples_leaf : int, default=2
        Minimum number of rows in a child; a smaller cell is merged with its nearest neighbour.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. If given, growth is not level by level: each step splits the most promising half of
        the open nodes.
    min_impurity_decrease : float, default=0.0
        A split must lower the loss, divided by the weight of all rows, by at least this. Entropy is in nats.
    min_loss : float, default=0.0
        A node whose mean loss is at most this is a leaf.
    noise_margin : float, default=0.0
        A split must gain more than this times the gain expected by chance from the best of the same number of random
        planes. 0 keeps every split, as in the paper.
    smoothing : float, default=0.0
        Weight of the parent's value in a node's value, in rows. 0 gives plain means, as in the paper.
    max_planes : int, default=1
        q: maximum number of planes per node, which then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: "joint" takes the one that gains most on the existing cells; "cosine",
        as in the paper, the good candidate that is least similar to the planes chosen so far.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more similar than this are not added.
    min_relative_gain : float, default=0.5
        1 - rho: a further plane must gain, on its own, at least this share of what the best candidate gains.
    n_projections : int, default=50
        p: number of oblique candidates per node and round; every single feature is a candidate as well, unless
        `axis_candidates` says otherwise.
    rows_per_projection : int, default=2
        A small node draws at most one oblique candidate per this many of its rows. 0 always draws `n_projections`, as
        in the paper.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or all candidates of a round share one draw, as in the paper.
    subspace_size : int or list of int, default=4
        R: maximum number of features in a plane. A list gives several rounds, whose candidates are pooled.
    root_features : int or None, default=None
        D0: number of features that a tree may use, those that separate best at its root. None allows all.
    axis_candidates : {"all", "subspace", "none"}, default="all"
        Which features are candidates on their own: all of them, those in the node's draw (as in the paper; needs
        ``subspace="node"``), or none. Categorical columns always are. With "none", a node in which fewer than two
        features can be combined is a leaf.
    max_coef : int, default=5
        A_int: largest coefficient, on standardised features.
    min_coef : {0, 1}, default=1
        Lower limit of the largest coefficient of a feature. 0, as in the paper, lets features of low rank fade out.
    coef_decay : float or list of float, default=0.0
        alpha: the largest coefficient of the feature of rank d is max(min_coef, floor(max_coef * exp(-alpha * d))).
    rank_decay : float or list of float, default=0.1
        beta: the feature of rank d is drawn with probability proportional to exp(-beta * d).
    n_bins : int, default=16
        B: number of bins of the one-dimensional test.
    bins : {"uniform", "robust", "quantile"}, default="uniform"
        Bins of equal width, as in the paper ("uniform"); the same, but where a few far values take most of the range,
        only over the range of the others ("robust"); or bins with about equally many rows ("quantile").
    refine_thresholds : bool, default=True
        Test again between the bins next to the best threshold, and put it midway between two rows. False keeps
        thresholds on the edges of bins, as in the paper.
    max_rows_per_node : int or None, default=256
        Candidates of a node with more rows are judged by this many of them, spread evenly. None uses all rows, which
        takes one byte per row and candidate.
    max_ranked_features : int or None, default=512
        Number of features that a node below the root considers: half of them the best of its parent, half random. None
        considers all.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. Planes
        split such a column alone, into two sets of categories. An unseen category goes to the heavier side.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the prediction may not fall as the feature rises, -1 if it may not rise, 0
        otherwise. Nodes then have one plane, and trees `max_depth` times `max_planes` levels.
    interaction_cst : "pairwise", "no_interactions", list of groups or None, default=None
        Which columns may be used together. The columns of all planes on a path from the root to a leaf lie in one
        group, a list or set of names or numbers; columns in no group form a further one. "pairwise" lets any two
        columns meet, "no_interactions" none. Each tree then uses what can meet its best column; boosting adds up
        trees of different groups.
    bootstrap : bool, default=False
        Whether each tree is grown on rows drawn with replacement. False uses all rows, as in the paper.
    max_samples : int, float or None, default=None
        With `bootstrap`, how many rows are drawn for each tree: a number, a share, or None for as many as there are.
    oob_score : bool or callable, default=False
        Whether to score the forest on its out-of-bag rows, each predicted by the trees that have not seen it: by
        accuracy or R2, or by a function ``(y_true, y_pred)``.
    verbose : int, default=0
        1 shows a progress line.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed.

    Attributes
    ----------
    forest_ : Forest
        All trees as flat arrays; weights and thresholds are in the units of the data. Values are what
        a tree adds to the mean of the targets.
    n_planes_ : int
        Number of planes in the forest.
    n_parameters_ : int
        Model size as the paper counts it (eq. 37): planes * (D0 + 1).
    n_stored_numbers_, n_bytes_ : int
        Number of non-zero weights, thresholds and leaf values; and the bytes that prediction needs.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    feature_means_ : float32 array of shape (n_features,)
        Means of the training columns, from their origins; NaN for categories.
    categories_ : dict
        The categories of each categorical column, by its number.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the trees read the column. Empty for ordinary tables.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.
    oob_score_ : float
        The score of the out-of-bag predictions, if `oob_score`.
    oob_prediction_ : array of shape (n_samples,)
        Prediction of each row by the trees that have not seen it, if `oob_score`; NaN if there is no such tree.

    See Also
    --------
    SLMForestClassifier : The same for classification.
    SLMRegressor : One tree.

    Notes
    -----
    The forest of the paper: ``n_estimators=20, bootstrap=False, max_planes=2, plane_choice="cosine", subspace="node",
    refine_thresholds=False, noise_margin=0, smoothing=0, min_samples_leaf=1, max_rows_per_node=None,
    rows_per_projection=0``, with lists for `subspace_size`, `coef_decay` and `rank_decay`.

    Examples
    --------
    >>> from planewise import SLMForestRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> forest = SLMForestRegressor(random_state=0).fit(X[:600], y[:600])
    >>> forest.score(X[600:], y[600:]) > 0.8
    True
    """

    _centre: float

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
        root_features: int | None = None,
        axis_candidates: str = "all",
        max_coef: int = 5,
        min_coef: int = 1,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 256,
        max_ranked_features: int | None = 512,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool | Callable[[Any, Any], float] = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. Without `bootstrap` an integer weighs as much as that many equal rows
            (but `min_samples_leaf` counts rows); with it every row is equally likely to be drawn, and its weight
            counts as often as it was.

        Returns
        -------
        self
        """
        self._check_parameters()
        problem = number_problem(self, X, y, sample_weight, targets=IN_FLOAT32)
        target, weight = problem.target, problem.weight
        # Trees hold what they add to this, so that float32 is enough for targets far from zero.
        centre = float(np.average(target, weights=weight))
        centred = target - centre

        def grow(table: _core.Table, bag: _core.BagOptions, first: int, last: int, threads: int) -> _core.Forest:
            return _core.grow_number_trees(table, centred, weight, bag, first, last, threads)

        self._centre = centre
        bag = self._grow(problem, grow, 1)
        if self.oob_score:
            self._judge_out_of_bag(problem.rows, target, problem.counts, bag)
        return self

    def _judge_out_of_bag(
        self, rows: NDArray[np.float32], target: NDArray[np.float64], counts: NDArray[np.bool_], bag: _core.BagOptions
    ) -> None:
        seen, total = np.zeros(len(rows)), np.zeros(len(rows))
        for out, value in self._out_of_bag(rows, bag):
            total[out] += value[:, 0]
            seen[out] += 1
        with np.errstate(invalid="ignore"):
            answer = self._centre + total / seen

        def score(judged: NDArray[np.bool_]) -> float:
            by = self.oob_score if callable(self.oob_score) else r2_score
            return by(target[judged], answer[judged])

        self._keep_out_of_bag("oob_prediction_", answer, counts, score)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        total = self.forest_.predict(rows, np.zeros(1), n_threads=thread_count(self.n_jobs))
        return self._centre + total[:, 0] / self.forest_.n_trees


def _balanced(label: NDArray[np.int32], times: NDArray[np.uint32], n_classes: int) -> NDArray[np.float64]:
    """Weights that make the classes of a draw weigh the same; rows of a class that was not drawn are not in it."""
    drawn = np.bincount(label, weights=times, minlength=n_classes)
    present = drawn > 0
    by_class = np.ones(n_classes)
    by_class[present] = drawn.sum() / (np.count_nonzero(present) * drawn[present])
    return by_class[label]
