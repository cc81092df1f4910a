"""A sum of a few two-feature views, for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from planewise._params import Limit, check_parameters, keep_parameters, one_of, real
from planewise.additive.base import Views
from planewise.additive.gains import Floats
from planewise.data.problem import IN_FLOAT32, all_or_nothing, number_problem, real_targets
from planewise.trees.losses import regression_loss

LOSSES = ("auto", "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie")
AGREES = 0.5  # of what all views add: if the leading view alone adds as much, it gives about the same answer


class AdditiveRegressor(RegressorMixin, Views):
    """A few two-feature pictures that decide: an additive model of views, for numbers.

    The prediction (for "poisson", "gamma" and "tweedie" its logarithm) is a sum of a few functions of one or two
    columns each, the *views*; each function is a sum of small trees of oblique planes. Every view can be drawn as one
    picture, and these pictures are the whole model. See `AdditiveClassifier` for how views are found.

    Parameters
    ----------
    loss : str, default="auto"
        "squared_error" (which is "auto"), "absolute_error", "huber", "quantile", "poisson", "gamma" or "tweedie". The
        last three have a logarithmic link.
    alpha : float, default=0.9
        The level for "quantile"; for "huber", the share of residuals that count squared.
    power : float, default=1.5
        For "tweedie": the variance is proportional to this power of the mean, between 1 and 2.
    max_views : int, default=8
        Maximum number of views.
    max_dim : {1, 2}, default=2
        Maximum number of columns in a view. 2 takes tables of up to 2,000 columns.
    projections : list of tuples or None, default=None
        Your own views: tuples of one or two column numbers or names. None searches for them.
    n_estimators : int, default=200
        Maximum number of rounds. In each, every view gets one tree.
    learning_rate : float, default=0.15
        How far each tree moves the scores (shrinkage).
    max_depth : int or "auto", default="auto"
        Depth of each tree. "auto" tries 1 and 2 by cross-validation; beyond 10,000 rows (with ``cv=None``) it is 3.
    max_planes : int, default=2
        Maximum number of planes per node, which then has up to ``2 ** max_planes`` children.
    min_child_weight : float, default=1.0
        Minimum sum of Hessians in a child.
    reg_lambda : float, default=1.0
        Added to the Hessian of every cell.
    smoothing : float, default=16.0
        Weight of the parent's value in a node's value, in units of the Hessian, which is rows for the squared error.
        Not used by "absolute_error" and "quantile".
    cv : int, splitter, iterable or None, default=None
        Number of folds, a splitter of scikit-learn, or pairs of rows to learn from and rows to leave out. None is 10
        folds up to 2,000 different rows and 5 up to 10,000; beyond, one fifth of the rows is left out once, and only
        the number of rounds is chosen: there are `max_views` views. With a number or None, equal rows are always in
        the same fold.
    n_iter_no_change : int, default=10
        Number of rounds without progress that end a fit in cross-validation.
    keep_rows : int, default=1000
        Number of training rows that the model keeps to show them beside a case, in the columns of its views only. 0
        keeps none: explanations then name no rows.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the prediction may not fall as the feature rises, -1 if it may not rise, 0
        otherwise.
    verbose : int, default=0
        1 shows a progress line.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed of the folds and of the oblique candidates.

    Attributes
    ----------
    projections_ : list of tuple
        The columns of each view, the most important view first.
    projection_names_ : list of tuple
        Their names.
    projection_importance_ : array of shape (n_views,)
        Mean absolute score of each view on the training rows.
    view_base_ : array of shape (1,)
        What the scores of all views are added to.
    n_iter_ : int
        Number of rounds.
    depth_ : int
        Depth of the trees.
    validation_loss_ : float
        Mean loss on the rows that were left out, with this number of views and rounds.
    forest_ : Forest
        All trees as flat arrays, those of the first view first.
    base_score_ : array of shape (1,)
        Where scores started.
    categories_ : dict
        The categories of each categorical column, by its number.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.

    See Also
    --------
    AdditiveClassifier : The same for classification.
    SLMBoostRegressor : Trees of all columns: more accurate on large tables, and harder to read.

    Examples
    --------
    >>> from planewise import AdditiveRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> model = AdditiveRegressor(max_views=4, random_state=0).fit(X[:600], y[:600])
    >>> (0, 1) in model.projections_, model.score(X[600:], y[600:]) > 0.8
    (True, True)
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        **Views.parameter_limits,
        "loss": one_of(*LOSSES),
        "alpha": real(0, 1),
        "power": Limit(lambda value: real(1, 2).allows(value) and 1 < value < 2, "a number above 1 and below 2"),
    }
    alpha: float
    power: float
    _quality_name = "rmse"

    def __init__(
        self,
        *,
        loss: str = "auto",
        alpha: float = 0.9,
        power: float = 1.5,
        max_views: int = 8,
        max_dim: int = 2,
        projections: Any = None,
        n_estimators: int = 200,
        learning_rate: float = 0.15,
        max_depth: int | str = "auto",
        max_planes: int = 2,
        min_child_weight: float = 1.0,
        reg_lambda: float = 1.0,
        smoothing: float = 16.0,
        cv: Any = None,
        n_iter_no_change: int = 10,
        keep_rows: int = 1000,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the views and fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. An integer weighs as much as that many equal rows, except in the order of
            categories.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._refuse_files(X)
        problem = number_problem(self, X, y, sample_weight, targets=IN_FLOAT32)
        loss = regression_loss(self.loss, self.alpha, problem.target, None, self.power, problem.kept)
        self._fit(problem, problem.target, loss, X, y)
        return self

    def predict(self, X: Any) -> Floats:
        """The predicted number of each row."""
        raw = self._raw(X)
        return self._loss.numbers(raw)

    # ------------------------------------------------------------------------------------------------ what views do
    def _kept_targets(self) -> NDArray[Any]:
        return self._kept.target

    def _truth(self, y: Any, rows: NDArray[np.float32]) -> NDArray[Any]:
        return real_targets(self, y, rows)

    def _quality(self, answer: NDArray[Any], truth: NDArray[Any], weight: Floats) -> float:
        return float(np.sqrt(np.average((answer - truth) ** 2, weights=weight)))

    def _leading(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[Any]]:
        scores = self._view_scores(rows)[:, :, 0]
        added = scores.sum(axis=1)
        lead = np.abs(scores).argmax(axis=1)
        alone = scores[np.arange(len(rows)), lead]
        near = np.abs(alone - added) <= AGREES * np.abs(added)
        return lead, near, self._loss.numbers((added + self.view_base_[0])[:, None])
