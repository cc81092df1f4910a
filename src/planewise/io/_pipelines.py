"""Declarations of scikit-learn's compositions: pipelines, transformers of columns, unions, and transformed targets."""

from __future__ import annotations

from string import Formatter
from typing import Any

from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline

from planewise.io._errors import require
from planewise.io._kinds import Integer, Maybe, Names, Plain, Truth
from planewise.io._nested import Member, Steps
from planewise.io._scikit import ScikitDeclaration, columns_in, columns_out
from planewise.io._scikit_kinds import Function, Scalars, Weights, selected
from planewise.io._transformers import FUNCTIONS

MOST_LETTERS = 1_000  # of a pattern of names
_PASSED = ("passthrough", None)
_PASSED_OR_DROPPED = ("passthrough", "drop")


def _transforms(member: Any) -> bool:
    return member is None or isinstance(member, str) or hasattr(member, "transform")


# -------------------------------------------------------------------------------------------------------- pipelines
def _check_names(model: Any, steps: Any) -> None:
    reserved = set(model.get_params(deep=False))
    require(not any(each[0] in reserved for each in steps), "has a step with the name of a parameter")


def _check_pipeline(model: Any) -> None:
    steps = model.steps
    require(len(steps) >= 1, "has a Pipeline without steps")
    _check_names(model, steps)
    require(all(_transforms(each) for _, each in steps[:-1]), "has a Pipeline with a step that cannot transform")
    require(model.transform_input is None or _are_words(model.transform_input), "has a transform_input that is no list")
    at = columns_in(model)
    for _, each in steps[:-1]:
        at = columns_out(each, at)
    last = steps[-1][1]
    if not (last is None or isinstance(last, str)):
        taken = columns_in(last)
        fits = taken is None or at is None or taken == at
        require(fits, f"has a {type(last).__name__} that takes another number of columns than it gets")


def _are_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _pipeline_width(model: Any, n_columns: int | None) -> int | None:
    at = n_columns
    for _, each in model.steps:
        at = columns_out(each, at)
    return at


# ----------------------------------------------------------------------------------------------------------- unions
def _check_union(model: Any) -> None:
    _check_names(model, model.transformer_list)
    require(all(_transforms(each) for _, each in model.transformer_list), "has a FeatureUnion that cannot transform")
    _union_width(model, columns_in(model))


def _union_width(model: Any, n_columns: int | None) -> int | None:
    made = [columns_out(each, n_columns) for _, each in model.transformer_list if each != "drop"]
    return None if None in made else sum(each for each in made if each is not None)


# ---------------------------------------------------------------------------------------------- columns of a table
def _columns_resolved(model: Any) -> dict[str, Any]:
    """The parameters; where a function chose columns, those that it chose."""
    parameters: dict[str, Any] = model.get_params(deep=False)
    if hasattr(model, "_columns"):
        parameters["transformers"] = [
            (name, each, chosen if callable(columns) else columns)
            for (name, each, columns), chosen in zip(model.transformers, model._columns, strict=True)
        ]
    return parameters


def _check_pattern(pattern: Any) -> None:
    """A pattern of names is filled in by `str.format`, which can be told to make a name of any length."""
    if not isinstance(pattern, str):
        return
    try:
        fields = list(Formatter().parse(pattern))
    except ValueError:
        fields = [("", "", "", "")]
    known = (None, "feature_name", "transformer_name")
    plain = all(name in known and not form and not how for _, name, form, how in fields)
    require(plain and len(pattern) <= MOST_LETTERS, "has an odd pattern of names of columns")


def _check_columns(model: Any) -> None:
    names = model.feature_names_in_.tolist() if hasattr(model, "feature_names_in_") else None
    given, fitted = [each[0] for each in model.transformers], [each[0] for each in model.transformers_]
    require(fitted in (given, [*given, "remainder"]), "has transformers_ that do not match its transformers")
    require("remainder" not in given, "has a transformer with the name of the remainder")
    _check_pattern(model.verbose_feature_names_out)
    for name, each, columns in model.transformers_:
        chosen = selected(columns, names, model.n_features_in_)
        require(_transforms(each), "has a ColumnTransformer with a part that cannot transform")
        if each == "drop" or not chosen:
            continue
        require(each != "passthrough", f"has a part {name[:40]!r} that is not fitted")
        require(not isinstance(columns, str | int), "selects one column where it needs a table")
        _check_part(each, chosen, names)
        columns_out(each, len(chosen))


def _check_part(part: Any, chosen: list[int], names: list[str] | None) -> None:
    """The names that a part knows must be those of its columns."""
    known = getattr(part, "feature_names_in_", None)
    if known is not None and names is not None:
        require(known.tolist() == [names[place] for place in chosen], "has a part whose columns have other names")


def _derive_columns(model: Any) -> None:
    names = model.feature_names_in_.tolist() if hasattr(model, "feature_names_in_") else None
    n_given = len(model.transformers)
    remaining = model.transformers_[n_given][2] if len(model.transformers_) > n_given else []
    model._columns = [columns for _, _, columns in model.transformers_[:n_given]]
    model._remainder = ("remainder", model.remainder, remaining)
    places = {name: selected(columns, names, model.n_features_in_) for name, _, columns in model.transformers_}
    model._transformer_to_input_indices = places | {"remainder": places.get("remainder", [])}
    at, made = 0, {}
    for name, each, _ in model.transformers_:
        if each == "drop" or not places[name]:
            continue
        width = columns_out(each, len(places[name]))
        require(width is not None, "has a part that makes an unknown number of columns")
        assert width is not None
        made[name] = slice(at, at + width)
        at += width
    model.output_indices_ = made | {
        name: slice(0, 0) for name in [*(name for name, _, _ in model.transformers), "remainder"] if name not in made
    }


def _columns_width(model: Any, n_columns: int | None) -> int:
    return max(each.stop for each in model.output_indices_.values())


# ----------------------------------------------------------------------------------------------- transformed targets
def _check_target(model: Any) -> None:
    require(hasattr(model.regressor_, "predict"), "has a regressor_ that does not predict")
    require(not hasattr(model.regressor_, "classes_"), "has a regressor_ that predicts classes")
    require(hasattr(model.transformer_, "inverse_transform"), "has a transformer_ without an inverse")
    n_targets = getattr(model.regressor_, "n_outputs_", 1)
    require(n_targets == 1 or model._training_dim == 2, "has targets of another shape")
    require(columns_in(model.transformer_) in (None, n_targets), "has a transformer_ of another number of targets")


_WEIGHTS = Maybe(Weights())
MODELS = [
    ScikitDeclaration(
        Pipeline,
        {},
        _check_pipeline,
        reset={"memory": None},
        parameters={"steps": Steps(True, _PASSED)},
        width=_pipeline_width,
        has_columns=False,
    ),
    ScikitDeclaration(
        FeatureUnion,
        {},
        _check_union,
        reset={"n_jobs": None},
        parameters={
            "transformer_list": Steps(True, _PASSED_OR_DROPPED),
            "transformer_weights": _WEIGHTS,
            "verbose": Truth(),
            "verbose_feature_names_out": Truth(),
        },
        width=_union_width,
        has_columns=False,
    ),
    ScikitDeclaration(
        ColumnTransformer,
        {"transformers_": Steps(True, _PASSED_OR_DROPPED, with_columns=True), "sparse_output_": Truth()},
        _check_columns,
        {"_transformers_feature_names_out": Scalars()},
        derive=_derive_columns,
        reset={"n_jobs": None},
        parameters={
            "transformers": Steps(False, _PASSED_OR_DROPPED, with_columns=True),
            "remainder": Member(False, _PASSED_OR_DROPPED),
            "transformer_weights": _WEIGHTS,
            "verbose_feature_names_out": Plain((bool, str)),
        },
        width=_columns_width,
        own_parameters=_columns_resolved,
    ),
    ScikitDeclaration(
        TransformedTargetRegressor,
        {"regressor_": Member(), "transformer_": Member(), "_training_dim": Integer(1, 2)},
        _check_target,
        {"feature_names_in_": Names()},
        parameters={
            "regressor": Member(False),
            "transformer": Member(False, (None,)),
            "func": Maybe(Function(FUNCTIONS)),
            "inverse_func": Maybe(Function(FUNCTIONS)),
        },
        has_columns=False,
    ),
]
