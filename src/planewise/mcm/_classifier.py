"""The minimal complexity machine for classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from planewise._input import (
    all_or_nothing,
    counted_classes,
    precise_rows,
    require_two_classes,
    row_weights,
    thread_count,
)
from planewise._params import (
    Limit,
    boolean,
    check_parameters,
    class_weights,
    either,
    integer,
    one_of,
    real,
    seed,
    threads,
)
from planewise._shown import ShownInNotebooks
from planewise._warn import warn_user
from planewise.mcm._calibration import calibrate, probabilities
from planewise.mcm._conformal_factor import SHRINKAGES
from planewise.mcm._documentation import document_machine
from planewise.mcm._explain import ExplainsExactMachine
from planewise.mcm._folds import stratified_folds
from planewise.mcm._kernels import Kernel, Matrix, gamma_limit, gamma_value, kernel_limit
from planewise.mcm._linear_program import Indices, Solution, Vector
from planewise.mcm._multiclass import choose_class, class_scores
from planewise.mcm._problem import (
    Labels,
    Problem,
    distinct_rows,
    find_scaling,
    plain_rows,
    refuse_too_many_rows,
)
from planewise.mcm._threads import one_blas_thread
from planewise.mcm._training import MachinePaths, Settings, Trained, train_conformal

INNER_FOLDS = 5
# Cross-validated on the training parts of thirteen develop sets, against 1: 0.2 points more of accuracy (seven sets
# better, four worse), with 0.78 to 0.93 of the vectors.
RELAXATION = 0.3
LEAST_MUS = (1e-6, 1e-5, 1e-4)  # in turn, where the published program, mu = 0, has no solution that numbers hold

SHARED_LIMITS = {
    "kernel": kernel_limit(),
    "degree": integer(1),
    "coef0": real(-1e300),
    "scale": either(boolean(), one_of("standard")),
    "tol": real(0, 1e-2),
    "max_iter": integer(1),
}
CLASS_LIMITS = SHARED_LIMITS | {
    "relaxation": real(0, 1),
    "conformal": one_of("none", "signed", "shrunk"),
    "class_weight": class_weights(),
    "multi_class": one_of("ovr", "ovo"),
    "n_jobs": threads(),
    "random_state": seed(),
}
CLASSIFIER_LIMITS = CLASS_LIMITS | {
    "C": real(0, open_low=True),
    "mu": real(0),
    "gamma": gamma_limit(),
    "gamma_conformal": either(real(0, open_low=True), one_of("auto")),
    "shrinkage": either(real(0, 1), Limit(lambda value: value is None, "None")),
    "probability": boolean(),
}


class MachineClassifier(ExplainsExactMachine, ShownInNotebooks, ClassifierMixin, BaseEstimator):
    """What the classifier and its search share: input, prediction, and how a trained machine is kept."""

    classes_: NDArray[Any]
    n_features_in_: int
    support_: Indices
    support_vectors_: Matrix
    dual_coef_: Matrix
    intercept_: Vector

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _take_input(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Labels, Vector, Indices]:
        """Scaled rows that count, their labels, weights and places; sets the scaling and the classes."""
        params: Any = self
        rows = precise_rows(self, X, reset=True)
        self.classes_, label, weight = counted_classes(self, y, rows, sample_weight, params.class_weight)
        require_two_classes(self, self.classes_)
        kept = np.flatnonzero(weight > 0)
        label, weight = label[kept], weight[kept]
        precomputed = params.kernel == "precomputed"
        if precomputed:
            require_kernel_matrix(rows)
        elif params.kernel != "linear":
            refuse_too_many_rows(type(self).__name__, len(kept), "LargeScaleMCMClassifier, ")
        if params.kernel in ("linear", "precomputed") and params.conformal != "none":
            raise ValueError(
                f"conformal={params.conformal!r} makes a better kernel of a kernel function; it needs another kernel "
                f"than {params.kernel!r}, such as 'rbf'."
            )
        self._scaling = find_scaling(rows[kept], weight, scaling_for(params.kernel, params.scale))
        return self._scaling(rows[kept]), label, weight, kept

    def _settings(self, gamma: float, n_jobs: int) -> Settings:
        params: Any = self
        no_function = params.kernel in ("linear", "precomputed")
        kernel = None if no_function else Kernel(params.kernel, gamma, params.degree, params.coef0)
        return Settings(
            kernel,
            n_classes=len(self.classes_),
            precomputed=params.kernel == "precomputed",
            multi_class=params.multi_class,
            relaxation=params.relaxation,
            tol=params.tol,
            max_iter=params.max_iter,
            n_jobs=n_jobs,
        )

    def _keep(self, trained: Trained, X: Matrix, kept: Indices) -> None:
        """The machine in the user's units and row numbers; X are the user's rows."""
        settings, scaling = trained.settings, self._scaling
        self._trained_settings, self._factor = settings, trained.factor
        self.support_ = trained.origin
        self.support_vectors_ = np.empty((0, 0)) if settings.precomputed else X[self.support_]
        self.dual_coef_ = trained.coefficients[:, :0] if settings.linear else trained.coefficients
        self.intercept_ = trained.intercept
        if settings.linear:
            self.coef_ = trained.coefficients / scaling.spread
            self.intercept_ = trained.intercept - self.coef_ @ scaling.mean
        self.h_ = np.array([solution.h for solution in trained.solutions])
        self.objective_ = np.array([solution.objective for solution in trained.solutions])
        self.gap_ = np.array([solution.gap for solution in trained.solutions])
        self.n_iter_ = np.array([solution.n_iter for solution in trained.solutions])

    def _scores(self, X: Any) -> Matrix:
        """By class (one column for two classes), of the user's rows."""
        check_is_fitted(self)
        rows = precise_rows(self, X, reset=False)
        settings = self._trained_settings
        if settings.linear:
            raw = rows @ self.coef_.T + self.intercept_
        else:
            vectors = self.support_vectors_ if settings.precomputed else self._scaling(self.support_vectors_)
            scaled = rows if settings.precomputed else self._scaling(rows)
            machine = Trained(settings, self.support_, vectors, self.dual_coef_, self.intercept_, self._factor, [])
            raw = machine.raw_scores(scaled)
        return class_scores(raw, len(self.classes_), settings.multi_class)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row: of the second class if there are two, of each class otherwise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Or, for a precomputed kernel, the kernel values with all training rows.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            Above zero means the second of two classes; of several the largest wins. One-versus-one: won duels, with
            the margins as a tie-break.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        chosen = choose_class(self._scores(X))
        return self.classes_[chosen]

    def _probabilities(self, X: Any) -> Matrix:
        return probabilities(self._scores(X), self.slope_)


def _calibrated(estimator: Any) -> bool:
    if not estimator.probability:
        raise AttributeError("predict_proba needs probability=True, which calibrates scores on held-out folds.")
    if hasattr(estimator, "support_") and not hasattr(estimator, "slope_"):
        raise AttributeError("predict_proba needs a fit with probability=True; this one was fitted without.")
    return True


@document_machine
class MCMClassifier(MachineClassifier):
    """Minimal complexity machine: a kernel classifier with few support vectors, solved exactly.

    It minimises h + C mean(q) + mu sum |lambda|, where q is what rows lack of a margin of one and h the largest margin,
    a bound on the machine's complexity (its VC dimension). The linear program is solved to a proven optimum by column
    generation: ``gap_`` is the proof.

    The published program has no price on lambda (``mu=0``). With a kernel of full rank it is degenerate: the labels
    are interpolated, h is 1 and every row a support vector, whatever C. A positive `mu` makes it sparse.

    Parameters
    ----------
    C : float, default=<C>
        The price of the mean slack, the mean being weighted. The paper prices their sum, by C over the number of rows;
        thus C means the same for any number of rows and any scale of the weights.
    mu : float, default=<mu>
        The price of each unit of |lambda|: the larger, the fewer support vectors. What counts is mu / C, unless C is
        small. 0: published.
    {kernel_parameters}
    gamma : float, "smooth", "scale" or "auto", default=<gamma>
        gamma of the kernel, on scaled rows: "auto" is 1 / n_features; "scale" is the same divided by the variance,
        which is 1 when columns are scaled inside; "smooth" is that divided by n_features again, but by 20 at most.
    {shape_parameters}
    {relaxation_parameter}
    conformal : {"none", "signed", "shrunk"}, default=<conformal>
        Fit again with the kernel r(x) r(x') k(x, x'), where r parts the classes best and its cores are the support
        vectors of a first fit. "signed": published; "shrunk": (1 - s) + s r, s being the `shrinkage`.
    gamma_conformal : float or "auto", default=<gamma_conformal>
        gamma_c of the Gaussians that r is made of. "auto": twice `gamma`.
    shrinkage : float or None, default=<shrinkage>
        s of "shrunk", from 0 to 1. None: chosen by cross-validation.
    {class_parameters}
    probability : bool, default=<probability>
        Calibrate probabilities on held-out folds, which takes some five further fits. They agree with ``predict``.
    {closing_parameters}
    n_jobs : int or None, default=<n_jobs>
        Threads, for the machines of several classes; -1 means all cores. The model is the same for any number of them.
    random_state : int, RandomState or None, default=<random_state>
        Seed of the folds of `probability` and "shrunk"; nothing else is random.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    {attributes}
    slope_ : float
        The slope of the probabilities' logistic function, if `probability`.
    shrinkage_ : float
        s, for a conformal kernel (1 if signed).
    {proof_attributes}

    See Also
    --------
    MCMClassifierCV : Chooses C, mu and gamma.
    MCMRegressor : The machine for numbers.

    References
    ----------
    {references}
    .. [2] S. Badge, S. Soman, S. Chandra, Jayadeva, "Kernel optimization using conformal maps for the minimal
       complexity machine", Engineering Applications of Artificial Intelligence, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import MCMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = MCMClassifier().fit(X, y)
    >>> machine.score(X, y) > 0.97
    True
    >>> len(machine.support_) < 30
    True
    >>> bool(machine.gap_[0] < 1e-6)
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASSIFIER_LIMITS

    def __init__(
        self,
        C: float = 1000.0,
        mu: float = 0.2,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "smooth",
        degree: int = 3,
        coef0: float = 0.0,
        relaxation: float = RELAXATION,
        conformal: str = "none",
        gamma_conformal: float | str = "auto",
        shrinkage: float | None = None,
        class_weight: Any = None,
        multi_class: str = "ovr",
        probability: bool = False,
        scale: bool | str = True,
        tol: float = 1e-8,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.mu = mu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.relaxation = relaxation
        self.conformal = conformal
        self.gamma_conformal = gamma_conformal
        self.shrinkage = shrinkage
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the machine's program.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, none missing; a square kernel matrix if the kernel is "precomputed".
        y : array of shape (n_samples,)
            Class labels of any kind, at least two of them.
        sample_weight : array of shape (n_samples,), default=None
            A weight of two is the row twice; rows of weight zero do not count.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, expects_vectors: bool = True) -> Self:
        check_parameters(self)
        rows, label, weight, kept = self._take_input(X, y, sample_weight)
        gamma = 1.0 if self.kernel in ("linear", "precomputed") else gamma_value(self.gamma, rows, weight)
        settings = self._settings(gamma, thread_count(self.n_jobs))
        self._forget()
        # Folds of distinct rows: the same whether a row comes twice or has twice the weight.
        problem = (plain_rows if settings.precomputed else distinct_rows)(rows, label, weight, kept)
        own = row_weights(sample_weight, precise_rows(self, X, reset=False))[kept]
        judged_by = problem.weight * share_of_samples(label, weight, own)[problem.label]
        if self.conformal == "shrunk":
            given = self.shrinkage
            self.shrinkage_ = self._choose_shrinkage(settings, problem, judged_by) if given is None else given
        elif self.conformal == "signed":
            self.shrinkage_ = 1.0
        trained = self._train(settings, rows, label, weight, kept)
        if self.mu == 0 and not all(solution.converged for solution in trained.solutions):
            trained = self._nearest_solvable(trained, rows, label, weight, kept)
        self._warn(trained, label, weight, expects_vectors)
        self._keep(trained, precise_rows(self, X, reset=False), kept)
        if self.probability:
            scores, held = self._held_out_scores(settings, problem, None)
            self.slope_ = calibrate(scores, problem.label[held], judged_by[held])
        return self

    def _forget(self) -> None:
        for name in ("coef_", "slope_", "shrinkage_"):
            self.__dict__.pop(name, None)

    def _train(
        self,
        settings: Settings,
        rows: Matrix,
        label: Labels,
        weight: Vector,
        origin: Indices | None = None,
        shrinkage: float | None = None,
        mu: float | None = None,
    ) -> Trained:
        mu = self.mu if mu is None else mu
        with one_blas_thread():
            paths = MachinePaths(settings, rows, label, weight, origin)
            base = paths.solve(self.C, mu)
            if self.conformal == "none":
                return base
            assert settings.kernel is not None
            gamma = 2 * settings.kernel.gamma if self.gamma_conformal == "auto" else float(self.gamma_conformal)
            share = self.shrinkage_ if shrinkage is None else shrinkage
            return train_conformal(paths, base, self.C, mu, gamma, share)

    def _nearest_solvable(
        self, trained: Trained, rows: Matrix, label: Labels, weight: Vector, kept: Indices
    ) -> Trained:
        """Where the published program has no solution that numbers can hold, that of the least mu, with a warning."""
        for mu in LEAST_MUS:
            again = self._train(trained.settings, rows, label, weight, kept, mu=mu)
            if all(solution.converged for solution in again.solutions):
                warn_user(
                    f"The published program (mu=0) is too ill-conditioned on these rows to be solved; mu={mu:g} was "
                    "used instead. A larger mu gives a sparse machine.",
                    ConvergenceWarning,
                )
                return again
        return trained

    def _warn(self, trained: Trained, label: Labels, weight: Vector, expects_vectors: bool) -> None:
        """Say what is odd about a solution."""
        if warn_unless_converged(trained.solutions, self.max_iter):
            return
        interpolates = any(s.h < 1 + 1e-6 and s.mean_slack < 1e-6 for s in trained.solutions)
        if self.mu == 0 and interpolates and not trained.settings.linear:
            warn_user(
                "With mu=0 the published program is degenerate on these rows: h = 1 and no slack, the labels "
                f"interpolated with {len(trained.origin)} of {len(label)} rows as support vectors, for any C. Any mu "
                "above 0 makes it sparse.",
            )
        one_class_anyway = np.bincount(label, weights=weight).max() > 0.95 * weight.sum()
        if expects_vectors and not trained.coefficients.any() and not one_class_anyway:
            warn_user(
                f"No column is worth its price, so that every row gets the same class: mu={self.mu:g} is too large for "
                f"C={self.C:g} (try C / 1000), or X does not tell the classes apart (as when rows are equal and have "
                "opposite labels).",
            )

    def _held_out_scores(self, settings: Settings, problem: Problem, shrinkage: float | None) -> tuple[Matrix, Indices]:
        """Scores by class from machines that have not seen the rows, and which rows of the problem these are."""
        part = replace(settings, n_jobs=1)
        scores, held_out = [], []
        for train, held in stratified_folds(INNER_FOLDS, problem.label, self.random_state):
            origin = problem.origin[problem.centre_of_row[train]] if settings.precomputed else None
            trained = self._train(
                part, problem.rows[train], problem.label[train], problem.weight[train], origin, shrinkage
            )
            raw = trained.raw_scores(problem.rows[held])
            scores.append(class_scores(raw, settings.n_classes, settings.multi_class))
            held_out.append(held)
        return np.concatenate(scores), np.concatenate(held_out)

    def _choose_shrinkage(self, settings: Settings, problem: Problem, judged_by: Vector) -> float:
        """The s of best held-out accuracy, the smallest among equals; cores and r are fitted anew in each fold."""
        accuracy = []
        for share in SHRINKAGES:
            scores, held = self._held_out_scores(settings, problem, share)
            accuracy.append(np.average(choose_class(scores) == problem.label[held], weights=judged_by[held]))
        return SHRINKAGES[int(np.argmax(accuracy))]

    @available_if(_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``; needs ``probability=True``.

        Returns
        -------
        probability : array of shape (n_samples, n_classes)
            The class of ``predict`` has the largest one.
        """
        return self._probabilities(X)


def warn_unless_converged(solutions: list[Solution], max_iter: int) -> bool:
    """Whether there was a reason to warn, with the largest gap: a machine ran out of steps or numbers."""
    open_gaps = [solution.gap for solution in solutions if not solution.converged]
    if open_gaps:
        steps = max(solution.n_iter for solution in solutions)
        why = "ran out of steps" if steps >= max_iter else "met numbers it could not resolve"
        warn_user(
            f"The solver {why} after {steps} of at most {max_iter} steps; between its value and the proven bound a "
            f"relative gap of {max(open_gaps):.1e} is left. Raise max_iter or mu, lower C, or choose another gamma.",
            ConvergenceWarning,
        )
    return bool(open_gaps)


def share_of_samples(label: Labels, weight: Vector, sample_weight: Vector) -> Vector:
    """By class, what of the weights is the samples' own: class weights steer the fit, not what it is judged by."""
    return np.bincount(label, weights=sample_weight) / np.bincount(label, weights=weight)


def scaling_for(kernel: Any, scale: bool | str) -> bool | str:
    """What ``scale`` means for a kernel: planes need plain units, and a kernel matrix is what it is."""
    if kernel == "precomputed":
        return False
    return "standard" if kernel == "linear" and scale is True else scale


def require_kernel_matrix(K: Matrix) -> None:
    """An error unless K is square and symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"With kernel='precomputed' X must be the square matrix of the training rows' kernel values; got shape "
            f"{K.shape}."
        )
    difference = np.abs(K - K.T).max()
    if difference > 1e-6 * np.abs(K).max():  # what float32 leaves of symmetry
        raise ValueError(
            f"With kernel='precomputed' X must be symmetric; entries differ from those across the diagonal by up to "
            f"{difference:.3g}. Is it the kernel of training rows with other rows?"
        )
