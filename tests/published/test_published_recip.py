"""RECIP's presets: each has the property of the paper that it stands for."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from benchmarks.data import make_subspace_batches
from scipy.optimize import minimize

from planewise.published import recip, recip_known, recip_lasso, recip_robust_lasso, recip_voting

VIEWS = [view for size in (1, 2) for view in combinations(range(4), size)]


def small(seed=0, n_rows=40):
    """Two batches of few rows in four features."""
    return make_subspace_batches(2, batch_size=n_rows, n_features=4, random_state=seed)


def distances(X, y, query, view, label, without=None):
    """From a query to all rows of a class in a view, sorted; one row is left out."""
    rows = (y == label) & (np.arange(len(y)) != (-1 if without is None else without))
    return np.sort(np.linalg.norm(X[rows][:, view] - query[list(view)], axis=1))


def entropies(X, y, k, alpha):
    """Eq. 5, row by row; capped at 10."""
    Z = np.empty((len(X), len(VIEWS)))
    for i, row in enumerate(X):
        for j, view in enumerate(VIEWS):
            own, other = (distances(X, y, row, view, label, i)[k - 1] for label in (y[i], 1 - y[i]))
            Z[i, j] = (own / other) ** (len(view) * (1 - alpha))
    return np.minimum(Z, 10)


def row_of_B(z, least, delta, lam):
    """The row's part of eq. 8 with the penalty B delta, by a general solver from several starts."""
    found = [
        minimize(
            lambda b: (z @ b - least) ** 2 + lam * delta @ b,
            start,
            jac=lambda b: 2 * (z @ b - least) * z + lam * delta,
            bounds=[(0, 1)] * len(z),
            constraints={"type": "eq", "fun": lambda b: b.sum() - 1, "jac": lambda b: np.ones(len(b))},
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        for start in (np.eye(len(z))[z.argmin()], np.full(len(z), 1 / len(z)))
    ]
    b = np.maximum(min(found, key=lambda each: each.fun).x, 0)
    return b / b.sum()


def algorithm_1(Z, lam, rounds=60):
    """The printed loop."""
    T, delta = Z.min(axis=1), np.ones(Z.shape[1])
    for _ in range(rounds):
        B = np.array([row_of_B(z, least, delta, lam) for z, least in zip(Z, T, strict=True)])
        column = B.sum(axis=0)
        before, delta = delta, 1 - column / column.sum()
        if np.abs(before - delta).max() < 1e-6:
            break
    return B


@pytest.mark.parametrize("preset", [recip, recip_voting])
@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 9.0), (0.0, 36.0), (0.9, 0.36), (0.99, 0.0036)])
def test_the_penalty_follows_alpha_unless_it_is_given(preset, alpha, lam):
    assert preset(alpha=alpha).lam == pytest.approx(lam)
    assert preset(alpha=alpha, lam=9.0).lam == 9.0
    assert preset(alpha=alpha, lam=0.0).lam == 0.0


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_near_1_alpha_finds_the_same_main_views(alpha):
    X, y, details = make_subspace_batches(3, batch_size=300, return_details=True, random_state=0)
    model = recip(alpha=alpha).set_params(keep="best").fit(X, y)
    assert sorted(model.projections_) == sorted(map(tuple, details.pairs.tolist()))


def test_the_view_of_all_features_can_be_a_candidate():
    X, y = small()
    assert (0, 1, 2, 3) in recip(1, lam=0.0, all_features=True).fit(X, y).projections_
    assert recip(1, all_features=True).fit(X, y).n_candidates_ == 5


@pytest.mark.parametrize(("d", "number"), [(1, 4), (2, 10), (3, 14), (4, 15)])
def test_all_views_of_up_to_d_features_are_candidates(d, number):
    assert recip(d).fit(*small()).n_candidates_ == number


@pytest.mark.parametrize(("k", "alpha", "lam"), [(1, 0.5, 3.0), (1, 0.5, 9.0), (2, 0.8, 1.0)])
def test_every_view_that_any_row_uses_is_kept_as_by_a_general_solver(k, alpha, lam):
    X, y = small(seed=2, n_rows=15)
    B = algorithm_1(entropies(X, y, k, alpha), lam)
    model = recip(2, k, alpha, lam).fit(X, y)
    used = B.max(axis=0)
    assert not ((used > 1e-6) & (used < 1e-3)).any()  # whether a row uses a view is beyond doubt
    expected = {VIEWS[j] for j in np.flatnonzero(used > 1e-3)}
    assert 1 < len(expected) < len(VIEWS)
    assert set(model.projections_) == expected
    main = recip(2, k, alpha, lam).set_params(keep="best").fit(X, y)
    assert set(main.projections_) < expected


@pytest.mark.parametrize("k", [1, 2])
def test_a_query_gets_the_view_and_class_of_the_smallest_ratio(k):
    X, y = small()
    queries, _ = small(seed=1, n_rows=20)
    model = recip(k=k).fit(X, y)
    known = recip_known(model.projections_, k).fit(X, y)
    for query, label, by_known in zip(queries, model.predict(queries), known.predict(queries), strict=True):
        ratios = {}
        for view in model.projections_:
            near = [distances(X, y, query, view, theta)[k - 1] for theta in (0, 1)]
            for theta in (0, 1):
                ratios[view, theta] = (near[theta] / near[1 - theta]) ** (len(view) * 0.5)
        assert label == by_known == min(ratios, key=ratios.get)[1]


def majority_with_ties_to_class_1(X, y, queries, views):
    answers = []
    for view in views:
        near = [[distances(X, y, query, view, theta)[0] for theta in (0, 1)] for query in queries]
        answers.append(np.argmin(near, axis=1))
    return 2 * np.sum(answers, axis=0) >= len(views)


@pytest.mark.parametrize("views", [[(0, 1), (2, 3)], [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (1, 2), (2, 3)]])
def test_known_views_vote_and_a_tie_goes_to_class_1(views):
    X, y = small()
    queries, _ = small(seed=1)
    model = recip_known(views, voting=True).fit(X, y)
    expected = majority_with_ties_to_class_1(X, y, queries, views)
    assert np.array_equal(model.predict(queries), expected)
    assert not np.array_equal(model.predict(queries), recip_known(views).fit(X, y).predict(queries))


def test_the_views_of_voting_are_those_of_recip():
    X, y = small()
    queries, _ = small(seed=1)
    model = recip_voting().fit(X, y)
    assert model.projections_ == recip().fit(X, y).projections_
    expected = majority_with_ties_to_class_1(X, y, queries, model.projections_)
    assert np.array_equal(model.predict(queries), expected)


def test_known_views_are_exactly_these():
    X, y = small()
    model = recip_known([(0, 3), (1,)]).fit(X, y)
    assert sorted(model.projections_) == [(0, 3), (1,)]
    assert len(model.objective_) == 0 and model.lam_ is None  # nothing was searched


def lasso_coefficients(Z, T, lam):
    """The minimum of ||T - Z beta||_2 + lam ||beta||_1, Z as it is, by a general solver."""
    n = Z.shape[1]

    def objective(both):  # beta is the difference of two positive parts
        residual = T - Z @ (both[:n] - both[n:])
        norm = np.linalg.norm(residual)
        slope = -Z.T @ residual / norm
        return norm + lam * both.sum(), np.concatenate([slope, -slope]) + lam

    found = minimize(
        objective,
        np.full(2 * n, 0.05),
        jac=True,
        bounds=[(0, None)] * (2 * n),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 50_000},
    )
    return found.x[:n] - found.x[n:]


def strong_penalty(Z, share):
    """A share of the least penalty that leaves no coefficient."""
    T = Z.min(axis=1)
    return share * (T @ Z).max() / np.linalg.norm(T)


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_lasso_keeps_the_views_that_have_a_coefficient(share):
    X, y = small()
    Z = entropies(X, y, 1, 0.5)
    lam = strong_penalty(Z, share)
    size = np.abs(lasso_coefficients(Z, Z.min(axis=1), lam))
    assert not ((size > 1e-5) & (size < 1e-3)).any()
    expected = {VIEWS[j] for j in np.flatnonzero(size > 1e-3)}
    assert set(recip_lasso(lam=lam).fit(X, y).projections_) == expected
    assert 1 < len(expected) < len(VIEWS)
    assert set(recip_lasso(lam=lam, t=1).fit(X, y).projections_) == {VIEWS[size.argmax()]}
    unit = recip_lasso(lam=lam).set_params(unit_columns=True).fit(X, y)
    assert set(unit.projections_) != expected


def test_the_robust_lasso_adds_a_view_at_a_time_for_the_rows_left_open():
    X, y = small()
    Z = entropies(X, y, 1, 0.5)
    lam = strong_penalty(Z, 0.3)
    kept = []
    weight = np.ones(len(Z))
    for _ in range(3):
        root = np.sqrt(weight)[:, None]
        weighted = np.column_stack([Z, Z.min(axis=1)]) * root  # T, the last column, is weighted like Z
        size = np.abs(lasso_coefficients(weighted[:, :-1], weighted[:, -1], lam))
        size[kept] = 0
        kept.append(int(size.argmax()))
        open_ = Z[:, kept].min(axis=1) - Z.min(axis=1)
        weight = open_ * len(Z) / open_.sum()
    model = recip_robust_lasso(lam=lam, t=3).fit(X, y)
    assert set(model.projections_) == {VIEWS[j] for j in kept}
    assert len(recip_robust_lasso(lam=lam, t=2).fit(X, y).projections_) == 2
