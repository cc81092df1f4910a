"""RECIP: each row is classified in one of a few low-dimensional views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

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
    seed,
    threads,
)
from planewise._text import feature_names, number, percent
from planewise.data.problem import (
    all_or_nothing,
    class_problem,
    one_target_per_row,
    thread_count,
    values_as_given,
)
from planewise.data.scaling import scaling_limit
from planewise.data.values import kinds_of, plain_value
from planewise.explain.describe import Description, Limits, TableSection
from planewise.explain.estimator import ShownInNotebooks
from planewise.explain.neighbours import ProjectionExplanation
from planewise.explain.projections import FittedRows, ViewColumns, ViewsReport, given_views, row_numbers
from planewise.recip.decision import Decisions, Ratios, select, vote
from planewise.recip.estimates import Counts, Distances, Estimate, Reference, Sides, in_blocks
from planewise.recip.explain import ClassBatch
from planewise.recip.explain_values import Wording, plain
from planewise.recip.rows import (
    Coordinates,
    DistinctRows,
    FloatArray,
    Indices,
    Table,
    Vector,
    distinct_rows,
    find_coordinates,
    informative_columns,
    read_ranked,
    with_ranks,
)
from planewise.recip.search import Found, Judge, find_views

NONE = Limit(lambda value: value is None, "None")
VIEWS = Limit(
    lambda value: value is None or (not isinstance(value, str) and hasattr(value, "__iter__")),
    "a list of views (tuples of column numbers or names) or None",
)
MOST_NEIGHBOURS, FEWEST_NEIGHBOURS = 20, 3  # where k is not given
DECIDE = {"select": select, "vote": vote}


class RECIPClassifier(ClassifierMixin, ShownInNotebooks, BaseEstimator):
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
    AdditiveRegressor : Predict numbers by a sum of two-feature functions.

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

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        "max_dim": integer(1),
        "k": integer(1, none=True),
        "estimate": one_of("counts", "distances"),
        "prior_weight": real(0, open_low=True),
        "tsallis_order": real(-100, 1 - 1e-6),
        "lam": either(real(0), NONE),
        "max_projections": integer(1, none=True),
        "min_support": real(0, 1),
        "keep": one_of("best", "used"),
        "unit_columns": boolean(),
        "max_candidates": integer(1, none=True),
        "max_rows": integer(1, none=True),
        "selection": one_of("auto", "answers", "recip", "greedy", "lasso", "robust_lasso"),
        "decide": one_of("select", "vote"),
        "projections": VIEWS,
        "include_all_features": boolean(),
        "class_weight": class_weights(),
        "scaling": scaling_limit("standard", "arcsinh"),
        "n_jobs": threads(),
        "verbose": Limit(lambda value: isinstance(value, (bool, int, np.integer)), "True, False or an integer"),
        "random_state": seed(),
    }
    n_features_in_: int
    categories_: Mapping[int, NDArray[Any]]
    classes_: NDArray[Any]
    projections_: list[ViewColumns]
    projection_support_: Vector
    projection_entropy_: Vector
    _ranks: dict[int, NDArray[Any]]

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

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
        rows = distinct_rows(problem.rows, problem.label, problem.weight, problem.kept)
        share = np.bincount(rows.target, weights=rows.weight)
        self._prior = share / share.sum()
        points, columns = self._place(rows)
        self._estimate, self._decide = self._make_estimate(rows), self.decide
        self._warn_of_light_rows(rows)
        reference = Reference(points, rows.target, rows.weight, self._scaling.gap, len(self.classes_))

        def loss(views: Sequence[ViewColumns], chosen: Indices, step: Callable[[], object] | None) -> FloatArray:
            return self._estimate.entropies(reference, views, chosen, n_threads, step)

        def judge(views: list[ViewColumns], chosen: Indices) -> Judge:
            return lambda sets: self._errors(sets, views, reference, chosen, n_threads)

        weight = self._weight_for_choice(rows)
        found = find_views(self, self._given(), columns, loss, judge, weight, random, n_threads)
        self._keep_views(found, rows)
        return self

    def _given(self) -> list[ViewColumns] | None:
        if self.projections is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        return given_views(self.projections, self.n_features_in_, names, "projections")

    def _place(self, rows: DistinctRows) -> tuple[FloatArray, list[int]]:
        """Coordinates of the rows, and the columns that can distinguish any."""
        columns = informative_columns(rows.values)
        if not columns:
            raise ValueError(
                f"Every column of X is constant (or missing): no view can distinguish rows, and {type(self).__name__} "
                "has nothing to show. Give it a feature that varies."
            )
        nominal = [j for j in self.categories_ if j not in self._ranks]
        self._scaling: Coordinates = find_coordinates(rows.values, rows.weight, nominal, self.scaling)
        return self._scaling(rows.values), columns

    def _keep_views(self, found: Found, rows: DistinctRows) -> None:
        """What is needed for answers: the columns of the kept views only."""
        self.projections_ = found.views
        self.projection_support_ = found.support
        self.projection_entropy_ = found.entropy
        self.optimality_gap_ = found.gap
        self.n_candidates_ = found.n_candidates
        self.lam_ = found.lam
        self.lam_losses_ = found.lam_losses
        self.objective_ = np.array(found.objective)
        self._overall_entropy = found.overall_entropy
        self._columns = sorted({j for view in found.views for j in view})
        place = {j: at for at, j in enumerate(self._columns)}
        self._views: list[ViewColumns] = [tuple(place[j] for j in view) for view in found.views]
        self._rows = DistinctRows(
            np.ascontiguousarray(rows.values[:, self._columns]),
            rows.target,
            rows.weight,
            rows.origin,
            rows.origin_start,
        )
        self._derive()

    def _derive(self) -> None:
        """What follows from the rest, and is neither saved nor pickled."""
        self._gap = np.ascontiguousarray(self._scaling.gap[self._columns])
        self._points = self._coordinates(self._rows.values)
        rows = self._rows
        self._reference = Reference(self._points, rows.target, rows.weight, self._gap, len(self.classes_))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_gap", "_points", "_reference")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_rows"):
            self._derive()

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
        self, sets: list[list[int]], views: list[ViewColumns], reference: Reference, rows: Indices, n_threads: int
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

    def _batches(self, values: Table, wording: Wording) -> Iterator[tuple[ClassBatch, int]]:
        """Yield the explanations of a block of rows, and their number."""
        for block, ratios, sides, decided in self._blocks(values):
            yield ClassBatch(wording, values[block], sides, ratios, decided), len(decided.label)

    def explain(
        self, X: Any, *, feature_names: Sequence[str] | None = None, units: Any = None
    ) -> list[ProjectionExplanation]:
        """Why each row gets its prediction: the view, the neighbours that decide, and the runner-up views.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        feature_names : sequence of str, default=None
            Names of all features; by default those of the table in ``fit``, or x0, x1, ...
        units : dict or list, default=None
            Units of features, by name or one per feature.

        Returns
        -------
        explanations : list of ProjectionExplanation
            One per row. Row numbers are those of X in ``fit``.
        """
        check_is_fitted(self)
        batches = self._batches(self._query_values(X), Wording(self, feature_names, units))
        return [ProjectionExplanation(batch, query) for batch, n_rows in batches for query in range(n_rows)]

    def views_report(self, X: Any = None, y: Any = None) -> ViewsReport:
        """Which share of the rows each view decides, and how well: a table.

        Parameters
        ----------
        X, y : default=None
            Rows to judge by; by default the training rows, each answered without itself.

        Returns
        -------
        report : ViewsReport
            ``view``, ``dimension``, ``support`` (share of training rows whose best kept view it is), ``decides``
            (share of rows predicted in it), ``accuracy`` on them (None without such rows), ``entropy`` (mean
            loss of the rows it is best for) and ``overall`` (mean loss of all rows in it).
        """
        check_is_fitted(self)
        if X is None:
            values, weight = self._rows.values, self._rows.weight
            truth = self.classes_[self._rows.target]
            view, answer = self._answered(values, np.arange(len(values), dtype=np.int32))
        else:
            values = self._query_values(X)
            truth, weight = one_target_per_row(self, y, values), np.ones(len(values))
            view, answer = self._answered(values)
        rows = []
        for place, names in enumerate(self.projection_names_):
            mine = view == place
            rows.append(
                {
                    "view": " × ".join(names),
                    "dimension": len(names),
                    "support": float(self.projection_support_[place]),
                    "decides": float(weight[mine].sum() / weight.sum()),
                    "accuracy": _accuracy(answer[mine], truth[mine], weight[mine]) if mine.any() else None,
                    "entropy": float(self.projection_entropy_[place]),
                    "overall": float(self._overall_entropy[place]),
                }
            )
        return ViewsReport(rows)

    @property
    def projection_names_(self) -> list[tuple[str, ...]]:
        """The names of the features of each kept view."""
        names = feature_names(self)
        return [tuple(names[j] for j in view) for view in self.projections_]

    def renumber_rows(self, numbers: NDArray[np.intp]) -> None:
        """Let explanations use other numbers for the rows of the fit, which may be a part of a larger table.

        Parameters
        ----------
        numbers : array of int of shape (n_samples,)
            The number of each row of X in ``fit``, 0 or more.
        """
        check_is_fitted(self)
        self._rows = self._rows.renumbered(row_numbers(numbers, int(self._rows.origin.max())))

    def fitted_rows(self) -> FittedRows:
        """The rows of the fit as the user gave them, equal ones once, for pictures.

        Returns
        -------
        rows : FittedRows
            Columns that no view reads are empty.
        """
        check_is_fitted(self)
        table = np.full((len(self._rows.target), self.n_features_in_), None, dtype=object)
        for at, column in enumerate(self._columns):
            values, place = np.unique(self._rows.values[:, at], return_inverse=True)
            known = np.empty(len(values), dtype=object)
            known[:] = [self._as_given(value, column) for value in values]
            table[:, column] = known[place]
        first, often = self._rows.origin[self._rows.origin_start[:-1]], np.diff(self._rows.origin_start)
        return FittedRows(table, self.classes_[self._rows.target], first, self._rows.weight, often)

    def _describe(self, about: Description, limits: Limits) -> None:
        """The views that decide, the most used first."""
        names = [" × ".join(view) for view in self.projection_names_]
        about.facts.append(("views", str(len(names))))
        rows = [
            [name, percent(share), number(entropy)]
            for name, share, entropy in zip(names, self.projection_support_, self.projection_entropy_, strict=True)
        ]
        about.sections.append(TableSection("Views", ["view", "decides", "entropy"], rows))

    def _query_values(self, X: Any) -> Table:
        """The columns of the kept views, in the user's units (codes and ranks of categories)."""
        rows = with_ranks(values_as_given(self, X, reset=False), self._ranks)
        return np.ascontiguousarray(rows[:, self._columns])

    def _coordinates(self, values: Table) -> FloatArray:
        return self._scaling(values, self._columns)

    def _as_given(self, value: float, column: int) -> Any:
        """A stored number as the user wrote it: a category by its name."""
        if np.isnan(value):
            return None
        if column in self._ranks:
            return plain(self.categories_[column][int(np.flatnonzero(self._ranks[column] == value)[0])])
        if column in self.categories_:
            known = self.categories_[column]
            return plain(known[int(value)]) if value < len(known) else "(a category not seen in fit)"
        return plain_value(kinds_of(self).get(column), float(value))


def _accuracy(answer: NDArray[Any], truth: NDArray[Any], weight: Vector) -> float:
    return float(weight @ (answer == truth) / weight.sum())
