"""Offsets: known parts of the scores, which trees are added to."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise
from planewise import SLMBoostClassifier, SLMBoostRegressor
from planewise.evaluate import evaluate
from planewise.export import to_c, to_onnx, to_text
from planewise.export.models import input_lines
from planewise.plot import PartitionDisplay
from planewise.report import report
from planewise.trees.losses import best_class_constants

# Trials of depth and smoothing set rows aside by their numbers, and so are different for y and y - offset, and for
# target statistics in another unit.
PLAIN = {"n_estimators": 8, "max_depth": 3, "smoothing": 4.0, "random_state": 0}


def table(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.2 * rng.normal(size=n_rows), rng.normal(size=n_rows)


def three_classes(n_rows=240, seed=0):
    X, y, _ = table(n_rows, seed)
    rng = np.random.default_rng(seed)
    return X, np.digitize(y, [0.3, 1.2]), rng.normal(size=(n_rows, 3))


# ------------------------------------------------------------------------------------------------ laws of scores
@settings(max_examples=15)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([0.1, 1.0, 30.0]))
def test_an_offset_of_a_prediction_shifts_its_score_exactly(seed, scale):
    X, y, offset = table(seed=seed)
    offset = scale * offset
    two = SLMBoostClassifier(**PLAIN).fit(X, y > 0.5, offset=offset)
    assert_array_equal(two.decision_function(X, offset=offset), two.decision_function(X) + offset)
    number = SLMBoostRegressor(**PLAIN).fit(X, y, offset=offset)
    assert_array_equal(number.predict(X, offset=offset), number.predict(X) + offset)
    for stage, shifted in zip(number.staged_predict(X), number.staged_predict(X, offset=offset), strict=True):
        assert_array_equal(shifted, stage + offset)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]
)
@pytest.mark.parametrize("constant", [-20.0, np.log(365.25), 2.0])
def test_a_constant_offset_changes_no_prediction(loss, constant):
    X, y, _ = table(200)
    y = np.exp(y) if loss in ("poisson", "gamma", "tweedie") else y
    offset = np.full(len(y), constant)
    without = SLMBoostRegressor(loss=loss, n_estimators=8, random_state=0).fit(X, y)
    with_offset = SLMBoostRegressor(loss=loss, n_estimators=8, random_state=0).fit(X, y, offset=offset)
    assert_allclose(with_offset.predict(X, offset=offset), without.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_constant_offset_changes_no_probability(n_classes):
    X, y, offset = three_classes()
    y, offset = (y, np.tile(offset[0], (len(y), 1))) if n_classes == 3 else (y > 0, np.full(len(y), 3.0))
    without = SLMBoostClassifier(n_estimators=8, random_state=0).fit(X, y)
    with_offset = SLMBoostClassifier(n_estimators=8, random_state=0).fit(X, y, offset=offset)
    assert_allclose(with_offset.predict_proba(X, offset=offset), without.predict_proba(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("constant", [-8.0, np.log(365.25)])
def test_a_constant_offset_changes_no_prediction_from_target_statistics(loss, constant):
    rng = np.random.default_rng(0)
    city = rng.integers(70, size=1000)
    X = np.column_stack([city, rng.normal(size=1000)])
    y = 1.0 + rng.poisson(np.exp(city % 7 / 3))
    weight = rng.integers(1, 4, size=1000) / 4
    parameters = {"loss": loss, "categorical_features": [0], "n_projections": 0, **PLAIN}
    offset = np.full(1000, constant)
    without = SLMBoostRegressor(**parameters).fit(X, y, weight)
    with_offset = SLMBoostRegressor(**parameters).fit(X, y, weight, offset=offset)
    assert 0 in with_offset.target_statistics_
    assert_allclose(with_offset.predict(X, offset=offset), without.predict(X), rtol=1e-4)


@pytest.mark.parametrize(("loss", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.5)])
@pytest.mark.parametrize("largest", [700.0, -700.0])
def test_large_offsets_do_not_overflow(loss, power, largest):
    X, y, offset = table()
    y, offset = np.exp(y), largest - np.sign(largest) * np.abs(offset)
    model = SLMBoostRegressor(loss=loss, **PLAIN).fit(X, y, np.full(len(y), 1e6), offset=offset)
    near = offset - largest
    mean = np.sum(y * np.exp((1 - power) * near)) / np.sum(np.exp((2 - power) * near))
    assert_allclose(model.base_score_, np.log(mean) - largest, rtol=1e-12)
    assert np.isfinite(model.predict(X, offset=offset)).all()


def test_an_offset_of_several_classes_shifts_each_score():
    X, y, offset = three_classes()
    model = SLMBoostClassifier(**PLAIN).fit(X, y, offset=offset)
    assert_array_equal(model.decision_function(X, offset=offset), model.decision_function(X) + offset)
    *_, last = model.staged_predict_proba(X, offset=offset)
    assert_allclose(last, model.predict_proba(X, offset=offset), rtol=1e-9)
    *_, last = model.staged_predict(X, offset=offset)
    assert_array_equal(last, model.predict(X, offset=offset))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_fitting_with_an_offset_is_fitting_what_it_leaves(loss):
    X, y, offset = table()
    offset = np.round(4 * offset) / 4  # so that y - offset is exact, as are sums
    y = np.round(16 * y) / 16
    with_offset = SLMBoostRegressor(loss=loss, **PLAIN).fit(X, y, offset=offset)
    without = SLMBoostRegressor(loss=loss, **PLAIN).fit(X, y - offset)
    assert_allclose(with_offset.base_score_, without.base_score_, rtol=1e-12)
    assert_allclose(with_offset.predict(X), without.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("loss", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.3)])
def test_scores_beside_logarithms_start_at_the_mean_of_what_these_leave_with_other_weights(loss, power):
    """Counts with an exposure are rates, weighted by it."""
    X, y, offset = table()
    counts = np.random.default_rng(0).poisson(np.exp(0.5 * y + offset)) + (loss == "gamma")
    parameters = {"loss": loss, **PLAIN} | ({"power": power} if loss == "tweedie" else {})
    with_offset = SLMBoostRegressor(**parameters).fit(X, counts, offset=offset)
    rates, weight = counts / np.exp(offset), np.exp((2 - power) * offset)
    without = SLMBoostRegressor(**parameters).fit(X, rates, weight)
    assert_allclose(with_offset.base_score_, without.base_score_, rtol=1e-12)
    assert_allclose(with_offset.base_score_, np.log(np.average(rates, weights=weight)), rtol=1e-12)
    assert_allclose(with_offset.predict(X, offset=offset), with_offset.predict(X) * np.exp(offset), rtol=1e-12)


def test_an_exposure_helps():
    rng = np.random.default_rng(1)
    X, exposure = rng.normal(size=(3000, 3)), rng.gamma(1.0, 5.0, size=3000)
    counts = rng.poisson(exposure * np.exp(0.5 * X[:, 0]))
    rate = np.exp(0.5 * X[:, 0])
    model = SLMBoostRegressor(loss="poisson", random_state=0).fit(X, counts, offset=np.log(exposure))
    blind = PoissonRegressor().fit(X, counts)
    assert np.mean(np.abs(model.predict(X) - rate)) < 0.1 < np.mean(np.abs(blind.predict(X) - rate))


# ------------------------------------------------------------------------------------------- the best constant
@settings(max_examples=25)
@example(n_classes=4, seed=971, scale=20.0)  # almost flat between rows with far offsets
@example(n_classes=5, seed=226, scale=20.0)
@given(n_classes=st.integers(2, 5), seed=st.integers(0, 1000), scale=st.sampled_from([0.0, 0.5, 3.0, 20.0]))
def test_classes_start_at_the_best_constants_beside_the_offsets(n_classes, seed, scale):
    rng = np.random.default_rng(seed)
    label = np.r_[np.arange(n_classes), rng.integers(n_classes, size=60)]
    weight, outputs = rng.uniform(0.5, 2, len(label)), 1 if n_classes == 2 else n_classes
    offset = scale * rng.normal(size=(len(label), outputs))

    def loss(constants):
        scores = offset + constants
        scores = np.hstack([np.zeros_like(scores), scores]) if outputs == 1 else scores
        return -np.average(log_softmax(scores, axis=1)[np.arange(len(label)), label], weights=weight)

    found = best_class_constants(label, weight, offset)
    assert loss(found) <= minimize(loss, np.zeros(outputs)).fun + 1e-9
    if scale == 0:
        share = np.bincount(label, weights=weight) / weight.sum()
        assert_allclose(found, [np.log(share[1] / share[0])] if outputs == 1 else np.log(share), atol=1e-9)


def test_a_given_start_is_kept_beside_offsets():
    X, y, offset = table()
    assert SLMBoostRegressor(base_score=0.25, **PLAIN).fit(X, y, offset=offset).base_score_.tolist() == [0.25]


# ---------------------------------------------------------------------------------- early stopping, warm starts
def test_rows_set_aside_keep_their_offsets():
    X, y, offset = table(600)
    target = y + 50 * offset
    stops = {"early_stopping": True, "n_estimators": 60, "random_state": 0}
    model = SLMBoostRegressor(**stops).fit(X, target, offset=50 * offset)
    assert -model.validation_score_[model.best_iteration_ - 1] < 0.3  # were they mixed up: thousands
    assert np.mean((model.predict(X, offset=50 * offset) - target) ** 2) < 0.3
    once = SLMBoostRegressor(refit=False, **stops).fit(X, target, offset=50 * offset)
    assert_array_equal(once.validation_score_, model.validation_score_)


def test_validation_rows_have_offsets_of_their_own():
    X, y, offset = table()
    model = SLMBoostRegressor(**PLAIN)
    model.fit(X[:200], y[:200], offset=offset[:200], X_val=X[200:], y_val=y[200:], offset_val=offset[200:])
    stages = model.staged_predict(X[200:], offset=offset[200:])
    assert_allclose(-model.validation_score_, [np.mean((stage - y[200:]) ** 2) for stage in stages])


@pytest.mark.parametrize("kind", ["numbers", "classes", "own loss"])
def test_a_warm_start_continues_beside_the_offsets(kind):
    X, y, offset = three_classes()
    make = SLMBoostClassifier
    settings = {"random_state": 0, "learning_rate": 0.3}
    if kind in ("numbers", "own loss"):
        make, y, offset = SLMBoostRegressor, y + 0.1 * X[:, 2], offset[:, 0]
    if kind == "own loss":
        settings["loss"] = lambda target, score: (score - target, np.ones_like(score))
    at_once = make(n_estimators=9, **settings).fit(X, y, offset=offset)
    model = make(n_estimators=4, warm_start=True, **settings).fit(X, y, offset=offset)
    model.set_params(n_estimators=9).fit(X, y, offset=offset)
    assert_array_equal(model.forest_.value, at_once.forest_.value)
    assert_array_equal(model.forest_.threshold, at_once.forest_.threshold)
    with pytest.raises(ValueError, match="warm_start=True continues from a fit with an offset: pass it here as well"):
        model.set_params(n_estimators=10).fit(X, y)


def test_a_warm_start_of_a_fit_without_an_offset_takes_none():
    X, y, offset = table()
    model = SLMBoostRegressor(warm_start=True, **PLAIN).fit(X, y)
    with pytest.raises(ValueError, match="a fit without an offset: pass none here as well"):
        model.set_params(n_estimators=10).fit(X, y, offset=offset)


def test_rows_of_weight_zero_take_their_offsets_with_them():
    X, y, offset = table()
    weight = np.r_[np.zeros(100), np.ones(200)]
    left_out = SLMBoostRegressor(**PLAIN).fit(X, y, weight, offset=offset)
    alone = SLMBoostRegressor(**PLAIN).fit(X[100:], y[100:], offset=offset[100:])
    assert_array_equal(left_out.predict(X), alone.predict(X))


def test_integer_weights_are_repeated_rows_with_an_offset_too():
    X, y, offset = table()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    counting = {"min_samples_leaf": 1, "noise_margin": 0, **PLAIN}
    weighted = SLMBoostRegressor(**counting).fit(X, y, times, offset=offset)
    again = np.repeat(np.arange(len(y)), times)
    repeated = SLMBoostRegressor(**counting).fit(X[again], y[again], offset=offset[again])
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_the_loss_of_ones_own_sees_scores_with_offsets():
    X, y, offset = table()
    seen = []

    def own(target, score):
        seen.append(score.copy())
        return score - target, np.ones_like(score)

    model = SLMBoostRegressor(loss=own, **PLAIN).fit(X, y, offset=offset)
    assert_array_equal(seen[0], offset)
    built_in = SLMBoostRegressor(base_score=0, **PLAIN).fit(X, y, offset=offset)
    assert_allclose(model.predict(X), built_in.predict(X), rtol=1e-6)


def test_statistics_of_categories_are_of_what_the_offset_leaves():
    rng = np.random.default_rng(0)
    city, offset = rng.integers(80, size=2000), 10 * rng.normal(size=2000)
    X = np.column_stack([city, rng.normal(size=2000)])
    y = city % 7 + 0.1 * rng.normal(size=2000)
    parameters = {"categorical_features": [0], **PLAIN}
    with_offset = SLMBoostRegressor(**parameters).fit(X, y + offset, offset=offset)
    without = SLMBoostRegressor(**parameters).fit(X, y)
    assert_allclose(with_offset.target_statistics_[0].values, without.target_statistics_[0].values, rtol=1e-5)
    assert_allclose(with_offset.predict(X), without.predict(X), atol=1e-3)


# --------------------------------------------------------------------------------- files, contributions, routing
def test_models_hold_no_offset_but_say_that_there_was_one(tmp_path):
    X, y, offset = table()
    model = SLMBoostRegressor(**PLAIN).fit(X, y, offset=offset)
    planewise.save(model, tmp_path / "model")
    again = planewise.load(tmp_path / "model")
    assert model.has_offset_ and again.has_offset_ and not SLMBoostRegressor(**PLAIN).fit(X, y).has_offset_
    assert_array_equal(again.predict(X, offset=offset), model.predict(X, offset=offset))
    assert_allclose(model.predict_contributions(X).sum(axis=1), model.predict(X), rtol=1e-9)
    described = "offset: the model was fitted with one and does not store it; pass it to predict"
    assert described in to_text(again)
    assert "The model was fitted with an offset; this predicts for an offset of zero." in to_c(again)
    made = to_onnx(again)
    assert made.doc_string.endswith("The model was fitted with an offset; this predicts for an offset of zero.")
    assert "fitted with an offset; this predicts for an offset of zero" in input_lines(again, "c")
    assert "remark" not in {each.key for each in to_onnx(SLMBoostRegressor(**PLAIN).fit(X, y)).metadata_props}
    assert "offset" not in to_text(SLMBoostRegressor(**PLAIN).fit(X, y))


def test_quality_without_the_offset_is_refused_by_name():
    X, y, offset = table()
    model = SLMBoostRegressor(**PLAIN).fit(X, y, offset=offset)
    for name, measure in {
        "evaluate": lambda: evaluate(model, X, y),
        "evaluate ": lambda: report(model, X, y),
        "PartitionDisplay with targets": lambda: PartitionDisplay.from_estimator(model, X, y),
    }.items():
        with pytest.raises(ValueError, match=f"{name.strip()} predicts without an offset, but this SLMBoostRegressor"):
            measure()
    assert "fitted with one" in report(model)


def test_offsets_are_routed_through_pipelines_and_searches():
    X, y, offset = table()
    with sklearn.config_context(enable_metadata_routing=True):
        boost = SLMBoostRegressor(**PLAIN).set_fit_request(offset=True).set_predict_request(offset=True)
        piped = make_pipeline(StandardScaler(), boost).fit(X, y, offset=offset)
        alone = SLMBoostRegressor(**PLAIN).fit(StandardScaler().fit_transform(X), y, offset=offset)
        assert_array_equal(
            piped.predict(X, offset=offset), alone.predict(StandardScaler().fit_transform(X), offset=offset)
        )
        scored = SLMBoostRegressor(**PLAIN).set_fit_request(offset=True).set_score_request(offset=True)
        search = GridSearchCV(scored, {"learning_rate": [0.01, 0.3]}, cv=3).fit(
            X, y + 100 * offset, offset=100 * offset
        )
        assert search.best_params_ == {"learning_rate": 0.3}
        assert search.best_score_ > 0.9  # negative if the offsets were not passed on


def test_one_class_has_scores_that_offsets_shift():
    X, _, offset = table()
    model = SLMBoostClassifier().fit(X, np.full(len(X), "a"), offset=offset)
    assert_array_equal(model.decision_function(X, offset=offset), offset)
    assert set(model.predict(X, offset=offset)) == {"a"}


# ----------------------------------------------------------------------------------------------------- bad ones
@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (np.zeros(3), r"offset has shape \(3,\); expected \(150,\)"),
        (0.5, r"offset has shape \(\); expected \(150,\)"),
        (np.zeros((150, 3)), r"offset has shape \(150, 3\); expected \(150,\)"),
        (np.r_[0.0, np.nan, np.zeros(148)], "offset must be finite; row 1 has nan"),
        (["much"] * 150, "offset must hold numbers"),
    ],
)
def test_wrong_offsets_are_refused(offset, words):
    X, y = load_iris(return_X_y=True)
    model = SLMBoostRegressor(n_estimators=2)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, offset=offset)
    assert not hasattr(model, "forest_")
    with pytest.raises(ValueError, match=words):
        model.fit(X, y).predict(X, offset=offset)


def test_other_wrong_offsets_are_refused_by_name():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"offset has shape \(150,\); expected \(150, 3\), one column per class"):
        SLMBoostClassifier().fit(X, y, offset=np.zeros(150))
    with pytest.raises(ValueError, match="offset_val requires X_val and y_val"):
        SLMBoostClassifier().fit(X, y, offset_val=np.zeros(150))
    with pytest.raises(ValueError, match=r"offset_val has shape \(2,\)"):
        SLMBoostRegressor().fit(X, y, X_val=X, y_val=y, offset_val=np.zeros(2))
    with pytest.raises(ValueError, match=r"row 0 has 800\.0\. For an exposure, pass its logarithm"):
        SLMBoostRegressor(loss="poisson").fit(X, y, offset=np.full(150, 800.0))
