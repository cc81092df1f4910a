"""A kernel fitted to the classes, for any kernel method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from planewise._params import Limit, check_parameters, either, keep_parameters, one_of, real
from planewise._text import number
from planewise.data.categories import categorical_limit
from planewise.data.problem import all_or_nothing, class_problem, unshifted_rows
from planewise.explain.describe import Description, Limits, TextSection
from planewise.explain.estimator import ShownInNotebooks
from planewise.machines.blas import one_blas_thread
from planewise.machines.columns import PreparesColumns, level_counts, scaling_to_float32
from planewise.machines.conformal_factor import Numbers, fit_conformal_factor
from planewise.machines.kernels import Kernel, gamma_limit, gamma_value
from planewise.machines.rows import balanced, distinct_rows


class ConformalKernel(PreparesColumns, ShownInNotebooks, TransformerMixin, BaseEstimator):
    """The kernel ``r(x) r(x') exp(-gamma |x - x'|^2)`` with a factor r fitted to the classes, for any kernel method.

    r is a constant plus Gaussian bumps at the support vectors of an SVM with C=1 (the cores, at most 500). It has the
    largest scatter of r(x) phi(x) between the classes relative to that within them (``conformal="signed"`` of MCM).

    Parameters
    ----------
    gamma : float, "auto", "scale", "medium" or "smooth", default="auto"
        Coefficient of the RBF kernel on scaled columns, as in MCMClassifier.
    gamma_conformal : float or "auto", default="auto"
        Coefficient of the bumps. "auto" is twice gamma.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        As in MCMClassifier.

    Attributes
    ----------
    cores_ : array of shape (n_cores, n_features)
        The cores in the units of X, with NaN for missing values and categories by their places in ``categories_``.
    separability_before_, separability_ : float
        Scatter between the classes divided by that within them, without and with r.
    classes_, X_fit_, feature_origins_, categories_, prepared_feature_names_, n_features_in_, feature_names_in_
        Labels, the scaled training rows, and what ``fit`` learned of the columns, as in LargeScaleMCMClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from planewise import ConformalKernel
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(ConformalKernel(), SVC(kernel="precomputed")).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.93
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        "gamma": gamma_limit(),
        "gamma_conformal": either(real(0, open_low=True), one_of("auto")),
        "categorical_features": categorical_limit(),
    }
    scaling = "robust"  # no parameter: the readers of rows ask for it

    def __init__(
        self, *, gamma: Any = "auto", gamma_conformal: Any = "auto", categorical_features: Any = "from_dtype"
    ) -> None:
        keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the cores and the factor r; rows of weight zero count only as columns of `transform`."""
        check_parameters(self)
        problem = class_problem(self, X, y, sample_weight, read=unshifted_rows)
        self.classes_ = problem.classes
        self._scaling = scaling_to_float32(self, problem.rows, problem.weight, self.scaling)
        self.X_fit_: Numbers = self._scaling(problem.table).astype(np.float64)
        # Equal rows are one row of their weight, so that no two cores are the same.
        distinct = distinct_rows(self.X_fit_[problem.counts], problem.label, problem.weight, problem.kept)
        rows, label, weight = distinct.rows, distinct.label, distinct.weight
        self._kernel = Kernel("rbf", gamma_value(self.gamma, rows, weight, self.n_features_in_))
        width = 2 * self._kernel.gamma if self.gamma_conformal == "auto" else self.gamma_conformal
        with one_blas_thread():
            cores = self._find_cores(rows, label, weight)
            self._factor = fit_conformal_factor(self._kernel, rows, label, cores, float(width), weight)
        self._set_attributes()
        return self

    def _find_cores(self, rows: Numbers, label: NDArray[np.int32], weight: Numbers) -> Numbers:
        if len(np.unique(label)) == 1:
            return rows[:0]
        machine = SVC(gamma=self._kernel.gamma).fit(rows, label, weight)
        importance = np.abs(machine.dual_coef_).max(axis=0)
        return rows[machine.support_][balanced(label[machine.support_], importance, 500)]

    def _set_attributes(self) -> None:
        self.cores_ = self._scaling.inverse(self._factor.cores, level_counts(self))
        self.separability_before_, self.separability_ = map(self._factor.separability, (0.0, 1.0))

    def _describe(self, about: Description, limits: Limits) -> None:
        gain = f"{number(self.separability_before_)} before, {number(self.separability_)} with {len(self.cores_)} cores"
        about.sections.append(TextSection("Separability of the classes", [gain]))

    def _ready(self, X: Any) -> Numbers:
        return self._scaling(unshifted_rows(self, X, reset=False)).astype(np.float64)

    def transform(self, X: Any) -> Numbers:
        """Compute the kernel values of each row with all training rows."""
        check_is_fitted(self)
        rows = self._ready(X)
        return self._factor(rows)[:, None] * self._kernel(rows, self.X_fit_) * self._factor(self.X_fit_)
