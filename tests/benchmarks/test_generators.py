from __future__ import annotations

import numpy as np
import pytest
from benchmarks.data import (
    make_circle_and_ring,
    make_friedman,
    make_new_moons,
    make_subspace_batches,
)
from numpy.testing import assert_array_equal
from sklearn.datasets import make_circles, make_moons

GENERATORS = {
    "circle_and_ring": make_circle_and_ring,
    "2_new_moons": make_new_moons,
    "4_new_moons": lambda **kwargs: make_new_moons(n_moons=4, **kwargs),
    "friedman1": lambda **kwargs: make_friedman(1, **kwargs),
    "friedman2": lambda **kwargs: make_friedman(2, **kwargs),
    "friedman3": lambda **kwargs: make_friedman(3, **kwargs),
    "subspace_batches": lambda **kwargs: make_subspace_batches(noise=0.1, **kwargs),
}


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_same_seed_same_data_and_other_seed_other_data(make):
    X, y = make(random_state=0)
    again_X, again_y = make(random_state=0)
    other_X, _ = make(random_state=1)
    assert X.dtype == np.float64 and len(X) == len(y)
    assert_array_equal(X, again_X)
    assert_array_equal(y, again_y)
    assert not np.array_equal(X, other_X)


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_rows_come_in_random_order(make):
    _, y = make(random_state=0)
    half = len(y) // 2
    assert abs(y[:half].mean() - y[half:].mean()) < 0.2 * y.std()


def test_circle_and_ring_is_scikit_learns_with_the_papers_numbers():
    X, y = make_circle_and_ring(random_state=3)
    expected_X, expected_y = make_circles(1000, noise=0.2, factor=0.5, random_state=3)
    assert_array_equal(X, expected_X)
    assert_array_equal(y, expected_y)


def test_two_moons_are_scikit_learns_with_the_papers_numbers():
    X, y = make_new_moons(random_state=3)
    expected_X, expected_y = make_moons(1000, noise=0.3, random_state=3)
    assert_array_equal(X, expected_X)
    assert_array_equal(y, expected_y)


def test_four_moons_are_four_classes_of_500():
    X, y = make_new_moons(n_moons=4, random_state=0)
    assert X.shape == (2000, 2)
    assert_array_equal(np.bincount(y), [500] * 4)


def test_each_of_four_moons_is_a_half_circle_of_its_own():
    X, y = make_new_moons(400, n_moons=4, noise=0.0, random_state=0)
    centres = [(0, 0), (1, 0.5), (3.5, 0), (4.5, 0.5)]
    for moon, centre in enumerate(centres):
        np.testing.assert_allclose(np.linalg.norm(X[y == moon] - centre, axis=1), 1)


def test_four_moons_have_noise_of_one_fifth():
    X, y = make_new_moons(40_000, n_moons=4, random_state=0)
    radii = np.linalg.norm(X[y == 2] - (3.5, 0), axis=1)
    assert radii.std() == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("n_samples", [4, 5, 6, 7, 1001])
def test_four_moons_share_any_number_of_rows_as_evenly_as_possible(n_samples):
    _, y = make_new_moons(n_samples, n_moons=4, random_state=0)
    counts = np.bincount(y, minlength=4)
    assert counts.sum() == n_samples and np.ptp(counts) <= 1


@pytest.mark.parametrize(("number", "n_features"), [(1, 10), (2, 4), (3, 4)])
def test_friedman_has_the_usual_number_of_features(number, n_features):
    X, y = make_friedman(number, random_state=0)
    assert X.shape == (1000, n_features) and y.shape == (1000,)


def test_friedman_is_without_noise_by_default():
    X, y = make_friedman(2, random_state=0)
    expected = np.sqrt(X[:, 0] ** 2 + (X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])) ** 2)
    np.testing.assert_allclose(y, expected)
    assert X[:, 0].max() > 90  # scikit-learn's range, not [0, 1]


def test_a_batch_is_decided_by_its_pair():
    X, y, details = make_subspace_batches(5, noise=0.2, return_details=True, random_state=0)
    for number, (u, v) in enumerate(details.pairs):
        rows = details.batch == number
        assert rows.sum() == 650
        assert_array_equal(y[rows], (X[rows, u] > 1.5) ^ (X[rows, v] > 1.5))


def test_only_the_pair_of_a_batch_is_moved_above_one():
    X, _, details = make_subspace_batches(4, return_details=True, random_state=1)
    expected = np.zeros(X.shape, dtype=bool)
    np.put_along_axis(expected, details.pairs[details.batch], True, axis=1)
    assert_array_equal(X > 1, expected)
    assert X.max() < 2


@pytest.mark.parametrize("n_batches", [1, 7])
def test_noise_is_a_share_of_one_batch(n_batches):
    X, y, details = make_subspace_batches(n_batches, noise=0.2, return_details=True, random_state=0)
    noise = details.batch == -1
    assert noise.sum() == 130 and len(X) == 650 * n_batches + 130
    assert X[noise].max() > 1.9 and (X[noise] > 1).mean() == pytest.approx(0.5, abs=0.1)
    assert y[noise].mean() == pytest.approx(0.5, abs=0.2)


def test_pairs_are_two_different_features_and_may_repeat():
    _, _, details = make_subspace_batches(30, batch_size=1, n_features=3, return_details=True, random_state=0)
    assert (details.pairs[:, 0] < details.pairs[:, 1]).all()
    assert len(np.unique(details.pairs, axis=0)) == 3
