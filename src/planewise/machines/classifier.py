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

from planewise._optional import warn_user
from planewise._params import (
    Limit,
    boolean,
    check_parameters,
    either,
    keep_parameters,
    one_of,
    real,
)
from planewise.data.problem import ClassProblem, all_or_nothing, thread_count
from planewise.explain.estimator import ShownInNotebooks
from planewise.machines.blas import one_blas_thread
from planewise.machines.columns import (
    PreparedScaling,
    PreparesColumns,
    machine_rows,
    scaling_of_machine,
)
from planewise.machines.conformal_factor import SHRINKAGES, ConformalFactor
from planewise.machines.explain_exact import ExplainsExactMachine
from planewise.machines.folds import stratified_folds
from planewise.machines.kernels import Matrix, gamma_limit, gamma_value
from planewise.machines.program import Solution
from planewise.machines.rows import Indices, Labels, Vector, distinct_rows, plain_rows
from planewise.machines.scores import calibrate, choose_class, class_scores, probabilities
from planewise.machines.settings import (
    CLASS_LIMITS,
    RELAXATION,
    Settings,
    TakesKernelMatrix,
    has_no_function,
    read_classes,
    scaling_for,
    settings_of,
)
from planewise.machines.training import LEAST_MUS, MachinePaths, Trained, train_machines

INNER_FOLDS = 5
FARTHEST_SCORE = 1e150  # of a linear machine: rows beyond are as far away as that


def _calibrated(estimator: Any) -> bool:
    if not estimator.probability:
        raise AttributeError("predict_proba needs probability=True, which calibrates scores on held-out folds.")
    if hasattr(estimator, "support_") and not hasattr(estimator, "slope_"):
        raise AttributeError("predict_proba needs a fit with probability=True; this one was fitted without.")
    return True


class MCMClassifier(
    TakesKernelMatrix, PreparesColumns, ExplainsExactMachine, ShownInNotebooks, ClassifierMixin, BaseEstimator
):
    """Minimal complexity machine: a kernel classifier with few support vectors, solved exactly.

    It minimises ``h + C mean(q) + mu sum |lambda| + rho lambda' K lambda``, where q is the slack of a row (how far its
    margin falls short of one), h the largest margin, a bound on the machine's complexity (its VC dimension), lambda are
    the coefficients of the support vectors, and K is their kernel matrix; with ``slack="sum"`` it has C sum(q). The
    program is solved to a proven optimum by column generation: ``gap_`` is the proof.

    `mu` and `rho` are a bridge from a sparse machine to a support vector machine. With ``rho=0``, the default, a few
    support vectors carry the machine. With ``mu=0``, it is close to a support vector machine with the penalty
    C / (2 rho n) on the slack of each of n rows, and uses most rows that are hard to classify.

    The published program has no penalty on lambda (``mu=0``). With a kernel of full rank it is degenerate: the labels
    are interpolated, h is 1 and nearly every row a support vector, whatever C. A positive `mu` makes it sparse.

    Parameters
    ----------
    C : float, default=1000.0
        Penalty on the slacks; see `slack`.
    mu : float, default=0.2
        Penalty on ``|lambda|``: the larger, the fewer support vectors. What matters is mu / C, unless C is small. 0
        (with ``rho=0``) reproduces the paper; where rounding errors leave that program without a solution, the first
        of 1e-6, 1e-5 and 1e-4 (times C, or with ``slack="sum"`` times C and the sum of the weights, if that is below
        1) that has one is used, with a warning.
    rho : float, default=0.0
        Penalty on lambda' K lambda, the squared norm of the machine's function without its intercept (for a linear
        machine, of its weights): the larger, the smoother the function. What matters is rho / C. Values above 0 need a
        positive semidefinite kernel, and more support vectors, but help on tables with few rows and many columns.
        Kernel values are first divided by the mean of k(x, x) over the training rows, so that mu and rho mean the same
        for every kernel; for "rbf" this changes nothing.
    kernel : {"rbf", "poly", "linear", "precomputed"}, default="rbf"
        "linear" solves for the weights of the features themselves and has no support vectors. "precomputed" takes the
        square kernel matrix as X (to predict, the kernel values with all training rows).
    gamma : float, "smooth", "medium", "scale" or "auto", default="smooth"
        Coefficient of the kernel, on scaled rows. "auto" is 1 / n_features; "scale" is that divided by the variance,
        which is 1 for scaled columns; "smooth" is "scale" divided by n_features, but by at most 20, and "medium" by the
        square root of that. n_features is the number of columns of X, whatever is made of them.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" kernel.
    slack : {"mean", "sum"}, default="mean"
        What C multiplies: the (weighted) mean of the slacks, so that C means the same for any number of rows and any
        scale of the weights, or their (weighted) sum. "sum" reproduces the paper; "mean" with C times the sum of the
        weights is the same machine.
    relaxation : float, default=0.3
        Once the support vectors are chosen with `mu`, their coefficients are solved again with `relaxation` times `mu`,
        so that they are less shrunk towards zero. 1 reproduces the paper.
    conformal : {"none", "signed", "shrunk", "printed"}, default="none"
        Fit again with the kernel r(x) r(x') k(x, x'), where r separates the classes best and is centred on the support
        vectors of a first fit. "signed" is the published r; "shrunk" is (1 - s) + s r, with s the `shrinkage`.
        With the penalty mu, neither gained on the data sets of the paper ("shrunk" -0.3, "signed" -0.5 points).
        "printed" solves equations 13 to 15 of [2]_ exactly as they are printed, which is not a ratio of scatters; it is
        only for comparison with the paper (see the page on published settings, docs/published.md).
    gamma_conformal : float or "auto", default="auto"
        Coefficient of the Gaussians that make up r. "auto" is twice `gamma`.
    shrinkage : float or None, default=None
        s of "shrunk", from 0 to 1. None chooses it by cross-validation.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    multi_class : {"ovo", "ovr"}, default="ovo"
        With more than two classes: one machine per pair of classes, or one per class against the rest.
    probability : bool, default=False
        Calibrate probabilities on held-out folds, which takes about five more fits. They agree with ``predict``.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. The 50 most
        frequent categories of a column each become a column of 0 and 1; other categories are 0 in all of them.
    scaling : {"arcsinh", "standard", "robust", None}, default="arcsinh"
        "standard" standardises the columns of X; "arcsinh" also compresses their long tails (a linear machine only
        standardises); "robust" standardises without regard to the outermost 0.1% of the values on either side, and
        columns with two values by half the distance between these; None takes X as it is. Support vectors are always
        reported in the units of X.
    tol : float, default=1e-8
        The solver stops when no column's dual price exceeds `mu` by more than this fraction of `mu`.
    max_iter : int, default=100000
        Maximum number of steps of the solver per machine. If it is reached, the machine is kept as it is, with a
        warning. With ``mu=0`` and ``rho=0``, the maximum is 20 steps per row if that is less: a program without a
        penalty that takes longer is usually too ill-conditioned to be solved at all.
    n_jobs : int or None, default=None
        Number of threads, for the machines of several classes; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds of `probability` and "shrunk"; nothing else is random.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    support_ : array of shape (n_support,)
        Rows of X that are support vectors of any machine, sorted. Empty for a linear machine.
    support_vectors_ : array of shape (n_support, n_features)
        Those rows, in the units of X, with NaN for missing values and categories by their places in ``categories_``; of
        shape (0, 0) for a precomputed kernel.
    dual_coef_ : array of shape (n_machines, n_support)
        lambda, in f(x) = sum_j lambda_j k(x_j, x) + b on scaled rows.
    intercept_ : array of shape (n_machines,)
        b; for a linear machine in the units of X.
    coef_ : array of shape (n_machines, n_prepared_features)
        Weights in the units of X, one for each of ``prepared_feature_names_``; only for a linear machine.
    slope_ : float
        Slope of the logistic function of the probabilities, if `probability`.
    shrinkage_ : float
        s of a conformal kernel (1 unless `conformal` is "shrunk").
    h_ : array of shape (n_machines,)
        The bound on the complexity that was minimised: the largest of 1 and all y f, for the machine as it is.
    objective_ : array of shape (n_machines,)
        Value of the program that chose the support vectors.
    gap_ : array of shape (n_machines,)
        Difference between it and the bound that the dual proves, relative to it.
    n_iter_ : array of shape (n_machines,)
        Number of steps of the solver.
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
    MCMClassifierCV : Chooses C, mu, rho and gamma.
    MCMRegressor : The machine for numbers.

    Notes
    -----
    A missing number is read as the (weighted) median of its column. If the column had missing values in ``fit``, one
    more column is 1 where a value is missing. Missing values of a categorical column are a category of their own if
    ``fit`` had some. A column without any value in ``fit`` is not used. Unless `scaling` is None, two categories of a
    column are two units apart, however rare they are, and so are a missing value and the median; one unit is a standard
    deviation of the other columns.

    References
    ----------
    .. [1] Jayadeva, "Learning a hyperplane classifier by minimizing an exact bound on the VC dimension",
       Neurocomputing 149, 2015. Its preprint asks commercial users to turn to its authors' institute, IIT Delhi.
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

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASS_LIMITS | {
        "C": real(0, open_low=True),
        "mu": real(0),
        "rho": real(0),
        "gamma": gamma_limit(),
        "gamma_conformal": either(real(0, open_low=True), one_of("auto")),
        "shrinkage": either(real(0, 1), Limit(lambda value: value is None, "None")),
        "probability": boolean(),
    }
    classes_: NDArray[Any]
    n_features_in_: int
    support_: Indices
    support_vectors_: Matrix
    dual_coef_: Matrix
    intercept_: Vector
    slope_: float
    _scaling: PreparedScaling
    _trained_settings: Settings
    _factor: ConformalFactor | None

    def __init__(
        self,
        C: float = 1000.0,
        mu: float = 0.2,
        *,
        rho: float = 0.0,
        kernel: Any = "rbf",
        gamma: float | str = "smooth",
        degree: int = 3,
        coef0: float = 0.0,
        slack: str = "mean",
        relaxation: float = RELAXATION,
        conformal: str = "none",
        gamma_conformal: float | str = "auto",
        shrinkage: float | None = None,
        class_weight: Any = None,
        multi_class: str = "ovo",
        probability: bool = False,
        categorical_features: Any = "from_dtype",
        scaling: str | None = "arcsinh",
        tol: float = 1e-8,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        random_state: Any = None,
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
            Class labels of any kind, at least two of them.
        sample_weight : array of shape (n_samples,), default=None
            A weight of two equals the row twice; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._fit(read_classes(self, X, y, sample_weight))
        return self

    def _fit(self, problem: ClassProblem, *, expects_vectors: bool = True) -> None:
        self.classes_ = problem.classes
        self._scaling = scaling_of_machine(self, problem.rows, problem.weight, scaling_for(self))
        rows, label, weight, kept = self._scaling(problem.rows), problem.label, problem.weight, problem.kept
        gamma = 1.0 if has_no_function(self) else gamma_value(self.gamma, rows, weight, self.n_features_in_)
        settings = replace(settings_of(self, gamma, thread_count(self.n_jobs)), rho=self.rho)
        self._forget()
        if self.conformal != "none":
            self.shrinkage_ = self._shrinkage(settings, problem)
        trained = self._train(settings, rows, label, weight, kept)
        self._warn(trained, label, weight, expects_vectors)
        self._keep(trained, problem.table)
        if self.probability:
            self.slope_ = calibrate(*self._held_out_scores(settings, problem, None))

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
    ) -> Trained:
        gamma, share = None, 1.0
        if self.conformal != "none":
            assert settings.kernel is not None
            gamma = 2 * settings.kernel.gamma if self.gamma_conformal == "auto" else float(self.gamma_conformal)
            share = self.shrinkage_ if shrinkage is None else shrinkage
        with one_blas_thread():
            return train_machines(MachinePaths(settings, rows, label, weight, origin), self.C, self.mu, gamma, share)

    def _warn(self, trained: Trained, label: Labels, weight: Vector, expects_vectors: bool) -> None:
        """Say what is odd about a solution."""
        if warn_unless_converged(trained.solutions, self.max_iter):
            return
        if trained.mu != self.mu:
            warn_user(
                f"The published program (mu=0) is too ill-conditioned on these rows to be solved; mu={trained.mu:g} "
                "was used instead. A larger mu gives a sparse machine.",
                ConvergenceWarning,
            )
        interpolates = any(s.h < 1 + 1e-6 and s.mean_slack < 1e-6 for s in trained.solutions)
        if trained.mu == 0 and self.rho == 0 and interpolates and not trained.settings.linear:
            warn_user(
                "With mu=0 the published program is degenerate on these rows: h = 1 and no slack, the labels "
                f"interpolated with {len(trained.origin)} of {len(label)} rows as support vectors, for any C. Any mu "
                "above 0 makes it sparse.",
            )
        one_class_anyway = np.bincount(label, weights=weight).max() > 0.95 * weight.sum()
        if expects_vectors and not trained.coefficients.any() and not one_class_anyway:
            price = f"mu={self.mu:g}" if self.mu > 0 else f"rho={self.rho:g}"
            warn_user(
                f"No support vector is worth its penalty, so that every row gets the same class: {price} is too large "
                f"for C={self.C:g} (try C / 1000), or X does not distinguish the classes (as when equal rows "
                "have opposite labels).",
            )

    def _held_out_scores(
        self, settings: Settings, problem: ClassProblem, shrinkage: float | None
    ) -> tuple[Matrix, Labels, Vector]:
        """Scores by class from machines that have not seen the rows, the labels, and weights to judge by."""
        # Folds of distinct rows: the same whether a row comes twice or has twice the weight.
        merge = plain_rows if settings.precomputed else distinct_rows
        distinct = merge(self._scaling(problem.rows), problem.label, problem.weight, problem.kept)
        judged_by = distinct.weight * share_of_samples(problem)[distinct.label]
        part = replace(settings, n_jobs=1)
        scores, held_out = [], []
        for train, held in stratified_folds(INNER_FOLDS, distinct.label, self.random_state):
            origin = distinct.origin[distinct.centre_of_row[train]] if settings.precomputed else None
            trained = self._train(
                part, distinct.rows[train], distinct.label[train], distinct.weight[train], origin, shrinkage
            )
            raw = trained.raw_scores(distinct.rows[held])
            scores.append(class_scores(raw, settings.n_classes, settings.multi_class))
            held_out.append(held)
        rows = np.concatenate(held_out)
        return np.concatenate(scores), distinct.label[rows], judged_by[rows]

    def _shrinkage(self, settings: Settings, problem: ClassProblem) -> float:
        """s: as given, or that of the best held-out accuracy, the smallest among equals; 1 for a signed factor.

        The cores and r are fitted anew in each fold.
        """
        if self.conformal != "shrunk":
            return 1.0
        if self.shrinkage is not None:
            return self.shrinkage
        accuracy = []
        for share in SHRINKAGES:
            scores, label, weight = self._held_out_scores(settings, problem, share)
            accuracy.append(np.average(choose_class(scores) == label, weights=weight))
        return SHRINKAGES[int(np.argmax(accuracy))]

    def _keep(self, trained: Trained, X: Matrix) -> None:
        """The machine in the user's units and row numbers; X are the user's rows."""
        settings, scaling = trained.settings, self._scaling
        self._trained_settings = replace(settings, n_jobs=1)  # with how many threads is no part of a model
        self._factor = trained.factor
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
        return self._scores_of(machine_rows(self, X, reset=False))

    def _scores_of(self, rows: Matrix) -> Matrix:
        settings = self._trained_settings
        if settings.linear:
            with np.errstate(over="ignore"):
                raw = self._scaling.preparation(rows) @ self.coef_.T + self.intercept_
            np.clip(raw, -FARTHEST_SCORE, FARTHEST_SCORE, out=raw)
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
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Or, for a precomputed kernel, the kernel values with all training rows.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            Above zero means the second of two classes; of several, the largest wins. One-versus-one: the number of won
            duels, with the margins to break ties.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        chosen = choose_class(self._scores(X))
        return self.classes_[chosen]

    @available_if(_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``; needs ``probability=True``.

        Returns
        -------
        probability : array of shape (n_samples, n_classes)
            The class of ``predict`` has the largest one.
        """
        return probabilities(self._scores(X), self.slope_)


def warn_unless_converged(solutions: list[Solution], max_iter: int) -> bool:
    """Whether there was a reason to warn, with the largest gap: a machine ran out of steps or numbers."""
    unsolved = [solution for solution in solutions if not solution.converged]
    if unsolved:
        worst = max(unsolved, key=lambda solution: solution.gap)
        steps, most = worst.n_iter, worst.max_iter
        why = "ran out of steps" if steps >= most else "ran into numerical difficulties"
        advice = "Raise max_iter or mu, lower C, or change gamma."
        if most < max_iter:  # the published program, which gets fewer steps
            advice = (
                "Neither the published program (mu=0) nor one with a penalty of up to "
                f"{LEAST_MUS[-1]:g} could be solved on these rows; set a small mu, such as mu={10 * LEAST_MUS[-1]:g}, "
                "lower C, or change gamma."
            )
        warn_user(
            f"The solver {why} after {steps} of at most {most} steps; a relative gap of {worst.gap:.1e} remains "
            f"between its objective and the proven bound. {advice}",
            ConvergenceWarning,
        )
    return bool(unsolved)


def share_of_samples(problem: ClassProblem) -> Vector:
    """By class, the samples' own share of the weights: class weights influence the fit, not what it is judged by."""
    own = np.bincount(problem.label, weights=problem.sample_weight)
    return own / np.bincount(problem.label, weights=problem.weight)
