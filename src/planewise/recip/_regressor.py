"""RECIP for numbers: the same choice of views, with squared errors in place of entropies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise._input import SQUARED_IN_FLOAT32, all_or_nothing, number_problem, real_targets, thread_count
from planewise._params import Limit, check_parameters, integer, keep_parameters
from planewise.recip._base import SHARED_LIMITS, ProjectionEstimator
from planewise.recip._entropy import LARGEST
from planewise.recip._explanation import Wording
from planewise.recip._neighbours import VIEWS_PER_STEP, nearest
from planewise.recip._number_explanation import NumberBatch
from planewise.recip._rows import DistinctRows, FloatArray, Indices, Table, Vector, read_ranked
from planewise.recip._search import Judge
from planewise.words import Batch
from planewise.words import ViewColumns as View

NEIGHBOURS_AT_ONCE = 2**23
USUAL_NEIGHBOURS = 5


class _Answers:
    """What views answer to queries, and with which expected error: (views, queries), NaN where they cannot."""

    def __init__(
        self, near: tuple[NDArray[np.int32], FloatArray], k: int, rows: DistinctRows, loss: FloatArray
    ) -> None:
        self.rows, self.distance = near[0][..., :k], near[1][..., :k]
        self.answer = _mean_of(self.rows, rows.target, rows.weight)
        judges = near[0]
        lost = loss[np.arange(len(loss))[:, None, None], np.maximum(judges, 0)]
        counts = np.where((judges >= 0) & ~np.isnan(lost), rows.weight[np.maximum(judges, 0)], 0)
        with np.errstate(invalid="ignore"):
            self.expected = np.sqrt((counts * np.nan_to_num(lost)).sum(axis=2) / counts.sum(axis=2))

    def chosen(self, views: list[int] | None, otherwise: float) -> tuple[NDArray[np.intp], Vector]:
        """The view of the least expected error among some (-1: none can answer), and its answer."""
        expected = self.expected if views is None else self.expected[views]
        answer = self.answer if views is None else self.answer[views]
        least = np.where(np.isnan(expected), np.inf, expected)
        view = least.argmin(axis=0)
        every = np.arange(least.shape[1])
        known = np.isfinite(least[view, every])
        return np.where(known, view, -1), np.where(known, answer[view, every], otherwise)


class RECIPRegressor(RegressorMixin, ProjectionEstimator):
    """Predict each row's number in the low-dimensional view in which its neighbours agree best (the later RIPR).

    The loss of a row in a view is the squared error of the mean of its `k` nearest rows there, divided by the variance
    of y. The same search as for classes keeps the views that together leave the least loss. A query is answered in the
    view whose training rows around the query were answered best.

    Parameters
    ----------
    max_dim : int, default=2
        Maximum number of features of a view. All views of one and two features are candidates. Larger ones are all
        tried if `max_candidates` allows; otherwise they are grown from the best smaller ones, which can miss a parity
        of three features.
    k : int or None, default=None
        Number of nearest rows that are averaged, by their weights. Equal rows (values and target) count once. None: 5,
        or all others if there are fewer.
    n_judges : int, default=20
        Number of training rows around a query by which a view is judged there.
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
        How views are chosen. "answers": by trial, those whose answers have the least squared error on training rows,
        each left out in turn. "recip": Algorithm 1 of the paper, with an exact row solver. "greedy": by what each adds
        to the rows' least losses. "lasso", "robust_lasso": by regression on them. "auto": "recip" if `lam` is given,
        else "answers".
    projections : list of tuples or None, default=None
        Views to use as they are, by column number or name, instead of a search.
    include_all_features : bool, default=False
        Whether the view of all features is a candidate as well.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Categorical columns: those with a category dtype, or these (names, numbers or a mask). Ordered categories
        (ordered in pandas or Arrow, Enum in polars) count by their ranks, like numbers.
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
    RECIPClassifier : The same for classes, as published.

    Examples
    --------
    >>> from planewise import RECIPRegressor
    >>> from sklearn.datasets import make_friedman2
    >>> X, y = make_friedman2(1000, random_state=0)
    >>> model = RECIPRegressor(random_state=0).fit(X[:600], y[:600])
    >>> model.score(X[600:], y[600:]) > 0.8
    True
    >>> model.projections_[0]
    (1, 2)
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = SHARED_LIMITS | {
        "k": integer(1, none=True),
        "n_judges": integer(1),
    }
    _loss_is_entropy = False
    _quality_name = "rmse"

    def __init__(
        self,
        max_dim: int = 2,
        *,
        k: int | None = None,
        n_judges: int = 20,
        lam: float | None = None,
        max_projections: int | None = None,
        min_support: float = 0.01,
        keep: str = "best",
        unit_columns: bool = True,
        max_candidates: int | None = 6000,
        max_rows: int | None = 4000,
        selection: str = "auto",
        projections: Any = None,
        include_all_features: bool = False,
        categorical_features: Any = "from_dtype",
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
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of two is the row twice; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_parameters(self)
        random = check_random_state(self.random_state)
        n_threads = thread_count(self.n_jobs)
        problem = number_problem(self, X, y, sample_weight, read=read_ranked, targets=SQUARED_IN_FLOAT32)
        rows = self._merged(problem, problem.target)
        self.k_ = self._usable_k(len(rows.target))
        points, columns = self._place(rows)
        self._mean = float(np.average(rows.target, weights=rows.weight))
        variance = float(np.average((rows.target - self._mean) ** 2, weights=rows.weight))
        self._variance = variance if variance > 0 else 1.0

        def loss(views: Sequence[View], chosen: Indices, step: Callable[[], object] | None) -> FloatArray:
            return self._losses(points, rows, views, chosen, self._scaling.gap, n_threads, step)

        def judge(views: list[View], chosen: Indices) -> Judge:
            return lambda sets: self._squared_errors(sets, views, points, rows, chosen, n_threads)

        self._find_views(rows, columns, loss, judge, rows.weight, random)
        everyone = np.arange(len(rows.target))
        self._loss = self._losses(self._points, self._rows, self._views, everyone, self._gap, n_threads, None)
        self._loss *= np.float32(self._variance)
        return self

    def _usable_k(self, n_rows: int) -> int:
        if n_rows < 2:
            raise ValueError(f"{type(self).__name__} needs at least two distinct rows; there is only 1 sample.")
        if self.k is not None and self.k >= n_rows:
            raise ValueError(f"k={self.k} neighbours need more than {self.k} distinct rows; X has {n_rows}. Lower k.")
        return min(USUAL_NEIGHBOURS, n_rows - 1) if self.k is None else self.k

    def _losses(
        self,
        points: FloatArray,
        rows: DistinctRows,
        views: Sequence[View],
        chosen: Indices,
        gap: FloatArray,
        n_threads: int,
        step: Callable[[], object] | None,
    ) -> FloatArray:
        """Squared errors of rows answered by their neighbours, in units of the variance, at most 10; (views, rows)."""
        out = np.empty((len(views), len(chosen)), dtype=np.float32)
        exclude, queries = chosen.astype(np.int32), points[chosen]
        for first in range(0, len(views), VIEWS_PER_STEP):
            block = list(views[first : first + VIEWS_PER_STEP])
            near, _ = nearest(points, block, queries, self.k_, exclude=exclude, categorical=gap, n_threads=n_threads)
            error = _mean_of(near, rows.target, rows.weight) - rows.target[chosen]
            out[first : first + len(block)] = np.minimum(error**2 / self._variance, LARGEST)
            if step is not None:
                step()
        return out

    def _squared_errors(
        self,
        sets: list[list[int]],
        views: list[View],
        points: FloatArray,
        rows: DistinctRows,
        chosen: Indices,
        n_threads: int,
    ) -> list[Vector]:
        """Of the chosen rows, each answered by a set of views without itself."""
        union = sorted({j for kept in sets for j in kept})
        place = {j: at for at, j in enumerate(union)}
        tried, gap = [views[j] for j in union], self._scaling.gap
        loss = self._losses(points, rows, tried, np.arange(len(points)), gap, n_threads, None)
        lost = [np.zeros(len(chosen)) for _ in sets]
        truth, exclude = rows.target[chosen], chosen.astype(np.int32)
        for block, answers in self._answer_blocks(points, rows, tried, loss, points[chosen], exclude, gap, n_threads):
            for one, kept in zip(lost, sets, strict=True):
                _, prediction = answers.chosen([place[j] for j in kept], self._mean)
                one[block] = (prediction - truth[block]) ** 2
        return lost

    def _answer_blocks(
        self,
        points: FloatArray,
        rows: DistinctRows,
        views: list[View],
        loss: FloatArray,
        queries: FloatArray,
        exclude: NDArray[np.int32] | None,
        gap: FloatArray,
        n_threads: int,
    ) -> Iterator[tuple[slice, _Answers]]:
        """Answers of all views to queries, so many at a time that the neighbours stay few."""
        most = max(self.k_, self.n_judges)
        size = max(1, NEIGHBOURS_AT_ONCE // (len(views) * most))
        for first in range(0, len(queries), size):
            block = slice(first, first + size)
            near = nearest(
                points,
                views,
                queries[block],
                most,
                exclude=None if exclude is None else exclude[block],
                categorical=gap,
                n_threads=n_threads,
            )
            yield block, _Answers(near, self.k_, rows, loss)

    def _answers(self, values: Table, exclude: NDArray[np.int32] | None = None) -> Iterator[tuple[slice, _Answers]]:
        return self._answer_blocks(
            self._points,
            self._rows,
            self._views,
            self._loss,
            self._coordinates(values),
            exclude,
            self._gap,
            thread_count(self.n_jobs),
        )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        prediction : array of shape (n_samples,)
            The mean of the nearest rows in the view chosen; the mean of all rows where every view lacks a value.
        """
        check_is_fitted(self)
        return self._answered(self._query_values(X))[1]

    def _answered(self, values: Table, exclude: NDArray[np.int32] | None = None) -> tuple[NDArray[np.intp], Any]:
        found = [answers.chosen(None, self._mean) for _, answers in self._answers(values, exclude)]
        return np.concatenate([view for view, _ in found]), np.concatenate([number for _, number in found])

    def _batches(self, values: Table, wording: Wording) -> Iterator[tuple[Batch, int]]:
        for block, found in self._answers(values):
            view, prediction = found.chosen(None, self._mean)
            yield (
                NumberBatch(
                    wording, values[block], found.rows, found.distance, found.answer, found.expected, view, prediction
                ),
                len(view),
            )

    def _quality(self, answer: NDArray[Any], truth: NDArray[Any], weight: Vector) -> float:
        return float(np.sqrt(weight @ (answer - truth) ** 2 / weight.sum()))

    def _truth(self, y: Any, values: Table) -> NDArray[Any]:
        return real_targets(self, y, values)


def _mean_of(near: NDArray[np.int32], target: Vector, weight: Vector) -> Vector:
    """Weighted means over the last axis; NaN where there is no neighbour."""
    there = np.where(near >= 0, weight[np.maximum(near, 0)], 0)
    with np.errstate(invalid="ignore"):
        return (there * target[np.maximum(near, 0)]).sum(axis=-1) / there.sum(axis=-1)
