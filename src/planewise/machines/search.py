"""The machine with C, mu, rho and gamma chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product, zip_longest
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

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
)
from planewise.data.problem import ClassProblem, all_or_nothing, thread_count
from planewise.explain.estimator import ShownInNotebooks
from planewise.explain.reasons import Reason
from planewise.machines.blas import one_blas_thread
from planewise.machines.classifier import MCMClassifier, share_of_samples
from planewise.machines.columns import PreparesColumns, machine_rows, scaling_of_folds
from planewise.machines.conformal_factor import SHRINKAGES
from planewise.machines.explain_exact import ExplainsExactMachine
from planewise.machines.folds import (
    RACES,
    TOLERANCES,
    Folds,
    Held,
    Point,
    choose,
    evaluate,
    given_folds,
    held_out_losses,
    smooth,
    stay_in_the_race,
    stratified_folds,
)
from planewise.machines.kernels import Kernel, Matrix
from planewise.machines.rows import Indices, Labels, Vector, distinct_rows, plain_rows
from planewise.machines.scores import choose_class, probabilities
from planewise.machines.search_parts import (
    OfTheMachine,
    SplitsRows,
    give_columns,
    number_lists,
    params_of,
    refitted,
    results_by_point,
)
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
from planewise.machines.training import LEAST_MUS, STEPS_A_ROW

# Chosen on the develop sets; gamma is divided by the number of features, mu and rho are multiplied by C.
DEFAULT_CS = (1000.0,)
GAMMAS_TIMES_FEATURES = (0.05, 0.2, 0.8, 2.0)
MUS_BY_C = tuple(float(f"{ratio:.2g}") for ratio in np.geomspace(0.05, 1e-5, 12))
RHOS_BY_C, RHOS_BY_C_OF_FEW_ROWS = (0.0, 1e-3), (0.0, 3e-5, 3e-4, 3e-3)
FEW_ROWS = 300
# Folds are drawn until so many rows were held out, all draws together: the more rows, the less chance is in one draw.
ENOUGH_ROWS, MOST_DRAWS = 800, 4
# With max_support="auto", a path ends at this share of the rows, but not below and not above so many vectors.
MOST_SUPPORT, MANY_VECTORS, MOST_VECTORS = 0.5, 80, 200
MANY_UNSOLVED = 0.1  # share of a search's machines that is worth a warning
MOST_ROWS_SEARCHED = 10_000  # more are handed to the large-scale machine
MUS_BY_C_WITH_NORM = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
GAMMAS_CONFORMAL_BY_GAMMA = (2.0, 10.0)
SHRINKAGES_SEARCHED = SHRINKAGES[::2]
# What the search and its machine have in common besides what is searched for.
FIXED = (
    *("kernel", "degree", "coef0", "slack", "relaxation", "conformal"),
    *("class_weight", "multi_class", "categorical_features", "scaling", "tol", "max_iter"),
)


class MCMClassifierCV(
    SplitsRows,
    TakesKernelMatrix,
    PreparesColumns,
    ExplainsExactMachine,
    ShownInNotebooks,
    ClassifierMixin,
    BaseEstimator,
):
    """Minimal complexity machine whose C, mu, rho and gamma are chosen by cross-validation.

    For each gamma, rho and fold one path is followed, from large mu to small, each machine starting from the previous
    one: a whole path costs little more than its last machine. All paths are tried in the first fold; those that are
    clearly worse than the best are left out of the other folds. Of the remaining points, the search takes the sparsest
    one that is not measurably worse than the best: see `selection`. Probabilities are calibrated on the held-out scores
    of the search, at no further cost, and agree with ``predict``.

    Above 10,000 rows, an exact search takes too long. A `LargeScaleMCMClassifier` is then fitted instead, with a
    warning; it is ``best_estimator_``. An exact search is made all the same if any of `Cs`, `mus`, `rhos`, `gammas`,
    `slack`, `cv` (other than an integer) and `conformal` is given, if the kernel is "linear" or "precomputed", and with
    ``refit=False``.

    Parameters
    ----------
    Cs : list of float, default=(1000.0,)
        Penalties on the slacks to try; see `slack`. One is usually enough, as what matters is mu / C and rho / C.
    mus : list of float or None, default=None
        Penalties on ``|lambda|``, the coefficients of the support vectors, to try. None: C (with ``slack="sum"``, C
        times the sum of the weights) times twelve values from 0.05 down to 0.00001 or, where rho is not 0, times seven
        values from 0.1 down to 0.0001. 0 reproduces the paper; as in MCMClassifier, the least penalty that has a
        solution stands in for it where it has none.
    gammas : list of float or None, default=None
        Coefficients of the kernel to try, on scaled rows. None: 0.05, 0.2, 0.8 and 2, divided by the number of
        features.
    rhos : list of float or None, default=None
        Penalties on the norm of the machine's function to try, as in MCMClassifier. None: 0 and C (with
        ``slack="sum"``, C times the sum of the weights) times 0.00003, 0.0003 and 0.003, or for more than 300 rows only
        times 0.001; only 0 for conformal kernels, kernels given as a matrix, and kernels that are not positive
        semidefinite.
    kernel : {"rbf", "poly", "linear", "precomputed"}, default="rbf"
        As in MCMClassifier.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" kernel.
    slack : {"mean", "sum"}, default="mean"
        As in MCMClassifier: whether C multiplies the mean of the slacks or their sum, in each fold over its own rows.
    relaxation : float, default=0.3
        As in MCMClassifier: the coefficients are solved again with `relaxation` times mu. 1 reproduces the paper.
    conformal : {"none", "signed", "shrunk", "printed"}, default="none"
        As in MCMClassifier; the search also tries `gammas_conformal`, and for "shrunk" 0, 0.5 and 1 as the shrinkage.
    gammas_conformal : list of float or None, default=None
        Coefficients of the Gaussians of a conformal kernel, as multiples of gamma. None: 2 and 10. In ``best_params_``
        and ``cv_results_``, ``gamma_conformal`` is the product, as MCMClassifier takes it.
    selection : {"balanced", "sparsest", "best", "first"}, default="balanced"
        Points are compared by the log-loss of their calibrated probabilities on held-out rows, plus half the error
        rate, smoothed over neighbouring values of mu. "best": the smallest such loss. "balanced": of all points whose
        loss exceeds that by at most half the standard error of the (paired) difference, or by at most 0.01, the one
        with the fewest support vectors. "sparsest": the same with one standard error, or 0.04. "first" reproduces
        the paper: the highest held-out accuracy; of equal ones the point that comes first when C is varied slowest,
        then gamma, rho, mu and gamma_conformal, each in the given order.
    max_support : float or "auto", default="auto"
        A path ends when its machines have more support vectors than this share of the rows: smaller mus are not tried.
        "auto": half the rows, but at least 80 and at most 200 vectors. 1 lets every machine through.
    cv : int, splitter or list of (train, test) rows, default=5
        An integer means shuffled stratified folds.
    n_repeats : int or "auto", default="auto"
        How often folds are drawn, if `cv` is an integer: more make the choice more stable. "auto": 800 divided by the
        number of rows, at least 1 and at most 4.
    refit : bool, default=True
        Fit the chosen machine on all rows. False: only ``cv_results_`` and the best parameters are known.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    multi_class : {"ovo", "ovr"}, default="ovo"
        With more than two classes: one machine per pair of classes, or one per class against the rest.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        As in MCMClassifier: categorical columns are those of a category data type, or a list of names, numbers or a
        mask.
    scaling : {"arcsinh", "standard", "robust", None}, default="arcsinh"
        As in MCMClassifier. Means, standard deviations and medians in place of missing values are those of the training
        rows of each fold.
    tol : float, default=1e-8
        Tolerance of the solver, as in MCMClassifier.
    max_iter : int, default=100000
        Maximum number of steps of the solver per machine; with mu and rho of 0 at most 20 steps per row, as in
        MCMClassifier.
    n_jobs : int or None, default=None
        Number of threads, for paths; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds; nothing else is random.

    Attributes
    ----------
    best_params_ : dict
        The chosen values, and the search's own settings that differ from the defaults of MCMClassifier:
        ``MCMClassifier(**best_params_)`` is the chosen machine.
    best_score_ : float
        Its mean held-out accuracy.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : MCMClassifier or LargeScaleMCMClassifier
        The chosen machine, fitted on all rows; above 10,000 rows the large-scale machine, and then there are no
        ``best_params_``, ``best_score_``, ``best_index_`` and ``cv_results_``. Its attributes (``support_``,
        ``support_vectors_``, ``dual_coef_``, ``intercept_``, ``coef_``, ``shrinkage_``, ``slope_``, ``h_``,
        ``objective_``, ``gap_``, ``n_iter_``), as far as it has them, are attributes of the search as well.
    cv_results_ : dict of arrays
        By point: "params", ``param_...``, "split..._test_score", "mean_test_score", "std_test_score", "rank_test_score"
        (accuracy; NaN where the point was not tried; points that were left out of some folds rank last),
        "mean_test_log_loss" (NaN unless it was tried in all folds) and "mean_n_support".
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
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
    MCMClassifier : The machine at given C, mu, rho and gamma.
    MCMRegressorCV : The search for numbers.

    References
    ----------
    .. [1] Jayadeva, "Learning a hyperplane classifier by minimizing an exact bound on the VC dimension",
       Neurocomputing 149, 2015. Its preprint asks commercial users to turn to its authors' institute, IIT Delhi.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from planewise import MCMClassifierCV
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> search = MCMClassifierCV(cv=3, random_state=0).fit(X, y)
    >>> search.best_score_ > 0.93
    True
    >>> len(search.support_) < 20
    True
    >>> search.predict_proba(X[:1]).round().tolist()
    [[1.0, 0.0]]

    Rows of one group stay on one side of every fold:

    >>> from sklearn.model_selection import GroupKFold
    >>> grouped = MCMClassifierCV(cv=GroupKFold(3), random_state=0)
    >>> grouped.fit(X, y, groups=[k // 5 for k in range(200)]).best_score_ > 0.9
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASS_LIMITS | {
        "Cs": number_lists(),
        "mus": number_lists("shares of C", zero=True),
        "gammas": number_lists("parts of 1 / n_features"),
        "gammas_conformal": number_lists("2 and 10"),
        "rhos": number_lists("shares of C", zero=True),
        "selection": one_of(*TOLERANCES, "first"),
        "n_repeats": either(integer(1), one_of("auto")),
        "max_support": either(real(0, 1, open_low=True), one_of("auto")),
        "refit": boolean(),
    }
    best_estimator_: MCMClassifier
    classes_: NDArray[Any]
    n_features_in_: int

    support_ = OfTheMachine()
    support_vectors_ = OfTheMachine()
    dual_coef_ = OfTheMachine()
    intercept_ = OfTheMachine()
    coef_ = OfTheMachine()
    shrinkage_ = OfTheMachine()
    slope_ = OfTheMachine()
    h_ = OfTheMachine()
    objective_ = OfTheMachine()
    gap_ = OfTheMachine()
    n_iter_ = OfTheMachine()
    _scaling = OfTheMachine()
    _trained_settings = OfTheMachine()
    _factor = OfTheMachine()

    def __init__(
        self,
        Cs: Any = DEFAULT_CS,
        mus: Any = None,
        gammas: Any = None,
        *,
        rhos: Any = None,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        slack: str = "mean",
        relaxation: float = RELAXATION,
        conformal: str = "none",
        gammas_conformal: Any = None,
        selection: str = "balanced",
        max_support: float | str = "auto",
        cv: Any = 5,
        n_repeats: int | str = "auto",
        refit: bool = True,
        class_weight: Any = None,
        multi_class: str = "ovo",
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
            Class labels of any kind, at least two of them.
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
        self._forget()
        if self._is_for_large_scale(X):
            return self._hand_over(X, y, sample_weight)
        problem = read_classes(self, X, y, sample_weight)
        rows = problem.rows[:, problem.kept] if self.kernel == "precomputed" else problem.rows
        label, weight, score_weight = problem.label, problem.weight, problem.sample_weight
        settings = settings_of(self, 1.0, n_jobs=1)
        if isinstance(self.cv, (int, np.integer)):
            # Folds of distinct rows: the same whether a row comes twice or has twice the weight.
            distinct = (plain_rows if settings.precomputed else distinct_rows)(rows, label, weight, problem.kept)
            rows, label, weight = distinct.rows, distinct.label, distinct.weight
            score_weight = weight * share_of_samples(problem)[label]
            score_weight = score_weight / score_weight.mean()  # their scale says nothing
            random = check_random_state(self.random_state)
            draws = [stratified_folds(int(self.cv), label, random) for _ in range(self._n_draws(len(label)))]
        else:
            draws = [given_folds(self.cv, problem.table, label, problem.kept, groups)]
        points = self._points(len(label), rows.shape[1], float(weight.sum()))
        with one_blas_thread():
            found = self._race(settings, points, rows, label, weight, score_weight, draws)
        folds = [fold for draw in draws for fold in draw]
        self._judge(points, found, [held for _, held in folds], label, score_weight)
        if self.refit:
            self._refit(problem)
        return self

    def _forget(self) -> None:
        for name in ("best_estimator_", "best_params_", "best_score_", "best_index_", "cv_results_", "_slope"):
            self.__dict__.pop(name, None)

    def _is_for_large_scale(self, X: Any) -> bool:
        """Whether X has too many rows to search exactly, and the large-scale machine can do what is asked for."""
        given = (self.rhos, self.mus, self.gammas) != (None, None, None) or tuple(self.Cs) != DEFAULT_CS
        searched = not given and self.slack == "mean" and isinstance(self.cv, (int, np.integer))
        plain = self.conformal == "none" and not has_no_function(self)
        return bool(searched and plain and self.refit and _num_samples(X) > MOST_ROWS_SEARCHED)

    def _hand_over(self, X: Any, y: Any, sample_weight: Any) -> Self:
        from planewise.machines.large import LargeScaleMCMClassifier

        shared = ("kernel", "degree", "coef0", "class_weight", "categorical_features", "n_jobs", "random_state")
        given = {} if self.scaling == "arcsinh" else {"scaling": self.scaling}
        machine = LargeScaleMCMClassifier(**{name: getattr(self, name) for name in shared}, **given)
        machine.fit(X, y, sample_weight=sample_weight)
        for name in ("classes_", "n_features_in_", "feature_names_in_", "categories_"):
            self.__dict__.pop(name, None)
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        self.best_estimator_ = machine
        warn_user(
            f"X has more than {MOST_ROWS_SEARCHED:,} rows, too many for an exact search: best_estimator_ is a "
            "LargeScaleMCMClassifier with the same kernel and otherwise its own defaults; selection, relaxation, "
            "max_support and multi_class are not used, and there are no cv_results_. For an exact machine, fit on a "
            "sample of the rows."
        )
        return self

    def _most_vectors(self, n_rows: int) -> float:
        """At which number of vectors a path of a machine on so many rows ends."""
        if self.max_support == "auto":
            return min(MOST_VECTORS, max(MANY_VECTORS, MOST_SUPPORT * n_rows))
        return float(self.max_support) * n_rows

    def _n_draws(self, n_rows: int) -> int:
        if self.n_repeats != "auto":
            return int(self.n_repeats)
        return min(MOST_DRAWS, max(1, round(ENOUGH_ROWS / n_rows)))

    def _race(
        self,
        settings: Settings,
        points: list[Point],
        rows: Matrix,
        label: Labels,
        weight: Vector,
        score_weight: Vector,
        draws: list[Folds],
    ) -> dict[Point, list[Held | None]]:
        """What machines say of held-out rows: all points in the first fold, in later ones those still worth it."""
        stages = [draws[0][:1], draws[0][1:], [fold for draw in draws[1:] for fold in draw]]
        if self.selection == "first":
            stages = [[fold for draw in draws for fold in draw]]
        found: dict[Point, list[Held | None]] = {point: [] for point in points}
        staying, done = points, Folds()
        scaling = scaling_of_folds(self, rows, weight, scaling_for(self))
        for stage, tolerance in zip_longest([stage for stage in stages if stage], RACES):
            if stage is None:
                break
            more = evaluate(
                settings,
                staying,
                rows,
                label,
                weight,
                score_weight,
                stage,
                scaling=scaling,
                most_vectors=self._most_vectors,
                n_jobs=thread_count(self.n_jobs),
            )
            nothing: list[Held | None] = [None] * len(stage)
            found = {point: found[point] + more.get(point, nothing) for point in points}
            done = done + stage
            losses = held_out_losses(
                [found[point] for point in points], [held for _, held in done], label, score_weight
            )
            if tolerance is not None:
                staying = stay_in_the_race(points, losses, tolerance)
        return found

    def _points(self, n_rows: int, n_features: int, total: float) -> list[Point]:
        no_gamma = has_no_function(self)
        default = tuple(part / n_features for part in GAMMAS_TIMES_FEATURES)
        gammas: Any = (None,) if no_gamma else default if self.gammas is None else self.gammas
        shrinkages: Any = SHRINKAGES_SEARCHED if self.conformal == "shrunk" else (None,)
        points = []
        for gamma, C in product(gammas, self.Cs):
            of_mean = C * total if self.slack == "sum" else C
            by_size = RHOS_BY_C if n_rows > FEW_ROWS else RHOS_BY_C_OF_FEW_ROWS
            parts = by_size if self.conformal == "none" and self._may_have_norm() else (0.0,)
            rhos = [part * of_mean for part in parts] if self.rhos is None else self.rhos
            conformal: Any = (None,)
            if self.conformal != "none":
                times = GAMMAS_CONFORMAL_BY_GAMMA if self.gammas_conformal is None else self.gammas_conformal
                conformal = [factor * gamma for factor in times]
            for rho in rhos:
                shares = MUS_BY_C_WITH_NORM if rho > 0 else MUS_BY_C
                mus = [share * of_mean for share in shares] if self.mus is None else self.mus
                points += [Point(C, mu, rho, gamma, *rest) for mu in mus for rest in product(conformal, shrinkages)]
        return points

    def _may_have_norm(self) -> bool:
        """Whether the kernel is known to be positive semidefinite."""
        return self.kernel != "precomputed" and Kernel(self.kernel, 1.0, self.degree, self.coef0).is_semidefinite

    def _judge(
        self,
        points: list[Point],
        found: dict[Point, list[Held | None]],
        held: list[Indices],
        label: Labels,
        weight: Vector,
    ) -> None:
        """Fill ``cv_results_``, and choose."""
        parts = [found[point] for point in points]
        losses = held_out_losses(parts, held, label, weight)
        scores, n_support = np.full((2, len(points), len(held)), np.nan)
        for p, each in enumerate(parts):
            for fold, part in enumerate(each):
                if part is None:
                    continue
                rows = held[fold]
                scores[p, fold] = np.average(choose_class(part.scores) == label[rows], weights=weight[rows])
                n_support[p, fold] = part.n_vectors
        self.cv_results_ = results_by_point(points, scores, n_support, losses.log_loss)
        complete = ~np.isnan(losses.slope)
        if self.selection == "first":
            chosen = first_of_the_best(points, np.where(complete, self.cv_results_["mean_test_score"], np.nan))
        else:
            smoothed = smooth(points, losses.by_row)
            chosen = choose(smoothed, losses.share, n_support.mean(axis=1), TOLERANCES[self.selection])
        self.best_index_ = chosen
        self.best_params_ = self._params_of(chosen)
        self.best_score_ = float(self.cv_results_["mean_test_score"][chosen])
        self._warn_unless_converged(points, parts)
        self._slope = float(losses.slope[chosen])

    def _warn_unless_converged(self, points: list[Point], parts: list[list[Held | None]]) -> None:
        mus = [
            point.mu
            for point, each in zip(points, parts, strict=True)
            for part in each
            if part is not None and not part.converged
        ]
        n_tried = sum(part is not None for each in parts for part in each)
        chosen = [part for part in parts[self.best_index_] if part is not None and not part.converged]
        # A few among many, none of them chosen, change nothing.
        if chosen or len(mus) > MANY_UNSOLVED * n_tried:
            steps, advice = f"max_iter={self.max_iter}", "Raise max_iter, or leave out the smallest of mus"
            if max(mus) == 0:
                steps = f"{steps}, and with a mu of 0 at most {STEPS_A_ROW} per row"
                advice = f"Use a small mu, such as {10 * LEAST_MUS[-1]:g}, instead of 0, or leave out some of gammas"
            warn_user(
                f"The solver did not reach the optimum of {len(mus)} of the search's machines, for lack of steps "
                f"({steps}) or because of rounding errors; their scores count as they are. {advice} or the largest of "
                "Cs.",
                ConvergenceWarning,
            )

    def _params_of(self, point: int) -> dict[str, Any]:
        return params_of(self, MCMClassifier(), FIXED, point)

    def _refit(self, problem: ClassProblem) -> None:
        """Fit the chosen machine on all rows; it has the probabilities of the search."""
        machine = MCMClassifier(**self.best_params_, n_jobs=self.n_jobs)
        give_columns(self, machine)
        machine._fit(problem, expects_vectors=False)
        machine.probability, machine.slope_ = True, self._slope
        self.best_estimator_ = machine

    @available_if(refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        if self._is_handed_over():
            answer: NDArray[Any] = self.best_estimator_.predict(X)
            return answer
        chosen = choose_class(self._scores(X))
        return self.classes_[chosen]

    @available_if(refitted)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row, as in MCMClassifier."""
        if self._is_handed_over():
            return self.best_estimator_.decision_function(X)
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(refitted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``; the class of ``predict`` has the largest."""
        if self._is_handed_over():
            return self.best_estimator_.predict_proba(X)
        return probabilities(self._scores(X), self.slope_)

    @available_if(refitted)  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its class, as in MCMClassifier."""
        return self.best_estimator_.explain(X) if self._is_handed_over() else super().explain(X)

    def _describe(self, about: Any, limits: Any) -> None:
        if hasattr(self, "best_estimator_") and self._is_handed_over():
            self.best_estimator_._describe(about, limits)
        else:
            super()._describe(about, limits)

    def _is_handed_over(self) -> bool:
        """Whether the machine is the large-scale one."""
        check_is_fitted(self)
        return not isinstance(self.best_estimator_, MCMClassifier)

    def _scores(self, X: Any) -> Matrix:
        """Those of the machine, of rows that the search reads: errors are about the search."""
        check_is_fitted(self)
        return self.best_estimator_._scores_of(machine_rows(self, X, reset=False))


def first_of_the_best(points: list[Point], accuracy: Vector) -> int:
    """The first point of the highest accuracy, C varied slowest (Algorithms 1 and 2); `points` vary gamma slowest."""
    Cs = list(dict.fromkeys(point.C for point in points))
    order = sorted(range(len(points)), key=lambda p: Cs.index(points[p].C))  # stable: the rest stays in its order
    best = float(np.nanmax(accuracy))
    return next(p for p in order if accuracy[p] >= best - 1e-12)
