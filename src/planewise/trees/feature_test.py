"""The one-dimensional test of every feature alone, as a feature selector."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._params import (
    Limit,
    check_parameters,
    either,
    integer,
    keep_parameters,
    one_of,
    real,
)
from planewise._text import counted, feature_names, number, number_to, step_from
from planewise.data.problem import (
    SQUARED,
    ClassProblem,
    NumberProblem,
    all_or_nothing,
    class_problem,
    number_problem,
    one_target_per_row,
    thread_count,
)
from planewise.explain.describe import Description, Limits, TableSection
from planewise.explain.estimator import ShownInNotebooks
from planewise.trees.growth import GROWTH_LIMITS

LIMITS: dict[str, Limit] = {
    "task": one_of("auto", "classification", "regression"),
    "n_features_to_select": either(integer(1), real(0, 1, open_low=True), one_of("elbow")),
    "criterion": one_of("entropy", "gini"),
    "bins": one_of("uniform", "quantile"),
} | {name: GROWTH_LIMITS[name] for name in ("n_bins", "min_samples_leaf", "n_jobs")}


class DiscriminantFeatureTest(ShownInNotebooks, SelectorMixin, BaseEstimator):
    """Select features by how well one threshold on each of them, alone, separates the target.

    For classes this is the paper's discriminant feature test (DFT), for numbers its relevant feature test
    (RFT). The range of a feature, from f_min to f_max, is cut into B bins; each bin boundary t_b splits the
    rows into those with f < t_b and those with f >= t_b; and the feature's score is the loss of the best
    such split (L_opt, eqs. 13 to 15 with a = e_d): the smaller, the better.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is. "auto" goes by scikit-learn's ``type_of_target``: text, booleans and whole
        numbers, even many different ones or stored as floats, are classes, and only numbers with a
        fractional part make it a regression. Counts or years to be predicted as numbers therefore need
        ``task="regression"``.
    n_features_to_select : int, float or "elbow", default="elbow"
        How many of the best features to keep: that many; or that share of them, above 0 and at most 1.0
        (rounded, but at least one feature); or those before the elbow of the curve of sorted losses (see
        Notes).
    n_bins : int, default=16
        B: number of bins of the test.
    bins : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, as in the paper, or with about equally many rows.
    criterion : {"entropy", "gini"}, default="entropy"
        Loss of a set of rows in classification; regression has the squared error.
    min_samples_leaf : int, default=1
        Thresholds with fewer rows on a side are not tried.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        L_opt, the loss of each feature's best split, a row: mean entropy in nats, mean Gini impurity, or mean
        squared error. The smaller, the better. A feature no threshold of which helps (a constant one, for
        example) has the loss of not splitting at all.
    thresholds_ : array of shape (n_features,)
        The threshold of that split, in the feature's own units; NaN where none helps.
    order_ : array of shape (n_features,)
        The columns in the order of their scores, the best first; equal ones in their own order.
    support_ : boolean array of shape (n_features,)
        Which features are kept.
    n_features_ : int
        How many that are.
    elbow_ : int
        How many the elbow keeps.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the column is read. Empty for ordinary tables.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.

    See Also
    --------
    SLMClassifier, SLMRegressor : Trees that rank the features of every node by this test.

    Notes
    -----
    The elbow: losses in ascending order, both axes scaled to run from 0 to 1, make a curve from (0, 0) to
    (1, 1), and the elbow is the point farthest from the straight line between these ends. Where it lies above
    the line, the curve has just climbed to the plateau of useless features: it is the first of them, and the
    features before it are kept. Where it lies below, the curve is about to leave the useful ones: it is the
    last of them and kept as well. Of equally distant points the one that keeps fewer features is taken, and
    at least one feature is always kept.

    Missing values (NaN) go to the side of a threshold where the loss is smaller, and may have the side below
    f_min for themselves. X is read as float32.

    References
    ----------
    .. [1] H. Fu, Y. Yang, V. K. Mishra, C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and
       Performance", 2022, section II-B1.
    .. [2] Y. Yang, W. Wang, H. Fu, C.-C. J. Kuo, "On Supervised Feature Selection from High Dimensional
       Feature Spaces", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import DiscriminantFeatureTest
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> test = DiscriminantFeatureTest(n_features_to_select=2).fit(X, y)
    >>> test.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> test.scores_.round(2)
    array([0.72, 0.9 , 0.46, 0.46])
    >>> test.transform(X).shape
    (150, 2)
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = LIMITS
    task: str
    n_features_to_select: int | float | str
    n_bins: int
    bins: str
    criterion: str
    min_samples_leaf: int
    n_jobs: int | None

    def __init__(
        self,
        *,
        task: str = "auto",
        n_features_to_select: int | float | str = "elbow",
        n_bins: int = 16,
        bins: str = "uniform",
        criterion: str = "entropy",
        min_samples_leaf: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Test every feature and decide which to keep.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels or numbers; ``task`` says which.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; an integer weighs as much as that many equal rows, and zero leaves a row out.

        Returns
        -------
        self
        """
        check_parameters(self)
        y = one_target_per_row(self, y)
        if self._is_classification(y):
            loss, threshold = self._test_classes(class_problem(self, X, y, sample_weight))
        else:
            loss, threshold = self._test_numbers(number_problem(self, X, y, sample_weight, targets=SQUARED))
        self.scores_ = loss
        self.thresholds_ = threshold.astype(np.float64)
        for column, origin in self.feature_origins_.items():
            self.thresholds_[column] += origin
        self.order_ = np.argsort(self.scores_, kind="stable")
        self.elbow_ = _elbow(self.scores_[self.order_])
        self.n_features_ = self._count_to_select()
        self.support_ = np.zeros(len(loss), dtype=bool)
        self.support_[self.order_[: self.n_features_]] = True
        return self

    def _describe(self, about: Description, limits: Limits) -> None:
        about.facts += [("features kept", str(self.n_features_)), ("elbow", f"keeps {self.elbow_}")]
        names, shown = feature_names(self), self.order_[: limits.max_columns].tolist()
        rows = [
            [
                names[j],
                number(self.scores_[j]),
                "none helps" if np.isnan(self.thresholds_[j]) else self._threshold_in_words(j),
                "yes" if self.support_[j] else "no",
            ]
            for j in shown
        ]
        left = len(self.order_) - len(shown)
        note = "The loss of the best split on each feature alone, the best first: the smaller, the better."
        note += f" … and {counted(left, 'feature')} more." if left else ""
        about.sections.append(TableSection("Features", ["feature", "loss", "threshold", "kept"], rows, note))

    def _threshold_in_words(self, column: int) -> str:
        threshold, origin = float(self.thresholds_[column]), self.feature_origins_.get(column)
        return number(threshold) if origin is None else number_to(threshold, step_from(origin, threshold, 4))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _is_classification(self, y: NDArray[Any]) -> bool:
        if self.task != "auto":
            return self.task == "classification"
        kind = type_of_target(y, input_name="y")
        if kind in ("binary", "multiclass"):
            return True
        if kind == "continuous":
            return False
        raise ValueError(
            f"Unknown label type: {kind}. For such a y the parameter 'task' of {type(self).__name__} must be "
            "'classification' or 'regression', because 'auto' cannot tell."
        )

    def _test_classes(self, problem: ClassProblem) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """The mean loss after the best split of each feature, and its threshold."""
        threads = thread_count(self.n_jobs)
        table = _core.Table(problem.rows, problem.weight, threads)
        n_classes, gini = len(problem.classes), self.criterion == "gini"
        loss, threshold = _core.test_classes(
            table, problem.label, problem.weight, n_classes, gini, self._options(), threads
        )
        return loss / problem.weight.sum(), threshold

    def _test_numbers(self, problem: NumberProblem) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        threads = thread_count(self.n_jobs)
        table = _core.Table(problem.rows, problem.weight, threads)
        centred = problem.target - np.average(problem.target, weights=problem.weight)
        loss, threshold = _core.test_numbers(table, centred, problem.weight, self._options(), threads)
        return loss / problem.weight.sum(), threshold

    def _options(self) -> _core.GrowOptions:
        options = _core.GrowOptions()
        options.n_bins = self.n_bins
        options.bins = self.bins
        options.min_samples_leaf = min(self.min_samples_leaf, 2**31 - 1)
        return options

    def _count_to_select(self) -> int:
        wanted, available = self.n_features_to_select, len(self.scores_)
        if isinstance(wanted, str):
            return self.elbow_
        if not isinstance(wanted, Integral):
            return max(1, round(wanted * available))
        if wanted > available:
            raise ValueError(
                f"The parameter 'n_features_to_select' of {type(self).__name__} must be at most the number "
                f"of features, {available}; got {wanted}."
            )
        return int(wanted)


def _elbow(losses: NDArray[np.float64]) -> int:
    """How many of the ascending losses come before the elbow of their curve."""
    rise = losses[-1] - losses[0]
    if not rise > 0:
        return 1
    above_chord = (losses - losses[0]) / rise - np.linspace(0, 1, len(losses))
    farthest = np.abs(above_chord)
    point = int(np.argmax(farthest > farthest.max() - 1e-9))  # the first, whatever the rounding
    kept = point if above_chord[point] > 0 else point + 1
    return max(1, kept)
