"""Trees and forests as flat arrays: how they are kept. What native code relies on is checked by the core itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._core import N_TRIAL_LOSSES
from planewise.data.categories import Categories
from planewise.store.arrays import ArrayReader, ArrayWriter
from planewise.store.declaration import ORIGINS, Declaration, check_length
from planewise.store.errors import ModelFileError, require
from planewise.store.kinds import (
    ByColumn,
    Integer,
    Kind,
    Labels,
    Maybe,
    Number,
    Numbers,
    Record,
    Truth,
    Word,
    unpack_parts,
)
from planewise.trees.arrays import Forest, Trials
from planewise.trees.boost_classifier import SLMBoostClassifier
from planewise.trees.boost_regressor import SLMBoostRegressor
from planewise.trees.feature_test import DiscriminantFeatureTest
from planewise.trees.forest import SLMForestClassifier, SLMForestRegressor
from planewise.trees.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    RawLoss,
    class_loss_name,
)
from planewise.trees.ranking import SLMBoostRanker
from planewise.trees.target_statistics import TargetStatistics, n_tree_columns, statistic_places
from planewise.trees.tree import SLMClassifier, SLMRegressor

DEEPEST_TREE = 10_000


@dataclass(frozen=True)
class Starts:
    """Where lists in one long array begin, kept as the lengths of these lists: most fit into a byte."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return arrays.add_small(np.diff(value))

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        lengths = Numbers("int64").unpack(packed, arrays, where)
        require((lengths >= 0).all(), f"has a {where} that goes back")
        ends = np.cumsum(np.minimum(lengths, 2**31))
        require(len(ends) == 0 or int(ends[-1]) < 2**31, f"has a {where} beyond what it points into")
        return np.concatenate([[0], ends]).astype(np.int32)


_SHARED: dict[str, Kind] = {
    "plane_start": Starts(),
    "child_start": Starts(),
    "children": Numbers("int32"),
    "n_samples": Numbers("int64"),
    "term_start": Starts(),
    "threshold": Numbers("float32"),
    "missing_right": Numbers("uint8"),
    "plane_gain": Numbers("float64"),
    "term_feature": Numbers("int32"),
    "term_coefficient": Numbers("int32"),
    "term_weight": Numbers("float32"),
    "set_start": Starts(),
    "set_category": Numbers("int32"),
}
TREE_ARRAYS: dict[str, Kind] = _SHARED | {
    "weight": Numbers("float64"),
    "impurity": Numbers("float64"),
    "gain": Numbers("float64"),
    "value": Numbers("float64", ndim=2),
}
FOREST_ARRAYS: dict[str, Kind] = _SHARED | {
    "node_start": Starts(),
    "value": Numbers("float32", ndim=2),
    "n_outputs": Integer(1, 2**31 - 1),
}


@dataclass(frozen=True)
class Trees:
    """A `Forest` with these arrays; parents and levels are found again from the children."""

    arrays: dict[str, Kind]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(getattr(value, name), arrays) for name, kind in self.arrays.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Forest:
        parts = unpack_parts(self.arrays, packed, arrays, where)
        try:
            forest = Forest.from_arrays(**parts)
        except ValueError as error:
            raise ModelFileError(f"has {where} with {error}") from error
        require(forest.max_depth <= DEEPEST_TREE, f"has {where} with more than {DEEPEST_TREE} levels")
        return forest


def check_columns(trees: Forest, n_features: int, categories: Categories, n_statistics: int, where: str) -> None:
    """The columns and categories that planes refer to; columns of target statistics come last."""
    counts = [len(categories[column]) if column in categories else 0 for column in range(n_features)]
    counts += [0] * n_statistics
    try:
        trees.check_columns(counts)
    except ValueError as error:
        raise ModelFileError(f"has {where} with {error}") from error


_SEED = Integer(0, 2**32)


def _check_trees(model: Any, trees: Any, where: str) -> None:
    n_statistics = len(statistic_places(getattr(model, "target_statistics_", {})))
    check_columns(trees, model.n_features_in_, model.categories_, n_statistics, where)


# ------------------------------------------------------------------------------------------------------- one tree
def _check_tree(model: Any) -> None:
    _check_trees(model, model.tree_, "tree_")
    outputs = len(model.classes_) if hasattr(model, "classes_") else 1
    require(model.tree_.value.shape[1] == outputs >= 1, "has a tree_ whose number of values does not match the classes")
    check_length(model.feature_means_, model.n_features_in_, "feature_means_")


def _derive_tree(model: Any) -> None:
    model.depth_, model.n_planes_ = model.tree_.max_depth, model.tree_.n_planes
    model.nodes_per_level_ = model.tree_.nodes_per_level


_TREE: dict[str, Kind] = ORIGINS | {
    "tree_": Trees(TREE_ARRAYS),
    "n_parameters_": Integer(),
    "feature_means_": Numbers("float32"),
}


# ----------------------------------------------------------------------------------------------------------- forest
def _check_forest(model: Any) -> None:
    forest = model.forest_
    _check_trees(model, forest, "forest_")
    require(forest.n_trees >= 1, "has forest_ without trees")
    check_length(model.feature_means_, model.n_features_in_, "feature_means_")
    n_classes = len(model.classes_) if hasattr(model, "classes_") else 1
    require(n_classes >= 1, "has no classes")
    columns = 1 if n_classes == 2 else n_classes
    require(
        forest.n_outputs == columns == forest.value.shape[1],
        "has a forest_ whose number of values does not match the classes",
    )
    if hasattr(model, "oob_decision_function_"):
        check_length(
            model.oob_decision_function_, (len(model.oob_decision_function_), n_classes), "oob_decision_function_"
        )


def _derive_forest(model: Any) -> None:
    model.n_planes_ = model.forest_.n_planes


_FOREST: dict[str, Kind] = ORIGINS | {
    "forest_": Trees(FOREST_ARRAYS),
    "feature_means_": Numbers("float32"),
    "n_parameters_": Integer(),
}
_OUT_OF_BAG: dict[str, Kind] = {"oob_score_": Number(finite=False)}


# --------------------------------------------------------------------------------------------------------- boosting
def boosted(losses: tuple[str, ...]) -> dict[str, Kind]:
    """What all sums of trees have, with one of these losses."""
    # A custom loss is a function and not kept; prediction does not need it.
    parts: dict[str, Kind] = {
        "core": Word(losses),
        "n_outputs": Integer(1, 2**31 - 1),
        "alpha": Number(),
        "power": Number(),
    }
    return ORIGINS | {
        "forest_": Trees(FOREST_ARRAYS),
        "feature_means_": Numbers("float32"),
        "base_score_": Numbers("float64"),
        "n_iter_": Integer(),
        "_seed": _SEED,
        "_loss": Record(RawLoss, parts),
    }


def _boosting(losses: tuple[str, ...]) -> dict[str, Kind]:
    return boosted(losses) | {
        "best_iteration_": Maybe(Integer()),
        "train_score_": Numbers("float64"),
        "validation_score_": Numbers("float64"),
        "target_statistics_": ByColumn(_STATISTICS),
        "has_offset_": Truth(),
    }


_STATISTICS = Record(
    TargetStatistics,
    {"values": Numbers("float32", ndim=2), "prior": Numbers("float32"), "classes": Maybe(Numbers("int32"))},
)
_BOOSTING_MAY_HAVE: dict[str, Kind] = {
    "_trials": Record(Trials, {"losses": Numbers("float64", ndim=2), "left_out": Numbers("float64", ndim=2)}),
}


def _check_statistics(model: Any) -> None:
    n_classes = len(model.classes_) if hasattr(model, "classes_") else None
    for column, known in model.target_statistics_.items():
        require(column in model.categories_, "has target statistics of a column without categories")
        check_length(known.values, (len(model.categories_[column]), len(known.prior)), "target_statistics_.values")
        fitting = (
            known.classes is None if n_classes is None else _are_classes(known.classes, len(known.prior), n_classes)
        )
        if n_classes is None:
            fitting = fitting and len(known.prior) == 1
        require(fitting and len(known.prior) >= 1, "has target statistics that do not match its target")
        finite = np.isfinite(known.values).all() and np.isfinite(known.prior).all()
        require(bool(finite), "has target statistics that are not finite")


def _are_classes(given: Any, length: int, n_classes: int) -> bool:
    """Whether these are the places of so many classes, in order."""
    if given is None or len(given) != length:
        return False
    return bool((np.diff(given) > 0).all() and (given >= 0).all() and (given < n_classes).all())


def check_boosted(model: Any, n_views: int = 1) -> None:
    """The trees, their number and their outputs; each of so many views has its own trees in every round."""
    forest, loss = model.forest_, model._loss
    _check_trees(model, forest, "forest_")
    outputs = 1
    if hasattr(model, "classes_"):
        n_classes = len(model.classes_)
        fitting = n_classes >= 1 and loss.core == class_loss_name(n_classes)
        require(fitting, "has a loss that does not go with the number of its classes")
        outputs = n_classes if n_classes > 2 else 1
    _check_loss(loss)
    require(
        loss.n_outputs == outputs == forest.n_outputs and forest.value.shape[1] == 1,
        "has a forest_ whose number of values does not match the classes",
    )
    require(
        forest.n_trees == n_views * model.n_iter_ * forest.trees_per_round,
        "has a number of trees that does not match its rounds",
    )
    check_length(model.base_score_, outputs, "base_score_")
    n_columns = n_tree_columns(model.n_features_in_, getattr(model, "target_statistics_", {}))
    check_length(model.feature_means_, n_columns, "feature_means_")


def _check_boosting(model: Any) -> None:
    _check_statistics(model)
    check_boosted(model)
    loss, outputs = model._loss, model._loss.n_outputs
    require(hasattr(model, "_trials") == (loss.core != "constant"), "lacks what boosting continues from")
    if hasattr(model, "_trials"):
        check_length(model._trials.losses, (outputs, N_TRIAL_LOSSES), "_trials.losses")
        check_length(model._trials.left_out, (len(model._trials.left_out), outputs), "_trials.left_out")


def _check_loss(loss: RawLoss) -> None:
    powers = {"poisson": loss.power == 1, "gamma": loss.power == 2, "tweedie": 1 < loss.power < 2}
    require(powers.get(loss.core, True), "has a power that does not match its loss")


# ----------------------------------------------------------------------------------------------------- feature test
def _check_feature_test(model: Any) -> None:
    n = model.n_features_in_
    for name in ("scores_", "thresholds_", "order_", "support_"):
        check_length(getattr(model, name), n, name)
    require(
        np.array_equal(np.sort(model.order_), np.arange(n)), "has an order_ that is not a permutation of the columns"
    )
    require(
        1 <= model.elbow_ <= n and model.n_features_ == model.support_.sum(), "has a wrong number of selected features"
    )


MODELS = [
    Declaration(
        SLMClassifier,
        _TREE | {"classes_": Labels()},
        _check_tree,
        derive=_derive_tree,
    ),
    Declaration(SLMRegressor, _TREE, _check_tree, derive=_derive_tree),
    Declaration(
        SLMForestClassifier,
        _FOREST | {"classes_": Labels()},
        _check_forest,
        optional=_OUT_OF_BAG | {"oob_decision_function_": Numbers("float64", ndim=2)},
        derive=_derive_forest,
    ),
    Declaration(
        SLMForestRegressor,
        _FOREST | {"_centre": Number()},
        _check_forest,
        optional=_OUT_OF_BAG | {"oob_prediction_": Numbers("float64")},
        derive=_derive_forest,
    ),
    Declaration(
        SLMBoostClassifier,
        _boosting(CLASSIFICATION_LOSSES) | {"classes_": Labels()},
        _check_boosting,
        optional=_BOOSTING_MAY_HAVE,
    ),
    Declaration(
        SLMBoostRegressor,
        _boosting(REGRESSION_LOSSES),
        _check_boosting,
        optional=_BOOSTING_MAY_HAVE,
    ),
    Declaration(
        SLMBoostRanker,
        _boosting(("ranking",)),
        _check_boosting,
        optional=_BOOSTING_MAY_HAVE,
    ),
    Declaration(
        DiscriminantFeatureTest,
        ORIGINS
        | {
            "scores_": Numbers("float64"),
            "thresholds_": Numbers("float64"),
            "order_": Numbers("int64"),
            "elbow_": Integer(),
            "n_features_": Integer(),
            "support_": Numbers("bool"),
        },
        _check_feature_test,
    ),
]
