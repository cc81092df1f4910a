from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import pairwise_kernels

from planewise.machines.kernels import Kernel, gamma_value


@pytest.fixture
def tables():
    random = np.random.default_rng(0)
    return random.normal(size=(7, 3)), random.normal(size=(5, 3))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("linear", {}),
        ("rbf", {"gamma": 0.7}),
        ("poly", {"gamma": 0.7, "coef0": 0.3, "degree": 2}),
    ],
)
def test_kernels_are_those_of_scikit_learn(name, known, tables):
    X, Y = tables
    kernel = Kernel(name, **known)
    assert_allclose(kernel(X, Y), pairwise_kernels(X, Y, metric=name, **known), atol=1e-12)
    assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)))


def test_gamma_in_words():
    X = np.array([[0.0, 2.0], [2.0, 4.0], [9.0, 9.0]])
    weight = np.array([1.0, 1.0, 0.0])
    assert gamma_value("auto", X, weight, 2) == 0.5
    assert gamma_value("scale", X, weight, 2) == pytest.approx(1 / (2 * X[:2].var()))
    assert gamma_value("smooth", X, weight, 2) == pytest.approx(gamma_value("scale", X, weight, 2) / 2)
    assert gamma_value("medium", X, weight, 2) == pytest.approx(gamma_value("scale", X, weight, 2) / 2**0.5)
    wide, ones = np.random.default_rng(0).normal(size=(9, 100)), np.ones(9)
    assert gamma_value("smooth", wide, ones, 100) == pytest.approx(gamma_value("scale", wide, ones, 100) / 20)
    assert gamma_value("medium", wide, ones, 100) == pytest.approx(gamma_value("scale", wide, ones, 100) / 20**0.5)
    assert gamma_value("scale", np.ones((2, 2)), np.ones(2), 2) == 1.0
    assert gamma_value(3, X, weight, 2) == 3.0


def test_columns_made_of_categories_are_not_features_of_their_own():
    X = np.array([[0.0, 2.0], [2.0, 4.0]])
    assert gamma_value("auto", X, np.ones(2), 1) == 1.0
    for word in ("medium", "smooth"):
        assert gamma_value(word, X, np.ones(2), 1) == gamma_value("scale", X, np.ones(2), 1)
