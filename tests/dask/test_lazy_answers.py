"""Answers to collections are collections, computed when asked for."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_partitions import frame

import planewise.dask as on_dask

METHODS = ["predict", "predict_proba", "decision_function"]


@pytest.fixture(scope="module")
def two_classes(client, table):
    sizes = [300, 300]
    return on_dask.SLMBoostClassifier(n_estimators=4, random_state=0).fit(
        frame(table[0], sizes), frame(table[1], sizes)
    )


@pytest.fixture(scope="module")
def three_classes(client, table):
    X = da.from_array(table[0][["a", "c", "d"]].to_numpy(), chunks=(200, 3))
    y = da.from_array(np.digitize(table[2], [-0.5, 0.5]), chunks=200)
    return on_dask.SLMBoostClassifier(n_estimators=4, random_state=0).fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_frames_keep_their_divisions_index_and_types(two_classes, table, method):
    X = dd.from_pandas(table[0].set_index(pd.RangeIndex(1000, 1600)), npartitions=4)
    lazy, eager = getattr(two_classes, method)(X), getattr(two_classes, method)(table[0])
    assert lazy.divisions == X.divisions and lazy.known_divisions
    found = lazy.compute()
    assert found.index.equals(X.compute().index)
    assert np.array_equal(found.to_numpy(), eager)
    if eager.ndim == 1:
        assert lazy.dtype == found.dtype and lazy.name == found.name == "prediction"
    else:
        assert list(lazy.columns) == list(found.columns) and (lazy.dtypes == found.dtypes).all()


def test_columns_have_the_names_of_classes(two_classes, table):
    X = frame(table[0], [600])
    assert list(two_classes.predict_proba(X).columns) == ["no", "yes"]


@pytest.mark.parametrize("method", METHODS)
def test_arrays_keep_their_chunks_and_types(three_classes, table, method):
    values = table[0][["a", "c", "d"]].to_numpy()
    X = da.from_array(values, chunks=(250, 2))
    lazy, eager = getattr(three_classes, method)(X), getattr(three_classes, method)(values)
    assert lazy.chunks[0] == (250, 250, 100)
    assert lazy.shape == eager.shape and lazy.dtype == eager.dtype
    assert np.array_equal(lazy.compute(), eager)
    assert np.array_equal(lazy[500:].compute(), eager[500:])


def test_unknown_chunks_stay_unknown(three_classes, table):
    values = table[0][["a", "c", "d"]].to_numpy()
    X = da.from_array(values, chunks=(250, 3))
    lazy = three_classes.predict_proba(X[X[:, 0] > 0])
    assert np.isnan(lazy.shape[0]) and lazy.shape[1] == 3
    assert np.array_equal(lazy.compute(), three_classes.predict_proba(values[values[:, 0] > 0]))


def test_empty_partitions_get_empty_answers(two_classes, table):
    X = frame(table[0], [0, 600, 0])
    assert np.array_equal(two_classes.predict(X).compute(), two_classes.predict(table[0]))
    nothing = two_classes.predict_proba(X.partitions[0]).compute()
    assert nothing.shape == (0, 2) and (nothing.dtypes == np.float64).all()


def test_nothing_is_computed_before_it_is_asked_for(two_classes, table):
    def fail(part):
        raise AssertionError("computed")

    X = frame(table[0], [600]).map_partitions(fail, meta=table[0].iloc[:0])
    lazy = [getattr(two_classes, method)(X) for method in METHODS]
    with pytest.raises(AssertionError, match="computed"):
        lazy[0].compute()


def test_options_of_the_ordinary_estimator(two_classes, table):
    X = frame(table[0], [300, 300])
    assert np.array_equal(
        two_classes.predict_proba(X, n_rounds=2).compute(), two_classes.predict_proba(table[0], n_rounds=2)
    )
    with pytest.raises(ValueError, match="predict of a dask collection takes no offset"):
        two_classes.predict(X, offset=np.zeros(600))


def test_scores_of_collections(two_classes, client, table):
    X, y, number, weight = table
    sizes = [300, 300]
    lazy = [frame(each, sizes) for each in (X, y, weight)]
    assert two_classes.score(*lazy) == two_classes.to_local().score(X, y, weight)
    model = on_dask.SLMRegressor(random_state=0).fit(lazy[0], frame(number, sizes))
    assert model.score(lazy[0], frame(number, sizes)) == model.to_local().score(X, number)


def test_other_columns_are_refused_when_computed(two_classes, table):
    X = frame(table[0].rename(columns={"a": "z"}), [600])
    with pytest.raises(ValueError, match="feature names"):
        two_classes.predict(X).compute()


IN_MEMORY = {
    "SLMBoostClassifier": ["explain", "predict_contributions", "staged_predict", "staged_predict_proba"],
    "SLMBoostRegressor": ["explain", "staged_predict"],
    "SLMForestClassifier": ["explain", "apply"],
    "SLMClassifier": ["explain", "decision_path"],
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_what_needs_rows_in_memory_is_refused_by_name(client, table, name):
    y = table[2] if name.endswith("Regressor") else table[1]
    X = frame(table[0], [300, 300])
    settings = {"random_state": 0} | ({} if name == "SLMClassifier" else {"n_estimators": 3})
    model = getattr(on_dask, name)(**settings).fit(X, frame(y, [300, 300]))
    for method in IN_MEMORY[name]:
        with pytest.raises(TypeError, match=rf"^{method} takes tables in memory.*model.to_local\(\).{method}\("):
            getattr(model, method)(X)
        with pytest.raises(TypeError, match=rf"^{method} takes tables in memory"):
            getattr(model, method)(X=X)
        eager = getattr(model, method)(table[0][:5])
        found = list(eager) if method.startswith("staged") else eager
        assert (found.shape[0] if method == "decision_path" else len(found)) > 0
