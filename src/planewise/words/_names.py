"""Names of features and classes: the user's own, or x0, x1, ..."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planewise.words._letters import tidy


def feature_names(estimator: Any, given: Sequence[Any] | None = None, X: Any = None) -> list[str]:
    """Names of the columns: those given, those the estimator or the table knows, or x0, x1, ..."""
    n_features = _n_features(estimator, X)
    if given is not None:
        names = [str(name) for name in given]
        if n_features is not None and len(names) != n_features:
            raise ValueError(f"feature_names has {len(names)} names for {n_features} features; give one per feature.")
        return names
    known = getattr(estimator, "feature_names_in_", None)
    if known is None and X is not None:
        known = getattr(X, "columns", None)
    if known is not None:
        return [str(name) for name in known]
    if n_features is None:
        raise ValueError("The number of features is not known; pass feature_names.")
    return [f"x{place}" for place in range(n_features)]


def _n_features(estimator: Any, X: Any) -> int | None:
    found = getattr(estimator, "n_features_in_", None)
    if found is None and X is not None:
        found = np.shape(X)[1]
    return None if found is None else int(found)


def categories_of(estimator: Any) -> Mapping[int, Sequence[Any]]:
    """The categories of the estimator's categorical columns, by column."""
    known = getattr(estimator, "categories_", None)
    return known if isinstance(known, dict) else {}  # an encoder's are a list


def find_feature(feature: Any, names: Sequence[str]) -> int:
    """The place of a feature that is given by name or place."""
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool):
        if not -len(names) <= feature < len(names):
            raise ValueError(f"There is no feature number {feature}; the last one is {len(names) - 1}.")
        return int(feature) % len(names)
    if str(feature) not in names:
        raise ValueError(f"There is no feature named {feature!r}; the names are {', '.join(map(repr, names[:8]))}...")
    return list(names).index(str(feature))


def with_unit(name: str, units: Mapping[str, str] | None) -> str:
    """The name of an axis: "length (cm)" where `units` has {"length": "cm"}."""
    return f"{name} ({units[name]})" if units and name in units else name


def class_names(classes: Sequence[Any], given: Sequence[Any] | Mapping[Any, Any] | None = None) -> list[str]:
    """Names of the classes: as in a mapping {label: name}, in the order of ``classes_``, or the labels themselves."""
    if given is None:
        return [tidy(label) for label in classes]
    if isinstance(given, Mapping):
        missing = [label for label in classes if label not in given]
        if missing:
            raise ValueError(f"class_names has no name for the class {missing[0]!r}.")
        return [tidy(given[label]) for label in classes]
    if len(given) != len(classes):
        raise ValueError(f"class_names has {len(given)} names for {len(classes)} classes; give one per class.")
    return [tidy(name) for name in given]
