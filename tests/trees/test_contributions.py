"""Contributions: what each feature added to a row's score, by the documented rule."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plain_walk import paths
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError

import planewise
from planewise import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

law = settings(max_examples=60)

CLASSIFIERS = [SLMClassifier, SLMForestClassifier, SLMBoostClassifier]
REGRESSORS = [SLMRegressor, SLMForestRegressor, SLMBoostRegressor]
LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson"]


def raw(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "classes_"):
        probability = model.predict_proba(X)
        return probability[:, -1] if len(model.classes_) <= 2 else probability
    return np.log(model.predict(X)) if getattr(model, "loss", None) == "poisson" else model.predict(X)


def tolerance(model):
    """Relative: a forest of three classes keeps float32 probabilities, which `predict_proba` makes add up to one."""
    return 1e-6 if isinstance(model, SLMForestClassifier) else 1e-9


def assert_adds_up(model, X):
    parts, whole = model.predict_contributions(X), raw(model, X)
    assert parts.shape == (*whole.shape, X.shape[1] + 1)
    assert np.isfinite(parts).all()
    close = tolerance(model)
    assert_allclose(parts.sum(axis=-1), whole, rtol=close, atol=close * max(1.0, np.abs(whole).max()))
    same = parts[..., -1]  # what does not depend on the row
    assert_array_equal(same, np.broadcast_to(same[0], same.shape))


# ------------------------------------------------------------------------------------------ the rule, in plain NumPy
def usual_values(forest, tree):
    """By node: the mean of the values its training rows get, in the leaves below or, where none took them, there."""
    first, last = forest.node_start[tree : tree + 2]
    usual = {}
    for node in range(last - 1, first - 1, -1):
        codes = forest.children[forest.child_start[node] : forest.child_start[node + 1]]
        below = sorted({first + code for code in codes} - {node})
        usual[node] = forest.value[node].astype(float)
        if below:
            rows = forest.n_samples[below]
            stayed = (forest.n_samples[node] - rows.sum()) * usual[node]
            usual[node] = sum((n * usual[child] for n, child in zip(rows, below, strict=True)), stayed)
            usual[node] /= forest.n_samples[node]
    return usual


def shares(model, node, x):
    """How much each feature has in a step from this node: by |a (x - mean)|, one deviation where that is unknown."""
    forest, size = trees_of(model), np.zeros(len(x))
    terms = range(*forest.term_start[forest.plane_start[node : node + 2]])
    for term in terms:
        j = forest.term_feature[term]
        apart = float(x[j]) - float(model.feature_means_[j])
        known = not np.isnan(apart)
        size[j] += abs(float(forest.term_weight[term]) * apart) if known else abs(forest.term_coefficient[term])
    if size.sum() == 0:
        for term in terms:
            size[forest.term_feature[term]] += 1
    return size / size.sum()


def trees_of(model):
    return model.tree_ if hasattr(model, "tree_") else model.forest_


def by_the_rule(model, rows):
    """The contributions of rows (float32, categories as their numbers)."""
    forest, boosts = trees_of(model), hasattr(model, "base_score_")
    outputs, values = forest.n_outputs, forest.value.shape[1]
    out = np.zeros((len(rows), outputs, rows.shape[1] + 1))
    for tree in range(forest.n_trees):
        usual, steps = usual_values(forest, tree), np.array(paths(forest, tree, rows)).T
        for row, way in enumerate(steps):
            first = tree % outputs if values == 1 else 0
            to = out[row, first : first + values]
            to[:, -1] += usual[way[0]]
            way = list(dict.fromkeys(way))  # without the repeats of a row that has ended
            for here, following in zip(way, [*way[1:], None], strict=True):
                if forest.plane_start[here] == forest.plane_start[here + 1]:
                    continue
                value = usual[following] if following is not None else forest.value[here].astype(float)
                to[:, :-1] += np.outer(value - usual[here], shares(model, here, rows[row]))
    out /= 1 if boosts else forest.n_trees
    out[:, :, -1] += model.base_score_ if boosts else getattr(model, "_centre", 0.0)
    if len(getattr(model, "classes_", ())) == 2:
        out = out[:, -1:]
    return out[:, 0] if out.shape[1] == 1 else out


@st.composite
def fits(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, columns, k = draw(st.integers(20, 120)), draw(st.integers(1, 4)), draw(st.sampled_from([0, 2, 3]))
    X = rng.normal(size=(n, columns)).astype(np.float32)
    categorical = [0] if draw(st.booleans()) else []
    if categorical:
        X[:, 0] = np.arange(n) % 5
    y = np.sin(2 * X).sum(axis=1) + rng.normal(size=n)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    if categorical:
        X[:5, 0] = np.arange(5)  # all five are there
    y = np.argsort(np.argsort(y)) * k // n if k else y
    make = draw(st.sampled_from(CLASSIFIERS if k else REGRESSORS))
    growth = {
        "max_planes": draw(st.sampled_from([1, 2, 4])),
        "min_samples_leaf": draw(st.sampled_from([1, 5])),
        "random_state": draw(st.integers(0, 99)),
    }
    if not hasattr(make, "get_depth"):  # not one tree
        growth["n_estimators"] = 4
    if hasattr(make, "staged_predict"):  # boosting
        growth |= {"learning_rate": 0.5, "subsample": draw(st.sampled_from([1.0, 0.6]))}
    weight = rng.integers(0, 4, n) if draw(st.booleans()) else None
    model = make(noise_margin=0, categorical_features=categorical, **growth)
    new = 2 * rng.normal(size=(15, columns)).astype(np.float32)  # cells without training rows among them
    if categorical:
        new[:, 0] = rng.integers(0, 6, 15)  # 5 is nobody's
    return model.fit(X, y, sample_weight=weight), np.concatenate([X[:15], new])


@law
@given(fits())
def test_contributions_follow_the_rule_and_add_up(fit):
    model, rows = fit
    assert_adds_up(model, rows)
    assert_allclose(model.predict_contributions(rows), by_the_rule(model, rows), rtol=1e-9, atol=1e-9)


def test_a_step_is_shared_by_the_distance_from_the_mean():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 20)
    y = X[:, 0] + X[:, 1] > 1.5
    model = SLMBoostClassifier(n_estimators=1, max_depth=1, max_planes=1, random_state=0, n_bins=32).fit(X, y)
    assert set(model.forest_.term_feature) == {0, 1}  # an oblique plane
    weight = np.abs(model.forest_.term_weight)
    parts = model.predict_contributions([[0.5, 1.0], [1.0, 0.5], [3.0, 1.0]])
    assert parts[0, 0] == parts[1, 1] == 0  # at its mean
    assert parts[2, 0] / parts[2, 1] == pytest.approx(2.5 * weight[0] / (0.5 * weight[1]))


# ------------------------------------------------------------------------------------------------ adding up
@pytest.mark.parametrize("loss", LOSSES)
def test_contributions_to_numbers_add_up(loss):
    X, y = load_diabetes(return_X_y=True)
    X[::5, 2] = np.nan
    model = SLMBoostRegressor(loss=loss, n_estimators=20, random_state=0).fit(X[::2], y[::2])
    assert_adds_up(model, X)
    assert_adds_up(model, 5 * X)  # far from any training row


@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_to_classes_add_up(n_classes):
    X, y = load_wine(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=10, random_state=0).fit(X, np.minimum(y, n_classes - 1))
    assert_adds_up(model, X)
    assert_adds_up(pickle.loads(pickle.dumps(model)), X)


@pytest.mark.parametrize("more", [{}, {"subsample": 0.5}, {"max_rows_per_tree": 256}, {"monotonic_cst": [1] + 9 * [0]}])
def test_contributions_add_up_however_the_trees_were_grown(more):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(n_estimators=20, max_planes=3, min_samples_leaf=1, random_state=0, **more).fit(X, y)
    assert_adds_up(model, X)


def test_contributions_add_up_after_early_stopping():
    X, y = load_wine(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=200, early_stopping=True, n_iter_no_change=3, random_state=0).fit(X, y)
    assert model.n_iter_ < 200
    assert_adds_up(model, X)


def test_contributions_of_frames_with_categories_add_up():
    rng = np.random.default_rng(0)
    words = np.array(["ash", "elm", "oak", None], dtype=object)[rng.integers(0, 4, 300)]
    frame = pd.DataFrame({"tree": pd.Categorical(words), "x": rng.normal(size=300), "other": rng.normal(size=300)})
    y = frame.x.to_numpy() + 3 * (words == "oak")
    model = SLMBoostRegressor(n_estimators=20, random_state=0).fit(frame, y)
    assert_adds_up(model, frame)
    assert np.isnan(model.feature_means_[0])
    new = frame.assign(tree=pd.Categorical(["palm"] * 300))
    assert_adds_up(model, new)
    parts = model.predict_contributions(frame)
    assert parts[words == "oak", 0].mean() - parts[words == "elm", 0].mean() > 1


def test_one_class_has_nothing_to_contribute():
    X, _ = load_iris(return_X_y=True)
    model = SLMBoostClassifier().fit(X, np.ones(150))
    assert_array_equal(model.predict_contributions(X[:3]), np.zeros((3, 5)))
    assert_adds_up(model, X)


def test_a_model_without_planes_has_a_constant_only():
    X, _ = load_iris(return_X_y=True)
    model = SLMBoostRegressor(n_estimators=3).fit(X, np.full(150, 7.0))
    assert model.forest_.n_planes == 0
    assert_allclose(model.predict_contributions(X), np.tile([0, 0, 0, 0, 7.0], (150, 1)))


# --------------------------------------------------------------------------------------------------- its parts
@pytest.mark.parametrize("n_classes", [2, 3])
def test_features_that_no_plane_uses_contribute_nothing(n_classes):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X[:, 2:], np.full(150, 3.0), np.random.default_rng(0).normal(size=(150, 2))])
    model = SLMBoostClassifier(n_estimators=4, max_depth=1, max_planes=1, noise_margin=1, random_state=0)
    model.fit(X, np.minimum(y, n_classes - 1))
    unused = np.setdiff1d(np.arange(5), model.forest_.term_feature)
    assert 2 in unused
    parts = model.predict_contributions(X)
    assert (parts[..., unused] == 0).all()
    assert (parts[..., model.forest_.term_feature] != 0).any()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_last_entry_is_the_mean_score_of_the_training_rows(loss):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss=loss, n_estimators=20, max_planes=3, random_state=0).fit(X, y)
    assert_allclose(model.predict_contributions(X[:1])[0, -1], raw(model, X).mean(), rtol=1e-9)


def test_the_last_entry_is_the_mean_score_where_a_few_rows_decide_the_planes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    model = SLMBoostRegressor(
        n_estimators=30, max_rows_per_tree=256, max_planes=4, min_samples_leaf=1, random_state=0
    ).fit(X, y)
    assert_allclose(model.predict_contributions(X[:1])[0, -1], model.predict(X).mean(), rtol=1e-6, atol=1e-9)


def test_contributions_know_a_sum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    model = SLMBoostRegressor(n_estimators=80, random_state=0).fit(X, 3 * X[:, 0] - X[:, 1])
    parts = model.predict_contributions(X)
    assert np.corrcoef(parts[:, 0], X[:, 0])[0, 1] > 0.95
    assert np.corrcoef(parts[:, 1], X[:, 1])[0, 1] < -0.5
    assert np.abs(parts[:, 2]).mean() < 0.1 * np.abs(parts[:, 0]).mean()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_number_of_jobs_gives_the_same_bytes(n_classes):
    X, y = load_wine(return_X_y=True)
    X = np.tile(X, (8, 1))
    model = SLMBoostClassifier(n_estimators=8, random_state=0).fit(X, np.minimum(np.tile(y, 8), n_classes - 1))
    one = model.predict_contributions(X)
    for n_jobs in (2, 5):
        assert model.set_params(n_jobs=n_jobs).predict_contributions(X).tobytes() == one.tobytes()
    for row in (0, 77, 1423):
        assert_array_equal(model.predict_contributions(X[row : row + 1])[0], one[row])


@pytest.mark.parametrize("make", REGRESSORS)
def test_contributions_before_a_fit_are_refused(make):
    with pytest.raises(NotFittedError):
        make().predict_contributions(np.zeros((2, 2)))


# -------------------------------------------------------------------------------------------------------- one tree
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_contributions_of_one_tree_add_up_to_probabilities(n_classes):
    X, y = load_wine(return_X_y=True)
    tree = SLMClassifier(random_state=0).fit(X, np.minimum(y, n_classes - 1))
    parts = tree.predict_contributions(X)
    assert parts.shape == ((178, 3, 14) if n_classes == 3 else (178, 14))
    assert_adds_up(tree, X)
    assert_allclose(parts[0, ..., -1], raw(tree, X).mean(axis=0), rtol=1e-9)
    assert_adds_up(pickle.loads(pickle.dumps(tree)), X)


def test_contributions_of_one_tree_add_up_to_numbers():
    X, y = load_diabetes(return_X_y=True)
    X[::5, 2] = np.nan
    tree = SLMRegressor(random_state=0).fit(X, y + 1e6)  # the mean is far from zero
    assert_adds_up(tree, X)
    assert_allclose(tree.predict_contributions(X[:1])[0, -1], tree.predict(X).mean(), rtol=1e-9)


def test_a_forest_of_one_tree_has_the_contributions_of_the_tree():
    X, y = load_diabetes(return_X_y=True)
    forest = SLMForestRegressor(n_estimators=1, random_state=0).fit(X, y)
    tree = SLMRegressor(max_depth=2, random_state=0).fit(X, y)
    tree.tree_, tree.feature_means_ = forest.forest_, forest.feature_means_
    moved = forest.predict_contributions(X)
    moved[:, -1] -= forest._centre  # the values of a single tree hold it already
    assert_allclose(tree.predict_contributions(X), moved, rtol=1e-12, atol=1e-9)


def test_a_saved_tree_has_its_contributions(tmp_path):
    X, y = load_iris(return_X_y=True)
    tree = SLMClassifier(random_state=0).fit(X, y)
    planewise.save(tree, tmp_path / "tree")
    assert_array_equal(planewise.load(tmp_path / "tree").predict_contributions(X), tree.predict_contributions(X))
