"""RECIP for classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise._input import all_or_nothing, class_problem, one_target_per_row, thread_count
from planewise._params import Limit, check_parameters, class_weights, integer, keep_parameters, one_of, real
from planewise._warn import warn_user
from planewise.recip._answer import Decisions, Ratios, select, vote
from planewise.recip._base import SHARED_LIMITS, ProjectionEstimator
from planewise.recip._class_explanation import ClassBatch
from planewise.recip._estimates import Counts, Distances, Estimate, Reference, Sides, in_blocks
from planewise.recip._explanation import Wording, plain
from planewise.recip._rows import DistinctRows, FloatArray, Indices, Table, Vector, read_ranked
from planewise.recip._search import Judge
from planewise.words import Batch
from planewise.words import ViewColumns as View

MOST_NEIGHBOURS, FEWEST_NEIGHBOURS = 20, 3  # where k is not given
DECIDE = {"select": select, "vote": vote}


class RECIPClassifier(ClassifierMixin, ProjectionEstimator):
    """Classify each row in the low-dimensional view in which its class is clearest, and show the evidence.

    Every view is a small set of features, as they are. In each, the more of its nearest rows share its class, the
    clearer the class (or, as published, the nearer the k-th row of its class is, relative to the k-th of others). RECIP
    keeps the few views that together make most rows clear, and answers each query in the view, and for the class,
    with the best odds: ``explain`` shows it. :func:`planewise.published.recip` has the settings of the paper.

    Parameters
    ----------
    max_dim : int, default=2
        Maximum number of features of a view. All views of one and two features are candidates. Larger ones are all
        tried if `max_candidates` allows; otherwise they are grown from the best smaller ones, which can miss a parity
        of three features.
    k : int or None, default=None
        With "counts" the number of nearest rows that vote; with "distances" which neighbour's distance is taken on both
        sides. Equal rows (values and label) count as one. With "counts", rows that are as far away as the k-th share
        the places left by nearer rows: of 3 such rows for 2 places, each counts two thirds. None: up to 20 for "counts"
        (fewer in small tables), 1 for "distances", as published.
    estimate : {"counts", "distances"}, default="counts"
        What the odds of a class come from: the weights of the k nearest rows of the class and of others, or (published)
        the distances to the k-th of either side. Distances say nothing where values repeat.
    prior_weight : float, default=1.0
        With "counts", this weight is added to the neighbours, in proportion to the classes' shares of the weight of the
        training rows.
    tsallis_order : float, default=0.5
        Order of the Tsallis divergence (alpha in the paper), below 1. It changes neither answers nor which view is best
        for a row, only what `lam` means and how sharp probabilities are: 0.5 gives the odds that neighbours suggest.
    lam : float or None, default=None
        Penalty of "recip" on spreading rows over many views; larger means fewer views. For "lasso" and "robust_lasso"
        the penalty on coefficients. None: cross-validated, unless `max_projections` is given.
    max_projections : int or None, default=None
        Maximum number of views to keep. "recip" without `lam` then chooses them greedily, with swaps.
    min_support : float, default=0.01
        Views that are best for at most this share of the rows are dropped; "answers" and "greedy" stop when a view
        improves the objective by less than making that share of the rows clear would. Neither
        "lasso" nor ``keep="used"`` uses it.
    keep : {"best", "used"}, default="best"
        Which views "recip" keeps when Algorithm 1 has converged. "best": those that are the largest part of a row for
        more than `min_support` of the rows. "used": every view that any row uses, however little, as in the paper.
        Solved exactly, that is most of the candidates unless `lam` is large.
    unit_columns : bool, default=True
        Whether "lasso" and "robust_lasso" divide the losses of each view by their Euclidean norm. False takes them as
        they are, as in the paper, which favours views of large losses.
    max_candidates : int or None, default=6000
        Maximum number of candidate views; if there are more, they are screened on a few hundred rows. Every candidate
        takes four bytes per row. None: all views of one and two features.
    max_rows : int or None, default=4000
        Maximum number of rows used to choose the views, drawn at random; their neighbours are sought among all rows.
    selection : {"auto", "answers", "recip", "greedy", "lasso", "robust_lasso"}, default="auto"
        How views are chosen. "answers": those whose answers have the least log-loss on training rows, each left out in
        turn. "recip": the published Algorithm 1, with an exact row solver. "greedy": by what each adds to the rows'
        best entropies. "lasso", "robust_lasso": by regression on them. "auto": "recip" if `lam` is given, else
        "answers".
    decide : {"select", "vote"}, default="select"
        Whether the clearest view answers, or all kept views vote.
    projections : list of tuples or None, default=None
        Views to use as they are, by column number or name, instead of a search.
    include_all_features : bool, default=False
        Whether the view of all features is a candidate as well.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Categorical columns: those with a category dtype, or these (names, numbers or a mask). Ordered categories
        (ordered in pandas or Arrow, Enum in polars) count by their ranks, like numbers.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights. With a weight of 2, each row of the class counts
        twice, both among the neighbours of a row and in the choice of views. A weight of 0 leaves the class out.
        Needs ``estimate="counts"``.
    scaling : {"arcsinh", "standard", None}, default="standard"
        "standard" standardises the columns; "arcsinh" also compresses their long tails; None takes them as they are.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    verbose : int or bool, default=0
        Whether to show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed of the cross-validation folds and of the rows for screening; nothing else is random.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    k_ : int
        The k used.
    projections_ : list of tuples of int
        The features of each kept view, the most used view first.
    projection_names_ : list of tuples of str
        Their names.
    projection_support_ : array of shape (n_views,)
        The share of the training rows (by weight) for which each view is the best.
    projection_entropy_ : array of shape (n_views,)
        The mean loss of those rows in it (eq. 3, up to its constant); smaller is better.
    optimality_gap_ : float
        Mean loss by the kept views, less the lower bound (7): every row's best candidate view.
    n_candidates_ : int
        Number of candidate views judged on all rows.
    lam_ : float or None
        The penalty used; None if it was not needed.
    lam_losses_ : dict or None
        The held-out loss of every penalty tried.
    objective_ : array of shape (n_rounds,)
        The objective after each round of Algorithm 1; it never rises.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.

    See Also
    --------
    RECIPRegressor : The same for numbers.

    Notes
    -----
    Equal rows are merged first, and their weights added: a weight of two is the row twice. With "distances", a class of
    at most k distinct rows cannot help to choose views, and one of fewer than k is never answered, which ``fit`` warns
    of. A query that lacks a value of a view skips it; if it skips all, the class of the largest weight is answered.

    References
    ----------
    .. [1] M. Fiterau, A. Dubrawski, "Projection retrieval for classification", NIPS 2012.

    Examples
    --------
    >>> from planewise import RECIPClassifier
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> model = RECIPClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> model.projections_
    [(0, 1)]
    >>> model.score(X[1000:], y[1000:]) > 0.85
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = SHARED_LIMITS | {
        "k": integer(1, none=True),
        "estimate": one_of("counts", "distances"),
        "prior_weight": real(0, open_low=True),
        "tsallis_order": real(-100, 1 - 1e-6),
        "decide": one_of("select", "vote"),
        "class_weight": class_weights(),
    }
    classes_: NDArray[Any]
    _quality_name = "accuracy"

    def __init__(
        self,
        max_dim: int = 2,
        *,
        k: int | None = None,
        estimate: str = "counts",
        prior_weight: float = 1.0,
        tsallis_order: float = 0.5,
        lam: float | None = None,
        max_projections: int | None = None,
        min_support: float = 0.01,
        keep: str = "best",
        unit_columns: bool = True,
        max_candidates: int | None = 6000,
        max_rows: int | None = 4000,
        selection: str = "auto",
        decide: str = "select",
        projections: Any = None,
        include_all_features: bool = False,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        scaling: str | None = "standard",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the views.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind, at least two of them.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of two is the row twice, so that the scale of the weights matters; rows of weight zero are left
            out.

        Returns
        -------
        self
        """
        check_parameters(self)
        if self.class_weight is not None and self.estimate == "distances":
            raise ValueError(
                'class_weight needs estimate="counts": with "distances", the odds of a class come from distances, '
                "which weights do not change. To weight only the choice of views, pass sample_weight."
            )
        random = check_random_state(self.random_state)
        n_threads = thread_count(self.n_jobs)
        problem = class_problem(
            self, X, y, sample_weight, class_weight=self.class_weight, read=read_ranked, min_classes=2
        )
        self.classes_ = problem.classes
        rows = self._merged(problem, problem.label)
        share = np.bincount(rows.target, weights=rows.weight)
        self._prior = share / share.sum()
        points, columns = self._place(rows)
        self._estimate, self._decide = self._make_estimate(rows), self.decide
        self._warn_of_light_rows(rows)
        reference = Reference(points, rows.target, rows.weight, self._scaling.gap, len(self.classes_))

        def loss(views: Sequence[View], chosen: Indices, step: Callable[[], object] | None) -> FloatArray:
            return self._estimate.entropies(reference, views, chosen, n_threads, step)

        def judge(views: list[View], chosen: Indices) -> Judge:
            return lambda sets: self._errors(sets, views, reference, chosen, n_threads)

        self._find_views(rows, columns, loss, judge, self._weight_for_choice(rows), random)
        return self

    def _derive(self) -> None:
        super()._derive()
        rows = self._rows
        self._reference = Reference(self._points, rows.target, rows.weight, self._gap, len(self.classes_))

    def _make_estimate(self, rows: DistinctRows) -> Estimate:
        n_rows, n_classes = len(rows.target), len(self.classes_)
        if self.estimate == "distances":
            self.k_ = 1 if self.k is None else self.k
            return Distances(self.k_, self.tsallis_order)
        usual = min(MOST_NEIGHBOURS, max(FEWEST_NEIGHBOURS, n_rows // (4 * n_classes)))
        self.k_ = min(usual, n_rows - 1) if self.k is None else self.k
        if self.k_ >= n_rows:
            raise ValueError(f"k={self.k} neighbours need more than {self.k} distinct rows; X has {n_rows}. Lower k.")
        return Counts(self.k_, self.tsallis_order, self.prior_weight, self._prior)

    def _warn_of_light_rows(self, rows: DistinctRows) -> None:
        """Weights are numbers of rows: if they add up to one, there is hardly any."""
        total = float(rows.weight.sum())
        if self.estimate == "counts" and total < min(self.k_, len(rows.weight)):
            warn_user(
                f"The weights of {len(rows.weight)} distinct rows add up to {total:.3g}, less than k={self.k_} rows of "
                "weight 1, so that prior_weight pulls all probabilities towards the shares of the classes. A weight is "
                "a number of rows: multiply the weights (by the number of rows, if they add up to 1), or lower "
                "prior_weight."
            )

    def _weight_for_choice(self, rows: DistinctRows) -> Vector:
        """With distances, no weight for rows without k others of their class, and a warning for classes too small."""
        if self.estimate == "counts":
            return rows.weight
        size = np.bincount(rows.target)
        few = np.flatnonzero(size < self.k_)
        if len(size) - len(few) < 2 or size.max() <= self.k_:
            largest = np.sort(size)[::-1]
            raise ValueError(
                f"k={self.k_} needs two classes of {self.k_} distinct rows or more, one of them of {self.k_ + 1}; the "
                f"largest two have {largest[0]} and {largest[1]}. Lower k."
            )
        if len(few):
            warn_user(
                f"The class {plain(self.classes_[few[0]])!r} has {size[few[0]]} distinct row(s), fewer than "
                f"k={self.k_}, and will never be predicted; lower k, or leave the class out."
            )
        return rows.weight * (size[rows.target] > self.k_)

    def _errors(
        self, sets: list[list[int]], views: list[View], reference: Reference, rows: Indices, n_threads: int
    ) -> list[Vector]:
        """1 for every row that a set of views gets wrong when the row itself is left out."""
        union = sorted({j for kept in sets for j in kept})
        place = {j: at for at, j in enumerate(union)}
        queries, truth = reference.points[rows], reference.label[rows]
        lost = [np.zeros(len(rows)) for _ in sets]
        chosen = [views[j] for j in union]
        for block, ratios, _ in in_blocks(self._estimate, reference, chosen, queries, rows.astype(np.int32), n_threads):
            for one, kept in zip(lost, sets, strict=True):
                label = DECIDE[self._decide](ratios.of_views([place[j] for j in kept]), self._prior).label
                one[block] = label != truth[block]
        return lost

    def _blocks(
        self, values: Table, exclude: NDArray[np.int32] | None = None
    ) -> Iterator[tuple[slice, Ratios, Sides, Decisions]]:
        """Queries in blocks, with all that is known of them."""
        for block, ratios, sides in in_blocks(
            self._estimate, self._reference, self._views, self._coordinates(values), exclude, thread_count(self.n_jobs)
        ):
            yield block, ratios, sides, DECIDE[self._decide](ratios, self._prior)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        probability : array of shape (n_samples, n_classes)
            In proportion to one over the class's least ratio in any view ("select"), or to votes ("vote"); the classes'
            shares in training where every view lacks a value.
        """
        check_is_fitted(self)
        return np.concatenate([decided.probability for *_, decided in self._blocks(self._query_values(X))])

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self)
        return self._answered(self._query_values(X))[1]

    def _answered(self, values: Table, exclude: NDArray[np.int32] | None = None) -> tuple[NDArray[np.intp], Any]:
        decided = [each for *_, each in self._blocks(values, exclude)]
        label = np.concatenate([each.label for each in decided])
        return np.concatenate([each.view for each in decided]), self.classes_[label]

    def _batches(self, values: Table, wording: Wording) -> Iterator[tuple[Batch, int]]:
        for block, ratios, sides, decided in self._blocks(values):
            yield ClassBatch(wording, values[block], sides, ratios, decided), len(decided.label)

    def _quality(self, answer: NDArray[Any], truth: NDArray[Any], weight: Vector) -> float:
        return float(weight @ (answer == truth) / weight.sum())

    def _truth(self, y: Any, values: Table) -> NDArray[Any]:
        return one_target_per_row(self, y, values)
