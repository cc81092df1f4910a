"""The minimal complexity machine for many rows: explicit features, mini-batches, few prototypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise._optional import warn_user
from planewise._params import (
    Limit,
    boolean,
    check_parameters,
    class_weights,
    either,
    integer,
    keep_parameters,
    one_of,
    real,
    seed,
    threads,
)
from planewise._progress import Progress
from planewise.data.categories import as_label_array, categorical_limit
from planewise.data.problem import (
    FloatArray,
    all_or_nothing,
    class_problem,
    near_one,
    one_target_per_row,
    row_weights,
    thread_count,
    unshifted_rows,
    weights_by_class,
)
from planewise.data.scaling import MEASURED_BY, scaling_limit
from planewise.explain.estimator import ShownInNotebooks
from planewise.machines.blas import one_blas_thread
from planewise.machines.columns import (
    PreparedScaling,
    PreparesColumns,
    level_counts,
    scaling_to_float32,
)
from planewise.machines.conformal_factor import ConformalFactor
from planewise.machines.descent import (
    Descent,
    Learner,
    LinearModel,
    Places,
    Sample,
    batches_of,
    find_start,
    learn,
    rows_to_start_from,
    scores_of,
)
from planewise.machines.kernels import KERNEL_NAMES, Kernel, gamma_limit, gamma_value
from planewise.machines.large_explain import ExplainsLargeMachine
from planewise.machines.large_factor import (
    choose_cores,
    choose_equal_cores,
    choose_shrinkage,
    factor_on_map,
)
from planewise.machines.maps import FeatureMap, KernelMap, PrototypeMap
from planewise.machines.rows import balanced_draw
from planewise.machines.scores import calibrate, choose_class, probabilities

# What partial_fit cannot change any more.
SETTLED_AT_FIRST = (
    *("kernel", "gamma", "degree", "coef0", "n_components", "refine", "scaling"),
    *("categorical_features", "conformal", "gamma_conformal", "max_cores", "equal_cores"),
)
LEAST_MU, MOST_MU, MU_GROWS_BELOW = 0.01, 3.0, 10_000  # of mu="auto"
ENOUGH_UPDATES = 1500  # what max_iter="auto" aims at
FEWEST_PASSES, MOST_PASSES = 5, 60
ROUNDS = 20  # how often the held-out rows are checked
STOPS_EARLY_FROM = 10_000  # rows from which early_stopping="auto" holds some out
MOST_HELD_OUT = 5000
ENOUGH_TO_CALIBRATE = 100  # rows of a partial_fit from which they set the steepness of the probabilities
CALIBRATED_BY = 5000  # rows that set the steepness of the probabilities when none are held out


class LargeScaleMCMClassifier(PreparesColumns, ExplainsLargeMachine, ShownInNotebooks, ClassifierMixin, BaseEstimator):
    """Minimal complexity machine (MCM) for many rows, on a few prototypes that are moved to where they help.

    It minimises, by mini-batches, the MCM's objective ``h + C mean[1 - y f]_+ + mu |w|_1`` for f(x) = phi(x) w + b,
    where h is the largest y f (bounded batch by batch) and phi an explicit feature map: the kernel on m prototypes,
    which spans the same space as a Nystroem map. With the RBF kernel the prototypes and a scale for every column are
    learned along with the weights, so that a few hundred of them do what takes an SVM thousands of vectors. mu shrinks
    weights to zero, and their prototypes are dropped.

    Parameters
    ----------
    C : float, default=1000.0
        Penalty on the hinge loss (the slack); see `slack`.
    mu : float or "auto", default="auto"
        Penalty on the sum of absolute weights: the larger, the fewer prototypes remain, and the less is overfitted.
        "auto" is 0.01 from 10,000 rows on and, for n rows fewer than that, 0.01 (10,000 / n)^2, but at most 3; in
        ``partial_fit``, where the number of rows to come is unknown, 0.01.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        The kernel function.
    gamma : float, "search", "smooth", "medium" or "scale", default="search"
        Coefficient of the kernel, ``exp(-gamma |x - x'|^2)``, on scaled columns. "search" takes the best of 0.1 to 10
        times 1 / n_features for least squares on a few thousand rows or, with `refine`, 3 / n_features to start from.
        "smooth", "medium" and "scale" are those of MCMClassifier.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" kernel.
    slack : {"mean", "sum"}, default="mean"
        As in `MCMClassifier`: whether C multiplies the (weighted) mean of the hinge loss or its sum. "sum" reproduces
        the paper; ``partial_fit``, which does not know how many rows will come, needs "mean".
    n_components : int or "auto", default="auto"
        Number of prototypes to start with (at most one per row). "auto" is 256, or an eighth of fewer than 2,048 rows,
        but at least 32.
    refine : bool or "auto", default="auto"
        Learn the prototypes as well. "auto": with the RBF kernel, the only one for which it is possible.
    conformal : {"none", "signed", "shrunk", "printed"}, default="none"
        Multiply the map by the conformal factor r(x) that separates the classes best: as published ("signed"), or
        shrunk towards one as far as held-out rows suggest ("shrunk"). "printed" solves equations 13 to 15 of [2]_
        exactly as they are printed, which is not a ratio of scatters; it is only for comparison with the paper (see the
        page on published settings, docs/published.md).
    conformal_start : {"halfway", "after_fit"}, default="halfway"
        When r is found: halfway through the passes, which then continue with it, or after all of them, which are then
        repeated from the start with r. "after_fit" reproduces the paper and takes twice the time. Used only with a
        conformal factor, and not by ``partial_fit``.
    gamma_conformal : float or "auto", default="auto"
        Coefficient of the Gaussians that make up r. "auto" is twice gamma. If it is large, r changes only very close to
        its cores.
    max_cores : int, default=500
        Maximum number of cores of r, taken from the prototypes in use, as evenly as possible from the classes that
        their weights speak for.
    equal_cores : bool, default=False
        Discard cores of the larger classes, the least important first, until all classes have equally many; if a class
        has none, r = 1, with a warning. The class of a prototype is that of the training row it is or, once it has
        moved, the one that its weight speaks for. True reproduces the paper. Used only with a conformal factor.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        As in MCMClassifier: categorical columns are those of a category data type, or a list of names, numbers or a
        mask.
    scaling : {"robust", "standard", "arcsinh", None}, default="robust"
        As in MCMClassifier: "robust" standardises without regard to the outermost 0.1% of the values on either side,
        and columns with two values by half the distance between these; "standard" standardises all columns; "arcsinh"
        also compresses their long tails (a linear machine only standardises); None takes X as it is. Columns are
        compared in float32.
    max_iter : int or "auto", default="auto"
        Number of passes over the rows. "auto" takes as many as make about 1,500 mini-batches, but 5 to 60.
    batch_size : int or "auto", default="auto"
        Number of rows per mini-batch. "auto" is 256, or a tenth of fewer than 2,560 rows, but at least 32.
    learning_rate : float, default=0.15
        Size of the first steps; it decreases linearly to zero.
    early_stopping : bool or "auto", default="auto"
        Hold rows out, stop when their mean hinge loss has stopped falling, and keep the best model. "auto": from 10,000
        rows on.
    validation_fraction : float, default=0.1
        Share of the rows held out, at most 5,000 of them.
    n_iter_no_change : int, default=5
        Number of checks of the held-out rows (twenty in a whole fit) without improvement that end the fit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    verbose : int, default=0
        1 shows a progress line.
    n_jobs : int or None, default=None
        Number of threads that share the pieces (of 256 rows) of a mini-batch and the blocks of rows in prediction; -1
        uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the prototypes, the held-out rows and the order of the rest.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    support_vectors_ : array of shape (n_support, n_features)
        The prototypes that remain, in the units of X. Categories are given by their places in ``categories_`` and
        missing values by NaN; a prototype that has moved between categories, by the nearest, and by one past the last
        place if no category is near.
    feature_origins_ : dict
        By its number, each column that float32 cannot resolve, and a number near its values. If there is one, rows are
        read in float64 until they are scaled.
    dual_coef_ : array of shape (n_outputs, n_support)
        Their weights; one output for two classes, otherwise one per class (one against the rest). Kernels other than
        RBF are learned at a root mean square of one on the prototypes, and mu penalises those weights.
    intercept_ : array of shape (n_outputs,)
        b.
    n_support_ : int
        Number of prototypes that remain.
    gamma_, mu_ : float
        gamma and mu in use.
    feature_scale_ : array of shape (n_prepared_features,)
        What the squared distances of each scaled column of ``prepared_feature_names_`` are multiplied by in the RBF
        kernel: gamma, unless learned.
    h_ : array of shape (n_outputs,)
        The largest y f of the training rows, at least 1 (after `partial_fit`: of its rows).
    objective_ : float
        ``h + C mean[1 - y f]_+ + mu |w|_1``, summed over the outputs (after `partial_fit`: of its rows).
    conformal_ : ConformalFactor or None
        r(x), a function of scaled rows.
    n_iter_ : int
        Number of passes over the rows.
    validation_hinge_ : list of float
        Mean hinge loss of the held-out rows at each check.
    categories_ : dict
        The categories of each categorical column, by its number.
    prepared_feature_names_ : array of shape (n_prepared_features,)
        Names of the columns that the kernel compares, as in MCMClassifier.
    n_features_in_, feature_names_in_
        Number of features seen in ``fit``, and their names if it got a data frame.

    See Also
    --------
    ConformalKernel : The data-dependent kernel alone.

    Notes
    -----
    Missing values and categories are handled as in MCMClassifier, for one block of rows at a time; with missing values,
    scaling the columns takes a copy of the table.

    Memory: apart from the table, a few numbers per row; features exist for one mini-batch or block of rows at a time.
    Weights multiply the hinge loss of rows; in the objective a weight of two equals the row twice, but the mini-batches
    of a fit on repeated rows differ. Probabilities are the logistic function (softmax for several classes) of a times
    f, with a > 0 fitted to held-out rows (without early stopping: to training rows), so that the most probable class is
    the predicted one.

    References
    ----------
    .. [1] Jayadeva, "Learning a hyperplane classifier by minimizing an exact bound on the VC dimension",
       Neurocomputing 149, 2015. Its preprint asks commercial users to turn to its authors' institute, IIT Delhi.
    .. [2] S. Badge, S. Soman, S. Chandra, Jayadeva, "Kernel optimization using conformal maps for the minimal
       complexity machine", Engineering Applications of Artificial Intelligence, 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from planewise import LargeScaleMCMClassifier
    >>> X, y = make_moons(4000, noise=0.2, random_state=0)
    >>> model = LargeScaleMCMClassifier(n_components=30, max_iter=30, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    >>> model.n_support_ <= 30
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        "C": real(0, open_low=True),
        "mu": either(real(0), one_of("auto")),
        "kernel": one_of(*KERNEL_NAMES),
        "gamma": gamma_limit(("search", "smooth", "medium", "scale")),
        "degree": integer(1),
        "coef0": real(-1e30),
        "slack": one_of("mean", "sum"),
        "n_components": either(integer(1), one_of("auto")),
        "refine": either(boolean(), one_of("auto")),
        "conformal": one_of("none", "signed", "shrunk", "printed"),
        "conformal_start": one_of("halfway", "after_fit"),
        "gamma_conformal": either(real(0, open_low=True), one_of("auto")),
        "max_cores": integer(1),
        "equal_cores": boolean(),
        "categorical_features": categorical_limit(),
        "scaling": scaling_limit("robust", "standard", "arcsinh"),
        "max_iter": either(integer(1), one_of("auto")),
        "batch_size": either(integer(1), one_of("auto")),
        "learning_rate": real(0, open_low=True),
        "early_stopping": either(boolean(), one_of("auto")),
        "validation_fraction": real(0, 0.9, open_low=True),
        "n_iter_no_change": integer(1),
        "class_weight": class_weights(),
        "verbose": integer(0),
        "n_jobs": threads(),
        "random_state": seed(),
    }
    classes_: NDArray[Any]
    n_features_in_: int
    conformal_: ConformalFactor | None
    validation_hinge_: list[float]
    _learner: Learner
    _model: LinearModel
    _scaling: PreparedScaling

    def __init__(
        self,
        *,
        C: float = 1000.0,
        mu: float | str = "auto",
        kernel: str = "rbf",
        gamma: float | str = "search",
        degree: int = 3,
        coef0: float = 0.0,
        slack: str = "mean",
        n_components: int | str = "auto",
        refine: bool | str = "auto",
        conformal: str = "none",
        conformal_start: str = "halfway",
        gamma_conformal: float | str = "auto",
        max_cores: int = 500,
        equal_cores: bool = False,
        categorical_features: Any = "from_dtype",
        scaling: str | None = "robust",
        max_iter: int | str = "auto",
        batch_size: int | str = "auto",
        learning_rate: float = 0.15,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    # ---------------------------------------------------------------------------------------------- fitting
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers and categories, with NaN for missing values.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; zero leaves a row out.

        Returns
        -------
        self
        """
        self._check()
        rng = self._generator()
        problem = class_problem(self, X, y, sample_weight, class_weight=self.class_weight, read=unshifted_rows)
        label, self.classes_ = problem.label, problem.classes
        sample = self._begin(problem.rows, label, problem.weight)
        self.mu_ = mu_for(len(label)) if self.mu == "auto" else float(self.mu)
        if len(self.classes_) == 1:
            self._keep_constant()
            return self
        self._check_cores()
        learned, watched = self._hold_out(label, rng)
        times = 2 if self._repeats() else 1
        with self._workers() as pool, Progress(times * ROUNDS, "minimal complexity", shown=self.verbose > 0) as bar:
            self._start(sample, learned, rng, self.C * float(problem.weight.sum()) if self.slack == "sum" else self.C)
            model = self._descend(sample, learned, watched, rng, pool, bar)
            self._keep(model, sample, pool)
            judged = sample.take(watched if len(watched) else rng.permutation(learned)[:CALIBRATED_BY])
            self._calibrate(judged, pool)
        return self

    @all_or_nothing
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows, in one pass.

        The first call scales the columns, learns categories and medians, draws the prototypes and finds the conformal
        factor, if there is one, from its own rows: they should be a fair sample, and several times `n_components`.
        `max_iter` and early stopping are not used.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers and categories, with NaN for missing values.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like, default=None
            All class labels that can occur; needed in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; zero leaves a row out. In later calls a weight of one counts as average.

        Returns
        -------
        self
        """
        self._check()
        if self.slack == "sum":
            raise ValueError(
                "partial_fit does not know how many rows will come, which slack='sum' needs; use slack='mean', with C "
                "times that number."
            )
        first = not hasattr(self, "_learner")
        if not first:
            self._refuse_other_machine()
        if first:
            self._check_streaming(classes)
            self.classes_ = np.unique(as_label_array(classes))
            rows = unshifted_rows(self, X)
        else:
            if classes is not None and not np.array_equal(np.unique(as_label_array(classes)), self.classes_):
                raise ValueError("classes must be the same in every call to partial_fit.")
            rows = unshifted_rows(self, X, reset=False)
        y = one_target_per_row(self, y, rows)
        if not np.isin(y, self.classes_).all():
            raise ValueError("y has labels that are not in classes; list all of them in the first call to partial_fit.")
        label = np.searchsorted(self.classes_, y).astype(np.int32)
        weight = row_weights(sample_weight, rows)
        if self.class_weight is not None:
            weight = near_one(weight * near_one(weights_by_class(self.class_weight, self.classes_))[label])
        counts = weight > 0
        rows, label, weight = rows[counts], label[counts], weight[counts]
        if len(rows) == 0:
            if first:
                raise ValueError("class_weight gives every row of the first call of partial_fit a weight of 0.")
            return self
        if first:
            sample = self._begin(rows, label, weight)
        else:
            sample = Sample(rows, label, weight, self._scaling, self._outputs)
        self.mu_ = LEAST_MU if self.mu == "auto" else float(self.mu)
        if len(self.classes_) == 1:
            self._keep_constant()
            return self
        self._check_cores()
        rng = self._generator()
        order = rng.permutation(len(rows))
        with self._workers() as pool:
            if first:
                self._start(sample, order, rng, self.C)
                if self.conformal != "none":
                    self._find_factor(self._learner.model(), sample, order, order[:0], rng)
            self._learner = deepcopy(self._learner)  # the copy that all_or_nothing works on is a shallow one
            self._learner.C, self._learner.mu, self._learner.learning_rate = self.C, self.mu_, self.learning_rate
            sample = self._with_factor(sample, pool)
            if not first and len(rows) >= ENOUGH_TO_CALIBRATE:  # before they are learned
                self._calibrate(sample, pool)
            for batch in batches_of(sample, order, 256 if self.batch_size == "auto" else int(self.batch_size)):
                learn(self._learner, batch, 1 / np.sqrt(1 + self._learner.n_updates / 100), pool)
            self._keep(self._learner.model(), sample, pool)
            if first:
                self._calibrate(sample, pool)
        self.n_iter_ += 1
        return self

    def _refuse_other_machine(self) -> None:
        """What the first call settled cannot change in a later one."""
        for name, value in self._settled.items():
            now = getattr(self, name)
            if now is not value and now != value:
                raise ValueError(
                    f"partial_fit was started with {name}={value!r} and cannot continue with {name}={now!r}. Set it "
                    "back, or start again with a clone (sklearn.base.clone)."
                )

    def _check(self) -> None:
        check_parameters(self)
        if self.refine is True and self.kernel != "rbf":
            raise ValueError("refine=True needs kernel='rbf'; use refine='auto' or False for other kernels.")

    def _check_cores(self) -> None:
        n_classes = len(self.classes_)
        if self.conformal != "none" and self.equal_cores and self.max_cores < n_classes:
            raise ValueError(
                f"max_cores must be at least the number of classes ({n_classes}) with equal_cores=True; got "
                f"{self.max_cores}."
            )

    def _check_streaming(self, classes: ArrayLike | None) -> None:
        if classes is None:
            raise ValueError(
                "classes must be passed in the first call to partial_fit: all labels that will ever occur."
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once; pass a dict of weights to "
                "LargeScaleMCMClassifier, or sample_weight to partial_fit."
            )

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(int(check_random_state(self.random_state).randint(2**31 - 1)))

    def _begin(self, rows: FloatArray, label: NDArray[np.int32], weight: NDArray[np.float64]) -> Sample:
        """Measure the columns, and forget what was learned before."""
        n_classes = len(self.classes_)
        wanted = "standard" if self.kernel == "linear" and self.scaling == "arcsinh" else self.scaling
        self._scaling = scaling_to_float32(self, rows, weight, wanted)
        self._settled = {name: getattr(self, name) for name in SETTLED_AT_FIRST}
        self._outputs = np.array([1]) if n_classes <= 2 else np.arange(n_classes)
        self.conformal_, self.validation_hinge_, self.n_iter_, self._steepness = None, [], 0, 1.0
        sample = Sample(rows, label, weight / weight.mean(), self._scaling, self._outputs)
        self.gamma_ = self._gammas(sample)[0]
        self.__dict__.pop("feature_scale_", None)  # kernels other than RBF have none
        return sample

    def _keep_constant(self) -> None:
        """One class: nothing to learn."""
        width = len(self._scaling.mean)
        nowhere = PrototypeMap(np.empty((0, width), np.float32), np.zeros(width, np.float32))
        self._set_model(LinearModel(nowhere, np.empty((0, 1), np.float32), np.ones(1, np.float32)))
        self.h_, self.objective_ = np.ones(1), 1.0

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is refused, in words
    def _start(self, sample: Sample, learned: Places, rng: np.random.Generator, C: float) -> None:
        """Draw the map and find weights to start from; `C` is the penalty on the mean."""
        n_rows, width = len(learned), len(self._scaling.mean)
        n_components = min(256, max(32, n_rows // 8)) if self.n_components == "auto" else int(self.n_components)
        chosen = learned[balanced_draw(sample.label[learned], n_components, rng)]
        prototypes = sample.take(chosen).standard()
        rng.integers(2**31)  # not used: without it, all later draws and so all fitted models would differ

        def draw(gamma: float) -> FeatureMap:
            if self.kernel == "rbf":
                return PrototypeMap(prototypes, np.full(width, np.log(gamma), np.float32))
            return KernelMap.of(Kernel(self.kernel, gamma, self.degree, self.coef0), prototypes)

        self._start_from(self._gammas(sample), draw, sample, learned, rng, C)

    def _start_from(
        self,
        gammas: list[float],
        draw: Callable[[float], FeatureMap],
        sample: Sample,
        learned: Places,
        rng: np.random.Generator,
        C: float,
    ) -> None:
        """A new descent, with weights that serve some of the rows."""
        some = sample.take(rng.permutation(learned)[: rows_to_start_from(len(learned), draw(gammas[0]).n_components)])
        start = find_start(
            gammas, draw, some.standard(), some.signs(), some.weight.astype(np.float32), factor=some.factor
        )
        self.gamma_ = start.gamma
        self._learner = Learner(
            start.feature_map,
            start.weights,
            start.intercept,
            C=C,
            mu=self.mu_,
            learning_rate=self.learning_rate,
            refine=self._refines(),
        )

    def _repeats(self) -> bool:
        """Whether there is a second descent, with r."""
        return self.conformal != "none" and self.conformal_start == "after_fit"

    def _refines(self) -> bool:
        return self.kernel == "rbf" if self.refine == "auto" else bool(self.refine)

    def _gammas(self, sample: Sample) -> list[float]:
        """Those to start from, of which the best is taken."""
        if self.gamma == "search":
            # To be learned from, bumps must be narrow enough to differ: from wide ones the descent finds no way out.
            tried = (3.0,) if self._refines() else (0.1, 0.3, 1.0, 3.0, 10.0)
            return [times / self.n_features_in_ for times in tried]
        if not isinstance(self.gamma, str):
            return [float(self.gamma)]
        some = sample.take(np.arange(0, len(sample.rows), -(-len(sample.rows) // MEASURED_BY)))
        return [gamma_value(self.gamma, some.standard().astype(np.float64), some.weight, self.n_features_in_)]

    def _hold_out(self, label: NDArray[np.int32], rng: np.random.Generator) -> tuple[Places, Places]:
        """The rows to learn from, and those to watch."""
        order = rng.permutation(len(label))
        if self.early_stopping is False or (self.early_stopping == "auto" and len(label) < STOPS_EARLY_FROM):
            return order, order[:0]
        n_watched = min(MOST_HELD_OUT, int(self.validation_fraction * len(label)))
        _, last = np.unique(label[order][::-1], return_index=True)  # one row of each class is always learned from
        free = np.ones(len(order), dtype=bool)
        free[len(order) - 1 - last] = False
        watched = np.flatnonzero(free)[:n_watched]
        if len(watched) == 0:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {len(label)} rows leaves no row to hold out; set a "
                "larger one, or early_stopping=False."
            )
        return np.delete(order, watched), order[watched]

    def _batch_size(self, n_rows: int) -> int:
        return min(256, max(32, n_rows // 10)) if self.batch_size == "auto" else int(self.batch_size)

    def _passes(self, n_rows: int) -> int:
        if self.max_iter != "auto":
            return int(self.max_iter)
        a_pass = -(-n_rows // self._batch_size(n_rows))
        return min(MOST_PASSES, max(FEWEST_PASSES, -(-ENOUGH_UPDATES // a_pass)))

    def _descend(
        self,
        sample: Sample,
        learned: Places,
        watched: Places,
        rng: np.random.Generator,
        pool: Executor | None,
        bar: Progress,
    ) -> LinearModel:
        """All passes; with a conformal factor, half of them before it is found and half after, or all and all again."""

        def descend(sample: Sample, n_passes: int, n_looks: int) -> LinearModel:
            descent = Descent(
                self._learner,
                sample,
                learned,
                watched,
                batch_size=self._batch_size(len(learned)),
                n_iter_no_change=self.n_iter_no_change,
                rng=rng,
                pool=pool,
            )
            model = descent.run(n_passes, n_looks, bar)
            self.validation_hinge_ += descent.hinges
            self.n_iter_ += descent.n_passes
            return model

        n_passes = self._passes(len(learned))
        if self.conformal == "none":
            return descend(sample, n_passes, ROUNDS)
        if self._repeats():
            first = deepcopy(self._learner.feature_map)
            model = descend(sample, n_passes, ROUNDS)
            self._find_factor(model, sample, learned, watched, rng)
            sample = self._with_factor(sample, pool)
            self._start_from([self.gamma_], lambda gamma: first, sample, learned, rng, self._learner.C)
            return descend(sample, n_passes, ROUNDS)
        model = descend(sample, (n_passes + 1) // 2, ROUNDS // 2)
        self._find_factor(model, sample, learned, watched, rng)
        self._learner.restart()
        return descend(self._with_factor(sample, pool), max(1, n_passes // 2), ROUNDS // 2)

    def _find_factor(
        self, model: LinearModel, sample: Sample, learned: Places, watched: Places, rng: np.random.Generator
    ) -> None:
        cores = self._equal_cores(model, sample) if self.equal_cores else choose_cores(model, self.max_cores)
        gamma = 2 * self.gamma_ if self.gamma_conformal == "auto" else float(self.gamma_conformal)
        self.conformal_ = factor_on_map(model, sample, learned, cores, gamma, printed=self.conformal == "printed")
        if self.conformal == "shrunk":
            shrinkage = choose_shrinkage(self.conformal_, model, sample, learned, watched, rng)
            self.conformal_ = self.conformal_.shrunk(shrinkage)

    def _equal_cores(self, model: LinearModel, sample: Sample) -> FloatArray:
        cores, counts = choose_equal_cores(model, sample, self.max_cores)
        if without := [repr(each) for each in self.classes_[counts == 0].tolist()]:
            warn_user(
                f"equal_cores=True leaves the conformal factor without cores, so that r = 1 and the kernel is not "
                f"changed: no prototype in use belongs to class {', '.join(without)}. Raise n_components, lower mu, or "
                "set equal_cores=False."
            )
        return cores

    def _with_factor(self, sample: Sample, pool: Executor | None) -> Sample:
        """The sample with r of each of its rows."""
        conformal = self.conformal_
        if conformal is None:
            return sample
        factor = sample.in_blocks(lambda block: conformal(block.standard()), pool)
        return sample._replace(factor=factor.astype(np.float32))

    # ------------------------------------------------------------------------------------------- the outcome
    def _keep(self, model: LinearModel, sample: Sample, pool: Executor | None) -> None:
        """Makes this the fitted model, and measures its objective on the sample."""
        self._set_model(model)
        margin = scores_of(model, self._with_factor(sample, pool), pool) * sample.signs()
        self.h_ = np.maximum(1.0, margin.max(axis=0))
        hinge = np.average(np.maximum(0, 1 - margin), axis=0, weights=sample.weight)
        self.objective_ = float(
            np.sum(self.h_ + self._learner.C * hinge) + self.mu_ * float(np.abs(model.weights).sum())
        )

    def _calibrate(self, sample: Sample, pool: Executor | None) -> None:
        """The steepness of the probabilities, by rows not learned from if there are any."""
        scores = scores_of(self._model, self._with_factor(sample, pool), pool)
        self._steepness = calibrate(scores, sample.label, sample.weight)

    def _set_model(self, model: LinearModel) -> None:
        self._model = model
        self.n_support_ = len(model.weights)
        self.intercept_ = model.intercept.astype(np.float64)
        self.dual_coef_ = model.weights.T.astype(np.float64) / model.feature_map.unit
        self.support_vectors_ = self._scaling.inverse(model.feature_map.prototypes, level_counts(self))
        if isinstance(model.feature_map, PrototypeMap):
            self.feature_scale_ = np.exp(model.feature_map.arrays[1].astype(np.float64))

    @contextmanager
    def _workers(self) -> Iterator[Executor | None]:
        """Threads for the pieces of work, each of which has BLAS on one: sums come out the same for any number."""
        n_threads = thread_count(self.n_jobs)
        with one_blas_thread():
            if n_threads == 1:
                yield None
                return
            with ThreadPoolExecutor(n_threads) as pool:
                yield pool

    # --------------------------------------------------------------------------------------------- predicting
    def _raw(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = unshifted_rows(self, X, reset=False)
        sample = Sample(rows, np.zeros(len(rows), np.int32), np.ones(len(rows)), self._scaling, self._outputs)
        with self._workers() as pool:
            return scores_of(self._model, self._with_factor(sample, pool), pool, dtype=np.float64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score f of each row: one for two classes, otherwise one per class."""
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``."""
        raw = self._raw(X)
        if len(self.classes_) == 1:
            return np.ones((len(raw), 1))
        return probabilities(raw, self._steepness)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the second of two if f > 0, of several the one with the largest f."""
        raw = self._raw(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(raw))
        return self.classes_[choose_class(raw)]


def mu_for(n_rows: int) -> float:
    """The penalty that keeps the machine from overfitting few rows.

    With 0.01 for all, 500 rows of noisy classes lost three to eight points of accuracy; with 3 for all, 7,000 rows of
    clear ones lost five.
    """
    return min(MOST_MU, LEAST_MU * max(1.0, MU_GROWS_BELOW / n_rows) ** 2)
