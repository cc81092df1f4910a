from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import ConformalKernel
from planewise.machines import conformal_factor
from planewise.machines.conformal_factor import fit_conformal_factor, fit_factor_on_features
from planewise.machines.kernels import Kernel
from planewise.machines.rows import balanced


@parametrize_with_checks(
    [ConformalKernel()],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": (
            "transform has a column for every training row, so repeated rows change its shape; that the "
            "kernel itself is the same is a test below"
        )
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------- against plain scatters
@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    X = rng.normal(size=(60, 3)) + np.eye(3)[y]
    return X, y, rng.integers(1, 4, size=60).astype(float), X[:7]


def quadratic_features(X):
    """The map whose inner products are (x.y)^2."""
    return np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)


def scatters(features, label, weight):
    """Between and within the classes, by their definition."""
    overall = np.average(features, axis=0, weights=weight)
    between = within = 0.0
    for c in np.unique(label):
        mine, heavy = features[label == c], weight[label == c]
        centre = np.average(mine, axis=0, weights=heavy)
        between += heavy.sum() * np.sum((centre - overall) ** 2)
        within += heavy @ np.sum((mine - centre) ** 2, axis=1)
    return between, within


@pytest.mark.parametrize("weighted", [False, True])
def test_the_forms_are_the_scatters_of_r_times_the_features(three_classes, weighted):
    X, y, weight, cores = three_classes
    weight = weight if weighted else np.ones(len(X))
    kernel = Kernel("poly", gamma=1.0, degree=2, coef0=0.0)
    factor = fit_conformal_factor(kernel, X, y, cores, 0.7, weight)
    features = quadratic_features(X)
    for shrinkage in (0.0, 0.4, 1.0):
        r = factor.shrunk(shrinkage)(X)
        between, within = scatters(r[:, None] * features, y, weight)
        assert_allclose(factor.separability(shrinkage), between / within, rtol=1e-9)


def test_no_other_combination_of_the_bumps_parts_the_classes_better(three_classes, monkeypatch):
    monkeypatch.setattr(conformal_factor, "RIDGE", 1e-9)
    X, y, weight, cores = three_classes
    factor = fit_conformal_factor(Kernel("poly", gamma=1.0, degree=2, coef0=0.0), X, y, cores, 0.7, weight)
    best = factor.separability(1.0)
    assert_allclose(factor.eigenvalue, best, rtol=1e-6)
    bumps = np.column_stack([np.ones(len(X)), rbf_kernel(X, cores, gamma=0.7)])
    assert_allclose(bumps @ factor.coef, factor(X))
    rng = np.random.default_rng(1)
    for _ in range(200):
        r = bumps @ (factor.coef + rng.normal(scale=rng.choice([1e-3, 1.0, 100.0]), size=len(factor.coef)))
        between, within = scatters(r[:, None] * quadratic_features(X), y, weight)
        assert between / within <= best * (1 + 1e-9)


def test_the_eigenproblem_is_that_of_the_whole_matrices(three_classes):
    X, y, weight, cores = three_classes
    kernel = Kernel("rbf", gamma=0.3)
    factor = fit_conformal_factor(kernel, X, y, cores, 0.7, weight)
    K, omega = kernel(X, X) * np.outer(weight, weight), weight
    same = (y[:, None] == y) / np.bincount(y, omega)[y]
    B0, W0 = K * same - K / omega.sum(), np.diag(omega * kernel.diagonal(X)) - K * same
    K1 = np.column_stack([np.ones(len(X)), rbf_kernel(X, cores, gamma=0.7)])
    B, W = K1.T @ B0 @ K1, K1.T @ W0 @ K1
    W += 1e-3 * np.trace(W) / len(W) * np.eye(len(W))
    assert_allclose(B @ factor.coef, factor.eigenvalue * (W @ factor.coef), atol=1e-8 * np.abs(B @ factor.coef).max())
    assert_allclose(factor.eigenvalue, np.linalg.eigvals(np.linalg.solve(W, B)).real.max(), rtol=1e-8)


def test_the_printed_eigenproblem_divides_every_block_by_all_rows(three_classes):
    X, y, weight, cores = three_classes
    kernel = Kernel("rbf", gamma=0.3)
    factor = fit_conformal_factor(kernel, X, y, cores, 0.7, weight, printed=True)
    K, omega = kernel(X, X) * np.outer(weight, weight), weight
    same = (y[:, None] == y) / omega.sum()
    B0, W0 = K * same - K / omega.sum(), np.diag(omega * kernel.diagonal(X)) - K * same
    K1 = np.column_stack([np.ones(len(X)), rbf_kernel(X, cores, gamma=0.7)])
    B, W = K1.T @ B0 @ K1, K1.T @ W0 @ K1
    W += 1e-3 * np.trace(W) / len(W) * np.eye(len(W))
    assert_allclose(B @ factor.coef, factor.eigenvalue * (W @ factor.coef), atol=1e-8 * np.abs(B @ factor.coef).max())
    assert_allclose(factor.eigenvalue, np.linalg.eigvals(np.linalg.solve(W, B)).real.max(), rtol=1e-8)
    signed = fit_conformal_factor(kernel, X, y, cores, 0.7, weight)
    assert factor.separability(1.0) < signed.separability(1.0)  # scatters are measured in the same way


@pytest.mark.parametrize("printed", [False, True])
def test_an_explicit_map_gives_the_factor_of_its_kernel_without_a_matrix_of_rows(three_classes, printed):
    X, y, weight, cores = three_classes
    kernel = Kernel("poly", gamma=1.0, degree=2, coef0=0.0)
    of_kernel = fit_conformal_factor(kernel, X, y, cores, 0.7, weight, printed=printed)
    parts = np.array_split(np.random.default_rng(2).permutation(len(X)), 4)
    of_map = fit_factor_on_features(
        ((X[part], quadratic_features(X[part]), y[part], weight[part]) for part in parts), cores, 0.7, printed=printed
    )
    assert_allclose(of_map.coef, of_kernel.coef, rtol=1e-6)
    assert_allclose(of_map.eigenvalue, of_kernel.eigenvalue)
    assert_allclose(of_map.separability(0.3), of_kernel.separability(0.3))


def test_r_has_a_mean_square_of_one_and_a_mean_that_is_not_negative(three_classes):
    X, y, weight, cores = three_classes
    for gamma in (0.05, 0.5, 5.0):
        r = fit_conformal_factor(Kernel("rbf", 0.3), X, y, cores, gamma, weight)(X)
        assert_allclose(np.average(r**2, weights=weight), 1)
        assert weight @ r >= 0


# ------------------------------------------------------------------------------------------------- laws
@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.25, random_state=0)


def test_weights_are_repeated_rows(moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = ConformalKernel().fit(X, y, weight)
    repeated = ConformalKernel().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.cores_, repeated.cores_)
    once = np.r_[0, np.cumsum(weight[weight > 0])[:-1]]  # one of each repeated row
    expected = repeated.transform(X)[:, once]
    assert_allclose(weighted.transform(X)[:, weight > 0], expected, rtol=1e-3, atol=1e-4)  # the SVC has a tolerance
    assert weighted.transform(X).shape == (len(X), len(X))


def test_the_order_of_rows_and_the_names_of_classes_do_not_matter(moons):
    X, y = moons
    plain = ConformalKernel().fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    other = ConformalKernel().fit(X[order], np.where(y[order] == 1, "a", "b"))
    assert_allclose(other.transform(X), plain.transform(X)[:, order], rtol=1e-4, atol=1e-6)


def test_units_of_columns_do_not_matter(moons):
    X, y = moons
    units = np.array([1000.0, 0.01])
    assert_allclose(
        ConformalKernel().fit(X * units + 5, y).transform(X * units + 5),
        ConformalKernel().fit(X, y).transform(X),
        rtol=1e-3,
        atol=1e-4,
    )


def test_the_matrix_is_a_kernel_and_r_its_factor(moons):
    X, y = moons
    kernel = ConformalKernel(gamma=0.4).fit(X, y)
    matrix = kernel.transform(X)
    assert_allclose(matrix, kernel.fit_transform(X, y))
    plain = rbf_kernel(kernel.X_fit_, gamma=0.4)
    r = kernel._factor(kernel.X_fit_)
    assert_allclose(matrix, np.outer(r, r) * plain)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9
    assert kernel.separability_ > kernel.separability_before_


def test_with_one_class_the_kernel_stays_what_it_was(moons):
    X, _ = moons
    model = ConformalKernel().fit(X, np.zeros(len(X)))
    assert_allclose(model.transform(X), rbf_kernel(model.X_fit_, gamma=0.5))
    assert model.cores_.shape == (0, 2)


def test_rows_of_a_class_that_are_all_alike_are_no_obstacle():
    X, y = np.repeat([[0.0, 0.0], [1.0, 2.0]], 5, axis=0), np.repeat([0, 1], 5)
    assert np.isfinite(ConformalKernel().fit(X, y).transform(X)).all()


def test_a_large_width_leaves_new_rows_as_they_were(moons):
    X, y = moons
    kernel = ConformalKernel(gamma_conformal=1e6).fit(X, y)
    assert np.ptp(kernel._factor(kernel._ready(X + 0.01))) < 1e-6 < np.ptp(kernel._factor(kernel.X_fit_))


# ------------------------------------------------------------------------------------------------ cores
def test_cores_are_support_vectors_in_the_units_of_the_data_and_evenly_from_the_classes():
    X, y = make_classification(1500, weights=[0.65], flip_y=0.6, random_state=0)
    model = ConformalKernel().fit(X, y)
    rows = {tuple(row): label for row, label in zip(X.astype(np.float32).round(3), y, strict=True)}
    labels = [rows[tuple(core)] for core in model.cores_.astype(np.float32).round(3)]
    assert len(labels) == 500
    assert sum(labels) == 250


def test_balanced_takes_the_most_important_of_each_group_in_turn():
    belongs, importance = np.array([0, 0, 0, 1, 1, 0]), np.array([5, 1, 4, 2, 3, 9])
    assert_array_equal(balanced(belongs, importance, 4), [0, 3, 4, 5])
    assert_array_equal(balanced(belongs, importance, 100), np.arange(6))


# -------------------------------------------------------------------------------------- with other methods
def test_it_stands_in_front_of_any_kernel_method(moons):
    X, y = moons
    for method in (SVC(kernel="precomputed"), KernelRidge(kernel="precomputed")):
        model = make_pipeline(ConformalKernel(), method).fit(X[::2], y[::2])
        assert np.mean((model.predict(X[1::2]) > 0.5) == y[1::2]) > 0.8
    assert make_pipeline(ConformalKernel(), KernelPCA(2, kernel="precomputed")).fit_transform(X, y).shape == (120, 2)


def test_a_pipeline_can_be_tuned(moons):
    X, y = moons
    search = GridSearchCV(
        make_pipeline(ConformalKernel(), SVC(kernel="precomputed")), {"conformalkernel__gamma": [0.1, 1.0]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.8


def test_several_classes_and_data_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    kernel = ConformalKernel().fit(X, y)
    assert kernel.separability_ > kernel.separability_before_
    assert_array_equal(pickle.loads(pickle.dumps(kernel)).transform(X), kernel.transform(X))
    assert clone(kernel).get_params() == kernel.get_params()


# ------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"gamma": 0.0}, "'gamma'.*above 0"),
        ({"gamma_conformal": "narrow"}, "'gamma_conformal'.*'auto'"),
    ],
)
def test_wrong_parameters_are_refused_by_name(moons, params, words):
    with pytest.raises(ValueError, match=words):
        ConformalKernel(**params).fit(*moons)


def test_infinities_are_refused_by_the_name_of_their_column(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["length", "width"])
    frame.iloc[3, 1] = np.inf
    with pytest.raises(ValueError, match="Column 'width' contains infinity"):
        ConformalKernel().fit(frame, y)
