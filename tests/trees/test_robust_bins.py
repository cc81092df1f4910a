"""Bins that leave far tails to the outermost ones."""

import numpy as np
import pytest

from planewise import SLMBoostRegressor, SLMForestRegressor, SLMRegressor


def one_cut(X, y, bins, **more):
    """How much of the target one cut explains."""
    settings = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 1, "max_planes": 1, "smoothing": 0}
    settings |= {"reg_lambda": 0, "n_projections": 0, "refine_thresholds": False, "random_state": 0}
    return SLMBoostRegressor(bins=bins, **settings | more).fit(X, y).score(X, y)


def column(kind, n):
    rng = np.random.default_rng(0)
    if kind == "minutes":
        return rng.integers(0, 60, n).astype(float), 37.5
    if kind == "zeros":
        return np.where(rng.random(n) < 0.35, 0.0, rng.exponential(size=n)), 1.0
    if kind == "missing":
        return np.where(rng.random(n) < 0.97, np.nan, rng.normal(size=n)), 0.0
    return np.where(rng.random(n) < 0.01, 1e6, rng.normal(size=n)), 0.0


@pytest.mark.parametrize("n", [500, 5_000, 70_000])
@pytest.mark.parametrize("kind", ["minutes", "zeros", "missing", "far"])
def test_a_cut_is_found_as_well_as_with_uniform_bins_or_better(kind, n):
    x, at = column(kind, n)
    X = np.column_stack([x, np.random.default_rng(1).normal(size=n)])
    y = (x >= at).astype(float)
    assert one_cut(X, y, "robust") > one_cut(X, y, "uniform") - 0.02


@pytest.mark.parametrize("n", [500, 5_000, 70_000])
def test_far_values_do_not_hide_the_others(n):
    x, at = column("far", n)
    X, y = x[:, None], (x >= at).astype(float)
    assert one_cut(X, y, "uniform") < 0.1
    assert one_cut(X, y, "robust") > 0.7


def test_without_far_values_nothing_changes():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=3000) * 0.1
    robust, uniform = (SLMBoostRegressor(bins=bins, random_state=0).fit(X, y) for bins in ("robust", "uniform"))
    assert np.array_equal(robust.predict(X), uniform.predict(X))


@pytest.mark.parametrize("n", [300, 6_000])
def test_a_weight_of_two_is_a_row_given_twice(n):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy(size=(n, 3))
    y = np.arctan(X[:, 0]) + rng.normal(size=n) * 0.1
    twice = np.arange(n) < n // 3
    common = {"n_estimators": 8, "min_samples_leaf": 1, "noise_margin": 0, "smoothing": 0, "random_state": 0}
    common |= {"max_rows_per_node": None, "max_depth": 2}
    weighted = SLMBoostRegressor(**common).fit(X, y, sample_weight=1.0 + twice)
    repeated = SLMBoostRegressor(**common).fit(np.concatenate([X, X[twice]]), np.concatenate([y, y[twice]]))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


@pytest.mark.parametrize("make", [SLMRegressor, SLMForestRegressor])
def test_trees_and_forests_have_them_too(make):
    x, at = column("far", 2000)
    X, y = x[:, None], (x >= at).astype(float)
    settings = {"max_depth": 1, "max_planes": 1, "refine_thresholds": False, "random_state": 0}
    robust, uniform = (make(bins=bins, **settings).fit(X, y).score(X, y) for bins in ("robust", "uniform"))
    assert robust > 0.7 > uniform
