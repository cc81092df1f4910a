"""How boosting finds the depth of its trees and the strength of its smoothing: by rows set aside."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss

from planewise import SLMBoostClassifier, SLMBoostRegressor


def strengths(model):
    """What was found for each output at the depth given; the strengths are 0, 1/2, 1, 2 .. 32."""
    found = np.argmin(model._trials.losses.reshape(-1, 8, 6)[:, :, -1], axis=1)
    return np.where(found == 0, 0.0, 2.0 ** (found - 2.0))


def classes(n, noise, seed=0):
    """Two classes by the sign of a product, a share of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < noise)


def test_noise_is_smoothed_and_clean_data_hardly():
    noisy = SLMBoostClassifier(max_depth=3, n_estimators=40, random_state=0).fit(*classes(600, 0.4))
    clean = SLMBoostClassifier(max_depth=3, n_estimators=40, random_state=0).fit(*classes(600, 0.0))
    assert strengths(noisy) >= 16
    assert strengths(clean) <= 4


@pytest.mark.parametrize("noise", [0.0, 0.35])
def test_the_strength_found_serves_new_rows_as_well_as_the_better_extreme(noise):
    X_new, y_new = classes(2000, noise, seed=1)

    def loss(smoothing):
        total = 0.0
        for seed in range(3):
            X, y = classes(600, noise, seed=10 + seed)
            model = SLMBoostClassifier(max_depth=3, smoothing=smoothing, random_state=0).fit(X, y)
            total += log_loss(y_new, model.predict_proba(X_new))
        return total

    assert loss("auto") < 1.03 * min(loss(0.0), loss(32.0))
    assert loss("auto") < 0.9 * max(loss(0.0), loss(32.0))


def test_a_weight_of_two_is_a_row_given_twice():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    twice = np.arange(80) < 30
    common = {"n_estimators": 20, "min_samples_leaf": 1, "noise_margin": 0, "random_state": 0}
    weighted = SLMBoostRegressor(**common).fit(X, y, sample_weight=1.0 + twice)
    repeated = SLMBoostRegressor(**common).fit(np.concatenate([X, X[twice]]), np.concatenate([y, y[twice]]))
    assert_allclose(weighted._trials.losses, repeated._trials.losses, rtol=1e-6)
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_every_class_has_a_strength_of_its_own():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    assert SLMBoostClassifier(n_estimators=5).fit(X, y)._trials.losses.shape[0] == 3


def test_a_number_is_taken_as_it_is():
    X, y = classes(300, 0.3)
    model = SLMBoostClassifier(n_estimators=6, max_depth=3, smoothing=3.0, random_state=0).fit(X, y)
    assert not np.any(model._trials.losses)


def test_leaves_of_the_absolute_loss_are_renewed_and_need_no_trial():
    X, y = classes(300, 0.3)
    model = SLMBoostRegressor(loss="absolute_error", n_estimators=6, random_state=0).fit(X, y.astype(float))
    assert not np.any(model._trials.losses)


@pytest.mark.parametrize("value", ["much", -1, None, float("nan")])
def test_a_wrong_strength_is_named(value):
    X, y = classes(60, 0.3)
    with pytest.raises(ValueError, match="smoothing"):
        SLMBoostClassifier(smoothing=value).fit(X, y)


def test_equal_rows_only():
    X = np.zeros((50, 2))
    model = SLMBoostClassifier(n_estimators=4, random_state=0).fit(X, np.arange(50) % 2)
    assert_allclose(model.predict_proba(X), 0.5, atol=1e-6)


def deepest(model):
    """The depth of the last trees, when trials have had their say."""
    depth = model.forest_.part(model.forest_.n_trees - 8, model.forest_.n_trees).depth
    return int(depth.max())


def steps(n, noise, seed=0):
    """A staircase of many steps along two columns, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    return X, np.floor(12 * X[:, 0]) * np.floor(12 * X[:, 1]) % 7 + noise * rng.normal(size=n)


def test_many_cells_want_deep_trees_and_noise_shallow_ones():
    clean = SLMBoostRegressor(n_estimators=60, random_state=0).fit(*steps(4000, 0.0))
    noisy = SLMBoostRegressor(n_estimators=60, random_state=0).fit(*steps(400, 50.0))
    assert deepest(clean) >= 5
    assert deepest(noisy) <= 3


@pytest.mark.parametrize(("n", "noise"), [(4000, 0.0), (400, 50.0)])
def test_the_depth_found_serves_new_rows_as_well_as_the_better_extreme(n, noise):
    X, y = steps(n, noise)
    X_new, y_new = steps(2000, noise, seed=1)

    def error(depth):
        model = SLMBoostRegressor(max_depth=depth, random_state=0).fit(X, y)
        return np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))

    assert error("auto") < 1.05 * min(error(1), error(6))


def test_no_tree_is_deeper_than_six_levels_and_a_given_depth_is_kept():
    X, y = steps(2000, 0.0)
    assert SLMBoostRegressor(random_state=0).fit(X, y).forest_.max_depth <= 6
    assert SLMBoostRegressor(random_state=0, max_depth=8, n_estimators=10).fit(X, y).forest_.max_depth > 6
    assert SLMBoostRegressor(random_state=0, max_depth=2, n_estimators=10).fit(X, y).forest_.max_depth == 2


@pytest.mark.parametrize("given", [{"monotonic_cst": [1, 0, 0, 0]}, {"loss": "absolute_error"}])
def test_where_nothing_is_tried_auto_is_three(given):
    X, y = steps(400, 1.0)
    auto, three = (
        SLMBoostRegressor(max_depth=depth, n_estimators=8, random_state=0, **given).fit(X, y) for depth in ("auto", 3)
    )
    assert np.array_equal(auto.predict(X), three.predict(X))
