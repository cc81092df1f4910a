"""The machine with C, mu and gamma chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from planewise._input import all_or_nothing, precise_rows, row_weights, thread_count
from planewise._params import (
    Limit,
    boolean,
    check_parameters,
    integer,
    one_of,
    real,
)
from planewise._warn import warn_user
from planewise.mcm._calibration import calibrate
from planewise.mcm._classifier import (
    CLASS_LIMITS,
    RELAXATION,
    MachineClassifier,
    MCMClassifier,
    scaling_for,
    share_of_samples,
)
from planewise.mcm._conformal_factor import SHRINKAGES
from planewise.mcm._documentation import document_machine
from planewise.mcm._folds import given_folds, stratified_folds
from planewise.mcm._grid import Held, Point, evaluate
from planewise.mcm._kernels import Matrix
from planewise.mcm._linear_program import Indices, Vector
from planewise.mcm._multiclass import choose_class
from planewise.mcm._problem import Labels, distinct_rows, plain_rows
from planewise.mcm._threads import one_blas_thread

# Chosen by cross-validation inside the training parts of the develop sets; gamma is divided by the number of features,
# mu multiplied by C.
GAMMAS_TIMES_FEATURES = (0.05, 0.2, 0.8)
MUS_BY_C = tuple(float(f"{ratio:.2g}") for ratio in np.geomspace(0.1, 1e-4, 10))
GAMMAS_CONFORMAL_BY_GAMMA = (2.0, 10.0)
SHRINKAGES_SEARCHED = SHRINKAGES[::2]
# What the search and its machine have in common besides what is searched for.
FIXED = (
    *("kernel", "degree", "coef0", "relaxation", "conformal"),
    *("class_weight", "multi_class", "scale", "tol", "max_iter"),
)
OF_THE_MACHINE = (
    *("support_", "support_vectors_", "dual_coef_", "intercept_", "coef_", "slope_", "shrinkage_"),
    *("h_", "objective_", "gap_", "n_iter_", "_trained_settings", "_factor", "_scaling"),
)
STANDARD_ERRORS = {"best": 0.0, "balanced": 0.2, "sparsest": 1.0}
NEIGHBOUR_SHARE = 0.5  # of the scores next to a point on its path, when points are compared


def _positive_numbers(none: str | None = None) -> Limit:
    def allows(value: Any) -> bool:
        if value is None:
            return none is not None
        if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
            return False
        return len(value) > 0 and all(real(0, open_low=True).allows(each) for each in value)

    return Limit(allows, "a list of numbers above 0" + (f", or None for {none}" if none else ""))


SEARCH_LIMITS = CLASS_LIMITS | {
    "Cs": _positive_numbers(),
    "mus": _positive_numbers("shares of C"),
    "gammas": _positive_numbers("parts of 1 / n_features"),
    "gammas_conformal": _positive_numbers("multiples of gamma"),
    "selection": one_of(*STANDARD_ERRORS),
    "n_repeats": integer(1),
    "max_support": real(0, 1, open_low=True),
    "refit": boolean(),
}


def _refitted(estimator: Any) -> bool:
    if not estimator.refit:
        raise AttributeError(f"This {type(estimator).__name__} has refit=False: it only searches and has no machine.")
    return True


@document_machine
class MCMClassifierCV(MachineClassifier):
    """Minimal complexity machine whose C, mu and gamma are chosen by cross-validation.

    For each gamma and fold one path is walked, from large mu to small, each machine starting from the one before it: a
    whole path costs little more than its last machine. Probabilities are calibrated on the held-out scores of the
    search, at no further cost, and agree with ``predict``.

    Parameters
    ----------
    Cs : list of float, default=<Cs>
        Prices of the mean slack.
    mus : list of float or None, default=<mus>
        Prices of |lambda|. None: C times ten shares from 0.1 down to 0.0001.
    gammas : list of float or None, default=<gammas>
        gammas of the kernel, on scaled rows. None: 0.05, 0.2 and 0.8, divided by the number of features.
    {kernel_parameters}
    {shape_parameters}
    {relaxation_parameter}
    conformal : {"none", "signed", "shrunk"}, default=<conformal>
        As in MCMClassifier; `gammas_conformal` are tried too, and 0, 0.5 and 1 as the shrinkage.
    gammas_conformal : list of float or None, default=<gammas_conformal>
        gammas of a conformal kernel's Gaussians. None: 2 and 10 times gamma.
    selection : {"balanced", "sparsest", "best"}, default=<selection>
        "best": the point of the highest held-out accuracy, smoothed by those of the next larger and smaller mu.
        "sparsest": of all points within one standard error of it, the one with the fewest support vectors; "balanced":
        of those within a fifth of a standard error.
    max_support : float, default=<max_support>
        A path ends when machines have more support vectors than this share of their rows.
    cv : int, splitter or list of (train, test) rows, default=<cv>
        A number means shuffled stratified folds.
    n_repeats : int, default=<n_repeats>
        How often folds are drawn, if `cv` is a number: more of them make a steadier choice.
    refit : bool, default=<refit>
        Fit the chosen machine on all rows. False: only ``cv_results_`` and what is best are known.
    {class_parameters}
    {closing_parameters}
    n_jobs : int or None, default=<n_jobs>
        Threads, for paths; -1 means all cores. The result is the same for any number of them.
    random_state : int, RandomState or None, default=<random_state>
        Seed of the folds; nothing else is random.

    Attributes
    ----------
    best_params_ : dict
        What was chosen, and the search's own settings where they are not the defaults of MCMClassifier:
        ``MCMClassifier(**best_params_)`` is the chosen machine.
    best_score_ : float
        Its mean held-out accuracy.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : MCMClassifier
        The chosen machine, fitted on all rows.
    cv_results_ : dict of arrays
        By point: "params", "param_...", "split..._test_score", "mean_test_score", "std_test_score",
        "rank_test_score" (accuracy; NaN where a path ended before) and "mean_n_support".
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    {attributes}
    slope_ : float
        The slope of the probabilities' logistic function.
    {proof_attributes}

    See Also
    --------
    MCMClassifier : The machine at given C, mu and gamma.

    References
    ----------
    {references}

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
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = SEARCH_LIMITS
    best_estimator_: MCMClassifier

    def __init__(
        self,
        Cs: Any = (100.0, 1000.0),
        mus: Any = None,
        gammas: Any = None,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
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
        scale: bool | str = True,
        tol: float = 1e-8,
        max_iter: int = 100_000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.Cs = Cs
        self.mus = mus
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.relaxation = relaxation
        self.conformal = conformal
        self.gammas_conformal = gammas_conformal
        self.selection = selection
        self.max_support = max_support
        self.cv = cv
        self.n_repeats = n_repeats
        self.refit = refit
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Search, then fit the chosen machine on all rows.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, none missing; a square kernel matrix if the kernel is "precomputed".
        y : array of shape (n_samples,)
            Class labels of any kind, at least two of them.
        sample_weight : array of shape (n_samples,), default=None
            Weights in fitting and in scoring.
        groups : array of shape (n_samples,), default=None
            The group of each row, for a `cv` that keeps groups together, such as ``GroupKFold(5)``.
        """
        check_parameters(self)
        self._check_cv(groups)
        _, label, weight, kept = self._take_input(X, y, sample_weight)
        table = precise_rows(self, X, reset=False)
        score_weight = row_weights(sample_weight, table)[kept]
        rows = table[np.ix_(kept, kept)] if self.kernel == "precomputed" else table[kept]
        settings = self._settings(1.0, n_jobs=1)
        points = self._points(rows.shape[1])
        if isinstance(self.cv, (int, np.integer)):
            # Folds of distinct rows: the same whether a row comes twice or has twice the weight.
            problem = (plain_rows if settings.precomputed else distinct_rows)(rows, label, weight, kept)
            by_class = share_of_samples(label, weight, score_weight)
            rows, label, weight = problem.rows, problem.label, problem.weight
            score_weight = weight * by_class[label]
            random = check_random_state(self.random_state)
            folds = [pair for _ in range(self.n_repeats) for pair in stratified_folds(int(self.cv), label, random)]
        else:
            folds = given_folds(self.cv, table, label, kept, groups)
        with one_blas_thread():
            found = evaluate(
                settings,
                points,
                rows,
                label,
                weight,
                folds,
                scale=scaling_for(self.kernel, self.scale),
                max_support=self.max_support,
                n_jobs=thread_count(self.n_jobs),
            )
        self._forget()
        self._judge(points, found, [held for _, held in folds], label, score_weight)
        if self.refit:
            self._refit(X, y, sample_weight)
        return self

    def _check_cv(self, groups: Any) -> None:
        if not isinstance(self.cv, (int, np.integer)):
            return
        if groups is not None:
            raise ValueError(
                f"groups were given, but cv={self.cv!r} does not keep them together; use a splitter that does, such as "
                f"cv=GroupKFold({self.cv!r}), or leave them out."
            )
        if not integer(2).allows(self.cv):
            raise ValueError(
                f"The parameter 'cv' of {type(self).__name__} must be an integer of 2 or more, a splitter, or a list "
                f"of (train, test) row numbers; got {self.cv!r}."
            )

    def _points(self, n_features: int) -> list[Point]:
        no_gamma = self.kernel in ("linear", "precomputed")
        default = tuple(part / n_features for part in GAMMAS_TIMES_FEATURES)
        gammas: Any = (None,) if no_gamma else default if self.gammas is None else self.gammas
        shrinkages: Any = SHRINKAGES_SEARCHED if self.conformal == "shrunk" else (None,)
        points = []
        for gamma, C in product(gammas, self.Cs):
            mus = [share * C for share in MUS_BY_C] if self.mus is None else self.mus
            conformal: Any = (None,)
            if self.conformal != "none":
                conformal = self.gammas_conformal
                if conformal is None:
                    conformal = [factor * gamma for factor in GAMMAS_CONFORMAL_BY_GAMMA]
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
                f"No path got to its first point with at most max_support={self.max_support:g} of the rows as support "
                "vectors; raise max_support, or try larger mus."
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
        smoothed = smooth(points, self.cv_results_["mean_test_score"])
        share = weight / weight.max()
        n_rows = share.sum() ** 2 / (share @ share)
        chosen = choose(smoothed, n_support.mean(axis=1), n_rows, STANDARD_ERRORS[self.selection])
        self.best_index_ = chosen
        self.best_params_ = self._params_of(chosen)
        self.best_score_ = float(self.cv_results_["mean_test_score"][chosen])
        open_ends = sum(not part.converged for each in parts for part in each if part is not None)
        if open_ends:
            warn_user(
                f"The solver did not reach the optimum of {open_ends} of the search's machines within "
                f"max_iter={self.max_iter} steps; their scores count as they are. Raise max_iter, or leave out the "
                "smallest of mus or the largest of Cs.",
                ConvergenceWarning,
            )
        best_parts = [part.scores for part in parts[chosen] if part is not None]
        self._slope = calibrate(np.concatenate(best_parts), pooled_label, pooled_weight)

    def _forget(self) -> None:
        for name in ("best_estimator_", *OF_THE_MACHINE):
            if name != "_scaling":  # the search's own, from this fit
                self.__dict__.pop(name, None)

    def _params_of(self, point: int) -> dict[str, Any]:
        """All that makes an MCMClassifier the machine of a point of ``cv_results_``."""
        machine = MCMClassifier().get_params()
        fixed = {name: getattr(self, name) for name in FIXED if getattr(self, name) != machine[name]}
        return self.cv_results_["params"][point] | fixed

    def _refit(self, X: Any, y: Any, sample_weight: Any) -> None:
        machine = MCMClassifier(**self.best_params_, n_jobs=self.n_jobs)
        machine._fit(X, y, sample_weight, expects_vectors=False)
        machine.probability, machine.slope_ = True, self._slope
        self._take_over(machine)

    def _take_over(self, machine: MCMClassifier) -> None:
        """Make the chosen machine, and all that is known of it, this estimator's."""
        self.best_estimator_ = machine
        for name in OF_THE_MACHINE:
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        check_is_fitted(self)
        return super().predict(X)

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row, as in MCMClassifier."""
        check_is_fitted(self)
        return super().decision_function(X)

    @available_if(_refitted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``; the class of ``predict`` has the largest."""
        check_is_fitted(self)
        return self._probabilities(X)


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
