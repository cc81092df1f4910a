"""Boosting that ranks the rows of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._params import Limit, check_parameters, integer, keep_parameters, one_of
from planewise.data.categories import as_label_array, is_missing
from planewise.data.problem import (
    all_or_nothing,
    number_problem,
    prediction_rows,
    real_targets,
    row_weights,
)
from planewise.trees.boost_data import Data, Floats, Given, training_offset
from planewise.trees.boosting import Boosting, Callback
from planewise.trees.losses import Ranks, RawLoss

LARGEST_GRADE = 31  # that 2^y - 1 can sensibly tell apart


class SLMBoostRanker(Boosting):
    """Gradient boosting with trees of hyperplanes that ranks the rows of queries (LambdaMART).

    Rows belong to queries, and have grades: the higher, the further up they should be. The model gives each row a
    score; only the order of the scores within a query counts. A round compares the rows of a query in pairs, and weighs
    each pair by how much NDCG would change if the two rows changed places. Rows of equal score count as if in random
    order. Its trees are those of `SLMBoostRegressor`.

    Parameters
    ----------
    ndcg_at : int or None, default=None
        Number of first places that count in the loss, which is 1 - NDCG: it is monitored, and decides early stopping.
        None counts all places. What the trees are grown from does not depend on it.
    gain : {"exponential", "linear"}, default="exponential"
        What a row of grade y is worth: 2^y - 1, or y.
    truncation_level : int or None, default=100
        Two rows of a query are compared if at least one of them is among the first `truncation_level` places. None
        compares all pairs.
    n_estimators : int, default=100
        Number of rounds.
    learning_rate : float, default=0.1
        How far each tree moves the scores (shrinkage).
    max_depth : int, "auto" or None, default="auto"
        Maximum depth of each tree; None for no limit. "auto" chooses a depth between 1 and 6 by trials: in every fourth
        round, a quarter of the rows is set aside while a tree is grown one level deeper than usual, and the depth that
        serves those rows best is used from then on. When no trials are run (beyond `max_rows_per_tree` rows, and with
        `monotonic_cst`), it is 3, and 4 for more than 262,144 rows.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. If given, growth is not level by level: each step splits the most promising half of
        the open nodes.
    min_samples_split : int, default=2
        Minimum number of rows for a node to be split.
    min_samples_leaf : int, default=10
        Minimum number of rows in a child; a smaller cell is merged with its nearest neighbour.
    min_child_weight : float, default=1e-3
        Minimum sum of Hessians in a child.
    min_split_gain : float, default=0.0
        Minimum gain of every additional cell, often called gamma. 0 reproduces the paper.
    noise_margin : float, default=0.1
        A split must gain more than this times the gain expected by chance from the best of the same number of random
        planes.
    reg_lambda : float, default=1.0
        Added to the Hessian of every cell. 0 reproduces the paper. It shrinks with the mean Hessian of the rows, as
        does `smoothing`, down to a five-hundredth.
    smoothing : float or "auto", default="auto"
        Weight of the parent's value in a node's value, in units of the Hessian, which is rows for the squared error. 0
        gives plain Newton steps, as in the paper. "auto" chooses a strength between 0 and 32 by the same trials as
        `max_depth` (beyond `max_rows_per_tree` rows, it is 8).
    subsample : float, default=1.0
        Share of the rows each tree is grown on. Beyond `max_rows_per_tree` rows, the share of the rows that decide its
        values.
    colsample : float, default=1.0
        Share of the columns each tree may use.
    max_planes : int, default=2
        q: maximum number of planes per node, which then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: "joint" takes the one that gains most on the existing cells; "cosine",
        as in the paper, the good candidate that is least similar to the planes chosen so far.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more similar than this are not added.
    min_relative_gain : float, default=0.0
        1 - rho: a further plane must gain, on its own, at least this share of what the best candidate gains.
    n_projections : int, default=16
        p: number of oblique candidates per node and round; every single feature is a candidate as well, unless
        `axis_candidates` says otherwise.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or all candidates of a round share one draw, as in the paper.
    subspace_size : int or list of int, default=3
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
    bins : {"robust", "uniform", "quantile"}, default="robust"
        Bins of equal width, as in the paper ("uniform"); the same, but where a few far values take most of the range,
        only over the range of the others ("robust"); or bins with about equally many rows ("quantile").
    refine_thresholds : bool, default=True
        Test again between the bins next to the best threshold, and put it midway between two rows. False keeps
        thresholds on the edges of bins, as in the paper.
    max_rows_per_node : int, "auto" or None, default="auto"
        Candidates of a node with more rows are judged by this many of them, spread evenly. None uses all rows, which
        takes one byte per row and candidate. "auto" is an eighth of the rows, between 2048 and 8191.
    max_rows_per_tree : int or None, default=65536
        In a larger table, this many rows, drawn anew every eight rounds, decide the planes of the trees; their values
        come from all rows.
    remember_directions : bool, default=True
        Whether a third of the oblique candidates are directions of earlier trees, half of them with one term changed.
        False draws every candidate anew, as in the paper.
    max_ranked_features : int or None, default=None
        Number of features that a node below the root considers: half of them the best of its parent, half random. None
        considers all.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. Planes
        split such a column alone, into two sets of categories. An unseen category goes to the heavier side.
    target_statistics : int, "auto" or None, default="auto"
        Beside a categorical column with more than this many categories, planes also use, as a number like any other,
        the mean grade of each category. Categories with few rows are shrunk towards the mean of all rows,
        which unseen ones have. For a training row it is computed from the rows of other folds (there are ten). "auto"
        is 50; None uses sets alone.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the score may not fall as the feature rises, -1 if it may not rise, 0 otherwise.
        Nodes then have one plane, and trees `max_depth` times `max_planes` levels.
    interaction_cst : "pairwise", "no_interactions", list of groups or None, default=None
        Which columns may be used together. The columns of all planes on a path from the root to a leaf lie in one
        group, a list or set of names or numbers; columns in no group form a further one. "pairwise" lets any two
        columns meet, "no_interactions" none. Scores are then sums of functions of one group each.
    early_stopping : bool, default=False
        Stop when the validation loss has not improved for `n_iter_no_change` rounds, and keep the rounds up to the
        best one. Validation rows are `X_val` and `y_val` of ``fit``, or else those of `validation_fraction` of the
        queries. False grows and keeps all `n_estimators` rounds.
    validation_fraction : float, default=0.1
        Share of the queries set aside for validation by `early_stopping`.
    refit : bool, default=True
        After `early_stopping` on a share of the training rows, grow the same number of rounds again from all of them.
        This takes about as long again. Not with `X_val`, where no training rows were set aside, not with `warm_start`,
        which keeps its trees, and not if a callback ended the fit. `callbacks`, `best_iteration_`, `train_score_` and
        `validation_score_` are those of the first pass.
    n_iter_no_change : int, default=10
        Number of rounds without progress that end the fit.
    tol : float, default=0.0
        Minimum improvement that counts as progress.
    callbacks : list of callables or None, default=None
        Each is called after every round with the number of rounds of the model so far and a dict of the losses of
        "train" and "validation"; a true answer ends the fit.
    warm_start : bool, default=False
        Keep the trees of the last fit and grow only the missing rounds. The rows set aside for validation stay the
        same. With `early_stopping` the model ends at its best round, even if that is one of the earlier fit.
    verbose : int, default=0
        1 shows a progress line with the losses.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed.

    Attributes
    ----------
    forest_ : Forest
        All trees as flat arrays; weights and thresholds are in the units of the data.
    base_score_ : array of shape (n_outputs,)
        Where scores started, without offsets.
    n_iter_ : int
        Number of rounds in the model: `best_iteration_` with `early_stopping`.
    best_iteration_ : int or None
        Number of rounds with the best validation score, ``validation_score_[best_iteration_ - 1]``; None without
        validation rows.
    n_stored_numbers_, n_bytes_ : int
        Number of non-zero weights, thresholds and leaf values; and the bytes that prediction needs.
    feature_means_ : float32 array of shape (n_features,) or longer
        Means of the training columns, from their origins; NaN for categories. Those of target statistics, if there
        are any, follow.
    categories_ : dict
        The categories of each categorical column, by its number.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the trees read the column. Empty for ordinary tables.
    target_statistics_ : dict
        By the number of the column, for columns with target statistics: an object with `values` of shape
        (n_categories, 1), the mean grades in the order of ``categories_``, and `prior` of shape (1,), which unseen
        categories have.
    train_score_, validation_score_ : float64 arrays of shape (n_rounds,)
        Minus the loss of the training and of the validation rows after each round, from the first round of the model
        on. Empty if there are no validation rows, and for training rows unless something is monitored (`verbose`,
        `callbacks` or validation rows). With `early_stopping` they also hold the rounds after the best one, which are
        not in the model. After a warm start they hold the values of all rounds on the rows of the last fit.
    has_offset_ : bool
        Whether ``fit`` was given an offset. Predictions without one are for an offset of zero.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.

    See Also
    --------
    SLMBoostRegressor : The same for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise import SLMBoostRanker
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(600, 3)), np.repeat(np.arange(60), 10)
    >>> y = np.digitize(X[:, 0] - X[:, 1], [0, 1, 2])
    >>> model = SLMBoostRanker(random_state=0).fit(X[:400], y[:400], qid=qid[:400])
    >>> model.score(X[400:], y[400:], qid=qid[400:]) > 0.95
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        **{name: limit for name, limit in Boosting.parameter_limits.items() if name not in ("base_score", "scoring")},
        "ndcg_at": integer(1, none=True),
        "gain": one_of("exponential", "linear"),
        "truncation_level": integer(1, none=True),
    }
    ndcg_at: int | None
    gain: str
    truncation_level: int | None
    loss, base_score, scoring = "ranking", None, None  # nothing to choose
    _estimator_type = "ranker"  # as LightGBM and XGBoost call it

    def __init__(
        self,
        *,
        ndcg_at: int | None = None,
        gain: str = "exponential",
        truncation_level: int | None = 100,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | str | None = "auto",
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
        root_features: int | None = None,
        axis_candidates: str = "all",
        max_coef: int = 5,
        min_coef: int = 1,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "robust",
        refine_thresholds: bool = True,
        max_rows_per_node: int | str | None = "auto",
        max_rows_per_tree: int | None = 65536,
        remember_directions: bool = True,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        target_statistics: int | str | None = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        refit: bool = True,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        qid_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        offset_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model; either `qid` or `group` says which rows belong together.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Grades of zero or more, such as 0 (not relevant) to 4 (the best).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. They multiply what a row learns from its pairs: equal weights of all rows of
            a query weigh the query.
        qid : array-like of shape (n_samples,), default=None
            The query of each row: a number or a text. Rows need not be sorted.
        group : array-like of shape (n_queries,), default=None
            Instead of `qid`, the number of rows of each query, where the rows of a query follow each other.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores from the start. The model does not keep it: pass it to ``predict`` again.
        X_val, y_val, qid_val, sample_weight_val, offset_val : as above, default=None
            Validation rows: minus their loss after each round is kept in ``validation_score_``. They end the fit
            only with `early_stopping`; without it, all `n_estimators` rounds are grown and kept.

        Returns
        -------
        self
        """
        check_parameters(self)
        problem = number_problem(self, X, y, sample_weight, continues=self._continues())
        query = query_numbers(qid, group, len(problem.counts))[problem.counts]
        check_grades(problem.target, query, self.gain)
        loss = RawLoss("ranking", ranks=self._ranks())
        if X_val is None and qid_val is not None:
            raise ValueError("qid_val requires X_val and y_val.")

        def read(y: Any, rows: NDArray[np.float32], name: str) -> Floats:
            target = real_targets(self, y, rows)
            if qid_val is None:
                raise ValueError("X_val needs qid_val, the query of each of its rows.")
            theirs = query_of_rows(qid_val, len(rows), "qid_val")
            check_grades(target, theirs, self.gain, name)
            return np.column_stack([target, theirs])

        target = np.column_stack([problem.target, query])
        data = Data(problem.rows, target, problem.weight, training_offset(offset, problem, loss)).by_query()
        given = Given(X_val, y_val, sample_weight_val, offset_val)
        self._learn(data, loss, given, read)
        self._loss = RawLoss("ranking")  # scores mean the same however they are judged
        return self

    def _ranks(self) -> Ranks:
        return Ranks(self.ndcg_at or 0, self.truncation_level or 0, self.gain == "linear")

    def _rows_to_set_aside(
        self, data: Data, seed: int, classes: NDArray[Any] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        grade, query = data.target.T
        with_order, without = ranked_queries(grade, query)
        if len(with_order) < 2:
            raise ValueError(
                "early_stopping=True sets aside some of the queries that have rows of different grades, but there is "
                "only one such query: pass X_val, y_val and qid_val, or set early_stopping=False."
            )
        random, share = np.random.RandomState(seed), self.validation_fraction
        n_aside = min(max(1, round(share * len(with_order))), len(with_order) - 1)
        rest = [random.permutation(with_order)[:n_aside], random.permutation(without)[: round(share * len(without))]]
        aside = np.isin(query, np.concatenate(rest))
        return np.flatnonzero(~aside), np.flatnonzero(aside)

    def predict(self, X: Any, *, offset: ArrayLike | None = None, n_rounds: int | None = None) -> Floats:
        """The score of each row: the highest of a query comes first.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
        offset : array-like of shape (n_samples,), default=None
            Added to the scores, as in ``fit``; None is zero.
        n_rounds : int or None, default=None
            Use the first rounds only.

        Returns
        -------
        scores : array of shape (n_samples,)
        """
        return self._raw(X, offset, n_rounds)[:, 0]

    def staged_predict(self, X: Any, *, offset: ArrayLike | None = None) -> Iterator[Floats]:
        """Scores after each round; `offset` as in ``predict``."""
        for raw in self._staged_raw(X, offset):
            yield raw[:, 0]

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        """NDCG of the ranking: of the first `ndcg_at` places, with the gains of `gain`, the mean over queries.

        The parameters are those of ``fit``. Tied rows count as the mean over their orders, and queries in which every
        row has grade 0 do not count. A query weighs as much as its rows do on average.
        """
        check_is_fitted(self)
        rows = prediction_rows(self, X)
        target = real_targets(self, y, rows)
        query = query_numbers(qid, group, len(rows))
        check_grades(target, query, self.gain)
        weight = row_weights(sample_weight, rows)
        data = Data(rows, np.column_stack([target, query]), weight, self._raw(X, offset)).by_query()
        assert data.offset is not None
        return 1 - RawLoss("ranking", ranks=self._ranks()).mean(data.target, data.weight, data.offset)


def query_numbers(qid: Any, group: Any, n_rows: int) -> Floats:
    """Return the number of each row's query, from what ``fit`` was given."""
    if (qid is None) == (group is None):
        which = "neither" if qid is None else "both"
        raise ValueError(
            f"Ranking needs qid (the query of each row) or group (how many rows each query has); got {which}."
        )
    return query_of_rows(qid, n_rows) if group is None else _from_sizes(np.asarray(group), n_rows)


def query_of_rows(qid: Any, n_rows: int, name: str = "qid") -> Floats:
    """Return the number of each row's query from its label; `name` is what errors call the labels."""
    given = as_label_array(qid)
    if given.shape != (n_rows,):
        raise ValueError(f"{name} has shape {given.shape}; expected ({n_rows},), one entry per row.")
    missing = [row for row, value in enumerate(given.tolist()) if is_missing(value)]
    if missing:
        raise ValueError(f"{name} is missing in row {missing[0]}; every row must belong to a query.")
    try:
        return np.unique(given, return_inverse=True)[1].astype(np.float64)
    except TypeError:
        raise ValueError(f"{name} must hold numbers or texts, not both.") from None


def _from_sizes(sizes: NDArray[Any], n_rows: int) -> Floats:
    whole = (
        sizes.ndim == 1 and sizes.dtype.kind in "iuf" and bool((np.isfinite(sizes) & (sizes == np.floor(sizes))).all())
    )
    if not whole or (sizes < 1).any():
        raise ValueError("group must hold the number of rows of each query: whole numbers of at least 1.")
    if sizes.sum() != n_rows:
        raise ValueError(f"group adds up to {int(sizes.sum())} rows, but there are {n_rows}.")
    return np.repeat(np.arange(len(sizes), dtype=np.float64), sizes.astype(np.int64))


def check_grades(grade: Floats, query: Floats, gain: str, name: str = "y") -> None:
    """ValueError unless these are grades that some query is ranked by."""
    wrong = np.flatnonzero((grade < 0) | ((grade > LARGEST_GRADE) & (gain == "exponential")))
    if len(wrong):
        most = f"from 0 to {LARGEST_GRADE}" if gain == "exponential" else "of zero or more"
        hint = "; gain='linear' has no upper limit" if gain == "exponential" and grade[wrong[0]] > 0 else ""
        raise ValueError(f"{name} must hold grades {most}; one of them is {float(grade[wrong[0]])!r}{hint}.")
    if len(ranked_queries(grade, query)[0]) == 0:
        raise ValueError(f"In {name}, no query has rows of different grades: there is nothing to rank.")


def ranked_queries(grade: Floats, query: Floats) -> tuple[Floats, Floats]:
    """The queries that have rows of different grades, and the others."""
    every, place = np.unique(query, return_inverse=True)
    lowest, highest = np.full(len(every), np.inf), np.full(len(every), -np.inf)
    np.minimum.at(lowest, place, grade)
    np.maximum.at(highest, place, grade)
    return every[lowest < highest], every[lowest == highest]
