from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from whole_program import whole_optimum

from planewise import MCMRegressor
from planewise.machines.kernels import Kernel
from planewise.machines.surface import RIDGES, ridge_regression


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(200, n_features=5, noise=0.5, random_state=0)


@pytest.fixture(scope="module")
def machine(friedman):
    return MCMRegressor(mu=0.1, gamma="scale", scaling="standard").fit(*friedman)


def test_the_objective_is_the_optimum_of_the_whole_program(friedman):
    X, y = (part[:60] for part in friedman)
    machine = MCMRegressor(mu=0.1, epsilon=0.3, gamma="scale", scaling="standard").fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    target = (y - y.mean()) / y.std()
    K = Kernel("rbf", 0.2)(scaled, scaled)
    sign = np.repeat([1.0, -1.0], 60)
    ends = np.concatenate([target + 0.3, target - 0.3])
    expected = whole_optimum(np.vstack([K, K]), sign, np.ones(120), machine.C, machine.mu, free=[ends])
    assert_allclose(machine.objective_, expected, rtol=1e-6)
    assert machine.gap_[0] < 1e-6


def optimum_with_norm(G, K, target, machine):
    """The least h + C mean(q) + mu |x|_1 + rho x'K x, every row and column at once."""
    n, m = G.shape
    sign, ends = np.repeat([1.0, -1.0], n), np.concatenate([target + machine.epsilon, target - machine.epsilon])
    # Variables: x+ (m), x- (m), the intercept, the coefficient of y, h, q (2 n).
    signed = sign[:, None] * np.column_stack([np.vstack([G, G]), -np.vstack([G, G]), np.ones(2 * n), ends])
    rows = np.vstack(
        [
            np.hstack([signed, np.zeros((2 * n, 1)), np.eye(2 * n)]),
            np.hstack([-signed, np.ones((2 * n, 1)), -np.eye(2 * n)]),
        ]
    )
    least = np.repeat([1.0, 0.0], 2 * n)
    cost = np.concatenate([np.full(2 * m, machine.mu), [0, 0, 1], np.full(2 * n, machine.C / (2 * n))])
    difference = np.hstack([np.eye(m), -np.eye(m), np.zeros((m, 2 * n + 3))])
    quadratic = machine.rho * difference.T @ K @ difference
    found = minimize(
        lambda z: cost @ z + z @ quadratic @ z,
        np.concatenate([np.zeros(2 * m + 2), np.ones(2 * n + 1)]),
        jac=lambda z: cost + 2 * quadratic @ z,
        method="SLSQP",
        bounds=[(0, None)] * (2 * m) + [(None, None)] * 3 + [(0, None)] * (2 * n),
        constraints=[{"type": "ineq", "fun": lambda z: rows @ z - least, "jac": lambda z: rows}],
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.status in (0, 8), found.message  # 8: rounding leaves no better point along the last line
    return found.fun


@pytest.mark.parametrize(("mu", "rho"), [(0.1, 0.05), (1.0, 1.0)])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_the_objective_with_a_penalty_on_the_norm_is_the_optimum(friedman, kernel, mu, rho):
    X, y = StandardScaler().fit_transform(friedman[0][:24]), friedman[1][:24]
    K = Kernel("rbf", 0.2)(X, X)
    machine = MCMRegressor(mu=mu, rho=rho, gamma=0.2, kernel=kernel, scaling=None)
    machine.fit(K if kernel == "precomputed" else X, y)
    of_program = (X, np.eye(5)) if kernel == "linear" else (K, K)
    expected = optimum_with_norm(*of_program, (y - y.mean()) / y.std(), machine)
    assert_allclose(machine.objective_, expected, rtol=1e-6)
    assert machine.gap_[0] < 1e-6


def test_a_penalty_on_the_norm_makes_the_surface_smoother(friedman):
    spreads = [MCMRegressor(rho=rho, relaxation=1).fit(*friedman).predict(friedman[0]).std() for rho in (0, 0.1, 1)]
    assert spreads == sorted(spreads, reverse=True)


def test_a_penalty_on_the_norm_needs_a_semidefinite_kernel(friedman):
    with pytest.raises(ValueError, match=r"rho needs .* kernel, and 'poly' with a negative coef0 is not"):
        MCMRegressor(rho=0.1, kernel="poly", coef0=-1.0).fit(*friedman)


@pytest.mark.parametrize("mu", [0.5, "auto"])
def test_c_on_the_sum_of_slacks_is_that_times_twice_the_weights_on_their_mean(friedman, mu):
    X, y = friedman
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    summed = MCMRegressor(0.2, mu, slack="sum").fit(X, y, sample_weight=weight)
    mean = MCMRegressor(0.4 * weight.sum(), mu).fit(X, y, sample_weight=weight)
    assert summed.mu_ == pytest.approx(mean.mu_)
    assert_allclose(summed.predict(X), mean.predict(X), rtol=1e-6)
    repeated = MCMRegressor(0.2, summed.mu_, slack="sum").fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    assert_allclose(summed.objective_, repeated.objective_, rtol=1e-9)


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
    other = MCMRegressor(mu=0.1, gamma="scale", scaling="standard").fit(X * 1000 - 3, 50 * y + 7)
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


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("relaxation", ["ridge", 0.3, 1])
def test_weights_are_repeats_however_coefficients_are_fitted(friedman, kernel, relaxation):
    X, y = friedman
    times = np.random.default_rng(1).integers(0, 3, len(y))
    machine = MCMRegressor(mu=0.1, kernel=kernel, relaxation=relaxation)
    weighted = clone(machine).fit(X, y, sample_weight=times)
    repeated = clone(machine).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5)


def test_a_second_fit_keeps_the_support_vectors_of_the_program(friedman):
    machines = [MCMRegressor(mu=0.1, relaxation=relaxation).fit(*friedman) for relaxation in (1, 0.3, "ridge")]
    published, relaxed, ridge = machines
    assert_array_equal(ridge.support_, published.support_)
    assert set(relaxed.support_) <= set(published.support_)
    assert ridge.objective_ == published.objective_ == relaxed.objective_
    errors = [np.mean((machine.predict(friedman[0]) - friedman[1]) ** 2) for machine in machines]
    assert max(errors[1:]) < errors[0]


@pytest.mark.parametrize("weight", [np.ones(60), np.arange(60) % 3 + 1.0], ids=["equal", "weighted"])
def test_the_penalty_of_a_ridge_has_the_smallest_error_on_rows_left_out(weight):
    random = np.random.default_rng(0)
    Z = random.normal(size=(60, 3))
    y = np.sin(Z[:, 0]) + 0.3 * random.normal(size=60)
    K = Kernel("rbf", 0.3)(Z, Z[:12])
    norm = K[:12]

    def fit(rows, penalty):
        share = weight[rows] / weight[rows].sum()
        G = np.column_stack([K[rows], np.ones(len(rows))])
        penalties = np.zeros((13, 13))
        # The whole problem's penalty: a row left out changes the sum of squares, not the price of the norm.
        penalties[:12, :12] = penalty * norm * weight.sum() / weight[rows].sum()
        return np.linalg.solve(G.T @ (share[:, None] * G) + penalties, G.T @ (share * y[rows]))

    everything = np.arange(60)
    left_out = []
    for penalty in RIDGES:
        errors = []
        for i in everything:
            found = fit(np.delete(everything, i), penalty)
            errors.append(y[i] - K[i] @ found[:12] - found[12])
        left_out.append(np.average(np.square(errors), weights=weight))
    expected = fit(everything, RIDGES[int(np.argmin(left_out))])
    coefficients, intercept = ridge_regression(K, norm, y, weight)
    assert_allclose(K @ coefficients + intercept, K @ expected[:12] + expected[12], rtol=1e-5)


def test_a_ridge_without_columns_is_the_mean():
    coefficients, intercept = ridge_regression(np.empty((3, 0)), np.empty((0, 0)), np.arange(3.0), np.array([1, 1, 2]))
    assert len(coefficients) == 0 and intercept == 1.25


def test_the_penalty_falls_with_the_root_of_the_rows(friedman):
    X, y = friedman
    assert MCMRegressor().fit(X, y).mu_ == pytest.approx(0.1 / 200**0.5)
    assert MCMRegressor(C=10.0).fit(X[:50], y[:50]).mu_ == pytest.approx(0.01 / 50**0.5)
    twice = MCMRegressor().fit(np.repeat(X, 2, 0), np.repeat(y, 2))
    assert twice.mu_ == pytest.approx(MCMRegressor().fit(X, y, sample_weight=np.full(200, 7.0)).mu_)
    assert MCMRegressor(mu=0.2).fit(X, y).mu_ == 0.2


def test_a_larger_mu_needs_fewer_vectors(friedman):
    counts = [len(MCMRegressor(mu=mu).fit(*friedman).support_) for mu in (0.1, 1.0, 10.0)]
    assert counts == sorted(counts, reverse=True) and counts[-1] < counts[0]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("epsilon", 0), ("C", -1), ("mu", "x"), ("kernel", 3), ("gamma", -1), ("relaxation", 2)],
)
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
