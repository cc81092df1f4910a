"""Monotone constraints: along a constrained feature no score moves the wrong way, whatever else is asked for."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plain_walk import assert_same_model
from sklearn.base import clone

from planewise import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    load,
    save,
)

law = settings(max_examples=150)

LOG_LOSSES = ["poisson", "gamma", "tweedie"]
LOSSES = ["squared_error", "absolute_error", "huber", "quantile", *LOG_LOSSES, "log_loss"]


def boosting(loss, **parameters):
    if loss == "log_loss":
        return SLMBoostClassifier(**parameters)
    return SLMBoostRegressor(loss=loss, alpha=0.7, **parameters)


@st.composite
def tables(draw, missing=(0.0, 0.2)):
    """Numbers that go up and down with every feature, so that constraints bind; and one sign a column."""
    n, columns = draw(st.integers(30, 300)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, columns))
    if draw(st.booleans()):
        X = np.round(2 * X)
    signs = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=columns, max_size=columns).filter(any))
    y = np.sin(2 * X).sum(axis=1) + X @ rng.normal(size=columns) + 0.3 * rng.normal(size=n)
    gone = rng.random(X.shape) < draw(st.sampled_from(missing))
    X[gone & (np.array(signs) == 0)] = np.nan
    return X, y, signs, rng


def target(loss, y):
    """Numbers as this loss wants them."""
    if loss == "log_loss":
        return (y > np.median(y)).astype(int)
    return np.round(np.exp(np.clip(y, -3, 3))) + 1 if loss in LOG_LOSSES else 10 * y


def scores(model, rows):
    """What must follow the signs: numbers; or for the second class its score, or probability and label."""
    if isinstance(model, (SLMBoostClassifier, SLMBoostRegressor)):
        return model._raw(rows)[:, :1]
    if not hasattr(model, "classes_"):
        return model.predict(rows)[:, None]
    probability = model.predict_proba(rows)
    return np.column_stack([probability[:, 1], 1 - probability[:, 0], model.predict(rows) == model.classes_[1]])


def assert_monotone(model, signs, base):
    """Exactly: from each base row along each constrained feature, over the rows' own values and a fine grid."""
    for j, sign in enumerate(signs):
        if sign == 0:
            continue
        grid = np.unique(np.concatenate([base[:, j], np.linspace(-4, 4, 161)]).astype(np.float32))
        rows = base.repeat(len(grid), axis=0)
        rows[:, j] = np.tile(grid, len(base))
        steps = np.diff(scores(model, rows).reshape(len(base), len(grid), -1), axis=1)
        assert (sign * steps).min(initial=0) >= 0


# --------------------------------------------------------------------------------------------------- the law
@law
@given(
    tables(),
    st.sampled_from(LOSSES),
    st.fixed_dictionaries(
        {
            "max_depth": st.sampled_from([1, 3, None]),
            "max_planes": st.sampled_from([1, 2]),
            "max_leaf_nodes": st.sampled_from([None, None, 7]),
            "min_samples_leaf": st.sampled_from([1, 10]),
            "subsample": st.sampled_from([1.0, 0.6]),
            "colsample": st.sampled_from([1.0, 0.6]),
            "reg_lambda": st.sampled_from([0.0, 3.0]),
            "learning_rate": st.sampled_from([0.3, 1.0]),
            "bins": st.sampled_from(["uniform", "quantile"]),
            "refine_thresholds": st.booleans(),
            "random_state": st.integers(0, 99),
        }
    ),
)
def test_scores_follow_the_signs(table, loss, growth):
    X, y, signs, rng = table
    model = boosting(loss, n_estimators=8, monotonic_cst=signs, noise_margin=0, **growth).fit(X, target(loss, y))
    base = np.concatenate([X[:6], rng.normal(size=(4, len(signs)))])
    assert_monotone(model, signs, base)


TREES = [SLMRegressor, SLMClassifier, SLMForestRegressor, SLMForestClassifier]


def tree(make, **parameters):
    """A tree, or a forest that is quick to fit."""
    if make in (SLMForestRegressor, SLMForestClassifier):
        parameters = {"n_estimators": 5, **parameters}
    return make(**{"random_state": 0, **parameters})


def labels(make, y):
    return (
        np.where(y > np.median(y), "yes", "no")
        if make in (SLMClassifier, SLMForestClassifier, SLMBoostClassifier)
        else 10 * y
    )


@law
@given(
    tables(),
    st.sampled_from(TREES),
    st.fixed_dictionaries(
        {
            "max_depth": st.sampled_from([1, 3, None]),
            "max_planes": st.sampled_from([1, 2]),
            "max_leaf_nodes": st.sampled_from([None, None, 7]),
            "min_samples_leaf": st.sampled_from([1, 10]),
            "noise_margin": st.sampled_from([0.0, 0.75]),
            "smoothing": st.sampled_from([0.0, 4.0]),
            "max_rows_per_node": st.sampled_from([16, None]),
            "bins": st.sampled_from(["uniform", "quantile"]),
            "refine_thresholds": st.booleans(),
            "random_state": st.integers(0, 99),
        }
    ),
    st.sampled_from(["entropy", "gini"]),
    st.sampled_from(["soft", "hard"]),
    st.booleans(),
)
def test_trees_and_forests_follow_the_signs(table, make, growth, criterion, voting, flag):
    X, y, signs, rng = table
    classes = {"criterion": criterion} if make in (SLMClassifier, SLMForestClassifier) else {}
    votes = {"voting": voting} if make is SLMForestClassifier else {}
    bag = {"bootstrap": flag} if make in (SLMForestRegressor, SLMForestClassifier) else {}
    if flag:  # categories beside the constrained columns
        X, signs = np.column_stack([X, rng.integers(0, 6, len(X))]), [*signs, 0]
        bag["categorical_features"] = [X.shape[1] - 1]
        y = y + np.sin(5 * X[:, -1])
    weight = rng.uniform(0.1, 3, len(X)) if flag else rng.integers(1, 4, len(X))
    model = tree(make, monotonic_cst=signs, **growth, **classes, **votes, **bag)
    model.fit(X, labels(make, y), sample_weight=weight)
    base = np.concatenate([X[:6], rng.normal(size=(4, len(signs)))])
    if flag:
        base[:, -1] = rng.integers(0, 8, len(base))  # two of them unseen
    assert_monotone(model, signs, base)


@pytest.mark.parametrize("make", TREES)
def test_trees_and_forests_learn_what_the_data_say_anyway(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = labels(make, 2 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=2000))
    free = tree(make).fit(X[:1000], y[:1000])
    held = clone(free).set_params(monotonic_cst=[1, -1, 0]).fit(X[:1000], y[:1000])
    assert held.score(X[1000:], y[1000:]) > free.score(X[1000:], y[1000:]) - 0.03
    assert_monotone(held, [1, -1, 0], X[:20])


@pytest.mark.parametrize("make", TREES)
def test_trees_and_forests_do_not_learn_what_the_signs_forbid(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    model = tree(make, monotonic_cst=[1]).fit(X, labels(make, -X[:, 0]))
    assert len(np.unique(model.predict(X))) == 1


@pytest.mark.parametrize("make", TREES)
def test_integer_weights_are_repeated_rows(make):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3))
    y, times = labels(make, np.sin(2 * X).sum(axis=1)), rng.integers(1, 4, 150)
    model = tree(make, monotonic_cst=[1, -1, 0], max_rows_per_node=None, min_samples_leaf=1)
    if make in (SLMForestRegressor, SLMForestClassifier):
        model.set_params(rows_per_projection=0)
    weighed = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(X.repeat(times, axis=0), y.repeat(times))
    assert_allclose(scores(weighed, X), scores(repeated, X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", TREES)
def test_constraints_of_nothing_leave_trees_as_they_are(make, data):
    X, y = data[0], labels(make, data[1])
    free = tree(make).fit(X, y)
    assert_array_equal(scores(tree(make, monotonic_cst=[0, 0, 0]).fit(X, y), X), scores(free, X))


@pytest.mark.parametrize("make", TREES)
def test_jobs_pickles_names_and_files_change_nothing(make, data, tmp_path):
    X, y = data[0], labels(make, data[1])
    one = tree(make, monotonic_cst=[1, 0, -1]).fit(X, y)
    expected = scores(one, X)
    assert_array_equal(scores(tree(make, monotonic_cst=[1, 0, -1], n_jobs=3).fit(X, y), X), expected)
    assert_array_equal(scores(pickle.loads(pickle.dumps(one)), X), expected)
    named = tree(make, monotonic_cst={"a": 1, "c": -1}).fit(frame_of(X), y)
    assert_array_equal(scores(named, frame_of(X)), expected)
    save(named, tmp_path / "m.planewise")
    loaded = load(tmp_path / "m.planewise")
    assert loaded.monotonic_cst == {"a": 1, "c": -1}
    assert_array_equal(scores(loaded, frame_of(X)), expected)


@pytest.mark.parametrize("make", [SLMBoostRegressor, SLMBoostClassifier])
def test_a_warm_start_continues_and_keeps_no_trees_that_break_the_rules(make, data):
    X, y = data[0], labels(make, data[1])
    whole = make(n_estimators=8, monotonic_cst=[1, 0, 0], random_state=0).fit(X, y)
    warm = make(n_estimators=3, monotonic_cst=[1, 0, 0], warm_start=True, random_state=0).fit(X, y)
    assert_array_equal(scores(warm.set_params(n_estimators=8).fit(X, y), X), scores(whole, X))
    free = make(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="keeps trees of the earlier fit that do not obey monotonic_cst"):
        free.set_params(n_estimators=6, monotonic_cst=[1, 0, 0]).fit(X, y)
    assert free.forest_.n_trees == 3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("subsample", [1.0, 0.7])
def test_scores_follow_the_signs_where_a_few_rows_decide_the_planes(loss, subsample):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3))
    y = np.sin(2 * X).sum(axis=1) + X[:, 0]
    model = boosting(
        loss, n_estimators=15, monotonic_cst=[1, 0, -1], max_rows_per_tree=256, subsample=subsample, random_state=0
    ).fit(X, target(loss, y))
    assert model.forest_.n_planes > 15
    assert_monotone(model, [1, 0, -1], X[:12])


def test_what_the_data_say_against_it_is_not_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = -3 * X[:, 0] + X[:, 1]
    model = SLMBoostRegressor(n_estimators=30, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    line = np.column_stack([np.linspace(-3, 3, 50), np.zeros(50)])
    assert_array_equal(np.diff(model.predict(line)) >= 0, True)
    assert np.ptp(SLMBoostRegressor(n_estimators=30, random_state=0).fit(X, y).predict(line)) > 3


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "huber", "poisson"])
def test_what_the_data_say_anyway_is_learned_as_well(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = target(loss, 2 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=2000))
    free = boosting(loss, n_estimators=40, random_state=0).fit(X[:1000], y[:1000])
    held = clone(free).set_params(monotonic_cst=[1, -1, 0]).fit(X[:1000], y[:1000])
    assert held.score(X[1000:], y[1000:]) > free.score(X[1000:], y[1000:]) - 0.03


def test_a_feature_without_a_sign_may_go_up_and_down():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1500, 2))
    y = X[:, 0] + X[:, 1] ** 2
    model = SLMBoostRegressor(n_estimators=60, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    low, middle, high = model.predict([[0, -1.8], [0, 0], [0, 1.8]])
    assert low - middle > 1.5
    assert high - middle > 1.5
    assert model.score(X, y) > 0.95


def test_constraints_of_nothing_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(2 * X).sum(axis=1)
    free = SLMBoostRegressor(n_estimators=5, random_state=0).fit(X, y)
    for nothing in ([0, 0, 0], (0, 0, 0), np.zeros(3), None):
        assert_same_model(free, clone(free).set_params(monotonic_cst=nothing).fit(X, y))


def test_a_constrained_node_has_one_plane_and_paths_as_many_as_before():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.sin(2 * X).sum(axis=1)
    common = {"n_estimators": 3, "noise_margin": 0, "min_samples_leaf": 1, "random_state": 0}
    model = SLMBoostRegressor(max_depth=2, max_planes=3, monotonic_cst=[1, 0, 0], **common).fit(X, y)
    assert np.diff(model.forest_.plane_start).max() == 1
    assert max(np.diff(model.forest_.node_start)) > 2 * 2**3  # deeper than two or three levels
    assert max(np.diff(model.forest_.node_start)) <= 2 ** (6 + 1)


def test_oblique_planes_agree_with_the_signs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = (X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] > 0).astype(int)
    signs = np.array([1, -1, 0, 0])
    forest = SLMBoostClassifier(n_estimators=40, monotonic_cst=signs, random_state=0).fit(X, y).forest_
    both = 0
    for plane in range(forest.n_planes):
        terms = slice(*forest.term_start[plane : plane + 2])
        ways = signs[forest.term_feature[terms]] * np.sign(forest.term_coefficient[terms])
        assert len(set(ways[ways != 0])) <= 1
        both += (ways != 0).sum() == 2
    assert both > 0


# ------------------------------------------------------------------------------------- with all the rest
def frame_of(X):
    return pd.DataFrame({name: X[:, j] for j, name in enumerate("abc")})


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    return X, np.sin(2 * X).sum(axis=1) + X[:, 0]


def test_names_say_the_same_as_places(data):
    X, y = data
    by_place = SLMBoostRegressor(n_estimators=6, monotonic_cst=[1, 0, -1], random_state=0).fit(X, y)
    for given_as in ({"a": 1, "c": -1}, {"c": -1, "a": 1, "b": 0}, {"a": 1.0, "c": np.int64(-1)}):
        by_name = SLMBoostRegressor(n_estimators=6, monotonic_cst=given_as, random_state=0).fit(frame_of(X), y)
        assert_same_model(by_place, by_name)


def test_categories_beside_a_constrained_feature(data):
    X, y = data
    X[:, 1] = np.arange(400) % 7
    y = y + 3 * np.array([1, -1, 1, -1, 1, 1, -1])[X[:, 1].astype(int)]
    model = SLMBoostRegressor(
        n_estimators=30, monotonic_cst=[1, 0, -1], categorical_features=[1], min_samples_leaf=1, random_state=0
    ).fit(X, y)
    assert len(model.forest_.set_category) > 0
    assert_monotone(model, [1, 0, -1], X[:30])


@pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])
def test_jobs_pickles_and_warm_starts_change_nothing(make, data):
    X, y = data
    y = y if make is SLMBoostRegressor else (y > 0).astype(int)
    common = {"monotonic_cst": [1, -1, 0], "random_state": 0}
    one = make(n_estimators=12, **common).fit(X, y)
    assert_same_model(one, make(n_estimators=12, n_jobs=3, **common).fit(X, y))
    assert_array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.predict(X))
    warm = make(n_estimators=5, warm_start=True, **common).fit(X, y)
    assert_same_model(one, warm.set_params(n_estimators=12).fit(X, y))


def test_early_stopping_keeps_the_law(data):
    X, y = data
    model = SLMBoostRegressor(
        n_estimators=100, learning_rate=0.5, monotonic_cst=[1, -1, 0], early_stopping=True, random_state=0
    ).fit(X, y)
    assert model.n_iter_ < 100
    assert_monotone(model, [1, -1, 0], X[:20])


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_the_unit_of_the_target_does_not_matter_without_constraints(loss, data):
    X, y = data
    model = boosting(loss, n_estimators=10, random_state=0)
    expected = clone(model).fit(X, y).predict(X)
    assert_allclose(clone(model).fit(X, 1024 * y).predict(X) / 1024, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_the_unit_of_the_target_does_not_matter_with_constraints(loss, data):
    X, y = data
    model = boosting(loss, n_estimators=10, monotonic_cst=[1, 0, 0], random_state=0)
    expected = clone(model).fit(X, y).predict(X)
    assert_allclose(clone(model).fit(X, 1024 * y).predict(X) / 1024, expected, rtol=1e-4, atol=1e-4)


def test_a_depth_without_end_may_be_given_as_a_number(data):
    X, y = data
    SLMBoostRegressor(n_estimators=1, max_depth=2**31 - 1, monotonic_cst=[1, 0, 0]).fit(X, y)


# ----------------------------------------------------------------------------------------------- what is refused
def test_three_classes_have_no_order(data):
    X, y = data
    with pytest.raises(ValueError, match="monotonic_cst needs a regressor or two classes"):
        SLMBoostClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.digitize(y, [-1, 1]))
    SLMBoostClassifier(n_estimators=1, monotonic_cst=[0, 0, 0]).fit(X, np.digitize(y, [-1, 1]))
    for make in (SLMClassifier, SLMForestClassifier):
        with pytest.raises(ValueError, match="monotonic_cst needs a regressor or two classes"):
            make(monotonic_cst=[1, 0, 0]).fit(X, np.digitize(y, [-1, 1]))
        one = tree(make, monotonic_cst=[1, 0, 0]).fit(X, np.zeros(len(y)))
        assert_array_equal(one.predict(X), 0)


@pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor, *TREES])
@pytest.mark.parametrize(
    ("given_as", "words"),
    [
        ([1, 0], "monotonic_cst must have one entry for each of the 3 columns"),
        ([1, 0, 0, 0], "monotonic_cst must have one entry for each of the 3 columns"),
        (1, "'monotonic_cst' of SLM\\w+ must be a list with 1, -1 or 0 for each column"),
        ([[1, 0, 0]], "'monotonic_cst' of SLM\\w+ must be a list with 1, -1 or 0 for each column"),
        ([0, 2, 0], "monotonic_cst must hold 1, -1 or 0; column 'b' has 2"),
        ([0, 0, 0.5], "monotonic_cst must hold 1, -1 or 0; column 'c' has 0.5"),
        (["1", "0", "0"], "monotonic_cst must hold 1, -1 or 0; column 'a' has '1'"),
        ({"a": 1, "width": 1}, "monotonic_cst names 'width', which is not a column of the data frame in fit"),
        ([True, 0, 0], "monotonic_cst must hold 1, -1 or 0; column 'a' has True"),
        (np.array([False, True, False]), "monotonic_cst must hold 1, -1 or 0; column 'a' has"),
        ({"b": True}, "monotonic_cst must hold 1, -1 or 0; column 'b' has True"),
        ({"b": 3}, "monotonic_cst must hold 1, -1 or 0; column 'b' has 3"),
    ],
)
def test_wrong_constraints_are_named(make, given_as, words, data):
    X, y = data
    model = make(monotonic_cst=given_as)
    with pytest.raises(ValueError, match=words):
        model.fit(frame_of(X), y > 0)
    assert not hasattr(model, "n_features_in_")


def test_names_need_a_table_with_names(data):
    X, y = data
    with pytest.raises(ValueError, match="monotonic_cst names 'a', but X has no column names; use column numbers"):
        SLMBoostRegressor(monotonic_cst={"a": 1}).fit(X, y)


def test_a_categorical_column_has_no_order(data):
    X, y = data
    X[:, 1] = np.arange(400) % 5
    with pytest.raises(ValueError, match="monotonic_cst constrains column 1, which is categorical"):
        SLMBoostRegressor(monotonic_cst=[0, 1, 0], categorical_features=[1]).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst constrains column 'b', which is categorical"):
        SLMBoostRegressor(monotonic_cst={"b": -1}).fit(frame_of(X).astype({"b": "category"}), y)
