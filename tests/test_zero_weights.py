"""A weight of zero leaves the row out, and with its last row the class: one rule for every classifier."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from planewise import (
    ConformalKernel,
    DiscriminantFeatureTest,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMClassifier,
    SLMForestClassifier,
)

CLASSIFIERS = {
    "tree": lambda **how: SLMClassifier(random_state=0, **how),
    "forest": lambda **how: SLMForestClassifier(n_estimators=3, random_state=0, **how),
    "boosting": lambda **how: SLMBoostClassifier(n_estimators=3, random_state=0, **how),
    "machine": lambda **how: MCMClassifier(probability=True, random_state=0, **how),
    "search": lambda **how: MCMClassifierCV([100.0], [1.0], [0.2], cv=2, n_repeats=1, random_state=0, **how),
    "large machine": lambda **how: LargeScaleMCMClassifier(n_components=16, random_state=0, **how),
    "views": lambda **how: RECIPClassifier(random_state=0, **how),
}
WITH_CLASS_WEIGHT = [name for name in CLASSIFIERS if name != "views"]
TAKES_ONE_CLASS = {"tree", "forest", "boosting", "large machine"}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["here", "left out", "there"])[y]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_without_weight_is_as_if_it_had_no_rows(name, iris):
    X, y = iris
    counts = y != "left out"
    weighted = CLASSIFIERS[name]().fit(X, y, sample_weight=counts.astype(float))
    without = CLASSIFIERS[name]().fit(X[counts], y[counts])
    assert weighted.classes_.tolist() == ["here", "there"]
    assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
def test_a_class_weight_of_zero_leaves_the_class_out(name, iris):
    X, y = iris
    counts = y != "left out"
    weights = {"here": 1.0, "left out": 0.0, "there": 1.0}
    weighted = CLASSIFIERS[name](class_weight=weights).fit(X, y)
    without = CLASSIFIERS[name]().fit(X[counts], y[counts])
    assert weighted.classes_.tolist() == ["here", "there"]
    assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
def test_classes_are_balanced_by_the_rows_that_count(name, iris):
    X, y = iris
    counts = np.ones(len(y), dtype=bool)
    counts[:35] = False  # most of the first class
    weighted = CLASSIFIERS[name](class_weight="balanced").fit(X, y, sample_weight=counts.astype(float))
    without = CLASSIFIERS[name](class_weight="balanced").fit(X[counts], y[counts])
    assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_that_counts_is_one_class(name, iris):
    X, y = iris
    weight = (y == "there").astype(float)
    if name in TAKES_ONE_CLASS:
        model = CLASSIFIERS[name]().fit(X, y, sample_weight=weight)
        assert model.classes_.tolist() == ["there"]
        assert set(model.predict(X)) == {"there"}
    else:
        with pytest.raises(ValueError, match=r"at least two classes; there is only one class .* count: 'there'"):
            CLASSIFIERS[name]().fit(X, y, sample_weight=weight)


def test_a_kernel_and_a_feature_test_know_only_classes_that_count(iris):
    X, y = iris
    counts = y != "left out"
    weight = counts.astype(float)
    kernel = ConformalKernel().fit(X, y, sample_weight=weight)
    assert kernel.classes_.tolist() == ["here", "there"]
    weighted = DiscriminantFeatureTest().fit(X, y, sample_weight=weight)
    assert_array_equal(weighted.scores_, DiscriminantFeatureTest().fit(X[counts], y[counts]).scores_)


def test_rounds_are_added_to_boosting_of_the_classes_that_count(iris):
    X, y = iris
    counts = y != "left out"
    boost = SLMBoostClassifier(n_estimators=2, warm_start=True, random_state=0).fit(X[counts], y[counts])
    boost.set_params(n_estimators=4).fit(X, y, sample_weight=counts.astype(float))
    assert boost.n_iter_ == 4
