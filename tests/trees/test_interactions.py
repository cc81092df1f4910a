"""Interaction constraints: the columns on a path lie in one group, and the model is a sum of functions of groups."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import planewise as pw
from planewise import load, save

law = settings(max_examples=60)

REGRESSORS = [pw.SLMRegressor, pw.SLMForestRegressor, pw.SLMBoostRegressor]
CLASSIFIERS = [pw.SLMClassifier, pw.SLMForestClassifier, pw.SLMBoostClassifier]


def make(cls, **parameters):
    """An estimator that is quick to fit."""
    if cls not in (pw.SLMClassifier, pw.SLMRegressor):
        parameters = {"n_estimators": 6, **parameters}
    return cls(**{"random_state": 0, **parameters})


def trees_of(model):
    return model.tree_ if hasattr(model, "tree_") else model.forest_


def columns_on_paths(model):
    """For every node, the columns of X that its planes and those above it use."""
    trees = trees_of(model)
    source = list(range(model.n_features_in_))
    for column, known in sorted(getattr(model, "target_statistics_", {}).items()):
        source += [column] * known.n_statistics
    used = []
    for tree in range(trees.n_trees):
        root, end = trees.node_start[tree : tree + 2]
        for node in range(root, end):
            terms = slice(*trees.term_start[trees.plane_start[node : node + 2]])
            here = {source[j] for j in trees.term_feature[terms].tolist()}
            above = trees.parent[node]
            used.append(here | (used[root + above] if above >= 0 else set()))
    return used


def assert_in_groups(model, groups):
    for used in columns_on_paths(model):
        assert any(used <= set(group) for group in groups), used


def groups_of(given_as, n):
    if given_as == "pairwise":
        return list(combinations(range(n), 2))
    if given_as == "no_interactions":
        return [{j} for j in range(n)]
    return [*given_as, set(range(n)).difference(*given_as)]


@st.composite
def problems(draw):
    """Columns that all matter together, some of them categories or with gaps; and constraints of any form."""
    n, numbers = draw(st.integers(40, 250)), draw(st.integers(3, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, numbers))
    if draw(st.booleans()):
        X = np.round(2 * X)
    y = X.prod(axis=1) + np.abs(X.sum(axis=1)) + 0.1 * rng.normal(size=n)
    X[rng.random(X.shape) < draw(st.sampled_from([0, 0.2]))] = np.nan
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(numbers)])
    if draw(st.booleans()):
        code = rng.integers(0, 9, n)
        table["kind"] = pd.Categorical(code)
        y = y + rng.normal(size=9)[code] * X[:, 0] ** 2 if not np.isnan(X).any() else y + code
    columns = table.shape[1]
    some = st.lists(st.integers(0, columns - 1), min_size=1, max_size=columns - 1, unique=True)
    given_as = draw(st.one_of(st.sampled_from(["pairwise", "no_interactions"]), st.lists(some, min_size=1, max_size=4)))
    weight = rng.integers(1, 4, n) if draw(st.booleans()) else None
    return table, y, given_as, weight


growth = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([1, 3, None]),
        "max_planes": st.sampled_from([1, 2, 3]),
        "plane_choice": st.sampled_from(["joint", "cosine"]),
        "max_leaf_nodes": st.sampled_from([None, None, 7]),
        "max_ranked_features": st.sampled_from([None, 2]),
        "axis_candidates": st.sampled_from(["all", "subspace"]),
        "subspace": st.sampled_from(["candidate", "node"]),
        "subspace_size": st.sampled_from([2, 4, [2, 3]]),
        "noise_margin": st.sampled_from([0.0, 0.5]),
        "random_state": st.integers(0, 99),
    }
).map(lambda chosen: chosen | ({"subspace": "node"} if chosen["axis_candidates"] == "subspace" else {}))


# --------------------------------------------------------------------------------------------------------- the law
@law
@given(problems(), st.sampled_from([*REGRESSORS, *CLASSIFIERS]), growth, st.sampled_from([2, 3]))
def test_the_columns_on_a_path_lie_in_one_group(problem, cls, growth, n_classes):
    table, y, given_as, weight = problem
    if cls in CLASSIFIERS:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    more = {"colsample": 0.7, "target_statistics": 4} if cls in (pw.SLMBoostRegressor, pw.SLMBoostClassifier) else {}
    model = make(cls, interaction_cst=given_as, **growth, **more).fit(table, y, sample_weight=weight)
    assert_in_groups(model, groups_of(given_as, table.shape[1]))


def mixed_difference(predict, X, rng, first, second):
    """f(both moved) - f(one) - f(other) + f(none) when two sets of columns get other rows' values."""
    other = X[rng.permutation(len(X))]
    corners = []
    for moved in [(), first, second, (*first, *second)]:
        rows = X.copy()
        rows[:, list(moved)] = other[:, list(moved)]
        corners.append(predict(rows))
    return corners[3] - corners[1] - corners[2] + corners[0]


@pytest.mark.parametrize("given_as", ["no_interactions", [[0, 1], [2], [3]]])
def test_a_boosted_score_is_a_sum_of_functions_of_groups(given_as):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + np.abs(X).sum(axis=1))
    held = pw.SLMBoostRegressor(n_estimators=40, interaction_cst=given_as, random_state=0).fit(X, y)
    apart = pw.SLMBoostClassifier(n_estimators=40, interaction_cst=given_as, random_state=0).fit(X, y > 2)
    for predict in (held.predict, apart.decision_function):
        for first, second in [((0, 1), (2,)), ((2,), (3,)), ((0, 1, 2), (3,))]:
            assert_allclose(mixed_difference(predict, X, rng, first, second), 0, atol=1e-5)
        together = np.abs(mixed_difference(predict, X, rng, (0,), (1,))).max()
        assert together < 1e-5 if given_as == "no_interactions" else together > 0.5
    free = clone(held).set_params(interaction_cst=None).fit(X, y)
    assert np.abs(mixed_difference(free.predict, X, rng, (2,), (3,))).max() > 0.5


def test_statistics_of_a_column_belong_to_it():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 60, 1500)
    table = pd.DataFrame({"kind": pd.Categorical(code)} | {name: rng.normal(size=1500) for name in "abc"})
    y = rng.normal(size=60)[code] * table["a"] + table["b"] * table["c"]
    for given_as in ("pairwise", "no_interactions", [["kind", "a"], ["b", "c"]]):
        model = pw.SLMBoostRegressor(n_estimators=20, interaction_cst=given_as, random_state=0).fit(table, y)
        assert (model.forest_.term_feature == 4).any()  # the statistic
        by_number = [[0, 1], [2, 3]] if isinstance(given_as, list) else given_as
        assert_in_groups(model, groups_of(by_number, 4))
    three = np.digitize(y, [-1, 1])  # three statistics, which may meet each other
    model = pw.SLMBoostClassifier(n_estimators=10, interaction_cst="no_interactions", random_state=0).fit(table, three)
    assert_in_groups(model, groups_of("no_interactions", 4))


# ------------------------------------------------------------------------------------------------ oblique and good
def test_planes_are_oblique_inside_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    y = np.sign(X[:, 0] + X[:, 1]) + np.sign(X[:, 10] - X[:, 11])
    singles = [[j] for j in range(20) if j not in (0, 1, 10, 11)]
    for given_as in ([[0, 1], [10, 11], *singles], "pairwise", [list(range(10)), list(range(10, 20))]):
        model = pw.SLMBoostRegressor(n_estimators=40, interaction_cst=given_as, random_state=0).fit(X[:800], y[:800])
        terms = np.diff(model.forest_.term_start)
        assert (terms > 1).mean() > 0.3
        assert model.score(X[800:], y[800:]) > 0.85


@pytest.mark.parametrize("groups", [[[0, 1], [2]], [[0, 1]], [[0], [1], [2]], "pairwise", "no_interactions"])
@pytest.mark.parametrize("cls", [pw.SLMClassifier, pw.SLMForestClassifier, pw.SLMBoostClassifier])
def test_a_feature_that_may_meet_no_other_is_in_some_draws(cls, groups):
    """Where only features of the node's draw are candidates, the best one is drawn nearly always."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X[:, 2] > 0
    drawn = {"subspace": "node", "subspace_size": 3, "axis_candidates": "subspace", "rank_decay": 5.0}
    drawn["interaction_cst"] = groups
    assert cls(**drawn, random_state=0).fit(X, y).feature_importances_[2] > 0.5


def test_the_right_groups_are_no_worse_than_none():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(2000, 6))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3] * X[:, 4] + 0.1 * rng.normal(size=2000)
    free = pw.SLMBoostRegressor(random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    for given_as in ("pairwise", [[0, 1], [2], [3, 4], [5]]):
        held = pw.SLMBoostRegressor(interaction_cst=given_as, random_state=0).fit(X[:1000], y[:1000])
        assert held.score(X[1000:], y[1000:]) > free - 0.005


# ---------------------------------------------------------------------------------------------- with all the rest
@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    return X, np.sin(2 * X).sum(axis=1) + X[:, 0] * X[:, 3]


def assert_same_trees(one, other):
    for name, array in trees_of(one).arrays().items():
        assert array.tobytes() == getattr(trees_of(other), name).tobytes(), name


@pytest.mark.parametrize("cls", [*REGRESSORS, *CLASSIFIERS])
def test_groups_of_everything_change_nothing(cls, data):
    X, y = data
    y = y if cls in REGRESSORS else y > 0
    free = make(cls).fit(X, y)
    for given_as in ([[0, 1, 2, 3]], [{3, 2, 1, 0}, [1]], [], None):
        assert_same_trees(free, make(cls, interaction_cst=given_as).fit(X, y))
    two = make(cls).fit(X[:, :2], y)
    assert_same_trees(two, make(cls, interaction_cst="pairwise").fit(X[:, :2], y))


@pytest.mark.parametrize("cls", [*REGRESSORS, *CLASSIFIERS])
def test_forms_jobs_files_and_copies_change_nothing(cls, data, tmp_path):
    X, y = data
    y = y if cls in REGRESSORS else y > 0
    table = pd.DataFrame(X, columns=list("abcd"))
    one = make(cls, interaction_cst=[[0, 1], [1, 2]]).fit(table, y)
    assert_in_groups(one, [[0, 1], [1, 2], [3]])
    mixed = ((1, 0), np.array([2, 1]), {3})
    for given_as in ([["a", "b"], ["b", "c"]], [{"b", "a"}, {"c", 1}], mixed, [["b", 0], [1, 2]]):
        other = make(cls, interaction_cst=given_as, n_jobs=3).fit(table, y)
        assert_same_trees(one, other)
        save(other, tmp_path / "m.planewise")
        loaded = load(tmp_path / "m.planewise")
        assert_same_trees(one, loaded)
        assert str(loaded.interaction_cst) == str(given_as) or isinstance(given_as[0], set)
        assert_same_trees(one, clone(loaded).fit(table, y))
    assert_array_equal(pickle.loads(pickle.dumps(one)).predict(table), one.predict(table))


def test_a_warm_start_continues_and_keeps_no_trees_that_break_the_rules(data):
    X, y = data
    whole = make(pw.SLMBoostRegressor, n_estimators=9, interaction_cst="pairwise").fit(X, y)
    warm = make(pw.SLMBoostRegressor, n_estimators=4, interaction_cst="pairwise", warm_start=True).fit(X, y)
    assert_same_trees(whole, warm.set_params(n_estimators=9).fit(X, y))
    free = make(pw.SLMBoostRegressor, n_estimators=4, warm_start=True).fit(X, y)
    before = free.predict(X)
    for limited in ("pairwise", [[0, 1], [2, 3]]):
        with pytest.raises(ValueError, match="keeps trees of the earlier fit that do not obey interaction_cst"):
            free.set_params(n_estimators=6, interaction_cst=limited).fit(X, y)
    assert_array_equal(free.predict(X), before)


def test_pairs_of_many_columns_need_no_list_of_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000)).astype(np.float32)
    model = pw.SLMBoostRegressor(n_estimators=2, interaction_cst="pairwise", random_state=0).fit(X, X[:, 0] * X[:, 1])
    assert max(len(used) for used in columns_on_paths(model)) <= 2


def test_both_constraints_together(data):
    X, y = data
    for cls in REGRESSORS:
        model = make(cls, interaction_cst=[[0, 3]], monotonic_cst=[1, 0, -1, 0]).fit(X, y)
        assert_in_groups(model, [[0, 3], [1, 2]])
        ladder = np.repeat(X[:20], 30, axis=0)
        ladder[:, 0] = np.tile(np.linspace(-3, 3, 30), 20)
        assert (np.diff(model.predict(ladder).reshape(20, 30), axis=1) >= 0).all()


def test_ranking(data):
    X, y = data
    qid = np.repeat(np.arange(30), 10)
    model = pw.SLMBoostRanker(n_estimators=6, interaction_cst="pairwise", monotonic_cst=[1, 0, 0, 0], random_state=0)
    model.fit(X, np.digitize(y, [-1, 1]), qid=qid)
    assert_in_groups(model, groups_of("pairwise", 4))
    ladder = np.repeat(X[:1], 50, axis=0)
    ladder[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(ladder)) >= 0).all()


def test_a_description_names_the_constraints(data):
    model = pw.SLMBoostRegressor(n_estimators=2, interaction_cst="pairwise", monotonic_cst=[1, 0, 0, 0]).fit(*data)
    words = str(model.describe())
    assert "interaction_cst" in words
    assert "monotonic_cst" in words


# ----------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize("cls", [*REGRESSORS, *CLASSIFIERS])
@pytest.mark.parametrize(
    ("given_as", "words"),
    [
        ("all", "'interaction_cst' of SLM\\w+ must be 'pairwise', 'no_interactions', a list of groups"),
        (3, "'interaction_cst' of SLM\\w+ must be"),
        ([0, 1], "'interaction_cst' of SLM\\w+ must be"),
        (["ab"], "'interaction_cst' of SLM\\w+ must be"),
        ([[0.5]], "'interaction_cst' of SLM\\w+ must be"),
        ([[True]], "'interaction_cst' of SLM\\w+ must be"),
        ([[0, 4]], "interaction_cst has the column number 4; the columns are 0 to 3"),
        ([[-1]], "interaction_cst has the column number -1; the columns are 0 to 3"),
        ([["a", "width"]], "interaction_cst names 'width', which is not a column of the data frame in fit"),
    ],
)
def test_wrong_groups_are_named(cls, given_as, words, data):
    X, y = data
    model = make(cls, interaction_cst=given_as)
    with pytest.raises(ValueError, match=words):
        model.fit(pd.DataFrame(X, columns=list("abcd")), y > 0)
    assert not hasattr(model, "n_features_in_")


def test_names_need_a_table_with_names(data):
    with pytest.raises(ValueError, match="interaction_cst names 'a', but X has no column names; use column numbers"):
        pw.SLMRegressor(interaction_cst=[["a"]]).fit(*data)
