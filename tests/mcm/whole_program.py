"""The whole linear program, every row and column at once, solved by HiGHS (inside SciPy): the referee."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


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
