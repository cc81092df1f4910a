"""Forest: the arrays of fitted trees, and what they answer."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from plain_walk import right_side
from sklearn.datasets import load_iris

from planewise import SLMBoostClassifier, SLMClassifier, SLMForestClassifier, SLMRegressor, _core
from planewise.trees import Forest


def table(n_rows=300):
    """Numbers with gaps, and a column of categories."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, 6, n_rows)
    y = (X[:, 0] + 2 * (X[:, 3] % 2) + rng.normal(size=n_rows) > 1).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def models():
    X, y = table()
    made = {
        "tree": SLMClassifier(noise_margin=0, categorical_features=[3], random_state=0),
        "wide": SLMClassifier(noise_margin=0, max_planes=4, random_state=0),
        "forest": SLMForestClassifier(n_estimators=5, max_planes=2, categorical_features=[3], random_state=0),
        "boost": SLMBoostClassifier(n_estimators=5, categorical_features=[3], random_state=0),
    }
    return {name: model.fit(X, y) for name, model in made.items()}


def trees_of(model):
    return model.tree_ if hasattr(model, "tree_") else model.forest_


@pytest.mark.parametrize("name", ["tree", "wide", "forest", "boost"])
def test_a_trace_leads_from_the_root_to_where_the_row_ends(models, name):
    forest, rows = trees_of(models[name]), table()[0][:60].astype(np.float32)
    ends = forest.apply(rows)
    for row, there in zip(rows, ends, strict=True):
        for tree in range(forest.n_trees):
            root, at = forest.node_start[tree], 0
            node, plane, _, right = forest.trace(row, tree)
            for here in dict.fromkeys(node.tolist()):
                assert here == at
                mine = node == here
                planes = np.arange(forest.plane_start[root + here], forest.plane_start[root + here + 1])
                assert_array_equal(plane[mine], planes)
                code = int((right[mine].astype(int) << np.arange(mine.sum())).sum())
                at = forest.children[forest.child_start[root + here] + code]
            assert at == there[tree]
            assert forest.plane_start[root + at] == forest.plane_start[root + at + 1] or at in node


def test_a_trace_has_the_planes_sum_or_the_rows_category(models):
    forest, rows = trees_of(models["tree"]), table()[0].astype(np.float32)
    kinds = set()
    for row in rows:
        for _, plane, value, right in zip(*forest.trace(row), strict=True):
            assert bool(right) == right_side(forest, plane, row[None])[0]
            terms = slice(forest.term_start[plane], forest.term_start[plane + 1])
            if forest.set_start[plane] < forest.set_start[plane + 1]:
                assert_array_equal(value, row[forest.term_feature[terms][0]])
            else:
                products = forest.term_weight[terms] * row[forest.term_feature[terms]]
                assert_array_equal(value, np.add.accumulate(products, dtype=np.float32)[-1])
            kinds.add((bool(forest.set_start[plane] < forest.set_start[plane + 1]), bool(np.isnan(value))))
    assert kinds == {(False, False), (False, True), (True, False), (True, True)}


def test_nodes_can_be_made_leaves(models):
    X, _ = table()
    forest, rows = trees_of(models["forest"]), X.astype(np.float32)
    stumps = forest.pruned(forest.depth >= 1)
    assert stumps.max_depth == 1 and stumps.n_trees == 5
    for tree in range(5):
        one = forest.part(tree, tree + 1)
        path = one.decision_path(one.apply(rows)[:, 0])
        below_root = np.array([max(n for n in path[i].indices if one.depth[n] <= 1) for i in range(len(rows))])
        expected = one.value[below_root]
        assert_array_equal(stumps.predict(rows, np.zeros(1), tree, tree + 1), expected.astype(np.float64))


def test_arrays_are_read_only_and_make_the_same_forest_again(models):
    for model in models.values():
        forest = trees_of(model)
        again = Forest.from_arrays(**forest.arrays(), n_outputs=forest.n_outputs)
        for name, array in forest.arrays().items():
            assert array.size == 0 or not array.flags.writeable
            assert getattr(again, name).dtype == array.dtype
            assert_array_equal(getattr(again, name), array)
        assert_array_equal(again.parent, forest.parent)
        assert_array_equal(again.depth, forest.depth)


def test_arrays_outlive_the_model():
    X, y = load_iris(return_X_y=True)
    value = SLMRegressor(random_state=0).fit(X, y).tree_.value
    assert value.base is not None and np.isfinite(value).all()


def test_copies_and_pickles_answer_the_same(models):
    rows = table()[0].astype(np.float32)
    for model in models.values():
        forest = trees_of(model)
        assert copy.deepcopy(model) is not model and np.shares_memory(copy.deepcopy(forest).value, forest.value)
        for other in (copy.copy(forest), copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
            assert other.value.dtype == forest.value.dtype
            assert_array_equal(other.apply(rows), forest.apply(rows))
            assert_array_equal(other.value, forest.value)


def test_trees_of_other_arrays_are_refused(models):
    forest = trees_of(models["tree"])
    for name, array in forest.arrays().items():
        with pytest.raises(
            ValueError, match=rf"{name}|number of|forest does not have|root|goes back|no |two par|child"
        ):
            forest.with_arrays(**{name: array[:-1]})
    with pytest.raises(ValueError, match="does not have"):
        Forest.from_arrays(**forest.arrays(), roots=np.zeros(1))
    missing = forest.arrays()
    del missing["children"]
    with pytest.raises(ValueError, match="no children"):
        Forest.from_arrays(**missing)


def one_leaf(**changed):
    """The arrays of a tree that is a single leaf."""
    planes = ("threshold", "missing_right", "plane_gain", "term_feature", "term_coefficient", "term_weight")
    whole = {
        **{name: np.empty(0, np.int32) for name in (*planes, "set_category")},
        **{name: np.zeros(1, np.int32) for name in ("term_start", "set_start")},
        "plane_start": np.zeros(2, np.int32),
        "child_start": np.array([0, 1]),
        "children": np.zeros(1, np.int32),
        "n_samples": np.ones(1, np.int64),
        "value": np.ones((1, 1)),
    }
    return whole | changed


@pytest.mark.parametrize("n_outputs", [2, 2**31, 2**63, 2**64 - 1])
def test_trees_with_one_value_have_no_more_outputs_than_trees(n_outputs):
    assert Forest.from_arrays(**one_leaf(), n_outputs=1).n_outputs == 1
    with pytest.raises(ValueError, match="more outputs than"):
        Forest.from_arrays(**one_leaf(), n_outputs=n_outputs)
    state = Forest.from_arrays(**one_leaf()).__getstate__() | {"n_outputs": n_outputs}
    with pytest.raises(ValueError, match="more outputs than"):
        Forest.__new__(Forest).__setstate__(state)


def test_no_number_of_values_is_too_large_to_be_counted():
    none = {name: np.zeros(1, np.int32) for name in ("node_start", "plane_start", "child_start")}
    none |= {"children": np.empty(0, np.int32), "n_samples": np.empty(0, np.int64)}
    assert Forest.from_arrays(**one_leaf(**none, value=np.ones((0, 3)))).n_outputs == 3
    with pytest.raises(ValueError, match="more outputs than"):
        Forest.from_arrays(**one_leaf(**none, value=np.ones((0, 2**33))))


def test_outputs_of_parts_of_a_boosting_are_no_more_than_their_trees():
    X, y = load_iris(return_X_y=True)
    forest = SLMBoostClassifier(n_estimators=3, random_state=0).fit(X, y).forest_
    assert forest.n_outputs == 3 and forest.value.shape[1] == 1
    for n_trees, n_outputs in [(0, 1), (1, 1), (2, 2), (3, 3), (6, 3)]:
        part = pickle.loads(pickle.dumps(forest.head(n_trees)))
        assert (part.n_trees, part.n_outputs) == (n_trees, n_outputs)


@pytest.mark.parametrize("n_outputs", [-1, 0, 2.5, None, "a", 2**64])
def test_a_number_of_outputs_that_is_none_is_refused(n_outputs):
    with pytest.raises(ValueError, match="output"):
        Forest.from_arrays(**one_leaf(), n_outputs=n_outputs)


@pytest.mark.parametrize("wrong", [2**32, -(2**32), 2**31])
def test_integers_beyond_their_type_are_refused(models, wrong):
    forest = trees_of(models["tree"])
    for name in ("term_feature", "children", "set_category", "plane_start", "missing_right"):
        array = getattr(forest, name).astype(np.int64)
        array[0] = wrong
        with pytest.raises(ValueError, match=f"{name} must not have integers beyond its type"):
            forest.with_arrays(**{name: array})
    with pytest.raises(ValueError, match="n_samples must not have integers beyond its type"):
        forest.with_arrays(n_samples=np.full(forest.n_nodes, 2**63, np.uint64))
    with pytest.raises(ValueError, match="children must be a one-dimensional array of integers"):
        forest.with_arrays(children=forest.children + 0.5)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_of_any_type_make_the_same_forest(models, kind):
    forest = trees_of(models["forest"]).head(1)
    for name in ("term_feature", "children", "set_category", "missing_right"):
        array = getattr(forest, name)
        if array.max() > np.iinfo(kind).max:
            continue
        spread = np.repeat(array.astype(kind), 2)[::2]
        assert_array_equal(getattr(forest.with_arrays(**{name: spread}), name), array)


def test_what_a_grown_tree_has_lent_never_changes():
    X, y = load_iris(return_X_y=True)
    rows, weight = X.astype(np.float32), np.ones(len(X))
    grown, leaf = _core.grow_numbers(_core.Table(rows, weight, 1), y - y.mean(), weight, _core.GrowOptions(), 1)
    lent = grown.arrays() | {"parent": grown.parent, "depth": grown.depth}
    before = {name: array.copy() for name, array in lent.items()}
    totals = np.column_stack([np.bincount(leaf, each, minlength=len(grown.parent)) for each in (weight * y, weight)])
    moved, small = grown.with_means(totals, 1.0, 5.0), grown.compacted(1, 1.0)
    assert not np.array_equal(moved.arrays()["value"], before["value"])
    assert small.arrays()["value"].dtype == np.float32 and "weight" not in small.arrays()
    for name, array in lent.items():
        assert_array_equal(array, before[name])


def test_an_unknown_kind_of_importance_is_refused(models):
    with pytest.raises(ValueError, match="kind must be 'gain', 'split' or 'cover'; got 'nonsense'"):
        trees_of(models["tree"]).importances(4, "nonsense")


def test_values_without_columns_are_refused(models):
    forest = trees_of(models["tree"])
    with pytest.raises(ValueError, match="one row per node and one column per value"):
        forest.with_arrays(value=forest.value[:, 0])


def test_no_trees_have_votes_too():
    votes = Forest.empty().as_votes()
    assert votes.n_trees == 0 and votes.value.shape == (0, 1)
