"""The choice of views: the exact row solver, the loop that only descends, greedy choice, the lassos."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from planewise import _core
from planewise.recip import selection as _selection


def by_general_solver(z, delta, least, lam):
    """The least objective over the simplex, by sequential quadratic programming."""

    def objective(b):
        return (z @ b - least) ** 2 + lam * delta @ b

    def gradient(b):
        return 2 * (z @ b - least) * z + lam * delta

    found = minimize(  # convex: any start leads to the optimum
        objective,
        np.full(len(z), 1 / len(z)),
        jac=gradient,
        bounds=[(0, 1)] * len(z),
        constraints=LinearConstraint(np.ones((1, len(z))), 1, 1),
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    b = np.maximum(found.x, 0)
    return objective(b / b.sum())


def solved(z, delta, lam):
    """The objective of the native solver's choice for one row; views of price 1 are left out of the order."""
    Z = np.ascontiguousarray(z[:, None], dtype=np.float32)
    least, best = _selection.least_by_row(Z)
    cheaper = np.flatnonzero(delta < 1)
    order = cheaper[np.argsort(delta[cheaper], kind="stable")].astype(np.int32)
    first, second, share, value = _core.choose_projections(Z, least, best, order, delta[order], lam, 1)
    b = np.zeros(len(z))
    b[first[0]] += 1 - share[0]
    b[second[0]] += share[0]
    assert b.min() >= 0 and np.isclose(b.sum(), 1)
    assert np.isclose(Z[:, 0] @ b, value[0])
    return (Z[:, 0].astype(float) @ b - least[0]) ** 2 + lam * delta @ b


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.sampled_from([0.0, 0.3, 1.0, 5.0, 30.0]), st.booleans())
def test_the_row_solver_equals_a_general_one(seed, n_views, lam, ties):
    random = np.random.default_rng(seed)
    z = random.integers(0, 8, n_views) / 4 if ties else random.uniform(0, 3, n_views)
    z = z.astype(np.float32).astype(float)
    delta = np.where(random.random(n_views) < 0.3, 1.0, random.integers(0, 10, n_views) / 10)
    assert abs(solved(z, delta, lam) - by_general_solver(z, delta, z.min(), lam)) < 1e-8


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 5.0, 50.0]))
def test_the_objective_falls_in_every_round(seed, lam):
    random = np.random.default_rng(seed)
    Z = random.exponential(size=(random.integers(1, 30), random.integers(1, 80))).astype(np.float32)
    weight = random.uniform(0, 3, Z.shape[1]) + 0.01
    objective = np.array(_selection.recip_loop(Z, weight, lam, tol=0.0, max_iter=30).objective)
    assert (np.diff(objective) <= 1e-9 * np.abs(objective[1:])).all()


def test_the_objective_is_that_of_the_paper():
    random = np.random.default_rng(0)
    Z = random.exponential(size=(6, 40)).astype(np.float32)
    weight = random.uniform(1, 2, 40)
    loop = _selection.recip_loop(Z, weight, 2.0)
    B = np.zeros((40, 6))
    B[np.arange(40), loop.first] += 1 - loop.share
    B[np.arange(40), loop.second] += loop.share
    used = weight @ B
    expected = weight @ ((Z.T * B).sum(axis=1) - Z.min(axis=0)) ** 2 - 2.0 / (2 * weight.sum()) * (used**2).sum()
    assert np.isclose(loop.objective[-1], expected)
    assert np.allclose(used, loop.used)


def test_threads_change_nothing():
    random = np.random.default_rng(1)
    Z = random.exponential(size=(300, 5000)).astype(np.float32)
    weight = np.ones(5000)
    one, two = (_selection.recip_loop(Z, weight, 1.0, n_threads=n) for n in (1, 2))
    assert np.array_equal(one.first, two.first) and np.array_equal(one.share, two.share)
    assert one.objective == two.objective
    kept = [_selection.greedy_views(Z, weight, 4, 0.0, n_threads=n) for n in (1, 2)]
    assert kept[0] == kept[1]


def test_a_larger_price_keeps_fewer_views():
    random = np.random.default_rng(2)
    Z = random.exponential(size=(40, 500)).astype(np.float32)
    weight = np.ones(500)
    counts = [len(_selection.kept_views(_selection.recip_loop(Z, weight, lam), weight, 0.0)) for lam in (0.01, 1, 100)]
    assert counts[0] > counts[1] > counts[2] == 1


def test_every_view_that_any_row_uses_is_kept_as_in_the_paper_or_only_the_largest_parts():
    Z = np.array([[0.0, 0.0, 0.0, 0.0, 9.0], [9.0, 9.0, 9.0, 9.0, 0.0], [9.0, 9.0, 9.0, 9.0, 9.0]], dtype=np.float32)
    loop = _selection.recip_loop(Z, np.ones(5), 120.0)
    assert loop.used[1] > 0 and loop.largest.tolist() == [0, 0, 0, 0, 0]
    assert _selection.used_views(loop) == [0, 1]
    assert _selection.kept_views(loop, np.ones(5), 0.0) == [0]


def test_of_equal_views_the_first_is_kept():
    Z = np.tile(np.array([[1.0], [0.5], [0.5]], dtype=np.float32), (1, 20))
    assert _selection.kept_views(_selection.recip_loop(Z, np.ones(20), 1.0), np.ones(20), 0.01) == [1]
    assert _selection.greedy_views(Z, np.ones(20), 2, 0.01) == [1]


@pytest.mark.parametrize("seed", range(10))
def test_greedy_choice_with_swaps_is_at_least_as_good_as_plain_greedy_and_near_the_best(seed):
    random = np.random.default_rng(seed)
    Z = np.minimum(random.exponential(size=(10, 30)), 3).astype(np.float32)
    weight = random.uniform(0.5, 2, 30)

    def worth(kept):
        return weight @ (1 - np.minimum(Z[list(kept)].min(axis=0), 1))

    kept = _selection.greedy_views(Z, weight, 3, 0.01)
    plain = []
    for _ in range(3):
        plain.append(max(range(10), key=lambda j: worth([*plain, j])))
    best = max(worth(kept) for kept in combinations(range(10), 3))
    assert worth(plain) - 1e-6 <= worth(kept) <= best + 1e-6
    assert worth(kept) > 0.95 * best


def test_the_gap_is_what_the_kept_views_lack():
    Z = np.array([[0.0, 1.0], [1.0, 0.5]], dtype=np.float32)
    assert _selection.optimality_gap(Z, np.array([1.0, 3.0]), [0, 1]) == 0
    assert _selection.optimality_gap(Z, np.array([1.0, 3.0]), [0]) == pytest.approx(0.375)


def test_missing_entries_are_the_worst_and_rows_without_any_do_not_count():
    Z = np.array([[np.nan, np.nan, 1.0], [2.0, np.nan, 3.0]], dtype=np.float32)
    weight = _selection.without_missing(Z, np.ones(3))
    assert Z[0, 0] == 10 and weight.tolist() == [1, 0, 1]


def batches_of_entropies():
    """Three groups of rows, each clear in a view of its own, among views that say nothing."""
    random = np.random.default_rng(3)
    Z = random.uniform(0.8, 1.6, size=(12, 300)).astype(np.float32)
    for group in range(3):
        Z[group, group * 100 : (group + 1) * 100] = random.uniform(0.0, 0.2, 100)
    return Z


def test_recip_and_greedy_find_the_view_of_each_group():
    Z, weight = batches_of_entropies(), np.ones(300)
    assert _selection.kept_views(_selection.recip_loop(Z, weight, 1.0), weight, 0.01) == [0, 1, 2]
    assert sorted(_selection.greedy_views(Z, weight, None, 0.01)) == [0, 1, 2]


def test_the_robust_lasso_finds_what_the_lasso_ranks_by_coefficient():
    Z, weight = batches_of_entropies(), np.ones(300)
    lam = 0.3 * _selection.largest_penalty(Z, weight)
    lasso = _selection.RootLasso()
    assert len(_selection.lasso_views(Z, weight, lam, 2, lasso)) <= 2
    assert len(set(_selection.robust_lasso_views(Z, weight, lam, 3, 0.01, lasso))) > 1
    assert lasso.n_problems > 2 and lasso.n_unsolved == 0


def test_the_largest_penalty_leaves_no_view():
    Z, weight = batches_of_entropies(), np.ones(300)
    largest = _selection.largest_penalty(Z, weight)
    assert not _selection.RootLasso().coefficients(Z, weight, 1.001 * largest).any()
    assert _selection.RootLasso().coefficients(Z, weight, 0.9 * largest).any()


@pytest.mark.parametrize("unit", [True, False])
def test_the_lasso_is_that_of_the_norm_not_of_its_square(unit):
    Z, weight = batches_of_entropies(), np.ones(300)
    lam = 0.3 * _selection.largest_penalty(Z, weight, unit)
    beta = _selection.RootLasso(unit).coefficients(Z, weight, lam)
    target, columns = Z.min(axis=0), Z / np.linalg.norm(Z, axis=1, keepdims=True) if unit else Z

    def objective(b):
        return np.linalg.norm(target - b @ columns) + lam * np.abs(b).sum()

    random = np.random.default_rng(4)
    assert all(objective(beta) <= objective(beta + random.normal(0, 0.003, len(beta))) for _ in range(200))


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
def test_the_lasso_is_no_worse_than_a_general_solver(share, unit):
    Z, weight = batches_of_entropies(), np.random.default_rng(5).uniform(0, 2, 300)
    weight[::3] = 0
    lam = share * _selection.largest_penalty(Z, weight, unit)
    root = np.sqrt(weight)
    columns, target = (Z * root).T.astype(float), Z.min(axis=0) * root
    columns = columns / np.linalg.norm(columns, axis=0) if unit else columns

    def objective(parts):  # beta is the difference of two positive parts
        residual = target - columns @ (parts[:12] - parts[12:])
        slope = -columns.T @ residual / np.linalg.norm(residual)
        return np.linalg.norm(residual) + lam * parts.sum(), np.concatenate([slope, -slope]) + lam

    beta = _selection.RootLasso(unit).coefficients(Z, weight, lam)
    found = np.concatenate([np.maximum(beta, 0), np.maximum(-beta, 0)])
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 50_000}
    starts = (found, np.full(24, 0.05))
    least = min(
        minimize(objective, start, jac=True, bounds=[(0, None)] * 24, method="L-BFGS-B", options=options).fun
        for start in starts
    )
    assert beta.any() and objective(found)[0] < least * (1 + 1e-3)


def test_rows_without_weight_are_left_out_of_the_lasso():
    Z, weight = batches_of_entropies(), np.ones(300)
    weight[::3] = 0
    assert _selection._design(Z, weight)[0].shape == (200, 12)
    lam = 0.3 * _selection.largest_penalty(Z, weight)
    beta = _selection.RootLasso().coefficients(Z, weight, lam)
    assert np.array_equal(beta, _selection.RootLasso().coefficients(Z[:, weight > 0], np.ones(200), lam))


def test_a_lasso_near_the_largest_penalty_still_has_a_coefficient():
    """Solved less exactly, it had none from 0.99 of that penalty on."""
    Z = np.random.default_rng(0).uniform(0.1, 1.0, (6, 200)).astype(np.float32)
    weight = np.ones(200)
    largest = _selection.largest_penalty(Z, weight, unit=False)
    for share in (0.99, 0.999):
        beta = _selection.RootLasso(unit=False).coefficients(Z, weight, share * largest)
        assert np.flatnonzero(beta).tolist() == [int((Z @ Z.min(axis=0)).argmax())]
