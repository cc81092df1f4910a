"""Each preset of the paper on conformal kernels against what the paper says, written out plainly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.optimize import linprog
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from planewise.machines import large
from planewise.published import (
    ls_mcm,
    ls_mcm_conformal,
    mcm,
    mcm_conformal,
    mcm_conformal_search,
    mcm_search,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # that published programs are degenerate or ill-conditioned


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.35, random_state=0)


def program_8_to_11(K, sign, C):
    """The least h + C sum(q), by another solver with every row and column."""
    n = len(K)
    signed = sign[:, None] * np.column_stack([K, np.ones(n)])  # lambda, b
    cost = np.concatenate([[1.0], np.full(n, C), np.zeros(n + 1)])  # h, q, lambda, b
    rows_9 = np.hstack([np.zeros((n, 1)), -np.eye(n), -signed])
    rows_10 = np.hstack([-np.ones((n, 1)), np.eye(n), signed])
    done = linprog(
        cost,
        A_ub=np.vstack([rows_9, rows_10]),
        b_ub=np.concatenate([-np.ones(n), np.zeros(n)]),
        bounds=[(None, None)] + [(0, None)] * n + [(None, None)] * (n + 1),
    )
    assert done.status == 0
    return done.fun


def value(machine, X, sign, C):
    margin = sign * machine.decision_function(X)
    return max(1.0, margin.max()) + C * np.maximum(0, 1 - margin).sum()


# ------------------------------------------------------------------------------------------------------------ mcm
@pytest.mark.parametrize("C", [2.0**-5, 1.0])
def test_mcm_is_an_optimum_of_the_printed_program_with_c_on_the_sum_of_slacks(C):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 2)).astype(float)  # few distinct points: the labels cannot be interpolated
    y = (X.sum(axis=1) + rng.normal(scale=1.5, size=60) > 3).astype(int)
    sign = np.where(y == 1, 1.0, -1.0)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.5)
    best = program_8_to_11(K, sign, C)
    assert best > 1.01
    machine = mcm(C, 0.5).fit(X, y)
    assert_allclose(machine.objective_[0], best, rtol=1e-6)
    assert_allclose(value(machine, X, sign, C), best, rtol=1e-6)


@pytest.mark.parametrize("C", [2.0**-9, 1.0])
def test_mcm_interpolates_the_labels_whatever_c_where_the_kernel_has_full_rank(moons, C):
    X, y = moons
    machine = mcm(C, 4.0).fit(X, y)
    assert_allclose(machine.h_, 1.0, atol=1e-5)
    assert_allclose(machine.decision_function(X), np.where(y == 1, 1.0, -1.0), atol=1e-3)
    assert len(machine.support_) > 0.9 * len(X)


# ----------------------------------------------------------------------------------------------------- the searches
def folds_of(X, y):
    return list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))


def mean_accuracy(X, y, make):
    return np.mean([make().fit(X[train], y[train]).score(X[held], y[held]) for train, held in folds_of(X, y)])


def test_algorithm_1_is_a_plain_double_loop(moons):
    X, y = moons
    Cs, gammas = (2.0**-9, 2.0**1, 2.0**-3), (0.5, 0.05, 4.0)
    best, chosen = 0.0, None
    for C in Cs:
        for gamma in gammas:
            accuracy = mean_accuracy(X, y, lambda C=C, gamma=gamma: mcm(C, gamma))
            if accuracy > best + 1e-12:
                best, chosen = accuracy, (C, gamma)
    search = mcm_search(Cs, gammas, cv=folds_of(X, y)).fit(X, y)
    assert (search.best_params_["C"], search.best_params_["gamma"]) == chosen
    assert_allclose(search.best_score_, best)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()  # no machine has too many vectors


def test_of_equal_points_algorithm_1_keeps_the_first_with_c_varied_slowest():
    X = np.repeat(np.array([[-3.0], [-2.0], [2.0], [3.0]]), 6, axis=0) + np.linspace(0, 0.5, 24)[:, None]
    y = np.repeat([0, 1], 12)
    search = mcm_search([2.0, 0.5], [0.5, 1.0], cv=3, random_state=0).fit(X, y)
    assert search.cv_results_["mean_test_score"].min() == 1.0
    assert (search.best_params_["C"], search.best_params_["gamma"]) == (2.0, 0.5)


@pytest.mark.parametrize("printed", [False, True])
def test_algorithm_2_chooses_the_three_jointly_as_a_plain_triple_loop_does(moons, printed):
    X, y = moons
    Cs, gammas, times = (2.0**-5, 2.0**1), (1.0, 0.2), (3.0, 50.0)
    best, chosen = 0.0, None
    for C in Cs:
        for gamma in gammas:
            for each in times:
                accuracy = mean_accuracy(
                    X, y, lambda C=C, gamma=gamma, each=each: mcm_conformal(C, gamma, each * gamma, printed=printed)
                )
                if accuracy > best + 1e-12:
                    best, chosen = accuracy, (C, gamma, each * gamma)
    search = mcm_conformal_search(Cs, gammas, times, printed=printed, cv=folds_of(X, y)).fit(X, y)
    assert tuple(search.best_params_[name] for name in ("C", "gamma", "gamma_conformal")) == chosen
    assert_allclose(search.best_score_, best)
    assert len(search.cv_results_["params"]) == 8


def test_the_grids_are_those_of_the_paper():
    search = mcm_conformal_search()
    assert search.Cs == tuple(2.0**k for k in (-19, -17, -15, -13, -11, -9, -7, -5, -3, -1, 1))
    assert sorted(search.gammas) == [2.0**k for k in (-12, -11, -10, -9, -8)]
    assert search.gammas_conformal == (
        *(2, 2.2, 2.4, 2.6, 2.8, 3, 4, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 100, 500, 800, 1000, 5000),
    )
    assert mcm_search().Cs == search.Cs and mcm_search().gammas == search.gammas


# ------------------------------------------------------------------------------------------------------ the factor
@pytest.mark.parametrize("printed", [False, True])
def test_alpha_solves_equations_13_to_15_in_the_quadratic_forms(moons, printed):
    X, y = moons
    gamma, gamma_c = 0.5, 1.5
    machine = mcm_conformal(1.0, gamma, gamma_c, printed=printed).fit(X, y)
    factor, first = machine._factor, mcm(1.0, gamma).fit(X, y)
    rows = StandardScaler().fit_transform(X)
    order = np.argsort(y, kind="stable")
    rows, label = rows[order], y[order]
    assert_allclose(
        np.sort(factor.cores, axis=0), np.sort(StandardScaler().fit(X).transform(X[first.support_]), axis=0)
    )
    K, M, same = rbf_kernel(rows, gamma=gamma), len(rows), label[:, None] == label
    by = np.full(2, M) if printed else np.bincount(label)
    blocks = K * same / by[label]
    B0, W0 = blocks - K / M, np.diag(K.diagonal()) - blocks
    K1 = np.column_stack([np.ones(M), rbf_kernel(rows, factor.cores, gamma=gamma_c)])
    B, W = K1.T @ B0 @ K1, K1.T @ W0 @ K1
    W = W + 1e-3 * np.trace(W) / len(W) * np.eye(len(W))
    values = eigh(B, W, eigvals_only=True)
    assert_allclose(factor.eigenvalue, values[-1], rtol=1e-6)
    assert_allclose(B @ factor.coef, factor.eigenvalue * (W @ factor.coef), atol=1e-7 * np.abs(B @ factor.coef).max())
    if printed:
        assert np.linalg.eigvalsh(B)[0] < 0  # indefinite: no scatter between classes
    assert factor.shrinkage == 1.0
    r = factor(rows)
    assert_allclose(np.mean(r**2), 1.0)
    scores = machine.decision_function(X)[order]
    support = StandardScaler().fit(X).transform(machine.support_vectors_)
    assert_allclose(scores, r * (rbf_kernel(rows, support, gamma=gamma) @ machine.dual_coef_[0]) + machine.intercept_)


# ------------------------------------------------------------------------------------------------------ large scale
def test_ls_mcm_learns_weights_only_and_counts_the_sum_of_slacks(moons):
    X, y = moons
    machine = ls_mcm(C=0.5, gamma=1.0, random_state=0).fit(X, y)
    rows = machine._scaling(X.astype(np.float32))
    distance = np.abs(rows[:, None] - machine._scaling(machine.support_vectors_)).sum(axis=2)
    assert distance.min(axis=0).max() < 1e-4  # the prototypes are training rows
    margin = np.where(y == 1, 1, -1) * machine.decision_function(X)
    expected = max(1.0, margin.max()) + 0.5 * np.maximum(0, 1 - margin).sum()
    assert_allclose(machine.objective_, expected, rtol=1e-4)
    assert machine.validation_hinge_ == []


def uneven():
    X, y = make_moons(400, noise=0.3, random_state=0)
    kept = np.flatnonzero((y == 0) | (np.arange(400) % 5 == 0))
    return X[kept], y[kept]


def test_the_cores_of_ls_mcm_conformal_are_equally_many_of_each_class():
    X, y = uneven()
    model = ls_mcm_conformal(C=1.0, gamma=1.0, gamma_c=2.0, n_components=120, random_state=0).fit(X, y)
    label = {row.tobytes(): each for row, each in zip(model._scaling(X.astype(np.float32)), y, strict=True)}
    classes = [label[core.tobytes()] for core in model.conformal_.cores]
    assert classes.count(0) == classes.count(1) > 5
    as_they_come = ls_mcm_conformal(C=1.0, gamma=1.0, gamma_c=2.0, n_components=120, random_state=0)
    as_they_come.set_params(equal_cores=False).fit(X, y)
    classes = [label[core.tobytes()] for core in as_they_come.conformal_.cores]
    assert classes.count(0) != classes.count(1)


def test_r_is_fixed_by_a_whole_descent_before_a_second_one_starts_anew(monkeypatch):
    X, y = uneven()
    descents = []

    class Watched(large.Descent):
        def run(self, n_passes, *rest):
            weights = self.learner.arrays[0].copy()
            model = super().run(n_passes, *rest)
            descents.append((n_passes, self.sample.factor, weights, model, self.learner.n_updates))
            return model

    monkeypatch.setattr(large, "Descent", Watched)
    model = ls_mcm_conformal(C=1.0, gamma=1.0, gamma_c=2.0, random_state=0).fit(X, y)
    (passes, no_factor, _, first, updates), (again, factor, weights, _, updates_again) = descents
    assert no_factor is None and passes == again and updates == updates_again
    assert_allclose(factor, model.conformal_(model._scaling(X.astype(np.float32))), rtol=1e-4)
    assert model.n_iter_ == passes + again
    cores = {core.tobytes() for core in first.feature_map.prototypes}
    assert {core.tobytes() for core in model.conformal_.cores} <= cores
    alone = ls_mcm(C=1.0, gamma=1.0, random_state=0).fit(X, y)
    assert_array_equal(alone._model.weights, first.weights)  # the first descent is that of the machine without r
    assert not np.array_equal(weights, first.weights)  # the second one does not continue it
    halfway = ls_mcm_conformal(C=1.0, gamma=1.0, gamma_c=2.0, random_state=0).set_params(conformal_start="halfway")
    descents.clear()
    halfway.fit(X, y)
    assert [n for n, *_ in descents] == [(passes + 1) // 2, passes // 2]


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_gamma_is_not_used_where_there_is_no_kernel_function(moons, kernel):
    X, y = moons
    given = X @ X.T if kernel == "precomputed" else X
    search = mcm_search([0.5, 2.0], [0.1, 1.0], kernel=kernel, cv=2, random_state=0).fit(given, y)
    assert len(search.cv_results_["params"]) == 2 and "gamma" not in search.best_params_
    for refused in (mcm_conformal(kernel=kernel), mcm_conformal_search(kernel=kernel)):
        with pytest.raises(ValueError, match=f"kernel='{kernel}' has none"):
            refused.fit(given, y)
