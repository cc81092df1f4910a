from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from whole_program import whole_optimum

from planewise import MCMRegressor
from planewise.mcm._kernels import Kernel


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(200, n_features=5, noise=0.5, random_state=0)


@pytest.fixture(scope="module")
def machine(friedman):
    return MCMRegressor(scaling="standard").fit(*friedman)


def test_the_objective_is_the_optimum_of_the_whole_program(friedman):
    X, y = (part[:60] for part in friedman)
    machine = MCMRegressor(epsilon=0.3, scaling="standard").fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    target = (y - y.mean()) / y.std()
    K = Kernel("rbf", 0.2)(scaled, scaled)
    sign = np.repeat([1.0, -1.0], 60)
    ends = np.concatenate([target + 0.3, target - 0.3])
    expected = whole_optimum(np.vstack([K, K]), sign, np.ones(120), machine.C, machine.mu, free=[ends])
    assert_allclose(machine.objective_, expected, rtol=1e-6)
    assert machine.gap_[0] < 1e-6


def test_predictions_are_sums_over_few_support_vectors(friedman, machine):
    X, y = friedman
    mean, spread = X.mean(axis=0), X.std(axis=0)
    K = Kernel("rbf", 0.2)((X - mean) / spread, (machine.support_vectors_ - mean) / spread)
    assert_allclose(machine.predict(X), K @ machine.dual_coef_[0] + machine.intercept_[0])
    assert_array_equal(machine.support_vectors_, X[machine.support_])
    assert machine.score(X, y) > 0.85
    assert len(machine.support_) < 80


def test_units_of_x_and_y_do_not_matter(friedman, machine):
    X, y = friedman
    other = MCMRegressor(scaling="standard").fit(X * 1000 - 3, 50 * y + 7)
    assert_allclose(other.predict(X * 1000 - 3), 50 * machine.predict(X) + 7, rtol=1e-4)


def test_a_linear_machine_is_a_plane_in_the_units_of_x():
    X, y = load_diabetes(return_X_y=True)
    machine = MCMRegressor(kernel="linear").fit(X, y)
    assert_allclose(machine.predict(X), X @ machine.coef_[0] + machine.intercept_[0])
    assert machine.score(X, y) > 0.4
    assert len(machine.support_) == 0


def test_a_kernel_matrix_says_what_its_function_says(friedman):
    X, y = friedman
    kernel = Kernel("rbf", 0.2)
    by_name = MCMRegressor(gamma=0.2, scaling=None, mu=1.0).fit(X, y)
    by_matrix = MCMRegressor(kernel="precomputed", mu=1.0).fit(kernel(X, X), y)
    assert_allclose(by_matrix.objective_, by_name.objective_, rtol=1e-6)
    assert_allclose(by_matrix.predict(kernel(X[:9], X)), by_name.predict(X[:9]), rtol=1e-3)


def test_weights_are_repeats(friedman):
    X, y = friedman
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = MCMRegressor(mu=1.0).fit(X, y, sample_weight=times)
    repeated = MCMRegressor(mu=1.0).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    assert (times[weighted.support_] > 0).all()


def test_a_larger_mu_needs_fewer_vectors(friedman):
    counts = [len(MCMRegressor(mu=mu).fit(*friedman).support_) for mu in (0.1, 1.0, 10.0)]
    assert counts == sorted(counts, reverse=True) and counts[-1] < counts[0]


@pytest.mark.parametrize(("parameter", "value"), [("epsilon", 0), ("C", -1), ("mu", "x"), ("kernel", 3), ("gamma", -1)])
def test_wrong_parameters_are_refused_by_name(parameter, value, friedman):
    with pytest.raises(ValueError, match=f"The parameter '{parameter}' of MCMRegressor must be .*; got {value!r}"):
        MCMRegressor(**{parameter: value}).fit(*friedman)


def test_bad_input_is_refused(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match="Input y contains NaN"):
        MCMRegressor().fit(X, np.where(y > 20, np.nan, y))
    with pytest.raises(ValueError, match="must be the square matrix"):
        MCMRegressor(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match=r"100,000 rows.* LargeScaleMCMClassifier|100,000 rows.* sample of the rows"):
        MCMRegressor().fit(np.zeros((100_000, 1)), np.zeros(100_000))


def test_a_solver_out_of_steps_warns_with_the_gap(friedman):
    with pytest.warns(ConvergenceWarning, match="relative gap of"):
        MCMRegressor(max_iter=3).fit(*friedman)
