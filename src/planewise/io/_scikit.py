"""What a file needs to know of scikit-learn's estimators, and how wide the tables are that they take and make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np

from planewise.io._declaration import COMMON, Declaration, check_length, check_names
from planewise.io._errors import require
from planewise.io._kinds import MOST_FEATURES, Kind, Names, Plain
from planewise.io._nested import Member, Steps

# The defaults of parameters that scikit-learn is about to remove or to change.
NOT_SET = ("deprecated", "warn")


def _as_many(model: Any, n_columns: int | None) -> int | None:
    return n_columns


def _own_parameters(model: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = model.get_params(deep=False)
    return parameters


@dataclass(frozen=True)
class ScikitDeclaration(Declaration):
    """How an estimator of scikit-learn is kept.

    Parameters
    ----------
    parameters : dict of kinds
        Its parameters that are not plain values.
    width : function of the estimator and the number of columns it gets
        How many columns it makes; None if the number that it gets is not known.
    by_column : tuple of str
        Attributes that have one value per column, or are None.
    has_columns : bool
        Whether it knows the columns it was fitted on; otherwise the estimators in it do.
    own_parameters : function of the estimator
        Its parameters as they are kept.
    """

    parameters: Mapping[str, Kind] = field(default_factory=dict)
    width: Callable[[Any, int | None], int | None] = _as_many
    by_column: tuple[str, ...] = ()
    has_columns: bool = True
    own_parameters: Callable[[Any], dict[str, Any]] = _own_parameters

    @property
    def required_kinds(self) -> dict[str, Kind]:
        """By name, those that must be there."""
        return (COMMON if self.has_columns else {}) | dict(self.fitted)

    @property
    def kinds(self) -> dict[str, Kind]:
        """By name, all there can be."""
        names: dict[str, Kind] = {"feature_names_in_": Names()} if self.has_columns else {}
        return self.required_kinds | names | dict(self.optional)

    def parameter_kind(self, parameter: str, fitted: bool) -> Kind:
        """How a parameter is kept in a fitted or an unfitted estimator."""
        kind = self.parameters.get(parameter, Plain())
        return replace(kind, fitted=kind.fitted and fitted) if isinstance(kind, Member | Steps) else kind

    def parameters_of(self, model: Any) -> dict[str, Any]:
        """The parameters to keep: all but those left at a default that a later version of scikit-learn may not know."""
        defaults = {name: each.default for name, each in signature(type(model)).parameters.items()}
        unset = {name for name, default in defaults.items() if isinstance(default, str) and default in NOT_SET}
        return {
            name: value
            for name, value in self.own_parameters(model).items()
            if not (name in unset and isinstance(value, str) and value == defaults[name])
        }

    def check_parameters(self, model: Any) -> None:
        """As scikit-learn does when it fits."""
        if hasattr(model, "_parameter_constraints"):  # a FeatureUnion has none
            model._validate_params()

    def check_all(self, model: Any) -> None:
        """A `ModelFileError` unless the attributes fit each other."""
        if self.has_columns:
            check_names(model)
        for attribute in self.by_column:
            value = getattr(model, attribute)
            if isinstance(value, np.ndarray):
                check_length(value, model.n_features_in_, attribute)
        self.check(model)


def columns_in(model: Any) -> int | None:
    """How many columns an estimator takes; None if any number."""
    inner = getattr(model, "steps", getattr(model, "transformer_list", None))
    if inner is not None:
        known = [columns_in(each) for _, each in inner if not (each is None or isinstance(each, str))]
        return next((number for number in known if number is not None), None)
    number: int | None = getattr(model, "_n_features", getattr(model, "n_features_in_", None))
    return number


def columns_out(model: Any, n_columns: int | None) -> int | None:
    """How many columns a fitted transformer makes of so many; an error if it takes another number."""
    from planewise.io._models import declaration

    if model is None or model == "passthrough":
        return n_columns
    taken = columns_in(model)
    require(
        taken is None or n_columns is None or taken == n_columns,
        f"has a {type(model).__name__} that takes another number of columns than it gets",
    )
    declared = declaration(type(model).__name__)
    if not isinstance(declared, ScikitDeclaration):
        return int(model.get_support().sum()) if hasattr(model, "get_support") else None
    made = declared.width(model, taken if n_columns is None else n_columns)
    require(made is None or 0 <= made <= MOST_FEATURES, f"has a {declared.name} that makes too many columns")
    return made
