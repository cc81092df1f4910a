"""The minimal complexity machine for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from planewise._input import all_or_nothing, number_problem, precise_rows
from planewise._params import Limit, check_parameters, keep_parameters, real
from planewise._scaling import Scaling, find_scaling
from planewise._shown import ShownInNotebooks
from planewise.mcm._kernels import Kernel, Matrix, gamma_limit, gamma_value
from planewise.mcm._rows import distinct_rows, plain_rows
from planewise.mcm.exact._classifier import warn_unless_converged
from planewise.mcm.exact._explain import ExplainsExactMachine
from planewise.mcm.exact._linear_program import ProgramPath, RepeatedColumns, Solution
from planewise.mcm.exact._settings import SHARED_LIMITS, TakesKernelMatrix, check_kernel, has_no_function, scaling_for
from planewise.mcm.exact._training import Design, kernel_scores


class MCMRegressor(TakesKernelMatrix, ExplainsExactMachine, ShownInNotebooks, RegressorMixin, BaseEstimator):
    """Minimal complexity machine for numbers: a kernel regression with few support vectors, solved exactly.

    Every row (x, y) becomes two: (x, y + epsilon) above the surface and (x, y - epsilon) below it. The machine that
    separates them, with the coefficients lambda of the support vectors and p of y, is zero on the regression surface.

    Parameters
    ----------
    C : float, default=100.0
        Penalty on the (weighted) mean slack. The paper penalises the sum: its C is this one divided by the number of
        rows.
    mu : float, default=0.1
        Penalty on |lambda|: the larger, the fewer support vectors. 0 reproduces the paper.
    epsilon : float, default=0.25
        Half the distance between the two copies of a row, in standard deviations of y. If h exceeds 1, it is p times
        (epsilon + the largest residual): outliers then dominate it, and a larger C and epsilon help.
    kernel : {"rbf", "laplacian", "poly", "sigmoid", "linear", "precomputed"} or callable, default="rbf"
        As in MCMClassifier.
    gamma : float, "smooth", "scale" or "auto", default="scale"
        Coefficient of the kernel, on scaled rows. "auto" is 1 / n_features; "scale" is that divided by the variance,
        which is 1 for scaled columns; "smooth" is "scale" divided by n_features, but by at most 20.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    scaling : {"arcsinh", "standard", None}, default="arcsinh"
        "standard" standardises the columns of X; "arcsinh" also compresses their long tails (a linear machine only
        standardises); None takes X as it is. Support vectors are always reported in the units of X.
    tol : float, default=1e-8
        The solver stops when no column's dual price exceeds `mu` by more than this fraction of `mu`.
    max_iter : int, default=100000
        Maximum number of simplex steps. If it is reached, the machine is kept as it is, with a warning.

    Attributes
    ----------
    support_ : array of shape (n_support,)
        Rows of X that are support vectors, sorted. Empty for a linear machine.
    support_vectors_ : array of shape (n_support, n_features)
        Those rows, in the units of X; of shape (0, 0) for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        What each support vector adds: the prediction is sum_j dual_coef_j k(x_j, x) + b, in the units of y.
    intercept_ : array of shape (1,)
        b.
    coef_ : array of shape (1, n_features)
        Weights in the units of X and y, only for a linear machine.
    h_ : array of shape (1,)
        The bound on the complexity that was minimised.
    objective_ : array of shape (1,)
        Value of the program.
    gap_ : array of shape (1,)
        Difference between it and the bound that the dual proves, relative to it.
    n_iter_ : array of shape (1,)
        Number of simplex steps.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.

    See Also
    --------
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
        "mu": real(0),
        "epsilon": real(0, open_low=True),
        "gamma": gamma_limit(),
    }
    n_features_in_: int
    _scaling: Scaling
    _kernel: Kernel | None

    def __init__(
        self,
        C: float = 100.0,
        mu: float = 0.1,
        epsilon: float = 0.25,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
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
            Numbers without missing values; a square kernel matrix if the kernel is "precomputed".
        y : array of shape (n_samples,)
            Numbers to predict.
        sample_weight : array of shape (n_samples,), default=None
            A weight of two equals the row twice; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_parameters(self)
        problem = number_problem(self, X, y, sample_weight, read=precise_rows)
        check_kernel(self, problem, "SLMBoostRegressor, ")
        target, weight, kept = problem.target, problem.weight, problem.kept
        self._scaling = find_scaling(problem.rows, weight, scaling_for(self))
        scaled = self._scaling(problem.rows)
        scaling_of_y = find_scaling(target[:, None], weight, "standard")
        levels, level = np.unique(scaling_of_y(target[:, None])[:, 0], return_inverse=True)
        self._kernel = None
        if not has_no_function(self):
            self._kernel = Kernel(self.kernel, gamma_value(self.gamma, scaled, weight), self.degree, self.coef0)
        make = plain_rows if self._kernel is None else distinct_rows
        precomputed = self.kernel == "precomputed"
        rows = make(scaled[:, kept] if precomputed else scaled, level.reshape(-1).astype(np.int32), weight, kept)
        design = Design(rows, self._kernel, precomputed=precomputed)
        y_scaled = levels[rows.label]
        path = ProgramPath(
            RepeatedColumns(design.columns()),
            np.repeat([1.0, -1.0], len(y_scaled)),
            np.tile(rows.weight, 2),
            free=np.concatenate([y_scaled + self.epsilon, y_scaled - self.epsilon])[None],
        )
        solution = path.solve(self.C, self.mu, tol=self.tol, max_iter=self.max_iter)
        warn_unless_converged([solution], self.max_iter)
        self._keep(solution, design, problem.table, scaling_of_y)
        return self

    def _keep(self, solution: Solution, design: Design, X: Matrix, scaling_of_y: Scaling) -> None:
        """The surface y = -(G lambda + b) / p in the units of y, by the user's rows (in units of X if linear)."""
        slope = float(solution.free_coefficients[0])
        by = -float(scaling_of_y.spread[0]) / slope if slope > 0 else 0.0
        intercept = float(scaling_of_y.mean[0]) + by * solution.intercept
        self.__dict__.pop("coef_", None)
        if self.kernel == "linear":
            weights = np.zeros(self.n_features_in_)
            weights[solution.chosen] = by * solution.coefficients
            self.coef_ = (weights / self._scaling.spread)[None]
            self.intercept_ = np.array([intercept - self.coef_[0] @ self._scaling.mean])
            self.support_ = np.zeros(0, dtype=np.intp)
            self.dual_coef_ = np.zeros((1, 0))
        else:
            origin = design.problem.origin[solution.chosen]
            order = np.argsort(origin)
            self.support_ = origin[order]
            self.dual_coef_ = (by * design.scale * solution.coefficients)[order][None]
            self.intercept_ = np.array([intercept])
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        self.h_, self.objective_ = np.array([solution.h]), np.array([solution.objective])
        self.gap_, self.n_iter_ = np.array([solution.gap]), np.array([solution.n_iter])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        check_is_fitted(self)
        rows = precise_rows(self, X, reset=False)
        if hasattr(self, "coef_"):
            return rows @ self.coef_[0] + self.intercept_[0]
        if self._kernel is None:
            return rows[:, self.support_] @ self.dual_coef_[0] + self.intercept_[0]
        vectors = self._scaling(self.support_vectors_)
        return kernel_scores(self._kernel, self._scaling(rows), vectors, self.dual_coef_)[:, 0] + self.intercept_[0]
