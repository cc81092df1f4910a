"""Errors name what is wrong, the partition, and the column or row."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from dask_partitions import array, frame

import dask
import planewise.dask as on_dask

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning:distributed")


@pytest.fixture
def tree(client):
    return on_dask.SLMClassifier(random_state=0)


@pytest.fixture
def boost(client):
    return on_dask.SLMBoostClassifier(n_estimators=2, random_state=0)


def of_pieces(*pieces):
    return dd.from_delayed([dask.delayed(each) for each in pieces], meta=pieces[0].iloc[:0], verify_meta=False)


def test_tables_in_memory_are_refused_by_name(tree, table):
    X, y = frame(table[0], [600]), frame(table[1], [600])
    with pytest.raises(
        TypeError, match=r"X is a pandas.DataFrame.*planewise.SLMClassifier.*dask.dataframe.from_pandas"
    ):
        tree.fit(table[0], y)
    with pytest.raises(TypeError, match=r"y is a numpy.ndarray.*dask.array.from_array\(y\)"):
        tree.fit(X, np.zeros(600))
    with pytest.raises(TypeError, match=r"sample_weight is a pandas.Series"):
        tree.fit(X, y, table[3])
    with pytest.raises(ValueError, match="requires y to be passed"):
        tree.fit(X, None)


def test_without_a_client(table):
    from unittest.mock import patch

    nobody = patch("planewise.dask.estimator.get_client", side_effect=ValueError("none"))
    with nobody, pytest.raises(ValueError, match="SLMClassifier needs a cluster: create a client first"):
        on_dask.SLMClassifier().fit(frame(table[0], [600]), frame(table[1], [600]))


def test_asynchronous_clients_are_refused(client, table, monkeypatch):
    monkeypatch.setattr(type(client), "asynchronous", True)
    with pytest.raises(ValueError, match="SLMClassifier needs a client that is not asynchronous"):
        on_dask.SLMClassifier(client=client).fit(frame(table[0], [600]), frame(table[1], [600]))


def test_partitions_with_different_columns(tree, boost, table):
    X, y = table[0][["a", "c"]], frame(table[1], [300, 300])
    for model in (tree, boost):
        with pytest.raises(ValueError, match=r"^Partition 1 of X lacks the column 'c'\.$"):
            model.fit(of_pieces(X[:300], X[300:].rename(columns={"c": "z"})), y)
        with pytest.raises(ValueError, match=r"^Partition 1 of X has its columns in a different order"):
            model.fit(of_pieces(X[:300], X[300:][["c", "a"]]), y)


def test_partitions_with_different_types(tree, boost, table):
    X, y = table[0][["a", "c"]], frame(table[1], [300, 300])
    wrong = X[300:].assign(c="red")
    for model in (tree, boost):
        with pytest.raises(ValueError, match=r"Column 'c' holds numbers in partition 0, but .*'red'.* in partition 1"):
            model.fit(of_pieces(X[:300], wrong), y)


@pytest.mark.parametrize("what", ["y", "sample_weight"])
def test_partitions_of_different_lengths(tree, table, what):
    X = frame(table[0], [300, 300])
    good, bad = frame(table[1], [300, 300]), frame(table[1 if what == "y" else 3], [290, 310])
    given = (X, bad) if what == "y" else (X, good, bad)
    with pytest.raises(ValueError, match=f"Partition [01] has 300 rows in X, but (290|310) in {what}"):
        tree.fit(*given)


def test_different_numbers_of_partitions(tree, table):
    with pytest.raises(
        ValueError, match="X has 2 partitions, but y has 3, and dask does not know which rows they hold"
    ):
        tree.fit(frame(table[0], [300, 300]), frame(table[1], [200, 200, 200]))
    with pytest.raises(ValueError, match="X has 600 rows, but y has 599"):
        tree.fit(frame(table[0], [300, 300]), da.zeros(599, chunks=599))


def test_known_divisions_are_aligned(tree, table):
    X, y = dd.from_pandas(table[0], npartitions=2), dd.from_pandas(table[1], npartitions=5)
    assert len(tree.fit(X, y).predict(X).compute()) == 600


def test_missing_targets_and_wrong_weights(tree, table):
    X, sizes = frame(table[0], [300, 300]), [300, 300]
    y = table[1].astype(object)
    y[307] = None
    with pytest.raises(ValueError, match=r"^Partition 1 of y: row 7 has no finite target\.$"):
        tree.fit(X, frame(y, sizes))
    with pytest.raises(ValueError, match=r"^Partition 0 of y: row 4 has no finite target\.$"):
        on_dask.SLMRegressor().fit(X, array(np.where(np.arange(600) == 4, np.nan, 1.0), sizes))
    weight = table[3].copy()
    weight[310] = -1
    with pytest.raises(ValueError, match=r"^Partition 1 of sample_weight: row 10 has the weight -1.0; weights must be"):
        tree.fit(X, frame(table[1], sizes), frame(weight, sizes))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        tree.fit(X, frame(table[1], sizes), frame(table[3] * 0, sizes))
    weight[310] = 1e300
    with pytest.raises(ValueError, match=r"^Partition 1 of sample_weight: row 10 has the weight 1e\+300; .* at most"):
        tree.fit(X, frame(table[1], sizes), frame(weight, sizes))


def test_targets_of_two_columns_are_refused(tree, boost, table):
    X, y = frame(table[0], [300, 300]), array(np.zeros((600, 2)), [300, 300])
    for model in (tree, boost):
        with pytest.raises(ValueError, match=r"^Partition [01] of y has shape \(300, 2\); y must have one dim"):
            model.fit(X, y)


def test_targets_too_large_for_boosting_are_refused_by_their_partition(table, monkeypatch):
    monkeypatch.setattr(on_dask.SLMBoostRegressor, "_can_stay_in_parts", lambda *_: True)
    X, sizes = frame(table[0], [300, 300]), [300, 300]
    y = np.where(np.arange(600) == 307, 1e39, np.arange(600.0))
    with pytest.raises(ValueError, match=r"^Partition 1 of y: row 7 has the target 1e\+39; boosting .* at most 1\.7e"):
        on_dask.SLMBoostRegressor(n_estimators=2).fit(X, array(y, sizes))


def test_no_rows_at_all(tree, table):
    with pytest.raises(ValueError, match="All 2 partitions of X are empty"):
        tree.fit(frame(table[0][:0], [0, 0]), frame(table[1][:0], [0, 0]))


def test_a_validation_set_with_other_columns(boost, table):
    X, y = frame(table[0], [600]), frame(table[1], [600])
    with pytest.raises(ValueError, match=r"^X_val lacks the column 'kind': its columns must be those of X"):
        boost.fit(X, y, X_val=X.drop(columns="kind"), y_val=y)
    with pytest.raises(ValueError, match=r"^X_val has a further column 'more'"):
        boost.fit(X, y, X_val=X.assign(more=1), y_val=y)
    with pytest.raises(ValueError, match="X_val and y_val go together"):
        boost.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="sample_weight_val requires X_val"):
        boost.fit(X, y, sample_weight_val=y)
    with pytest.raises(TypeError, match=r"X_val is a pandas.DataFrame"):
        boost.fit(X, y, X_val=table[0], y_val=y)


def test_offsets_are_refused(boost, table):
    X, y = frame(table[0], [600]), frame(table[1], [600])
    with pytest.raises(ValueError, match=r"^Offsets are not supported on a cluster; use planewise.SLMBoostClassifier"):
        boost.fit(X, y, offset=y)


def test_a_partition_that_raises_is_named_with_its_error(tree, table):
    def fail(part, partition_info=None):
        if partition_info is not None and partition_info["number"] == 1:
            raise OSError("the disk is gone")
        return part

    X = frame(table[0], [300, 300]).map_partitions(fail, meta=table[0].iloc[:0])
    with pytest.raises(
        on_dask.PartitionError, match=r"^Computing partition 1 of X failed with OSError: the disk is gone"
    ):
        tree.fit(X, frame(table[1], [300, 300]))


def test_wrong_parameters_are_refused_before_anything_is_computed(client, table):
    with pytest.raises(ValueError, match="max_depth"):
        on_dask.SLMClassifier(max_depth=-1).fit(frame(table[0], [600]), frame(table[1], [600]))
    with pytest.raises(TypeError, match="no_such_parameter"):
        on_dask.SLMClassifier(no_such_parameter=1)


def test_a_fit_that_fails_leaves_the_estimator_as_it_was(tree, table):
    tree.fit(frame(table[0], [600]), frame(table[1], [600]))
    before = tree.predict(table[0])
    with pytest.raises(ValueError, match="Partition 0 has 600 rows in X, but 5 in y"):
        tree.fit(frame(table[0], [600]), da.zeros(5, chunks=5))
    assert np.array_equal(tree.predict(table[0]), before)


def test_a_table_that_no_worker_can_hold_is_refused_before_it_starts(tree, table, monkeypatch):
    real = tree._get_client().scheduler_info

    def small(**kwargs):
        info = real(**kwargs)
        return {**info, "workers": {a: {**about, "memory_limit": 10_000} for a, about in info["workers"].items()}}

    monkeypatch.setattr(tree._get_client(), "scheduler_info", small)
    with pytest.raises(MemoryError, match=r"brings all 600 rows to one worker.*largest worker is limited to 0 MiB"):
        tree.fit(frame(table[0], [600]), frame(table[1], [600]))


def test_nothing_is_left_on_the_cluster(client, tree, table):
    import gc
    import time

    tree.fit(frame(table[0], [300, 300]), frame(table[1], [300, 300]))
    with pytest.raises(ValueError, match="lacks"):
        tree.fit(of_pieces(table[0][:300], table[0][300:][["a"]]), frame(table[1], [300, 300]))
    for _ in range(100):
        gc.collect()
        left = [key for key in client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
                if "planewise" in str(key)]  # fmt: skip
        if not left:
            break
        time.sleep(0.05)
    assert left == []
