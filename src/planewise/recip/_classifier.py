"""RECIP for classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise._input import all_or_nothing, counted_classes, one_target_per_row, require_two_classes, thread_count
from planewise._params import (
    Limit,
    check_parameters,
    integer,
    one_of,
    real,
)
from planewise._warn import warn_user
from planewise.recip._answer import Decisions, Ratios, select, vote
from planewise.recip._base import SHARED_LIMITS, ProjectionEstimator
from planewise.recip._class_explanation import ClassBatch
from planewise.recip._documentation import document_views
from planewise.recip._estimates import Counts, Distances, Estimate, Reference, Sides, in_blocks
from planewise.recip._explanation import ProjectionExplanation, Wording, plain
from planewise.recip._report import ViewsReport
from planewise.recip._rows import DistinctRows, FloatArray, Indices, Table, Vector, distinct_rows
from planewise.recip._search import find_views
from planewise.recip._tuning import Judge
from planewise.recip._views import View

CLASSIFIER_LIMITS = SHARED_LIMITS | {
    "k": integer(1, none=True),
    "estimate": one_of("counts", "distances"),
    "smoothing": real(0, open_low=True),
    "alpha": real(-100, 1 - 1e-6),
    "decide": one_of("select", "vote"),
}
MOST_NEIGHBOURS, FEWEST_NEIGHBOURS = 20, 3  # where k is not given
DECIDE = {"select": select, "vote": vote}


@document_views
class RECIPClassifier(ClassifierMixin, ProjectionEstimator):
    """Classes from the one low-dimensional view in which a query's class is clear, and the proof of it.

    Every view is a small set of features, as they are. In each, a row's class is the clearer the more of its nearest
    rows are of its class (or, as published, the nearer the k-th row of its class is, relative to the k-th of others).
    RECIP keeps the few views that together make most rows clear, and answers each query in the view, and for the class,
    with the best odds: ``explain`` shows it. The published method is ``estimate="distances", selection="recip"``.

    Parameters
    ----------
    {search_parameters}
    k : int or None, default=<k>
        k: with "counts" how many nearest rows are looked at, with "distances" which neighbour's distance is taken on
        both sides. Equal rows (values and label) count as one neighbour. None: 20 for "counts" (fewer in small tables:
        a quarter of the mean size of a class, at least 3), 1 for "distances", as published.
    estimate : {"counts", "distances"}, default=<estimate>
        What the odds of a class come from: the weights of the k nearest rows of the class and of others, or (published)
        the distances to the k-th of either side. Distances say nothing where values repeat.
    smoothing : float, default=<smoothing>
        With "counts", so much weight is added to the neighbours, shared like the classes of all training rows.
    alpha : float, default=<alpha>
        alpha of the Tsallis divergence, below 1. It changes neither answers nor which view is best for a row, only what
        `lam` means, and how sharp probabilities are: with 0.5 they are the neighbours' estimate of the odds.
    selection : {"auto", "answers", "recip", "greedy", "lasso", "robust_lasso"}, default=<selection>
        How views are chosen. "answers": those whose answers have the least log-loss on training rows, each left out in
        turn; it sees views that are sure and wrong. "recip": the published Algorithm 1, with an exact row solver.
        "greedy": by what each adds to the rows' best entropies. "lasso", "robust_lasso": by regressing the rows' best
        entropies on all, which the paper compares. "auto": "recip" if `lam` is given, else "answers".
    {choice_parameters}
    decide : {"select", "vote"}, default=<decide>
        Whether the clearest view answers, or all kept views vote (which the paper compares).
    {table_parameters}
    {closing_parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    k_ : int
        The k used.
    {attributes}

    See Also
    --------
    RECIPRegressor : The same for numbers.

    Notes
    -----
    Equal rows are merged first, their weights added: a weight of two is the row twice. With
    "distances", a class of at most k distinct rows cannot help to choose views, and one of fewer than k is never
    answered, which ``fit`` warns of. A query that lacks a
    value of a view skips it; if it skips all, the commonest class is answered.

    References
    ----------
    .. [1] M. Fiterau, A. Dubrawski, "Projection retrieval for classification", NIPS 2012.

    Examples
    --------
    >>> from planewise import RECIPClassifier
    >>> from planewise.datasets import make_subspace_batches
    >>> X, y, details = make_subspace_batches(2, return_details=True, random_state=0)
    >>> model = RECIPClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> sorted(model.projections_) == sorted(map(tuple, details.pairs.tolist()))
    True
    >>> model.score(X[1000:], y[1000:]) > 0.85
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASSIFIER_LIMITS

    def __init__(
        self,
        max_dim: int = 2,
        *,
        k: int | None = None,
        estimate: str = "counts",
        smoothing: float = 1.0,
        alpha: float = 0.5,
        lam: float | None = None,
        max_projections: int | None = None,
        min_support: float = 0.01,
        max_candidates: int | None = 6000,
        max_rows: int | None = 4000,
        selection: str = "auto",
        decide: str = "select",
        projections: Any = None,
        include_all_features: bool = False,
        categorical_features: Any = "from_dtype",
        scale: bool | str = "standard",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.max_dim = max_dim
        self.k = k
        self.estimate = estimate
        self.smoothing = smoothing
        self.alpha = alpha
        self.lam = lam
        self.max_projections = max_projections
        self.min_support = min_support
        self.max_candidates = max_candidates
        self.max_rows = max_rows
        self.selection = selection
        self.decide = decide
        self.projections = projections
        self.include_all_features = include_all_features
        self.categorical_features = categorical_features
        self.scale = scale
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the views.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind, at least two of them.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of two is the row twice, so that their scale matters; rows of weight zero do not count.

        Returns
        -------
        self
        """
        check_parameters(self)
        random = check_random_state(self.random_state)
        n_threads = thread_count(self.n_jobs)
        values = self._take_rows(X)
        given = self._given()
        self.classes_, label, weight = counted_classes(self, y, values, sample_weight)
        require_two_classes(self, self.classes_)
        rows = distinct_rows(values, label, weight)
        share = np.bincount(rows.target, weights=rows.weight)
        self._prior = share / share.sum()
        points, columns = self._scale(rows)
        self._estimate, self._decide = self._make_estimate(rows), self.decide
        self._warn_of_light_rows(rows)
        weight = self._weight_for_choice(rows)
        reference = Reference(points, rows.target, rows.weight, self._scaling.gap, len(self.classes_))

        def loss(views: Sequence[View], chosen: Indices, step: Callable[[], object] | None) -> FloatArray:
            return self._estimate.entropies(reference, views, chosen, n_threads, step)

        def judge(views: list[View], chosen: Indices) -> Judge:
            return lambda sets: self._errors(sets, views, reference, chosen, n_threads)

        found = find_views(self, given, columns, loss, judge, weight, random, n_threads)
        self._keep_views(found, rows)
        return self

    def _derive(self) -> None:
        super()._derive()
        rows = self._rows
        self._reference = Reference(self._points, rows.target, rows.weight, self._gap, len(self.classes_))

    def _make_estimate(self, rows: DistinctRows) -> Estimate:
        n_rows, n_classes = len(rows.target), len(self.classes_)
        if self.estimate == "distances":
            self.k_ = 1 if self.k is None else self.k
            return Distances(self.k_, self.alpha)
        usual = min(MOST_NEIGHBOURS, max(FEWEST_NEIGHBOURS, n_rows // (4 * n_classes)))
        self.k_ = min(usual, n_rows - 1) if self.k is None else self.k
        if self.k_ >= n_rows:
            raise ValueError(f"k={self.k} neighbours need more than {self.k} distinct rows; X has {n_rows}. Lower k.")
        return Counts(self.k_, self.alpha, self.smoothing, self._prior)

    def _warn_of_light_rows(self, rows: DistinctRows) -> None:
        """Weights count rows: such as add up to one say that there is hardly any."""
        total = float(rows.weight.sum())
        if self.estimate == "counts" and self.smoothing > 0 and total < min(self.k_, len(rows.weight)):
            warn_user(
                f"The weights of {len(rows.weight)} distinct rows add up to {total:.3g}, less than k={self.k_} rows of "
                "weight 1, so that smoothing draws all probabilities to the classes' shares. A weight counts rows: "
                "multiply them (by the number of rows, if they add up to 1), or lower smoothing."
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
                f"k={self.k_}, and will never be answered; lower k, or leave it out."
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
        X : array or data frame of shape (n_samples, n_features)

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
        label = np.concatenate([decided.label for *_, decided in self._blocks(self._query_values(X))])
        return self.classes_[label]

    def explain(
        self, X: Any, *, feature_names: Sequence[str] | None = None, units: Any = None
    ) -> list[ProjectionExplanation]:
        """Why each row gets its class: the view, the neighbours on both sides, the runners-up, the best view against.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        feature_names : sequence of str, default=None
            Names of all features; by default those of the table in ``fit``, or x0, x1, ...
        units : dict or list, default=None
            Units of features, by name or one for each feature.

        Returns
        -------
        explanations : list of ProjectionExplanation
            One a row. Row numbers are those of X in ``fit``.
        """
        check_is_fitted(self)
        wording = Wording(self, feature_names, units)
        values = self._query_values(X)
        out = []
        for block, ratios, sides, decided in self._blocks(values):
            batch = ClassBatch(wording, values[block], sides, ratios, decided)
            out += [ProjectionExplanation(batch, query) for query in range(len(decided.label))]
        return out

    def views_report(self, X: Any = None, y: Any = None) -> ViewsReport:
        """Which share of the rows each view decides, and with what accuracy: a table.

        Parameters
        ----------
        X, y : default=None
            Rows to judge by; by default the training rows, each answered without itself.

        Returns
        -------
        report : ViewsReport
            ``view``, ``dimension``, ``support`` (share of training rows it is the best kept view of), ``decides``
            (share of rows answered in it), ``accuracy`` on those (None if there are none), ``entropy`` (mean Z of the
            rows it is best for) and ``overall`` (mean Z of all rows in it).
        """
        check_is_fitted(self)
        if X is None:
            values, weight = self._rows.values, self._rows.weight
            truth = self.classes_[self._rows.target]
            blocks = self._blocks(values, np.arange(len(values), dtype=np.int32))
        else:
            values = self._query_values(X)
            truth, weight = one_target_per_row(self, y, values), np.ones(len(values))
            blocks = self._blocks(values)
        decided = [each for *_, each in blocks]
        right = self.classes_[np.concatenate([each.label for each in decided])] == truth
        view = np.concatenate([each.view for each in decided])
        return self._report(
            view, weight, "accuracy", lambda mine: float(weight[mine] @ right[mine] / weight[mine].sum())
        )
