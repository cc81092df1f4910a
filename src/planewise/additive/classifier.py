"""A sum of a few two-feature views, for classification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from planewise._params import Limit, check_parameters, class_weights, keep_parameters, one_of
from planewise.additive.base import Views
from planewise.additive.gains import Floats
from planewise.additive.kept_rows import KeptRows
from planewise.additive.purify import Purification
from planewise.additive.values import leading
from planewise.data.problem import all_or_nothing, class_problem, class_targets
from planewise.trees.arrays import Forest
from planewise.trees.losses import RawLoss, classification_loss


class AdditiveClassifier(ClassifierMixin, Views):
    """A few two-feature pictures that decide: an additive model of views, for classification.

    The score of a class is a sum of a few functions of one or two columns each, the *views*; each function is a sum of
    small trees of oblique planes. Every view can be drawn as one picture, and these pictures are the whole model.

    The views are found greedily among all columns and all pairs of columns, by how much the cells of a grid explain of
    what the views before have left. Then rounds of boosting take turns with the views. The number of views, the depth
    of the trees and the number of rounds are chosen by cross-validation: the lowest loss on rows that were left out.

    Parameters
    ----------
    loss : "auto" or "log_loss", default="auto"
        The loss; both are the log-loss.
    max_views : int, default=8
        Maximum number of views.
    max_dim : {1, 2}, default=2
        Maximum number of columns in a view. 2 takes tables of up to 2,000 columns.
    projections : list of tuples or None, default=None
        Your own views: tuples of one or two column numbers or names. None searches for them.
    n_estimators : int, default=200
        Maximum number of rounds. In each, every view gets one tree (one per class if there are more than two).
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
        Weight of the parent's value in a node's value, in units of the Hessian.
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
        By column (or by name): 1 if the score may not fall as the feature rises, -1 if it may not rise, 0 otherwise.
        Not for more than two classes.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    verbose : int, default=0
        1 shows a progress line.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed of the folds and of the oblique candidates.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    projections_ : list of tuple
        The columns of each view, the most important view first.
    projection_names_ : list of tuple
        Their names.
    projection_importance_ : array of shape (n_views,)
        Mean absolute score of each view on the training rows; with more than two classes, of its differences from the
        mean over the classes.
    view_base_ : array of shape (n_outputs,)
        What the scores of all views are added to.
    n_iter_ : int
        Number of rounds.
    depth_ : int
        Depth of the trees.
    validation_loss_ : float
        Mean log-loss on the rows that were left out, with this number of views and rounds.
    forest_ : Forest
        All trees as flat arrays, those of the first view first.
    base_score_ : array of shape (n_outputs,)
        Where scores started.
    categories_ : dict
        The categories of each categorical column, by its number.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.

    See Also
    --------
    AdditiveRegressor : The same for numbers.
    RECIPClassifier : Each row is decided in one view, by its neighbours.
    SLMBoostClassifier : Trees of all columns: more accurate on large tables, and harder to read.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import AdditiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdditiveClassifier(max_views=3, random_state=0).fit(X[::2], y[::2])
    >>> len(model.projections_), model.score(X[1::2], y[1::2]) > 0.93
    (3, True)
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        **Views.parameter_limits,
        "loss": one_of("auto", "log_loss"),
        "class_weight": class_weights(),
    }
    classes_: NDArray[Any]
    _quality_name = "accuracy"

    def __init__(
        self,
        *,
        loss: str = "auto",
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
        class_weight: Any = None,
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
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. An integer weighs as much as that many equal rows, except in the order of
            categories.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._refuse_files(X)
        problem = class_problem(self, X, y, sample_weight, class_weight=self.class_weight)
        self.classes_ = problem.classes
        loss = classification_loss(self.loss, max(2, len(problem.classes)))
        target = problem.label.astype(np.float64)
        if len(problem.classes) > 1:
            self._fit(problem, target, loss, X, y)
            return self
        self.target_statistics_ = {}
        self._options(len(problem.rows), loss)
        self._candidates()
        self.forest_, self.base_score_, self._loss = Forest.empty(), np.zeros(1), RawLoss("constant")
        self.projections_, self.projection_importance_ = [], np.zeros(0)
        self.n_iter_, self.depth_, self.validation_loss_, self._seed = 0, 0, 0.0, 0
        self.feature_means_ = np.full(self.n_features_in_, np.nan, dtype=np.float32)
        self._purified = Purification({}, [], np.zeros((0, 1), np.float32))
        self._kept = KeptRows.none(len(problem.rows))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: one per row for two classes, else one per row and class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
        """
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, columns in the order of ``classes_``."""
        raw = self._raw(X)
        return self._loss.probabilities(raw)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        raw = self._raw(X)
        return self.classes_[self._loss.likeliest(raw)]

    # ------------------------------------------------------------------------------------------------ what views do
    def _kept_targets(self) -> NDArray[Any]:
        return self.classes_[self._kept.target.astype(np.intp)]

    def _truth(self, y: Any, rows: NDArray[np.float32]) -> NDArray[Any]:
        labels, place = class_targets(self, y, rows)
        return labels[place]

    def _quality(self, answer: NDArray[Any], truth: NDArray[Any], weight: Floats) -> float:
        return float(np.average(answer == truth, weights=weight))

    def _leading(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[Any]]:
        found = leading(self._view_scores(rows), self.view_base_)
        return found.lead, found.alone == found.first, self.classes_[found.first]
