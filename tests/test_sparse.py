"""Sparse tables: the same models and answers as from the dense ones, to the bit."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from planewise import (
    ConformalKernel,
    DiscriminantFeatureTest,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMBoostRanker,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.data import float32 as _float32
from planewise.evaluate import evaluate, quality
from planewise.plot import TreeDisplay
from planewise.report import report

ESTIMATORS = {
    "tree": SLMClassifier(random_state=0),
    "tree of numbers": SLMRegressor(random_state=0),
    "forest": SLMForestClassifier(n_estimators=3, random_state=0),
    "forest of numbers": SLMForestRegressor(n_estimators=3, random_state=0),
    "boosting": SLMBoostClassifier(n_estimators=3, random_state=0),
    "boosting of numbers": SLMBoostRegressor(n_estimators=3, random_state=0),
    "machine": MCMClassifier(random_state=0),
    "machine of numbers": MCMRegressor(),
    "search of numbers": MCMRegressorCV(mus=[0.01], gammas=[0.2], cv=2, random_state=0),
    "search": MCMClassifierCV([100.0], [1.0], [0.2], cv=2, n_repeats=1, random_state=0),
    "large machine": LargeScaleMCMClassifier(n_components=8, max_iter=5, random_state=0),
    "views": RECIPClassifier(random_state=0),
    "feature test": DiscriminantFeatureTest(),
    "kernel": ConformalKernel(),
}
FORMATS = [
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
    sparse.csr_array,
    sparse.csc_array,
    sparse.coo_array,
    sparse.lil_array,
]
ASKED = ["predict", "predict_proba", "decision_function", "apply", "transform", "staged_predict"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 6)) < 0.4, rng.normal(size=(60, 6)).round(2), 0.0)
    X[0] = 0  # a row that stores nothing
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def answers(model, X):
    out = {}
    for name in ASKED:
        if hasattr(model, name):
            found = getattr(model, name)(X)
            found = list(found)[-1] if name.startswith("staged") else found
            out[name] = found.toarray() if sparse.issparse(found) else found
    return out


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_sparse_table_gives_the_model_and_answers_of_the_dense_one(name, table):
    X, y = table
    model = ESTIMATORS[name]
    if model.__class__.__name__.endswith("Regressor"):
        y = y + X[:, 2]
    expected = answers(model.fit(X, y), X)
    assert expected
    for number, make in enumerate(FORMATS):
        if number and name not in ("tree", "machine", "views"):
            continue
        found = answers(model.fit(make(X), y), make(X))
        assert found.keys() == expected.keys()
        for asked in expected:
            assert_array_equal(found[asked], expected[asked])


def test_a_ranker_and_evaluation_sets_take_sparse_tables(table):
    X, y = table
    queries = np.arange(len(X)) // 10
    model = SLMBoostRanker(n_estimators=3, random_state=0)
    expected = model.fit(X, y, qid=queries).predict(X)
    made = sparse.csr_array(X)
    assert_array_equal(model.fit(made, y, qid=queries).predict(made), expected)
    assert model.score(made, y, qid=queries) == model.score(X, y, qid=queries)
    boosting = SLMBoostClassifier(n_estimators=3, random_state=0)
    expected = boosting.fit(X, y, X_val=X, y_val=y).validation_score_
    assert_array_equal(boosting.fit(made, y, X_val=made, y_val=y).validation_score_, expected)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float32, np.float64])
def test_every_type_of_number_is_read(dtype, table):
    X = (table[0] > 0).astype(dtype)
    tree = SLMClassifier(random_state=0)
    expected = answers(tree.fit(X, table[1]), X)
    found = answers(tree.fit(sparse.csr_array(X), table[1]), sparse.csr_array(X))
    assert_array_equal(found["predict_proba"], expected["predict_proba"])


@settings(max_examples=20)
@given(st.data())
def test_stored_zeros_duplicates_and_missing_values_are_read_as_scipy_adds_them_up(data):
    n = data.draw(st.integers(8, 30))
    stored = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    values = rng.choice([0.0, 1.0, -2.5, 1e-3, np.nan, 1.7e9 + 1, np.inf], stored)
    made = sparse.coo_array((values, (rng.integers(0, n, stored), rng.integers(0, 4, stored))), shape=(n, 4))
    y = rng.integers(0, 2, n)
    expected = SLMClassifier(random_state=0).fit(made.toarray(), y)
    found = SLMClassifier(random_state=0).fit(made, y)
    assert found.feature_origins_ == expected.feature_origins_
    assert_array_equal(found.predict_proba(made), expected.predict_proba(made.toarray()))


def test_long_indices_are_read(table):
    X = sparse.csr_matrix(table[0])
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    tree = SLMClassifier(random_state=0).fit(X, table[1])
    assert_array_equal(tree.predict(X), tree.predict(table[0]))


def test_categorical_columns_and_validation_rows_may_be_sparse(table):
    X, y = table[0].copy(), table[1]
    X[:, 3] = np.arange(60) % 4
    model = SLMBoostClassifier(n_estimators=5, categorical_features=[3], random_state=0, early_stopping=True)
    expected = model.fit(X, y, X_val=X[::2], y_val=y[::2]).predict_proba(X)
    found = model.fit(sparse.csr_array(X), y, X_val=sparse.csc_array(X[::2]), y_val=y[::2])
    assert_array_equal(found.predict_proba(sparse.coo_array(X)), expected)
    assert_array_equal(found.categories_[3], [0, 1, 2, 3])


def test_sparse_columns_of_pandas_are_read(table):
    X, y = table
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=list("abcdef"))
    plain = pd.DataFrame(X, columns=list("abcdef"))
    for model in (SLMClassifier(random_state=0), MCMClassifier()):
        assert_array_equal(model.fit(frame, y).predict(frame), model.fit(plain, y).predict(plain))


@pytest.mark.parametrize("name", ["tree", "boosting", "machine", "views"])
def test_explanations_pictures_and_reports_take_sparse_tables(name, table):
    X, y = table
    model = ESTIMATORS[name].fit(X, y)
    few = sparse.csr_array(X[:3])
    explained = model.explain(few)
    assert [str(each) for each in explained] == [str(each) for each in model.explain(X[:3])]
    given = quality(evaluate(model, sparse.csr_array(X), y), sparse.csr_array(X), y)
    assert given == quality(evaluate(model, X, y), X, y)
    assert "<html" in report(model, sparse.csr_array(X), y)
    if name == "tree":
        TreeDisplay.from_estimator(model, X=sparse.csr_array(X), y=y)


def test_a_table_that_would_be_too_large_is_refused_with_its_size():
    X = sparse.csr_array((2**20, 2**12), dtype=np.float32)
    with pytest.raises(ValueError, match=r"1,048,576 rows and 4,096 columns.*16.0 GiB.*at most 4 GiB.*TruncatedSVD"):
        SLMClassifier().fit(X, np.zeros(2**20))
    with pytest.raises(ValueError, match=r"float64 it would take 32.0 GiB"):
        MCMClassifier().fit(X, np.zeros(2**20))


def test_there_is_one_dense_copy_only(monkeypatch):
    X = sparse.random_array((20_000, 50), density=0.02, rng=np.random.default_rng(0), format="csr")
    monkeypatch.setattr(_float32, "_STRETCH", 5_000)
    out = np.zeros(X.shape, np.float32)
    tracemalloc.start()
    _float32.fill(out, slice(None), X, {})
    assert tracemalloc.get_traced_memory()[1] < out.nbytes / 4
    tracemalloc.stop()
    assert_array_equal(out, X.toarray().astype(np.float32))
