"""The families of models, by the short names of the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import planewise

FAMILIES = ("slm", "forest", "boost", "mcm", "recip")
IN_WORDS = {
    "slm": "one tree of planes",
    "forest": "a forest of trees of planes",
    "boost": "boosted trees of planes",
    "mcm": "a kernel machine with few vectors",
    "recip": "the few views in which rows are decided",
}
TAKE_GAPS = ("slm", "forest", "boost", "recip")  # and categories, as they are

MOST_ROWS_SEARCHED = 3000  # by cross-validation over the machine's parameters
MOST_ROWS_OF_A_REGRESSION_MACHINE = 20_000
MOST_ROWS_OF_VIEWS = 20_000  # beyond, a model that keeps its rows is not what auto looks for
MOST_ROWS_OF_A_TREE_OF_MANY = 100_000  # beyond, a forest would take the time of a hundred trees and as much space


def for_many_rows(family: str, settings: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """The settings a command fits so many rows with: above a limit every tree of a forest draws its own sample."""
    own = {"bootstrap", "max_samples"} & set(settings)
    if family != "forest" or own or n_rows <= MOST_ROWS_OF_A_TREE_OF_MANY:
        return dict(settings)
    return {**settings, "bootstrap": True, "max_samples": MOST_ROWS_OF_A_TREE_OF_MANY}


def most_rows(family: str, task: str) -> int | None:
    """How many rows a command fits the family on, if it is not all: what keeps its rows, or compares all pairs."""
    if family == "recip":
        return MOST_ROWS_OF_VIEWS
    return MOST_ROWS_OF_A_REGRESSION_MACHINE if family == "mcm" and task == "regression" else None


def estimator_name(family: str, task: str, n_rows: int) -> str:
    """What the estimator for a table of so many rows is called."""
    kind = "Classifier" if task == "classification" else "Regressor"
    if family == "mcm" and kind == "Classifier":
        return "MCMClassifierCV" if n_rows <= MOST_ROWS_SEARCHED else "LargeScaleMCMClassifier"
    return {"slm": "SLM", "forest": "SLMForest", "boost": "SLMBoost", "mcm": "MCM", "recip": "RECIP"}[family] + kind


def estimator_class(family: str, task: str, n_rows: int) -> type:
    """The estimator for a table of so many rows."""
    cls: type = getattr(planewise, estimator_name(family, task, n_rows))
    return cls


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
    """What the text may mean, the likeliest first; with commas, or where nothing else will do, a list.

    In brackets it is a list as JSON writes it, which may hold others.
    """
    if text.strip().startswith("["):
        try:
            return [json.loads(text)]
        except ValueError as error:
            raise ValueError(f"The value of {name!r}, {text!r}, begins as a JSON list but is none: {error}.") from None
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
