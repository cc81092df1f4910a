"""Exact nearest rows in many views of one table at once: what the core does, with checks and blocks.

A view is a few columns of the table. One rule for distances, everywhere: differences in float32, their squares added up
in float32 in the order of the columns, the square root in float32. A categorical column has a number of its own, by
which two different categories differ. A row without a value in one of the view's columns has no neighbours there.
Results are exact: they depend neither on the number of threads nor on how the work is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planewise import _core

Views = Sequence[tuple[int, ...]]  # each a strictly increasing tuple of column indices
FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]

VIEWS_PER_STEP = 64
"""Views between two calls of ``step``; it is called once for each such block."""

LARGEST_VALUE = 1e17
"""In size; the squares of larger differences would leave float32."""


def own_and_other_distances(
    points: FloatArray,
    labels: IntArray,
    views: Views,
    rows: ArrayLike,
    k: int,
    *,
    categorical: FloatArray | None = None,
    n_threads: int = 1,
    step: Callable[[], object] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Distances from rows to the k-th nearest *other* row of their label, and to the k-th of any other label.

    Parameters
    ----------
    points : float32 array of shape (n, p), C order
        The table; NaN is a missing value.
    labels : int32 array of shape (n,)
        Any numbers.
    views : sequence of tuples of int
        The columns of each view, increasing.
    rows : array of int
        The rows to answer for. A row is never its own neighbour.
    k : int
        Which neighbour.
    categorical : float32 array of shape (p,), optional
        What two different categories of a column differ by; 0 for columns of numbers.
    n_threads : int
    step : callable, optional
        Called on this thread after every ``VIEWS_PER_STEP`` views (and the last ones).

    Returns
    -------
    same, other : float32 arrays of shape (len(views), len(rows))
        Infinite where there are fewer than k such rows, NaN where the row itself lacks a value of the view.
    """
    points, difference = _table(points, categorical)
    labels = _labels(labels, len(points))
    _check_views(views, points.shape[1])
    chosen = _row_numbers(rows, len(points), "rows", lowest=0)
    _check_k(k)
    same = np.empty((len(views), len(chosen)), np.float32)
    other = np.empty_like(same)
    search = _core.OwnAndOtherSearch(points, labels, difference)
    for block, start, column in _blocks(views, step):
        search.distances(start, column, chosen, k, same[block], other[block], n_threads)
    return same, other


def own_and_other_weights(
    points: FloatArray,
    labels: IntArray,
    weights: NDArray[np.float64],
    views: Views,
    rows: ArrayLike,
    k: int,
    *,
    categorical: FloatArray | None = None,
    n_threads: int = 1,
    step: Callable[[], object] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Of the k nearest rows, itself left out, the weights of those of a row's own label and of the others.

    Rows that are as far away as the k-th share the places left by nearer rows, as in :func:`nearest_class_weights`.
    Parameters are those of :func:`own_and_other_distances`, and the weight of every row.

    Returns
    -------
    own, other : float32 arrays of shape (len(views), len(rows))
        NaN where a row has no neighbour, as it lacks a value of the view or is alone there.
    """
    points, difference = _table(points, categorical)
    labels = np.unique(_labels(labels, len(points)), return_inverse=True)[1].astype(np.int32)
    weight = _weights(weights, len(points))
    _check_views(views, points.shape[1])
    chosen = _row_numbers(rows, len(points), "rows", lowest=0)
    _check_k(k)
    own = np.empty((len(views), len(chosen)), np.float32)
    other = np.empty_like(own)
    search = _core.NearestWeightsSearch(points, labels, weight, difference)
    for block, start, column in _blocks(views, step):
        search.own_and_other(start, column, chosen, k, own[block], other[block], n_threads)
    return own, other


def nearest_class_weights(
    points: FloatArray,
    labels: IntArray,
    weights: NDArray[np.float64],
    n_classes: int,
    views: Views,
    queries: FloatArray,
    k: int,
    *,
    exclude: ArrayLike | None = None,
    categorical: FloatArray | None = None,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], IntArray, IntArray]:
    """The weights of the k nearest rows of each query by class, in every view.

    Rows at the k-th distance (up to a relative difference of 1e-5, since standardised values are rounded) share the
    places left by nearer rows: of the weight of each, the share (k - nearer) / tied counts. This is its mean weight if
    the places were drawn by lot, so that the order of the rows does not matter.

    Parameters are those of :func:`class_neighbours`, and the weight of every row.

    Returns
    -------
    weight : float64 array of shape (len(views), m, n_classes)
    nearer, tied : int32 arrays of shape (len(views), m)
        How many rows are nearer than the k-th, and as far away as it. If there are fewer than k rows, all are nearer.
        Both are 0 where the query lacks a value of the view.
    """
    points, difference = _table(points, categorical)
    labels = _classes(labels, len(points), n_classes)
    weight = _weights(weights, len(points))
    queries, excluded = _queries(points, views, queries, k, exclude)
    found = np.empty((len(views), len(queries), n_classes))
    nearer = np.empty(found.shape[:2], np.int32)
    tied = np.empty_like(nearer)
    start, column = _flat(views)
    _core.nearest_class_weights(
        points, labels, weight, n_classes, difference, start, column, queries, excluded, k, found, nearer, tied,
        n_threads,
    )  # fmt: skip
    return found, nearer, tied


def class_neighbours(
    points: FloatArray,
    labels: IntArray,
    n_classes: int,
    views: Views,
    queries: FloatArray,
    k: int,
    *,
    exclude: ArrayLike | None = None,
    categorical: FloatArray | None = None,
    n_threads: int = 1,
) -> tuple[IntArray, FloatArray]:
    """The k nearest rows of every class to each query, in every view.

    Parameters
    ----------
    points, views, categorical, n_threads
        As for :func:`own_and_other_distances`.
    labels : int32 array of shape (n,)
        0 to ``n_classes`` - 1.
    queries : float32 array of shape (m, p), C order
        NaN is a missing value.
    exclude : int array of shape (m,), optional
        For each query a row that is not its neighbour (itself, say); -1 for none.

    Returns
    -------
    rows : int32 array of shape (len(views), m, n_classes, k)
        Sorted by distance, equal ones by row number; -1 where there are fewer, or the query lacks a value of the view.
    distance : float32 array of the same shape
        Infinite where ``rows`` is -1.
    """
    points, difference = _table(points, categorical)
    labels = _classes(labels, len(points), n_classes)
    return _class_neighbours(points, labels, n_classes, views, queries, k, exclude, difference, n_threads)


def nearest(
    points: FloatArray,
    views: Views,
    queries: FloatArray,
    k: int,
    *,
    exclude: ArrayLike | None = None,
    categorical: FloatArray | None = None,
    n_threads: int = 1,
) -> tuple[IntArray, FloatArray]:
    """The k nearest rows to each query in every view, whatever their class.

    Parameters are those of :func:`class_neighbours`; ``rows`` and ``distance`` have shape (len(views), m, k).
    """
    points, difference = _table(points, categorical)
    no_labels = np.empty(0, np.int32)
    rows, distance = _class_neighbours(points, no_labels, 1, views, queries, k, exclude, difference, n_threads)
    return rows[:, :, 0], distance[:, :, 0]


def _class_neighbours(
    points: FloatArray,
    labels: IntArray,
    n_classes: int,
    views: Views,
    queries: FloatArray,
    k: int,
    exclude: ArrayLike | None,
    difference: FloatArray,
    n_threads: int,
) -> tuple[IntArray, FloatArray]:
    queries, excluded = _queries(points, views, queries, k, exclude)
    rows = np.empty((len(views), len(queries), n_classes, k), np.int32)
    distance = np.empty(rows.shape, np.float32)
    start, column = _flat(views)
    _core.class_neighbours(
        points, labels, n_classes, difference, start, column, queries, excluded, k, rows, distance, n_threads
    )
    return rows, distance


def _queries(
    points: FloatArray, views: Views, queries: FloatArray, k: int, exclude: ArrayLike | None
) -> tuple[FloatArray, IntArray]:
    """Queries and the row that each leaves out, checked; no rows if none is left out."""
    _check_views(views, points.shape[1])
    _check_k(k)
    queries = _floats(queries, "queries")
    if queries.shape[1] != points.shape[1]:
        raise ValueError(f"queries must have {points.shape[1]} columns, like points; got {queries.shape[1]}.")
    if exclude is None:
        excluded = np.empty(0, np.int32)
    else:
        excluded = _row_numbers(exclude, len(points), "exclude", lowest=-1)
        if len(excluded) != len(queries):
            raise ValueError(f"exclude must have one entry for each of the {len(queries)} queries.")
    return queries, excluded


def _table(points: FloatArray, categorical: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    points = _floats(points, "points")
    if categorical is None:
        return points, np.empty(0, np.float32)
    difference = np.ascontiguousarray(categorical, np.float32)
    if difference.shape != (points.shape[1],):
        raise ValueError(f"categorical must have one entry for each of the {points.shape[1]} columns.")
    if not np.all((difference >= 0) & (difference <= LARGEST_VALUE)):
        raise ValueError("categorical must be 0 for columns of numbers, and positive and finite for others.")
    return points, difference


def _floats(rows: FloatArray, name: str) -> FloatArray:
    rows = np.ascontiguousarray(rows, np.float32)
    if rows.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows, columns), not {rows.ndim}.")
    if np.any(np.abs(rows) > LARGEST_VALUE):
        column = int(np.argmax(np.any(np.abs(rows) > LARGEST_VALUE, axis=0)))
        raise ValueError(
            f"{name} has a value beyond {LARGEST_VALUE:g} in column {column}; standardise the columns first."
        )
    return rows


def _labels(labels: IntArray, n_rows: int) -> IntArray:
    labels = np.ascontiguousarray(labels, np.int32)
    if labels.shape != (n_rows,):
        raise ValueError(f"labels must have one entry for each of the {n_rows} rows of points.")
    return labels


def _classes(labels: IntArray, n_rows: int, n_classes: int) -> IntArray:
    labels = _labels(labels, n_rows)
    if len(labels) and not (labels.min() >= 0 and labels.max() < n_classes):
        raise ValueError(f"labels must lie between 0 and n_classes - 1 = {n_classes - 1}.")
    return labels


def _weights(weights: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    weights = np.ascontiguousarray(weights, np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"weights must have one entry for each of the {n_rows} rows of points.")
    return weights


def _row_numbers(rows: ArrayLike, n_rows: int, name: str, *, lowest: int) -> IntArray:
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be a list of row numbers.")
    if numbers.size and not (numbers.min() >= lowest and numbers.max() < n_rows):
        raise ValueError(f"{name} must lie between {lowest} and {n_rows - 1}, the last row of points.")
    return np.ascontiguousarray(numbers, np.int32)


def _check_views(views: Views, n_columns: int) -> None:
    for view in views:
        increasing = all(a < b for a, b in pairwise(view))
        if not (view and increasing and view[0] >= 0 and view[-1] < n_columns):
            raise ValueError(f"views has {view!r}; a view is an increasing tuple of columns 0 to {n_columns - 1}.")


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}.")


def _blocks(views: Views, step: Callable[[], object] | None) -> Iterator[tuple[slice, IntArray, IntArray]]:
    """Some views at a time, as the core takes them; `step` is called when they are done."""
    for first in range(0, len(views), VIEWS_PER_STEP):
        block = slice(first, first + VIEWS_PER_STEP)
        yield block, *_flat(views[block])
        if step is not None:
            step()


def _flat(views: Views) -> tuple[IntArray, IntArray]:
    start = np.cumsum([0, *map(len, views)], dtype=np.int32)
    return start, np.array([j for view in views for j in view], np.int32)
