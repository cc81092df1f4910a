"""The gains of views against a plain reference, and trees that keep to their views."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm

from planewise import AdditiveClassifier, _core
from planewise.additive.gains import PRIOR_ROWS, BinnedColumns
from planewise.additive.search import folds, row_keys
from planewise.trees.boost_data import Data


def cells_gain(place, gradient, hessian, lam, noise):
    """A constant for every cell that has rows, beyond what chance gains."""
    total = 0.0
    for k in range(gradient.shape[1]):
        each = [place == cell for cell in np.unique(place)]
        total += sum(gradient[rows, k].sum() ** 2 / (hessian[rows, k].sum() + lam) for rows in each)
        total -= (len(each) - 1) * noise[k]
    return total


def sums_gain(a, b, gradient, hessian, lam, noise):
    """A step for every bin of one column, then one for every bin of the other."""
    total = 0.0
    for k in range(gradient.shape[1]):
        g, h = gradient[:, k].copy(), hessian[:, k]
        for place in (a, b):
            for cell in np.unique(place):
                rows = place == cell
                step = g[rows].sum() / (h[rows].sum() + lam)
                total += g[rows].sum() * step
                g[rows] -= step * h[rows]
        total -= (len(np.unique(a)) + len(np.unique(b)) - 2) * noise[k]
    return total


def expected(binned, view, gradient, hessian, lam, noise):
    a, b = (binned.bin[j].astype(int) for j in (view[0], view[-1]))
    if len(view) == 1:
        return cells_gain(a, gradient, hessian, lam, noise)
    known = gradient, hessian, lam, noise
    coarse = []
    for j, place in zip(view, (a, b), strict=True):
        last = binned.bins[j] - 1
        halved = place // 2
        if binned.numeric[j] and binned.missing[j] and last > 0:
            halved = np.where(place == last, (last - 1) // 2 + 1, halved)
        coarse.append(halved if binned.numeric[j] else place)
    found = [cells_gain(100 * a + b, *known), sums_gain(a, b, *known), cells_gain(100 * coarse[0] + coarse[1], *known)]
    if binned.numeric[view[0]] and binned.numeric[view[1]]:
        x, y = (binned.place[j].astype(np.float32) for j in view)
        there = ~(np.isnan(x) | np.isnan(y))
        w, u, v = binned.weight[there], x[there].astype(float), y[there].astype(float)
        squares = (w * (u * u + v * v) / 2).sum()
        together = np.round(1000 * (w * u * v).sum() / squares) / 1000 if squares > 0 else 0.0
        edges = norm.ppf(np.arange(1, 8) / 8).astype(np.float32)
        turned = []
        for sign in (1, -1):
            scale = np.float32(1 / np.sqrt(2 * max(1 + sign * together, 1e-3)))
            turned.append(np.where(there, np.searchsorted(edges, (x + sign * y) * scale, side="left"), 8))
        s, d = turned
        found.append(cells_gain(9 * s + d, *known))
        halves = [np.where(each == 8, 4, each // 2) for each in (s, d)]
        found += [cells_gain(9 * halves[0] + halves[1], *known), cells_gain(s, *known), cells_gain(d, *known)]
    return max(found)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), outputs=st.integers(1, 3), threads=st.sampled_from([1, 3]))
def test_gains_are_those_of_the_reference(seed, outputs, threads):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 120))
    rows = rng.normal(size=(n, 4)).astype(np.float32)
    rows[:, 1] += 3 * rows[:, 0]
    rows[:, 2] = rng.integers(0, 5, n)
    rows[:, 3] = rng.integers(0, 3, n)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    weight = rng.integers(1, 4, n).astype(float)
    gradient, hessian = rng.normal(size=(n, outputs)), rng.uniform(0.1, 1, (n, outputs))
    binned = BinnedColumns(rows, weight, [0, 0, 0, 3])
    views = [(0,), (1,), (2,), (3,), (0, 1), (0, 2), (1, 2), (0, 3), (2, 3)]
    noise = (gradient**2 / weight[:, None]).sum(axis=0) / hessian.sum(axis=0)
    lam = PRIOR_ROWS * hessian.sum() / outputs / weight.sum()
    wanted = np.array([expected(binned, view, gradient, hessian, lam, noise) for view in views])
    found = binned.gains(gradient, hessian, views, threads)
    assert_allclose(found, wanted / np.abs(wanted).max(), atol=1e-6)


def test_equal_values_share_a_bin_and_rare_categories_too():
    rows = np.array([[0, 0, 0, 0, 1, 2], [*range(6)]], np.float32).T
    binned = BinnedColumns(np.ascontiguousarray(rows), np.ones(6), [0, 40])
    assert binned.bin[0].tolist() == [0, 0, 0, 0, 1, 2]
    many = np.arange(100, dtype=np.float32)[:, None] % 50
    assert BinnedColumns(many, np.ones(100), [50]).bins == [32]


def test_wrong_arrays_are_refused():
    bins, place = np.zeros((2, 3), np.uint8), np.zeros((2, 3), np.float32)
    one, two = np.ones((1, 3)), np.array([0, 1], np.int32)
    good = [bins, place, np.ones(3), [1, 1], [1, 1], [0, 0], one, one, [1.0], 1.0, two, two, 1]
    _core.view_gains(*good)
    for at, wrong in ((0, bins + 1), (2, np.ones(2)), (3, [0, 1]), (3, [1]), (6, np.ones((1, 2))), (10, two + 1)):
        with pytest.raises(ValueError, match=r"must|no such"):
            _core.view_gains(*good[:at], wrong, *good[at + 1 :])


def test_trees_keep_to_their_views():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X.sum(axis=1) > 0).astype(int) + (X[:, 0] > 1)
    model = AdditiveClassifier(projections=[(0, 1), (2,), (3, 4)], n_estimators=8, cv=2, random_state=0).fit(X, y)
    forest, per_view = model.forest_, model.n_iter_ * 3
    assert forest.n_trees == 3 * per_view
    for place, view in enumerate(model.projections_):
        part = forest.part(place * per_view, (place + 1) * per_view)
        assert set(part.term_feature.tolist()) == set(view)


@pytest.mark.parametrize("views", [[[0, 9]], [[]], [[-1]]])
def test_views_of_other_columns_are_refused_by_the_core(views):
    rng = np.random.default_rng(0)
    X, y, ones = rng.normal(size=(20, 3)).astype(np.float32), rng.normal(size=20), np.ones(20)
    options = _core.BoostOptions()
    options.views = views
    with pytest.raises(ValueError, match=r"no such column|needs a column"):
        _core.Boosting(_core.Table(X, ones, 1), y, ones, np.zeros((1, 1)), 0, options, 1)


def test_folds_keep_equal_rows_together_and_classes_apart():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (200, 3)).astype(np.float32)
    label = (rows.sum(axis=1) > 5).astype(float)
    data = Data(rows, label, np.ones(200))
    parts = folds(data, 5, 1, stratify=True)
    keys = row_keys(rows, 0)
    assert sorted(np.concatenate([rest for _, rest in parts]).tolist()) == list(range(200))
    for learn, rest in parts:
        assert not set(keys[learn]) & set(keys[rest])
        assert 0 < label[rest].mean() < 1
    assert len(folds(Data(rows[:1].repeat(9, axis=0), label[:9], np.ones(9)), None, 0, stratify=False)) == 1
