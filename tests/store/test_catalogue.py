"""The catalogue of saved models leaves no estimator, task or kind of data out."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest
from catalogue import CATALOGUE, fitted
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags

import planewise as pw
from planewise.store.file import KNOWN, declaration
from planewise.table import TableModel
from planewise.table.families import FAMILIES, can_predict


def estimators():
    """Every estimator that a module of the library shows by a public name, whether or not it is exported."""
    found = {}
    for module in pkgutil.walk_packages(pw.__path__, "planewise."):
        if module.name.endswith("__main__") or module.name.startswith("planewise.dask"):  # saved as their namesakes
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            ours = isinstance(value, type) and value.__module__.startswith("planewise.")
            if ours and issubclass(value, BaseEstimator) and callable(getattr(value, "fit", None)):
                found[name] = value
    return {name: cls for name, cls in found.items() if not any(cls in other.__bases__ for other in found.values())}


ESTIMATORS = estimators()


@pytest.fixture(scope="module")
def covered():
    """By estimator: what its saved models were fitted on, and what they tell apart."""
    kinds: dict[str, set[str]] = {name: set() for name in ESTIMATORS}
    for name in CATALOGUE:
        model, X = fitted(name)
        here = kinds[type(model).__name__]
        array = isinstance(X, np.ndarray)
        here.add("array" if array else "frame")
        if isinstance(model, TableModel):
            here.add(f"{model.family} {model.task_}")
            continue
        if (array and np.isnan(X).any()) or (not array and X.isnull().to_numpy().any()):
            here.add("gaps")
        if getattr(model, "categories_", None):
            here.add("categories")
        if is_classifier(model):
            here.add("words" if model.classes_.dtype.kind in "UO" else "numbers")
            here.add("two classes" if len(model.classes_) == 2 else "several classes")
    return kinds


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_task_and_kind_of_data_of_an_estimator_is_saved(name, covered):
    cls = ESTIMATORS[name]
    if cls is TableModel:
        tasks = ("classification", "regression")
        wanted = {f"{family} {task}" for family in FAMILIES for task in tasks if can_predict(family, task)}
        assert wanted <= covered[name]
        return
    wanted = {"array", "frame"}
    if get_tags(cls()).input_tags.allow_nan:
        wanted.add("gaps")
    if "categorical_features" in cls._get_param_names():
        wanted.add("categories")
    if is_classifier(cls()):
        wanted |= {"words", "numbers", "two classes"}
        if get_tags(cls()).classifier_tags.multi_class:
            wanted.add("several classes")
    assert wanted <= covered[name]


def test_every_estimator_can_be_saved_and_nothing_else():
    assert set(KNOWN) == set(ESTIMATORS)
    assert {name: declaration(name).cls for name in KNOWN} == ESTIMATORS
