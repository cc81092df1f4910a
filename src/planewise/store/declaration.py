"""What a file needs to know of an estimator: one short declaration each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from planewise.store.errors import require
from planewise.store.kinds import MOST_FEATURES, ByColumn, Categories, Integer, Kind, Names, Number

COMMON: dict[str, Kind] = {"n_features_in_": Integer(1, MOST_FEATURES)}
OPTIONAL: dict[str, Kind] = {"feature_names_in_": Names()}
# What an estimator that reads data frames knows of its columns; and one that reads them as float32.
CATEGORIES: dict[str, Kind] = {"categories_": Categories()}
ORIGINS: dict[str, Kind] = CATEGORIES | {"feature_origins_": ByColumn(Number())}


def _nothing(model: Any) -> None:
    pass


@dataclass(frozen=True)
class Declaration:
    """How an estimator is kept.

    Parameters
    ----------
    cls : type
        The estimator.
    fitted, optional : dicts of kinds
        Its fitted attributes: those always there, and those that need not be.
    check : function of the estimator
        Raises a `ModelFileError` where attributes do not fit each other, above all where native code relies on them;
        called when everything of the file is in place.
    derive : function of the estimator
        Sets the attributes that follow from others; called last.
    """

    cls: type
    fitted: Mapping[str, Kind]
    check: Callable[[Any], None]
    optional: Mapping[str, Kind] = field(default_factory=dict)
    derive: Callable[[Any], None] = _nothing

    @property
    def name(self) -> str:
        """The estimator's name, by which files call it."""
        return self.cls.__name__

    @property
    def required_kinds(self) -> dict[str, Kind]:
        """By name, those that must be there."""
        return COMMON | dict(self.fitted)

    @property
    def kinds(self) -> dict[str, Kind]:
        """By name, all there can be."""
        return self.required_kinds | OPTIONAL | dict(self.optional)


def check_columns(model: Any) -> None:
    """Names and categories of columns against their number."""
    names, n_features = getattr(model, "feature_names_in_", None), model.n_features_in_
    fits = names is None or len(names) == n_features
    require(fits, "has column names that do not match its number of columns")
    for column in getattr(model, "categories_", {}):
        require(0 <= column < n_features, "has categories of a column that the model does not have")
    for column in getattr(model, "feature_origins_", {}):
        known = 0 <= column < n_features and column not in getattr(model, "categories_", {})
        require(known, "has an origin of a column that the model does not have, or that is categorical")


def check_length(array: Any, expected: int | tuple[int, ...], where: str) -> None:
    """An error unless the array has that shape."""
    shape = (expected,) if isinstance(expected, int) else expected
    require(array.shape == shape, f"has a {where} of shape {array.shape}, which should be {shape}")
