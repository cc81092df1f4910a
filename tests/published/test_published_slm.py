"""The trees of the SLM paper: what each preset stands for, and that nothing of ours is switched on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine, make_classification, make_friedman1

from planewise import DiscriminantFeatureTest, published

CLASSIFIERS = [published.slm_classifier, published.slm_forest_classifier, published.slm_boost_classifier]
REGRESSORS = [published.slr_regressor, published.slr_forest_regressor, published.slr_boost_regressor]
# A parameter of ours, and the value that switches it off.
OFF = {
    "noise_margin": 0.0,
    "smoothing": 0.0,
    "min_impurity_decrease": 0.0,
    "plane_choice": "cosine",
    "refine_thresholds": False,
    "bins": "uniform",
    "axis_candidates": "subspace",
    "subspace": "node",
    "min_coef": 0,
    "min_samples_leaf": 1,
    "max_leaf_nodes": None,
    "max_rows_per_node": None,
    "max_ranked_features": None,
    "rows_per_projection": 0,
    "bootstrap": False,
    "voting": "hard",
    "reg_lambda": 0.0,
    "min_split_gain": 0.0,
    "base_score": 0.0,
    "subsample": 1.0,
    "colsample": 1.0,
    "max_rows_per_tree": None,
    "remember_directions": False,
    "target_statistics": None,
    "early_stopping": False,
    "monotonic_cst": None,
    "interaction_cst": None,
    "class_weight": None,
    "warm_start": False,
    "oob_score": False,
    "max_samples": None,
    "scoring": None,
    "callbacks": None,
}
# Parameters that the paper has, or that change no model.
PUBLISHED = {
    *("criterion", "loss", "n_estimators", "learning_rate", "max_depth", "min_samples_split", "min_loss"),
    *("max_planes", "max_cosine", "min_relative_gain", "n_projections", "subspace_size", "root_features", "max_coef"),
    *("coef_decay", "rank_decay", "n_bins", "min_child_weight", "categorical_features", "n_jobs", "random_state"),
    *("verbose", "validation_fraction", "refit", "n_iter_no_change", "tol"),
    *("alpha", "power"),  # of losses other than the squared error
}


@pytest.mark.parametrize("make", CLASSIFIERS + REGRESSORS)
def test_nothing_of_ours_is_switched_on(make):
    given = make().get_params()
    assert {name: value for name, value in given.items() if name in OFF} == {
        name: value for name, value in OFF.items() if name in given
    }


@pytest.mark.parametrize("make", CLASSIFIERS + REGRESSORS)
def test_every_parameter_is_one_of_the_paper_or_switched_off(make):
    assert set(make().get_params()) <= OFF.keys() | PUBLISHED


# ------------------------------------------------------------------------------------------------------ one tree
def table(n_features=12, seed=0):
    X, y = make_classification(
        400, n_features, n_informative=6, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=seed
    )
    return X.astype(np.float32), y


def nodes_with_planes(model, X):
    """(rows of the node, its planes) for each inner node; a plane is (features, coefficients, weights, threshold)."""
    tree = model.tree_
    path = model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(np.diff(tree.plane_start)):
        planes = []
        for plane in range(tree.plane_start[node], tree.plane_start[node + 1]):
            terms = slice(tree.term_start[plane], tree.term_start[plane + 1])
            planes.append(
                (
                    tree.term_feature[terms],
                    tree.term_coefficient[terms],
                    tree.term_weight[terms],
                    tree.threshold[plane],
                )
            )
        yield X[path[:, node]], path[:, node], planes


def ranking(X, y):
    """Features by the loss of their best cut at 16 uniform bins, best first (eqs 11 to 17)."""
    return DiscriminantFeatureTest(n_bins=16).fit(X, y).order_.tolist()


def envelope(rank, A_int=10, alpha=0.5):
    return math.floor(A_int * math.exp(-alpha * rank))


def test_all_planes_lie_in_the_best_features_of_the_root():
    X, y = table()
    tree = published.slm_classifier(D0=4, random_state=0).fit(X, y).tree_
    assert set(tree.term_feature) <= set(ranking(X, y)[:4])
    everywhere = published.slm_classifier(D0=None, alpha=0.0, random_state=0).fit(X, y).tree_
    assert len(set(everywhere.term_feature)) > 4


@pytest.mark.parametrize("seed", range(5))
def test_no_plane_of_a_node_leaves_the_drawn_subspace(seed):
    X, y = table(seed=seed)
    model = published.slm_classifier(R=3, alpha=0.0, beta=0.0, q=3, random_state=seed).fit(X, y)
    used = [set().union(*(set(plane[0]) for plane in planes)) for _, _, planes in nodes_with_planes(model, X)]
    assert max(map(len, used)) <= 3
    assert len(set().union(*used)) > 3  # other nodes draw other features


@pytest.mark.parametrize("seed", range(5))
def test_every_coefficient_is_inside_the_envelope_of_its_rank(seed):
    X, y = table(seed=seed)
    model = published.slm_classifier(q=1, random_state=seed).fit(X, y)
    n_oblique = 0
    for rows, mine, planes in nodes_with_planes(model, X):
        if len(rows) < 60:  # in small nodes many features tie, and their order is a convention
            continue
        rank = {feature: d for d, feature in enumerate(ranking(rows, y[mine]))}
        for features, coefficients, *_ in planes:
            n_oblique += len(features) > 1
            assert all(abs(a) <= envelope(rank[j]) for j, a in zip(features, coefficients, strict=True))
    assert n_oblique > 0


def test_thresholds_are_edges_of_sixteen_uniform_bins():
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    model = published.slm_classifier(random_state=0).fit(X, y)
    for rows, _, planes in nodes_with_planes(model, X):
        for features, _, weights, threshold in planes:
            value = rows[:, features] @ weights
            place = 16 * (threshold - value.min()) / (value.max() - value.min())
            assert abs(place - round(place)) < 1e-2


def test_leaves_are_pure_and_hold_plain_shares():
    X, y = table()
    model = published.slm_classifier(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.97  # what 16 bins of the drawn features can tell apart
    node = model.apply(X)
    for leaf in np.unique(node):
        assert_allclose(model.tree_.value[leaf], np.bincount(y[node == leaf], minlength=3) / (node == leaf).sum())


def test_a_subspace_of_no_features_or_larger_than_its_space_is_refused():
    X, y = table()
    with pytest.raises(ValueError, match="'subspace_size' of SLMClassifier must be an integer of 1 or more"):
        published.slm_classifier(R=0).fit(X, y)
    with pytest.raises(ValueError, match="of SLMClassifier must be an integer of 1 or more"):
        published.slm_classifier(D0=0).fit(X, y)
    with pytest.raises(ValueError, match="R=5 features cannot be drawn from a subspace of D0=4"):
        published.slm_classifier(D0=4, R=5)


def test_all_three_stopping_criteria_are_there():
    X, y = table()
    assert published.slm_classifier(max_depth=1, random_state=0).fit(X, y).depth_ == 1
    few = published.slm_classifier(min_samples=100, random_state=0).fit(X, y).tree_
    assert few.n_samples[~few.is_leaf].min() >= 100
    mixed = published.slm_classifier(min_loss=0.5, random_state=0).fit(X, y).tree_
    assert (mixed.impurity / mixed.weight)[~mixed.is_leaf].min() > 0.5


def test_the_regressor_predicts_means_of_leaves():
    X, y = make_friedman1(300, random_state=0)
    model = published.slr_regressor(min_samples=20, random_state=0).fit(X, y)
    node = model.apply(X)
    means = np.bincount(node, y) / np.maximum(np.bincount(node), 1)
    assert_allclose(model.predict(X), means[node], rtol=1e-6)


# ------------------------------------------------------------------------------------------------------ forests
def test_every_tree_of_a_forest_is_grown_on_all_rows_and_they_vote():
    X, y = load_wine(return_X_y=True)
    model = published.slm_forest_classifier(max_depth=1, D0=2, beta=0.0, random_state=0).fit(X, y)
    forest = model.forest_
    assert forest.n_trees == 20
    roots = forest.node_start[:-1]
    assert (forest.n_samples[roots] == len(X)).all()
    shares = forest.value[model.apply(X) + roots]  # rows x trees x classes, mixed in trees of one level
    votes = np.array([np.bincount(row, minlength=3) for row in shares.argmax(axis=2)])
    clear = np.sort(votes, axis=1)[:, -1] > np.sort(votes, axis=1)[:, -2]
    assert clear.sum() > 100
    assert (votes.argmax(axis=1) != shares.mean(axis=1).argmax(axis=1))[clear].any()  # the mean would say otherwise
    assert_array_equal(model.predict(X)[clear], votes.argmax(axis=1)[clear])


def test_trees_of_a_forest_differ_from_the_root_on():
    X, y = load_wine(return_X_y=True)
    forest = published.slm_forest_classifier(D0=3, random_state=0).fit(X, y).forest_
    first_plane = forest.plane_start[forest.node_start[:-1]]
    starts = [tuple(forest.term_feature[forest.term_start[k] : forest.term_start[k + 1]]) for k in first_plane]
    assert len(set(starts)) > 5


def test_a_regression_forest_is_the_mean_of_its_trees():
    X, y = make_friedman1(200, random_state=0)
    model = published.slr_forest_regressor(random_state=0).fit(X, y)
    by_tree = [(np.bincount(node, y) / np.maximum(np.bincount(node), 1))[node] for node in model.apply(X).T]
    assert_allclose(model.predict(X), np.mean(by_tree, axis=0), rtol=1e-6)


# ----------------------------------------------------------------------------------------------------- boosting
def test_the_first_tree_takes_newton_steps_from_zero_without_penalties():
    X, y = load_breast_cancer(return_X_y=True)
    model = published.slm_boost_classifier(n_estimators=1, learning_rate=0.3, max_depth=2, random_state=0).fit(X, y)
    node = model.apply(X)[:, 0]
    gradient, hessian = 0.5 - y, np.full(len(y), 0.25)  # of the log-loss at 0
    step = -np.bincount(node, gradient) / np.maximum(np.bincount(node, hessian), 1e-12)
    assert_allclose(model.decision_function(X), 0.3 * step[node], rtol=1e-5, atol=1e-6)


def test_the_first_tree_of_regression_fits_the_targets_from_zero():
    X, y = make_friedman1(300, random_state=0)
    model = published.slr_boost_regressor(n_estimators=1, learning_rate=1.0, max_depth=1, random_state=0).fit(X, y)
    node = model.apply(X)[:, 0]
    assert_allclose(model.predict(X), (np.bincount(node, y) / np.maximum(np.bincount(node), 1))[node], rtol=1e-5)


def outside_the_envelope(forest, bounds=(10, 3, 1)):
    """Oblique planes whose sorted coefficients exceed what any ranks of their features allow."""
    outside = 0
    for first, last in zip(forest.term_start[:-1], forest.term_start[1:], strict=True):
        sizes = sorted(np.abs(forest.term_coefficient[first:last]), reverse=True)
        allowed = [*bounds, *[0] * len(sizes)]
        outside += len(sizes) > 1 and any(size > most for size, most in zip(sizes, allowed, strict=False))
    return outside


def test_boosting_draws_every_direction_anew():
    """With alpha = 1 the bounds of ranks 0, 1, 2 and 3 are 10, 3, 1 and 0; remembered directions would break them."""
    X, y = load_breast_cancer(return_X_y=True)
    model = published.slm_boost_classifier(D0=None, alpha=1.0, p=20, n_estimators=40, random_state=0)
    assert outside_the_envelope(model.fit(X, y).forest_) == 0
    assert outside_the_envelope(model.set_params(remember_directions=True).fit(X, y).forest_) > 0
