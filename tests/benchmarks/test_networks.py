"""The networks of the SLM paper's Table I: what they compute, and that this is a network."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.data import make_circle_and_ring, make_new_moons
from benchmarks.reproduce.networks import (
    BackpropagatedMLPClassifier,
    FeedforwardMLPClassifier,
    choose_planes,
    loss_and_gradient,
    plane_between,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neural_network import MLPClassifier

BOTH = pytest.mark.parametrize("kind", [FeedforwardMLPClassifier, BackpropagatedMLPClassifier])


@pytest.fixture(scope="module")
def moons():
    return make_new_moons(600, n_moons=4, random_state=3)


@pytest.fixture(scope="module")
def network(moons):
    return FeedforwardMLPClassifier(3, random_state=0).fit(*moons)


def by_region(network, X):
    """The region rule without a network: the class of the region, and none where no training row was."""
    known = {row.tobytes(): label for row, label in zip(network.regions_, network.region_classes_, strict=True)}
    sides = X @ network.planes_ + network.thresholds_ > 0
    return np.array([known.get(row.tobytes(), -1) for row in sides])


def test_the_forward_pass_answers_as_the_region_rule(network, moons):
    X = np.random.default_rng(0).uniform(-4, 4, (3000, 2)) + moons[0].mean(axis=0)
    rule = by_region(network, X)
    answer = network.decision_function(X).argmax(axis=1)
    assert (rule >= 0).sum() > 1000
    assert np.array_equal(answer[rule >= 0], rule[rule >= 0])


def test_a_row_in_a_region_without_training_rows_gets_the_most_frequent_class():
    # One plane between left and right, one between top and bottom; nothing is at the top right.
    centres = np.repeat([[-3, -3], [3, -3], [-3, 3]], [80, 60, 50], axis=0)
    X = centres + np.random.default_rng(0).normal(scale=0.5, size=centres.shape)
    network = FeedforwardMLPClassifier(1, random_state=0).fit(X, np.repeat(["a", "b", "c"], [80, 60, 50]))
    empty = np.array([[3.0, 3.0], [5.0, 2.0]])
    assert np.all(by_region(network, empty) == -1)
    assert np.array_equal(network.predict(empty), ["a", "a"])
    assert np.array_equal(network.predict([[-3, -3], [3, -3], [-3, 3]]), ["a", "b", "c"])


def test_scikit_learn_runs_the_same_network(network, moons):
    X, y = moons
    theirs = MLPClassifier([len(each) for each in network.intercepts_[:-1]]).partial_fit(X, y, classes=np.unique(y))
    theirs.coefs_, theirs.intercepts_ = network.coefs_, network.intercepts_
    assert np.array_equal(theirs.predict(X), network.predict(X))


def test_first_layer_neurons_are_pairs_of_opposite_sign(network):
    first, second = np.hsplit(np.vstack([network.coefs_[0], network.intercepts_[0]]), 2)
    assert np.array_equal(first, -second)


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
def test_a_plane_is_the_linear_discriminant_of_scikit_learn(shrinkage):
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) + 1, rng.normal(size=(90, 3))
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage or None)
    theirs.fit(np.vstack([one, other]), np.repeat([1, 0], [40, 90]))
    plane, threshold = plane_between(one, other, shrinkage)
    assert np.allclose(plane, theirs.coef_[0]) and np.isclose(threshold, theirs.intercept_[0])


def test_redundant_and_poor_planes_are_deleted_and_both_planes_of_xor_are_kept():
    X = np.random.default_rng(2).uniform(-1, 1, (400, 3))
    labels = (X[:, 0] * X[:, 1] > 0).astype(int)
    sides = np.column_stack([X[:, 2] > 0, X[:, 0] > 0, X[:, 0] < 0, X[:, 1] > 0, X[:, 1] < 0])
    kept = choose_planes(sides, labels, 5)
    assert len(kept) == 2 and {1, 2} & set(kept) and {3, 4} & set(kept)


def test_backpropagation_starts_at_the_feedforward_network(network, moons):
    start = BackpropagatedMLPClassifier(3, epochs=0, random_state=0).fit(*moons)
    trained = BackpropagatedMLPClassifier(3, epochs=5, random_state=0).fit(*moons)
    assert np.array_equal(start.decision_function(moons[0]), network.decision_function(moons[0]))
    assert [each.shape for each in trained.coefs_] == [each.shape for each in network.coefs_]
    targets = np.eye(4)[moons[1]]
    loss = [loss_and_gradient(moons[0], targets, each.coefs_, each.intercepts_)[0] for each in (start, trained)]
    assert loss[1] < loss[0]


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(4)
    X, targets = rng.normal(size=(20, 3)), np.eye(2)[rng.integers(0, 2, 20)]
    coefs = [rng.normal(size=shape) for shape in ((3, 4), (4, 5), (5, 2))]
    intercepts = [rng.normal(size=size) for size in (4, 5, 2)]
    _, gradient = loss_and_gradient(X, targets, coefs, intercepts)
    for parameter, slope in zip(coefs + intercepts, gradient, strict=True):
        for place in np.ndindex(parameter.shape):
            losses = []
            for step in (1e-6, -1e-6):
                kept = parameter[place]
                parameter[place] += step
                losses.append(loss_and_gradient(X, targets, coefs, intercepts)[0])
                parameter[place] = kept
            assert np.isclose((losses[0] - losses[1]) / 2e-6, slope[place], atol=1e-6)


@BOTH
def test_the_same_seed_gives_the_same_network(kind, moons):
    one, other = (kind(2, random_state=5).fit(*moons) for _ in range(2))
    for layer, same in zip(one.coefs_ + one.intercepts_, other.coefs_ + other.intercepts_, strict=True):
        assert np.array_equal(layer, same)


@BOTH
def test_four_blobs_in_the_ring_and_one_in_the_circle_give_the_layers_of_the_paper(kind):
    X, y = make_circle_and_ring(1000, random_state=0)
    model = kind((4, 1), random_state=0).fit(X, y)
    assert [len(each) for each in model.intercepts_] == [8, 9, 2]
    assert sum(map(np.size, model.coefs_ + model.intercepts_)) == 125  # as the paper prints
    assert model.score(X, y) > 0.8


def test_labels_may_be_words_and_one_class_is_refused():
    X, y = make_circle_and_ring(300, random_state=0)
    words = np.array(["ring", "circle"])[y]
    assert set(FeedforwardMLPClassifier(4, random_state=0).fit(X, words).predict(X)) == {"ring", "circle"}
    with pytest.raises(ValueError, match="one class only"):
        FeedforwardMLPClassifier().fit(X, np.zeros(300))
