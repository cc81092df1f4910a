"""Data of any size for timing: a truth that is half axis-parallel, half oblique, plus noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_half_oblique(
    n_samples: int,
    n_features: int = 30,
    *,
    task: str = "regression",
    n_steps: int = 12,
    noise: float = 0.5,
    random_state: int = 0,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Steps along single features and along differences of two or three, some features irrelevant.

    The steps depend on `random_state` alone, so samples of different sizes come from one truth. With
    ``task="classification"`` the target is whether the noisy sum is above its median.
    """
    truth = np.random.default_rng([random_state, 1])
    rng = np.random.default_rng([random_state, n_samples])
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    relevant = truth.permutation(n_features)[: max(4, 2 * n_features // 3)]
    score = np.zeros(n_samples)
    for step in range(n_steps):
        if step % 2 == 0:
            along = X[:, truth.choice(relevant)]
        else:
            columns = truth.choice(relevant, size=truth.integers(2, 4), replace=False)
            weights = truth.choice([-1.0, 1.0], size=len(columns)) * truth.uniform(0.5, 2.0, size=len(columns))
            along = X[:, columns] @ (weights / np.linalg.norm(weights)).astype(np.float32)
        score += truth.choice([-1.0, 1.0]) * (along > truth.uniform(-0.7, 0.7))
    score += noise * rng.standard_normal(n_samples)
    if task == "regression":
        return X, score
    return X, (score > np.median(score)).astype(np.int64)
