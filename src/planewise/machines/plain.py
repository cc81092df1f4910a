"""A fitted machine in a plain form, whichever estimator it comes from, for exports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.machines.columns import Preparation, PreparedScaling
from planewise.machines.maps import PrototypeMap

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bumps:
    """r(x) = (1 - s) + s (constant + sum of coef_j exp(-gamma |z - core_j|^2)) of standardised rows z."""

    cores: Floats
    coef: Floats
    constant: float
    gamma: float
    shrinkage: float


@dataclass(frozen=True)
class PlainMachine:
    """Machine scores are r(x) times the weighted kernel values of standardised rows, plus an intercept."""

    kind: str
    kernel: str  # "linear" (no vectors), "rbf", "poly" or "product" (x.x')
    mean: Floats
    spread: Floats
    tails: tuple[Floats, Floats] | None  # mean and spread after arcsinh(2 z), where long tails are compressed
    metric: Floats | None  # "rbf" with one factor per column: what squared differences are multiplied by
    vectors: Floats  # standardised
    coefficients: Floats  # machines x vectors (x features for "linear")
    intercept: Floats
    gamma: float
    degree: int
    coef0: float
    factor: Bumps | None
    classes: NDArray[Any] | None
    multi_class: str
    slope: float | None  # of the probabilities; None: it gives no probabilities
    n_features: int  # that the kernel takes
    feature_names: list[str]
    preparation: Preparation  # how they are made of the columns of X


def plain_machine(model: Any, form: str) -> PlainMachine:
    """A fitted minimal complexity machine; an error if `form`, what it is exported to, cannot hold its kernel."""
    if hasattr(model, "_model"):
        return _large_scale(model)
    if hasattr(getattr(model, "best_estimator_", None), "_model"):  # a search that was handed over
        return _large_scale(model.best_estimator_)
    if hasattr(model, "refit") and not hasattr(model, "best_estimator_"):
        raise ValueError(
            f"This {type(model).__name__} has refit=False and no machine to export; fit it with refit=True, or fit an "
            f"{type(model).__name__.removesuffix('CV')} with its best_params_."
        )
    kernel = model._kernel if not hasattr(model, "classes_") else model._trained_settings.kernel
    if kernel is None and model.kernel == "precomputed":
        raise ValueError(
            f"A machine with kernel='precomputed' has no training rows, only kernel values, and cannot be "
            f"exported to {form}; fit it with one of the kernels 'rbf', 'poly' or 'linear'."
        )
    scaling: PreparedScaling = model._scaling
    machine = PlainMachine(
        kind=type(model).__name__,
        kernel="linear",
        mean=scaling.mean,
        spread=scaling.spread,
        tails=None,
        metric=None,
        vectors=np.empty((0, len(scaling.mean))),
        coefficients=np.empty((0, 0)),
        intercept=np.asarray(model.intercept_, np.float64),
        gamma=1.0,
        degree=1,
        coef0=0.0,
        factor=None,
        classes=getattr(model, "classes_", None),
        multi_class="ovr" if not hasattr(model, "classes_") else model._trained_settings.multi_class,
        slope=getattr(model, "slope_", None),
        n_features=len(scaling.mean),
        feature_names=model.prepared_feature_names_.tolist(),
        preparation=scaling.preparation,
    )
    if kernel is None:  # by standardised columns: sums of numbers far from zero would lose their last digits in float32
        standard = model.coef_ * scaling.spread
        return replace(machine, coefficients=standard, intercept=model.intercept_ + model.coef_ @ scaling.mean)
    tails = None if scaling.tails is None else (scaling.tails.mean, scaling.tails.spread)
    return replace(
        machine,
        kernel="product" if kernel.name == "linear" else kernel.name,
        tails=tails,
        vectors=scaling(model.support_vectors_),
        coefficients=model.dual_coef_,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        factor=_bumps(getattr(model, "_factor", None)),
    )


def _large_scale(model: Any) -> PlainMachine:
    feature_map, linear, scaling = model._model.feature_map, model._model, model._scaling
    tails = scaling.tails
    machine = PlainMachine(
        kind=type(model).__name__,
        kernel="rbf",
        mean=scaling.mean.astype(np.float64),
        spread=scaling.spread.astype(np.float64),
        tails=None if tails is None else (tails.mean.astype(np.float64), tails.spread.astype(np.float64)),
        metric=None,
        vectors=np.empty((0, len(scaling.mean))),
        coefficients=linear.weights.T.astype(np.float64),
        intercept=linear.intercept.astype(np.float64),
        gamma=1.0,
        degree=1,
        coef0=0.0,
        factor=_bumps(model.conformal_),
        classes=model.classes_,
        multi_class="ovr",
        slope=model._steepness,
        n_features=len(scaling.mean),
        feature_names=model.prepared_feature_names_.tolist(),
        preparation=scaling.preparation,
    )
    if isinstance(feature_map, PrototypeMap):
        metric = np.exp(feature_map.arrays[1].astype(np.float64))
        return replace(machine, vectors=feature_map.prototypes.astype(np.float64), metric=metric)
    kernel = feature_map.kernel
    return replace(
        machine,
        kernel="product" if kernel.name == "linear" else kernel.name,
        vectors=feature_map.prototypes.astype(np.float64),
        coefficients=machine.coefficients / feature_map.unit,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
    )


def _bumps(factor: Any) -> Bumps | None:
    if factor is None:
        return None
    return Bumps(
        np.asarray(factor.cores, np.float64),
        np.asarray(factor.coef[1:], np.float64),
        float(factor.coef[0]),
        float(factor.gamma),
        float(factor.shrinkage),
    )
