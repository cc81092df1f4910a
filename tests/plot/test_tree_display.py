from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from picture_check import assert_readable, clipped_texts, coarse, overlapping_texts
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from planewise import (
    MCMClassifier,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMRegressor,
)
from planewise.plot import TreeDisplay


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y, SLMClassifier(random_state=0, noise_margin=0).fit(X, y)


def test_the_path_is_the_decision_path(cancer):
    X, _, tree = cancer
    for row in (0, 20, 77):
        display = TreeDisplay.from_estimator(tree, row=X.iloc[[row]])
        assert display.path == tree.decision_path(X.iloc[[row]]).indices.tolist()


def test_formulas_hold_exactly_for_the_rows_on_their_right_side(cancer):
    X, _, tree = cancer
    display = TreeDisplay.from_estimator(tree)
    root = display.tree.planes[0]
    code = np.zeros(len(X), dtype=int)
    for bit, plane in enumerate(root):
        total = X.to_numpy(np.float32)[:, plane.features] @ np.array(plane.weights, np.float32)
        code |= (total >= plane.threshold).astype(int) << bit
    child = np.array(display.tree.children[0])[code]
    level = tree.decision_path(X).toarray()
    assert (level[np.arange(len(X)), child] == 1).mean() > 0.995  # but for rounding of sums


def test_a_formula_says_what_the_plane_does():
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X[:, 0] - 2 * X[:, 1] > 0.3
    tree = SLMClassifier(random_state=0, max_planes=1, max_depth=1).fit(X, y)
    words = TreeDisplay.from_estimator(tree, feature_names=["a", "b", "c"]).formulas[0][0]
    claim = words.replace("·", "*").replace("−", "-").replace("≥", ">=").replace("≤", "<=")
    holds = eval(claim, dict(zip("abc", X.T, strict=True)))
    assert (holds == (tree.apply(X) == tree.tree_.children[1])).mean() > 0.98  # numbers are written with three digits


def test_counts_and_mix_of_given_rows_are_those_of_the_nodes(cancer):
    X, y, tree = cancer
    display = TreeDisplay.from_estimator(tree, X=X[:200], y=y[:200])
    path = tree.decision_path(X[:200]).toarray()
    np.testing.assert_array_equal(display.counts, path.sum(axis=0))
    np.testing.assert_array_equal(display.mix[:, 1], path.T @ (y[:200].to_numpy() == 1))


def test_training_counts_of_children_add_up_to_their_parents(cancer):
    display = TreeDisplay.from_estimator(cancer[2])
    for node in range(display.tree.n_nodes):
        cells = display.tree.cells(node)
        if cells:
            assert display.counts[cells].sum() == display.counts[node]


@pytest.mark.parametrize("size", [(3, 3.4), (7, 5), (3, 8), (12, 9)])
def test_it_is_readable_at_any_size(cancer, size):
    X, _, tree = cancer
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    TreeDisplay.from_estimator(tree, row=X.iloc[[20]], class_names=["malignant", "benign"]).plot(ax)
    assert_readable(figure)


def test_its_own_figure_is_readable_and_not_wider_than_a_page(cancer):
    figure = TreeDisplay.from_estimator(cancer[2], class_names=["malignant", "benign"]).plot().figure_
    assert figure.get_size_inches()[0] < 10.5
    assert_readable(figure)


def test_more_than_thirty_nodes_are_folded_and_the_path_stays_open():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = SLMRegressor(random_state=0, noise_margin=0.1).fit(X, y)
    assert tree.tree_.n_nodes > 60
    display = TreeDisplay.from_estimator(tree, row=X.iloc[[0]])
    assert set(display.path) <= set(display.shown(30)) and len(display.shown(30)) <= 30
    figure = display.plot().figure_
    assert_readable(figure)
    folded = [text.get_text() for text in display.ax_.texts if text.get_text().startswith("+")]
    hidden = sum(int(text.split()[0]) for text in folded)
    assert hidden == display.tree.n_nodes - len(display.shown(30))


def test_all_nodes_are_shown_where_they_fit(cancer):
    display = TreeDisplay.from_estimator(cancer[2])
    assert len(display.shown(1000)) == display.tree.n_nodes
    assert display.shown(1) == [0]


def test_a_tree_of_one_leaf_is_drawn(paint):
    tree = SLMClassifier().fit(np.zeros((5, 2)), np.ones(5))
    display = TreeDisplay.from_estimator(tree, row=np.zeros((1, 2)))
    assert display.path == [0] and display.shown() == [0]
    assert paint(display.plot().figure_).std() > 0


def test_trees_of_ensembles_and_of_scikit_learn_are_drawn():
    X, y = load_iris(return_X_y=True)
    for model, tree in (
        (SLMForestClassifier(n_estimators=3, random_state=0), 2),
        (SLMBoostClassifier(n_estimators=2, random_state=0), 4),
        (DecisionTreeClassifier(random_state=0), None),
        (RandomForestClassifier(3, random_state=0), 1),
    ):
        display = TreeDisplay.from_estimator(model.fit(X, y), tree=tree, row=X[:1])
        if hasattr(model, "apply"):
            ends = np.asarray(model.apply(X[:1]))
            assert display.path[-1] == (ends[0] if ends.ndim == 1 else ends[0].ravel()[tree])
        assert_readable(display.plot().figure_)
        plt.close("all")


def test_a_forest_of_two_classes_shows_both_shares():
    X, y = load_breast_cancer(return_X_y=True)
    forest = SLMForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    display = TreeDisplay.from_estimator(forest, tree=1)
    np.testing.assert_allclose(display.mix.sum(axis=1), 1)
    display.plot()


def test_categories_are_named():
    X = pd.DataFrame({"colour": pd.Categorical(["red", "blue", "green", "red"] * 30), "size": np.arange(120.0)})
    y = (X["colour"] == "red").to_numpy()
    tree = SLMClassifier(random_state=0, max_planes=1).fit(X, y)
    words = TreeDisplay.from_estimator(tree).formulas[0][0]
    assert words in ("colour is red", "colour not in {blue, green}", "colour in {blue, green}", "colour is not red")
    holds = np.isin(X["colour"], [each for each in ("blue", "green", "red") if each in words]) != ("not" in words)
    right = tree.tree_.children[1]
    np.testing.assert_array_equal(holds, tree.apply(X) == right)


def test_errors_name_what_is_wrong(cancer):
    X, y, tree = cancer
    with pytest.raises(ValueError, match="row must be a table of one row; got 2"):
        TreeDisplay.from_estimator(tree, row=X[:2])
    with pytest.raises(ValueError, match="is a single tree"):
        TreeDisplay.from_estimator(tree, tree=1)
    with pytest.raises(ValueError, match="from 0 to 1; got 5"):
        TreeDisplay.from_estimator(SLMForestClassifier(n_estimators=2).fit(X, y), tree=5)
    with pytest.raises(TypeError, match="MCMClassifier has no tree"):
        TreeDisplay.from_estimator(MCMClassifier().fit(X, y))
    with pytest.raises(ValueError, match="feature_names has 2 names for 30"):
        TreeDisplay.from_estimator(tree, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="class_names has 3 names for 2"):
        TreeDisplay.from_estimator(tree, class_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="X was given without y"):
        TreeDisplay.from_estimator(tree, X=X)
    with pytest.raises(ValueError, match="max_nodes"):
        TreeDisplay.from_estimator(tree).plot(max_nodes=0)


def test_the_picture_changes_with_the_tree():
    X, y = load_wine(return_X_y=True, as_frame=True)

    def picture(model):
        figure, ax = plt.subplots(figsize=(6, 4))
        TreeDisplay.from_estimator(model).plot(ax)
        return coarse(figure)

    tree = SLMClassifier(random_state=0).fit(X, y)
    other = SLMClassifier(random_state=0, max_depth=1, max_planes=1).fit(X, y)
    assert np.abs(picture(other) - picture(tree)).max() > 25


def test_boxes_are_as_broad_as_their_type():
    X, y = load_wine(return_X_y=True, as_frame=True)
    display = TreeDisplay.from_estimator(SLMClassifier(random_state=0).fit(X, y))
    for family in ("DejaVu Sans", "DejaVu Sans Mono", "DejaVu Sans"):  # one after another, none remembered
        with plt.rc_context({"font.family": family}):
            assert_readable(display.plot().figure_)


def test_the_helpers_notice_clipped_and_overlapping_type():
    figure, ax = plt.subplots(figsize=(3, 3))
    ax.set_axis_off()
    ax.text(0.5, 0.5, "one text")
    ax.text(0.52, 0.51, "another")
    ax.text(-0.4, 0.1, "over the border")
    assert overlapping_texts(figure) == [("one text", "another")]
    assert clipped_texts(figure) == ["over the border"]


def test_a_target_statistic_is_named_and_a_row_finds_its_path():
    rng = np.random.default_rng(0)
    city, size = rng.integers(0, 60, 900), rng.normal(size=900)
    frame = pd.DataFrame({"city": pd.Categorical([f"city {k}" for k in city]), "size": size})
    score = rng.normal(size=60)[city] + 0.2 * size
    model = SLMBoostRegressor(n_estimators=3, random_state=0).fit(frame, score)
    display = TreeDisplay.from_estimator(model, row=frame.iloc[[0]], X=frame)
    assert any("city (mean of target)" in words for planes in display.formulas for words in planes)
    assert len(display.path) > 1
