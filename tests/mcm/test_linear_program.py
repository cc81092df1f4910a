from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from whole_program import value, whole_optimum

from planewise.mcm._kernels import Kernel
from planewise.mcm.exact import _linear_program
from planewise.mcm.exact._linear_program import ComputedColumns, HeldColumns, ProgramPath, RepeatedColumns


def make_rows(seed, n, d, noise, *, rounded=False, weighted=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    if rounded:
        X = np.round(X)  # many equal rows, some with opposite labels
    sign = np.where(X[:, 0] * X[:, -1] + noise * random.normal(size=n) > 0, 1.0, -1.0)
    sign[0], sign[1] = 1.0, -1.0
    weight = random.uniform(0.1, 3, n) if weighted else np.ones(n)
    return X, sign, weight


def held_by(X, gamma):
    return HeldColumns(Kernel("rbf", gamma)(X, X))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 45),
    d=st.integers(1, 4),
    noise=st.sampled_from([0.0, 0.5, 2.0]),
    rounded=st.booleans(),
    weighted=st.booleans(),
    log_gamma=st.floats(-2, 1),
    path=st.lists(st.tuples(st.floats(-1, 3), st.floats(-3, 0.5)), min_size=1, max_size=4),
)
def test_the_optimum_is_that_of_the_whole_program(seed, n, d, noise, rounded, weighted, log_gamma, path):
    X, sign, weight = make_rows(seed, n, d, noise, rounded=rounded, weighted=weighted)
    columns = held_by(X, 10**log_gamma)
    machine = ProgramPath(columns, sign, weight)
    for log_C, log_mu in path:  # every solution starts from the last one
        C, mu = 10**log_C, 10**log_mu
        solution = machine.solve(C, mu)
        expected = whole_optimum(columns.matrix, sign, weight, C, mu)
        assert solution.converged
        assert_allclose([solution.objective, solution.dual], expected, rtol=1e-6)
        assert solution.gap < 1e-6
        x = np.zeros(n)
        x[solution.chosen] = solution.coefficients
        assert_allclose(value(columns.matrix, sign, weight, C, mu, x, solution.intercept), expected, rtol=1e-6)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 30), log_C=st.floats(-1, 3), log_mu=st.floats(-3, 0))
def test_free_columns_cost_nothing(seed, n, log_C, log_mu):
    X, sign, weight = make_rows(seed, n, 2, 1.0, weighted=True)
    free = np.random.default_rng(seed).normal(size=(1, n))
    columns = held_by(X, 1.0)
    solution = ProgramPath(columns, sign, weight, free).solve(10**log_C, 10**log_mu)
    assert_allclose(
        solution.objective, whole_optimum(columns.matrix, sign, weight, 10**log_C, 10**log_mu, free), rtol=1e-6
    )


def test_the_way_to_the_optimum_does_not_matter():
    X, sign, weight = make_rows(0, 120, 3, 1.0)
    columns = held_by(X, 0.5)
    cold = ProgramPath(columns, sign, weight).solve(100.0, 0.1)
    warm = ProgramPath(columns, sign, weight)
    for C, mu in [(10.0, 3.0), (1000.0, 1.0), (100.0, 10.0), (100.0, 0.1)]:
        solution = warm.solve(C, mu)
    assert_array_equal(solution.chosen, cold.chosen)
    assert_allclose(solution.coefficients, cold.coefficients, rtol=1e-6)
    assert_allclose(solution.intercept, cold.intercept, rtol=1e-6)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly"])
def test_computed_columns_give_the_solution_of_held_ones(name, monkeypatch):
    X, sign, weight = make_rows(3, 150, 4, 0.7)
    kernel = Kernel(name, 0.2, 2, 1.0)
    r = 1 + 0.3 * X[:, 0]
    monkeypatch.setattr(_linear_program, "BLOCK_VALUES", 1000)
    monkeypatch.setattr(_linear_program, "SINGLE_BLOCK_VALUES", 1000)
    held = ProgramPath(HeldColumns(r[:, None] * kernel(X, X) * r), sign, weight).solve(100.0, 0.5)
    computed = ProgramPath(ComputedColumns(kernel, X, X, r, r), sign, weight).solve(100.0, 0.5)
    assert len(held.chosen) > 5
    assert_array_equal(computed.chosen, held.chosen)
    assert_allclose(computed.coefficients, held.coefficients, rtol=1e-5)
    assert computed.gap < 1e-6


def test_single_precision_prices_are_within_their_error_bound():
    X, _, _ = make_rows(5, 300, 6, 1.0)
    X[:3] *= 30  # outliers have the largest errors
    by = np.random.default_rng(0).normal(size=300)
    columns = ComputedColumns(Kernel("rbf", 0.1), X, X, np.ones(300), np.ones(300))
    price, error = columns.prices(by)
    exact = columns.exact_prices(by, np.arange(300))
    assert 0 < np.abs(price - exact).max() < error


def test_repeated_columns_stand_under_each_other():
    matrix = np.random.default_rng(0).normal(size=(4, 3))
    twice, by = RepeatedColumns(HeldColumns(matrix)), np.arange(8.0)
    stacked = np.vstack([matrix, matrix])
    assert_array_equal(twice.take(np.array([2, 0])), stacked[:, [2, 0]].T)
    assert_allclose(twice.prices(by)[0], np.abs(by @ stacked))
    assert_allclose(twice.exact_prices(by, np.array([1])), np.abs(by @ stacked[:, [1]]))


def test_a_price_on_coefficients_makes_the_machine_sparse_and_the_published_program_is_degenerate():
    X, sign, weight = make_rows(1, 80, 2, 1.0)
    columns = held_by(X, 5.0)  # of full rank
    for C in (1.0, 100.0):
        published = ProgramPath(columns, sign, weight).solve(C, 0.0)
        assert published.converged
        assert published.h == pytest.approx(1, abs=1e-6)
        assert published.objective == pytest.approx(1, abs=1e-5)
        assert len(published.chosen) >= 78  # of 80
        priced = ProgramPath(columns, sign, weight).solve(C, 0.02 * C)
        assert 0 < len(priced.chosen) < 20


def test_vectors_get_fewer_as_mu_grows_down_to_none():
    X, sign, weight = make_rows(2, 150, 2, 0.5)
    path = ProgramPath(held_by(X, 0.5), sign, weight)
    counts = [len(path.solve(100.0, mu).chosen) for mu in (0.01, 0.1, 1.0, 10.0, 1000.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0


def test_relaxed_coefficients_are_the_optimum_of_the_chosen_columns_alone():
    X, sign, weight = make_rows(4, 100, 2, 0.8, weighted=True)
    columns = held_by(X, 1.0)
    path = ProgramPath(columns, sign, weight)
    whole = path.solve(100.0, 1.0)
    relaxed = path.relax(whole, 100.0, 0.1)
    own = columns.matrix[:, whole.chosen]
    expected = whole_optimum(own, sign, weight, 100.0, 0.1)
    x = np.zeros(100)
    x[relaxed.chosen] = relaxed.coefficients
    assert set(relaxed.chosen) <= set(whole.chosen)
    assert_allclose(value(columns.matrix, sign, weight, 100.0, 0.1, x, relaxed.intercept), expected, rtol=1e-6)
    assert (relaxed.objective, relaxed.dual) == (whole.objective, whole.dual)
    again = path.solve(100.0, 1.0)  # the path itself stayed where it was
    assert_allclose(again.coefficients, whole.coefficients)


def test_a_solver_out_of_steps_says_so_with_a_valid_bound():
    X, sign, weight = make_rows(6, 100, 3, 1.0)
    columns = held_by(X, 1.0)
    short = ProgramPath(columns, sign, weight).solve(100.0, 0.1, max_iter=10)
    full = ProgramPath(columns, sign, weight).solve(100.0, 0.1)
    assert not short.converged and short.n_iter <= 10
    assert short.dual <= full.objective <= short.objective
    assert short.gap > full.gap
