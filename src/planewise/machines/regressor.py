"""The minimal complexity machine for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from planewise._params import Limit, check_parameters, either, keep_parameters, one_of, real
from planewise.data.problem import NumberProblem, all_or_nothing, number_problem
from planewise.explain.estimator import ShownInNotebooks
from planewise.machines.blas import one_blas_thread
from planewise.machines.classifier import warn_unless_converged
from planewise.machines.columns import (
    PreparedScaling,
    PreparesColumns,
    machine_rows,
    scaling_of_machine,
)
from planewise.machines.explain_exact import ExplainsExactMachine
from planewise.machines.kernels import Kernel, Matrix, gamma_limit, gamma_value
from planewise.machines.settings import (
    SHARED_LIMITS,
    TakesKernelMatrix,
    check_kernel,
    has_no_function,
    scaling_for,
)
from planewise.machines.surface import Surface, SurfacePath, SurfaceSettings
from planewise.machines.training import kernel_scores

RELAXATION_LIMIT = either(real(0, 1), one_of("ridge"))


class MCMRegressor(
    TakesKernelMatrix, PreparesColumns, ExplainsExactMachine, ShownInNotebooks, RegressorMixin, BaseEstimator
):
    """Minimal complexity machine for numbers: a kernel regression with few support vectors, solved exactly.

    Every row (x, y) becomes two: (x, y + epsilon) above the surface and (x, y - epsilon) below it. The machine that
    separates them, with the coefficients lambda of the support vectors and p of y, is zero on the regression surface.

    Parameters
    ----------
    C : float, default=100.0
        Penalty on the slacks; see `slack`.
    mu : float or "auto", default="auto"
        Penalty on ``|lambda|``: the larger, the fewer support vectors. "auto" is C (of the mean slack) / (1000
        sqrt(n)) for n distinct rows (of equal weight), as what chance adds to the price of a vector falls with the
        root of n. 0 reproduces the paper.
    epsilon : float, default=0.25
        Half the distance between the two copies of a row, in standard deviations of y. If h exceeds 1, it is p times
        (epsilon + the largest residual): outliers then dominate it, and a larger C and epsilon help. With
        ``relaxation="ridge"`` they influence only which rows become support vectors.
    rho : float, default=0.0
        Penalty on the norm lambda' K lambda in the program that chooses the support vectors, where K are their kernel
        values: the larger, the smoother the surface. It needs a positive semidefinite kernel, such as "rbf". 0
        reproduces the paper.
    kernel : {"rbf", "poly", "linear", "precomputed"}, default="rbf"
        As in MCMClassifier.
    gamma : float, "smooth", "medium", "scale" or "auto", default="medium"
        Coefficient of the kernel, on scaled rows. "auto" is 1 / n_features; "scale" is that divided by the variance,
        which is 1 for scaled columns; "smooth" is "scale" divided by n_features, but by at most 20, and "medium" by the
        square root of that. n_features is the number of columns of X, whatever is made of them.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" kernel.
    slack : {"mean", "sum"}, default="mean"
        What C multiplies: the (weighted) mean of the slacks, so that C means the same for any number of rows and any
        scale of the weights, or their (weighted) sum, of both copies of every row. "sum" reproduces the paper; "mean"
        with C times twice the sum of the weights is the same machine.
    relaxation : float or "ridge", default="ridge"
        How the coefficients of the chosen support vectors are fitted again. "ridge": by least squares with a penalty on
        the kernel norm, whose size is chosen by the error on rows left out one at a time. A number: by the program with
        `relaxation` times mu, as in MCMClassifier. 1 reproduces the paper: no second fit. With a mu of 0 there is none
        either.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        As in MCMClassifier: categorical columns are those of a category data type, or a list of names, numbers or a
        mask.
    scaling : {"arcsinh", "standard", "robust", None}, default="arcsinh"
        "standard" standardises the columns of X; "arcsinh" also compresses their long tails (a linear machine only
        standardises); "robust" standardises without regard to the outermost 0.1% of the values on either side, and
        columns with two values by half the distance between these; None takes X as it is. Support vectors are always
        reported in the units of X.
    tol : float, default=1e-8
        The solver stops when no column's dual price exceeds `mu` by more than this fraction of `mu`.
    max_iter : int, default=100000
        Maximum number of simplex steps. If it is reached, the machine is kept as it is, with a warning.

    Attributes
    ----------
    support_ : array of shape (n_support,)
        Rows of X that are support vectors, sorted. Empty for a linear machine.
    support_vectors_ : array of shape (n_support, n_features)
        Those rows, in the units of X, with NaN for missing values and categories by their places in ``categories_``; of
        shape (0, 0) for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        What each support vector adds: the prediction is sum_j dual_coef_j k(x_j, x) + b, in the units of y.
    intercept_ : array of shape (1,)
        b.
    coef_ : array of shape (1, n_prepared_features)
        Weights in the units of X and y, one for each of ``prepared_feature_names_``; only for a linear machine.
    h_ : array of shape (1,)
        The bound on the complexity that was minimised, of the program's last solution.
    objective_ : array of shape (1,)
        Value of the program that chose the support vectors.
    gap_ : array of shape (1,)
        Difference between it and the bound that the dual proves, relative to it.
    n_iter_ : array of shape (1,)
        Number of simplex steps.
    mu_ : float
        The penalty on ``|lambda|`` in use.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.
    categories_ : dict
        The categories of each categorical column, by its number.
    prepared_feature_names_ : array of shape (n_prepared_features,)
        Names of the columns that the kernel compares: those of X, such as "age", and those made of missing values ("age
        is missing") and categories ("town=Ulm").

    See Also
    --------
    MCMRegressorCV : Chooses C, mu, gamma and epsilon.
    MCMClassifier : The machine for classes.

    References
    ----------
    .. [1] Jayadeva, S. Chandra, S. S. Batra, S. Sabharwal, "Learning a hyperplane regressor through a tight bound on
       the VC dimension", Neurocomputing 171, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise import MCMRegressor
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> machine = MCMRegressor(gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> machine.score(X, np.sin(X[:, 0])) > 0.99
    True
    >>> len(machine.support_) < 20
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = SHARED_LIMITS | {
        "C": real(0, open_low=True),
        "mu": either(real(0), one_of("auto")),
        "rho": real(0),
        "epsilon": real(0, open_low=True),
        "gamma": gamma_limit(),
        "relaxation": RELAXATION_LIMIT,
    }
    n_features_in_: int
    mu_: float
    _scaling: PreparedScaling
    _kernel: Kernel | None

    def __init__(
        self,
        C: float = 100.0,
        mu: float | str = "auto",
        epsilon: float = 0.25,
        *,
        rho: float = 0.0,
        kernel: Any = "rbf",
        gamma: float | str = "medium",
        degree: int = 3,
        coef0: float = 0.0,
        slack: str = "mean",
        relaxation: float | str = "ridge",
        categorical_features: Any = "from_dtype",
        scaling: str | None = "arcsinh",
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers and categories, with NaN for missing values; a square kernel matrix without missing values if the
            kernel is "precomputed".
        y : array of shape (n_samples,)
            Numbers to predict.
        sample_weight : array of shape (n_samples,), default=None
            A weight of two equals the row twice; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._fit(read_numbers(self, X, y, sample_weight))
        return self

    def _fit(self, problem: NumberProblem) -> None:
        self._scaling = scaling_of_machine(self, problem.rows, problem.weight, scaling_for(self))
        scaled = self._scaling(problem.rows)
        self._kernel = None
        if not has_no_function(self):
            gamma = gamma_value(self.gamma, scaled, problem.weight, self.n_features_in_)
            self._kernel = Kernel(self.kernel, gamma, self.degree, self.coef0)
        with one_blas_thread():
            path = SurfacePath(
                replace(surface_settings(self, self._kernel, self.epsilon), rho=self.rho),
                scaled[:, problem.kept] if self.kernel == "precomputed" else scaled,
                problem.target,
                problem.weight,
                problem.kept,
            )
            self.mu_ = path.penalty(self.C) if self.mu == "auto" else float(self.mu)
            surface = path.solve(self.C, self.mu_)
        warn_unless_converged([surface.solution], self.max_iter)
        self._keep(surface, problem.table)

    def _keep(self, surface: Surface, X: Matrix) -> None:
        """The surface by the user's rows X (in units of X if linear)."""
        self.__dict__.pop("coef_", None)
        self.support_ = surface.origin
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        if self.kernel == "linear":
            self.coef_ = (surface.coefficients / self._scaling.spread)[None]
            self.intercept_ = np.array([surface.intercept - self.coef_[0] @ self._scaling.mean])
            self.dual_coef_ = np.zeros((1, 0))
        else:
            self.dual_coef_ = surface.coefficients[None]
            self.intercept_ = np.array([surface.intercept])
        solution = surface.solution
        self.h_, self.objective_ = np.array([solution.h]), np.array([solution.objective])
        self.gap_, self.n_iter_ = np.array([solution.gap]), np.array([solution.n_iter])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        check_is_fitted(self)
        return self._predict_rows(machine_rows(self, X, reset=False))

    def _predict_rows(self, rows: Matrix) -> NDArray[np.float64]:
        if hasattr(self, "coef_"):
            return self._scaling.preparation(rows) @ self.coef_[0] + self.intercept_[0]
        if self._kernel is None:
            return rows[:, self.support_] @ self.dual_coef_[0] + self.intercept_[0]
        vectors = self._scaling(self.support_vectors_)
        return kernel_scores(self._kernel, self._scaling(rows), vectors, self.dual_coef_)[:, 0] + self.intercept_[0]


def read_numbers(machine: Any, X: Any, y: Any, sample_weight: Any) -> NumberProblem:
    """The rows, targets and weights of a fit; sets what ``fit`` learns of columns."""
    problem = number_problem(machine, X, y, sample_weight, read=machine_rows)
    check_kernel(machine, problem, "SLMBoostRegressor, ")
    return problem


def surface_settings(machine: Any, kernel: Kernel | None, epsilon: float) -> SurfaceSettings:
    """Of a regressor or a search, from its parameters."""
    return SurfaceSettings(
        kernel,
        precomputed=machine.kernel == "precomputed",
        epsilon=epsilon,
        slack=machine.slack,
        relaxation=machine.relaxation,
        tol=machine.tol,
        max_iter=machine.max_iter,
    )
