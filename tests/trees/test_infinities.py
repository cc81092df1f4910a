"""Infinities are values beyond all numbers: in fit, prediction and explanations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from planewise import (
    DiscriminantFeatureTest,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    load,
    save,
)
from planewise.export import to_text

CLASSIFIERS = {
    "tree": SLMClassifier(random_state=0),
    "forest": SLMForestClassifier(n_estimators=5, random_state=0),
    "boosting": SLMBoostClassifier(n_estimators=10, random_state=0),
}
REGRESSORS = {
    "tree": SLMRegressor(random_state=0),
    "forest": SLMForestRegressor(n_estimators=5, random_state=0),
    "boosting": SLMBoostRegressor(n_estimators=10, random_state=0),
}
FLOATS = [-np.inf, -1e30, -2.5, -1.0, 0.0, 0.5, 3.0, 1e30, np.inf, np.nan]


def oblique(n=400, seed=0):
    """Classes on both sides of an oblique plane, some values infinite in either direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] - X[:, 2] > 0).astype(int)
    for column, value in ((0, np.inf), (1, -np.inf), (2, np.inf), (2, -np.inf), (3, np.nan)):
        X[rng.choice(n, n // 12, replace=False), column] = value
    return X, y


@pytest.mark.parametrize("bins", ["uniform", "robust", "quantile"])
@pytest.mark.parametrize("refine", [True, False])
def test_infinite_values_are_told_apart_from_all_numbers(bins, refine):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    kind = rng.integers(0, 3, 300)
    X = np.where(kind == 0, x, np.where(kind == 1, np.inf, -np.inf))[:, None]
    tree = SLMClassifier(bins=bins, refine_thresholds=refine, random_state=0).fit(X, kind)
    assert tree.score(X, kind) == 1
    assert_array_equal(tree.predict([[-3e38], [3e38], [np.inf], [1e300], [-1e300]]), [0, 0, 1, 1, 2])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_column_of_one_number_and_infinity_is_split(name):
    X = np.where(np.arange(200) % 4 == 0, np.inf, 7.0)[:, None]
    y = np.isinf(X[:, 0]).astype(int)
    assert CLASSIFIERS[name].fit(X, y).score(X, y) == 1
    assert CLASSIFIERS[name].fit(-X, y).score(-X, y) == 1
    X[1] = np.nan
    assert CLASSIFIERS[name].fit(X, y).score(X[2:], y[2:]) == 1


def test_columns_of_infinities_only_are_constant_or_split():
    X = np.full((100, 2), np.inf)
    y = np.arange(100) % 2
    assert SLMClassifier(random_state=0).fit(X, y).n_planes_ == 0
    X[:, 1] = np.where(y, np.inf, -np.inf)
    assert SLMClassifier(random_state=0).fit(X, y).score(X, y) == 1


def test_an_infinity_changes_nothing_for_the_rest_of_its_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 1))
    y = (X[:, 0] > 0.3).astype(int)
    X[:3] = [[np.inf], [-np.inf], [1e300]]
    y[:3] = [1, 0, 1]
    tree = SLMClassifier(random_state=0).fit(X, y)
    assert_array_equal(tree.predict(X), y)
    assert abs(tree.tree_.threshold[0] / tree.tree_.term_weight[0] - 0.3) < 0.05
    boosting = SLMBoostRegressor(n_estimators=5, random_state=0).fit(X, y)
    assert np.isfinite(boosting.feature_means_).all()


@pytest.mark.parametrize("name", REGRESSORS)
def test_arrays_and_frames_are_read_alike(name):
    X, y = oblique()
    target = y + np.nan_to_num(X[:, 3])
    columns = dict(zip("abcd", X.T, strict=True))
    model = REGRESSORS[name]
    expected = model.fit(X, target).predict(X)
    assert np.isfinite(expected).all()
    assert_array_equal(model.fit(X.astype(np.float32), target).predict(X.astype(np.float32)), expected)
    for make in (pd.DataFrame, pl.DataFrame):
        assert_array_equal(model.fit(make(columns), target).predict(make(columns)), expected)


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.sampled_from(FLOATS)] * 3), min_size=8, max_size=40), st.integers(0, 99))
def test_fit_and_every_way_to_predict_agree_on_the_side_of_each_row(rows, seed):
    X = np.array(rows)
    y = np.random.default_rng(seed).integers(0, 2, len(X))
    tree = SLMClassifier(random_state=0, min_samples_leaf=1, noise_margin=0).fit(X, y)
    leaves = tree.apply(X)
    trees = tree.tree_
    for leaf in np.unique(leaves):
        here = leaves == leaf
        if trees.is_leaf[leaf]:
            assert here.sum() == trees.n_samples[leaf]
    # One row at a time, and by the path that explanations follow.
    assert_array_equal(np.concatenate([tree.apply(X[k : k + 1]) for k in range(len(X))]), leaves)
    assert [path.node for path in tree.explain(X)] == leaves.tolist()
    forest = SLMForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert_allclose(
        forest.predict_proba(X), np.concatenate([forest.predict_proba(X[k : k + 1]) for k in range(len(X))]), rtol=1e-6
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_infinities_go_through_files_explanations_and_contributions(name, tmp_path):
    X, y = oblique()
    model = CLASSIFIERS[name].fit(X, y)
    assert model.score(X, y) > 0.8
    save(model, tmp_path / "model.planewise")
    assert_array_equal(load(tmp_path / "model.planewise").predict_proba(X), model.predict_proba(X))
    assert all(reason.to_text() for reason in model.explain(X[:20]))
    if hasattr(model, "predict_contributions"):
        parts = model.predict_contributions(X)
        assert np.isfinite(parts).all()


def test_words_name_infinities():
    X = np.where(np.arange(200) % 4 == 0, np.inf, 7.0)[:, None]
    y = np.isinf(X[:, 0]).astype(int)
    words = to_text(SLMClassifier(random_state=0).fit(X, y))
    assert "x0 ≥ ∞" in words or "x0 < ∞" in words
    words = to_text(SLMClassifier(random_state=0).fit(-X, y))
    assert "x0 > −∞" in words


def test_the_feature_test_takes_infinities():
    X, y = oblique()
    found = DiscriminantFeatureTest(n_features_to_select=2).fit(X, y)
    assert np.isfinite(found.scores_).all()
    assert found.transform(X).shape == (len(X), 2)
