"""What trees, forests and boosting share: parameters, their limits, and how the core gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._params import Limit, boolean, integer, one_of, or_sequence, real, seed, threads
from planewise.data.categories import categorical_limit
from planewise.data.problem import category_counts
from planewise.explain.estimator import ShownInNotebooks
from planewise.trees.arrays import Forest
from planewise.trees.constraints import ALL_ROWS, CONSTRAINT_LIMITS, ENDLESS

GROWTH_LIMITS: dict[str, Limit] = CONSTRAINT_LIMITS | {
    "max_depth": integer(1, none=True),
    "min_samples_split": integer(2),
    "min_samples_leaf": integer(1),
    "max_leaf_nodes": integer(2, none=True),
    "max_planes": integer(1, 8),
    "plane_choice": one_of("joint", "cosine"),
    "max_cosine": real(0, 1),
    "min_relative_gain": real(0, 1),
    "n_projections": integer(0, 1_000_000),
    "subspace": one_of("candidate", "node"),
    "subspace_size": or_sequence(integer(1)),
    "root_features": integer(1, none=True),
    "axis_candidates": one_of("all", "subspace", "none"),
    "max_coef": integer(1, 1000),
    "min_coef": integer(0, 1),
    "coef_decay": or_sequence(real(0)),
    "rank_decay": or_sequence(real(0)),
    "n_bins": integer(2, 255),
    "bins": one_of("uniform", "robust", "quantile"),
    "refine_thresholds": boolean(),
    "max_rows_per_node": integer(16, none=True),
    "max_ranked_features": integer(1, none=True),
    "categorical_features": categorical_limit(),
    "n_jobs": threads(),
    "random_state": seed(),
}
SINGLE_TREE_LIMITS: dict[str, Limit] = GROWTH_LIMITS | {
    "min_impurity_decrease": real(0),
    "min_loss": real(0),
    "noise_margin": real(0),
    "smoothing": real(0),
}


class TreeEstimator(ShownInNotebooks, BaseEstimator):
    """What the estimators made of trees share; their trees are ``tree_`` or ``forest_``."""

    max_depth: Any
    min_samples_split: int
    min_samples_leaf: int
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    min_loss: float
    noise_margin: float
    smoothing: Any
    max_planes: int
    plane_choice: str
    max_cosine: float
    min_relative_gain: float
    n_projections: int
    subspace: str
    subspace_size: int | list[int]
    root_features: int | None
    axis_candidates: str
    max_coef: int
    min_coef: int
    coef_decay: float | list[float]
    rank_decay: float | list[float]
    n_bins: int
    bins: str
    refine_thresholds: bool
    max_rows_per_node: Any
    max_ranked_features: int | None
    categorical_features: Any
    monotonic_cst: Any
    interaction_cst: Any
    n_jobs: int | None
    random_state: Any
    tree_: Forest
    forest_: Forest
    n_features_in_: int
    categories_: dict[int, NDArray[Any]]
    feature_origins_: dict[int, float]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _trees(self) -> Forest:
        check_is_fitted(self)
        trees: Forest = self.forest_ if hasattr(self, "forest_") else self.tree_
        return trees

    def _new_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the planes' gain; a plane's gain is shared by the size of its coefficients."""
        return self.get_feature_importances("gain")

    def get_feature_importances(self, kind: str = "gain") -> NDArray[np.float64]:
        """Share of each feature in the planes, by "gain", by number of planes ("split") or by their rows ("cover")."""
        trees = self._trees()
        if kind not in ("gain", "split", "cover"):
            raise ValueError(f"kind must be 'gain', 'split' or 'cover'; got {kind!r}.")
        return trees.importances(self.n_features_in_, kind)

    @property
    def n_stored_numbers_(self) -> int:
        """Number of non-zero weights, thresholds and leaf values: an honest count of what the model holds."""
        return self._trees().stored_numbers()

    @property
    def n_bytes_(self) -> int:
        """Bytes of the arrays that prediction needs."""
        return self._trees().nbytes()


def training_table(
    estimator: Any, rows: NDArray[np.float32], weight: NDArray[np.float64], n_threads: int
) -> _core.Table:
    """The rows as the core learns from them."""
    categories = table_categories(estimator, rows.shape[1])
    return _core.Table(rows, weight, n_threads, categories, estimator.bins == "robust")


def table_categories(estimator: Any, n_columns: int) -> list[int]:
    """How many categories each column of the trees' rows has; columns beyond those of X are numbers."""
    categories = category_counts(estimator)
    return categories + [0] * (n_columns - len(categories)) if categories else []


def growth_options(estimator: Any, seed: int) -> _core.GrowOptions:
    """The core's options from an estimator's (already checked) parameters."""
    options = _core.GrowOptions()
    options.seed = seed
    if estimator.max_depth != "auto":
        options.max_depth = min(estimator.max_depth or 0, ENDLESS)
    options.min_samples_split = min(estimator.min_samples_split, ENDLESS)
    options.min_samples_leaf = min(estimator.min_samples_leaf, ENDLESS)
    options.max_leaf_nodes = min(estimator.max_leaf_nodes or 0, ENDLESS)
    options.max_planes = estimator.max_planes
    options.choose_by_cosine = estimator.plane_choice == "cosine"
    options.max_cosine = estimator.max_cosine
    options.min_relative_gain = estimator.min_relative_gain
    options.n_projections = estimator.n_projections
    options.shared_subspace = estimator.subspace == "node"
    options.root_features = min(estimator.root_features or 0, ENDLESS)
    check_candidates(estimator)
    options.axes = estimator.axis_candidates
    options.max_coef, options.min_coef = estimator.max_coef, estimator.min_coef
    options.n_bins = estimator.n_bins
    options.bins = estimator.bins
    options.refine = bool(estimator.refine_thresholds)
    if estimator.max_rows_per_node != "auto":
        options.max_rows_per_node = min(estimator.max_rows_per_node or ALL_ROWS, ALL_ROWS)
    options.max_features = min(estimator.max_ranked_features or 0, ENDLESS)
    options.rounds = [_core.DrawRound(min(size, ENDLESS), alpha, beta) for size, alpha, beta in draw_rounds(estimator)]
    return options


def tree_options(estimator: Any, seed: int) -> _core.GrowOptions:
    """The core's options of trees that stand alone or vote: with the options that only they have."""
    options = growth_options(estimator, seed)
    options.min_impurity_decrease = estimator.min_impurity_decrease
    options.min_loss = estimator.min_loss
    options.prune_margin = estimator.noise_margin
    return options


def check_candidates(estimator: Any) -> None:
    """An error if nothing could be a candidate, or if no subspace is drawn that says which features are."""
    if estimator.axis_candidates == "subspace" and estimator.subspace != "node":
        raise ValueError(
            "axis_candidates='subspace' needs subspace='node', where all candidates of a node share one draw of "
            f"features; got subspace={estimator.subspace!r}."
        )
    largest = max(size for size, _, _ in draw_rounds(estimator))
    if estimator.axis_candidates == "none" and (estimator.n_projections == 0 or largest < 2):
        given = "n_projections=0" if estimator.n_projections == 0 else f"subspace_size={estimator.subspace_size!r}"
        raise ValueError(
            f"axis_candidates='none' leaves only planes of several features, but {given} allows none of these; use "
            "axis_candidates='all'."
        )


def draw_rounds(estimator: Any) -> list[tuple[int, float, float]]:
    """One (subspace_size, coef_decay, rank_decay) per round; lists must agree in length, single values repeat."""
    given = {name: getattr(estimator, name) for name in ("subspace_size", "coef_decay", "rank_decay")}
    lengths = {name: len(value) for name, value in given.items() if isinstance(value, (list, tuple))}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            "The parameters subspace_size, coef_decay and rank_decay must be single values or lists of one length, "
            f"one entry per round; got the lengths {lengths}."
        )
    rounds = max(lengths.values(), default=1)
    columns = [value if isinstance(value, (list, tuple)) else [value] * rounds for value in given.values()]
    return list(zip(*columns, strict=True))


def most_terms(estimator: Any) -> int:
    """D0: how many features a plane of this estimator may be chosen from, as the paper counts."""
    size = estimator.root_features or max(size for size, _, _ in draw_rounds(estimator))
    return int(min(size, estimator.n_features_in_))
