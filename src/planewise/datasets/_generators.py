"""The papers' generated sets."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.datasets import (
    make_circles,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_moons,
)
from sklearn.utils import Bunch, check_random_state, check_scalar

RandomState = int | np.random.RandomState | None

FRIEDMAN = {1: make_friedman1, 2: make_friedman2, 3: make_friedman3}

# The paper shows four moons but gives no coordinates. Of 28 places tried for the second pair (18
# of them on all three figures) this one was picked by hand as near to the paper's: best possible
# accuracy .961 (its best is .960), a linear machine .85 (.850), an unlimited tree .94 (.946).
# Others, such as (2, 1) and (1.5, 1.5), come almost as near, so it is a guess.
SECOND_PAIR = np.array([3.5, 0.0])


def make_circle_and_ring(
    n_samples: int = 1000, *, noise: float = 0.2, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Make a noisy disc inside a noisy ring, the circle-and-ring set of the paper on SLM.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, half of them in each class.
    noise : float, default=0.2
        Standard deviation of the Gaussian noise; the radii are 0.5 and 1.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        0 for the ring, 1 for the circle inside it.

    Examples
    --------
    >>> from planewise.datasets import make_circle_and_ring
    >>> X, y = make_circle_and_ring(random_state=0)
    >>> X.shape, int(y.sum())
    ((1000, 2), 500)
    """
    _check_count(n_samples, "n_samples", 2)
    _check_noise(noise)
    X, y = make_circles(n_samples, noise=noise, factor=0.5, random_state=random_state)
    return X, y


def make_new_moons(
    n_samples: int | None = None,
    *,
    n_moons: int = 2,
    noise: float | None = None,
    random_state: RandomState = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make interleaved half moons, each a class: 2- and 4-new-moons of the paper on SLM.

    Four moons are two pairs side by side. The paper gives no coordinates: the distance between the
    pairs was chosen so that simple classifiers come near its figures.

    Parameters
    ----------
    n_samples : int, default=None
        Number of rows, shared evenly by the moons; 500 a moon by default.
    n_moons : {2, 4}, default=2
        Number of moons.
    noise : float, default=None
        Standard deviation of the Gaussian noise; by default the paper's, 0.3 for two moons and
        0.2 for four.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        The moon of each point, from 0.

    Examples
    --------
    >>> from planewise.datasets import make_new_moons
    >>> X, y = make_new_moons(n_moons=4, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((2000, 2), [0, 1, 2, 3])
    """
    if n_moons not in (2, 4):
        raise ValueError(f"n_moons must be 2 or 4, got {n_moons!r}.")
    n_samples = 500 * n_moons if n_samples is None else n_samples
    noise = {2: 0.3, 4: 0.2}[n_moons] if noise is None else noise
    _check_count(n_samples, "n_samples", n_moons)
    _check_noise(noise)
    if n_moons == 2:
        X, y = make_moons(n_samples, noise=noise, random_state=random_state)
        return X, y
    rng = check_random_state(random_state)
    left, y_left = make_moons(n_samples - n_samples // 2, noise=noise, random_state=rng)
    right, y_right = make_moons(n_samples // 2, noise=noise, random_state=rng)
    order = rng.permutation(n_samples)
    X = np.concatenate([left, right + SECOND_PAIR])
    return X[order], np.concatenate([y_left, y_right + 2])[order]


def make_friedman(
    number: int, n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Make Friedman's first, second or third regression problem.

    The inputs have scikit-learn's ranges. The first problem has 10 features, of which 5 matter;
    the others have 4.

    Parameters
    ----------
    number : {1, 2, 3}
        Which of the three.
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to the target.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 10) or (n_samples, 4)
        The inputs.
    y : ndarray of shape (n_samples,)
        The target.

    Examples
    --------
    >>> from planewise.datasets import make_friedman
    >>> X, y = make_friedman(1, random_state=0)
    >>> X.shape
    (1000, 10)
    """
    if number not in FRIEDMAN:
        raise ValueError(f"number must be 1, 2 or 3, got {number!r}.")
    _check_count(n_samples, "n_samples", 1)
    _check_noise(noise)
    X, y = FRIEDMAN[number](n_samples, noise=noise, random_state=random_state)
    return X, y


def make_subspace_batches(
    n_batches: int = 3,
    *,
    batch_size: int = 650,
    n_features: int = 7,
    noise: float = 0.0,
    return_details: bool = False,
    random_state: RandomState = None,
) -> tuple[Any, ...]:
    """Make batches of rows that are each decided in a plane of their own, as the paper on RECIP.

    Every row is uniform on [0, 1]. A batch draws a pair of features (u, v); its label is
    [x_u > 0.5] xor [x_v > 0.5]; then 1 is added to x_u and x_v, so that they tell the batch. Pairs
    may repeat. Rows of noise are uniform on [0, 2] and have random labels.

    Parameters
    ----------
    n_batches : int, default=3
        Number of batches (the paper's q, 1 to 7).
    batch_size : int, default=650
        Rows in each batch.
    n_features : int, default=7
        Number of features.
    noise : float, default=0.0
        Number of noise rows as a share of one batch: 0.2 adds 130 rows to any number of batches
        of 650.
    return_details : bool, default=False
        Whether to return the pairs and the batch of each row too.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        The rows, in random order.
    y : ndarray of shape (n_rows,)
        The labels, 0 or 1.
    details : :class:`~sklearn.utils.Bunch`
        ``pairs``, of shape (n_batches, 2), each with the smaller feature first, and ``batch``, of
        shape (n_rows,), -1 for rows of noise. Only if `return_details` is true.

    Examples
    --------
    >>> from planewise.datasets import make_subspace_batches
    >>> X, y, details = make_subspace_batches(2, noise=0.2, return_details=True, random_state=0)
    >>> X.shape, details.pairs.shape, int((details.batch == -1).sum())
    ((1430, 7), (2, 2), 130)
    """
    _check_count(n_batches, "n_batches", 1)
    _check_count(batch_size, "batch_size", 1)
    _check_count(n_features, "n_features", 2)
    _check_noise(noise)
    rng = check_random_state(random_state)
    n_clean, n_noise = n_batches * batch_size, round(noise * batch_size)
    pairs = np.sort([rng.choice(n_features, 2, replace=False) for _ in range(n_batches)], axis=1)
    batch = np.repeat(np.arange(n_batches), batch_size)
    X = rng.uniform(size=(n_clean, n_features))
    deciding = np.arange(n_clean)[:, None], pairs[batch]
    y = np.logical_xor(*(X[deciding] > 0.5).T).astype(np.int64)
    X[deciding] += 1
    X = np.concatenate([X, rng.uniform(0, 2, size=(n_noise, n_features))])
    y = np.concatenate([y, rng.randint(2, size=n_noise)])
    batch = np.concatenate([batch, np.full(n_noise, -1)])
    order = rng.permutation(len(X))
    X, y, batch = X[order], y[order], batch[order]
    return (X, y, Bunch(pairs=pairs, batch=batch)) if return_details else (X, y)


def _check_count(value: int, name: str, least: int) -> None:
    check_scalar(value, name, Integral, min_val=least)


def _check_noise(noise: float) -> None:
    check_scalar(noise, "noise", Real, min_val=0)
    if not math.isfinite(noise):
        raise ValueError(f"noise == {noise}, must be finite.")
