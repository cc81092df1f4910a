"""The compiled tree is the one that the plain Python in ``reference.py`` grows, node by node."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import ReferenceTree, merge_small_cells
from reference_search import Random, column_scale, draw_ranks, draw_terms
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_circles,
    make_friedman1,
)

from planewise import SLMClassifier, SLMRegressor


# -------------------------------------------------------------------------------------------- the data
def levels():
    """Five classes on small whole numbers: many equal values, and many equal gains."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(100, 5)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.integers(0, 2, 100)).astype(int) % 5


def rings():
    X, y = make_circles(200, noise=0.2, factor=0.5, random_state=0)
    return np.column_stack([X, X[:, 0] * X[:, 1]]), y


def friedman():
    return make_friedman1(100, n_features=6, noise=0.5, random_state=0)


def steps():
    """Whole numbers to predict, from whole numbers."""
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, size=(120, 4)).astype(float)
    return X, (X[:, 0] > 0) * 2.0 + (X[:, 1] + X[:, 2] > 1) * 3.0


def awkward_columns():
    """Huge, tiny and far-off columns, one constant, one constant up to rounding, one all missing."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 7))
    y = X[:, :3].sum(axis=1) > 0
    X[:, 0] = X[:, 0] * 1e20
    X[:, 1] = X[:, 1] * 1e-20
    X[:, 2] = X[:, 2] + 3e4
    X[:, 3] = 7.0
    X[:, 4] = 1e6 + 0.3 * X[:, 4]
    X[:, 5] = np.nan
    return X.astype(np.float32), y.astype(int)  # of float64, far-off columns would be read from an origin


def heavy_tail():
    """Ninety rows within a millionth of the range of all."""
    x = np.concatenate([np.linspace(0, 1e-3, 90), np.linspace(1e5, 2e5, 10)])
    return x[:, None], (np.arange(100) >= 40).astype(int)


def barely_varying():
    """Far-off columns: one varies no more than rounding could, one a little more, one in two rows only."""
    rng = np.random.default_rng(4)
    steps = np.column_stack([rng.integers(0, 50, 200), rng.integers(0, 150, 200), np.zeros(200)])
    steps[:2, 2] = 100
    return 1e4 + steps * 2.0**-10, (steps > [25, 75, 50]) @ [1, 2, 4]


def neighbours():
    """Pairs of adjacent float32 numbers, told apart only by the class."""
    lower = np.linspace(1, 2, 16, endpoint=False, dtype=np.float32)
    upper = np.nextafter(lower, np.float32(2))
    return np.column_stack([lower, upper]).reshape(-1, 1), np.tile([0, 1], 16)


def informative_gaps():
    """Whether the first column is missing says the class, most of the time."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, size=(120, 3)).astype(float), rng.integers(0, 2, 120)
    X[(y == 1) & (rng.random(120) < 0.8), 0] = np.nan
    return X, y


def one_hot():
    """Columns of two values, more than a word has bits, a number among them; three of them make the class."""
    rng = np.random.default_rng(5)
    level = rng.integers(0, 12, size=(120, 6))
    bits = (level[:, :, None] == np.arange(12)).reshape(120, -1)
    bits[:, ::5] = ~bits[:, ::5]  # here the rarer value is the smaller one
    X = np.where(bits, rng.integers(1, 4, 72), -rng.integers(0, 3, 72)).astype(float)
    X[:, 40] = rng.normal(size=120)
    y = (level[:, 0] < 3).astype(int) + (level[:, 1] % 2 == level[:, 2] % 2) + (X[:, 40] > 1)
    return X, y


def one_hot_numbers():
    X, y = one_hot()
    return X, 3.0 * y + np.random.default_rng(6).normal(size=len(y))


def twins():
    """Two halves that are alike, four classes."""
    half, x = np.repeat([0.0, 1.0], 20), np.tile(np.arange(20.0), 2)
    return np.column_stack([half, x]), (2 * half + (x >= 10)).astype(int)


def nothing_but_gaps():
    """The same, where all values that are there are alike."""
    X, y = informative_gaps()
    X[~np.isnan(X)] = 7.0
    X[::7, 1] = np.nan
    return X, y


CLASSES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "levels": levels,
    "rings": rings,
    "awkward_columns": awkward_columns,
    "heavy_tail": heavy_tail,
    "barely_varying": barely_varying,
    "neighbours": neighbours,
    "informative_gaps": informative_gaps,
    "nothing_but_gaps": nothing_but_gaps,
    "twins": twins,
    "one_hot": one_hot,
}
NUMBERS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman": friedman,
    "steps": steps,
    "one_hot_numbers": one_hot_numbers,
}

WEIGHTS = {
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "real": lambda rng, n: rng.random(n) + 0.01,
    "some zero": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "far apart": lambda rng, n: 10.0 ** rng.uniform(-6, 6, n),
}


# -------------------------------------------------------------------------------------- the comparison
def assert_same_tree(data, weights=None, missing=0.0, **parameters):
    """Grows the tree both ways and compares all that the fitted tree holds; returns the fitted estimator."""
    X, y = (CLASSES | NUMBERS)[data]()
    rng = np.random.default_rng(17)
    X = np.where(rng.random(X.shape) < missing, np.nan, X)
    weight = None if weights is None else WEIGHTS[weights](rng, len(y))
    kind = SLMClassifier if data in CLASSES else SLMRegressor
    estimator = kind(**{"random_state": 0, "n_projections": 15, "noise_margin": 0.0, **parameters})
    expected = ReferenceTree(estimator, X, y, weight).nodes
    tree = estimator.fit(X, y, sample_weight=weight).tree_

    assert tree.n_nodes == len(expected)
    assert_array_equal(tree.parent, [node.parent for node in expected])
    assert_array_equal(tree.depth, [node.depth for node in expected])
    assert_array_equal(tree.n_samples, [len(node.rows) for node in expected])
    for k, node in enumerate(expected):
        children = tree.children[tree.child_start[k] : tree.child_start[k + 1]]
        assert children.tolist() == node.children, f"children of node {k}"
        planes = [plane_of(tree, j) for j in range(tree.plane_start[k], tree.plane_start[k + 1])]
        wanted = [(*plane.direction, plane.threshold, plane.missing_right) for plane in node.planes]
        assert planes == wanted, f"planes of node {k}"
        gains = tree.plane_gain[tree.plane_start[k] : tree.plane_start[k + 1]]
        assert_allclose(gains, [plane.gain for plane in node.planes], rtol=1e-9, err_msg=f"node {k}")
    for name in ("gain", "impurity", "weight"):
        wanted = [getattr(node, name) for node in expected]
        assert_allclose(getattr(tree, name), wanted, rtol=1e-9, err_msg=name)
    assert_allclose(tree.value, [node.value for node in expected], rtol=1e-9, atol=1e-12)
    return estimator


def plane_of(tree, j):
    terms = slice(tree.term_start[j], tree.term_start[j + 1])
    numbers = (tree.term_feature[terms], tree.term_coefficient[terms], tree.term_weight[terms])
    return (*(each.tolist() for each in numbers), tree.threshold[j], tree.missing_right[j])


# ------------------------------------------------------------------------------------------ one by one
@pytest.mark.parametrize("data", [*CLASSES, *NUMBERS])
@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"noise_margin": 0.75, "max_planes": 2}, id="as_by_default"),
        pytest.param({"n_projections": 0, "max_planes": 1, "smoothing": 0.0}, id="axis_parallel"),
        pytest.param(
            {
                "max_planes": 3,
                "plane_choice": "cosine",
                "subspace": "node",
                "subspace_size": 3,
                "coef_decay": 0.3,
                "refine_thresholds": False,
                "smoothing": 0.0,
            },
            id="as_published",
        ),
    ],
)
def test_the_tree_is_the_reference_tree_on_every_data_set(data, parameters):
    assert_same_tree(data, **parameters)


GROWTH = {
    "one_plane": {"max_planes": 1},
    "two_planes": {"max_planes": 2},
    "three_planes": {"max_planes": 3, "min_relative_gain": 0.1},
    "five_planes": {"max_planes": 5, "min_relative_gain": 0.0, "max_depth": 2},
    "cosine": {"plane_choice": "cosine"},
    "cosine_three_planes": {"plane_choice": "cosine", "max_planes": 3, "min_relative_gain": 0.1},
    "cosine_any_angle": {"plane_choice": "cosine", "max_planes": 3, "max_cosine": 1.0},
    "cosine_wide_angles_only": {"plane_choice": "cosine", "max_planes": 3, "max_cosine": 0.2},
    "only_the_best_may_join": {"max_planes": 3, "min_relative_gain": 1.0},
    "bin_edges": {"refine_thresholds": False},
    "quantile_bins": {"bins": "quantile"},
    "quantile_bin_edges": {"bins": "quantile", "refine_thresholds": False},
    "two_bins": {"n_bins": 2},
    "seven_bins": {"n_bins": 7},
    "many_bins": {"n_bins": 255, "max_depth": 2},
    "many_quantile_bins": {"n_bins": 255, "max_depth": 2, "bins": "quantile"},
    "shared_subspace": {"subspace": "node", "subspace_size": 3},
    "shared_subspace_drawn_by_rank": {"subspace": "node", "subspace_size": 2, "rank_decay": 2.0},
    "three_terms": {"subspace_size": 3},
    "flat_ranks": {"rank_decay": 0.0},
    "steep_ranks": {"rank_decay": 0.9},
    "steepest_ranks": {"rank_decay": 3.0},
    "more_terms_than_features": {"subspace_size": 1000},
    "decaying_coefficients": {"coef_decay": 0.5, "max_coef": 9},
    "signs_only_all_of_them": {"max_coef": 1, "subspace": "node", "subspace_size": 3},
    "enumerated_in_two_rounds": {"max_coef": 1, "subspace": "node", "subspace_size": [2, 3]},
    "rounds": {"subspace_size": [2, 3, 4], "coef_decay": [0.0, 0.2, 0.4], "rank_decay": [0.1, 0.0, 1.5]},
    "rounds_of_a_shared_subspace": {"subspace": "node", "subspace_size": [2, 4], "max_coef": 3},
    "a_round_without_obliques": {"subspace_size": [1, 2]},
    "axes_of_the_subspace": {"subspace": "node", "subspace_size": 3, "axis_candidates": "subspace"},
    "axes_of_a_subspace_of_one": {"subspace": "node", "subspace_size": 1, "axis_candidates": "subspace"},
    "axes_of_two_subspaces": {"subspace": "node", "subspace_size": [1, 2], "axis_candidates": "subspace"},
    "no_axes": {"axis_candidates": "none"},
    "coefficients_that_fade_out": {"coef_decay": 0.9, "min_coef": 0, "subspace_size": 3},
    "all_coefficients_faded_out": {
        "coef_decay": 9.0,
        "min_coef": 0,
        "rank_decay": 0.0,
        "subspace": "node",
        "subspace_size": 2,
        "axis_candidates": "subspace",
    },
    "two_features_of_the_root": {"root_features": 2},
    "features_of_the_root_apart_from_those_drawn": {
        "root_features": 3,
        "subspace": "node",
        "subspace_size": 2,
        "axis_candidates": "subspace",
    },
    "few_features_of_the_root_at_each_node": {"root_features": 3, "max_ranked_features": 2},
    "few_features_a_node": {"max_ranked_features": 2},
    "odd_share_of_features": {"max_ranked_features": 3, "subspace_size": 3},
    "large_leaves": {"min_samples_leaf": 10, "max_planes": 3},
    "large_leaves_by_cosine": {"min_samples_leaf": 10, "max_planes": 3, "plane_choice": "cosine"},
    "leaves_of_one_row": {"min_samples_leaf": 1},
    "large_nodes": {"min_samples_split": 25},
    "shallow": {"max_depth": 2},
    "best_first": {"max_leaf_nodes": 7},
    "best_first_three_planes": {"max_leaf_nodes": 10, "max_planes": 3},
    "best_first_large_leaves": {"max_leaf_nodes": 6, "min_samples_leaf": 8},
    "least_decrease": {"min_impurity_decrease": 0.02},
    "least_loss": {"min_loss": 0.3},
    "pruned_a_little": {"noise_margin": 0.2},
    "pruned": {"noise_margin": 1.0},
    "pruned_to_the_root": {"noise_margin": 1000.0},
    "pruned_after_many_rounds": {"noise_margin": 0.6, "n_projections": 5, "subspace_size": [2] * 9},
    "pruned_best_first": {"noise_margin": 0.5, "max_leaf_nodes": 8},
    "smoothed": {"smoothing": 50.0},
    "plain_means": {"smoothing": 0.0},
    "another_seed": {"random_state": 12345},
}


@pytest.mark.parametrize("data", ["wine", "friedman"])
@pytest.mark.parametrize("parameters", GROWTH.values(), ids=GROWTH)
def test_every_parameter_means_what_the_reference_says(data, parameters):
    assert_same_tree(data, **parameters)


@pytest.mark.parametrize("parameters", GROWTH.values(), ids=GROWTH)
def test_every_parameter_means_the_same_with_missing_values_and_weights(parameters):
    assert_same_tree("iris", weights="whole", missing=0.15, **parameters)


@pytest.mark.parametrize("parameters", GROWTH.values(), ids=GROWTH)
def test_every_parameter_means_the_same_for_gini(parameters):
    assert_same_tree("levels", criterion="gini", weights="real", **parameters)


@pytest.mark.parametrize("data", ["iris", "levels", "diabetes", "steps"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda name: name.replace(" ", "_"))
@pytest.mark.parametrize("margin", [0.0, 0.75], ids=["unpruned", "pruned"])
def test_weights_of_any_kind_count_as_in_the_reference(data, weights, margin):
    assert_same_tree(data, weights=weights, noise_margin=margin)


@pytest.mark.parametrize("data", ["iris", "breast_cancer", "informative_gaps", "friedman"])
@pytest.mark.parametrize("bins", ["uniform", "quantile"])
@pytest.mark.parametrize("refine", [True, False], ids=["refined", "edges"])
@pytest.mark.parametrize("missing", [0.05, 0.6], ids=["few_missing", "most_missing"])
def test_missing_values_go_where_the_reference_sends_them(data, bins, refine, missing):
    assert_same_tree(data, missing=missing, bins=bins, refine_thresholds=refine, min_samples_leaf=1)


@pytest.mark.parametrize("data", ["informative_gaps", "nothing_but_gaps"])
@pytest.mark.parametrize("bins", ["uniform", "quantile"])
def test_missing_values_can_be_split_off_alone(data, bins):
    stump = assert_same_tree(data, bins=bins, max_planes=1, max_depth=1)
    X, _ = CLASSES[data]()
    leaf = stump.apply(X)
    assert set(leaf[np.isnan(X[:, 0])]).isdisjoint(leaf[~np.isnan(X[:, 0])])


@pytest.mark.parametrize("missing", [0.0, 0.1], ids=["complete", "with_missing"])
def test_values_far_beyond_narrow_quantile_bins_stay_on_their_side(missing):
    parameters = {"bins": "quantile", "n_projections": 0, "max_planes": 1, "max_depth": 1}
    stump = assert_same_tree("heavy_tail", missing=missing, **parameters)
    if missing == 0:
        assert stump.score(*heavy_tail()) == 1.0


def test_of_two_equal_gains_the_older_node_is_split_first():
    tree = assert_same_tree("twins", max_leaf_nodes=3, max_planes=1, n_projections=0).tree_
    assert_array_equal(tree.is_leaf, [False, False, True, True, True])


def test_thresholds_between_adjacent_numbers_are_those_of_the_reference():
    assert_same_tree("neighbours", bins="quantile", n_bins=255, min_samples_leaf=1, max_planes=1)


def test_features_are_not_combined_where_rounding_could_fake_a_difference():
    """Alone, a feature is compared as it is, however little it varies."""
    tree = assert_same_tree("barely_varying", min_samples_leaf=1, n_projections=30).tree_
    assert (np.diff(tree.term_start) == 1).all()
    assert set(tree.term_feature) == {0, 1, 2}


@pytest.mark.parametrize("n_rows", [255, 256, 257, 512, 513, 600])
def test_quantile_edges_come_from_at_most_256_evenly_spaced_rows(n_rows, monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.exponential(size=(n_rows, 3)), rng.normal(size=n_rows)
    monkeypatch.setitem(NUMBERS, "rows", lambda: (X, y))
    assert_same_tree("rows", bins="quantile", refine_thresholds=False, max_depth=2)


# ------------------------------------------------------------------------------------- any combination
def any_parameters(seed):
    """Everything at once, each parameter drawn from its range."""
    rng = np.random.default_rng(seed)

    def one_of(*values):
        return values[rng.integers(len(values))]

    data = one_of("iris", "wine", "levels", "rings", "friedman", "steps")
    subspace = one_of("candidate", "node")
    n_projections = one_of(0, 5, 15, 30)
    parameters = {
        "data": data,
        "weights": one_of(None, None, *WEIGHTS),
        "missing": one_of(0.0, 0.0, 0.1),
        "max_planes": one_of(1, 2, 2, 3),
        "plane_choice": one_of("joint", "cosine"),
        "max_cosine": one_of(0.3, 0.7, 1.0),
        "min_relative_gain": one_of(0.0, 0.5, 0.9),
        "n_projections": n_projections,
        "subspace": subspace,
        "subspace_size": one_of(2, 3, [2, 3]),
        "root_features": one_of(None, None, 2, 3),
        "axis_candidates": one_of(
            "all", "none" if n_projections else "all", "subspace" if subspace == "node" else "all"
        ),
        "max_coef": one_of(1, 2, 5),
        "min_coef": one_of(1, 0),
        "coef_decay": one_of(0.0, 0.3),
        "rank_decay": one_of(0.0, 0.1, 1.5),
        "n_bins": one_of(2, 8, 16, 33),
        "bins": one_of("uniform", "quantile"),
        "refine_thresholds": one_of(True, False),
        "min_samples_leaf": one_of(1, 2, 7),
        "max_depth": one_of(None, None, 3),
        "max_leaf_nodes": one_of(None, None, 5, 9),
        "max_ranked_features": one_of(None, None, 2, 3),
        "noise_margin": one_of(0.0, 0.0, 0.3, 0.75),
        "smoothing": one_of(0.0, 4.0),
        "random_state": int(rng.integers(1000)),
    }
    return parameters | ({"criterion": one_of("entropy", "gini")} if data in CLASSES else {})


@pytest.mark.parametrize("seed", range(70), ids=lambda seed: f"draw_{seed}_{any_parameters(seed)['data']}")
def test_any_combination_of_parameters_gives_the_reference_tree(seed):
    assert_same_tree(**any_parameters(seed))


# ----------------------------------------------------------------------------------- the oracle itself
def test_the_random_stream_is_splitmix64():
    """Against the numbers published with the algorithm for the seed 1234567."""
    random = Random.__new__(Random)
    random.state = 1234567
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [random.next() for _ in expected] == expected


def test_ranks_are_drawn_in_proportion_to_their_weights():
    random = Random(0, 0)
    first = [draw_ranks(2, 10, 0.3, random)[0] for _ in range(4000)]
    first_by_noise = [draw_ranks(6, 10, 0.3, random)[0] for _ in range(4000)]
    weights = np.exp(-0.3 * np.arange(10))
    for drawn in (first, first_by_noise):
        share = np.bincount(drawn, minlength=10) / 4000
        assert_allclose(share, weights / weights.sum(), atol=0.03)


def test_enumeration_finds_every_direction_of_a_small_space_once():
    estimator = SLMClassifier(n_projections=63, max_coef=2, subspace_size=3)
    found = draw_terms([2, 0, 1], estimator, Random(0, 0))
    assert len(set(found)) == len(found) == 49 - 3  # primitive vectors up to sign, the axes left out


def test_a_scale_is_the_standard_deviation_to_twelve_bits():
    x = np.array([1.0, 2.0, 4.0, np.nan], dtype=np.float32)
    assert column_scale(x, np.ones(4)) == pytest.approx(np.std([1, 2, 4]), rel=2**-12)
    assert column_scale(x, np.array([1.0, 2.0, 0.0, 1.0])) == pytest.approx(np.std([1, 2, 2]), rel=2**-12)
    assert column_scale(np.full(5, 1e8, dtype=np.float32), np.ones(5)) == 0


@pytest.mark.parametrize(
    ("n_rows", "least", "home"),
    [
        pytest.param([5, 5, 0, 5], 2, [0, 1, None, 3], id="nothing_to_do"),
        pytest.param([5, 1, 0, 5], 2, [0, 3, None, 3], id="across_the_latest_plane"),
        pytest.param([5, 0, 0, 1], 2, [0, None, None, 0], id="two_planes_away"),
        pytest.param([2, 1, 3, 0], 4, [2, 2, 2, None], id="again_and_again"),
        pytest.param([1, 0], 4, [0, None], id="one_cell_stays_however_small"),
    ],
)
def test_small_cells_join_their_nearest_neighbour(n_rows, least, home):
    assert merge_small_cells(n_rows, least) == home
