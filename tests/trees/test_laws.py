"""Laws that every fitted tree keeps, whatever the data and the parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from planewise import SLMClassifier, SLMRegressor

law = settings(max_examples=40)
rare_law = settings(law, max_examples=15)


# ------------------------------------------------------------------------------- any data, any parameters
class Table(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    new: np.ndarray  # rows the tree has not seen

    @property
    def is_classes(self):
        return self.y.dtype.kind == "i"

    @property
    def columns(self):
        """What a leaf averages: an indicator of each class, or the numbers."""
        return (self.y[:, None] == np.unique(self.y)).astype(float) if self.is_classes else self.y[:, None]

    @property
    def weights(self):
        return np.ones(len(self.y)) if self.weight is None else self.weight


@st.composite
def tables(draw, targets=("classes", "numbers"), weights=("none", "whole", "real"), missing=(0.0, 0.2)):
    """Small tables: real or whole features, classes or whole numbers to predict."""
    n, n_features = draw(st.integers(2, 70)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n + 20, n_features))
    if draw(st.booleans()):
        X = np.round(2 * X) + 0.0  # no negative zeros
    X[rng.random(X.shape) < draw(st.sampled_from(missing))] = np.nan
    signal = np.nan_to_num(X[:n]).sum(axis=1) + rng.normal(size=n)
    y = np.digitize(signal, [-1.5, 0, 1.5][: draw(st.integers(1, 3))])
    if draw(st.sampled_from(targets)) == "numbers":
        y = np.round(3 * signal)
    weight = {"none": None, "whole": rng.integers(1, 4, n).astype(float), "real": rng.random(n) + 0.1}
    return Table(X[:n], y, weight[draw(st.sampled_from(weights))], X[n:])


def growth(**fixed):
    choices = {
        "max_planes": [1, 2, 3],
        "plane_choice": ["joint", "cosine"],
        "n_projections": [0, 10],
        "subspace": ["candidate", "node"],
        "subspace_size": [2, 3],
        "bins": ["uniform", "quantile"],
        "refine_thresholds": [True, False],
        "min_samples_leaf": [1, 2, 5],
        "max_depth": [None, 2],
        "max_leaf_nodes": [None, None, 5],
        "noise_margin": [0.0, 0.0, 0.5],
        "smoothing": [0.0, 4.0],
        "max_ranked_features": [None, 2],
        "root_features": [None, None, 2],
        "axis_candidates": ["all", "all", "none", "subspace"],
        "min_coef": [0, 1],
        "random_state": range(100),
    }
    free = {name: st.sampled_from(values) for name, values in choices.items() if name not in fixed}
    return st.fixed_dictionaries(free | {name: st.just(value) for name, value in fixed.items()}).map(allowed)


def allowed(parameters):
    """Candidates of a subspace need one that is drawn, and without single features there must be others."""
    more = {}
    if parameters["axis_candidates"] == "subspace":
        more["subspace"] = "node"
    if parameters["axis_candidates"] == "none" and not parameters["n_projections"]:
        more["axis_candidates"] = "all"
    return parameters | more


def fitted(table, parameters, **more):
    kind = SLMClassifier if table.is_classes else SLMRegressor
    return kind(**{**parameters, **more}).fit(table.X, table.y, sample_weight=table.weight)


def answers(model, X):
    return model.predict_proba(X) if isinstance(model, SLMClassifier) else model.predict(X)


ARRAYS = [*SLMClassifier().fit([[0.0], [1.0]], [0, 1]).tree_.arrays(), "parent", "depth"]
SUMS = ["n_samples", "weight", "impurity", "gain", "value", "plane_gain"]
STRUCTURE = [name for name in ARRAYS if name not in SUMS]


def assert_same(one, other, names=ARRAYS):
    """Byte by byte."""
    for name in names:
        a, b = getattr(one.tree_, name), getattr(other.tree_, name)
        assert a.dtype == b.dtype, name
        assert a.shape == b.shape, name
        assert a.tobytes() == b.tobytes(), name


# ------------------------------------------------------------------------------- weights
def repeated(table):
    times = table.weight.astype(int)
    return Table(np.repeat(table.X, times, axis=0), np.repeat(table.y, times), None, table.new)


def centred(table):
    """The table with its last target changed so that the mean is zero and sums have no rounding."""
    if table.is_classes:
        return table
    weight, y = table.weight.copy(), table.y.copy()
    weight[-1] = 1
    y[-1] = -(weight[:-1] @ y[:-1])
    return table._replace(y=y, weight=weight)


@law
@given(tables(weights=("whole",)), growth(min_samples_leaf=1, bins="uniform"))
def test_a_whole_weight_is_as_many_equal_rows(table, parameters):
    """With larger leaves, or bins of equally many rows, rows are counted, not weighed."""
    table = centred(table)
    weighted, rows = fitted(table, parameters), fitted(repeated(table), parameters)
    assert_same(weighted, rows, STRUCTURE)
    for X in (table.X, table.new):
        assert_allclose(answers(weighted, X), answers(rows, X), rtol=1e-9, atol=1e-12)


@law
@given(tables(), growth(), st.integers(1, 30))
def test_rows_of_no_weight_change_nothing(table, parameters, n_more):
    rng = np.random.default_rng(n_more)
    place = rng.integers(0, len(table.y) + 1, n_more)
    X = np.insert(table.X, place, 1e6 * rng.normal(size=(n_more, table.X.shape[1])), axis=0)
    y = np.insert(table.y, place, rng.choice(table.y, n_more))
    padded = Table(X, y, np.insert(table.weights, place, 0.0), table.new)
    assert_same(fitted(table, parameters), fitted(padded, parameters))


@law
@given(tables(weights=("whole", "real")), growth(), st.integers(0, 8), st.integers(1, 8))
def test_weights_below_one_on_the_average_count_by_their_ratio_alone(table, parameters, exponent, more):
    small = table.weight * 2.0 ** (-exponent - np.ceil(np.log2(table.weight.max())))
    one = fitted(table._replace(weight=small), parameters)
    other = fitted(table._replace(weight=small * 2.0**-more), parameters)
    assert_array_equal(one.apply(table.new), other.apply(table.new))
    assert_allclose(answers(one, table.new), answers(other, table.new), rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------------- the same model again
@law
@given(tables(), growth())
def test_the_same_seed_gives_the_same_model(table, parameters):
    assert_same(fitted(table, parameters), fitted(table, parameters))


@rare_law
@given(tables(), growth())
def test_any_number_of_threads_gives_the_same_bytes(table, parameters):
    one = fitted(table, parameters, n_jobs=1)
    for n_jobs in (2, 3):
        assert_same(one, fitted(table, parameters, n_jobs=n_jobs))


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_any_number_of_threads_gives_the_same_bytes_on_many_rows(target):
    """More rows than one thread routes at a time, and than one node is judged by."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3)).round(2)
    y = X @ [1, 2, -1] + rng.normal(size=len(X))
    y = np.digitize(y, [-1, 1]) if target == "classes" else y
    table = Table(X, y, rng.random(len(X)), X[:9000] + 0.001)
    models = [fitted(table, {"n_projections": 10, "random_state": 0}, n_jobs=n) for n in (1, 2, 3)]
    for model in models[1:]:
        assert_same(models[0], model)
        assert_array_equal(models[0].apply(table.new), model.apply(table.new))


@law
@given(tables(weights=("none", "whole")), growth(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table, parameters, random):
    order = list(range(len(table.y)))
    random.shuffle(order)
    weight = None if table.weight is None else table.weight[order]
    shuffled = Table(table.X[order], table.y[order], weight, table.new)
    one, other = fitted(table, parameters), fitted(shuffled, parameters)
    assert_same(one, other, [name for name in ARRAYS if name != "value"])
    assert_allclose(one.tree_.value, other.tree_.value, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------------- units
@law
@given(tables(), growth(), st.data())
def test_the_unit_of_a_feature_does_not_matter(table, parameters, data):
    exponent = st.integers(-20, 20)
    factor = 2.0 ** np.array([data.draw(exponent) for _ in range(table.X.shape[1])])
    scaled = table._replace(X=table.X * factor)
    one, other = fitted(table, parameters), fitted(scaled, parameters)
    for X in (table.X, table.new):
        assert_array_equal(answers(one, X), answers(other, X * factor))


@st.composite
def grid_tables(draw):
    """Every column has the values 0 .. 6 equally often: their standard deviation is 2, nothing is rounded."""
    times, n_features = draw(st.integers(1, 10)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.column_stack([rng.permutation(np.repeat(np.arange(7.0), times)) for _ in range(n_features)])
    y = np.digitize(X.sum(axis=1) + rng.normal(size=len(X)), [5, 12])
    return Table(X, y, None, rng.integers(-4, 32, size=(30, n_features)) / 4)


@law
@given(grid_tables(), growth(), st.data())
def test_neither_unit_nor_origin_of_a_feature_matters(table, parameters, data):
    n_features = table.X.shape[1]
    factor = 2.0 ** np.array([data.draw(st.integers(-5, 5)) for _ in range(n_features)])
    origin = np.array([data.draw(st.integers(-500, 500)) for _ in range(n_features)])
    moved = table._replace(X=(table.X + origin) * factor)
    one, other = fitted(table, parameters), fitted(moved, parameters)
    for X in (table.X, table.new):
        assert_array_equal(answers(one, X), answers(other, (X + origin) * factor))


@law
@given(tables(weights=("none", "whole")), growth(), st.floats(-1e6, 1e6, width=32))
def test_a_column_that_never_varies_changes_nothing(table, parameters, constant):
    wider = table._replace(X=np.column_stack([table.X, np.full(len(table.X), constant)]))
    assert_same(fitted(table, parameters), fitted(wider, parameters))


@law
@given(tables(weights=("real",), targets=("classes",)), growth(noise_margin=0.3))
def test_a_column_that_never_varies_changes_nothing_whatever_the_weights(table, parameters):
    wider = table._replace(X=np.column_stack([table.X, np.full((len(table.X), 4), 0.1)]))
    assert_same(fitted(table, parameters), fitted(wider, parameters))


# ------------------------------------------------------------------------------- rows and leaves
@law
@given(tables(), growth())
def test_training_rows_end_where_growth_put_them(table, parameters):
    model = fitted(table, parameters)
    tree, leaf = model.tree_, model.apply(table.X)
    assert tree.is_leaf[leaf].all()
    assert_array_equal(np.asarray(model.decision_path(table.X).sum(axis=0)).ravel(), tree.n_samples)
    weight = np.bincount(leaf, table.weights, tree.n_nodes)
    assert_allclose(weight[tree.is_leaf], tree.weight[tree.is_leaf], rtol=1e-9)


@law
@given(tables(), growth(smoothing=0.0))
def test_without_smoothing_a_leaf_predicts_the_mean_of_its_rows(table, parameters):
    model = fitted(table, parameters)
    leaf = model.apply(table.X)
    for node in np.unique(leaf):
        here = leaf == node
        mean = np.average(table.columns[here], axis=0, weights=table.weights[here])
        assert_allclose(model.tree_.value[node], mean, rtol=1e-9, atol=1e-9)


@law
@given(tables(), growth(), st.integers(1, 12), st.integers(2, 30), st.integers(1, 4), st.integers(2, 12))
def test_limits_of_growth_are_kept(table, parameters, least, split, depth, n_leaves):
    limits = {"min_samples_leaf": least, "min_samples_split": split}
    tree = fitted(table, parameters, max_depth=depth, max_leaf_nodes=n_leaves, **limits).tree_
    assert tree.n_samples[tree.is_leaf].min() >= min(least, len(table.y))
    assert (tree.n_samples[~tree.is_leaf] >= max(split, 2 * least)).all()
    assert tree.max_depth <= depth
    assert tree.n_leaves <= n_leaves
    assert (np.diff(tree.plane_start) <= parameters["max_planes"]).all()


# ------------------------------------------------------------------------------- loss
@law
@given(tables(), growth())
def test_every_split_lowers_the_loss_by_its_gain(table, parameters):
    tree = fitted(table, parameters).tree_
    below = np.bincount(tree.parent[1:], tree.impurity[1:], tree.n_nodes)
    inner = ~tree.is_leaf
    assert (tree.gain[inner] > 0).all()
    drop = tree.impurity[inner] - below[inner]
    assert_allclose(drop, tree.gain[inner], rtol=1e-6, atol=1e-7 * max(1.0, tree.impurity[0]))


@law
@given(tables(), growth(max_leaf_nodes=None, noise_margin=0.0), st.integers(1, 3))
def test_a_shallow_tree_is_the_top_of_a_deeper_one(table, parameters, depth):
    top = fitted(table, parameters, max_depth=depth).tree_
    deep = fitted(table, parameters, max_depth=depth + 2).tree_
    n_planes = np.diff(top.plane_start)
    assert_array_equal(top.n_samples, deep.n_samples[: top.n_nodes])
    inner = np.flatnonzero(n_planes)
    assert_array_equal(n_planes[inner], np.diff(deep.plane_start)[inner])
    assert_array_equal(top.threshold, deep.threshold[: top.n_planes])
    assert top.impurity[top.is_leaf].sum() >= deep.impurity[deep.is_leaf].sum() * (1 - 1e-9)


@law
@given(
    tables(),
    growth(max_planes=1, max_depth=1, refine_thresholds=False, max_ranked_features=None, axis_candidates="all"),
)
def test_oblique_candidates_never_make_the_best_cut_worse(table, parameters):
    """On bin edges, as the candidates are compared; only a refined threshold may then overtake."""
    options = {"noise_margin": 0.0, "max_leaf_nodes": None}
    axis = fitted(table, {**parameters, **options}, n_projections=0).tree_.plane_gain
    oblique = fitted(table, {**parameters, **options}, n_projections=20).tree_.plane_gain
    assert len(oblique) >= len(axis)
    assert not len(axis) or oblique[0] >= axis[0]


@law
@given(grid_tables(), st.integers(1, 5), st.sampled_from(["entropy", "gini", "squared_error"]))
def test_a_stump_with_a_bin_for_every_value_is_the_best_stump_there_is(table, least, criterion):
    """As scikit-learn finds it by trying every threshold."""
    limits = {"max_depth": 1, "min_samples_leaf": least, "random_state": 0}
    options = {**limits, "n_projections": 0, "max_planes": 1, "n_bins": 64, "noise_margin": 0.0}
    if criterion == "squared_error":
        tree = SLMRegressor(**options).fit(table.X, table.y).tree_
        best = DecisionTreeRegressor(**limits).fit(table.X, table.y).tree_
    else:
        tree = SLMClassifier(criterion=criterion, **options).fit(table.X, table.y).tree_
        best = DecisionTreeClassifier(criterion=criterion, **limits).fit(table.X, table.y).tree_
    unit = np.log(2) if criterion == "entropy" else 1.0  # scikit-learn's is in bits
    least_loss = (best.impurity * best.weighted_n_node_samples)[best.children_left < 0].sum() * unit
    assert_allclose(tree.impurity[tree.is_leaf].sum(), least_loss, rtol=1e-6, atol=1e-6)


# ------------------------------------------------------------------------------- predictions
@law
@given(tables(targets=("classes",)), growth(), st.sampled_from(["entropy", "gini"]))
def test_probabilities_are_probabilities_and_the_largest_is_predicted(table, parameters, criterion):
    model = fitted(table, parameters, criterion=criterion)
    probability = model.predict_proba(table.new)
    assert (probability >= 0).all()
    assert_allclose(probability.sum(axis=1), 1)
    assert_array_equal(model.predict(table.new), model.classes_[probability.argmax(axis=1)])


@law
@given(tables(targets=("numbers",)), growth())
def test_predicted_numbers_lie_within_those_seen(table, parameters):
    predicted = fitted(table, parameters).predict(table.new)
    assert (predicted >= table.y.min() - 1e-6).all()
    assert (predicted <= table.y.max() + 1e-6).all()


@law
@given(tables(), growth())
def test_the_root_predicts_the_mean_of_all_rows(table, parameters):
    mean = np.average(table.columns, axis=0, weights=table.weight)
    assert_allclose(fitted(table, parameters).tree_.value[0], mean, rtol=1e-9, atol=1e-9)


@law
@given(tables(), growth())
def test_float32_and_float64_rows_are_answered_alike(table, parameters):
    model = fitted(table, parameters)
    assert_array_equal(answers(model, table.new), answers(model, table.new.astype(np.float32)))
