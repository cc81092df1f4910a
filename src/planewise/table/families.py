"""The families of models, by the short names of the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import planewise

FAMILIES = {
    "tree": "one tree of planes",
    "forest": "a forest of trees of planes",
    "boosting": "boosted trees of planes",
    "kernel": "a kernel machine with few vectors",
    "additive": "an additive model of functions of two columns",
    "recip": "nearest rows in two-feature views",
}
READABLE = ("tree", "additive")  # which a person can read as a whole, the easiest first

MAX_ROWS_SEARCHED = 3000  # up to here the parameters of the machine are cross-validated
MAX_ROWS_REGRESSION_MACHINE = 20_000
MAX_ROWS_RECIP = 20_000  # a model that keeps its rows should not keep more
MAX_ROWS_FOREST_TREE = 100_000  # beyond, a forest would take the time and space of a hundred large trees

ESTIMATORS = {
    "tree": ("SLMClassifier", "SLMRegressor"),
    "forest": ("SLMForestClassifier", "SLMForestRegressor"),
    "boosting": ("SLMBoostClassifier", "SLMBoostRegressor", "SLMBoostRanker"),
    "kernel": ("MCMClassifier", "MCMRegressor", "MCMClassifierCV", "MCMRegressorCV", "LargeScaleMCMClassifier"),
    "additive": ("AdditiveClassifier", "AdditiveRegressor"),
    "recip": ("RECIPClassifier",),
}
_PREFIXES = {
    "tree": "SLM",
    "forest": "SLMForest",
    "boosting": "SLMBoost",
    "kernel": "MCM",
    "additive": "Additive",
    "recip": "RECIP",
}


def for_many_rows(family: str, settings: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """The settings for a table of so many rows: in a large one, each tree of a forest draws its own sample."""
    own = {"bootstrap", "max_samples"} & set(settings)
    if family != "forest" or own or n_rows <= MAX_ROWS_FOREST_TREE:
        return dict(settings)
    return {**settings, "bootstrap": True, "max_samples": MAX_ROWS_FOREST_TREE}


def max_rows(family: str, task: str) -> int | None:
    """The maximum number of rows to fit a family on, which keeps its rows or compares all pairs; None: no limit."""
    if family == "recip":
        return MAX_ROWS_RECIP
    return MAX_ROWS_REGRESSION_MACHINE if family == "kernel" and task == "regression" else None


def can_predict(family: str, task: str) -> bool:
    """Return whether a family has an estimator for the task: RECIP predicts classes only."""
    return family != "recip" or task == "classification"


def max_columns(family: str) -> int | None:
    """The maximum number of columns to fit a family on with its default parameters; None: no limit."""
    from planewise.additive.base import MOST_COLUMNS

    return MOST_COLUMNS if family == "additive" else None


def estimator_name(family: str, task: str, n_rows: int) -> str:
    """The name of the estimator for a table of so many rows."""
    if not can_predict(family, task):
        raise ValueError(f'The family {family!r} predicts classes only; for numbers use "additive" or another family.')
    kind = "Classifier" if task == "classification" else "Regressor"
    if family == "kernel" and n_rows <= MAX_ROWS_SEARCHED:
        return f"MCM{kind}CV"
    if family == "kernel" and kind == "Classifier":
        return "LargeScaleMCMClassifier"
    return _PREFIXES[family] + kind


def estimator_class(family: str, task: str, n_rows: int) -> type:
    """The estimator for a table of so many rows."""
    cls: type = getattr(planewise, estimator_name(family, task, n_rows))
    return cls


def family_of(estimator: Any) -> str | None:
    """Return the family of a fitted estimator or of one derived from it, such as those of planewise.dask."""
    names = [cls.__name__ for cls in type(estimator).__mro__]
    return next((family for family, known in ESTIMATORS.items() if not set(known).isdisjoint(names)), None)


def read_setting(cls: type, name: str, text: str) -> Any:
    """The value that "name=text" means for this estimator, by the limits of its parameter."""
    known = cls._get_param_names()  # type: ignore[attr-defined]
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise ValueError(f"{cls.__name__} has no parameter {name!r}{hint}")
    limit = cls.parameter_limits.get(name)  # type: ignore[attr-defined]
    readings = _readings(name, text)
    if limit is None:
        return readings[0]
    for value in readings:
        if not callable(value) and limit.allows(value):
            return value
    raise ValueError(f"The parameter {name!r} of {cls.__name__} must be {limit.words}; got {text!r}.")


def _readings(name: str, text: str) -> list[Any]:
    """The values that the text may mean, the likeliest first; with commas, or where nothing else fits, a list.

    In brackets it is a JSON list, which may hold other lists; in braces a JSON dict.
    """
    if text.strip().startswith(("[", "{")):
        try:
            return [json.loads(text)]
        except ValueError as error:
            kind = "list" if text.strip().startswith("[") else "dict"
            raise ValueError(
                f"The value of {name!r}, {text!r}, starts like a JSON {kind} but is not one: {error}."
            ) from None
    parts = [_of_one(part)[0] for part in text.split(",") if part.strip()]
    return [parts, text.strip()] if "," in text else [*_of_one(text), parts]


def _of_one(text: str) -> list[Any]:
    word = text.strip()
    found: list[Any] = []
    simple = {"none": None, "true": True, "false": False}
    if word.lower() in simple:
        found.append(simple[word.lower()])
    for kind in (int, float):
        try:
            found.append(kind(word))
        except ValueError:
            continue
    return [*found, word]
