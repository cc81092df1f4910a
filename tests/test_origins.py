"""Columns that float32 cannot resolve are read from an origin of their own."""

from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

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
from planewise.data.float32 import find_origins
from planewise.export import to_text
from planewise.plot import PartitionDisplay, TreeDisplay
from planewise.report import report
from planewise.table import TableModel

CLASSIFIERS = {
    "tree": SLMClassifier(random_state=0),
    "forest": SLMForestClassifier(n_estimators=5, random_state=0),
    "boosting": SLMBoostClassifier(n_estimators=10, random_state=0),
}
EVERY = CLASSIFIERS | {
    "tree of numbers": SLMRegressor(random_state=0),
    "forest of numbers": SLMForestRegressor(n_estimators=5, random_state=0),
    "boosting of numbers": SLMBoostRegressor(n_estimators=10, random_state=0),
}
START = 1_700_000_000


@pytest.fixture(scope="module")
def times():
    """Seconds over ten minutes, in four parts that belong to two classes by turns."""
    second = np.random.default_rng(0).permutation(1200) % 600
    return second, second // 150 % 2


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_seconds_since_1970_over_ten_minutes_are_resolved(name, times):
    second, y = times
    X = np.column_stack([START + second, np.random.default_rng(1).normal(size=len(second))])
    model = CLASSIFIERS[name].fit(X, y)
    assert model.feature_origins_ == {0: START}
    assert model.score(X, y) == 1


@settings(max_examples=25)
@given(
    st.sampled_from(list(EVERY)),
    st.sampled_from([1.7e9, -1.7e9, 2.0**52, -(2.0**50), 1.6e12]),
    st.integers(1, 50),
    st.integers(0, 999),
)
def test_adding_a_constant_to_a_column_changes_no_prediction(name, constant, most, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, most + 1, 60), rng.normal(size=60)]).astype(np.float64)
    X[0, 0] = 0
    y = (X[:, 0] + rng.integers(0, 2, 60) > most / 2).astype(int)
    model = EVERY[name]
    expected = model.fit(X, y).predict(X)
    shifted = X + np.array([constant, 0])
    found = model.fit(shifted, y)
    assert_array_equal(found.predict(shifted), expected)
    whole = pd.DataFrame({"a": shifted[:, 0].astype(np.int64), "b": X[:, 1]})
    assert_array_equal(model.fit(whole, y).predict(whole), expected)


@settings(max_examples=50)
@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30), st.randoms())
def test_neither_the_order_nor_the_number_of_equal_rows_matters(values, shuffle):
    column = np.array(values, dtype=np.int64)[:, None]
    again = values + values[: len(values) // 2]
    shuffle.shuffle(again)
    assert find_origins(column) == find_origins(np.array(again, dtype=np.int64)[:, None])
    as_float = column.astype(np.float64)
    assert find_origins(as_float) == find_origins(np.array(again, dtype=np.float64)[:, None])


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).normal(size=5000),
        np.random.default_rng(0).normal(300, 3, size=5000),  # kelvin
        np.random.default_rng(0).uniform(2000, 2024, size=5000),
        np.arange(100_000, dtype=np.int64) * 977,
        np.repeat([0.1, 0.2, 0.30000000000000004, 0.3], 10),  # the last two differ by rounding
        np.repeat([0.3, 0.1 + 0.2, 7.0], 10),
        np.repeat([0.0, 1.1], 10),
        np.repeat([1e-50, 2e-50], 10),
        np.full(20, 1.7e9 + 1),
        np.array([2.0**30, 2.0**30 + 128]),  # float32 has both
        np.full(5, np.nan),
        np.array([np.inf, 1.1, -np.inf]),
        np.array([1e300, 2e300]),
    ],
)
def test_ordinary_columns_have_no_origin(column):
    assert find_origins(column[:, None]) == {}


@pytest.mark.parametrize(
    ("column", "origin"),
    [
        (START + np.arange(600), START),
        (np.append(START + np.arange(600.0), [0.0, -1.0]), START + 1),  # codes for unknown times
        (np.append(START + np.arange(600.0), [np.nan, np.inf, -np.inf, 1e300]), START),
        (-(START + np.arange(600.0)), -START - 599),
        (START + 331.25 + np.arange(600), START + 300),
        (np.array([2**53 + 1, 2**53 + 2, 2**53 + 3]), 2**53),
        (np.array([2**63 + 2**40, 2**63 + 2**40 + 5], dtype=np.uint64), 2**63 + 2**40),
        (np.array([1.0, 1 + 1e-9, 1 + 5e-9]), 1.0),
        (np.array([1.0123456784, 1.0123456794]), 1.012345678),
    ],
)
def test_columns_that_float32_merges_have_one(column, origin):
    assert find_origins(column[:, None]) == {0: origin}


def test_long_tables_are_looked_at_in_stretches():
    column = np.concatenate([np.zeros(300_000), START + np.arange(300_000.0) % 600])
    assert find_origins(column[:, None]) == {0: START + 1}
    column[-1] = 1.1e9 + 1  # a value that is rounded, and far away
    assert find_origins(column[:, None]) == {}


@pytest.mark.parametrize("name", EVERY)
def test_tables_of_every_kind_are_read_alike(name, times):
    second, y = times
    whole = START + second.astype(np.int64)
    column = {"time": whole, "other": second % 7}
    model = EVERY[name]
    expected = model.fit(np.column_stack([whole, second % 7]), y).predict(np.column_stack([whole, second % 7]))
    for table in (
        pd.DataFrame(column),
        pl.DataFrame(column),
        pa.table(column),
        pd.DataFrame(column).astype({"time": "Int64"}),
        pd.DataFrame(column).astype({"time": "float64"}),
        pl.DataFrame(column).with_columns(pl.col("time").cast(pl.Decimal(18, 2))),
        sparse.csc_array(np.column_stack([whole, second % 7])),
        np.column_stack([whole, second % 7]).astype(object),
    ):
        assert_array_equal(model.fit(table, y).predict(table), expected)
        assert model.feature_origins_ == {0: START}


def test_missing_values_stay_missing(times):
    second, y = times
    X = np.column_stack([START + second.astype(np.float64)])
    X[::10] = np.nan
    tree = SLMClassifier(random_state=0).fit(X, y)
    known = ~np.isnan(X[:, 0])
    assert tree.score(X[known], y[known]) > 0.99
    assert_array_equal(tree.apply(X[~known]), tree.apply(np.full((1, 1), np.nan))[0])


def test_rows_of_weight_zero_do_not_matter(times):
    second, y = times
    X = np.column_stack([START + second.astype(np.float64)])
    weight = (second < 500).astype(float)
    X[weight == 0] = 0.1
    tree = SLMClassifier(random_state=0).fit(X, y, sample_weight=weight)
    alone = SLMClassifier(random_state=0).fit(X[weight > 0], y[weight > 0])
    assert tree.feature_origins_ == alone.feature_origins_ == {0: START}
    assert_array_equal(tree.predict_proba(X), alone.predict_proba(X))


def test_a_warm_start_keeps_the_origins(times):
    second, y = times
    X = np.column_stack([START + second])
    model = clone(CLASSIFIERS["boosting"]).set_params(warm_start=True).fit(X, y)
    later = X + 100
    model.set_params(n_estimators=model.n_estimators + 5).fit(later, y)
    assert model.feature_origins_ == {0: START}
    assert model.score(later, y) > 0.5


def test_validation_rows_are_read_from_the_same_origin(times):
    second, y = times
    X = np.column_stack([START + second])
    model = SLMBoostClassifier(n_estimators=20, early_stopping=True, random_state=0)
    model.fit(X, y, X_val=X[:100] + 10_000, y_val=y[:100])
    model.fit(X, y, X_val=X[:100], y_val=y[:100])
    assert model.score(X, y) == 1


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_files_and_pickles_keep_origins(name, times, tmp_path):
    second, y = times
    X = np.column_stack([START + second, second % 7])
    model = CLASSIFIERS[name].fit(X, y)
    save(model, tmp_path / "model.planewise")
    for again in (load(tmp_path / "model.planewise"), pickle.loads(pickle.dumps(model))):
        assert again.feature_origins_ == {0: START}
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_words_pictures_and_reports_are_in_the_users_units(times):
    second, _ = times
    X = np.column_stack([START + second, second % 7]).astype(np.float64)
    first_minute = (second < 60).astype(int)
    tree = SLMClassifier(max_depth=1, max_planes=1, random_state=0).fit(X, first_minute)
    assert "1,700,000,060.5" in to_text(tree)
    step = tree.explain(X[:1])[0].steps[0]
    assert "1,700,000,060.5" in step.plane
    assert step.value == X[0, 0]
    assert f"{X[0, 0]:,.0f}" in tree.explain(X[:1])[0].to_text()
    drawn = TreeDisplay.from_estimator(tree)
    plane = drawn.tree.planes[0][0]
    assert plane.threshold / plane.weights[0] == pytest.approx(START + 60.5, abs=1e-3)
    cuts = PartitionDisplay.from_estimator(tree, X, first_minute).cuts
    assert cuts[0].start[0] == pytest.approx(START + 60.5, abs=1e-3)
    assert "1,700,000,0" in report(tree, X, first_minute)


def test_the_feature_test_shows_thresholds_in_the_users_units(times):
    second, _ = times
    X = np.column_stack([START + second, second % 7]).astype(np.float64)
    found = DiscriminantFeatureTest(n_features_to_select=1).fit(X, (second < 60).astype(int))
    assert START < found.thresholds_[0] < START + 120
    assert "1,700,000,0" in to_text(found)


def test_categories_that_float32_merges_are_told_apart():
    X = np.array([2**53, 2**53 + 2, 16_777_216, 16_777_217] * 20)[:, None]
    y = np.arange(80) % 2
    for table in (X, X.astype(np.float64)):
        model = SLMClassifier(categorical_features=[0], random_state=0).fit(table, y)
        assert len(model.categories_[0]) == 4
        assert model.score(table, y) == 1


def test_a_table_of_numbers_read_from_text_is_resolved(times):
    second, y = times
    table = pl.DataFrame({"time": START + second, "kind": [f"k{each}" for each in y]})
    model = TableModel("tree", random_state=0).fit(table, target="kind")
    assert model.estimator_.feature_origins_ == {0: START}
    assert (model.predict(table) == table["kind"].to_numpy()).mean() > 0.99


def test_decimals_in_objects_are_refused_by_name():
    frame = pd.DataFrame({"a": [Decimal("1.5"), Decimal("2.5")] * 10})
    with pytest.raises(ValueError, match="'a'"):
        SLMClassifier().fit(frame, np.arange(20) % 2)
