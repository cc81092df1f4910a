"""The whole program, every row and column at once, solved by HiGHS (inside SciPy) or Clarabel: the referees."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix


def whole_optimum(G, sign, weight, C, mu, free=None):
    """The least h + C mean(q) + mu |x|_1; `weight` weighs the mean, `free` are further columns without a price."""
    n, m = G.shape
    signed = sign[:, None] * G
    others = sign[:, None] * np.column_stack([np.ones(n), *([] if free is None else free)])
    k = others.shape[1]
    # Variables: h, q (n), x+ (m), x- (m), the intercept and other free coefficients (k).
    cost = np.concatenate([[1.0], C * weight / weight.sum(), np.full(2 * m, mu), np.zeros(k)])
    lower = np.hstack([np.zeros((n, 1)), -np.eye(n), -signed, signed, -others])
    upper = np.hstack([-np.ones((n, 1)), np.eye(n), signed, -signed, others])
    done = linprog(
        cost,
        A_ub=np.vstack([lower, upper]),
        b_ub=np.concatenate([-np.ones(n), np.zeros(n)]),
        bounds=[(None, None)] + [(0, None)] * (n + 2 * m) + [(None, None)] * k,
        method="highs",
    )
    assert done.status == 0, done.message
    return done.fun


def value(G, sign, weight, C, mu, x, intercept):
    """The program's value at given coefficients."""
    margin = sign * (G @ x + intercept)
    slack = np.average(np.maximum(0, 1 - margin), weights=weight)
    return max(1.0, margin.max()) + C * slack + mu * np.abs(x).sum()


def quadratic_optimum(G, sign, weight, C, mu, rho, gram=None):
    """The least h + C mean(q) + mu |x|_1 + rho x'K x, and f of every row there; K is G unless given."""
    n, m = G.shape
    K = G if gram is None else gram
    signed = sign[:, None] * G
    # Variables: h, q (n), x+ (m), x- (m), the intercept.
    size = n + 2 * m + 2
    square = np.zeros((size, size))
    square[1 + n : -1, 1 + n : -1] = 2 * rho * np.kron([[1, -1], [-1, 1]], K)
    cost = np.concatenate([[1.0], C * weight / weight.sum(), np.full(2 * m, mu), [0.0]])
    lower = np.hstack([np.zeros((n, 1)), -np.eye(n), -signed, signed, -sign[:, None]])
    upper = np.hstack([-np.ones((n, 1)), np.eye(n), signed, -signed, sign[:, None]])
    positive = -np.eye(size)[1:-1]
    rows = np.vstack([lower, upper, positive])
    bounds = np.concatenate([-np.ones(n), np.zeros(n + len(positive))])
    how = clarabel.DefaultSettings()
    how.verbose, how.tol_gap_abs, how.tol_gap_rel, how.tol_feas = False, 1e-10, 1e-10, 1e-10
    cones = [clarabel.NonnegativeConeT(len(bounds))]
    solver = clarabel.DefaultSolver(csc_matrix(np.triu(square)), cost, csc_matrix(rows), bounds, cones, how)
    done = solver.solve()
    assert "Solved" in str(done.status), done.status
    found = np.array(done.x)
    x = found[1 + n : 1 + n + m] - found[1 + n + m : -1]
    return done.obj_val, G @ x + found[-1]
