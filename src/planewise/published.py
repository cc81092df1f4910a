"""The systems of the three papers with exactly the settings of the papers, nothing of ours switched on.

Each function returns an estimator that is not fitted yet, with parameters named by the symbols of its paper. The tables
below map symbols to parameters and values; a comment beside a value names what the paper leaves open.
`docs/published.md` lists, equation by equation, where the code is and what differs.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from planewise import published
>>> X, y = load_iris(return_X_y=True)
>>> published.slm_classifier(q=3, random_state=0).fit(X, y).score(X, y)
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from textwrap import fill
from typing import Any, NamedTuple

from planewise.machines.classifier import MCMClassifier
from planewise.machines.large import LargeScaleMCMClassifier
from planewise.machines.search import MCMClassifierCV
from planewise.recip.classifier import RECIPClassifier
from planewise.trees.boost_classifier import SLMBoostClassifier
from planewise.trees.boost_regressor import SLMBoostRegressor
from planewise.trees.forest import SLMForestClassifier, SLMForestRegressor
from planewise.trees.tree import SLMClassifier, SLMRegressor

EVERY = 10**6  # as a number of features: more than a table has, so all of them
ALL_VIEWS = 10**9  # as max_candidates: every view of up to d features is tried, or refused for its memory


class Symbol(NamedTuple):
    """A symbol of a paper, and what becomes of it."""

    parameter: str  # of the estimator
    default: Any
    meaning: str
    value: Callable[[Mapping[str, Any]], Any] | None = None  # of the parameter, made of all symbols; None: as given


Symbols = Mapping[str, Symbol]


def _function(
    name: str, title: str, estimator: type, symbols: Symbols, settings: Mapping[str, Any], n_positional: int = 0
) -> Callable[..., Any]:
    """Make the function of a system: its signature and documentation are those of the table."""
    kinds = [Parameter.POSITIONAL_OR_KEYWORD] * n_positional + [Parameter.KEYWORD_ONLY] * len(symbols)
    signature = Signature(
        [Parameter(key, kind, default=each.default) for (key, each), kind in zip(symbols.items(), kinds, strict=False)],
        return_annotation=estimator.__name__,
    )

    def system(*args: Any, **given: Any) -> Any:
        try:
            bound = signature.bind(*args, **given)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        bound.apply_defaults()
        known = bound.arguments
        made = {each.parameter: each.value(known) if each.value else known[key] for key, each in symbols.items()}
        return estimator(**{**settings, **made})

    told = [
        f"{key}{'' if each.default is Parameter.empty else f' : default={each.default!r}'}\n"
        f"    {each.meaning}. Sets ``{each.parameter}``."
        for key, each in symbols.items()
    ]
    fixed = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    indent = 4 * " "
    result = fill(f"Not fitted, with ``{fixed}``.", 88, initial_indent=indent, subsequent_indent=indent)
    system.__doc__ = (
        f"{title}\n\nParameters\n----------\n" + "\n".join(told) + f"\n\nReturns\n-------\n{estimator.__name__}\n"
        f"{result}\n"
    )
    system.__name__ = system.__qualname__ = name
    system.__signature__ = signature  # type: ignore[attr-defined]
    return system


_SHARED = {
    "n_jobs": Symbol("n_jobs", None, "Number of threads; the model does not depend on it"),
    "random_state": Symbol("random_state", None, "Random seed"),
}

# ------------------------------------------------------------------------------------------------------- SLM and SLR
# H. Fu, Y. Yang, V. K. Mishra, C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022. Left
# open in general: the scale of the features, on which integer coefficients depend (they are standardised for the
# search); cells without rows (they get no child, and a new row in one gets the value of the node). The text says that p
# projections give 2p hyperplanes and q partitions 2q subspaces: we read p and 2^q.


def _drawn(known: Mapping[str, Any]) -> int:
    """The number of features drawn at a node: R of D0; in forests and boosting, D0."""
    R, D0 = known.get("R"), known["D0"]
    if R is not None and D0 is not None and R > D0:
        raise ValueError(f"R={R} features cannot be drawn from a subspace of D0={D0}; R must be at most D0.")
    return next((size for size in (R, D0) if size is not None), EVERY)


_TREE = {
    # The paper searched these values on each data set and prints none of them. A_int and alpha are those of the example
    # in Figure 2; ranks count from 0. With these, only the five best features of a node can have coefficients; if none
    # of the drawn features can, the best of them is the only candidate.
    "A_int": Symbol("max_coef", 10, "Largest coefficient of the best feature, alpha_0 of eq. 21"),
    "alpha": Symbol("coef_decay", 0.5, "A feature of rank d has coefficients of at most floor(A_int exp(-alpha d))"),
    "beta": Symbol("rank_decay", 0.1, "Decay of the probability of a feature with its rank (eq. 19)"),
    "q": Symbol("max_planes", 2, "Maximum number of planes per node"),
    "theta_minimax": Symbol("max_cosine", 0.7, "No plane is added whose cosine with one of the others is larger"),
    "B": Symbol("n_bins", 16, "Number of bins of the one-dimensional test (eqs 11 to 15)"),
    "max_depth": Symbol("max_depth", None, "First stopping criterion: the depth of a node"),
    "min_samples": Symbol("min_samples_split", 2, "Second stopping criterion: a node with fewer rows is not split"),
}
_MIN_LOSS = {"min_loss": Symbol("min_loss", 0.0, "Third criterion: a node is not split whose loss is not larger")}
# Section II-B4 selects D0 features, Section II-B2 draws R of them: the first happens once, at the root, the second at
# every node. p is not printed.
_ONE_TREE = {
    "D0": Symbol("root_features", None, "Dimension of S0: the best features at the root. None: all"),
    "R": Symbol("subspace_size", None, "Number of features drawn from S0 at each node (eq. 19). None: all D0", _drawn),
    "p": Symbol("n_projections", 200, "Number of directions tested at each node; all of them if there are at most p"),
}
# "For partitioning at a node, we allow a probabilistic selection of D0 dimensions": in forests, D0 is drawn at each
# node. 5 is the value printed for B.C.W. and Ionosphere (for single trees). p is smaller than for a single tree: what
# one tree misses, others find.
_MANY_TREES = {
    "D0": Symbol("subspace_size", 5, "Number of features drawn at each node (eq. 19). None: all", _drawn),
    "p": Symbol("n_projections", 50, "Number of directions tested at each node; all of them if there are at most p"),
}
_SEARCH = {
    "subspace": "node",
    "axis_candidates": "subspace",  # single features of the draw are candidates, as their loss is known, others are not
    "min_coef": 0,
    "plane_choice": "cosine",  # a plane must also make a new cell and lower the loss
    "min_relative_gain": 0.5,  # which projections are "effective" (eq. 23): at least half of the best gain
    "bins": "uniform",
    "refine_thresholds": False,
    "max_rows_per_node": None,
    "max_ranked_features": None,
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "noise_margin": 0.0,
    "smoothing": 0.0,
}
_ALONE = _SEARCH | {"min_impurity_decrease": 0.0}
_FOREST = _ALONE | {"rows_per_projection": 0, "bootstrap": False}
_BOOST = _SEARCH | {
    "reg_lambda": 0.0,  # eq. 35 has no penalties
    "min_split_gain": 0.0,
    "base_score": 0.0,  # eq. 27
    "subsample": 1.0,
    "colsample": 1.0,
    "max_rows_per_tree": None,
    "remember_directions": False,
    "target_statistics": None,
}
_ENTROPY = {"criterion": "entropy"}  # in nats
_N_TREES = {"n_estimators": Symbol("n_estimators", 20, "Number of trees")}
# The paper searches depth and learning rate for XGBoost and prints no value: these are the defaults of XGBoost. Without
# a minimum weight, the Newton step of one wrong but sure row, divided by a Hessian near 0, would have no bound.
_ROUNDS = {
    "n_estimators": Symbol("n_estimators", 100, "Number of rounds"),
    "learning_rate": Symbol("learning_rate", 0.3, "Shrinkage"),
}
_BOOST_TREE = _TREE | {"max_depth": _TREE["max_depth"]._replace(default=6)}
_CHILD = {"min_child_weight": Symbol("min_child_weight", 1.0, "Minimum sum of Hessians in a cell")}

_TREE_SYMBOLS = _ONE_TREE | _TREE | _MIN_LOSS | _SHARED
_FOREST_SYMBOLS = _N_TREES | _MANY_TREES | _TREE | _MIN_LOSS | _SHARED
_BOOST_SYMBOLS = _ROUNDS | _MANY_TREES | _BOOST_TREE | _CHILD | _SHARED

slm_classifier = _function(
    "slm_classifier", "Make the subspace learning machine (SLM, Section II): one tree.",
    SLMClassifier, _TREE_SYMBOLS, _ALONE | _ENTROPY,
)  # fmt: skip
slr_regressor = _function(
    "slr_regressor", "Make the subspace learning regressor (SLR, Section V): the tree of the mean squared error.",
    SLMRegressor, _TREE_SYMBOLS, _ALONE,
)  # fmt: skip
slm_forest_classifier = _function(  # ties of the vote go to the class with the larger mean probability
    "slm_forest_classifier", "Make SLM Forest (Section III-A): trees on all rows, which vote.",
    SLMForestClassifier, _FOREST_SYMBOLS, _FOREST | _ENTROPY | {"voting": "hard"},
)  # fmt: skip
slr_forest_regressor = _function(
    "slr_forest_regressor", "Make SLR Forest (Section V): trees on all rows, whose mean is the prediction.",
    SLMForestRegressor, _FOREST_SYMBOLS, _FOREST,
)  # fmt: skip
slm_boost_classifier = _function(  # several classes: one tree per class and round, as in XGBoost
    "slm_boost_classifier", "Make SLM Boost (Section III-B): second-order boosting without penalties (eq. 35).",
    SLMBoostClassifier, _BOOST_SYMBOLS, _BOOST | {"loss": "log_loss"},
)  # fmt: skip
slr_boost_regressor = _function(
    "slr_boost_regressor", "Make SLR Boost (Section V): boosting of the squared error.",
    SLMBoostRegressor, _BOOST_SYMBOLS, _BOOST | {"loss": "squared_error"},
)  # fmt: skip

# --------------------------------------------------------------------------------------------------------------- MCM
# S. Badge, S. Soman, S. Chandra, Jayadeva, "Kernel optimization using conformal maps for the minimal complexity
# machine", Engineering Applications of Artificial Intelligence, 2021. Left open in general: which of the optima, where
# every machine that interpolates the labels is one (the vertex that column generation ends at); what stands in where
# rounding errors leave the program without a solution (the least of 1e-6, 1e-5 and 1e-4 as a penalty on lambda, with a
# warning); more than two classes (one machine per class against the rest, which share r).
C_PARAMS = tuple(2.0**power for power in range(-19, 2, 2))  # "2^-19 to 2^2 with a step of 2^2" ends at 2^1
GAMMA_PARAMS = tuple(2.0**power for power in (-10, -11, -12, -8, -9))  # in the order of the paper
GAMMA_C_TIMES = (
    *(2.0, 2.2, 2.4, 2.6, 2.8, 3.0, 4.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 100.0),
    *(500.0, 800.0, 1000.0, 5000.0),
)


def _list(symbol: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda known: tuple(known[symbol])


_PROGRAM = {
    "slack": "sum",  # C in (8)
    "relaxation": 1.0,  # the program is solved once
    "scaling": "standard",  # by the training rows; the paper seems to have used all rows
    "multi_class": "ovr",
}
_COSTS = {
    "C": Symbol("C", 1.0, "Penalty on the sum of slacks, C in (8)"),
    "gamma": Symbol("gamma", 2.0**-10, "Coefficient of the kernel, on standardised columns"),
}
_KERNEL = {"kernel": Symbol("kernel", "rbf", 'K: "rbf", "poly", "linear" or "precomputed"; the last two ignore gamma')}
_MACHINE = _KERNEL | {"random_state": _SHARED["random_state"]}
_GRID = {
    "C": Symbol("Cs", C_PARAMS, "Penalties on the sum of slacks to try (CParams)", _list("C")),
    "gamma": Symbol("gammas", GAMMA_PARAMS, "Coefficients of the kernel to try (gammaParams)", _list("gamma")),
}
# The algorithm measures on "X, Y" without saying which rows: each point is judged on held-out folds of those of `fit`.
_FOLDS = {"cv": Symbol("cv", 5, "The folds that judge; an integer means shuffled stratified folds, drawn once")}
_ALGORITHM = _PROGRAM | {
    "mus": (0.0,),
    "rhos": (0.0,),
    "selection": "first",  # only a better point replaces the best one; C is varied slowest
    "max_support": 1.0,  # every machine counts
    "n_repeats": 1,
}
# (15) as printed has eigenvectors with one number per row, but (17) needs one per core: with K1 = [1, exp(-gamma_c |x_i
# - a_j|^2)] we solve (K1' B0 K1) alpha = eta (K1' W0 K1) alpha, 0.001 of its mean diagonal added to the right side. The
# printed B0 and W0 divide every block by M; we divide that of a class by the number of its rows, unless `printed`.
_PRINTED = {
    "printed": Symbol(
        "conformal", False, "Solve (13) to (15) with 1/M as printed, for comparison only",
        lambda known: "printed" if known["printed"] else "signed",
    )
}  # fmt: skip
_FACTOR = {
    "gamma_c": Symbol(
        "gamma_conformal", None, "Coefficient of the Gaussians of r. None: twice gamma, the least that the paper tries",
        lambda known: "auto" if known["gamma_c"] is None else known["gamma_c"],
    )
}  # fmt: skip
_FACTORS = {
    "gamma_c": Symbol("gammas_conformal", GAMMA_C_TIMES, "Multiples of gamma to try as gamma_c", _list("gamma_c"))
}

mcm = _function(
    "mcm", "Make the minimal complexity machine, program (8) to (11).", MCMClassifier,
    _COSTS | _MACHINE, _PROGRAM | {"mu": 0.0}, 2,
)  # fmt: skip
mcm_search = _function(
    "mcm_search", "Make the machine with C and gamma tuned by Algorithm 1.", MCMClassifierCV,
    _GRID | _KERNEL | _FOLDS | _SHARED, _ALGORITHM, 2,
)  # fmt: skip
mcm_conformal = _function(
    "mcm_conformal", "Make the machine with a conformal kernel, steps 1 to 6 of Section 4.", MCMClassifier,
    _COSTS | _FACTOR | _KERNEL | _PRINTED | {"random_state": _SHARED["random_state"]}, _PROGRAM | {"mu": 0.0}, 3,
)  # fmt: skip
mcm_conformal_search = _function(
    "mcm_conformal_search", "Make the machine with C, gamma and gamma_c tuned jointly by Algorithm 2.", MCMClassifierCV,
    _GRID | _FACTORS | _KERNEL | _PRINTED | _FOLDS | _SHARED, _ALGORITHM, 3,
)  # fmt: skip

# The paper has no equations of the descent, and follows Sharma et al. (2017). Ours: kernel values with drawn rows, as
# far as possible equally many of each class; sub-gradients on mini-batches by Adam with a rate that falls to zero, h
# bounded batch by batch, and the averaged iterate; it starts from weights that fit some of the rows by a squared hinge.
# batch_size, max_iter and learning_rate have our defaults.
_LARGE_COSTS = {
    "C": Symbol("C", 1.0, "Penalty on the sum of slacks"),
    "gamma": Symbol("gamma", "scale", 'Coefficient of the RBF kernel; "scale" is 1 / n_features'),
}  # tuned in the paper, without the values that it tried
_COMPONENTS = {"n_components": Symbol("n_components", "auto", "Number of rows whose kernel values are the features")}
_LARGE = {
    "mu": 0.0,
    "slack": "sum",
    "refine": False,
    "early_stopping": False,
    "scaling": "standard",  # mean and deviation without the outermost thousandths of the values
}
ls_mcm = _function(
    "ls_mcm", "Make the machine for many rows, learned by stochastic sub-gradient descent (Section 5).",
    LargeScaleMCMClassifier, _LARGE_COSTS | _COMPONENTS | _SHARED, _LARGE, 2,
)  # fmt: skip
ls_mcm_conformal = _function(
    "ls_mcm_conformal", "Make the machine for many rows with a conformal kernel (Section 5, Figure 1).",
    LargeScaleMCMClassifier, _LARGE_COSTS | _FACTOR | _COMPONENTS | _PRINTED | _SHARED,
    # Which cores are discarded until all classes have equally many: those with the smallest weights. For large data
    # sets, Section 6.1 tries gamma_c from 1e-11 to 1e-1, and with Table 4 from 1e-8 to 1e2.
    _LARGE | {"conformal_start": "after_fit", "equal_cores": True}, 3,
)  # fmt: skip

# ------------------------------------------------------------------------------------------------------------- RECIP
# M. Fiterau, A. Dubrawski, "Projection retrieval for classification", NIPS 2012. Left open in general: convergence (no
# penalty changes by 1e-6, or 50 rounds); large ratios (entropies are capped at 10, and 1 if both distances are 0); rows
# with equal values and label (one row of their weight); ties of eq. 9 (the class whose opponents are farther, then the
# view of fewer features; in a vote, the last class); more than two classes ("not y" stands for all others).


def _penalty(known: Mapping[str, Any]) -> float:
    """Lambda of eq. 8. Near alpha = 1, differences of entropies are in proportion to 1 - alpha."""
    return 9.0 * (2 * (1 - known["alpha"])) ** 2 if known["lam"] is None else known["lam"]


_ENTROPY_SYMBOLS = {
    "k": Symbol("k", 1, "Which neighbour's distance is taken on both sides"),  # not printed
    # "A value close to 1", without a number: it changes neither a row's best view nor eq. 9. With 1/2, the entropy in a
    # view of two features is the ratio of distances itself, and recall is nearest to Table 1.
    "alpha": Symbol("tsallis_order", 0.5, "Order of the Tsallis divergence in eqs 2 to 9, below 1"),
}
_VIEWS = {"d": Symbol("max_dim", 2, "Maximum number of features of a view")} | _ENTROPY_SYMBOLS
_LAM = {"lam": Symbol("lam", None, "Lambda of eq. 8. None: 9 (2 (1 - alpha))^2", _penalty)}  # not printed
_ALL = {"all_features": Symbol("include_all_features", False, "Whether the view of all features is a candidate")}
_SCALED = {"scaling": Symbol("scaling", None, "How columns are scaled; the paper mentions no scaling")} | _SHARED
_LASSO = {
    "lam": Symbol("lam", None, "The penalty. None: the best of four by cross-validation"),  # not printed
    "t": Symbol("max_projections", None, "Maximum number of views"),
}
_DISTANCES = {"estimate": "distances", "max_candidates": ALL_VIEWS, "max_rows": None}  # eq. 5, all views, all rows
# Solved exactly, Algorithm 1 lets some rows use nearly every candidate a little, and the printed rule keeps these;
# `set_params(keep="best")` keeps the views that are the largest part of a row for more than 1% of the rows.
_ALGORITHM_1 = _DISTANCES | {"selection": "recip", "keep": "used"}
_REGRESSION = _DISTANCES | {"unit_columns": False}  # ‖T - Zβ‖₂ + λ‖β‖₁ with Z as it is

recip = _function(
    "recip", "Make RECIP: Algorithm 1 chooses the views, and eq. 9 classifies each query in one of them.",
    RECIPClassifier, _VIEWS | _LAM | _ALL | _SCALED, _ALGORITHM_1, 4,
)  # fmt: skip
recip_voting = _function(
    "recip_voting", "Make RECIP with a vote: the views of Algorithm 1, each for its own class (Table 4).",
    RECIPClassifier, _VIEWS | _LAM | _SCALED, _ALGORITHM_1 | {"decide": "vote"}, 4,
)  # fmt: skip
recip_known = _function(
    "recip_known", "Make RECIP with views that are known: eq. 9 or a vote answers (Tables 2 and 4).", RECIPClassifier,
    {"projections": Symbol("projections", Parameter.empty, "The views, by column number or name; twice counts once")}
    | _ENTROPY_SYMBOLS
    | {
        "voting": Symbol(
            "decide", False, "Whether the views vote (Table 4)", lambda known: "vote" if known["voting"] else "select"
        )
    }
    | _SCALED,
    _DISTANCES | {"max_dim": 1}, 3,
)  # fmt: skip
recip_lasso = _function(
    "recip_lasso", "Make the paper's lasso of the best entropies on those of all views (Section 2.4).",
    RECIPClassifier, _VIEWS | _LASSO | _SCALED, _REGRESSION | {"selection": "lasso"}, 5,
)  # fmt: skip
recip_robust_lasso = _function(
    "recip_robust_lasso", "Make the lasso repeated on reweighted rows, one view at a time (Section 2.4).",
    RECIPClassifier, _VIEWS | _LASSO | _SCALED,
    # The weights are not printed: a row weighs what the views so far lack to its best entropy. It ends after t views
    # (20 for None), when no row is left open, or when a new view is the best for no row.
    _REGRESSION | {"selection": "robust_lasso", "min_support": 0.0}, 5,
)  # fmt: skip

__all__ = [
    *("ls_mcm", "ls_mcm_conformal", "mcm", "mcm_conformal", "mcm_conformal_search", "mcm_search"),
    *("recip", "recip_known", "recip_lasso", "recip_robust_lasso", "recip_voting"),
    *("slm_boost_classifier", "slm_classifier", "slm_forest_classifier"),
    *("slr_boost_regressor", "slr_forest_regressor", "slr_regressor"),
]
