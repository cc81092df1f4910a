"""The neighbour engine against brute force in NumPy, to the last bit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from planewise.recip.neighbours import (
    VIEWS_PER_STEP,
    class_neighbours,
    nearest,
    nearest_class_weights,
    own_and_other_distances,
    own_and_other_weights,
)


def distances(points, queries, view, categorical=None):
    """By the documented rule; NaN where either row lacks a value."""
    total = np.zeros((len(queries), len(points)), np.float32)
    for j in view:
        difference = queries[:, None, j] - points[None, :, j]
        if categorical is not None and categorical[j] > 0:
            known = ~np.isnan(difference)
            difference[known] = np.where(difference[known] != 0, categorical[j], np.float32(0))
        total += difference * difference
    return np.sqrt(total)


def brute_class_neighbours(points, labels, n_classes, views, queries, k, exclude, categorical):
    rows = np.full((len(views), len(queries), n_classes, k), -1, np.int32)
    distance = np.full(rows.shape, np.inf, np.float32)
    for v, view in enumerate(views):
        d = distances(points, queries, view, categorical)
        if exclude is not None:
            d[np.asarray(exclude)[:, None] == np.arange(len(points))] = np.nan
        for c in range(n_classes):
            members = np.flatnonzero(labels == c)
            order = np.argsort(d[:, members], axis=1, kind="stable")[:, :k]  # stable: by number; NaN comes last
            near = np.take_along_axis(d[:, members], order, axis=1)
            there = ~np.isnan(near)
            rows[v, :, c, : near.shape[1]] = np.where(there, members[order], -1)
            distance[v, :, c, : near.shape[1]] = np.where(there, near, np.inf)
    return rows, distance


def brute_own_and_other(points, labels, views, rows, k, categorical):
    same = np.full((len(views), len(rows)), np.inf, np.float32)
    other = same.copy()
    own = labels[rows][:, None] == labels
    itself = np.asarray(rows)[:, None] == np.arange(len(points))
    for v, view in enumerate(views):
        d = distances(points, points[rows], view, categorical)
        for out, members in ((same, own & ~itself), (other, ~own)):
            if k <= len(points):
                kth = np.sort(np.where(members, d, np.nan), axis=1)[:, k - 1]
                out[v] = np.where(np.isnan(kth), np.inf, kth)
        lacking = np.isnan(points[rows][:, list(view)]).any(axis=1)
        same[v, lacking] = other[v, lacking] = np.nan
    return same, other


def all_views(n_columns, most=3):
    return [view for size in range(1, most + 1) for view in combinations(range(n_columns), size)]


@st.composite
def tables(draw):
    """Tables of all kinds: continuous, with few values, heavy at zero, with outliers, lines, gaps, categories."""
    n, p = draw(st.integers(1, 150)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    categorical = np.zeros(p, np.float32)
    for j in range(p):
        kind = draw(st.sampled_from(["normal", "few", "zeros", "outlier", "constant", "copy", "category", "huge"]))
        column = random.normal(size=n)
        if kind == "few":
            column = random.integers(0, draw(st.integers(2, 9)), n) / 3.0
        elif kind == "zeros":
            column[random.random(n) < 0.8] = 0
        elif kind == "outlier":
            column[random.integers(0, n)] = 1e6
        elif kind == "constant":
            column[:] = -0.0 if draw(st.booleans()) else 3.25
        elif kind == "copy" and j:
            column = columns[-1].copy()
        elif kind == "category":
            column = random.integers(0, 5, n).astype(float)
            categorical[j] = draw(st.sampled_from([0.5, 1.0, 3.0]))
        elif kind == "huge":
            column = column * 1e-22 if draw(st.booleans()) else column * 1e15
        if draw(st.integers(0, 3)) == 0:
            column[random.random(n) < 0.2] = np.nan
        columns.append(column)
    points = np.column_stack(columns).astype(np.float32)
    n_classes = draw(st.sampled_from([1, 2, 2, 3, 70]))
    labels = random.integers(0, n_classes, n).astype(np.int32)
    if draw(st.booleans()):  # one class takes nearly all, or classes lie apart
        labels = np.where(random.random(n) < 0.9, 0, labels) if draw(st.booleans()) else np.sort(labels)
    return points, labels.astype(np.int32), n_classes, categorical, random


@settings(max_examples=100)
@given(tables(), st.sampled_from([1, 1, 1, 2, 3, 7]), st.sampled_from([1, 2]))
def test_own_and_other_distances_equal_brute_force(table, k, n_threads):
    points, labels, _, categorical, random = table
    views = all_views(points.shape[1], 5)
    rows = random.integers(0, len(points), random.integers(0, 2 * len(points)))
    if random.random() < 0.5:
        rows = np.arange(len(points))
    got = own_and_other_distances(points, labels, views, rows, k, categorical=categorical, n_threads=n_threads)
    wanted = brute_own_and_other(points, labels, views, rows, k, categorical)
    assert_array_equal(got[0], wanted[0])
    assert_array_equal(got[1], wanted[1])


@settings(max_examples=60)
@given(tables(), st.sampled_from([1, 1, 2, 3, 7]), st.sampled_from([1, 2]))
def test_class_neighbours_equal_brute_force(table, k, n_threads):
    points, labels, n_classes, categorical, random = table
    views = all_views(points.shape[1], 5)[:12]
    n_queries = int(random.choice([12, 40]))  # few are answered by looking at every row
    chosen = random.integers(0, len(points), n_queries)
    queries = points[chosen]
    moved = random.random(queries.shape) < 0.2
    queries = np.where(moved, random.normal(size=queries.shape).astype(np.float32), queries)
    exclude = np.where(random.random(n_queries) < 0.5, chosen, -1) if random.random() < 0.8 else None
    got = class_neighbours(
        points, labels, n_classes, views, queries, k, exclude=exclude, categorical=categorical, n_threads=n_threads
    )
    wanted = brute_class_neighbours(points, labels, n_classes, views, queries, k, exclude, categorical)
    assert_array_equal(got[0], wanted[0])
    assert_array_equal(got[1], wanted[1])
    one_class = np.zeros(len(points), np.int32)
    rows, distance = nearest(points, views, queries, k, exclude=exclude, categorical=categorical, n_threads=n_threads)
    wanted = brute_class_neighbours(points, one_class, 1, views, queries, k, exclude, categorical)
    assert_array_equal(rows, wanted[0][:, :, 0])
    assert_array_equal(distance, wanted[1][:, :, 0])


def brute_class_weights(points, labels, weights, n_classes, views, queries, k, exclude, categorical):
    """Rows at the k-th distance share the places that nearer ones leave."""
    found = np.zeros((len(views), len(queries), n_classes))
    nearer, tied = np.zeros((2, len(views), len(queries)), np.int32)
    for v, view in enumerate(views):
        d = distances(points, queries, view, categorical)
        if exclude is not None:
            d[np.asarray(exclude)[:, None] == np.arange(len(points))] = np.nan
        for q, far in enumerate(d):
            known = np.sort(far[~np.isnan(far)])
            last = known[k - 1] if len(known) >= k else np.float32(np.inf)
            before = far < last * np.float32(1 - 1e-5)
            equal = ~before & (far <= last * np.float32(1 + 1e-5)) & np.isfinite(last)
            nearer[v, q], tied[v, q] = before.sum(), equal.sum()
            found[v, q] = np.bincount(labels[before], weights[before], n_classes)
            if equal.any():
                shared = np.bincount(labels[equal], weights[equal], n_classes)
                found[v, q] += shared * ((k - before.sum()) / equal.sum())
    return found, nearer, tied


@settings(max_examples=60)
@given(tables(), st.sampled_from([1, 2, 3, 7, 20]), st.sampled_from([1, 2]))
def test_weights_of_the_nearest_rows_equal_brute_force(table, k, n_threads):
    points, labels, n_classes, categorical, random = table
    views = all_views(points.shape[1], 5)[:12]
    weights = random.integers(1, 9, len(points)) / 2.0  # sums are exact in any order
    rows = random.integers(0, len(points), int(random.choice([12, 40])))  # few are answered by looking at every row
    how = {"categorical": categorical, "n_threads": n_threads}
    wanted = brute_class_weights(points, labels, weights, n_classes, views, points[rows], k, rows, categorical)
    got = nearest_class_weights(points, labels, weights, n_classes, views, points[rows], k, exclude=rows, **how)
    assert_array_equal(got[0], wanted[0])
    assert_array_equal(got[1], wanted[1])
    assert_array_equal(got[2], wanted[2])
    own, other = own_and_other_weights(points, labels, weights, views, rows, k, **how)
    mine = np.take_along_axis(wanted[0], labels[rows].astype(np.intp)[None, :, None], axis=2)[..., 0]
    none = wanted[1] + wanted[2] == 0
    assert_array_equal(own, np.where(none, np.nan, mine).astype(np.float32))
    assert np.allclose(other, np.where(none, np.nan, wanted[0].sum(axis=2) - mine), equal_nan=True)


@pytest.mark.parametrize("n_queries", [20, 200])
def test_weights_of_the_nearest_rows_do_not_depend_on_the_order_of_rows(n_queries):
    random = np.random.default_rng(0)
    points = random.integers(0, 4, (300, 3)).astype(np.float32)
    labels, weights = random.integers(0, 3, 300).astype(np.int32), random.uniform(0.1, 3, 300)
    queries, views = random.integers(0, 4, (n_queries, 3)).astype(np.float32), all_views(3)
    wanted = nearest_class_weights(points, labels, weights, 3, views, queries, 10)
    order = random.permutation(300)
    got = nearest_class_weights(points[order], labels[order], weights[order], 3, views, queries, 10)
    for one, other in zip(got, wanted, strict=True):
        assert_array_equal(one, other)


def test_rounding_does_not_part_rows_that_are_equally_far():
    values = np.arange(9.0)
    points = ((values - 3.7) / 2.9).astype(np.float32)[:, None]
    _, nearer, tied = nearest_class_weights(points, np.zeros(9, np.int32), np.ones(9), 1, [(0,)], points[2:7], 2)
    assert nearer.tolist() == [[1] * 5] and tied.tolist() == [[2] * 5]  # itself, and one on either side


def test_weights_must_be_one_a_row():
    points, labels = standard_table(50)
    with pytest.raises(ValueError, match="weights must have one entry for each of the 50 rows"):
        own_and_other_weights(points, labels, np.ones(49), [(0,)], [0], 1)


def standard_table(n=700, p=4):
    random = np.random.default_rng(5)
    points = random.normal(size=(n, p)).astype(np.float32)
    points[:, 0] = np.round(points[:, 0], 1)
    points[random.random(n) < 0.6, 1] = 0
    return points, random.integers(0, 3, n).astype(np.int32)


@pytest.mark.parametrize("k", [1, 4])
def test_the_three_functions_agree(k):
    points, labels = standard_table()
    views, rows = all_views(4, 4), np.arange(0, 700, 3)
    same, other = own_and_other_distances(points, labels, views, rows, k)
    _, distance = class_neighbours(points, labels, 3, views, points[rows], k, exclude=rows)
    _, anything = nearest(points, views, points[rows], k, exclude=rows)
    own = labels[rows]
    assert_array_equal(same, distance[:, np.arange(len(rows)), own, k - 1])
    outside = distance.copy()
    outside[:, np.arange(len(rows)), own] = np.inf
    ordered = np.sort(outside.reshape(*outside.shape[:2], -1), axis=-1)
    assert_array_equal(other, ordered[:, :, k - 1])
    together = np.sort(distance.reshape(*distance.shape[:2], -1), axis=-1)
    assert_array_equal(anything, together[:, :, :k])


@pytest.mark.parametrize("k", [1, 3])
def test_a_larger_table_equals_brute_force_for_any_number_of_threads(k):
    points, labels = standard_table(1000, 3)
    rows = np.arange(1000)
    views = all_views(3)
    answers = [own_and_other_distances(points, labels, views, rows, k, n_threads=n) for n in (1, 2, 5)]
    wanted = brute_own_and_other(points, labels, views, rows, k, None)
    for same, other in answers:
        assert_array_equal(same, wanted[0])
        assert_array_equal(other, wanted[1])


def test_coinciding_rows_are_at_distance_zero_and_go_by_number():
    points = np.full((50, 2), 1.5, np.float32)
    labels = np.array([0] * 40 + [1] * 9 + [2], np.int32)
    same, other = own_and_other_distances(points, labels, [(0, 1)], np.arange(50), 9)
    assert_array_equal(same[0], [0] * 40 + [np.inf] * 10)
    assert_array_equal(other[0], np.zeros(50))
    rows, distance = class_neighbours(points, labels, 3, [(0, 1)], points[:1], 3, exclude=[1])
    assert rows[0, 0].tolist() == [[0, 2, 3], [40, 41, 42], [49, -1, -1]]
    assert_array_equal(distance[0, 0, 2], [0, np.inf, np.inf])


def test_distances_that_differ_only_before_the_root_are_a_tie_for_the_lower_row():
    base = np.float32(1.0)
    further = np.nextafter(np.float32(base * base), np.float32(2))
    x = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
    x[0, 1] = np.sqrt(further - base)  # a square one step above 1, whose root is 1 again
    assert distances(x, np.zeros((1, 2), np.float32), (0, 1)).tolist() == [[1.0, 1.0]]
    rows, _ = nearest(x, [(0, 1)], np.zeros((1, 2), np.float32), 1)
    assert rows.tolist() == [[[0]]]


def test_step_is_called_once_a_block():
    points, labels = standard_table(20)
    calls = []
    views = [(0,)] * (2 * VIEWS_PER_STEP + 1)
    own_and_other_distances(points, labels, views, [0], 1, step=lambda: calls.append(1))
    assert len(calls) == 3


def test_an_error_of_step_ends_the_work():
    points, labels = standard_table(20)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own_and_other_distances(points, labels, [(0,)], [0], 1, step=interrupted)


def test_nothing_wanted_gives_empty_answers():
    points, labels = standard_table(20)
    assert own_and_other_distances(points, labels, [], [0], 1)[0].shape == (0, 1)
    assert own_and_other_distances(points, labels, [(0,)], [], 1)[0].shape == (1, 0)
    assert nearest(points, [(0,)], points[:0], 2)[0].shape == (1, 0, 2)
    rows, distance = nearest(points[:0], [(0, 1)], points[:2], 2)
    assert rows.tolist() == [[[-1, -1]] * 2] and np.all(np.isinf(distance))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"views": [(1, 0)]}, r"views has \(1, 0\)"),
        ({"views": [(0, 9)]}, "columns 0 to 3"),
        ({"views": [()]}, "views has"),
        ({"rows": [20]}, "rows must lie between 0 and 19"),
        ({"rows": [0.5]}, "rows must be a list of row numbers"),
        ({"k": 0}, "k must be at least 1"),
        ({"labels": np.zeros(3, np.int32)}, "labels must have one entry"),
        ({"categorical": np.ones(3, np.float32)}, "categorical must have one entry"),
        ({"categorical": -np.ones(4, np.float32)}, "categorical must be 0"),
        ({"points": np.full((20, 4), np.inf, np.float32)}, "points has a value beyond 1e.17 in column 0"),
        ({"points": np.zeros(20, np.float32)}, "points must have two dimensions"),
    ],
)
def test_wrong_input_is_named(change, message):
    points, labels = standard_table(20)
    wrong = {"points": points, "labels": labels, "views": [(0, 1)], "rows": [0], "k": 1} | change
    with pytest.raises(ValueError, match=message):
        own_and_other_distances(**wrong)


def test_wrong_queries_and_classes_are_named():
    points, labels = standard_table(20)
    with pytest.raises(ValueError, match="queries must have 4 columns"):
        nearest(points, [(0,)], points[:, :2].copy(), 1)
    with pytest.raises(ValueError, match="exclude must have one entry"):
        nearest(points, [(0,)], points[:2], 1, exclude=[1])
    with pytest.raises(ValueError, match="labels must lie between 0 and n_classes - 1 = 1"):
        class_neighbours(points, labels, 2, [(0,)], points[:2], 1)
