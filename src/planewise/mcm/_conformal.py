"""A kernel fitted to the classes, for any kernel method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise._categories import categorical_limit
from planewise._input import all_or_nothing, class_problem, unshifted_rows
from planewise._params import Limit, check_parameters, either, integer, keep_parameters, one_of, real, seed
from planewise._scaling import scaling_limit
from planewise._shown import ShownInNotebooks
from planewise._warn import warn_user
from planewise.mcm._blas import one_blas_thread
from planewise.mcm._conformal_factor import SHRINKAGES, ConformalFactor, Numbers, fit_conformal_factor
from planewise.mcm._explain import kernel_in_words, telling_columns
from planewise.mcm._kernels import KERNEL_NAMES, Kernel, gamma_limit, gamma_value
from planewise.mcm._preparation import (
    PreparedScaling,
    PreparesColumns,
    level_counts,
    scaling_to_float32,
    shown_values,
)
from planewise.mcm._rows import balanced, distinct_rows
from planewise.words import Description, Limits, TableSection, entry_in_words, feature_names, number, signed

TRIED_BY = 1000  # rows on which shrinkage="cv" is decided
# Of the SVM that finds the cores, at most: without a limit, it does not end where C is very large. A step takes a time
# that grows with the rows; these are some seconds, during which libsvm does not see Ctrl-C.
SVC_STEPS, SVC_STEPS_TIMES_ROWS, SVC_STEPS_PER_ROW = 3_000_000, 1_000_000_000, 100


class ConformalKernel(PreparesColumns, ShownInNotebooks, TransformerMixin, BaseEstimator):
    """A kernel r(x) r(x') k(x, x') fitted to the classes, for any kernel method.

    The factor r stretches the space where the classes meet and shrinks it elsewhere: it is the combination of a
    constant and of bumps at the cores a_j that has the largest scatter of r(x) phi(x) between the classes for the
    scatter within them. Whatever the sign of r, the product is a kernel again.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        k, the kernel to start with.
    gamma : float, "auto", "scale", "medium" or "smooth", default="auto"
        Coefficient of k, on scaled columns. "auto" is 1 / n_features; "scale" is that divided by the variance, which is
        about 1 for scaled columns; "smooth" is "scale" divided by n_features, but by at most 20, and "medium" by the
        square root of that. n_features is the number of columns of X, whatever is made of them.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" kernel.
    gamma_conformal : float or "auto", default="auto"
        Coefficient of the Gaussians ``exp(-gamma_conformal |x - a_j|^2)``. "auto" is twice gamma. If it is large, r
        changes only very close to its cores, and the kernel of new rows stays what it was.
    form : {"signed", "shrunk", "printed"}, default="signed"
        "signed" is r as it is; "shrunk" is (1 - s) + s r. "printed" solves equations 13 to 15 of [3]_ exactly as they
        are printed, which is not a ratio of scatters; it is only for comparison with the paper (see the page on
        published settings, docs/published.md).
    shrinkage : float from 0 to 1 or "cv", default="cv"
        s of the shrunk form. "cv" takes, of 0, 1/4, 1/2, 3/4 and 1, the one with which kernel ridge classifies best in
        three-fold cross-validation (on at most 1,000 rows), with r fitted anew in each fold.
    cores : {"svc", "mcm"} or array of shape (n_cores, n_features), default="svc"
        a_j: the support vectors of an SVM or of a minimal complexity machine with this kernel, or rows in the units of
        X (categories by their places in ``categories_``). Without any, r = 1.
    C : float, default=1.0
        Penalty on the sum of the slacks of the machine that finds the cores: C of the SVM, or of MCMClassifier with
        ``slack="sum"``.
    max_cores : int, default=500
        Maximum number of cores taken from a machine: those with the largest coefficients, as evenly from the classes as
        possible.
    regularisation : float, default=0.001
        Added to the diagonal of the scatter within classes, as a share of its mean.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        As in MCMClassifier: categorical columns are those of a category data type, or a list of names, numbers or a
        mask.
    scaling : {"robust", "standard", "arcsinh", None}, default="robust"
        As in MCMClassifier: "robust" standardises without regard to the outermost 0.1 % of the values on either side,
        and columns with two values by half the distance between these; "standard" standardises all columns; "arcsinh"
        also compresses their long tails; None takes X as it is.
    random_state : int, RandomState or None, default=None
        Seed of the folds of shrinkage="cv".

    Attributes
    ----------
    cores_ : array of shape (n_cores, n_features)
        a_j, in the units of X, with NaN for missing values and categories by their places in ``categories_``.
    coef_ : array of shape (n_cores + 1,)
        Coefficients of r, that of the constant first; r has a mean square of 1 on the training rows, and a mean of 0 or
        more.
    eigenvalue_ : float
        The largest eigenvalue of the problem that r solves.
    shrinkage_ : float
        s in use: 1 unless the form is "shrunk".
    separability_before_, separability_ : float
        Scatter between the classes divided by that within them, with k alone and with the kernel in use.
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    X_fit_ : array of shape (n_samples, n_prepared_features)
        The training rows, scaled.
    feature_origins_ : dict
        By its number, each column that float32 cannot resolve, and a number near its values. If there is one, rows are
        read in float64 until they are scaled.
    categories_ : dict
        The categories of each categorical column, by its number.
    prepared_feature_names_ : array of shape (n_prepared_features,)
        Names of the columns that the kernel compares, as in MCMClassifier.
    n_features_in_, feature_names_in_
        Number of features seen in ``fit``, and their names if it got a data frame.

    See Also
    --------
    LargeScaleMCMClassifier : Has the same factor on an explicit map (``conformal=``).

    Notes
    -----
    In a pipeline the kernel is fitted with the rest: ``make_pipeline(ConformalKernel(), SVC(kernel="precomputed"))``.
    A fitted ConformalKernel is a function as well: ``SVC(kernel=fitted)``. If the SVC will be cloned, as in
    cross-validation, pass ``fitted.__call__``, since a clone of an estimator is not fitted. An SVC passes on neither
    missing values nor words: for tables with these, use the pipeline.

    References
    ----------
    .. [1] S. Amari, S. Wu, "Improving support vector machine classifiers by modifying kernel functions", Neural
       Networks 12, 1999.
    .. [2] H. Xiong, M. N. S. Swamy, M. O. Ahmad, "Optimizing the kernel in the empirical feature space", IEEE
       Transactions on Neural Networks 16, 2005.
    .. [3] S. Badge, S. Soman, S. Chandra, Jayadeva, "Kernel optimization using conformal maps for the minimal
       complexity machine", Engineering Applications of Artificial Intelligence, 2021.

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
    >>> kernel = model[0]
    >>> kernel.separability_ > kernel.separability_before_
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        "kernel": one_of(*KERNEL_NAMES),
        "gamma": gamma_limit(),
        "degree": integer(1),
        "coef0": real(-1e30),
        "gamma_conformal": either(real(0, open_low=True), one_of("auto")),
        "form": one_of("signed", "shrunk", "printed"),
        "shrinkage": either(real(0, 1), one_of("cv")),
        "cores": either(one_of("svc", "mcm"), Limit(lambda cores: not isinstance(cores, str), "an array of rows")),
        "C": real(0, open_low=True),
        "max_cores": integer(1),
        "regularisation": real(0, open_low=True),
        "categorical_features": categorical_limit(),
        "scaling": scaling_limit("robust", "standard", "arcsinh"),
        "random_state": seed(),
    }
    n_features_in_: int
    _scaling: PreparedScaling

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        gamma_conformal: float | str = "auto",
        form: str = "signed",
        shrinkage: float | str = "cv",
        cores: Any = "svc",
        C: float = 1.0,
        max_cores: int = 500,
        regularisation: float = 1e-3,
        categorical_features: Any = "from_dtype",
        scaling: str | None = "robust",
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the cores and the factor r.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers and categories, with NaN for missing values.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a whole number weighs as much as that many equal rows, and zero leaves a row out of all but
            `transform`, which has a column for every row of X.

        Returns
        -------
        self
        """
        check_parameters(self)
        problem = class_problem(self, X, y, sample_weight, read=unshifted_rows)
        self.classes_ = problem.classes
        self._scaling = scaling_to_float32(self, problem.rows, problem.weight, self.scaling)
        self.X_fit_ = self._scaling(problem.table).astype(np.float64)
        standard = self.X_fit_[problem.counts]
        # Equal rows are one row of their weight: no machine then has the same core twice.
        distinct = distinct_rows(standard, problem.label, problem.weight, problem.kept)
        standard, label, weight = distinct.rows, distinct.label, distinct.weight
        gamma = gamma_value(self.gamma, standard, weight, self.n_features_in_)
        self._kernel = Kernel(self.kernel, gamma, self.degree, self.coef0)
        self._gamma_conformal = 2 * gamma if self.gamma_conformal == "auto" else float(self.gamma_conformal)
        with one_blas_thread():
            self._factor = self._fit_factor(standard, label, weight)
            if self.form == "shrunk":
                by_folds = self.shrinkage == "cv"
                chosen = self._best_shrinkage(standard, label, weight) if by_folds else float(self.shrinkage)
                self._factor = self._factor.shrunk(chosen)
            self._set_attributes()
        return self

    def _fit_factor(self, rows: Numbers, label: NDArray[np.int32], weight: Numbers) -> ConformalFactor:
        return fit_conformal_factor(
            self._kernel,
            rows,
            label,
            self._find_cores(rows, label, weight),
            self._gamma_conformal,
            weight,
            regularisation=self.regularisation,
            printed=self.form == "printed",
        )

    def _find_cores(self, rows: Numbers, label: NDArray[np.int32], weight: Numbers) -> Numbers:
        if not isinstance(self.cores, str):
            return self._given_cores()
        if len(np.unique(label)) == 1:
            return rows[:0]
        if self.cores == "svc":
            support, importance = self._support_of_svc(rows, label, weight)
        else:
            support, importance = self._support_of_mcm(rows, label, weight)
        return rows[support][balanced(label[support], importance, self.max_cores)]

    def _given_cores(self) -> Numbers:
        cores = np.asarray(self.cores, dtype=self._scaling.mean.dtype)
        if cores.size == 0:
            return np.empty((0, len(self._scaling.mean)))
        if cores.ndim != 2 or cores.shape[1] != self.n_features_in_ or np.isinf(cores).any():
            raise ValueError(
                f"The parameter 'cores' of ConformalKernel must be rows with the {self.n_features_in_} columns of X, "
                f"without infinities; got an array of shape {cores.shape}."
            )
        return self._scaling(cores).astype(np.float64)

    def _support_of_svc(
        self, rows: Numbers, label: NDArray[np.int32], weight: Numbers
    ) -> tuple[NDArray[np.intp], Numbers]:
        n_classes = int(label.max()) + 1
        n_pairs = max(1, n_classes * (n_classes - 1) // 2)  # libsvm fits a machine to each, and counts its steps
        most = min(SVC_STEPS, SVC_STEPS_TIMES_ROWS // len(rows)) // n_pairs
        most = max(most, SVC_STEPS_PER_ROW * len(rows))
        machine = SVC(
            C=self.C, kernel=self.kernel, gamma=self._kernel.gamma, degree=self.degree,
            coef0=self.coef0, max_iter=most,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below in this estimator's words
            machine.fit(rows, label, weight)
        if machine.fit_status_:
            warn_user(
                f"The SVM that finds the cores had not converged after {most} steps (C={self.C:g}); its support "
                "vectors so far are the cores. Lower C, or use cores='mcm'.",
                ConvergenceWarning,
            )
        return machine.support_, np.abs(machine.dual_coef_).max(axis=0)

    def _support_of_mcm(
        self, rows: Numbers, label: NDArray[np.int32], weight: Numbers
    ) -> tuple[NDArray[np.intp], Numbers]:
        # Not above: that machine has conformal kernels itself.
        from planewise.mcm.exact import MCMClassifier

        given = {"kernel": self.kernel, "gamma": self._kernel.gamma, "degree": self.degree, "coef0": self.coef0}
        if self.kernel == "linear":  # a linear machine has no support vectors; one with the same kernel values has
            given = {"kernel": "poly", "gamma": 1.0, "degree": 1, "coef0": 0.0}
        machine = MCMClassifier(C=self.C, slack="sum", scaling=None, **given).fit(rows, label, weight)
        return machine.support_, np.abs(np.atleast_2d(machine.dual_coef_)).max(axis=0)

    def _best_shrinkage(self, rows: Numbers, label: NDArray[np.int32], weight: Numbers) -> float:
        """The s that serves kernel ridge best on rows not seen; of equals the smallest."""
        random = check_random_state(self.random_state)
        some = np.sort(random.permutation(len(label))[:TRIED_BY])
        counts = np.bincount(label[some])
        if counts[counts > 0].min() < 3:
            raise ValueError(
                "shrinkage='cv' needs at least three rows of every class; set shrinkage to a number, or form='signed'."
            )
        right = np.zeros(len(SHRINKAGES))
        for learned, judged in StratifiedKFold(3, shuffle=True, random_state=random).split(some, label[some]):
            right += self._rightly_classified(rows[some], label[some], weight[some], learned, judged)
        return SHRINKAGES[int(right.argmax())]

    def _rightly_classified(
        self,
        rows: Numbers,
        label: NDArray[np.int32],
        weight: Numbers,
        learned: NDArray[np.intp],
        judged: NDArray[np.intp],
    ) -> Numbers:
        """Weight of the judged rows that kernel ridge, learned on the others, gets right with each s."""
        factor = self._fit_factor(rows[learned], label[learned], weight[learned])
        r, r_judged = factor(rows[learned]), factor(rows[judged])
        k, k_judged = self._kernel(rows[learned], rows[learned]), self._kernel(rows[judged], rows[learned])
        targets = np.where(label[learned, None] == np.unique(label), 1.0, -1.0)
        right = np.zeros(len(SHRINKAGES))
        for place, s in enumerate(SHRINKAGES):
            mine, theirs = factor.blend(r, s), factor.blend(r_judged, s)
            matrix = mine[:, None] * k * mine
            matrix[np.diag_indices_from(matrix)] += matrix.diagonal().mean() / weight[learned] * weight.mean()
            decided = (theirs[:, None] * k_judged * mine) @ solve(matrix, targets, assume_a="sym")
            right[place] = weight[judged] @ (np.unique(label)[decided.argmax(axis=1)] == label[judged])
        return right

    def _set_attributes(self) -> None:
        factor = self._factor
        self.cores_ = self._scaling.inverse(factor.cores, level_counts(self))
        self.coef_, self.eigenvalue_, self.shrinkage_ = factor.coef, factor.eigenvalue, factor.shrinkage
        self.separability_before_ = factor.separability(0.0)
        self.separability_ = factor.separability(factor.shrinkage)

    def _describe(self, about: Description, limits: Limits) -> None:
        kernel = kernel_in_words(self._kernel)
        standardised = "" if self.scaling is None else ", on standardised columns"
        about.facts += [
            ("kernel", kernel + standardised),
            ("gamma of the factor", number(self._gamma_conformal)),
            ("shrinkage", number(self.shrinkage_)),
            (
                "separability",
                f"{number(self.separability_before_)} before, {number(self.separability_)} with the factor",
            ),
            ("eigenvalue", number(self.eigenvalue_)),
            ("cores", str(len(self.cores_))),
        ]
        names, weight = feature_names(self), self.coef_[1:]
        order = np.argsort(-np.abs(weight), kind="stable")[: limits.max_vectors]
        telling = telling_columns(self._factor.cores, limits.max_columns, self._scaling.preparation)
        shown = shown_values(self, self.cores_)
        rows = [[signed(weight[at]), *(entry_in_words(shown[at][j]) for j in telling)] for at in order]
        notes = [f"The constant of the factor: {number(self.coef_[0])}."]
        if len(order) < len(weight):
            notes.append(f"… and {len(weight) - len(order)} more cores.")
        if len(telling) < len(names):
            notes.append(f"Shown are the {len(telling)} of {len(names)} columns in which the cores differ most.")
        about.sections.append(
            TableSection("Cores", ["coefficient", *(names[j] for j in telling)], rows, " ".join(notes))
        )

    def factor(self, X: Any) -> Numbers:
        """R of each row (in the shrunk form: (1 - s) + s r)."""
        check_is_fitted(self)
        return self._factor(self._ready(X))

    def transform(self, X: Any) -> Numbers:
        """The kernel values of each row with all training rows."""
        check_is_fitted(self)
        rows = self._ready(X)
        return self._factor(rows)[:, None] * self._kernel(rows, self.X_fit_) * self._factor(self.X_fit_)

    def __call__(self, X: Any, Y: Any = None) -> Numbers:
        """The kernel values of each row of X with all rows of Y (None: of X)."""
        check_is_fitted(self)
        left = self._ready_array(X)
        right = left if Y is None else self._ready_array(Y)
        return self._factor(left)[:, None] * self._kernel(left, right) * self._factor(right)

    def _ready(self, X: Any) -> Numbers:
        return self._scaling(unshifted_rows(self, X, reset=False)).astype(np.float64)

    def _ready_array(self, X: Any) -> Numbers:
        """What another estimator passes on: an array, whatever this one was fitted on."""
        if level_counts(self):
            return self._ready(X)
        rows = check_array(X, dtype=self._scaling.mean.dtype, ensure_all_finite="allow-nan")
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} features; this kernel was fitted on {self.n_features_in_}.")
        return self._scaling(rows).astype(np.float64)
