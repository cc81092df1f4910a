"""Declarations of scikit-learn's encoders of categories, its bins, and its imputation of missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, TargetEncoder

from planewise.io._declaration import check_length
from planewise.io._errors import require
from planewise.io._kinds import (
    MOST_FEATURES,
    ByColumn,
    Integer,
    Kind,
    Labels,
    Maybe,
    Names,
    Number,
    Numbers,
    Several,
    Truth,
    Word,
)
from planewise.io._nested import Nested
from planewise.io._scikit import ScikitDeclaration
from planewise.io._scikit_kinds import Edges, EncodedCategories, Floats, OrNone, Scalars, Type

_COUNT = Integer()
_CATEGORIES: dict[str, Kind] = {"categories_": Several(EncodedCategories())}
_INFREQUENT: dict[str, Kind] = {"_infrequent_indices": Several(Maybe(Numbers("int64")))}


# ---------------------------------------------------------------------------------------------- categories as columns
def _groups_infrequent(model: Any) -> bool:
    most, least = getattr(model, "max_categories", None), getattr(model, "min_frequency", None)
    return (most is not None and most >= 1) or least is not None


def _check_categories(model: Any) -> None:
    categories = model.categories_
    require(len(categories) == model.n_features_in_, "has categories_ for another number of columns")
    grouped = getattr(model, "_infrequent_indices", None)
    require(
        (grouped is not None) == _groups_infrequent(model), "has infrequent categories that its parameters do not allow"
    )
    for known, rare in zip(categories, grouped or [None] * len(categories), strict=False):
        if rare is not None:
            placed = len(rare) >= 1 and rare[0] >= 0 and rare[-1] < len(known) and bool((np.diff(rare) > 0).all())
            require(placed, "has infrequent categories that it does not have")
    require(grouped is None or len(grouped) == len(categories), "has infrequent categories of other columns")


def _derive_groups(model: Any) -> None:
    """Where the categories of a column go if the infrequent ones share a place, which is the last."""
    model._infrequent_enabled = _groups_infrequent(model)
    if model._infrequent_enabled:
        missing = getattr(model, "_missing_indices", {})  # never infrequent, and coded on its own
        model._default_to_infrequent_mappings = [
            _grouped(len(known) - (column in missing), rare)
            for column, (known, rare) in enumerate(zip(model.categories_, model._infrequent_indices, strict=True))
        ]


def _grouped(n_categories: int, rare: Any) -> Any:
    if rare is None:
        return None
    frequent = np.setdiff1d(np.arange(n_categories), rare)
    place = np.full(n_categories, len(frequent), dtype=np.int64)
    place[frequent] = np.arange(len(frequent))
    return place


def _n_after_grouping(model: Any) -> list[int]:
    rare = getattr(model, "_infrequent_indices", None) or [None] * len(model.categories_)
    return [
        len(known) - (0 if few is None else len(few) - 1) for known, few in zip(model.categories_, rare, strict=True)
    ]


def _check_one_hot(model: Any) -> None:
    _check_categories(model)
    require((model.drop_idx_ is None) == (model._drop_idx_after_grouping is None), "has only one kind of drop_idx_")
    if model.drop_idx_ is None:
        require(model.drop is None, "has a drop that it did not apply")
        return
    n_columns, sizes = model.n_features_in_, _n_after_grouping(model)
    check_length(model.drop_idx_, n_columns, "drop_idx_")
    check_length(model._drop_idx_after_grouping, n_columns, "drop_idx_")
    for known, size, raw, grouped in zip(
        model.categories_, sizes, model.drop_idx_, model._drop_idx_after_grouping, strict=True
    ):
        placed = (raw is None) == (grouped is None) and (raw is None or (raw < len(known) and grouped < size))
        require(placed, "has a drop_idx_ of a category that it does not have")


def _derive_one_hot(model: Any) -> None:
    _derive_groups(model)
    dropped = model._drop_idx_after_grouping
    model._n_features_outs = [
        size - (dropped is not None and dropped[k] is not None) for k, size in enumerate(_n_after_grouping(model))
    ]


def _check_ordinal(model: Any) -> None:
    _check_categories(model)
    unknown = model.unknown_value
    known = (unknown is not None) == (model.handle_unknown == "use_encoded_value")
    require(known, "has an unknown_value that does not match handle_unknown")
    rare = getattr(model, "_infrequent_indices", [None] * model.n_features_in_)
    for column, place in model._missing_indices.items():
        there = 0 <= column < model.n_features_in_ and place == len(model.categories_[column]) - 1
        require(there, "has a missing category that it does not have")
        require(rare[column] is None or rare[column][-1] < place, "has a missing category that is infrequent")
        last = model.categories_[column][-1]
        require(isinstance(last, float | np.floating) and last != last, "has a missing category that is not missing")
    odd = [each for each in (unknown, model.encoded_missing_value) if each is not None and each != each]
    require(not odd or np.dtype(model.dtype).kind == "f", "has a code of missing values that its dtype cannot hold")


def _check_target_encoder(model: Any) -> None:
    _check_categories(model)
    several = model.target_type_ == "multiclass"
    require((model.classes_ is None) == (model.target_type_ == "continuous"), "has classes_ of another target")
    n_outputs = len(model.classes_) if several else 1
    require(isinstance(model.target_mean_, np.ndarray) == several, "has a target_mean_ of another target")
    if several:
        check_length(model.target_mean_, n_outputs, "target_mean_")
    require(len(model.encodings_) == n_outputs * model.n_features_in_, "has encodings_ for another number of columns")
    for place, codes in enumerate(model.encodings_):
        check_length(codes, len(model.categories_[place // n_outputs]), "encodings_")


class MeanOrMeans:
    """A number, or several in an array."""

    def pack(self, value: Any, arrays: Any) -> Any:
        return {"each": Floats().pack(value, arrays)} if isinstance(value, np.ndarray) else Number().pack(value, arrays)

    def unpack(self, packed: Any, arrays: Any, where: str) -> Any:
        if isinstance(packed, dict) and set(packed) == {"each"}:
            return Floats().unpack(packed["each"], arrays, where)
        return Number(finite=False).unpack(packed, arrays, where)


def _n_encoded(model: Any, n_columns: int | None) -> int:
    return len(model.encodings_)


# ------------------------------------------------------------------------------------------------------------- bins
def _check_bins(model: Any) -> None:
    n_columns = model.n_features_in_
    check_length(model.bin_edges_, n_columns, "bin_edges_")
    check_length(model.n_bins_, n_columns, "n_bins_")
    for edges, number in zip(model.bin_edges_, model.n_bins_, strict=True):
        require(len(edges) == number + 1, "has an n_bins_ that does not match its bin_edges_")
    require(hasattr(model, "_encoder") == (model.encode != "ordinal"), "has an encode that does not match its encoder")
    if hasattr(model, "_encoder"):
        known = model._encoder.categories_
        same = len(known) == n_columns and all(
            np.array_equal(each, np.arange(number)) for each, number in zip(known, model.n_bins_, strict=True)
        )
        require(same and sum(model._encoder._n_features_outs) == sum(model.n_bins_), "has an encoder of other bins")


def _n_bins(model: Any, n_columns: int | None) -> int | None:
    return n_columns if model.encode == "ordinal" else int(sum(model.n_bins_))


# --------------------------------------------------------------------------------------------------- missing values
def _check_imputer(model: Any) -> None:
    has = model.indicator_ is not None
    require(has == bool(model.add_indicator), "has an indicator_ that does not match add_indicator")
    fits = not has or (model.indicator_._n_features == model.n_features_in_ and model.indicator_._precomputed)
    require(fits, "has an indicator_ of other columns")
    fill = model.statistics_
    known = fill[~_are_gaps(fill)] if not model.keep_empty_features else fill
    try:
        with np.errstate(all="ignore"):
            known.astype(model._fit_dtype)
    except (ValueError, TypeError, OverflowError):
        require(False, "has statistics_ that do not have the type of the columns")


def _derive_imputer(model: Any) -> None:
    model._fill_dtype = model._fit_dtype  # of which scikit-learn 1.6 knows nothing


def _are_gaps(values: Any) -> Any:
    return np.array([isinstance(each, float) and each != each for each in values.tolist()], dtype=bool)


def _n_imputed(model: Any, n_columns: int | None) -> int:
    kept = len(model.statistics_) if model.keep_empty_features else int((~_are_gaps(model.statistics_)).sum())
    return kept + (0 if model.indicator_ is None else len(model.indicator_.features_))


def _check_indicator(model: Any) -> None:
    n_columns = model._n_features
    require(getattr(model, "n_features_in_", n_columns) == n_columns, "has an indicator of other columns")
    names = getattr(model, "feature_names_in_", None)
    require(names is None or len(names) == n_columns, "has an indicator with names of other columns")
    marked = model.features_
    placed = len(marked) == 0 or (marked[0] >= 0 and marked[-1] < n_columns and bool((np.diff(marked) > 0).all()))
    require(placed, "has an indicator of columns that it does not have")


def _n_marked(model: Any, n_columns: int | None) -> int:
    require(not model._precomputed, "has an indicator outside of an imputer that cannot find missing values itself")
    return len(model.features_)


_DTYPE = {"dtype": Type()}
MODELS = [
    ScikitDeclaration(
        OneHotEncoder,
        _CATEGORIES | {"drop_idx_": Maybe(OrNone()), "_drop_idx_after_grouping": Maybe(OrNone())},
        _check_one_hot,
        _INFREQUENT,
        derive=_derive_one_hot,
        parameters=_DTYPE,
        width=lambda model, _: int(sum(model._n_features_outs)),
    ),
    ScikitDeclaration(
        OrdinalEncoder,
        _CATEGORIES | {"_missing_indices": ByColumn(_COUNT)},
        _check_ordinal,
        _INFREQUENT,
        derive=_derive_groups,
        parameters=_DTYPE,
    ),
    ScikitDeclaration(
        TargetEncoder,
        _CATEGORIES
        | {
            "target_type_": Word(("binary", "multiclass", "continuous")),
            "classes_": Maybe(Labels()),
            "target_mean_": MeanOrMeans(),
            "encodings_": Several(Floats()),
        },
        _check_target_encoder,
        derive=_derive_groups,
        width=_n_encoded,
    ),
    ScikitDeclaration(
        KBinsDiscretizer,
        {"bin_edges_": Edges(), "n_bins_": Numbers("int64")},
        _check_bins,
        {"_encoder": Nested("OneHotEncoder")},
        parameters={"dtype": Maybe(Type())},
        width=_n_bins,
    ),
    ScikitDeclaration(
        SimpleImputer,
        {"statistics_": Scalars(), "indicator_": Maybe(Nested("MissingIndicator")), "_fit_dtype": Type()},
        _check_imputer,
        derive=_derive_imputer,
        by_column=("statistics_",),
        width=_n_imputed,
    ),
    ScikitDeclaration(
        MissingIndicator,
        {"features_": Numbers("int64"), "_n_features": Integer(1, MOST_FEATURES), "_precomputed": Truth()},
        _check_indicator,
        {"n_features_in_": Integer(1, MOST_FEATURES), "feature_names_in_": Names()},
        has_columns=False,
        width=_n_marked,
    ),
]
