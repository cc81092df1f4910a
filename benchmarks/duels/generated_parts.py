"""A generated table of any number of rows, part by part: 28 normal columns and two classes."""

from __future__ import annotations

import numpy as np

N_COLUMNS = 28


def features(seed, n_rows):
    return np.random.default_rng(seed).standard_normal((n_rows, N_COLUMNS), dtype=np.float32)


def labels(X, seed):
    noise = np.random.default_rng(seed + 1_000_000).standard_normal(len(X), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] - X[:, 3] * (X[:, 4] > 0) + np.sin(3 * X[:, 5]) + (X[:, 6] + X[:, 7] > 1)
    return (score + noise > 0.3).astype(np.int64)
