"""The minimal complexity machine for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from planewise._input import all_or_nothing, precise_rows, real_targets, row_weights
from planewise._params import (
    Limit,
    check_parameters,
    real,
)
from planewise._shown import ShownInNotebooks
from planewise.mcm._classifier import SHARED_LIMITS, require_kernel_matrix, scaling_for, warn_unless_converged
from planewise.mcm._documentation import document_machine
from planewise.mcm._explain import ExplainsExactMachine
from planewise.mcm._kernels import Kernel, Matrix, gamma_limit, gamma_value
from planewise.mcm._linear_program import ProgramPath, RepeatedColumns, Solution
from planewise.mcm._problem import Design, distinct_rows, find_scaling, plain_rows, refuse_too_many_rows
from planewise.mcm._training import kernel_scores

REGRESSOR_LIMITS = SHARED_LIMITS | {
    "C": real(0, open_low=True),
    "mu": real(0),
    "epsilon": real(0, open_low=True),
    "gamma": gamma_limit(),
}


@document_machine
class MCMRegressor(ExplainsExactMachine, ShownInNotebooks, RegressorMixin, BaseEstimator):
    """Minimal complexity machine for numbers: a kernel regression with few support vectors, solved exactly.

    Every row (x, y) becomes two: (x, y + epsilon) above the surface and (x, y - epsilon) below it, and the machine that
    parts them, with coefficients lambda for the kernel and p for y, is the surface: its zero in y.

    Parameters
    ----------
    C : float, default=<C>
        The price of the mean slack; the paper prices the sum, by C over the number of rows.
    mu : float, default=<mu>
        The price of each unit of |lambda|: the larger, the fewer support vectors. 0: published.
    epsilon : float, default=<epsilon>
        Half the distance between the two copies of a row, in standard deviations of y. Where the bound h exceeds 1, it
        is p times (epsilon + the largest residual): outliers then rule it, and a larger C and epsilon help.
    {kernel_parameters}
    gamma : float, "smooth", "scale" or "auto", default=<gamma>
        gamma of the kernel, on scaled rows: "auto" is 1 / n_features; "scale" is the same divided by the variance,
        which is 1 when columns are scaled inside; "smooth" is that divided by n_features again, but by 20 at most.
    {shape_parameters}
    {closing_parameters}

    Attributes
    ----------
    {attributes}
    {proof_attributes}

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

    parameter_limits: ClassVar[Mapping[str, Limit]] = REGRESSOR_LIMITS
    n_features_in_: int

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
        scale: bool | str = True,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ) -> None:
        self.C = C
        self.mu = mu
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the machine's program.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, none missing; a square kernel matrix if the kernel is "precomputed".
        y : array of shape (n_samples,)
            Numbers.
        sample_weight : array of shape (n_samples,), default=None
            A weight of two is the row twice; rows of weight zero do not count.
        """
        check_parameters(self)
        rows = precise_rows(self, X, reset=True)
        target = real_targets(self, y, rows)
        weight = row_weights(sample_weight, rows)
        kept = np.flatnonzero(weight > 0)
        precomputed, linear = self.kernel == "precomputed", self.kernel == "linear"
        if precomputed:
            require_kernel_matrix(rows)
        elif not linear:
            refuse_too_many_rows(type(self).__name__, len(kept), "SLMBoostRegressor, ")
        weight, target = weight[kept], target[kept]
        self._scaling = find_scaling(rows[kept], weight, scaling_for(self.kernel, self.scale))
        scaled = self._scaling(rows[kept])
        spread_of_y = find_scaling(target[:, None], weight, "standard")
        levels, level = np.unique(spread_of_y(target[:, None])[:, 0], return_inverse=True)
        self._kernel = None
        if not (linear or precomputed):
            self._kernel = Kernel(self.kernel, gamma_value(self.gamma, scaled, weight), self.degree, self.coef0)
        make = plain_rows if self._kernel is None else distinct_rows
        design_rows = scaled[:, kept] if precomputed else scaled
        problem = make(design_rows, level.reshape(-1).astype(np.int32), weight, kept)
        design = Design(problem, self._kernel, precomputed=precomputed)
        y_scaled = levels[problem.label]
        path = ProgramPath(
            RepeatedColumns(design.columns()),
            np.repeat([1.0, -1.0], len(y_scaled)),
            np.tile(problem.weight, 2),
            free=np.concatenate([y_scaled + self.epsilon, y_scaled - self.epsilon])[None],
        )
        solution = path.solve(self.C, self.mu, tol=self.tol, max_iter=self.max_iter)
        warn_unless_converged([solution], self.max_iter)
        self._keep(solution, design, rows, spread_of_y.mean[0], spread_of_y.spread[0])
        return self

    def _keep(self, solution: Solution, design: Design, rows: Matrix, mean_of_y: float, spread_of_y: float) -> None:
        """The surface y = -(G lambda + b) / p in the units of y, by user's rows (and units of X if linear)."""
        slope = float(solution.free_coefficients[0])
        by = -spread_of_y / slope if slope > 0 else 0.0
        intercept = mean_of_y + by * solution.intercept
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
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else rows[self.support_]
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
