"""Declarations of scikit-learn's transformers of numbers: scalers, selections, projections, bases of functions."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
    r_regression,
)
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from planewise.io._declaration import check_length
from planewise.io._errors import require
from planewise.io._kinds import MOST_FEATURES, Integer, Kind, Maybe, Number, Word
from planewise.io._nested import Nested
from planewise.io._scikit import ScikitDeclaration
from planewise.io._scikit_kinds import MOST_SPLINES, Floats, Function, SampleCount, Splines, made_splines

SCORES: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (f_classif, f_regression, r_regression, chi2, mutual_info_classif, mutual_info_regression)
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        *(np.log, np.log1p, np.log2, np.log10, np.exp, np.expm1, np.exp2, np.sqrt, np.cbrt, np.square),
        *(np.absolute, np.negative, np.reciprocal, np.sign, np.arcsinh, np.sinh, np.arctan, np.tanh, np.sin, np.cos),
        *(np.floor, np.ceil, np.rint),
    )
}
_VECTOR, _MATRIX = Floats(), Floats(ndim=2)
_COUNT = Integer()
MOST_DEGREE = 100  # of a polynomial


def _nothing_more(model: Any) -> None:
    pass


# ---------------------------------------------------------------------------------------------------------- scalers
def _check_scaled(model: Any) -> None:
    """Where a scaler is told to centre or scale, it must know by how much."""
    told = {"mean_": "with_mean", "center_": "with_centering"}
    for attribute, parameter in told.items():
        if hasattr(model, attribute):
            known = getattr(model, attribute) is not None or not getattr(model, parameter)
            require(known, f"has a {type(model).__name__} without {attribute}")
    if hasattr(model, "scale_"):
        told_to_scale = getattr(model, "with_std", getattr(model, "with_scaling", True))
        require(model.scale_ is not None or not told_to_scale, f"has a {type(model).__name__} without scale_")


def _scaler(cls: type, **kinds: Kind) -> ScikitDeclaration:
    """One with these attributes, each of one number per column."""
    return ScikitDeclaration(cls, kinds, _check_scaled, by_column=tuple(kinds))


_BY = Maybe(_VECTOR)
_SCALERS = [
    _scaler(StandardScaler, mean_=_BY, var_=_BY, scale_=_BY, n_samples_seen_=SampleCount()),
    _scaler(
        MinMaxScaler,
        **dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _VECTOR),
        n_samples_seen_=_COUNT,
    ),
    _scaler(MaxAbsScaler, max_abs_=_VECTOR, scale_=_VECTOR, n_samples_seen_=_COUNT),
    _scaler(RobustScaler, center_=_BY, scale_=_BY),
    ScikitDeclaration(Normalizer, {}, _nothing_more),
    ScikitDeclaration(Binarizer, {}, _nothing_more),
]


# ------------------------------------------------------------------------------------------- other shapes of numbers
def _check_power(model: Any) -> None:
    require(hasattr(model, "_scaler") == bool(model.standardize), "has a PowerTransformer without its scaler")
    if model.standardize:
        fits = model._scaler.n_features_in_ == model.n_features_in_ and model._scaler.scale_ is not None
        require(fits, "has a PowerTransformer whose scaler has other columns")


def _check_quantiles(model: Any) -> None:
    n_quantiles = model.n_quantiles_
    check_length(model.references_, n_quantiles, "references_")
    check_length(model.quantiles_, (n_quantiles, model.n_features_in_), "quantiles_")


_SHAPES = [
    ScikitDeclaration(
        PowerTransformer,
        {"lambdas_": _VECTOR},
        _check_power,
        {"_scaler": Nested("StandardScaler")},
        by_column=("lambdas_",),
    ),
    ScikitDeclaration(
        QuantileTransformer,
        {"n_quantiles_": Integer(1, 2**31), "references_": _VECTOR, "quantiles_": _MATRIX},
        _check_quantiles,
    ),
]


def _check_function(model: Any) -> None:
    require(not model.kw_args and not model.inv_kw_args, "has a FunctionTransformer with arguments")
    require(model.feature_names_out in (None, "one-to-one"), "has a FunctionTransformer with names of its own")


_FUNCTION = ScikitDeclaration(
    FunctionTransformer,
    {},
    _check_function,
    parameters={"func": Maybe(Function(FUNCTIONS)), "inverse_func": Maybe(Function(FUNCTIONS))},
)


# ------------------------------------------------------------------------------------------------ functions of columns
def _n_products(n_columns: int, low: int, high: int, interactions: bool, bias: bool) -> int:
    """How many products of columns `PolynomialFeatures` makes."""
    if interactions:
        total = sum(comb(n_columns, k) for k in range(max(1, low), min(high, n_columns) + 1))
    else:
        total = comb(n_columns + high, high) - 1
        total -= comb(n_columns + low - 1, low - 1) - 1 if low > 0 else 0
    return total + bool(bias)


def _check_products(model: Any) -> None:
    degree = model.degree
    low, high = (0, degree) if isinstance(degree, int) else degree if len(degree) == 2 else (0, -1)
    known = type(low) is int and type(high) is int and 0 <= low <= high <= MOST_DEGREE
    require(known, "has a PolynomialFeatures of an impossible degree")
    number = _n_products(model.n_features_in_, low, high, model.interaction_only, model.include_bias)
    made_first = _n_products(model.n_features_in_, 0, high, model.interaction_only, model.include_bias)
    require(made_first <= MOST_FEATURES, "has a PolynomialFeatures that makes too many columns")
    require(model.n_output_features_ == number, "has a PolynomialFeatures with another number of columns")


def _derive_products(model: Any) -> None:
    low, high = (0, model.degree) if isinstance(model.degree, int) else model.degree
    model._min_degree, model._max_degree = low, high
    model._n_out_full = _n_products(model.n_features_in_, 0, high, model.interaction_only, model.include_bias)


def _check_splines(model: Any) -> None:
    n_columns = model.n_features_in_
    require(len(model.bsplines_) == n_columns, "has bsplines_ for another number of columns")
    require(0 <= model.degree <= MOST_SPLINES, "has a SplineTransformer of an impossible degree")
    model.bsplines_ = made_splines(model.bsplines_, model.degree, model.extrapolation)
    each = model.bsplines_[0].c.shape[1] - (0 if model.include_bias else 1)
    require(model.n_features_out_ == n_columns * each, "has a SplineTransformer with another number of columns")


_BASES = [
    ScikitDeclaration(
        PolynomialFeatures,
        {"n_output_features_": _COUNT},
        _check_products,
        derive=_derive_products,
        width=lambda model, _: int(model.n_output_features_),
    ),
    ScikitDeclaration(
        SplineTransformer,
        {"bsplines_": Splines(), "n_features_out_": _COUNT},
        _check_splines,
        width=lambda model, _: int(model.n_features_out_),
    ),
]


# ---------------------------------------------------------------------------------------------- fewer columns
def _n_selected(model: Any, n_columns: int | None) -> int:
    return int(model.get_support().sum())


def _check_scores(model: Any) -> None:
    if isinstance(model, SelectKBest):
        require(model.k == "all" or model.k >= 0, "has a SelectKBest of an impossible number")


def _check_components(model: Any) -> None:
    n_components = len(model.components_)
    check_length(model.components_, (n_components, model.n_features_in_), "components_")
    for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        check_length(getattr(model, attribute), n_components, attribute)
    require(getattr(model, "n_components_", n_components) == n_components, "has another number of components_")


_SPECTRUM: dict[str, Kind] = {
    "components_": _MATRIX,
    "explained_variance_": _VECTOR,
    "explained_variance_ratio_": _VECTOR,
    "singular_values_": _VECTOR,
}
_SELECTIONS = [
    ScikitDeclaration(
        VarianceThreshold, {"variances_": _VECTOR}, _nothing_more, by_column=("variances_",), width=_n_selected
    ),
    *(
        ScikitDeclaration(
            cls,
            {"scores_": _VECTOR, "pvalues_": Maybe(_VECTOR)},
            _check_scores,
            by_column=("scores_", "pvalues_"),
            parameters={"score_func": Function(SCORES)},
            width=_n_selected,
        )
        for cls in (SelectKBest, SelectPercentile)
    ),
    ScikitDeclaration(
        PCA,
        _SPECTRUM
        | {
            "mean_": _VECTOR,
            "noise_variance_": Number(finite=False),
            "n_samples_": _COUNT,
            "n_components_": _COUNT,
            "_fit_svd_solver": Word(("full", "covariance_eigh", "arpack", "randomized")),
        },
        _check_components,
        by_column=("mean_",),
        width=lambda model, _: len(model.components_),
    ),
    ScikitDeclaration(TruncatedSVD, _SPECTRUM, _check_components, width=lambda model, _: len(model.components_)),
]

MODELS = [*_SCALERS, *_SHAPES, _FUNCTION, *_BASES, *_SELECTIONS]
