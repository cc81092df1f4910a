"""Gamma and Tweedie losses: derivatives, starts, deviances, and what becomes of targets times a constant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

from planewise import SLMBoostRegressor, _core
from planewise.trees.losses import RawLoss, regression_loss

law = settings(max_examples=25)

LOSSES = [("poisson", 1.0), ("gamma", 2.0), *(("tweedie", p) for p in (1.05, 1.5, 1.9))]
POWERS = dict(LOSSES) | {"tweedie": 1.5}


def made(core, power):
    return RawLoss(core, power=power)


def targets(core, mean, rng):
    """Noisy targets around the means: counts, amounts, or amounts of which some are zero."""
    if core == "poisson":
        return rng.poisson(mean).astype(np.float64)
    amount = rng.gamma(2.0, mean / 2)
    return amount if core == "gamma" else np.where(rng.random(len(mean)) < 0.3, 0.0, amount)


def table(core, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, targets(core, np.exp(X[:, 0] - 0.5 * X[:, 1]), rng) + (core == "poisson")


@pytest.mark.parametrize(("core", "power"), LOSSES)
def test_the_loss_is_half_the_deviance(core, power):
    rng = np.random.default_rng(0)
    y, score, weight = targets(core, np.full(50, 2.0), rng), rng.normal(size=(50, 1)), rng.random(50)
    deviance = mean_tweedie_deviance(y, np.exp(score[:, 0]), sample_weight=weight, power=power)
    assert made(core, power).mean(y, weight, score) == pytest.approx(deviance / 2)


@pytest.mark.parametrize(("core", "power"), LOSSES)
def test_a_step_is_newtons_by_numerical_differentiation(core, power):
    rng = np.random.default_rng(1)
    loss = made(core, power)
    options = loss.core_options()
    options.learning_rate, options.reg_lambda = 1.0, 0.0
    for y, f in zip(targets(core, np.full(12, 2.0), rng), rng.normal(size=12), strict=True):
        one, weight = np.array([y]), np.ones(1)
        below, here, above = (loss.mean(one, weight, np.array([[f + d]])) for d in (-1e-4, 0, 1e-4))
        gradient, hessian = (above - below) / 2e-4, (above - 2 * here + below) / 1e-8
        row = _core.Table(np.zeros((1, 1), dtype=np.float32), weight, 1)
        boosting = _core.Boosting(row, one, weight, np.array([[f]]), 0, options, 1)
        boosting.rounds(1)
        assert hessian > 0
        assert boosting.score()[0, 0] - f == pytest.approx(np.clip(-gradient / hessian, -0.7, 0.7), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(("core", "power"), LOSSES)
def test_scores_start_at_the_best_constant(core, power):
    rng = np.random.default_rng(2)
    y, weight, loss = targets(core, np.full(30, 2.0), rng), rng.random(30) + 0.1, made(core, power)

    def value(constant):
        return loss.mean(y, weight, np.full((30, 1), constant))

    start = loss.start(y, weight)
    best = minimize_scalar(value, bounds=(-5, 5), method="bounded", options={"xatol": 1e-10})
    assert value(start[0]) <= best.fun + 1e-9


@pytest.mark.parametrize("loss", ["gamma", "tweedie"])
def test_the_deviance_falls_and_is_the_one_monitored(loss):
    X, y = table(loss, 1500)
    model = SLMBoostRegressor(loss=loss, n_estimators=40, random_state=0)
    model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    predicted = model.predict(X[1000:])
    assert predicted.min() > 0
    assert d2_tweedie_score(y[1000:], predicted, power=POWERS[loss]) > 0.3
    deviance = mean_tweedie_deviance(y[1000:], predicted, power=POWERS[loss])
    assert -model.validation_score_[-1] == pytest.approx(deviance / 2)


@pytest.mark.parametrize(("loss", "power"), LOSSES)
@law
@given(seed=st.integers(0, 2**16), factor=st.floats(1e-3, 1e3))
def test_targets_times_a_constant_give_predictions_times_it(loss, power, seed, factor):
    """Without regularisation, which is in units of the Hessian; that of gamma does not depend on the scale."""
    X, y = table(loss, 120, seed)
    plain = {"reg_lambda": 0, "smoothing": 0, "min_child_weight": 0, "max_depth": 2, "n_projections": 2}
    model = SLMBoostRegressor(
        loss=loss, power=power if loss == "tweedie" else 1.5, n_estimators=3, random_state=0, **plain
    )
    before = model.fit(X, y).predict(X)
    assert_allclose(model.fit(X, factor * y).predict(X), factor * before, rtol=1e-4)


@pytest.mark.parametrize("loss", ["gamma", "tweedie"])
def test_an_integer_weight_is_as_many_rows(loss):
    X, y = table(loss, 150)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    model = SLMBoostRegressor(loss=loss, n_estimators=5, min_samples_leaf=1, noise_margin=0, random_state=0)
    weighted = model.fit(X, y, weight).predict(X)
    repeated = model.fit(X.repeat(weight, axis=0), y.repeat(weight)).predict(X)
    assert_allclose(weighted, repeated, rtol=1e-6)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("base_score", [-700.0, 700.0])
def test_no_start_is_so_far_off_that_numbers_overflow(loss, base_score):
    X, y = table(loss, 100)
    model = SLMBoostRegressor(loss=loss, base_score=base_score, n_estimators=30, learning_rate=1.0, random_state=0)
    model.fit(X, y * 1e6)
    raw = np.log(model.predict(X))
    assert np.isfinite(raw).all()
    assert (np.abs(raw) < 700).all()  # moving towards the targets, not away


def test_wrong_targets_are_named_by_their_row():
    X, y = table("gamma", 60)
    y[17] = 0.0
    with pytest.raises(ValueError, match=r"loss='gamma' needs targets above zero; row 17 of y has 0\.0"):
        SLMBoostRegressor(loss="gamma").fit(X, y)
    weight = np.ones(60)
    weight[:5] = 0  # left out, and still counted
    with pytest.raises(ValueError, match="row 17 of y has"):
        SLMBoostRegressor(loss="gamma").fit(X, y, weight)
    weight[17] = 0
    SLMBoostRegressor(loss="gamma", n_estimators=1).fit(X, y, weight)
    with pytest.raises(ValueError, match=r"targets of zero or more; row 17 of y has -1\.0"):
        SLMBoostRegressor(loss="tweedie").fit(X, np.where(y == 0, -1.0, y))
    with pytest.raises(ValueError, match="not all of them zero"):
        SLMBoostRegressor(loss="tweedie").fit(X, 0 * y)
    good = np.maximum(y, 0.1)
    with pytest.raises(ValueError, match="row 17 of y_val has"):
        SLMBoostRegressor(loss="gamma").fit(X, good, X_val=X, y_val=y)


@pytest.mark.parametrize("power", [1, 2, 0, 2.5, "1.5", None])
def test_the_power_lies_strictly_between_one_and_two(power):
    X, y = table("tweedie", 40)
    with pytest.raises(ValueError, match=r"'power'.*above 1 and below 2"):
        SLMBoostRegressor(loss="tweedie", power=power).fit(X, y)


def test_a_warm_start_keeps_the_power():
    X, y = table("tweedie", 100)
    model = SLMBoostRegressor(loss="tweedie", power=1.3, n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="the same loss"):
        model.set_params(power=1.7, n_estimators=5).fit(X, y)
    whole = SLMBoostRegressor(loss="tweedie", power=1.3, n_estimators=5, random_state=0).fit(X, y)
    assert_array_equal(model.set_params(power=1.3, n_estimators=5).fit(X, y).predict(X), whole.predict(X))


def test_each_loss_knows_its_power():
    y = np.ones(3)
    assert [regression_loss(name, 0.5, y, power=1.3).power for name in ("poisson", "gamma", "tweedie")] == [1, 2, 1.3]
