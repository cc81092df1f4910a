"""Columns that float32 cannot resolve, in the estimators that standardise float32."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from planewise import ConformalKernel, LargeScaleMCMClassifier, load, save
from planewise.export import to_c, to_onnx

START = 1_700_000_000


@pytest.fixture(scope="module")
def times():
    rng = np.random.default_rng(0)
    second = np.arange(400) * 7 % 600
    return np.column_stack([START + second, rng.normal(size=400)]), (second > 300).astype(int)


def machine(**how):
    return LargeScaleMCMClassifier(n_components=15, max_iter=20, random_state=0, **how)


@pytest.mark.parametrize("how", [{}, {"kernel": "linear"}, {"conformal": "signed"}], ids=str)
def test_seconds_since_1970_are_resolved(how, times, tmp_path):
    X, y = times
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = machine(**how).fit(X, y)
    assert model.feature_origins_ == {0: START}
    assert model.score(X, y) > 0.95
    assert all(reason.to_text() for reason in model.explain(X[:3]))
    if hasattr(model, "support_vectors_"):
        assert ((model.support_vectors_[:, 0] > START - 5000) & (model.support_vectors_[:, 0] < START + 5000)).all()
    save(model, tmp_path / "model.planewise")
    assert_array_equal(load(tmp_path / "model.planewise").decision_function(X), model.decision_function(X))


def test_tables_of_every_kind_are_read_alike(times):
    X, y = times
    expected = machine().fit(X, y).decision_function(X)
    frame = pd.DataFrame({"time": X[:, 0].astype(np.int64), "other": X[:, 1]})
    for table in (frame, frame.astype({"time": "Int64"}), sparse.csr_array(X), X.tolist()):
        assert_array_equal(machine().fit(table, y).decision_function(table), expected)


def test_more_rows_are_read_as_the_first_ones(times):
    X, y = times
    model = machine().partial_fit(X[:200], y[:200], classes=[0, 1]).partial_fit(X[200:], y[200:])
    assert model.score(X, y) > 0.9


def test_rows_of_weight_zero_do_not_matter(times):
    X, y = times[0].copy(), times[1]
    weight = np.ones(len(X))
    weight[:50] = 0
    X[:50, 0] = 0.1
    alone = machine().fit(X[50:], y[50:])
    assert_array_equal(machine().fit(X, y, sample_weight=weight).decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("export", [to_c, to_onnx])
def test_exports_that_read_floats_are_refused(export, times):
    with pytest.raises(ValueError, match=r"column 'x0'.*subtract a constant"):
        export(machine().fit(*times))


def test_unscaled_columns_stay_as_they_are(times):
    X, y = times
    assert machine(scaling=None).fit(X, y).feature_origins_ == {}


def test_a_conformal_kernel_resolves_them_too(times, tmp_path):
    X, y = times
    kernel = ConformalKernel().fit(X, y)
    assert kernel.feature_origins_ == {0: START}
    moved = ConformalKernel().fit(X - np.array([START, 0]), y)
    np.testing.assert_allclose(kernel.transform(X), moved.transform(X - np.array([START, 0])), atol=1e-4)
    save(kernel, tmp_path / "kernel.planewise")
    assert_array_equal(load(tmp_path / "kernel.planewise").transform(X), kernel.transform(X))
