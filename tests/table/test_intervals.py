"""Prediction intervals hold what they promise on rows that neither the model nor the intervals have seen."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from planewise.table import TableModel
from planewise.table.intervals import HeldOutErrors


def rows(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n)
    noise = rng.standard_t(3, size=n) * (1 + (a > 0))  # heavy tails, and not the same everywhere
    return pl.DataFrame({"a": a, "b": b, "y": 3 * a + np.abs(b) + noise})


@pytest.fixture(scope="module")
def model():
    return TableModel("tree", random_state=0).fit(rows(300, 0), "y").learn_intervals(rows(200, 1))


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_intervals_hold_at_least_the_promised_share_of_fresh_rows(coverage):
    fresh, shares = rows(4000, 99), []
    fitted = TableModel("boosting", settings={"n_estimators": 20}, random_state=0).fit(rows(300, 0), "y")
    for seed in range(40):
        bounds = fitted.learn_intervals(rows(150, seed + 1)).predict_interval(fresh, coverage)
        shares.append(np.mean((bounds[:, 0] <= fresh["y"].to_numpy()) & (fresh["y"].to_numpy() <= bounds[:, 1])))
    # The mean is between coverage and coverage + 1/151; of 40 draws it varies by about 0.4/sqrt(150 * 40) = 0.005.
    assert coverage - 0.02 < np.mean(shares) < coverage + 0.03


def test_intervals_are_centred_on_the_prediction_and_grow_with_the_coverage(model):
    table = rows(50, 2)
    narrow, wide = model.predict_interval(table, 0.5), model.predict_interval(table, 0.95)
    np.testing.assert_allclose(narrow.mean(axis=1), model.predict(table))
    assert narrow.shape == (50, 2)
    assert (wide[:, 0] < narrow[:, 0]).all() and (wide[:, 1] > narrow[:, 1]).all()


@pytest.mark.parametrize("n", [1, 2, 9, 10, 99, 500])
def test_the_rank_is_that_of_the_conformal_quantile(n):
    errors = np.random.default_rng(n).exponential(size=n).astype(np.float32).astype(np.float64)
    kept = HeldOutErrors.of(errors)
    for k in range(1, n + 1):
        assert kept.half_width(k / (n + 1)) == np.sort(errors)[k - 1]
    with pytest.raises(ValueError, match=f"needs more held-out rows than the {n} of this model"):
        kept.half_width((n + 0.5) / (n + 1))


def test_of_many_rows_few_errors_are_kept_and_none_is_too_small():
    errors = np.random.default_rng(0).exponential(size=100_001)
    kept = HeldOutErrors.of(errors)
    assert len(kept.errors) <= 500 and kept.ranks[-1] == kept.n_rows == 100_001
    for coverage in (0.1, 0.5, 0.9, 0.99, 0.999, 0.99999):
        exact = np.sort(errors)[int(np.ceil(round(100_002 * coverage, 9))) - 1]
        more = np.quantile(errors, min(1, coverage + 0.003))
        assert exact <= kept.half_width(coverage) <= more * (1 + 1e-6)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, np.nan])
def test_a_coverage_that_is_no_share_is_refused(model, coverage):
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        model.predict_interval(rows(3, 0), coverage)


def test_models_without_intervals_say_why():
    table = rows(60, 0)
    fitted = TableModel("tree", random_state=0).fit(table, "y")
    assert not hasattr(fitted, "predict_interval")
    with pytest.raises(AttributeError) as caught:
        _ = fitted.predict_interval
    assert "call learn_intervals" in str(caught.value.__cause__ or caught.value)
    classes = TableModel("tree", random_state=0).fit(table.with_columns(y=pl.col("y") > 0), "y")
    assert not hasattr(classes, "predict_interval")
    with pytest.raises(AttributeError, match="This model predicts classes"):
        classes.learn_intervals(table)


def test_a_new_fit_forgets_intervals_and_record(model):
    again = TableModel("tree", random_state=0).fit(rows(100, 0), "y").learn_intervals(rows(100, 1))
    again.record_ = {"date": "long ago"}
    again.fit(rows(100, 2), "y")
    assert again.held_out_errors_ is None and again.record_ is None


def test_rows_without_a_target_do_not_count(model):
    table = rows(100, 5)
    gaps = table.with_columns(y=pl.when(pl.col("a") > 0).then(pl.col("y")))
    model.learn_intervals(gaps)
    assert model.held_out_errors_.n_rows == gaps["y"].count()
    with pytest.raises(ValueError, match="there are no errors to learn from"):
        model.learn_intervals(table.with_columns(y=pl.lit(None, dtype=pl.Float64)))
