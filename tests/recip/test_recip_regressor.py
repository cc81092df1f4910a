"""RECIPRegressor: what it finds and answers."""

from __future__ import annotations

import numpy as np
import pytest

from planewise import RECIPRegressor


def two_regions(n, seed):
    """x0 > 1 says that x2 and x3 decide, else x1 does; the rest is noise."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 6))
    other = random.random(n) < 0.5
    X[other, 2] += 1
    y = np.where(other, 5 * X[:, 2] * X[:, 3], 3 * X[:, 1])
    return X, y


def test_the_deciding_views_are_found_and_answer_well():
    X, y = two_regions(800, 0)
    X_test, y_test = two_regions(400, 1)
    model = RECIPRegressor(random_state=0).fit(X, y)
    assert set(model.projections_[0]) <= {1, 2, 3}
    assert model.score(X_test, y_test) > 0.85


@pytest.mark.parametrize("parameters", [{}, {"lam": 1.0}, {"selection": "recip"}, {"max_projections": 2}])
def test_any_number_of_threads_makes_the_same_model(parameters):
    X, y = two_regions(200, 2)
    one, two = (RECIPRegressor(n_jobs=n, random_state=0, **parameters).fit(X, y) for n in (1, 3))
    assert one.projections_ == two.projections_ and np.array_equal(one.predict(X), two.predict(X))


def test_units_of_the_target_change_nothing():
    X, y = two_regions(200, 3)
    a, b = (RECIPRegressor(lam=1.0, random_state=0).fit(X, factor * y) for factor in (1.0, 1024.0))
    assert a.projections_ == b.projections_ and np.allclose(1024 * a.predict(X), b.predict(X))


@pytest.mark.parametrize("selection", ["answers", "recip"])
def test_weights_equal_repeated_rows(selection):
    random = np.random.default_rng(4)
    X, y = two_regions(80, 4)
    weight = random.integers(0, 4, 80)
    weighted = RECIPRegressor(selection=selection, random_state=0).fit(X, y, sample_weight=weight)
    order = random.permutation(np.repeat(np.arange(80), weight))
    repeated = RECIPRegressor(selection=selection, random_state=0).fit(X[order], y[order])
    assert weighted.projections_ == repeated.projections_
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_missing_values_skip_views_and_then_the_mean_is_answered():
    X, y = two_regions(200, 5)
    model = RECIPRegressor(projections=[(1,), (2, 3)]).fit(X, y)
    query = X[:1].copy()
    query[0, 2] = np.nan
    assert model.explain(query)[0].view["columns"] == [1]
    assert np.isclose(model.predict(np.full((1, 6), np.nan))[0], y.mean())


def test_the_report_says_how_well_each_view_answers():
    X, y = two_regions(300, 6)
    model = RECIPRegressor(random_state=0).fit(X, y)
    report = model.views_report(X, y)
    assert np.isclose(sum(row["decides"] for row in report), 1)
    whole = np.sqrt(sum(row["decides"] * row["rmse"] ** 2 for row in report if row["rmse"] is not None))
    assert np.isclose(whole, np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    assert model.views_report()[0]["rmse"] > report[0]["rmse"]  # without the rows themselves


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="1 sample"):
        RECIPRegressor().fit([[1.0], [1.0]], [2.0, 2.0])
    with pytest.raises(ValueError, match="Lower k"):
        RECIPRegressor(k=3).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="constant"):
        RECIPRegressor().fit(np.ones((5, 2)), np.arange(5.0))


def test_a_constant_target_is_answered():
    X, _ = two_regions(30, 7)
    assert np.allclose(RECIPRegressor().fit(X, np.full(30, 4.0)).predict(X), 4.0)


def test_targets_too_large_to_be_squared_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match=r"y contains .*e\+.* in row 0; RECIPRegressor keeps squared errors"):
        RECIPRegressor().fit(X, X[:, 0] * 1e200)


def test_every_view_that_any_row_uses_is_kept_on_request():
    X, y = two_regions(300, 0)
    used, best = (RECIPRegressor(lam=1.0, keep=keep).fit(X, y) for keep in ("used", "best"))
    assert set(best.projections_) < set(used.projections_)
    with pytest.raises(ValueError, match=r"keep='used'.*chosen by 'answers'; give lam"):
        RECIPRegressor(keep="used").fit(X, y)
