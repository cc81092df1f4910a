"""Forest: the arrays of fitted trees, and what they answer."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from plain_walk import right_side
from sklearn.datasets import load_iris

from planewise import SLMBoostClassifier, SLMClassifier, SLMForestClassifier, SLMRegressor
from planewise.slm.fitted import Forest


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
        for other in (copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
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
