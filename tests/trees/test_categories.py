"""Categorical columns: which sets a node finds, where rows go, and that it does not matter how they are given."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plain_walk import assert_same_model, raw_scores
from sklearn.base import clone
from sklearn.metrics import log_loss

from planewise import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.data import categories as _categories

law = settings(max_examples=40)
rare_law = settings(law, max_examples=12)

TREES = [SLMClassifier, SLMRegressor]
BOOSTS = [SLMBoostClassifier, SLMBoostRegressor]
ALL = pytest.mark.parametrize("make", [*TREES, *BOOSTS])
BOTH_TREES = pytest.mark.parametrize("make", TREES)
BOTH_BOOSTS = pytest.mark.parametrize("make", BOOSTS)

STUMP = {
    "max_depth": 1,
    "max_planes": 1,
    "min_samples_leaf": 1,
    "noise_margin": 0,
    "n_projections": 0,
    "random_state": 0,
}
PLAIN_TREE = {"smoothing": 0, "noise_margin": 0, "min_samples_leaf": 1}


def answers(model, X):
    """The numbers behind the predictions."""
    if isinstance(model, SLMRegressor):
        return model.predict(X)
    return model.predict_proba(X) if isinstance(model, SLMClassifier) else model._raw(X)


def planes_of(model):
    return model.tree_ if hasattr(model, "tree_") else model.forest_


def table(n=300, seed=0, k=6, missing=0.0):
    """A column of k categories that matter (number 1), between two of numbers; y is 0 or 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = rng.integers(0, k, n)
    X[:k, 1] = np.arange(k)
    effect = rng.permutation(np.linspace(-2, 2, k))
    y = (X[:, 0] + effect[X[:, 1].astype(int)] + 0.5 * rng.normal(size=n) > 0).astype(int)
    X[k:, 1][rng.random(n - k) < missing] = np.nan
    return X, y


# ------------------------------------------------------------------------------------ the best set of categories
def class_score(y, criterion):
    share = np.bincount(y, minlength=2) / max(len(y), 1)
    if criterion == "gini":
        return len(y) * ((share**2).sum() - 1)
    return len(y) * (share[share > 0] * np.log(share[share > 0])).sum()


def number_score(y):
    return y.sum() ** 2 / len(y)


def newton_score(g, h, reg_lambda):
    return 0.5 * g.sum() ** 2 / (h.sum() + reg_lambda)


def subsets(k):
    """Every way to part 0 .. k-1 in two, one side each."""
    for size in range(1, k):
        yield from (list(each) for each in combinations(range(k), size) if 0 in each)


def found_set(model, k):
    """The categories that go with category 0."""
    one_each = np.arange(float(k))[:, None]
    at = model.apply(one_each) if hasattr(model, "tree_") else model._raw(one_each)[:, 0]
    return np.flatnonzero(at == at[0]).tolist()


def gain_of(side, category, score):
    """What parting the rows gains; `score` takes a mask of rows."""
    left = np.isin(category, side)
    return score(left) + score(~left) - score(np.ones(len(category), bool))


@st.composite
def one_column(draw, equal=True):
    """Categories with rows enough each, and a number a row that depends on them."""
    k = draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = np.full(k, draw(st.integers(8, 30))) if equal else rng.integers(1, 40, k)
    category = rng.permutation(np.repeat(np.arange(k), sizes))
    effect = draw(st.sampled_from([0.0, 0.3, 1.0, 3.0]))
    return k, category, effect * rng.normal(size=k)[category] + rng.normal(size=len(category))


def gained_by_chance(k, row):
    """What ordering k categories may gain where nothing is known: a row's noise for each but two."""
    return max(0, k - 2) * row


def assert_found(model, k, category, y, score, best, chance):
    """The set that gains most, unless chance gains as much: then none."""
    assume(abs(best - chance) > 1e-3 * best)
    model.fit(category[:, None].astype(float), y)
    found = found_set(model, k)
    if best < chance:
        assert len(found) == k
    else:
        assert 0 < len(found) < k
        assert gain_of(found, category, score) == pytest.approx(best, rel=1e-6)


def best_of_all(k, category, score):
    return max(gain_of(side, category, score) for side in subsets(k))


@law
@given(one_column(), st.sampled_from(["entropy", "gini"]))
def test_a_classifier_finds_the_best_of_all_sets(column, criterion):
    k, category, signal = column
    y = (signal > np.median(signal)).astype(int)
    score = lambda rows: class_score(y[rows], criterion)  # noqa: E731
    best = best_of_all(k, category, score)
    row = 0.5 if criterion == "entropy" else 1 - (np.bincount(y) ** 2).sum() / len(y) ** 2
    model = SLMClassifier(criterion=criterion, smoothing=0, categorical_features=[0], **STUMP)
    assert_found(model, k, category, y, score, best, gained_by_chance(k, row))
    if model.n_planes_:
        assert model.tree_.gain[0] == pytest.approx(best, rel=1e-9)


@law
@given(one_column())
def test_a_regressor_finds_the_best_of_all_sets(column):
    k, category, y = column
    apart = y - y.mean()
    score = lambda rows: number_score(apart[rows])  # noqa: E731
    best = best_of_all(k, category, score)
    model = SLMRegressor(smoothing=0, categorical_features=[0], **STUMP)
    assert_found(model, k, category, y, score, best, gained_by_chance(k, (apart**2).sum() / (len(y) - 2)))
    if model.n_planes_:
        assert model.tree_.gain[0] == pytest.approx(best, rel=1e-6)


@law
@given(one_column(), st.sampled_from([0.0, 1.0, 30.0]))
def test_boosting_numbers_finds_the_best_of_all_sets(column, reg_lambda):
    k, category, y = column
    g = y.mean() - y
    score = lambda rows: newton_score(g[rows], np.ones(rows.sum()), reg_lambda)  # noqa: E731
    chance = gained_by_chance(k, 0.5 * (g**2).sum() / (len(y) - 2))
    model = SLMBoostRegressor(n_estimators=1, smoothing=8, reg_lambda=reg_lambda, categorical_features=[0], **STUMP)
    assert_found(model, k, category, y, score, best_of_all(k, category, score), chance)


@law
@given(one_column(), st.sampled_from([0.0, 1.0, 30.0]))
def test_boosting_classes_finds_the_best_of_all_sets(column, reg_lambda):
    k, category, signal = column
    y = (signal > np.median(signal)).astype(int)
    p = y.mean()
    score = lambda rows: newton_score(p - y[rows], np.full(rows.sum(), p * (1 - p)), reg_lambda)  # noqa: E731
    chance = gained_by_chance(k, 0.5 * ((p - y) ** 2 / (p * (1 - p))).sum() / (len(y) - 2))
    model = SLMBoostClassifier(n_estimators=1, smoothing=8, reg_lambda=reg_lambda, categorical_features=[0], **STUMP)
    assert_found(model, k, category, y, score, best_of_all(k, category, score), chance)


@law
@given(one_column(equal=False), st.sampled_from(["regressor", "classifier", "boost"]))
def test_where_rows_are_few_the_set_is_the_best_along_the_order_drawn_to_the_usual(column, kind):
    k, category, y = column
    assume(len(y) > 20)
    if kind == "classifier":
        y = (y > np.median(y)).astype(int)
    apart = y - y.mean()
    row, trust = (apart**2).sum() / (len(y) - 2), 10.0  # a category is believed as much as its node with ten rows
    if kind == "classifier":
        score = lambda rows: class_score(y[rows], "entropy")  # noqa: E731
        model, row = SLMClassifier(smoothing=0, categorical_features=[0], **STUMP), 0.5
    elif kind == "boost":
        score = lambda rows: newton_score(-apart[rows], np.ones(rows.sum()), 2.0)  # noqa: E731
        model = SLMBoostRegressor(n_estimators=1, smoothing=8, reg_lambda=2.0, categorical_features=[0], **STUMP)
        row, trust = row / 2, 12.0
    else:
        score = lambda rows: number_score(apart[rows])  # noqa: E731
        model = SLMRegressor(smoothing=0, categorical_features=[0], **STUMP)
    key = np.bincount(category, weights=apart) / (np.bincount(category) + trust)
    order = np.argsort(key, kind="stable")
    best = max(gain_of(order[:cut], category, score) for cut in range(1, k))
    assert_found(model, k, category, y, score, best, gained_by_chance(k, row))


def test_three_classes_are_parted_along_the_direction_in_which_they_differ_most():
    category = np.repeat(np.arange(6), 30)
    y = np.array([0, 1, 1, 0, 2, 0])[category]  # class 0 is half of all
    model = SLMClassifier(categorical_features=[0], smoothing=0, max_depth=2, max_planes=1, noise_margin=0)
    model.fit(category[:, None].astype(float), y)
    assert model.score(category[:, None], y) == 1
    assert found_set(SLMClassifier(categorical_features=[0], **STUMP).fit(category[:, None], y), 6) == [0, 3, 5]


# --------------------------------------------------------------------------------------- unseen and missing values
@ALL
@pytest.mark.parametrize("heavy", [0, 1])
def test_an_unseen_category_goes_with_the_heavier_side(make, heavy):
    category = np.repeat([3.0, 5.0], [20, 70] if heavy else [70, 20])[:, None]
    y = (category[:, 0] == 5).astype(int)
    first_round = {"n_estimators": 1} if make in BOOSTS else {}  # later ones weigh rows by how ill they fit
    model = make(categorical_features=[0], min_samples_leaf=1, **first_round).fit(category, y)
    low, high, unseen, between = answers(model, [[3.0], [5.0], [99.0], [4.0]])
    assert np.abs(high - low).max() > 0.05
    assert_array_equal(unseen, high if heavy else low)
    assert_array_equal(between, unseen)


@ALL
@pytest.mark.parametrize("with_right", [True, False])
def test_missing_values_follow_their_learned_side(make, with_right):
    category = np.repeat([0.0, 1.0, np.nan], [40, 40, 15])[:, None]
    y = np.repeat([0, 1, int(with_right)], [40, 40, 15])
    left, right, missing = answers(
        make(categorical_features=[0], min_samples_leaf=1, max_depth=1, max_planes=1).fit(category, y),
        [[0.0], [1.0], [np.nan]],
    )
    assert np.abs(left - right).max() > 0.05
    assert_array_equal(missing, right if with_right else left)


def test_an_unseen_category_goes_with_the_heavier_side_where_values_are_missing():
    category = np.repeat([0.0, 1.0, np.nan], [30, 40, 20])[:, None]
    y = np.repeat([0.0, 10.0, 10.0], [30, 40, 20])
    model = SLMRegressor(categorical_features=[0], **PLAIN_TREE).fit(category, y)
    assert_allclose(model.predict([[1.0], [np.nan]]), 10)
    assert_allclose(model.predict([[7.0]]), 10)  # 60 of 90 rows are there


@ALL
def test_that_a_category_is_missing_can_be_all_there_is_to_know(make):
    rng = np.random.default_rng(0)
    category = rng.integers(0, 4, 400).astype(float)
    y = rng.integers(0, 2, 400)
    category[y == 1] = np.nan
    model = make(categorical_features=[0], min_samples_leaf=1, random_state=0).fit(category[:, None], y)
    got = answers(model, [[0.0], [3.0], [77.0], [np.nan]])
    assert_array_equal(got[0], got[1])
    assert_array_equal(got[0], got[2])  # unseen, but there
    assert np.abs(got[3] - got[0]).max() > 0.1
    assert len(planes_of(model).set_category) == 0


def test_missing_categories_are_split_off_at_bin_edges_too():
    rng = np.random.default_rng(0)
    x, gone = np.repeat([0.0, 1.0], 400), rng.random(800) < 0.4
    category = np.where(x == 0, rng.integers(6, 8, 800), rng.integers(0, 6, 800)).astype(float)
    category[gone] = np.nan
    y = 100 * x + 10 * ((x == 0) & gone)
    model = SLMRegressor(
        categorical_features=[1], max_planes=1, max_depth=2, n_projections=0, refine_thresholds=False, **PLAIN_TREE
    ).fit(np.column_stack([x, category]), y)
    assert_allclose(model.predict([[0, 6], [0, 7], [0, np.nan], [1, 0]]), [0, 0, 10, 100], atol=1e-9)


@ALL
def test_a_column_of_one_category_or_of_none_is_no_trouble(make):
    X, y = table()
    for constant in (4.0, np.nan):
        X[:, 1] = constant
        model = make(categorical_features=[1], random_state=0).fit(X, y)
        assert 1 not in planes_of(model).term_feature
        assert np.isfinite(answers(model, np.where(np.isnan(X), 0.0, X))).all()


# ----------------------------------------------------------------------------------------- however they are given
WORDS = np.array(["ash", "birch", "cedar", "elm", "fir", "oak"])


def ways_to_give(X):
    """The same table in many forms, with the parameters that say the same of it."""
    code = X[:, 1]
    there = ~np.isnan(code)
    words = np.full(len(X), None, dtype=object)
    words[there] = WORDS[code[there].astype(int)]
    numbers = {"a": X[:, 0], "z": X[:, 2]}

    def arrange(column, frame):
        return frame({"a": numbers["a"], "tree": column, "z": numbers["z"]})

    text = [None if each is None else str(each) for each in words]
    named = {"categorical_features": ["tree"]}
    yield "codes by number", X, {"categorical_features": [1]}
    yield "codes by mask", X, {"categorical_features": [False, True, False]}
    yield "codes by mask array", X, {"categorical_features": np.array([False, True, False])}
    yield "codes in a frame", arrange(code, pd.DataFrame), named
    yield "codes in polars", arrange(pl.Series(code, nan_to_null=True), pl.DataFrame), named
    yield "by number in a frame", arrange(words, pd.DataFrame), {"categorical_features": [1]}
    yield "pandas category", arrange(pd.Categorical(words), pd.DataFrame), {}
    shuffled = pd.Categorical(words, categories=[*WORDS[::-1], "nobody"])
    yield "pandas category in another order", arrange(shuffled, pd.DataFrame), {}
    yield "pandas objects", arrange(words, pd.DataFrame), named
    yield "pandas strings", arrange(pd.array(text, dtype="string"), pd.DataFrame), named
    yield "polars categorical", arrange(pl.Series(text, dtype=pl.Categorical), pl.DataFrame), {}
    yield "polars enum", arrange(pl.Series(text, dtype=pl.Enum(WORDS[::-1].tolist())), pl.DataFrame), {}
    yield "polars strings", arrange(pl.Series(text), pl.DataFrame), named
    yield "arrow dictionary", arrange(pa.array(text).dictionary_encode(), pa.table), {}
    yield "arrow strings", arrange(pa.array(text), pa.table), named


@ALL
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_form_of_the_table_does_not_matter(make, missing):
    X, y = table(missing=missing)
    common = {"random_state": 0} | ({"n_estimators": 4} if make in BOOSTS else {})
    plain = make(categorical_features=[1], **common).fit(X, y)
    expected = answers(plain, X)
    assert len(planes_of(plain).set_category) > 0
    for name, given_as, parameters in ways_to_give(X):
        model = make(**parameters, **common).fit(given_as, y)
        assert answers(model, given_as).tobytes() == expected.tobytes(), name
        assert list(model.categories_) == [1], name


def test_one_form_may_be_fitted_and_another_predicted():
    X, y = table(missing=0.1)
    forms = {name: (given_as, parameters) for name, given_as, parameters in ways_to_give(X)}
    model = SLMBoostClassifier(n_estimators=3, random_state=0).fit(forms["pandas category"][0], y)
    expected = model.decision_function(forms["pandas category"][0])
    for name in ("pandas objects", "polars categorical", "polars enum", "arrow dictionary", "arrow strings"):
        assert_array_equal(model.decision_function(forms[name][0]), expected, err_msg=name)


@rare_law
@given(st.lists(st.text(min_size=1, max_size=4), min_size=6, max_size=6, unique=True), st.integers(0, 99))
def test_names_that_keep_the_order_change_nothing(names, seed):
    names = sorted(names)
    X, y = table(n=120, seed=seed)
    words = np.array(names, dtype=object)[X[:, 1].astype(int)]
    frame = pd.DataFrame({"a": X[:, 0], "c": words, "z": X[:, 2]})
    for make in (SLMClassifier, SLMBoostRegressor):
        by_code = make(categorical_features=[1], random_state=0).fit(X, y)
        by_name = make(categorical_features=["c"], random_state=0).fit(frame, y)
        assert answers(by_code, X).tobytes() == answers(by_name, frame).tobytes()
        assert by_name.categories_[1].tolist() == names


def test_without_being_told_words_are_refused_and_none_turns_data_types_off():
    X, y = table()
    frame = pd.DataFrame({"tree": WORDS[X[:, 1].astype(int)]})
    with pytest.raises(ValueError, match=r"Column 'tree' holds text such as 'ash'; SLMClassifier needs numbers"):
        SLMClassifier().fit(frame, y)
    with pytest.raises(ValueError, match=r"Column 'tree' holds categories such as 'ash'; SLMClassifier needs"):
        SLMClassifier(categorical_features=None).fit(frame.astype("category"), y)
    assert SLMClassifier(categorical_features=[]).fit(X, y).categories_ == {}


def test_booleans_and_whole_numbers_with_gaps_are_categories_too():
    rng = np.random.default_rng(0)
    yes = rng.random(200) < 0.5
    number = np.array([-7, 12, 1000])[rng.integers(0, 3, 200)]
    y = yes ^ (number == 12)
    frame = pd.DataFrame({"yes": yes, "number": pd.array(number, dtype="Int64")})
    model = SLMClassifier(categorical_features=["yes", "number"], random_state=0).fit(frame, y)
    assert model.score(frame, y) == 1
    assert model.categories_[0].tolist() == [False, True]
    assert model.categories_[1].tolist() == [-7, 12, 1000]


# -------------------------------------------------------------------------------------- alone in their planes
@st.composite
def mixed(draw):
    """Numbers and categories side by side, some missing, and 0/1 to predict."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, columns = draw(st.integers(40, 150)), draw(st.integers(2, 5))
    X = rng.normal(size=(n, columns))
    categorical = draw(st.lists(st.integers(0, columns - 1), min_size=1, max_size=columns, unique=True))
    for j in categorical:
        X[:, j] = rng.integers(0, draw(st.integers(2, 30)), n)
    signal = sum(np.sin(3 * X[:, j]) for j in range(columns)) + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.15]))] = np.nan
    return X, (signal > np.median(signal)).astype(int), sorted(categorical)


GROWTH = st.fixed_dictionaries(
    {
        "max_planes": st.sampled_from([1, 2, 3, 4]),
        "plane_choice": st.sampled_from(["joint", "cosine"]),
        "subspace_size": st.sampled_from([2, 3, 5]),
        "bins": st.sampled_from(["uniform", "quantile"]),
        "refine_thresholds": st.booleans(),
        "n_bins": st.sampled_from([4, 16]),
        "min_samples_leaf": st.sampled_from([1, 5]),
        "max_leaf_nodes": st.sampled_from([None, 6]),
        "max_ranked_features": st.sampled_from([None, 2]),
        "random_state": st.integers(0, 99),
    }
)


@law
@given(mixed(), GROWTH, st.sampled_from([*TREES, *BOOSTS]))
def test_categories_are_never_inside_an_oblique_plane(data, growth, make):
    X, y, categorical = data
    if make in BOOSTS:
        growth = growth | {"n_estimators": 3}
    model = make(categorical_features=categorical, noise_margin=0, **growth).fit(X, y)
    planes = planes_of(model)
    for plane in range(planes.n_planes):
        features = planes.term_feature[planes.term_start[plane] : planes.term_start[plane + 1]]
        members = planes.set_category[planes.set_start[plane] : planes.set_start[plane + 1]]
        if not set(features) & set(categorical):
            assert len(members) == 0
            continue
        assert len(features) == 1
        known = len(model.categories_[features[0]])
        assert (np.diff(members) > 0).all()
        assert len(members) < known
        if len(members):
            assert 0 <= members[0] <= members[-1] < known
        elif growth["refine_thresholds"]:  # the missing ones alone on one side, whatever the categories' numbers
            known_to_left = planes.threshold[plane] > known
            assert known_to_left or planes.threshold[plane] < 0
            assert planes.missing_right[plane] == known_to_left


@law
@given(mixed(), GROWTH)
def test_the_quick_forest_adds_up_what_a_plain_walk_adds_up(data, growth):
    X, y, categorical = data
    model = SLMBoostRegressor(n_estimators=4, categorical_features=categorical, noise_margin=0, **growth).fit(X, y)
    rows = X.astype(np.float32)
    for j in categorical:  # categories as their numbers; some rows get one nobody has seen
        known = model.categories_[j]
        rows[:, j] = np.where(np.isnan(rows[:, j]), np.nan, np.searchsorted(known, rows[:, j]))
        rows[::11, j] = len(known)
        X[::11, j] = 1e6
    expected = raw_scores(model, rows)
    assert_allclose(model.forest_.predict(rows, model.base_score_), expected, rtol=1e-13)
    assert_allclose(model.predict(X), expected[:, 0], rtol=1e-13)


@pytest.mark.parametrize("growth", [{}, {"max_planes": 4}, {"subspace_size": 5}, {"max_planes": 1}], ids=str)
def test_several_classes_add_up_too(growth):
    X, y = table(n=500, missing=0.1)
    y = y + 2 * (np.nan_to_num(X[:, 1]) > 3)
    model = SLMBoostClassifier(n_estimators=6, categorical_features=[1], random_state=0, **growth).fit(X, y)
    assert len(model.forest_.set_category) > 0
    assert_allclose(model.decision_function(X), raw_scores(model, X), rtol=1e-13)


@ALL
def test_a_row_alone_is_predicted_as_in_a_batch(make):
    X, y = table(missing=0.1)
    X[5, 1] = np.nan
    model = make(categorical_features=[1], random_state=0).fit(X, y)
    X[7, 1] = 55  # unseen
    together = answers(model, X)
    for row in range(40):
        assert_array_equal(answers(model, X[row : row + 1])[0], together[row])


# ------------------------------------------------------------------------------------------------ noise, weights
@pytest.mark.parametrize("k", [300, 900])
@BOTH_BOOSTS
@pytest.mark.parametrize(("statistics", "most"), [(None, 0.01), ("auto", 0.1)])  # a statistic is a number of noise
def test_a_column_of_identifiers_hardly_matters(make, k, statistics, most):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 3))
    X[:, 2] = rng.integers(0, k, 1500)
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=1500)
    y = y if make is SLMBoostRegressor else (y > 1).astype(int)
    model = make(n_estimators=40, categorical_features=[2], target_statistics=statistics, random_state=0)
    model.fit(X[:1000], y[:1000])
    assert model.feature_importances_[2] < most
    without = make(n_estimators=40, random_state=0).fit(X[:1000, :2], y[:1000])
    assert model.score(X[1000:], y[1000:]) > without.score(X[1000:, :2], y[1000:]) - 0.02


ENTROPY_OR_GINI = pytest.mark.parametrize("criterion", ["entropy", "gini"])
ONE_OR_MANY = pytest.mark.parametrize(
    "make",
    [
        SLMClassifier,
        lambda **given: SLMForestClassifier(n_estimators=20, min_samples_leaf=10, **given),
        lambda **given: SLMForestClassifier(n_estimators=20, min_samples_leaf=10, bootstrap=True, **given),
    ],
    ids=["tree", "forest", "bootstrapped forest"],
)


def loss_without_and_with(model, category, effect=0.0):
    """Held-out log-loss without and with a column of categories, and that column's importance."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(len(category), 6))
    X[:, 5] = category
    y = (X[:, 0] + effect + rng.logistic(size=len(X)) > 0).astype(int)
    half = len(X) // 2
    losses = []
    for columns, categorical in ((range(5), None), (range(6), [5])):
        model.set_params(categorical_features=categorical).fit(X[:half, columns], y[:half])
        losses.append(log_loss(y[half:], model.predict_proba(X[half:, columns])))
    return *losses, model.feature_importances_[-1]


@ONE_OR_MANY
@ENTROPY_OR_GINI
@pytest.mark.parametrize("k", [50, 200, 2000])
def test_categories_of_pure_noise_do_a_classifier_no_harm(make, criterion, k):
    noise = np.random.default_rng(0).integers(0, k, 8000)
    without, with_noise, importance = loss_without_and_with(make(criterion=criterion, random_state=0), noise)
    assert with_noise < without + 0.01
    assert importance < 0.05


@ONE_OR_MANY
@ENTROPY_OR_GINI
def test_categories_that_matter_are_found_by_a_classifier(make, criterion):
    rng = np.random.default_rng(0)
    category = rng.integers(0, 50, 8000)
    effect = 2 * rng.normal(size=50)
    model = make(criterion=criterion, random_state=0)
    without, with_effect, importance = loss_without_and_with(model, category, effect[category])
    assert with_effect < without - 0.1
    assert importance > 0.3


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("k", [50, 2000])
def test_categories_of_pure_noise_are_left_alone_by_a_regression_forest(bootstrap, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[:, 3] = rng.integers(0, k, 3000)
    y = X[:, 0] + rng.normal(size=3000)
    model = SLMForestRegressor(n_estimators=10, bootstrap=bootstrap, categorical_features=[3], random_state=0)
    assert model.fit(X, y).feature_importances_[3] < 0.005


@pytest.mark.parametrize("parameters", [{"criterion": "entropy"}, {"criterion": "gini"}, {}], ids=str)
@rare_law
@given(st.integers(0, 10_000), st.integers(2, 8))
def test_weights_are_repeated_rows(parameters, seed, k):
    X, y = table(n=90, seed=seed, k=k, missing=0.1)
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, 90)
    make = SLMClassifier if parameters else SLMRegressor
    if make is SLMRegressor:  # a mean of zero and whole numbers: sums without rounding
        y, weight[-1] = np.round(3 * np.nan_to_num(X[:, 0]) + 2 * y), 1
        y[-1] = -(weight[:-1] @ y[:-1])
    model = make(categorical_features=[1], random_state=0, **PLAIN_TREE, **parameters)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert_array_equal(weighted.tree_.set_category, repeated.tree_.set_category)
    assert_allclose(answers(weighted, X), answers(repeated, X), rtol=1e-9, atol=1e-12)


@pytest.mark.xfail(
    strict=True,
    reason="Gradients::order_keys and the handicap of categories take the mean Hessian a row, not a weight, as a row",
)
def test_weights_are_repeated_rows_in_boosting():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        category, weight = rng.integers(0, 8, 60), rng.integers(1, 9, 60)
        y = rng.normal(size=8)[category] + rng.normal(size=60)
        model = SLMBoostRegressor(
            n_estimators=3, categorical_features=[0], min_samples_leaf=1, noise_margin=0, random_state=0
        )
        X = category[:, None].astype(float)
        weighted = clone(model).fit(X, y, sample_weight=weight)
        repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
        assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-5)


# ----------------------------------------------------------------------------------------------- what is refused
@ALL
@pytest.mark.parametrize(
    ("given_as", "words"),
    [
        (["tree", "bush"], "categorical_features names 'bush', which is not a column of X"),
        ([0, 3], "categorical_features names column 3, but X has 3 columns"),
        ([-1], "categorical_features names column -1, but X has 3 columns"),
        ([True, False], "categorical_features has 2 entries as a mask, but X has 3 columns"),
        ("tree", "The parameter 'categorical_features' of .* must be 'from_dtype', a list"),
        ({"tree": 1}, "The parameter 'categorical_features' of .* must be 'from_dtype', a list"),
        (3, "The parameter 'categorical_features' of .* must be 'from_dtype', a list"),
    ],
)
def test_wrong_columns_are_named(make, given_as, words):
    X, y = table()
    frame = pd.DataFrame({"a": X[:, 0], "tree": X[:, 1], "z": X[:, 2]})
    with pytest.raises(ValueError, match=words):
        make(categorical_features=given_as).fit(frame, y)


@ALL
def test_names_need_a_table_with_names(make):
    X, y = table()
    with pytest.raises(ValueError, match="categorical_features has column names, but X has none; pass a data frame"):
        make(categorical_features=["tree"]).fit(X, y)


@ALL
def test_too_many_categories_are_refused_by_name(make, monkeypatch):
    X, y = table()
    monkeypatch.setattr(_categories, "MOST_CATEGORIES", 5)
    with pytest.raises(ValueError, match=r"Column '1' has 6 categories; at most 5 are possible"):
        make(categorical_features=[1]).fit(X, y)
    with pytest.raises(ValueError, match=r"Column 'tree' has 6 categories; at most 5 are possible"):
        make(categorical_features=["tree"]).fit(pd.DataFrame({"tree": X[:, 1]}), y)
    assert make(categorical_features=[1]).fit(np.minimum(X, 4), y).categories_[1].tolist() == [0, 1, 2, 3, 4]


def test_words_mixed_with_numbers_are_refused_by_name():
    frame = pd.DataFrame({"tree": np.array(["oak", 3, "elm", 4] * 5, dtype=object)})
    with pytest.raises(ValueError, match="Column 'tree' is categorical and mixes values that have no order"):
        SLMClassifier(categorical_features=["tree"]).fit(frame, np.arange(20) % 2)


# --------------------------------------------------------------------------------- kept, taken up again, watched
@ALL
def test_a_pickle_and_a_clone_give_the_same(make):
    X, y = table(missing=0.1)
    frame = pd.DataFrame({"a": X[:, 0], "tree": pd.Categorical.from_codes(np.nan_to_num(X[:, 1]).astype(int), WORDS)})
    model = make(random_state=0).fit(frame, y)
    copy = pickle.loads(pickle.dumps(model))
    assert answers(copy, frame).tobytes() == answers(model, frame).tobytes()
    assert copy.categories_[1].tolist() == WORDS.tolist()
    again = clone(model)
    assert not hasattr(again, "categories_")
    assert answers(again.fit(frame, y), frame).tobytes() == answers(model, frame).tobytes()


@ALL
def test_any_number_of_jobs_gives_the_same_bytes(make):
    X, y = table(n=4000, k=40, missing=0.05)
    common = {"categorical_features": [1], "random_state": 0} | ({"n_estimators": 5} if make in BOOSTS else {})
    one, many = make(**common).fit(X, y), make(**common, n_jobs=3).fit(X, y)
    assert pickle.dumps(planes_of(one)) == pickle.dumps(planes_of(many))
    assert answers(one, np.tile(X, (5, 1))).tobytes() == answers(many, np.tile(X, (5, 1))).tobytes()


@BOTH_BOOSTS
def test_a_warm_start_goes_on_to_the_same_model(make):
    X, y = table(missing=0.1)
    frame = pd.DataFrame({"a": X[:, 0], "tree": pd.Categorical(X[:, 1]), "z": X[:, 2]})
    common = {"random_state": 0, "colsample": 0.7}
    at_once = make(n_estimators=12, **common).fit(frame, y)
    warm = make(n_estimators=5, warm_start=True, **common).fit(frame, y)
    assert_same_model(at_once, warm.set_params(n_estimators=12).fit(frame, y))


@pytest.mark.parametrize("other", ["bcb", "dbc"], ids=["fewer", "new"])
def test_a_warm_start_with_other_categories_is_refused_and_changes_nothing(other):
    frame = pd.DataFrame({"c": pd.Categorical(list("abc") * 40)})
    y = np.array([0.0, 5.0, 10.0] * 40)
    model = SLMBoostRegressor(n_estimators=20, learning_rate=0.5, warm_start=True, random_state=0).fit(frame, y)
    before = model.predict(frame)
    later = pd.DataFrame({"c": pd.Categorical(list(other) * 40)})
    with pytest.raises(ValueError, match="Column 'c' has different categories than in the earlier fit"):
        model.set_params(n_estimators=21).fit(later, y)
    assert_array_equal(model.predict(frame), before)


@BOTH_BOOSTS
def test_watched_frames_may_have_unseen_categories(make):
    X, y = table(n=500, missing=0.05)
    frame = pd.DataFrame({"a": X[:, 0], "tree": pd.Categorical(X[:, 1]), "z": X[:, 2]})
    other = pd.DataFrame(
        {"a": X[300:, 0], "tree": pd.Categorical(np.where(X[300:, 1] == 2, 77.0, X[300:, 1])), "z": X[300:, 2]}
    )
    model = make(n_estimators=60, learning_rate=0.3, early_stopping=True, n_iter_no_change=4, random_state=0)
    model.fit(frame[:300], y[:300], X_val=other, y_val=y[300:])
    raw = model._raw(other)[:, 0]
    squares, logs = (raw - y[300:]) ** 2, np.logaddexp(0, raw) - y[300:] * raw
    assert min(-model.validation_score_) == pytest.approx((squares if make is SLMBoostRegressor else logs).mean())
    by_fraction = clone(model).fit(frame, y)
    assert by_fraction.n_iter_ == np.argmin(-by_fraction.validation_score_) + 1


def test_staged_predictions_end_in_the_predictions():
    X, y = table(missing=0.1)
    model = SLMBoostClassifier(n_estimators=6, categorical_features=[1], random_state=0).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 6
    assert_array_equal(stages[-1], model.predict_proba(X))
    fewer = clone(model).set_params(n_estimators=2).fit(X, y)
    assert_array_equal(stages[1], fewer.predict_proba(X))


@ALL
def test_a_sample_of_a_nodes_rows_still_finds_the_set(make):
    rng = np.random.default_rng(0)
    category = rng.integers(0, 10, 5000).astype(float)
    odd = category % 2 == 1
    y = (odd ^ (rng.random(5000) < 0.1)).astype(int)
    first_round = {"n_estimators": 1} if make in BOOSTS else {}
    model = make(categorical_features=[0], max_rows_per_node=200, **STUMP, **first_round)
    model.fit(category[:, None], y)
    assert found_set(model, 10) == [0, 2, 4, 6, 8]


@BOTH_TREES
def test_more_categories_than_bins_are_parted_well(make):
    rng = np.random.default_rng(0)
    category = np.arange(6000) % 60
    effect = rng.normal(size=60)
    y = effect[category] + 0.3 * rng.normal(size=6000)
    y = y if make is SLMRegressor else (y > 0).astype(int)
    model = make(categorical_features=[0], **STUMP).fit(category[:, None].astype(float), y)
    score = (
        (lambda rows: number_score((y - y.mean())[rows]))
        if make is SLMRegressor
        else lambda rows: class_score(y[rows], "entropy")
    )
    key = np.bincount(category, weights=y)
    order = np.argsort(key)
    best = max(gain_of(order[:cut], category, score) for cut in range(1, 60))
    assert gain_of(found_set(model, 60), category, score) > 0.95 * best
