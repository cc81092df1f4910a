"""The same model as in memory, to the bit, however the rows are partitioned."""

from __future__ import annotations

import pickle

import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client, LocalCluster
from dask_partitions import frame, model_bytes
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import dask
import planewise
import planewise.dask as on_dask

SIZES = {1: [600], 3: [100, 350, 150], 7: [0, 90, 200, 1, 0, 209, 100]}
CLASSIFIERS = ["SLMBoostClassifier", "SLMForestClassifier", "SLMClassifier"]
REGRESSORS = ["SLMBoostRegressor", "SLMForestRegressor", "SLMRegressor"]
SETTINGS = {
    "SLMBoostClassifier": {"n_estimators": 6},
    "SLMBoostRegressor": {"n_estimators": 6},
    "SLMForestClassifier": {"n_estimators": 5, "bootstrap": True, "max_samples": 0.5},
    "SLMForestRegressor": {"n_estimators": 5},
    "SLMRegressor": {"n_projections": 20},
}


def both(name, **more):
    settings = SETTINGS.get(name, {}) | {"random_state": 3} | more
    return getattr(planewise, name)(**settings), getattr(on_dask, name)(**settings)


@pytest.mark.parametrize("n_partitions", SIZES)
@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_frames_give_the_model_of_the_table_in_memory(client, table, name, n_partitions):
    X, label, number, weight = table
    y = label if name in CLASSIFIERS else number
    local, remote = both(name)
    sizes = SIZES[n_partitions]
    local.fit(X, y, weight)
    remote.fit(frame(X, sizes), frame(y, sizes), frame(weight, sizes))
    assert model_bytes(remote) == model_bytes(local)


@pytest.mark.parametrize("name", [*SETTINGS, "SLMClassifier"])
def test_arrays_give_the_model_of_the_array_in_memory_whatever_their_chunks(client, table, name):
    X, y, weight = table[0][["a", "c", "d", "time"]].to_numpy(), (table[1] == "yes").to_numpy().astype(int), table[3]
    local, remote = both(name)
    local.fit(X, y, weight)
    remote.fit(
        da.from_array(X, chunks=(170, 3)), da.from_array(y, chunks=600), da.from_array(weight.to_numpy(), chunks=90)
    )
    assert model_bytes(remote) == model_bytes(local)


def test_early_stopping_by_a_validation_set_and_further_sets(client, table):
    X, y, _, weight = table
    local, remote = both("SLMBoostClassifier", n_estimators=30, early_stopping=True, n_iter_no_change=3)
    local.fit(
        X[:400],
        y[:400],
        X_val=X[400:],
        y_val=y[400:],
        sample_weight_val=weight[400:],
    )
    parts = [frame(X[:400], [150, 250]), frame(y[:400], [150, 250])]
    remote.fit(
        *parts,
        X_val=frame(X[400:], [0, 200]),
        y_val=frame(y[400:], [0, 200]),
        sample_weight_val=frame(weight[400:], [0, 200]),
    )
    assert np.array_equal(remote.validation_score_, local.validation_score_)
    assert model_bytes(remote) == model_bytes(local)


def test_a_class_that_only_one_partition_has(client, table):
    X = table[0][["a", "c"]]
    y = pd.Series(np.repeat(["p", "q", "r"], 200))
    local, remote = both("SLMBoostClassifier")
    local.fit(X, y)
    remote.fit(frame(X, [200, 200, 200]), frame(y, [200, 200, 200]))
    assert list(remote.classes_) == ["p", "q", "r"]
    assert model_bytes(remote) == model_bytes(local)


def test_categories_that_partitions_do_not_share_are_united(client, table):
    X, y = table[0][["a", "kind"]].copy(), table[1]
    X["kind"] = X["kind"].astype(str)
    pieces = [X[:300].astype({"kind": "category"}), X[300:].assign(kind=pd.Categorical(["z"] * 300))]
    collection = dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=pieces[0].iloc[:0], verify_meta=False)
    remote = on_dask.SLMClassifier(random_state=0).fit(collection, frame(y, [300, 300]))
    assert remote.categories_[1].tolist() == ["u", "v", "w", "z"]


def test_sparse_blocks(client):
    X = sparse.random(300, 6, density=0.3, format="csr", random_state=0)
    y = (np.asarray(X.sum(axis=1)).ravel() > 0.9).astype(int)
    blocks = da.from_array(X.toarray(), chunks=(100, 6)).map_blocks(sparse.csr_matrix)
    remote = on_dask.SLMClassifier(random_state=0).fit(blocks, da.from_array(y, chunks=100))
    local = planewise.SLMClassifier(random_state=0).fit(X, y)
    assert model_bytes(remote) == model_bytes(local)
    assert np.array_equal(remote.predict(blocks).compute(), local.predict(X))


def test_unknown_chunk_sizes_are_found_out(client, table):
    values = da.from_array(table[0][["a", "c"]].to_numpy(), chunks=(200, 2))
    y = da.from_array((table[1] == "yes").to_numpy(), chunks=600)
    unknown = values[values[:, 0] < 10]  # all rows, which dask cannot know
    assert np.isnan(unknown.shape[0])
    remote = on_dask.SLMClassifier(random_state=0).fit(unknown, y)
    local = planewise.SLMClassifier(random_state=0).fit(values.compute(), y.compute())
    assert model_bytes(remote) == model_bytes(local)


def test_a_forest_with_out_of_bag_score(client, table):
    X, y = table[:2]
    local, remote = both("SLMForestClassifier", oob_score=True, n_estimators=20)
    local.fit(X, y)
    remote.fit(frame(X, [300, 300]), frame(y, [300, 300]))
    assert remote.oob_score_ == local.oob_score_
    assert model_bytes(remote) == model_bytes(local)


def test_a_random_state_object_draws_as_in_memory(client, table):
    X, y = table[:2]
    local = planewise.SLMForestClassifier(n_estimators=4, random_state=np.random.RandomState(5)).fit(X, y)
    remote = on_dask.SLMForestClassifier(n_estimators=4, random_state=np.random.RandomState(5))
    assert model_bytes(remote.fit(frame(X, [300, 300]), frame(y, [300, 300]))) == model_bytes(local)


@pytest.fixture
def fitted(client, table):
    return on_dask.SLMBoostClassifier(n_estimators=3, random_state=0, client=client).fit(
        frame(table[0], [300, 300]), frame(table[1], [300, 300])
    )


def test_pickles_and_clones_do_without_a_client(client, fitted, table, tmp_path):
    loaded = pickle.loads(pickle.dumps(fitted))
    assert loaded.client is None and fitted.client is client
    assert model_bytes(loaded) == model_bytes(fitted)
    joblib.dump(fitted, tmp_path / "m")
    assert np.array_equal(joblib.load(tmp_path / "m").predict(table[0]), fitted.predict(table[0]))
    copied = clone(fitted)
    assert copied.client is client and not hasattr(copied, "forest_")
    assert copied.get_params() == fitted.get_params() and "client" in copied.get_params()


def test_saved_files_hold_the_ordinary_estimator(fitted, table, tmp_path):
    planewise.save(fitted, tmp_path / "m")
    loaded = planewise.load(tmp_path / "m")
    assert type(loaded) is planewise.SLMBoostClassifier
    assert np.array_equal(loaded.predict(table[0]), fitted.predict(table[0]))


def test_to_local_is_the_ordinary_estimator(fitted, table):
    local = fitted.to_local()
    assert type(local) is planewise.SLMBoostClassifier
    assert "client" not in local.get_params()
    assert np.array_equal(local.predict_proba(table[0]), fitted.predict_proba(table[0]))


def test_searches_through_the_dask_backend_of_joblib(client, table):
    X, y = table[0][["a", "c"]], table[1]
    search = GridSearchCV(planewise.SLMForestClassifier(n_estimators=3, random_state=0), {"max_depth": [1, 3]}, cv=2)
    with joblib.parallel_backend("dask", client=client, wait_for_workers_timeout=5):
        search.fit(X, y)
    assert np.array_equal(search.cv_results_["mean_test_score"], clone(search).fit(X, y).cv_results_["mean_test_score"])


def test_several_fits_at_once_on_one_cluster(client, table):
    from concurrent.futures import ThreadPoolExecutor

    X, y = frame(table[0], [300, 300]), frame(table[1], [300, 300])

    def fit(seed):
        return on_dask.SLMForestClassifier(n_estimators=3, random_state=seed, client=client).fit(X, y)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(fit, range(10)))
    for seed, model in enumerate(made):
        local = planewise.SLMForestClassifier(n_estimators=3, random_state=seed).fit(*table[:2])
        assert model_bytes(model) == model_bytes(local)


def test_columns_of_one_parquet_folder_stay_aligned(client, table, tmp_path):
    """dask merges partitions of which few columns are read, such as those of y."""
    whole = table[0].drop(columns="kind").assign(target=table[1])
    for k in range(6):
        whole[100 * k : 100 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    read = dd.read_parquet(tmp_path)
    assert read["target"].optimize().npartitions < read.npartitions
    local, remote = both("SLMBoostClassifier")
    remote.fit(read.drop(columns="target"), read["target"])
    assert model_bytes(remote) == model_bytes(local.fit(whole.drop(columns="target"), whole["target"]))


def test_a_client_that_is_made_later_is_used(client):
    with LocalCluster(processes=False, n_workers=0, dashboard_address=":0") as cluster:
        later = Client(cluster)
        assert on_dask.SLMClassifier()._get_client() is later
        later.close()
