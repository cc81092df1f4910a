"""How clear each row's class is in each view: the local entropies Z (eqs 2, 3 and 5 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from planewise.data.problem import class_problem, thread_count
from planewise.explain.projections import ViewColumns, given_views
from planewise.recip.neighbours import nearest, own_and_other_distances
from planewise.recip.rows import FloatArray, Vector, distinct_rows, find_coordinates, read_ranked

LARGEST = 10.0  # Z is capped here: beyond, the class is lost in that view whatever the ratio
VIEWS_AT_ONCE = 512


def local_entropies(
    points: FloatArray,
    labels: NDArray[np.int32],
    views: Sequence[ViewColumns],
    rows: NDArray[Any],
    *,
    k: int,
    tsallis_order: float,
    gap: FloatArray | None = None,
    n_threads: int = 1,
    step: Callable[[], object] | None = None,
) -> FloatArray:
    """Z of rows in views, as (views, rows): (d_s / d_o)^(m (1 - alpha)), at most 10; NaN where a value is missing."""
    out = np.empty((len(views), len(rows)), dtype=np.float32)
    for first in range(0, len(views), VIEWS_AT_ONCE):  # so that the distances are never all there at once
        block = list(views[first : first + VIEWS_AT_ONCE])
        same, other = own_and_other_distances(
            points, labels, block, rows, k, categorical=gap, n_threads=n_threads, step=step
        )
        powers = np.array([len(view) * (1 - tsallis_order) for view in block], dtype=np.float32)
        out[first : first + len(block)] = entropy_from_distances(same, other, powers)
    return out


def entropy_from_distances(same: FloatArray, other: FloatArray, power: FloatArray) -> FloatArray:
    """Z from both distances, one power a view. 0/0 is 1; without k rows of either side nothing is clear: 10."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = same / other
        ratio[(same == 0) & (other == 0)] = 1
        for j in np.flatnonzero(power != 1):
            np.power(ratio[j], power[j], out=ratio[j])
        np.minimum(ratio, np.float32(LARGEST), out=ratio)
    ratio[np.isinf(same) | np.isinf(other)] = LARGEST
    return ratio


def local_entropy(
    X: Any,
    y: ArrayLike,
    view: Sequence[int | str],
    *,
    k: int = 1,
    tsallis_order: float = 0.5,
    scaling: str | None = "standard",
    categorical_features: Any = "from_dtype",
    n_jobs: int | None = None,
) -> Vector:
    """How clear the class of each row is in one view (eq. 5): below 1 its own class is nearer, above 1 another.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Numbers or categories; NaN is a missing value.
    y : array of shape (n_samples,)
        Class labels.
    view : sequence of int or str
        The features of the view, by number or, of a data frame, by name.
    k : int, default=1
        Which neighbour's distance is taken on both sides. Equal rows count once.
    tsallis_order : float, default=0.5
        Order of the Tsallis divergence (alpha in the paper), below 1.
    scaling : {"standard", "arcsinh", None}, default="standard"
        As in :class:`RECIPClassifier`.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        As in :class:`RECIPClassifier`.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.

    Returns
    -------
    entropy : array of shape (n_samples,)
        (d_s / d_o)^(m (1 - alpha)), m being the number of features, d_s and d_o the distances to the k-th nearest row
        of the same and of other classes; at most 10. NaN for rows that lack a value of the view.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise.recip import local_entropy
    >>> X, y = load_iris(return_X_y=True)
    >>> petals, sepals = local_entropy(X, y, [2, 3]), local_entropy(X, y, [0, 1])
    >>> bool(petals.mean() < sepals.mean())
    True
    """
    _check_order(k, tsallis_order)
    entropy, rows, _ = _of_view(X, y, view, None, k, tsallis_order, scaling, categorical_features, n_jobs)
    out = np.full(len(rows.origin), np.nan)
    out[rows.origin] = np.repeat(entropy, np.diff(rows.origin_start))
    return out


def conditional_entropy(
    X: Any,
    y: ArrayLike,
    view: Sequence[int | str],
    *,
    k: int = 1,
    tsallis_order: float = 0.5,
    scaling: str | None = "standard",
    categorical_features: Any = "from_dtype",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float:
    """How clear the classes are in one view: the estimate of H(Y | view) of eq. 3, up to its constant factor.

    The smaller the better. Where a view says nothing of two equally frequent classes it is about 1.6 with k=1 and nears
    1 as k grows. Parameters are those of :func:`local_entropy`; rows that lack a value of the view, and those of
    classes with at most k distinct rows, do not count.

    Returns
    -------
    entropy : float
        The weighted mean of (((n - 1) d_s^m) / (n d_o^m))^(1 - alpha), each of them at most 10.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.recip import conditional_entropy
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> conditional_entropy(X, y, [0, 1]) < 0.6 < conditional_entropy(X, y, [0])
    True
    """
    _check_order(k, tsallis_order)
    entropy, rows, label = _of_view(X, y, view, sample_weight, k, tsallis_order, scaling, categorical_features, n_jobs)
    weight = rows.weight * (np.bincount(label)[label] > k) * ~np.isnan(entropy)
    if not weight.any():
        raise ValueError(f"No row of X has a value in all features of the view and k={k} others of its class.")
    n = len(label)
    factor = ((n - 1) / n) ** (1 - tsallis_order)
    return float(np.average(np.where(weight > 0, entropy, 0), weights=weight) * factor)


def tsallis_divergence(U: ArrayLike, V: ArrayLike, *, k: int = 1, tsallis_order: float = 0.5) -> float:
    """Tsallis' divergence between two samples from the distances to their k-th neighbours (eq. 2).

    Parameters
    ----------
    U : array of shape (n, d)
        A sample of the one distribution, more than k rows.
    V : array of shape (m, d)
        A sample of the other, at least k rows.
    k : int, default=1
        Which neighbour's distance is taken.
    tsallis_order : float, default=0.5
        Below 1; towards 1 the divergence becomes Kullback and Leibler's. It must be above 1 - k, where the estimate's
        correction for bias ends.

    Returns
    -------
    divergence : float
        About 0 for equal distributions, positive for others (the paper prints 1 / (1 - alpha) in front, which would
        make it negative). Rows of U that coincide with a k-th neighbour in V are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.recip import tsallis_divergence
    >>> random = np.random.default_rng(0)
    >>> same, apart = random.normal(size=(2, 500, 1)), random.normal([[[0]], [[2]]], size=(2, 500, 1))
    >>> abs(tsallis_divergence(*same, k=5)) < 0.1 < tsallis_divergence(*apart, k=5)
    True
    """
    _check_order(k, tsallis_order)
    if tsallis_order <= 1 - k:
        raise ValueError(f"tsallis_order must be above 1 - k = {1 - k} for this estimate; got {tsallis_order!r}.")
    u, v = (np.ascontiguousarray(sample, dtype=np.float32) for sample in (U, V))
    if u.ndim != 2 or v.ndim != 2 or u.shape[1] != v.shape[1]:
        raise ValueError(f"U and V must be tables with the same columns; got shapes {u.shape} and {v.shape}.")
    if len(u) <= k or len(v) < k:
        raise ValueError(f"k={k} needs more than {k} rows of U and at least {k} of V; got {len(u)} and {len(v)}.")
    view = [tuple(range(u.shape[1]))]
    own = nearest(u, view, u, k, exclude=np.arange(len(u)))[1][0, :, -1].astype(np.float64)
    other = nearest(v, view, u, k)[1][0, :, -1].astype(np.float64)
    kept = other > 0
    d = u.shape[1]
    ratio = (len(u) - 1) * own[kept] ** d / (len(v) * other[kept] ** d)
    log_bias = 2 * gammaln(k) - gammaln(k - tsallis_order + 1) - gammaln(k + tsallis_order - 1)
    return (
        float((np.mean(ratio ** (1 - tsallis_order)) * np.exp(log_bias) - 1) / (tsallis_order - 1))
        if kept.any()
        else 0.0
    )


class LocalEntropy(BaseEstimator):
    """Stands in for an estimator where a table is checked without one; errors call it by its name."""

    def __init__(self, categorical_features: Any) -> None:
        self.categorical_features = categorical_features


def _check_order(k: int, tsallis_order: float) -> None:
    if not (isinstance(k, (int, np.integer)) and k >= 1):
        raise ValueError(f"k must be an integer of 1 or more; got {k!r}.")
    if not tsallis_order < 1:
        raise ValueError(f"tsallis_order must be below 1; got {tsallis_order!r}.")


def _of_view(
    X: Any,
    y: Any,
    view: Any,
    sample_weight: Any,
    k: int,
    tsallis_order: float,
    scaling: Any,
    categorical: Any,
    n_jobs: Any,
) -> tuple[FloatArray, Any, NDArray[np.int32]]:
    """Z of the distinct rows in one view, those rows and their labels."""
    holder: Any = LocalEntropy(categorical)
    problem = class_problem(holder, X, y, sample_weight, read=read_ranked)
    names = getattr(holder, "feature_names_in_", None)
    (columns,) = given_views([view], problem.rows.shape[1], names, "view")
    rows = distinct_rows(problem.rows, problem.label, problem.weight, problem.kept)
    nominal = [j for j in holder.categories_ if j not in holder._ranks]
    coordinates = find_coordinates(rows.values, rows.weight, nominal, scaling)
    entropy = local_entropies(
        coordinates(rows.values),
        rows.target,
        [columns],
        np.arange(len(rows.values)),
        k=k,
        tsallis_order=tsallis_order,
        gap=coordinates.gap,
        n_threads=thread_count(n_jobs),
    )
    return entropy[0], rows, rows.target
