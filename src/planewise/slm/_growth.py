"""The parameters that trees, forests and boosting share: their limits, and how the core gets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from planewise import _core
from planewise._params import Limit, boolean, integer, one_of, or_sequence, real, seed, threads

GROWTH_LIMITS: dict[str, Limit] = {
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
    "max_coef": integer(1, 1000),
    "coef_decay": or_sequence(real(0)),
    "rank_decay": or_sequence(real(0)),
    "n_bins": integer(2, 255),
    "bins": one_of("uniform", "quantile"),
    "refine_thresholds": boolean(),
    "max_rows_per_node": integer(16, none=True),
    "max_ranked_features": integer(1, none=True),
    "categorical_features": Limit(
        lambda value: (
            value is None
            or (isinstance(value, str) and value == "from_dtype")
            or (not isinstance(value, (str, Mapping)) and np.ndim(value) == 1)
        ),
        "'from_dtype', a list of columns (names, numbers or a mask) or None",
    ),
    "n_jobs": threads(),
    "random_state": seed(),
}

ENDLESS = 2**31 - 1  # more levels, rows or columns than a table has, and yet a number the core can hold


def growth_options(estimator: Any, seed: int) -> _core.GrowOptions:
    """The core's options from an estimator's (already checked) parameters."""
    options = _core.GrowOptions()
    options.seed = seed
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
    options.max_coef = estimator.max_coef
    options.n_bins = estimator.n_bins
    options.quantile_bins = estimator.bins == "quantile"
    options.refine = bool(estimator.refine_thresholds)
    if estimator.max_rows_per_node != "auto":
        options.max_rows_per_node = min(estimator.max_rows_per_node or 2**62, 2**62)
    options.max_features = min(estimator.max_ranked_features or 0, ENDLESS)
    options.rounds = [_core.DrawRound(min(size, ENDLESS), alpha, beta) for size, alpha, beta in draw_rounds(estimator)]
    return options


def tree_options(estimator: Any, seed: int) -> _core.GrowOptions:
    """The core's options of trees that stand alone or vote: with what only they can have."""
    options = growth_options(estimator, seed)
    options.min_impurity_decrease = estimator.min_impurity_decrease
    options.min_loss = estimator.min_loss
    options.prune_margin = estimator.noise_margin
    return options


def draw_rounds(estimator: Any) -> list[tuple[int, float, float]]:
    """One (subspace_size, coef_decay, rank_decay) a round; lists must agree in length, single values repeat."""
    given = {name: getattr(estimator, name) for name in ("subspace_size", "coef_decay", "rank_decay")}
    lengths = {name: len(value) for name, value in given.items() if isinstance(value, (list, tuple))}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            "The parameters subspace_size, coef_decay and rank_decay must be single values or lists of one length, "
            f"one entry a round; got the lengths {lengths}."
        )
    rounds = max(lengths.values(), default=1)
    columns = [value if isinstance(value, (list, tuple)) else [value] * rounds for value in given.values()]
    return list(zip(*columns, strict=True))


def most_terms(estimator: Any) -> int:
    """D0: how many terms a plane of this estimator may have."""
    return min(max(size for size, _, _ in draw_rounds(estimator)), estimator.n_features_in_)
