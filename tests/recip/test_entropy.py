"""Local entropies and the estimates of eqs 2 and 3, against plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planewise.recip import conditional_entropy, local_entropy, tsallis_divergence
from planewise.recip.estimates import Counts, Distances, Reference


def plain_entropy(X, y, view, k, alpha):
    """By the definition: distances of a row to all others of its own and of other classes, no duplicates in X."""
    mean, spread = X.mean(axis=0), X.std(axis=0)
    points = ((X - mean) / spread)[:, view]
    out = np.empty(len(X))
    for i in range(len(X)):
        far = np.sqrt(((points - points[i]) ** 2).sum(axis=1))
        own = np.sort(far[(y == y[i]) & (np.arange(len(X)) != i)])[k - 1]
        other = np.sort(far[y != y[i]])[k - 1]
        ratio = 1.0 if own == other == 0 else np.inf if other == 0 else own / other
        out[i] = min(ratio ** (len(view) * (1 - alpha)), 10)
    return out


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from([[0], [2, 1], [0, 1, 2]]), st.sampled_from([1, 3]), st.floats(0, 0.9))
def test_local_entropy_follows_its_definition(seed, view, k, alpha):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 3)).astype(np.float32).astype(float)
    y = random.permutation(np.arange(40) % 3)
    got = local_entropy(X, y, view, k=k, tsallis_order=alpha)
    assert np.allclose(got, plain_entropy(X, y, sorted(view), k, alpha), rtol=1e-3)
    factor = (39 / 40) ** (1 - alpha)
    assert np.isclose(conditional_entropy(X, y, view, k=k, tsallis_order=alpha), factor * got.mean(), rtol=1e-6)


def test_repeated_rows_are_one_and_weigh_more():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 2)), np.arange(30) % 2
    twice = np.concatenate([X, X[:10]])
    labels = np.concatenate([y, y[:10]])
    single = local_entropy(X, y, [0, 1], scaling=None)
    assert np.array_equal(local_entropy(twice, labels, [0, 1], scaling=None), np.concatenate([single, single[:10]]))
    weight = np.where(np.arange(30) < 10, 2.0, 1.0)
    assert conditional_entropy(twice, labels, [0], scaling=None) == conditional_entropy(
        X, y, [0], scaling=None, sample_weight=weight
    )


def test_special_distances():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [np.nan]])
    extra = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    entropy = local_entropy(np.hstack([X, extra]), [0, 0, 1, 1, 0], [0], scaling=None)
    assert entropy[0] == 1  # both sides at distance zero
    assert entropy[2] == 10  # another class at zero, its own farther
    assert np.isnan(entropy[4])


def test_a_view_by_name():
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"a": random.normal(size=20), "b": random.normal(size=20)})
    y = np.arange(20) % 2
    assert conditional_entropy(frame, y, ["b"]) == conditional_entropy(frame.to_numpy(), y, [1])
    with pytest.raises(ValueError, match="view names 'c'"):
        conditional_entropy(frame, y, ["c"])
    with pytest.raises(ValueError, match="k must be"):
        local_entropy(frame, y, ["a"], k=0)
    with pytest.raises(ValueError, match="tsallis_order must be below 1"):
        local_entropy(frame, y, ["a"], tsallis_order=1)
    with pytest.raises(ValueError, match="No row"):
        conditional_entropy(frame, y, ["a"], k=15)


def test_the_divergence_of_two_normals_is_near_its_value():
    random = np.random.default_rng(2)
    U, V = random.normal(0, 1, size=(4000, 1)), random.normal(1, 1, size=(4000, 1))
    for alpha in (0.3, 0.5, 0.7):
        whole = np.exp(-alpha * (1 - alpha) / 2)  # the integral of p^alpha q^(1 - alpha)
        assert abs(tsallis_divergence(U, V, k=5, tsallis_order=alpha) - (whole - 1) / (alpha - 1)) < 0.08
    with pytest.raises(ValueError, match="same columns"):
        tsallis_divergence(U, np.ones((5, 2)))
    with pytest.raises(ValueError, match="needs more than"):
        tsallis_divergence(U[:3], V, k=3)


def reference(seed, n_classes):
    random = np.random.default_rng(seed)
    points = random.normal(size=(60, 3)).astype(np.float32)
    label = random.permutation(np.arange(60) % n_classes).astype(np.int32)
    return Reference(points, label, random.integers(1, 4, 60).astype(float), np.zeros(3, np.float32), n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("k", [1, 4])
def test_the_ratio_of_a_training_row_and_its_own_class_is_its_entropy(n_classes, k):
    rows = reference(k, n_classes)
    everyone = np.arange(60, dtype=np.int32)
    views = [(0,), (1, 2), (0, 1, 2)]
    share = np.bincount(rows.label, weights=rows.weight) / rows.weight.sum()
    for estimate in (Distances(k, 0.5), Counts(k, 0.5, 1.0, share)):
        entropy = estimate.entropies(rows, views, np.arange(60), 1, None)
        ratios, _ = estimate.judge(rows, views, rows.points, everyone, 1)
        own = np.take_along_axis(ratios.ratio, rows.label[None, :, None].astype(np.intp), axis=2)[..., 0]
        assert np.allclose(np.minimum(own, 10), entropy, rtol=1e-5)


@pytest.mark.parametrize("k", [1, 3])
def test_ratios_of_several_classes_follow_their_definition(k):
    rows = reference(7, 4)
    queries = np.random.default_rng(8).normal(size=(10, 3)).astype(np.float32)
    ratios, sides = Distances(k, 0.25).judge(rows, [(0, 2)], queries, None, 1)
    for q in range(10):
        far = np.sqrt(((rows.points[:, [0, 2]] - queries[q, [0, 2]]) ** 2).sum(axis=1))
        for c in range(4):
            own, other = np.sort(far[rows.label == c])[k - 1], np.sort(far[rows.label != c])[k - 1]
            assert np.isclose(ratios.ratio[0, q, c], (own / other) ** 1.5, rtol=1e-4)
            near, against = sides.of_class(0, q, c)
            assert (rows.label[near[1]] == c).all() and (rows.label[against[1]] != c).all()
            assert np.isclose(near[0][-1], own) and np.isclose(against[0][-1], other)
