"""Declarations of the minimal complexity machines and of the conformal kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from planewise.data.scaling import Scaling, ScalingToFloat32
from planewise.machines.classifier import MCMClassifier
from planewise.machines.columns import MISSING, NUMBER, Preparation, PreparedScaling
from planewise.machines.conformal import ConformalKernel
from planewise.machines.conformal_factor import ConformalFactor
from planewise.machines.descent import Learner, LinearModel
from planewise.machines.kernels import KERNEL_NAMES, Kernel
from planewise.machines.large import SETTLED_AT_FIRST, LargeScaleMCMClassifier
from planewise.machines.maps import KernelMap, PrototypeMap
from planewise.machines.regressor import MCMRegressor
from planewise.machines.regressor_search import MCMRegressorCV
from planewise.machines.search import MCMClassifierCV
from planewise.machines.settings import Settings
from planewise.store.declaration import CATEGORIES, ORIGINS, Declaration, check_length
from planewise.store.errors import require
from planewise.store.kinds import (
    MOST_FEATURES,
    Integer,
    Kind,
    Labels,
    Maybe,
    Number,
    Numbers,
    OneKindOf,
    Plain,
    Record,
    Several,
    Truth,
    Word,
)
from planewise.store.nested import Nested

_VECTOR, _MATRIX = Numbers("float64"), Numbers("float64", ndim=2)
_SHORT_VECTOR, _SHORT_MATRIX = Numbers("float32"), Numbers("float32", ndim=2)
_MOST = 2**31 - 1

KERNEL = Record(
    Kernel, {"name": Word(KERNEL_NAMES), "gamma": Number(0), "degree": Integer(1, _MOST), "coef0": Number()}
)
_SETTINGS = Record(
    Settings,
    {
        "kernel": Maybe(KERNEL),
        "n_classes": Integer(2, _MOST),
        "precomputed": Truth(),
        "multi_class": Word(("ovr", "ovo")),
        "relaxation": Number(0),
        "tol": Number(0),
        "max_iter": Integer(1),
        "n_jobs": Integer(1, _MOST),
        "slack": Word(("mean", "sum")),
        "rho": Number(0),
        "printed": Truth(),
    },
)
_PLAIN_SCALING: dict[str, Kind] = {"mean": _VECTOR, "spread": _VECTOR}
_PREPARATION = Record(
    Preparation,
    {"n_features": Integer(1, MOST_FEATURES), "source": Numbers("int64"), "level": Numbers("int64"), "fill": _VECTOR},
)


def _prepared_scaling(mean: Any, spread: Any, tails: Any, preparation: Any) -> PreparedScaling:
    return PreparedScaling(preparation, Scaling(mean, spread, tails))


SCALING = Record(
    _prepared_scaling,
    _PLAIN_SCALING | {"tails": Maybe(Record(Scaling, _PLAIN_SCALING)), "preparation": _PREPARATION},
)


def _factor(cores: Kind) -> Record:
    return Record(
        ConformalFactor,
        {
            "cores": cores,
            "coef": _VECTOR,
            "gamma": Number(0),
            "eigenvalue": Number(finite=False),
            "between": _MATRIX,
            "within": _MATRIX,
            "shrinkage": Number(),
        },
    )


def _check_factor(factor: ConformalFactor | None, n_features: int, where: str) -> None:
    if factor is None:
        return
    check_length(factor.cores, (len(factor.cores), n_features), f"{where}.cores")
    check_length(factor.coef, len(factor.cores) + 1, f"{where}.coef")
    for name in ("between", "within"):
        check_length(getattr(factor, name), (2, 2), f"{where}.{name}")


def _check_scaling(model: Any, precomputed: bool = False) -> int:
    """Return the number of prepared columns; raise unless preparation and scaling fit each other and the columns."""
    scaling, preparation = model._scaling, model._scaling.preparation
    _check_preparation(preparation, model, precomputed)
    width = len(preparation.source)
    for each in (scaling, scaling.tails):
        if each is not None:
            check_length(each.mean, width, "_scaling.mean")
            check_length(each.spread, width, "_scaling.spread")
    return width


def _check_preparation(preparation: Preparation, model: Any, precomputed: bool) -> None:
    source, level, fill = preparation.source, preparation.level, preparation.fill
    n_levels = np.zeros(model.n_features_in_, dtype=np.int64)
    for column, known in model.categories_.items():
        n_levels[column] = len(known)
    right = preparation.n_features == model.n_features_in_ and len(source) > 0
    right = right and ((source >= 0) & (source < preparation.n_features)).all()
    require(right, "has a _scaling.preparation of columns that the model does not have")
    check_length(level, len(source), "_scaling.preparation.level")
    check_length(fill, len(source), "_scaling.preparation.fill")
    known = np.where(
        level >= 0, level < n_levels[source], (level == MISSING) | ((level == NUMBER) & (n_levels[source] == 0))
    )
    require(known.all(), "has a _scaling.preparation of categories that the model does not have")
    # A kernel matrix has no gaps to fill.
    unknown = precomputed and preparation.is_plain and np.isnan(fill).all()
    require(unknown or np.isfinite(fill).all(), "has a _scaling.preparation.fill that is not finite")


def _check_codes(rows: Any, model: Any, where: str) -> None:
    """Categories in rows of the user's columns: their places, one past the last for others, or NaN."""
    for column, known in model.categories_.items():
        codes = rows[:, column]
        allowed = np.isnan(codes) | ((codes >= 0) & (codes <= len(known)) & (codes == np.floor(codes)))
        require(allowed.all(), f"has a {where} with a category that the model does not have")


def _read_scaling_to_float32(model: Any) -> int:
    """In float32, or in float64 where a column has an origin."""
    read = model._scaling.scaling
    if model.feature_origins_:
        made: Scaling = ScalingToFloat32(read.mean, read.spread, read.tails)
    else:
        tails = None if read.tails is None else _short(read.tails)
        made = replace(_short(read), tails=tails)
    model._scaling = PreparedScaling(model._scaling.preparation, made)
    return _check_scaling(model)


def _short(scaling: Scaling) -> Scaling:
    return Scaling(scaling.mean.astype(np.float32), scaling.spread.astype(np.float32))


# ----------------------------------------------------------------------------------------------- the exact machines
_MACHINE: dict[str, Kind] = CATEGORIES | {
    "_scaling": SCALING,
    "support_": Numbers("int64"),
    "support_vectors_": _MATRIX,
    "dual_coef_": _MATRIX,
    "intercept_": _VECTOR,
    "h_": _VECTOR,
    "objective_": _VECTOR,
    "gap_": _VECTOR,
    "n_iter_": Numbers("int64"),
}


def _check_machine(model: Any, n_machines: int, linear: bool, precomputed: bool) -> None:
    n, vectors, width = model.n_features_in_, len(model.support_), _check_scaling(model, precomputed)
    require((model.support_ >= 0).all(), "has a support_ with an invalid row number")
    require(not precomputed or (model.support_ < n).all(), "has a support_ with a row that the kernel does not have")
    check_length(model.support_vectors_, (0, 0) if precomputed else (vectors, n), "support_vectors_")
    if not precomputed:
        _check_codes(model.support_vectors_, model, "support_vectors_")
    check_length(model.dual_coef_, (n_machines, vectors), "dual_coef_")
    for name in ("intercept_", "h_", "objective_", "gap_", "n_iter_"):
        check_length(getattr(model, name), n_machines, name)
    require(hasattr(model, "coef_") == linear, "has a coef_ without being linear, or is linear without one")
    if linear:
        check_length(model.coef_, (n_machines, width), "coef_")


def _check_classifier(model: Any) -> None:
    settings, n_classes = model._trained_settings, len(model.classes_)
    require(settings.n_classes == n_classes >= 2, "has a machine for the wrong number of classes")
    n_machines = n_classes if settings.multi_class == "ovr" else n_classes * (n_classes - 1) // 2
    require(settings.kernel is None or not settings.precomputed, "has both a kernel function and a precomputed one")
    _check_machine(model, 1 if n_classes == 2 else n_machines, settings.linear, settings.precomputed)
    _check_factor(model._factor, len(model._scaling.mean), "_factor")
    require(not model.probability or hasattr(model, "slope_"), "lacks the slope_ of its probabilities")


def _check_regressor(model: Any) -> None:
    linear, precomputed = model.kernel == "linear", model.kernel == "precomputed"
    require(
        (model._kernel is None) == (linear or precomputed),
        "has a kernel that does not match its parameters",
    )
    _check_machine(model, 1, linear, precomputed)


# ------------------------------------------------------------------------------------------------------ their search
def _check_search(model: Any) -> None:
    require(
        model.refit == hasattr(model, "best_estimator_"),
        "has no machine although refit is true, or has one although it is false",
    )
    require(
        not model.refit or model.best_estimator_.n_features_in_ == model.n_features_in_,
        "has a machine whose columns do not match its search",
    )


def _check_class_search(model: Any) -> None:
    require(len(model.classes_) >= 2, "has too few classes")
    _check_search(model)
    searched = [hasattr(model, name) for name in ("cv_results_", "best_index_", "best_score_", "_slope")]
    handed_over = isinstance(getattr(model, "best_estimator_", None), LargeScaleMCMClassifier)
    require(all(searched) != handed_over and any(searched) != handed_over, "has only parts of a search")
    if hasattr(model, "best_estimator_"):
        machine = model.best_estimator_
        require(
            (handed_over or (machine.probability and hasattr(machine, "slope_")))
            and np.array_equal(machine.classes_, model.classes_),
            "has a machine whose classes do not match its search",
        )


def _derive_search(model: Any) -> None:
    if not hasattr(model, "cv_results_"):
        return
    points = model.cv_results_.get("params")
    at = model.best_index_
    require(isinstance(points, list) and at < len(points), "has no point where its best one should be")
    require(isinstance(points[at], dict), "has an invalid best point")
    model.best_params_ = model._params_of(at)


# ------------------------------------------------------------------------------------------------ the large machine
def _prototype_map(prototypes: Any, log_scale: Any) -> PrototypeMap:
    check_length(log_scale, prototypes.shape[1], "feature map's scales")
    return PrototypeMap(prototypes, log_scale)


class _PrototypeArrays:
    """The learned arrays of a map, by the names of its constructor's parameters."""

    _parts: dict[str, Kind] = {"prototypes": _SHORT_MATRIX, "log_scale": _SHORT_VECTOR}  # noqa: RUF012

    def pack(self, value: PrototypeMap, arrays: Any) -> Any:
        return {
            name: kind.pack(each, arrays) for (name, kind), each in zip(self._parts.items(), value.arrays, strict=True)
        }

    def unpack(self, packed: Any, arrays: Any, where: str) -> Any:
        return Record(_prototype_map, self._parts).unpack(packed, arrays, where)


_MAP = OneKindOf(
    {
        "prototypes": (PrototypeMap, _PrototypeArrays()),
        "kernel": (KernelMap, Record(KernelMap, {"kernel": KERNEL, "prototypes": _SHORT_MATRIX, "unit": Number(0)})),
    }
)
_LINEAR_MODEL = Record(LinearModel, {"feature_map": _MAP, "weights": _SHORT_MATRIX, "intercept": _SHORT_VECTOR})


class _LearnerState:
    """The descent's state, from which ``partial_fit`` continues: its map is made of the arrays it learns."""

    _parts: dict[str, Kind] = {  # noqa: RUF012
        "feature_map": _MAP,
        "weights": _SHORT_MATRIX,
        "intercept": _SHORT_VECTOR,
        "C": Number(0),
        "mu": Number(0),
        "learning_rate": Number(0),
        "refine": Truth(),
        "n_updates": Integer(),
        "rates": Several(Number(0)),  # measured on the map that was drawn first
    }
    _moving = ("averaged", "momentum", "squares")

    def pack(self, value: Learner, arrays: Any) -> Any:
        own = {"weights": value.arrays[0], "intercept": value.arrays[1]}
        packed = {
            name: kind.pack(own[name] if name in own else getattr(value, name), arrays)
            for name, kind in self._parts.items()
        }
        packed["state"] = {
            name: [arrays.add_small(array.ravel()) for array in getattr(value, name)] for name in self._moving
        }
        return packed

    def unpack(self, packed: Any, arrays: Any, where: str) -> Learner:
        require(
            isinstance(packed, dict) and set(packed) == {*self._parts, "state"},
            f"has a {where} with missing or unknown parts",
        )
        parts = {name: kind.unpack(packed[name], arrays, where) for name, kind in self._parts.items()}
        n_updates, rates, state = parts.pop("n_updates"), parts.pop("rates"), packed["state"]
        check_length(parts["weights"], (parts["feature_map"].n_components, len(parts["intercept"])), f"{where}.weights")
        learner = Learner(**parts)
        require(len(rates) == len(learner.rates), f"has a {where}.rates of the wrong length")
        learner.n_updates, learner.rates = n_updates, rates
        require(
            isinstance(state, dict) and set(state) == set(self._moving), f"has a {where} with missing or unknown parts"
        )
        for name in self._moving:
            flat = Several(_SHORT_VECTOR).unpack(state[name], arrays, where)
            require(len(flat) == len(learner.arrays), f"has a {where}.{name} of the wrong length")
            for each, like in zip(flat, learner.arrays, strict=True):
                check_length(each, like.size, f"{where}.{name}")
            setattr(learner, name, [each.reshape(like.shape) for each, like in zip(flat, learner.arrays, strict=True)])
        return learner


def _check_large(model: Any) -> None:
    n, n_classes = _read_scaling_to_float32(model), len(model.classes_)
    outputs = 1 if n_classes <= 2 else n_classes
    require(n_classes >= 1, "has no classes")
    linear = model._model
    require(linear.feature_map.prototypes.shape[1] == n, "has a feature map that does not match its columns")
    check_length(linear.weights, (linear.feature_map.n_components, outputs), "_model.weights")
    check_length(linear.intercept, outputs, "_model.intercept")
    check_length(model.h_, outputs, "h_")
    _check_factor(model.conformal_, n, "conformal_")
    require(
        all(isinstance(hinge, float) for hinge in model.validation_hinge_),
        "has a validation_hinge_ with values that are not numbers",
    )
    if hasattr(model, "_learner"):
        require(
            model._learner.feature_map.prototypes.shape[1] == n, "has a feature map that does not match its columns"
        )
        check_length(model._learner.arrays[1], outputs, "_learner.intercept")


def _derive_large(model: Any) -> None:
    n_classes = len(model.classes_)
    model._outputs = np.array([1]) if n_classes <= 2 else np.arange(n_classes)
    model._settled = {name: getattr(model, name) for name in SETTLED_AT_FIRST}
    model._set_model(model._model)


# -------------------------------------------------------------------------------------------------------- the kernel
def _check_conformal(model: Any) -> None:
    n = _read_scaling_to_float32(model)
    check_length(model.X_fit_, (len(model.X_fit_), n), "X_fit_")
    _check_factor(model._factor, n, "_factor")


MODELS = [
    Declaration(
        MCMClassifier,
        _MACHINE | {"classes_": Labels(), "_trained_settings": _SETTINGS, "_factor": Maybe(_factor(_MATRIX))},
        _check_classifier,
        optional={"coef_": _MATRIX, "slope_": Number(0), "shrinkage_": Number()},
    ),
    Declaration(
        MCMClassifierCV,
        CATEGORIES | {"classes_": Labels()},
        _check_class_search,
        optional={
            "cv_results_": Plain(dict),
            "best_index_": Integer(),
            "best_score_": Number(),
            "_slope": Number(0),
            "best_estimator_": Nested("MCMClassifier", "LargeScaleMCMClassifier"),
        },
        derive=_derive_search,
    ),
    Declaration(
        MCMRegressor,
        _MACHINE | {"_kernel": Maybe(KERNEL)},
        _check_regressor,
        optional={"coef_": _MATRIX, "mu_": Number(0)},
    ),
    Declaration(
        MCMRegressorCV,
        CATEGORIES | {"cv_results_": Plain(dict), "best_index_": Integer(), "best_score_": Number()},
        _check_search,
        optional={"best_estimator_": Nested("MCMRegressor")},
        derive=_derive_search,
    ),
    Declaration(
        LargeScaleMCMClassifier,
        ORIGINS
        | {
            "classes_": Labels(),
            "_scaling": SCALING,
            "_model": _LINEAR_MODEL,
            "conformal_": Maybe(_factor(_SHORT_MATRIX)),
            "validation_hinge_": Plain(list),
            "n_iter_": Integer(),
            "_steepness": Number(0),
            "gamma_": Number(0),
            "mu_": Number(0),
            "h_": _VECTOR,
            "objective_": Number(),
        },
        _check_large,
        optional={"_learner": _LearnerState()},
        derive=_derive_large,
    ),
    Declaration(
        ConformalKernel,
        ORIGINS
        | {
            "classes_": Labels(),
            "_scaling": SCALING,
            "X_fit_": _MATRIX,
            "_kernel": KERNEL,
            "_factor": _factor(_MATRIX),
        },
        _check_conformal,
        derive=lambda model: model._set_attributes(),
    ),
]
