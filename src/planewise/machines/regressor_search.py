"""The regressor with C, mu, gamma and epsilon chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from planewise._optional import warn_user
from planewise._params import (
    Limit,
    boolean,
    check_parameters,
    either,
    integer,
    keep_parameters,
    one_of,
    real,
    seed,
    threads,
)
from planewise.data.problem import NumberProblem, all_or_nothing, thread_count
from planewise.data.scaling import find_scaling
from planewise.explain.estimator import ShownInNotebooks
from planewise.explain.reasons import Reason
from planewise.machines.blas import one_blas_thread
from planewise.machines.columns import PreparesColumns, machine_rows, scaling_of_folds
from planewise.machines.explain_exact import ExplainsExactMachine
from planewise.machines.folds import Folds, split_rows
from planewise.machines.kernels import Kernel, Matrix
from planewise.machines.regressor import (
    RELAXATION_LIMIT,
    MCMRegressor,
    read_numbers,
    surface_settings,
)
from planewise.machines.rows import Indices, Vector, distinct_rows, plain_rows
from planewise.machines.search_parts import (
    OfTheMachine,
    SplitsRows,
    by_point_and_fold,
    excess_and_error,
    give_columns,
    number_lists,
    params_of,
    refitted,
    results_by_point,
)
from planewise.machines.settings import (
    SHARED_LIMITS,
    TakesKernelMatrix,
    has_no_function,
    scaling_for,
)
from planewise.machines.surface import SurfacePath, SurfaceSettings

# Chosen by cross-validation inside the training parts of nine develop sets; gamma is divided by the number of features,
# mu multiplied by C.
GAMMAS_TIMES_FEATURES = (0.03, 0.1, 0.3)
MUS_BY_C = tuple(float(f"{ratio:.2g}") for ratio in np.geomspace(1e-3, 1e-6, 7))
# With max_support="auto", a path ends at this share of the rows, but not below so many vectors.
MOST_SUPPORT, MANY_VECTORS = 0.2, 80
# What the search and its machine have in common besides what is searched for.
FIXED = (
    *("kernel", "degree", "coef0", "slack", "relaxation"),
    *("categorical_features", "scaling", "tol", "max_iter"),
)


@dataclass(frozen=True)
class Allowance:
    """How much more held-out squared error than the best machine's a sparser one may have: the larger of the two."""

    standard_errors: float  # of the difference, row by row
    share: float  # of the best machine's error


ALLOWANCES = {"best": Allowance(0.0, 0.0), "balanced": Allowance(0.2, 0.01), "sparsest": Allowance(1.0, 0.03)}


@dataclass(frozen=True)
class SurfacePoint:
    """One choice of what is searched for; `gamma` is None where the kernel has no such parameter."""

    C: float
    mu: float
    gamma: float | None
    epsilon: float


@dataclass(frozen=True)
class HeldOut:
    """What a machine predicts for rows it has not seen, and how many vectors it needs."""

    predictions: Vector
    n_vectors: int
    converged: bool


@dataclass(frozen=True)
class PathTask:
    """The points of one gamma and epsilon, in one fold."""

    fold: int
    settings: SurfaceSettings
    points: list[SurfacePoint]


class MCMRegressorCV(
    SplitsRows,
    TakesKernelMatrix,
    PreparesColumns,
    ExplainsExactMachine,
    ShownInNotebooks,
    RegressorMixin,
    BaseEstimator,
):
    """Minimal complexity machine for numbers whose C, mu, gamma and epsilon are chosen by cross-validation.

    For each gamma, epsilon and fold one path is followed, from large mu to small, each machine starting from the
    previous one: a whole path costs little more than its last machine.

    Parameters
    ----------
    Cs : list of float, default=(100.0,)
        Penalties on the slacks to try; see `slack`.
    mus : list of float or None, default=None
        Penalties on ``|lambda|``, the coefficients of the support vectors, to try. None: C (with ``slack="sum"``, C
        times twice the sum of the weights) times seven values from 0.001 down to 0.000001. 0 reproduces the paper.
    gammas : list of float or None, default=None
        Coefficients of the kernel to try, on scaled rows. None: 0.03, 0.1 and 0.3, divided by the number of features.
    epsilons : list of float, default=(0.25,)
        Half distances between the two copies of a row to try, in standard deviations of y.
    kernel : {"rbf", "poly", "linear", "precomputed"}, default="rbf"
        As in MCMClassifier.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" kernel.
    slack : {"mean", "sum"}, default="mean"
        As in MCMRegressor: whether C multiplies the mean of the slacks or their sum, in each fold over its own rows.
    relaxation : float or "ridge", default="ridge"
        As in MCMRegressor: how the coefficients of the chosen support vectors are fitted again. 1 reproduces the paper.
    selection : {"balanced", "sparsest", "best"}, default="balanced"
        "best": the smallest held-out squared error. "balanced": of all machines whose error exceeds it by no more than
        a fifth of the standard error of the difference, or by 1%, the one with the fewest support vectors; "sparsest":
        one standard error, or 3%. Differences are taken row by row.
    max_support : float or "auto", default="auto"
        A path ends when its machines have more support vectors than this share of the rows: smaller mus are not tried.
        "auto": a fifth of the rows, but at least 80 vectors. 1 lets every machine through.
    cv : int, splitter or list of (train, test) rows, default=5
        An integer means shuffled folds.
    n_repeats : int, default=1
        How often folds are drawn, if `cv` is an integer: more make the choice more stable.
    refit : bool, default=True
        Fit the chosen machine on all rows. False: only ``cv_results_`` and the best parameters are known.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        As in MCMClassifier: categorical columns are those of a category data type, or a list of names, numbers or a
        mask.
    scaling : {"arcsinh", "standard", "robust", None}, default="arcsinh"
        As in MCMRegressor. Means, standard deviations and medians in place of missing values are those of the training
        rows of each fold.
    tol : float, default=1e-8
        Tolerance of the solver, as in MCMRegressor.
    max_iter : int, default=100000
        Maximum number of simplex steps per machine.
    n_jobs : int or None, default=None
        Number of threads, for paths; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds; nothing else is random.

    Attributes
    ----------
    best_params_ : dict
        The chosen values, and the search's own settings that differ from the defaults of MCMRegressor:
        ``MCMRegressor(**best_params_)`` is the chosen machine.
    best_score_ : float
        Its mean held-out score.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : MCMRegressor
        The chosen machine, fitted on all rows. Its attributes (``support_``, ``support_vectors_``, ``dual_coef_``,
        ``intercept_``, ``coef_``, ``h_``, ``objective_``, ``gap_``, ``n_iter_``, ``mu_``) are attributes of the search
        as well.
    cv_results_ : dict of arrays
        By point: "params", ``param_...``, "split..._test_score", "mean_test_score", "std_test_score",
        "rank_test_score" (1 - mean squared error / variance of all y: R² if the folds had equal variances; NaN where a
        path had ended) and "mean_n_support".
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
    MCMRegressor : The machine at given C, mu, gamma and epsilon.
    MCMClassifierCV : The search for classes.

    References
    ----------
    .. [1] Jayadeva, S. Chandra, S. S. Batra, S. Sabharwal, "Learning a hyperplane regressor through a tight bound on
       the VC dimension", Neurocomputing 171, 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from planewise import MCMRegressorCV
    >>> X, y = make_friedman1(200, n_features=5, random_state=0)
    >>> search = MCMRegressorCV(cv=3, random_state=0).fit(X, y)
    >>> search.best_score_ > 0.95
    True
    >>> len(search.support_) < 50
    True

    Rows of one group stay on one side of every fold:

    >>> from sklearn.model_selection import GroupKFold
    >>> grouped = MCMRegressorCV(cv=GroupKFold(3))
    >>> grouped.fit(X, y, groups=[k // 5 for k in range(200)]).best_score_ > 0.9
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = SHARED_LIMITS | {
        "Cs": number_lists(),
        "mus": number_lists("shares of C", zero=True),
        "gammas": number_lists("parts of 1 / n_features"),
        "epsilons": number_lists(),
        "relaxation": RELAXATION_LIMIT,
        "selection": one_of(*ALLOWANCES),
        "n_repeats": integer(1),
        "max_support": either(real(0, 1, open_low=True), one_of("auto")),
        "refit": boolean(),
        "n_jobs": threads(),
        "random_state": seed(),
    }
    best_estimator_: MCMRegressor
    n_features_in_: int

    support_ = OfTheMachine()
    support_vectors_ = OfTheMachine()
    dual_coef_ = OfTheMachine()
    intercept_ = OfTheMachine()
    coef_ = OfTheMachine()
    h_ = OfTheMachine()
    objective_ = OfTheMachine()
    gap_ = OfTheMachine()
    n_iter_ = OfTheMachine()
    mu_ = OfTheMachine()
    _scaling = OfTheMachine()
    _kernel = OfTheMachine()

    def __init__(
        self,
        Cs: Any = (100.0,),
        mus: Any = None,
        gammas: Any = None,
        epsilons: Any = (0.25,),
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        slack: str = "mean",
        relaxation: float | str = "ridge",
        selection: str = "balanced",
        max_support: float | str = "auto",
        cv: Any = 5,
        n_repeats: int = 1,
        refit: bool = True,
        categorical_features: Any = "from_dtype",
        scaling: str | None = "arcsinh",
        tol: float = 1e-8,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Search, then fit the chosen machine on all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers and categories, with NaN for missing values; a square kernel matrix without missing values if the
            kernel is "precomputed".
        y : array of shape (n_samples,)
            Numbers to predict.
        sample_weight : array of shape (n_samples,), default=None
            Weights in fitting and in scoring.
        groups : array of shape (n_samples,), default=None
            The group of each row, for a `cv` that keeps groups together, such as ``GroupKFold(5)``. With scikit-learn's
            metadata routing, a pipeline passes them on without a request, as to ``GridSearchCV``.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._check_cv(groups)
        problem = read_numbers(self, X, y, sample_weight)
        rows = problem.rows[:, problem.kept] if self.kernel == "precomputed" else problem.rows
        target, weight = problem.target, problem.weight
        if isinstance(self.cv, (int, np.integer)):
            # Folds of distinct rows: the same whether a row comes twice or has twice the weight.
            levels, level = np.unique(target, return_inverse=True)
            make = plain_rows if self.kernel == "precomputed" else distinct_rows
            distinct = make(rows, level.reshape(-1).astype(np.int32), weight, problem.kept)
            rows, target, weight = distinct.rows, levels[distinct.label], distinct.weight
            folds = shuffled_folds(int(self.cv), self.n_repeats, len(target), self.random_state)
        else:
            whole = np.zeros(len(problem.table))
            whole[problem.kept] = target
            folds = split_rows(self.cv, problem.table, whole, problem.kept, groups, are_classes=False)
        points = self._points(float(weight.sum()))
        with one_blas_thread():
            found = self._evaluate(points, rows, target, weight, folds)
        self.__dict__.pop("best_estimator_", None)
        self._judge(points, found, [held for _, held in folds], target, weight)
        if self.refit:
            self._refit(problem)
        return self

    def _points(self, total: float) -> list[SurfacePoint]:
        default = tuple(part / self.n_features_in_ for part in GAMMAS_TIMES_FEATURES)
        gammas: Any = (None,) if has_no_function(self) else default if self.gammas is None else self.gammas
        points = []
        for gamma, epsilon, C in product(gammas, self.epsilons, self.Cs):
            of_mean = 2 * C * total if self.slack == "sum" else C
            mus = [float(f"{share * of_mean:.6g}") for share in MUS_BY_C] if self.mus is None else self.mus
            points += [SurfacePoint(C, mu, gamma, epsilon) for mu in mus]
        return points

    def _evaluate(
        self, points: list[SurfacePoint], X: Matrix, target: Vector, weight: Vector, folds: Folds
    ) -> dict[SurfacePoint, list[HeldOut | None]]:
        """Held-out predictions of every point in every fold; None where a path ended before it."""
        by_path: dict[tuple[float, float], list[SurfacePoint]] = {}
        for point in points:
            by_path.setdefault((point.gamma or 0.0, point.epsilon), []).append(point)
        # Narrow kernels' paths are the long ones: begin with them, so that no thread waits for the last.
        tasks = [
            PathTask(fold, self._settings(by_path[key][0]), by_path[key])
            for key in sorted(by_path, reverse=True)
            for fold in range(len(folds))
        ]

        find = scaling_of_folds(self, X, weight, scaling_for(self))

        def run(task: PathTask) -> dict[SurfacePoint, HeldOut]:
            train, held = folds[task.fold]
            scale = find(X[train], weight[train])
            rows = scale(X[train])
            path = SurfacePath(
                task.settings,
                rows[:, train] if task.settings.precomputed else rows,
                target[train],
                weight[train],
                train,
            )
            return walk(path, task.points, scale(X[held]), self._most_vectors(len(train)))

        return by_point_and_fold(run, tasks, points, len(folds), thread_count(self.n_jobs))

    def _most_vectors(self, n_rows: int) -> float:
        """At which number of vectors a path of a machine on so many rows ends."""
        if self.max_support == "auto":
            return max(MANY_VECTORS, MOST_SUPPORT * n_rows)
        return float(self.max_support) * n_rows

    def _settings(self, point: SurfacePoint) -> SurfaceSettings:
        kernel = None if point.gamma is None else Kernel(self.kernel, point.gamma, self.degree, self.coef0)
        return surface_settings(self, kernel, point.epsilon)

    def _judge(
        self,
        points: list[SurfacePoint],
        found: dict[SurfacePoint, list[HeldOut | None]],
        held: list[Indices],
        target: Vector,
        weight: Vector,
    ) -> None:
        """Fill ``cv_results_`` and choose."""
        parts = [found[point] for point in points]
        complete = np.array([all(part is not None for part in each) for each in parts])  # the largest mu always is
        variance = float(find_scaling(target[:, None], weight, "standard").spread[0]) ** 2
        scores, n_support = (np.full((len(points), len(held)), np.nan) for _ in range(2))
        errors = np.full((len(points), len(target)), np.nan)  # mean squared error of each row, where it was held out
        times = np.bincount(np.concatenate(held), minlength=len(target))
        for p in np.flatnonzero(complete):
            errors[p] = 0.0
            for fold, rows in enumerate(held):
                part = parts[p][fold]
                assert part is not None
                squared = (part.predictions - target[rows]) ** 2 / variance
                scores[p, fold] = 1 - np.average(squared, weights=weight[rows])
                n_support[p, fold] = part.n_vectors
                errors[p, rows] += squared / times[rows]
        self.cv_results_ = results_by_point(points, scores, n_support)
        seen = times > 0
        vectors = n_support.mean(axis=1)
        self.best_index_ = sparsest_near_the_best(errors[:, seen], weight[seen], vectors, ALLOWANCES[self.selection])
        self.best_params_ = self._params_of(self.best_index_)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        n_unsolved = sum(part is not None and not part.converged for each in parts for part in each)
        if n_unsolved:
            warn_user(
                f"The solver did not reach the optimum of {n_unsolved} of the search's machines, for lack of steps "
                f"(max_iter={self.max_iter}) or because of rounding errors; their scores count as they are. Raise "
                "max_iter, or leave out the smallest of mus or the largest of Cs.",
                ConvergenceWarning,
            )

    def _params_of(self, point: int) -> dict[str, Any]:
        return params_of(self, MCMRegressor(), FIXED, point)

    def _refit(self, problem: NumberProblem) -> None:
        machine = MCMRegressor(**self.best_params_)
        give_columns(self, machine)
        machine._fit(problem)
        self.best_estimator_ = machine

    @available_if(refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        check_is_fitted(self)
        return self.best_estimator_._predict_rows(machine_rows(self, X, reset=False))

    @available_if(refitted)  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its number, as in MCMRegressor."""
        return super().explain(X)


def shuffled_folds(n_folds: int, n_repeats: int, n_rows: int, random_state: Any) -> Folds:
    """Folds of nearly equal size, drawn `n_repeats` times; as many as there are rows if there are fewer of these."""
    if n_rows < 2:
        raise ValueError(
            "X and y have 1 sample, or all are equal, so that none can be held out: MCMRegressorCV needs two."
        )
    random = check_random_state(random_state)
    folds: Folds = []
    for _ in range(n_repeats):
        fold = random.permutation(n_rows) % n_folds
        held = [np.flatnonzero(fold == k) for k in range(min(n_folds, n_rows))]
        folds += [(np.setdiff1d(np.arange(n_rows), rows), rows) for rows in held]
    return folds


def walk(
    path: SurfacePath, points: list[SurfacePoint], X_held: Matrix, max_vectors: float
) -> dict[SurfacePoint, HeldOut]:
    """Down the path of each C, from the largest mu to the smallest, until machines have too many vectors.

    The paths are walked side by side: h hardly counts in the objective, so that machines of equal mu / C are nearly the
    same one, and each is the best start for the next.
    """
    found: dict[SurfacePoint, HeldOut] = {}
    ended: set[float] = set()
    for point in sorted(points, key=lambda point: (-point.mu / point.C, point.C)):
        if point.C in ended:
            continue
        surface = path.solve(point.C, point.mu)
        if len(surface.origin) > max_vectors:
            ended.add(point.C)
        found[point] = HeldOut(surface.predict(X_held), len(surface.origin), surface.solution.converged)
    return found


def sparsest_near_the_best(errors: Matrix, weight: Vector, n_support: Vector, allowance: Allowance) -> int:
    """The point with the fewest vectors of those whose mean error is near the smallest; `errors` are by point and row.

    Of points with equally many vectors, the one with the smallest error.
    """
    share = weight / weight.sum()
    mean = errors @ share
    best = int(np.nanargmin(mean))
    excess, standard_error = excess_and_error(errors, errors[best], share)
    allowed = np.maximum(allowance.standard_errors * standard_error, allowance.share * mean[best])
    near = np.flatnonzero(excess <= allowed)
    return int(near[np.lexsort((mean[near], n_support[near]))[0]])
