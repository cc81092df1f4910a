"""The machine with C, mu and gamma chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from planewise._input import ClassProblem, all_or_nothing, precise_rows, thread_count
from planewise._params import Limit, boolean, check_parameters, integer, keep_parameters, one_of, real
from planewise._shown import ShownInNotebooks
from planewise._warn import warn_user
from planewise.mcm._conformal_factor import SHRINKAGES
from planewise.mcm._kernels import Matrix, one_blas_thread
from planewise.mcm._rows import Indices, Labels, Vector, distinct_rows, plain_rows
from planewise.mcm._scores import calibrate, choose_class, probabilities
from planewise.mcm.exact._classifier import MCMClassifier, share_of_samples
from planewise.mcm.exact._explain import ExplainsExactMachine
from planewise.mcm.exact._held_out import Folds, Held, Point, evaluate, given_folds, stratified_folds
from planewise.mcm.exact._settings import (
    CLASS_LIMITS,
    RELAXATION,
    TakesKernelMatrix,
    has_no_function,
    read_classes,
    scaling_for,
    settings_of,
)
from planewise.mcm.exact._training import LEAST_MUS, STEPS_A_ROW
from planewise.words import Reason

# Chosen by cross-validation inside the training parts of the develop sets; gamma is divided by the number of features,
# mu multiplied by C.
GAMMAS_TIMES_FEATURES = (0.05, 0.2, 0.8)
MUS_BY_C = tuple(float(f"{ratio:.2g}") for ratio in np.geomspace(0.1, 1e-4, 10))
GAMMAS_CONFORMAL_BY_GAMMA = (2.0, 10.0)
SHRINKAGES_SEARCHED = SHRINKAGES[::2]
# What the search and its machine have in common besides what is searched for.
FIXED = (
    *("kernel", "degree", "coef0", "slack", "relaxation", "conformal"),
    *("class_weight", "multi_class", "scaling", "tol", "max_iter"),
)
STANDARD_ERRORS = {"best": 0.0, "balanced": 0.2, "sparsest": 1.0}
NEIGHBOUR_SHARE = 0.5  # of the scores next to a point on its path, when points are compared


def _numbers(none: str | None = None, *, zero: bool = False) -> Limit:
    def allows(value: Any) -> bool:
        if value is None:
            return none is not None
        if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
            return False
        return len(value) > 0 and all(real(0, open_low=not zero).allows(each) for each in value)

    words = "a list of numbers of 0 or more" if zero else "a list of numbers above 0"
    return Limit(allows, words + (f", or None for {none}" if none else ""))


def _refitted(estimator: Any) -> bool:
    if not estimator.refit:
        raise AttributeError(f"This {type(estimator).__name__} has refit=False: it only searches and has no machine.")
    return True


class _OfTheMachine:
    """An attribute of the chosen machine, which the search has as well."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, search: Any, owner: type) -> Any:
        if search is None:
            return self
        machine = search.__dict__.get("best_estimator_")
        if machine is None:
            why = "it is not fitted" if search.refit else "with refit=False it only searches and has no machine"
            raise AttributeError(f"This {type(search).__name__} has no attribute {self.name!r}: {why}.")
        return getattr(machine, self.name)


class MCMClassifierCV(TakesKernelMatrix, ExplainsExactMachine, ShownInNotebooks, ClassifierMixin, BaseEstimator):
    """Minimal complexity machine whose C, mu and gamma are chosen by cross-validation.

    For each gamma and fold one path is followed, from large mu to small, each machine starting from the previous one: a
    whole path costs little more than its last machine. Probabilities are calibrated on the held-out scores of the
    search, at no further cost, and agree with ``predict``.

    Parameters
    ----------
    Cs : list of float, default=(100.0, 1000.0)
        Penalties on the slacks to try; see `slack`.
    mus : list of float or None, default=None
        Penalties on |lambda|, the coefficients of the support vectors, to try. None: C (with ``slack="sum"``, C times
        the sum of the weights) times ten values from 0.1 down to 0.0001. 0 reproduces the paper; as in MCMClassifier,
        the least penalty that has a solution stands in for it where it has none.
    gammas : list of float or None, default=None
        Coefficients of the kernel to try, on scaled rows. None: 0.05, 0.2 and 0.8, divided by the number of features.
    kernel : {"rbf", "laplacian", "poly", "sigmoid", "linear", "precomputed"} or callable, default="rbf"
        As in MCMClassifier.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
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
        "best": the highest held-out accuracy, smoothed over neighbouring values of mu. "sparsest": of all points within
        one standard error of it, the one with the fewest support vectors; "balanced": within a fifth of one. "first"
        reproduces the paper: the highest held-out accuracy itself; of equal ones the point that comes first when C is
        varied slowest, then gamma, mu and gamma_conformal, each in the given order.
    max_support : float, default=0.2
        A path ends when its machines have more support vectors than this share of the rows: smaller mus are not tried.
        1 lets every machine through.
    cv : int, splitter or list of (train, test) rows, default=5
        An integer means shuffled stratified folds.
    n_repeats : int, default=4
        How often folds are drawn, if `cv` is an integer: more make the choice more stable.
    refit : bool, default=True
        Fit the chosen machine on all rows. False: only ``cv_results_`` and the best parameters are known.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    multi_class : {"ovr", "ovo"}, default="ovr"
        With more than two classes: one machine per class against the rest, or one per pair of classes.
    scaling : {"arcsinh", "standard", None}, default="arcsinh"
        "standard" standardises the columns of X; "arcsinh" also compresses their long tails (a linear machine only
        standardises); None takes X as it is.
    tol : float, default=1e-8
        Tolerance of the solver, as in MCMClassifier.
    max_iter : int, default=100000
        Maximum number of simplex steps per machine; with a mu of 0 at most 20 steps per row, as in MCMClassifier.
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
    best_estimator_ : MCMClassifier
        The chosen machine, fitted on all rows. Its attributes (``support_``, ``support_vectors_``, ``dual_coef_``,
        ``intercept_``, ``coef_``, ``shrinkage_``, ``slope_``, ``h_``, ``objective_``, ``gap_``, ``n_iter_``) are
        attributes of the search as well.
    cv_results_ : dict of arrays
        By point: "params", "param_...", "split..._test_score", "mean_test_score", "std_test_score",
        "rank_test_score" (accuracy; NaN where a path had ended) and "mean_n_support".
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.

    See Also
    --------
    MCMClassifier : The machine at given C, mu and gamma.

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
        "Cs": _numbers(),
        "mus": _numbers("shares of C", zero=True),
        "gammas": _numbers("parts of 1 / n_features"),
        "gammas_conformal": _numbers("2 and 10"),
        "selection": one_of(*STANDARD_ERRORS, "first"),
        "n_repeats": integer(1),
        "max_support": real(0, 1, open_low=True),
        "refit": boolean(),
    }
    # Groups are the splitter's, which requests them itself; see `get_metadata_routing`.
    __metadata_request__fit: ClassVar[Mapping[str, str]] = {"groups": UNUSED}
    best_estimator_: MCMClassifier
    classes_: NDArray[Any]
    n_features_in_: int

    support_ = _OfTheMachine()
    support_vectors_ = _OfTheMachine()
    dual_coef_ = _OfTheMachine()
    intercept_ = _OfTheMachine()
    coef_ = _OfTheMachine()
    shrinkage_ = _OfTheMachine()
    slope_ = _OfTheMachine()
    h_ = _OfTheMachine()
    objective_ = _OfTheMachine()
    gap_ = _OfTheMachine()
    n_iter_ = _OfTheMachine()
    _scaling = _OfTheMachine()
    _trained_settings = _OfTheMachine()
    _factor = _OfTheMachine()

    def __init__(
        self,
        Cs: Any = (100.0, 1000.0),
        mus: Any = None,
        gammas: Any = None,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        slack: str = "mean",
        relaxation: float = RELAXATION,
        conformal: str = "none",
        gammas_conformal: Any = None,
        selection: str = "balanced",
        max_support: float = 0.2,
        cv: Any = 5,
        n_repeats: int = 4,
        refit: bool = True,
        class_weight: Any = None,
        multi_class: str = "ovr",
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
            Numbers without missing values; a square kernel matrix if the kernel is "precomputed".
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
        problem = read_classes(self, X, y, sample_weight)
        rows = problem.rows[:, problem.kept] if self.kernel == "precomputed" else problem.rows
        label, weight, score_weight = problem.label, problem.weight, problem.sample_weight
        settings = settings_of(self, 1.0, n_jobs=1)
        points = self._points(rows.shape[1], float(weight.sum()))
        if isinstance(self.cv, (int, np.integer)):
            # Folds of distinct rows: the same whether a row comes twice or has twice the weight.
            distinct = (plain_rows if settings.precomputed else distinct_rows)(rows, label, weight, problem.kept)
            rows, label, weight = distinct.rows, distinct.label, distinct.weight
            score_weight = weight * share_of_samples(problem)[label]
            random = check_random_state(self.random_state)
            folds: Folds = []
            for _ in range(self.n_repeats):
                folds += stratified_folds(int(self.cv), label, random)
        else:
            folds = given_folds(self.cv, problem.table, label, problem.kept, groups)
        with one_blas_thread():
            found = evaluate(
                settings,
                points,
                rows,
                label,
                weight,
                folds,
                scaling=scaling_for(self),
                max_support=self.max_support,
                n_jobs=thread_count(self.n_jobs),
            )
        self.__dict__.pop("best_estimator_", None)
        self._judge(points, found, [held for _, held in folds], label, score_weight)
        if self.refit:
            self._refit(problem)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go where: `sample_weight` to the search, if requested, and `groups` to a `cv` that needs them.

        Returns
        -------
        routing : sklearn.utils.metadata_routing.MetadataRouter
        """
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def _check_cv(self, groups: Any) -> None:
        if not isinstance(self.cv, (int, np.integer)):
            return
        if groups is not None:
            raise ValueError(
                f"groups is given, but cv={self.cv!r} ignores it; use a splitter for groups, such as "
                f"cv=GroupKFold({self.cv!r}), or leave groups out."
            )
        if not integer(2).allows(self.cv):
            raise ValueError(
                f"The parameter 'cv' of {type(self).__name__} must be an integer of 2 or more, a splitter, or a list "
                f"of (train, test) row numbers; got {self.cv!r}."
            )

    def _points(self, n_features: int, total: float) -> list[Point]:
        no_gamma = has_no_function(self)
        default = tuple(part / n_features for part in GAMMAS_TIMES_FEATURES)
        gammas: Any = (None,) if no_gamma else default if self.gammas is None else self.gammas
        shrinkages: Any = SHRINKAGES_SEARCHED if self.conformal == "shrunk" else (None,)
        points = []
        for gamma, C in product(gammas, self.Cs):
            of_mean = C * total if self.slack == "sum" else C
            mus = [share * of_mean for share in MUS_BY_C] if self.mus is None else self.mus
            conformal: Any = (None,)
            if self.conformal != "none":
                times = GAMMAS_CONFORMAL_BY_GAMMA if self.gammas_conformal is None else self.gammas_conformal
                conformal = [factor * gamma for factor in times]
            points += [Point(C, mu, gamma, *rest) for mu in mus for rest in product(conformal, shrinkages)]
        return points

    def _judge(
        self,
        points: list[Point],
        found: dict[Point, list[Held | None]],
        held: list[Indices],
        label: Labels,
        weight: Vector,
    ) -> None:
        """Fill ``cv_results_``, choose, and calibrate on the chosen point's held-out scores."""
        parts = [found[point] for point in points]
        complete = np.array([all(part is not None for part in each) for each in parts])
        if not complete.any():
            raise ValueError(
                f"All machines of the search have more support vectors than max_support={self.max_support:g} of the "
                "rows; raise max_support, or try larger mus."
            )
        pooled_label = np.concatenate([label[rows] for rows in held])
        pooled_weight = np.concatenate([weight[rows] for rows in held])
        scores = np.full((len(points), len(held)), np.nan)
        n_support = np.full((len(points), len(held)), np.nan)
        for p in np.flatnonzero(complete):
            for fold, rows in enumerate(held):
                part = parts[p][fold]
                assert part is not None
                scores[p, fold] = np.average(choose_class(part.scores) == label[rows], weights=weight[rows])
                n_support[p, fold] = part.n_vectors
        self.cv_results_ = _results(points, scores, n_support)
        accuracy = self.cv_results_["mean_test_score"]
        if self.selection == "first":
            chosen = first_of_the_best(points, accuracy)
        else:
            share = weight / weight.max()
            n_rows = share.sum() ** 2 / (share @ share)
            n_errors = STANDARD_ERRORS[self.selection]
            chosen = choose(smooth(points, accuracy), n_support.mean(axis=1), n_rows, n_errors)
        self.best_index_ = chosen
        self.best_params_ = self._params_of(chosen)
        self.best_score_ = float(self.cv_results_["mean_test_score"][chosen])
        self._warn_unless_converged(points, parts)
        best_parts = [part.scores for part in parts[chosen] if part is not None]
        self._slope = calibrate(np.concatenate(best_parts), pooled_label, pooled_weight)

    def _warn_unless_converged(self, points: list[Point], parts: list[list[Held | None]]) -> None:
        mus = [
            point.mu
            for point, each in zip(points, parts, strict=True)
            for part in each
            if part is not None and not part.converged
        ]
        if mus:
            within, advice = f"max_iter={self.max_iter} steps", "Raise max_iter, or leave out the smallest of mus"
            if max(mus) == 0:
                within = f"{within} (with a mu of 0 at most {STEPS_A_ROW} per row)"
                advice = f"Use a small mu, such as {10 * LEAST_MUS[-1]:g}, instead of 0, or leave out some of gammas"
            warn_user(
                f"The solver did not reach the optimum of {len(mus)} of the search's machines within {within}; their "
                f"scores count as they are. {advice} or the largest of Cs.",
                ConvergenceWarning,
            )

    def _params_of(self, point: int) -> dict[str, Any]:
        """All that makes an MCMClassifier the machine of a point of ``cv_results_``."""
        machine = MCMClassifier().get_params()
        fixed = {name: getattr(self, name) for name in FIXED if getattr(self, name) != machine[name]}
        return self.cv_results_["params"][point] | fixed

    def _refit(self, problem: ClassProblem) -> None:
        """Fit the chosen machine on all rows; it has the probabilities of the search."""
        machine = MCMClassifier(**self.best_params_, n_jobs=self.n_jobs)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(machine, name, getattr(self, name))
        machine._fit(problem, expects_vectors=False)
        machine.probability, machine.slope_ = True, self._slope
        self.best_estimator_ = machine

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        chosen = choose_class(self._scores(X))
        return self.classes_[chosen]

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row, as in MCMClassifier."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``; the class of ``predict`` has the largest."""
        return probabilities(self._scores(X), self.slope_)

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its class, as in MCMClassifier."""
        return super().explain(X)

    def _scores(self, X: Any) -> Matrix:
        """Those of the machine, of rows that the search reads: errors are about the search."""
        check_is_fitted(self)
        return self.best_estimator_._scores_of(precise_rows(self, X, reset=False))


def smooth(points: list[Point], score: Vector) -> Vector:
    """Scores averaged with their neighbours' on the path of mu: their noise differs, what they measure hardly does."""
    paths: dict[Any, list[int]] = {}
    for p in sorted(range(len(points)), key=lambda p: -points[p].mu):
        point = points[p]
        paths.setdefault((point.C, point.gamma, point.gamma_conformal, point.shrinkage), []).append(p)
    out = np.full(len(points), np.nan)
    for path in paths.values():
        own = score[path]
        known = ~np.isnan(own)
        padded, counts = np.pad(np.where(known, own, 0.0), 1), np.pad(known.astype(np.float64), 1)
        total = padded[1:-1] + NEIGHBOUR_SHARE * (padded[:-2] + padded[2:])
        count = counts[1:-1] + NEIGHBOUR_SHARE * (counts[:-2] + counts[2:])
        out[path] = np.where(known, total / np.maximum(count, 1.0), np.nan)
    return out


def choose(accuracy: Vector, n_support: Vector, n_rows: float, n_errors: float) -> int:
    """The sparsest point that is worse than the best by no more than so many standard errors of an accuracy."""
    best = float(np.nanmax(accuracy))
    error = np.sqrt(best * (1 - best) / n_rows)
    near = np.flatnonzero(accuracy >= best - n_errors * error - 1e-12)
    order = np.lexsort((-accuracy[near].round(9), n_support[near]))
    return int(near[order[0]])


def first_of_the_best(points: list[Point], accuracy: Vector) -> int:
    """The first point of the highest accuracy, C varied slowest (Algorithms 1 and 2); `points` vary gamma slowest."""
    Cs = list(dict.fromkeys(point.C for point in points))
    order = sorted(range(len(points)), key=lambda p: Cs.index(points[p].C))  # stable: the rest stays in its order
    best = float(np.nanmax(accuracy))
    return next(p for p in order if accuracy[p] >= best - 1e-12)


def _results(points: list[Point], scores: Matrix, n_support: Matrix) -> dict[str, Any]:
    searched = [
        name for name in Point.__dataclass_fields__ if any(getattr(point, name) is not None for point in points)
    ]
    mean = scores.mean(axis=1)
    results: dict[str, Any] = {
        "params": [{name: getattr(point, name) for name in searched} for point in points],
        **{f"param_{name}": np.array([getattr(point, name) for point in points]) for name in searched},
        **{f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-np.nan_to_num(mean, nan=-1.0), method="min").astype(np.int32),
        "mean_n_support": n_support.mean(axis=1),
    }
    return results
