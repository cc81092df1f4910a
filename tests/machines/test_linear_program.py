from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from whole_program import quadratic_optimum, value, whole_optimum

from planewise.machines import program as _linear_program
from planewise.machines.kernels import Kernel
from planewise.machines.program import (
    ComputedColumns,
    HeldColumns,
    Norm,
    ProgramPath,
    RepeatedColumns,
)


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


@settings(max_examples=40)
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


@settings(max_examples=15)
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


@pytest.mark.parametrize("name", ["rbf", "poly"])
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


def test_single_precision_products_are_within_their_error_bound():
    X, _, _ = make_rows(5, 300, 6, 1.0)
    X[:3] *= 30  # outliers have the largest errors
    by = np.random.default_rng(0).normal(size=300)
    columns = ComputedColumns(Kernel("rbf", 0.1), X, X, np.ones(300), np.ones(300))
    product, error = columns.products(by)
    exact = columns.exact_products(by, np.arange(300))
    assert 0 < np.abs(product - exact).max() < error


def test_repeated_columns_stand_under_each_other():
    matrix = np.random.default_rng(0).normal(size=(4, 3))
    twice, by = RepeatedColumns(HeldColumns(matrix)), np.arange(8.0)
    stacked = np.vstack([matrix, matrix])
    assert_array_equal(twice.take(np.array([2, 0])), stacked[:, [2, 0]].T)
    assert_allclose(twice.products(by)[0], by @ stacked)
    assert_allclose(twice.exact_products(by, np.array([1])), by @ stacked[:, [1]])


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
    relaxed = path.relax(100.0, 0.1)
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


def norm_of(n):
    return Norm(np.arange(n), np.arange(n))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 40),
    d=st.integers(1, 4),
    noise=st.sampled_from([0.0, 0.5, 2.0]),
    log_gamma=st.floats(-2, 1),
    path=st.lists(st.tuples(st.floats(0, 3), st.floats(-3, 0.5), st.floats(-1, 1.5)), min_size=1, max_size=3),
    without_mu=st.booleans(),
)
def test_with_a_norm_the_optimum_is_that_of_a_general_solver(seed, n, d, noise, log_gamma, path, without_mu):
    X, sign, weight = make_rows(seed, n, d, noise, weighted=True)
    columns = held_by(X, 10**log_gamma)
    machine = ProgramPath(columns, sign, weight, norm=norm_of(n))
    for log_C, log_mu, log_rho in path:  # every solution starts from the last one
        C, mu, rho = 10**log_C, 0.0 if without_mu else 10**log_mu, 10**log_rho
        solution = machine.solve(C, mu, rho)
        expected, scores = quadratic_optimum(columns.matrix, sign, weight, C, mu, rho)
        assert solution.converged
        x = np.zeros(n)
        x[solution.chosen] = solution.coefficients
        own = columns.matrix @ x + solution.intercept
        if mu > 0:  # without it, coefficients may be so large that the norm is lost in rounding
            found = value(columns.matrix, sign, weight, C, mu, x, solution.intercept) + rho * x @ columns.matrix @ x
            assert_allclose(found, solution.objective, rtol=1e-6)
        assert solution.objective <= expected * (1 + 1e-6)  # less is possible: that one is not exact
        assert solution.dual <= expected * (1 + 1e-6)
        assert solution.gap <= 1e-5  # what is called converged
        # As far apart as two points can be whose values differ by so much: the norm of the difference costs rho.
        apart = max(1e-8 * expected, 2 * (expected - solution.objective))
        assert_allclose(own, scores, atol=3 * np.sqrt(apart / rho) + 1e-6)


@pytest.mark.parametrize("seed", [207, 234, 361, 379, 390])
def test_rows_that_hardly_differ_do_not_send_the_solver_round_in_circles(seed):
    """Labels at random and narrow kernels: most rows see little more than the intercept."""
    random = np.random.default_rng(seed)
    n = int(random.integers(25, 41))
    X = random.normal(size=(n, 2))
    sign = np.where(random.random(n) < 0.5, 1.0, -1.0)
    columns = held_by(X, 10 ** random.uniform(0, 1))
    C, rho = 10 ** random.uniform(0, 3), 10 ** random.uniform(-1, 1.5)
    mu = float(random.choice([0, 0.01, 0.2]))
    solution = ProgramPath(columns, sign, np.ones(n), norm=norm_of(n)).solve(C, mu, rho)
    expected, _ = quadratic_optimum(columns.matrix, sign, np.ones(n), C, mu, rho)
    assert solution.converged and solution.n_iter < 2000
    assert_allclose(solution.objective, expected, rtol=1e-6)


def test_a_norm_of_little_price_is_the_linear_program():
    X, sign, weight = make_rows(7, 90, 3, 0.7, weighted=True)
    columns = held_by(X, 0.5)
    plain = ProgramPath(columns, sign, weight).solve(100.0, 0.5)
    nearly = ProgramPath(columns, sign, weight, norm=norm_of(90)).solve(100.0, 0.5, 1e-9)
    assert_allclose(nearly.objective, plain.objective, rtol=1e-6)


def test_computed_columns_with_a_norm_give_the_solution_of_held_ones(monkeypatch):
    X, sign, weight = make_rows(3, 150, 4, 0.7)
    kernel = Kernel("rbf", 0.2)
    monkeypatch.setattr(_linear_program, "BLOCK_VALUES", 1000)
    monkeypatch.setattr(_linear_program, "SINGLE_BLOCK_VALUES", 1000)
    for mu in (0.5, 0.0):
        held = ProgramPath(HeldColumns(kernel(X, X)), sign, weight, norm=norm_of(150)).solve(100.0, mu, 0.5)
        ones = np.ones(150)
        columns = ComputedColumns(kernel, X, X, ones, ones)
        computed = ProgramPath(columns, sign, weight, norm=norm_of(150)).solve(100.0, mu, 0.5)
        assert_allclose(computed.objective, held.objective, rtol=1e-7)
        assert held.gap < 1e-5 and computed.gap < 1e-5


def test_a_linear_machine_has_the_norm_of_its_weights():
    X, sign, weight = make_rows(8, 80, 5, 1.0, weighted=True)
    solution = ProgramPath(HeldColumns(X), sign, weight, norm=Norm.plain()).solve(50.0, 0.3, 2.0)
    expected, scores = quadratic_optimum(X, sign, weight, 50.0, 0.3, 2.0, gram=np.eye(5))
    assert_allclose(solution.objective, expected, rtol=1e-6)
    x = np.zeros(5)
    x[solution.chosen] = solution.coefficients
    assert_allclose(X @ x + solution.intercept, scores, atol=1e-3)


def test_a_path_in_one_go_is_the_path_step_by_step():
    X, sign, weight = make_rows(9, 100, 3, 0.8)
    columns = held_by(X, 0.5)
    mus = [10.0, 1.0, 0.1]
    for rho in (0.0, 0.5):
        norm = norm_of(100) if rho else None
        path = ProgramPath(columns, sign, weight, norm=norm)
        by_column, intercept, converged = ProgramPath(columns, sign, weight, norm=norm).follow(
            100.0, mus, rho, 0.3, 100
        )
        assert converged.all()
        for at, mu in enumerate(mus):
            path.solve(100.0, mu, rho)
            one = path.relax(100.0, 0.3 * mu, rho)
            assert_array_equal(np.flatnonzero(by_column[at]), one.chosen)
            assert_array_equal(by_column[at][one.chosen], one.coefficients)
            assert intercept[at] == one.intercept


def test_a_path_ends_with_the_first_machine_of_too_many_vectors():
    X, sign, weight = make_rows(9, 100, 3, 0.8)
    path = ProgramPath(held_by(X, 0.5), sign, weight)
    by_column, _, _ = path.follow(100.0, [10.0, 1.0, 0.1, 0.01], 0.0, 1.0, 8)
    counts = np.count_nonzero(by_column, axis=1)
    assert len(counts) < 4 and (counts[:-1] <= 8).all() and counts[-1] > 8


def test_a_path_refuses_what_it_cannot_use():
    X, sign, weight = make_rows(9, 20, 3, 0.8)
    path = ProgramPath(held_by(X, 0.5), sign, weight)
    with pytest.raises(ValueError, match="a path with a norm has a price of it"):
        path.solve(1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="place is out of range"):
        ProgramPath(held_by(X, 0.5), sign, weight, norm=Norm(np.full(20, 20), np.arange(20)))
    with pytest.raises(ValueError, match="one entry per row"):
        path.program.solve(np.ones((3, 20)), 1.0, 1.0, 0.0, 1e-8, 10)
