"""Targets, weights and features of any finite size: a usable model or a clear error, never infinity or NaN."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from planewise import (
    AdditiveClassifier,
    AdditiveRegressor,
    ConformalKernel,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMRegressor,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMBoostRanker,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.data.problem import near_one

REGRESSORS = {
    "tree": lambda: SLMRegressor(random_state=0),
    "forest": lambda: SLMForestRegressor(n_estimators=3, random_state=0),
    "boost": lambda: SLMBoostRegressor(n_estimators=5, random_state=0),
    "views": lambda: AdditiveRegressor(max_views=1, n_estimators=5, random_state=0),
    "mcm": lambda: MCMRegressor(),
}
CLASSIFIERS = {
    "tree": lambda: SLMClassifier(random_state=0),
    "forest": lambda: SLMForestClassifier(n_estimators=3, random_state=0),
    "boost": lambda: SLMBoostClassifier(n_estimators=5, random_state=0),
    "views": lambda: AdditiveClassifier(max_views=1, n_estimators=5, random_state=0),
    "mcm": lambda: MCMClassifier(),
    "large": lambda: LargeScaleMCMClassifier(random_state=0),
    "recip": lambda: RECIPClassifier(random_state=0),
}
WEIGHTED_REGRESSORS = {name: REGRESSORS[name] for name in ("tree", "forest", "boost", "views")}
N_ROWS = 60
X = np.random.default_rng(0).normal(size=(N_ROWS, 2))
Y = X[:, 0] * 2 + X[:, 1]
LABEL = (Y > 0).astype(int)
WEIGHT = np.where(np.arange(N_ROWS) % 2, 1.0, 0.5)
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def each(makers):
    return pytest.mark.parametrize("make", makers.values(), ids=makers.keys())


def scores(model, rows=X):
    """What a model says of rows, as numbers."""
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(rows), dtype=np.float64)
    return np.asarray(model.predict(rows), dtype=np.float64)


def assert_usable(found):
    assert np.isfinite(found).all()
    assert np.ptp(found, axis=0).max() > 0


def fitted_or_refused(model, rows, y):
    """A fitted model; None if it was refused in words."""
    try:
        return model.fit(rows, y)
    except ValueError as refused:
        words = str(refused)
    assert "by a constant" in words or "too large" in words
    return None


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-60, 1e-39, 1e-30, 1e30, 5e37, 1e38, 1e39, 1e150, 1e160, 1e300])
@each(REGRESSORS)
def test_targets_of_any_size_are_learned_or_refused(make, size):
    model = fitted_or_refused(make(), X, Y / np.abs(Y).max() * size)
    if model is not None:
        assert_usable(model.predict(X))


@pytest.mark.parametrize("make", [REGRESSORS[name] for name in ("forest", "boost", "views")])
def test_the_largest_accepted_targets_are_learned(make):
    assert_usable(make().fit(X, Y / np.abs(Y).max() * LARGEST_FLOAT32 / 2.001).predict(X))


def test_a_target_too_large_is_refused_by_its_row():
    y = Y.copy()
    y[3] = -1e39
    with pytest.raises(ValueError, match=r"y contains -?1e\+39.* in row 3; SLMForestRegressor .* at most 1.7e\+38"):
        SLMForestRegressor().fit(X, y)


def test_a_target_too_large_does_not_matter_in_a_row_of_weight_zero():
    y, weight = Y.copy(), np.ones(N_ROWS)
    y[3], weight[3] = 1e39, 0.0
    assert_usable(SLMForestRegressor(n_estimators=2).fit(X, y, sample_weight=weight).predict(X))


def test_targets_too_close_are_refused():
    with pytest.raises(ValueError, match=r"values of y differ by at most .*e-160; SLMRegressor .* Multiply y"):
        SLMRegressor().fit(X, Y / np.ptp(Y) * 1e-160)
    with pytest.raises(ValueError, match=r"values of y differ by at most .*e-300; SLMBoostRegressor"):
        SLMBoostRegressor().fit(X, Y / np.ptp(Y) * 1e-300)


@pytest.mark.filterwarnings("ignore:Column . varies by:UserWarning")
@pytest.mark.parametrize("size", [2.0**41, 1e13, 2.0**60, 2.0**63])
@each({f"{name} of numbers": make for name, make in WEIGHTED_REGRESSORS.items()} | CLASSIFIERS)
def test_large_weights_end_and_give_finite_answers(make, size):
    y = Y if "Regressor" in type(make()).__name__ else LABEL
    one_heavy_row = np.where(np.arange(N_ROWS) == 7, size, 1.0)
    for weight in (np.full(N_ROWS, size), one_heavy_row):
        assert np.isfinite(scores(make().fit(X, y, sample_weight=weight))).all()


@pytest.mark.parametrize("power", [-1070, -1000, -500, 500, 1000, 1023])
@each({f"{name} of numbers": make for name, make in WEIGHTED_REGRESSORS.items()} | CLASSIFIERS)
def test_a_common_factor_of_weights_beyond_the_usual_changes_nothing(make, power):
    y = Y if "Regressor" in type(make()).__name__ else LABEL
    usual = scores(make().fit(X, y, sample_weight=WEIGHT))
    assert_usable(usual)
    assert_array_equal(scores(make().fit(X, y, sample_weight=np.ldexp(WEIGHT, power))), usual)


@pytest.mark.parametrize("size", [1e-300, 1e300, 1e308])
@pytest.mark.parametrize("name", ["tree", "forest", "boost", "views", "large"])
def test_class_weights_of_any_size_give_finite_answers(name, size):
    model = CLASSIFIERS[name]().set_params(class_weight={0: size, 1: size / 2})
    assert_usable(scores(model.fit(X, LABEL, sample_weight=WEIGHT * 1e300)))


@pytest.mark.parametrize("power", [-1000, 1000])
def test_a_ranker_does_not_depend_on_the_size_of_weights(power):
    grade, qid = LABEL, np.repeat(np.arange(6), 10)

    def fitted(weight):
        return SLMBoostRanker(n_estimators=3, random_state=0).fit(X, grade, qid=qid, sample_weight=weight).predict(X)

    assert_array_equal(fitted(np.ldexp(np.ones(N_ROWS), power)), fitted(np.ones(N_ROWS)))


@pytest.mark.filterwarnings("ignore:Column . varies by:UserWarning")
@pytest.mark.parametrize("size", [1e-300, 1e-40, 1e37, 1e38, 1e39, 1e300])
@each({f"{name} of numbers": make for name, make in REGRESSORS.items()} | CLASSIFIERS)
def test_features_of_any_size_give_finite_answers_or_are_refused(make, size):
    y = Y if "Regressor" in type(make()).__name__ else LABEL
    model = fitted_or_refused(make(), X * size, y)
    if model is not None:
        assert np.isfinite(scores(model, X * size)).all()


def test_ordinary_weights_are_left_alone():
    weight = np.array([0.0, 1e-300, 1e-5, 3.0, 1e19])
    assert near_one(weight) is weight


def test_positive_weights_stay_positive_when_they_are_scaled():
    assert (near_one(np.array([0.0, 5e-324, 1e308])) > 0).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (SLMBoostRegressor(n_estimators=3, base_score=1e300), {}),
        (SLMBoostRegressor(n_estimators=40, learning_rate=1e30), {}),
        (SLMBoostRegressor(n_estimators=3, learning_rate=1e300), {}),
        (AdditiveRegressor(n_estimators=3, max_views=1, learning_rate=1e300), {}),
    ],
)
def test_boosting_that_runs_away_says_so(model, more):
    with pytest.raises(ValueError, match=r"Boosting diverged: .* Use a smaller learning_rate"):
        model.fit(X, Y, **more)


def test_offsets_and_validation_targets_too_large_are_refused_by_their_row():
    model = SLMBoostRegressor(n_estimators=3)
    with pytest.raises(ValueError, match=r"offset must lie within 1.7e\+38; row 0 has 1.7e\+308"):
        model.fit(X, Y, offset=np.full(N_ROWS, 1.7e308))
    with pytest.raises(ValueError, match=r"y_val contains 1e\+160 \(absolute value\) in row 2; .*Divide y_val by"):
        model.fit(X, Y, X_val=X[:5], y_val=np.where(np.arange(5) == 2, 1e160, Y[:5]))


@pytest.mark.parametrize("learning_rate", [1e30, 1e300])
@pytest.mark.parametrize("make", [SLMBoostClassifier, AdditiveClassifier])
def test_probabilities_are_finite_or_refused_for_any_learning_rate(make, learning_rate):
    words = ""
    try:
        model = make(n_estimators=5, learning_rate=learning_rate, random_state=0).fit(X, LABEL)
    except ValueError as refused:
        words = str(refused)
    assert "Boosting diverged" in words or np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("make", [LargeScaleMCMClassifier, MCMClassifier])
def test_rows_far_away_from_those_of_training_have_finite_scores(make):
    far = np.array([[3.4e38, 1.0], [-3.4e38, 3.4e38]])
    assert np.isfinite(make().fit(X, LABEL).decision_function(far)).all()
    if make is MCMClassifier:
        for label in (LABEL, np.arange(N_ROWS) % 3):
            assert np.isfinite(make(kernel="linear").fit(X, label).decision_function([[-1e300, 1.0]])).all()


def test_a_kernel_of_constant_columns_is_finite():
    column = np.where(np.arange(20) % 3 == 2, np.nan, 1.0)[:, None]
    kernel = ConformalKernel().fit(column, np.arange(20) % 9)
    assert np.isfinite(kernel.transform(np.array([[1.0], [9e15]]))).all()
