"""Second-order boosting of trees of hyperplanes, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from planewise._input import (
    all_or_nothing,
    class_targets,
    counted_classes,
    real_targets,
    row_weights,
    without_zero_weights,
)
from planewise._params import (
    Limit,
    check_parameters,
    class_weights,
    one_of,
    real,
)
from planewise.slm._boosting import BOOST_LIMITS, Boosting, Callback, Data
from planewise.slm._documentation import document_growth
from planewise.slm._flat_forest import FlatForest
from planewise.slm._objectives import LossLike, RawLoss, classification_loss, regression_loss

REGRESSOR_LIMITS = BOOST_LIMITS | {"alpha": real(0, 1)}
CLASSIFIER_LIMITS = BOOST_LIMITS | {
    "class_weight": class_weights(),
    "multi_strategy": one_of("one_output_per_tree", "multi_output_tree"),
}


@document_growth
class SLMBoostRegressor(RegressorMixin, Boosting):
    """Gradient boosting with trees of hyperplanes, for numbers.

    Second order, as in XGBoost: each round grows a tree on the gradient and Hessian of the loss. Its trees are those of
    `SLMRegressor`: nodes with several oblique planes, wide and shallow.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson"} or callable, default="auto"
        What to lower; "auto" is the squared error. A callable gets the targets and the raw scores and returns the
        gradient and the Hessian of the loss in the scores.
    alpha : float, default=<alpha>
        The level of the "quantile" loss; for "huber", the share of residuals that count squared.
    {boost_parameters}
    {growth_parameters}
    {closing_parameters}

    Attributes
    ----------
    {boost_attributes}

    See Also
    --------
    SLMBoostClassifier : The same for classes.
    SLMRegressor : One tree.

    Examples
    --------
    >>> from planewise import SLMBoostRegressor
    >>> from planewise.datasets import make_friedman
    >>> X, y = make_friedman(1, random_state=0)
    >>> model = SLMBoostRegressor(random_state=0).fit(X[:600], y[:600])
    >>> model.score(X[600:], y[600:]) > 0.9
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = REGRESSOR_LIMITS

    def __init__(
        self,
        *,
        loss: LossLike = "auto",
        alpha: float = 0.9,
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
        super().__init__(
            loss=loss,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_child_weight=min_child_weight,
            min_split_gain=min_split_gain,
            noise_margin=noise_margin,
            reg_lambda=reg_lambda,
            smoothing=smoothing,
            subsample=subsample,
            colsample=colsample,
            max_planes=max_planes,
            plane_choice=plane_choice,
            max_cosine=max_cosine,
            min_relative_gain=min_relative_gain,
            n_projections=n_projections,
            subspace=subspace,
            subspace_size=subspace_size,
            max_coef=max_coef,
            coef_decay=coef_decay,
            rank_decay=rank_decay,
            n_bins=n_bins,
            bins=bins,
            refine_thresholds=refine_thresholds,
            max_rows_per_node=max_rows_per_node,
            max_rows_per_tree=max_rows_per_tree,
            max_ranked_features=max_ranked_features,
            categorical_features=categorical_features,
            monotonic_cst=monotonic_cst,
            base_score=base_score,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            callbacks=callbacks,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.alpha = alpha

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            What to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. A whole number weighs as much as that many equal rows, but
            `min_samples_leaf`, `noise_margin` and the order of categories count rows.
        X_val, y_val : like X and y, default=None
            Rows to watch: their loss after each round is kept in ``evals_result_``. They end the fit only with
            `early_stopping`; without it, all `n_estimators` rounds are grown and kept.

        Returns
        -------
        self
        """
        check_parameters(self)
        rows = self._rows(X)
        target = real_targets(self, y, rows)
        weight = row_weights(sample_weight, rows)
        rows, target, weight = without_zero_weights(rows, target, weight)
        loss = regression_loss(self.loss, self.alpha, target, self.base_score)

        def read(y: Any, rows: NDArray[np.float32]) -> NDArray[np.float64]:
            return real_targets(self, y, rows)

        self._learn(Data(rows, target, weight), loss, X_val, y_val, read, stratified=False)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        raw = self._raw(X)[:, 0]
        return np.exp(raw) if self._loss.core == "poisson" else raw

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Predictions after each round."""
        for raw in self._staged_raw(X):
            yield np.exp(raw[:, 0]) if self._loss.core == "poisson" else raw[:, 0]


@document_growth
class SLMBoostClassifier(ClassifierMixin, Boosting):
    """Gradient boosting with trees of hyperplanes, for classes.

    Second order, as in XGBoost: each round grows a tree (one a class if there are more than two) on the gradient and
    Hessian of the log-loss. Its trees are those of `SLMClassifier`: nodes with several oblique planes, wide, shallow.

    Parameters
    ----------
    loss : "log_loss" or callable, default="auto"
        What to lower; "auto" is the log-loss. A callable gets the numbers of the classes and the raw scores and returns
        the gradient and the Hessian of the loss in the scores.
    {boost_parameters}
    {growth_parameters}
    multi_strategy : {"one_output_per_tree", "multi_output_tree"}, default=<multi_strategy>
        With more than two classes: every round one tree a class, or one tree whose leaves hold a score for every class:
        quicker where classes are many, but it takes more rounds to the same loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    {closing_parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    {boost_attributes}

    See Also
    --------
    SLMBoostRegressor : The same for numbers.
    SLMClassifier : One tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import SLMBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SLMBoostClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASSIFIER_LIMITS
    classes_: NDArray[Any]

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
        multi_strategy: str = "one_output_per_tree",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            loss=loss,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_child_weight=min_child_weight,
            min_split_gain=min_split_gain,
            noise_margin=noise_margin,
            reg_lambda=reg_lambda,
            smoothing=smoothing,
            subsample=subsample,
            colsample=colsample,
            max_planes=max_planes,
            plane_choice=plane_choice,
            max_cosine=max_cosine,
            min_relative_gain=min_relative_gain,
            n_projections=n_projections,
            subspace=subspace,
            subspace_size=subspace_size,
            max_coef=max_coef,
            coef_decay=coef_decay,
            rank_decay=rank_decay,
            n_bins=n_bins,
            bins=bins,
            refine_thresholds=refine_thresholds,
            max_rows_per_node=max_rows_per_node,
            max_rows_per_tree=max_rows_per_tree,
            max_ranked_features=max_ranked_features,
            categorical_features=categorical_features,
            monotonic_cst=monotonic_cst,
            base_score=base_score,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            callbacks=callbacks,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.multi_strategy = multi_strategy
        self.class_weight = class_weight

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            What to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. A whole number weighs as much as that many equal rows, but
            `min_samples_leaf`, `noise_margin` and the order of categories count rows.
        X_val, y_val : like X and y, default=None
            Rows to watch: their loss after each round is kept in ``evals_result_``. They end the fit only with
            `early_stopping`; without it, all `n_estimators` rounds are grown and kept.

        Returns
        -------
        self
        """
        check_parameters(self)
        rows = self._rows(X)
        classes, label, weight = counted_classes(self, y, rows, sample_weight, self.class_weight)
        rows, label, weight = without_zero_weights(rows, label, weight)
        if self._goes_on() and not np.array_equal(classes, self.classes_):
            raise ValueError("y has other classes than the earlier fit that warm_start=True goes on from.")

        def labels_of(y: Any, rows: NDArray[np.float32]) -> NDArray[np.float64]:
            theirs, place = class_targets(self, y, rows)
            strange = theirs[~np.isin(theirs, classes)]
            if len(strange) > 0:
                raise ValueError(
                    f"y_val has the class {strange[0]!r}, of which no row was learned from: y lacks it, or all its "
                    "rows weigh zero. Remove these rows from X_val and y_val."
                )
            return np.searchsorted(classes, theirs)[place].astype(np.float64)

        loss = classification_loss(self.loss, max(2, len(classes)))
        if len(classes) == 1:
            self._check_watched(X_val, y_val)
            self._keep_constant()
        else:
            data = Data(rows, label.astype(np.float64), weight)
            self._learn(data, loss, X_val, y_val, labels_of, stratified=True)
        self.classes_ = classes
        return self

    def _keep_constant(self) -> None:
        """One class: nothing to learn."""
        self.forest_, self.base_score_ = FlatForest.empty(), np.zeros(1)
        self._loss, self._seed, self.n_iter_, self.best_iteration_ = RawLoss("constant"), 0, 0, None
        self.evals_result_ = {}
        self.feature_means_ = np.full(self.n_features_in_, np.nan, dtype=np.float32)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Raw scores: one a row for two classes, else one a class."""
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``."""
        raw = self._raw(X)
        return self._loss.probabilities(raw)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        return self._decide(self._raw(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Class probabilities after each round."""
        for raw in self._staged_raw(X):
            yield self._loss.probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The most probable class after each round."""
        for raw in self._staged_raw(X):
            yield self._decide(raw)

    def _decide(self, raw: NDArray[np.float64]) -> NDArray[Any]:
        """The class probabilities' argmax, without computing them: a tie at one half goes to the first class."""
        if raw.shape[1] == 1:
            return self.classes_[
                (raw[:, 0] > 0).astype(np.intp) if len(self.classes_) == 2 else np.zeros(len(raw), np.intp)
            ]
        return self.classes_[raw.argmax(axis=1)]
