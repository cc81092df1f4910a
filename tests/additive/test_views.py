"""Sums of views: what is found, what adds up, and what does not depend on threads, weights or the order of rows."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.data import make_friedman
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import AdditiveClassifier, AdditiveRegressor
from planewise.additive.search import folds
from planewise.data import from_batches
from planewise.trees.boost_data import Data

QUICK = {"n_estimators": 20, "cv": 3, "max_views": 4, "random_state": 0}
WEIGHTS = "categories are ordered by rows, not by weights; numeric columns pass"


@parametrize_with_checks([AdditiveClassifier(**QUICK), AdditiveRegressor(**QUICK)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def exclusive_or(n=400, seed=0):
    """Two columns matter together, one alone, three not at all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).astype(np.float32).astype(float)
    score = 2 * np.sign(X[:, 1] * X[:, 4]) + X[:, 2]
    return X, np.where(score + 0.5 * rng.logistic(size=n) > 0, "yes", "no")


def mixed(n=500, seed=0):
    """Numbers and categories with gaps, and three classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(),
            "kind": pd.Categorical(rng.choice(["a", "b", "c", "long name"], n)),
            "place": pd.Categorical(rng.choice(["north", "south"], n)),
            "size": rng.gamma(2, 3, n),
        }
    )
    frame.loc[::6, "age"] = np.nan
    frame.loc[::9, "kind"] = np.nan
    own = (frame.kind == "b").to_numpy() * 2 + (frame["size"] > 6) + (frame.place == "north").to_numpy()
    return frame, np.array(["low", "middle", "high"])[np.clip(own, 0, 2)], own + frame["size"].to_numpy() / 5


# ---------------------------------------------------------------------------------------------------------- search
def test_a_pair_that_matters_only_together_is_found():
    X, y = exclusive_or()
    model = AdditiveClassifier(random_state=0).fit(X, y)
    assert model.projections_[0] == (1, 4)
    assert any(2 in view for view in model.projections_)
    fresh, truth = exclusive_or(seed=1)
    assert model.score(fresh, truth) > 0.85
    assert AdditiveClassifier(max_dim=1, random_state=0).fit(X, y).score(fresh, truth) < 0.7


def test_a_difference_of_two_columns_that_rise_together_is_found():
    rng = np.random.default_rng(0)
    common = rng.normal(size=300)
    X = common[:, None] + 0.1 * rng.normal(size=(300, 5))
    y = X[:, 1] > X[:, 3]
    assert AdditiveClassifier(max_views=1, random_state=0).fit(X, y).projections_ == [(1, 3)]


def test_the_number_of_views_is_chosen_and_limited():
    X, y = exclusive_or()
    only = AdditiveClassifier(random_state=0).fit(X[:, [1, 4]], y)
    assert len(only.projections_) <= 3
    assert len(AdditiveClassifier(max_views=2, random_state=0).fit(X, y).projections_) <= 2


def test_views_can_be_given():
    X, y, _ = mixed()
    given = [("size", "age"), "kind"]
    model = AdditiveClassifier(projections=given, **QUICK).fit(X, y)
    assert sorted(model.projections_) == [(0, 3), (1,)]
    assert set(model.projection_names_) == {("age", "size"), ("kind",)}


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"projections": [(0, 1, 2)]}, "one or two columns"),
        ({"projections": [("nowhere",)]}, "X has no column names"),
        ({"max_dim": 3}, "max_dim"),
        ({"cv": 1}, "cv"),
        ({"cv": "abc"}, "cv"),
        ({"cv": []}, "cv must give at least one fold"),
        ({"loss": "hinge"}, "loss"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst"),
    ],
)
def test_wrong_parameters_are_named(parameters, match):
    X, y = exclusive_or(60)
    with pytest.raises(ValueError, match=match):
        AdditiveClassifier(**parameters).fit(X, y)


def test_numpy_integers_are_integers():
    X, y = exclusive_or(100)
    assert AdditiveClassifier(max_depth=np.int64(4), **QUICK).fit(X, y).depth_ == 4


def test_own_folds_choose_as_well():
    X, y = exclusive_or(200)
    splitter = KFold(3, shuffle=True, random_state=0)
    one = AdditiveClassifier(**QUICK | {"cv": splitter}).fit(X, y)
    other = AdditiveClassifier(**QUICK | {"cv": list(splitter.split(X))}).fit(X, y)
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_folds_count_different_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 2)).astype(np.float32)
    once = Data(rows, rows[:, 0].astype(float), np.ones(1500))
    twice = Data(rows.repeat(2, axis=0), rows[:, 0].astype(float).repeat(2), np.ones(3000))
    assert len(folds(once, None, 0, stratify=False)) == len(folds(twice, None, 0, stratify=False)) == 10


def test_views_of_constrained_columns_keep_their_effects():
    X, y = make_friedman(1, random_state=0)
    signs = [0, 0, 0, 1] + [0] * (X.shape[1] - 4)
    model = AdditiveRegressor(projections=[(3, 0), (3, 1), (3, 2)], monotonic_cst=signs, **QUICK).fit(X, y)
    for place, view in enumerate(model.projections_):
        values = {
            3: np.tile(np.linspace(0, 1, 40), 20),
            next(j for j in view if j != 3): np.repeat(np.linspace(0, 1, 20), 40),
        }
        own = model.view_surface(place, [values[j] for j in view])[0].reshape(20, 40)
        assert np.diff(own, axis=1).min() >= -1e-6


def test_a_table_on_disk_is_refused_by_name(tmp_path):
    X, y = exclusive_or(60)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=0)
    for kind, target in ((AdditiveClassifier, y), (AdditiveRegressor, np.arange(60.0))):
        table, _ = from_batches([frame], target="y", folder=tmp_path)
        with table, pytest.raises(ValueError, match="needs a table in memory"):
            kind().fit(table, target)


def test_too_many_columns_for_all_pairs_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2001))
    with pytest.raises(ValueError, match="2001 columns; the search for pairs takes up to 2000"):
        AdditiveRegressor().fit(X, X[:, 0])


# ------------------------------------------------------------------------------------------------------------ laws
@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers", "log link"])
def test_the_scores_of_views_add_up(kind):
    frame, three, number = mixed()
    if kind == "two classes":
        model = AdditiveClassifier(**QUICK).fit(frame, three == "low")
        whole = model.decision_function(frame)
    elif kind == "three classes":
        model = AdditiveClassifier(**QUICK).fit(frame, three)
        whole = model.decision_function(frame)
    else:
        model = AdditiveRegressor(loss="poisson" if kind == "log link" else "auto", **QUICK).fit(frame, number)
        whole = np.log(model.predict(frame)) if kind == "log link" else model.predict(frame)
    scores = model.view_score(frame)
    base = model.view_base_ if kind == "three classes" else model.view_base_[0]
    assert_allclose(scores.sum(axis=1) + base, whole, rtol=0, atol=1e-12)
    for place, view in enumerate(model.projections_):
        assert_array_equal(model.view_score(frame, view), scores[:, place])
        assert_array_equal(model.view_score(frame, place), scores[:, place])


def test_each_view_reads_its_own_columns_only():
    frame, three, _ = mixed()
    model = AdditiveClassifier(**QUICK).fit(frame, three)
    other = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    for view in model.projections_:
        moved = other.copy()
        for column in view:
            moved[frame.columns[column]] = frame[frame.columns[column]]
        assert_array_equal(model.view_score(moved, view), model.view_score(frame, view))


def test_moved_effects_have_mean_zero_in_every_bin():
    X, y = make_friedman(1, random_state=0)
    views = [(0, 1), (1, 2), (1,), (3, 4), (0, 3)]
    model = AdditiveRegressor(projections=views, **QUICK).fit(X, y)
    pure = model._purified
    moved = {(move.source, move.column) for move in pure.moves}
    assert {(model.projections_[source], column) for source, column in moved} >= {((0, 1), 1), ((1, 2), 1)}
    bins = {j: _bins(X[:, j].astype(np.float32)) for j in range(5)}
    for source, column in moved:
        view = model.projections_[source]
        other = next(j for j in view if j != column)
        means = []
        for point in bins[column][0]:
            values = {column: np.full(len(bins[other][0]), point), other: bins[other][0]}
            own = model.view_surface(source, [values[j] for j in view])[0][:, 0]
            means.append(np.average(own, weights=bins[other][1]))
        assert_allclose(means, 0, atol=1e-5)


def _bins(column, n_bins=32):
    """The points and shares of 32 bins with about equally many rows, written down once more."""
    values, count = np.unique(column, return_counts=True)
    middle = (np.cumsum(count) - count / 2) / count.sum()
    place = np.minimum(middle * n_bins, n_bins - 1).astype(int)
    groups = [np.flatnonzero(place == k) for k in np.unique(place)]
    points = [values[(group[0] + group[-1]) // 2] for group in groups]
    return np.array(points), np.array([count[group].sum() for group in groups]) / count.sum()


def test_any_number_of_threads_gives_the_same_model():
    frame, three, number = mixed()
    for kind, y in ((AdditiveClassifier, three), (AdditiveRegressor, number)):
        models = [kind(n_jobs=n, **QUICK).fit(frame, y) for n in (1, 2, 3)]
        for model in models[1:]:
            assert model.projections_ == models[0].projections_
            for name, array in models[0].forest_.arrays().items():
                assert_array_equal(model.forest_.arrays()[name], array)
            assert_array_equal(model.view_score(frame), models[0].view_score(frame))


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), task=st.sampled_from(["two", "three", "numbers"]))
def test_weights_are_repeated_rows(seed, task):
    """As for all trees, up to ties: two planes of a small node with the same gain are told apart by rounding."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4)).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + 0.3 * rng.normal(size=80)
    y = score.round(2) if task == "numbers" else np.digitize(score, [0] if task == "two" else [-0.7, 0.7])
    times = rng.integers(1, 4, 80)
    kind = AdditiveRegressor if task == "numbers" else AdditiveClassifier
    weighted = kind(**QUICK).fit(X, y, sample_weight=times)
    repeated = kind(**QUICK).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.projections_ == repeated.projections_
    assert weighted.n_iter_ == repeated.n_iter_
    assert_allclose(weighted.view_score(X), repeated.view_score(X), atol=1e-5)


def test_the_order_of_rows_does_not_matter_to_the_choice():
    X, y = exclusive_or(200)
    order = np.random.default_rng(0).permutation(len(y))
    one, other = AdditiveClassifier(**QUICK).fit(X, y), AdditiveClassifier(**QUICK).fit(X[order], y[order])
    assert sorted(one.projections_) == sorted(other.projections_)
    assert (one.n_iter_, one.depth_) == (other.n_iter_, other.depth_)


def test_monotone_columns():
    X, y = make_friedman(1, random_state=0)
    model = AdditiveRegressor(monotonic_cst=[0, 0, 0, 1, -1] + [0] * (X.shape[1] - 5), **QUICK).fit(X, y)
    base = np.repeat(X[:40], 30, axis=0)
    for column, sign in ((3, 1), (4, -1)):
        rows = base.copy()
        rows[:, column] = np.tile(np.linspace(0, 1, 30), 40)
        steps = sign * np.diff(model.predict(rows).reshape(40, 30), axis=1)
        assert steps.min() >= -1e-6


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"])
def test_losses(loss):
    X, y = make_friedman(1, random_state=0)
    y = y - y.min() + 1
    model = AdditiveRegressor(loss=loss, alpha=0.5, random_state=0, n_estimators=60, cv=3).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.6


def test_one_class_is_predicted_without_views():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = AdditiveClassifier().fit(X, ["a"] * 30)
    assert model.projections_ == [] and set(model.predict(X)) == {"a"}
    assert model.view_score(X).shape == (30, 0)
    assert len(model.views_report()) == len(model.views_report(X, ["a"] * 30)) == 0
    assert model.explain(X[:1])[0].to_text() == "'a' with probability 1.00: the model knows no other class."


def test_constant_columns_and_missing_values():
    X = np.column_stack([np.ones(60), np.full(60, np.nan), np.r_[np.zeros(30), np.ones(30)]])
    y = np.r_[np.zeros(30), np.ones(30)]
    model = AdditiveClassifier(**QUICK).fit(X, y)
    assert model.projections_ == [(2,)] or model.projections_[0][-1] == 2
    assert model.score(X, y) == 1.0


# ----------------------------------------------------------------------------------------------------------- report
def test_the_report_says_which_views_lead():
    iris = load_iris(as_frame=True)
    model = AdditiveClassifier(random_state=0, max_views=3).fit(iris.data, iris.target)
    report = model.views_report(iris.data, iris.target)
    assert [line["view"] for line in report] == [" × ".join(view) for view in model.projection_names_]
    assert sum(line["leads"] for line in report) == pytest.approx(1)
    assert all(0 <= line["alone_agrees"] <= 1 for line in report if line["alone_agrees"] is not None)
    right = sum(line["leads"] * line["accuracy"] for line in report if line["accuracy"] is not None)
    assert right == pytest.approx(model.score(iris.data, iris.target))
    assert len(model.views_report()) == len(report)
    with pytest.raises(ValueError, match="keeps no training rows"):
        AdditiveClassifier(keep_rows=0, **QUICK).fit(iris.data, iris.target).views_report()


def test_no_more_rows_are_kept_than_asked_for():
    X, y = exclusive_or()
    model = AdditiveClassifier(keep_rows=50, **QUICK).fit(X, y)
    kept = model.fitted_rows()
    assert len(kept.target) == 50
    used = sorted({column for view in model.projections_ for column in view})
    for row, label, number in zip(kept.values, kept.target, kept.row_number, strict=True):
        assert label == y[number]
        assert_allclose([row[j] for j in used], X[number, used], rtol=1e-6)
