"""Boosting on more rows than a tree is grown on: they stay on the workers, and the model is that in memory."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client, LocalCluster
from dask_partitions import array, frame, model_bytes, wait_for_two_workers

import planewise
import planewise.dask as on_dask

LIMIT = 256  # rows per tree
N_ROWS = 700
NEAR = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
SIZES = {
    1: [700],
    3: [200, 0, 500],
    7: [0, 90, 200, 1, 100, 209, 100],
    31: [0, *[23] * 29, 33],
}


def boosting(name="SLMBoostClassifier", **parameters):
    """In memory, and on the cluster."""
    settings = {"n_estimators": 6, "max_rows_per_tree": LIMIT, "random_state": 0, "n_jobs": 1} | parameters
    return getattr(planewise, name)(**settings), getattr(on_dask, name)(**settings)


@pytest.fixture(scope="module")
def rows():
    """Numbers, missing values and categories, few and many; labels, numbers and weights."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 3)).round(3), columns=list("abc"))
    X.loc[rng.choice(N_ROWS, 60, replace=False), "b"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], N_ROWS))
    X["town"] = pd.Categorical([f"town {k}" for k in rng.integers(0, 70, N_ROWS)])
    X["time"] = 1.6e9 + rng.integers(0, 600, N_ROWS)
    score = X["a"] + (X["kind"] == "v") - X["b"].fillna(0) / 2 + X["town"].cat.codes / 50
    y = pd.Series(np.where(score > score.mean(), "yes", "no"))
    return X, y, score, pd.Series(rng.integers(0, 3, N_ROWS).astype(float))


@pytest.fixture(scope="module", params=[1, 2, 4])
def near(request):
    """A client of a cluster with so many workers."""
    with LocalCluster(n_workers=request.param, **NEAR) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def is_in_parts(monkeypatch):
    """Makes sure that rows stay on the workers."""

    def fail(*_):
        raise AssertionError("the rows were gathered")

    monkeypatch.setattr(on_dask.SLMBoostClassifier, "_fit_here", fail)
    monkeypatch.setattr(on_dask.SLMBoostRegressor, "_fit_here", fail)


def lazily(tables, sizes):
    return [frame(each, sizes) if hasattr(each, "iloc") else array(each, sizes) for each in tables]


# ---------------------------------------------------------------------------------------------------------- same bytes
@pytest.mark.parametrize("n_partitions", SIZES)
def test_any_partitions_on_any_workers_give_the_model_in_memory(near, rows, n_partitions, is_in_parts):
    X, y, score, weight = rows
    for name, target in (("SLMBoostClassifier", y), ("SLMBoostRegressor", score)):
        local, remote = boosting(name)
        local.fit(X, target, weight)
        remote.set_params(client=near).fit(*lazily([X, target, weight], SIZES[n_partitions]))
        assert model_bytes(remote) == model_bytes(local)


@pytest.mark.parametrize("n_partitions", SIZES)
def test_ten_classes_in_arrays(near, rows, n_partitions, is_in_parts):
    X = rows[0][["a", "b", "c", "time"]].to_numpy()
    y = np.digitize(rows[2], np.quantile(rows[2], np.linspace(0.1, 0.9, 9)))
    local, remote = boosting(n_estimators=3, class_weight="balanced")
    local.fit(X, y)
    remote.set_params(client=near).fit(*lazily([X, y], SIZES[n_partitions]))
    assert model_bytes(remote) == model_bytes(local)


@pytest.mark.parametrize("n_partitions", [3, 31])
def test_validation_sets_stop_the_fit_at_the_same_round(near, rows, n_partitions, is_in_parts):
    X, y, _, weight = rows
    learn, rest = slice(0, 500), slice(500, N_ROWS)
    local, remote = boosting(n_estimators=30, learning_rate=0.7, early_stopping=True, n_iter_no_change=3)
    local.fit(
        X[learn], y[learn], X_val=X[rest], y_val=y[rest], sample_weight_val=weight[rest],
    )  # fmt: skip
    sizes = {3: [150, 0, 350], 31: [0, *[17] * 29, 7]}[n_partitions]
    X_val, y_val, weight_val = lazily([X[rest], y[rest], weight[rest]], [0, 150, 50])
    remote.set_params(client=near).fit(
        *lazily([X[learn], y[learn]], sizes), X_val=X_val, y_val=y_val, sample_weight_val=weight_val,
    )  # fmt: skip
    assert len(remote.validation_score_) and remote.n_iter_ < 30
    assert model_bytes(remote) == model_bytes(local)


@pytest.mark.parametrize("refit", [True, False])
def test_a_share_of_the_rows_is_set_aside(near, rows, refit, is_in_parts):
    X, y, _, weight = rows
    local, remote = boosting(n_estimators=30, learning_rate=0.7, early_stopping=True, n_iter_no_change=3, refit=refit)
    local.fit(X, y, weight)
    remote.set_params(client=near).fit(*lazily([X, y, weight], SIZES[7]))
    assert remote.n_iter_ < 30
    assert model_bytes(remote) == model_bytes(local)


def test_scores_and_callbacks(client, rows, is_in_parts):
    X, y = rows[0], rows[2]
    heard = []
    settings = {"scoring": "neg_mean_absolute_error", "callbacks": [lambda number, _: heard.append(number)]}
    local, remote = boosting("SLMBoostRegressor", **settings)
    local.fit(X, y)
    remote.fit(*lazily([X, y], SIZES[7]))
    assert heard == [1, 2, 3, 4, 5, 6] * 2
    assert model_bytes(remote) == model_bytes(local)


@pytest.mark.parametrize(
    "parameters", [{"subsample": 0.3}, {"early_stopping": True, "max_rows_per_tree": 650}], ids=str
)
def test_rows_that_a_tree_can_be_grown_on_are_gathered(client, rows, parameters):
    X, y = rows[:2]
    local, remote = boosting(**parameters)
    remote.fit(*lazily([X, y], SIZES[3]))
    assert model_bytes(remote) == model_bytes(local.fit(X, y))


def test_progress_is_shown(client, rows, capsys, is_in_parts):
    remote = boosting(verbose=1)[1].fit(*lazily(rows[:2], SIZES[3]))
    shown = capsys.readouterr().err
    assert "boosting" in shown and f"train {-remote.train_score_[-1]:.5g}" in shown


# ------------------------------------------------------------------------------------------------------------- clients
def test_ten_fits_at_once_on_one_cluster(client, rows, is_in_parts):
    collections = lazily(rows[:2], SIZES[3])

    def fit(seed):
        return boosting(random_state=seed, n_estimators=4)[1].set_params(client=client).fit(*collections)

    with ThreadPoolExecutor(10) as pool:
        made = list(pool.map(fit, range(10)))
    for seed, model in enumerate(made):
        assert model_bytes(model) == model_bytes(boosting(random_state=seed, n_estimators=4)[0].fit(*rows[:2]))


class Kept:
    """Collections that are passed to a task as they are, and not computed."""

    def __init__(self, *collections):
        self.collections = collections


def fit_in_a_task(seed, kept):
    return boosting(random_state=seed, n_estimators=4)[1].fit(*kept.collections).to_local()


def test_fits_in_tasks_on_the_workers(client, rows, is_in_parts):
    kept = Kept(*lazily(rows[:2], SIZES[3]))
    made = client.gather([client.submit(fit_in_a_task, seed, kept) for seed in range(3)])
    for seed, model in enumerate(made):
        assert model_bytes(model) == model_bytes(boosting(random_state=seed, n_estimators=4)[0].fit(*rows[:2]))


# -------------------------------------------------------------------------------------------------------------- faults
class Meanwhile:
    """A callback that does something once, after a round; the fit waits until it is done."""

    def __init__(self, moments):
        self.moments = moments  # what is done, by round

    def __call__(self, number, losses):
        if number in self.moments:
            self.moments.pop(number)()
        return False


def process_of(dask_worker):
    return os.getpid()


@pytest.fixture
def far(processes):
    with Client(processes, set_as_default=False) as connected:
        wait_for_two_workers(processes, connected)
        yield connected


@pytest.fixture(scope="module")
def processes():
    with LocalCluster(processes=True, n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def kill_one(client, which=0):
    address = sorted(client.scheduler_info(n_workers=-1)["workers"])[which]
    os.kill(client.run(process_of, workers=[address])[address], signal.SIGKILL)


@pytest.mark.parametrize("name", ["SLMBoostClassifier", "SLMBoostRegressor"])
def test_workers_that_are_killed_change_nothing(far, rows, name, is_in_parts):
    X, target = rows[0], rows[1] if name == "SLMBoostClassifier" else rows[2]
    local, remote = boosting(name, n_estimators=12, early_stopping=True, callbacks=[lambda *_: False])
    moments = {2: lambda: kill_one(far), 9: lambda: kill_one(far, -1)}
    remote.set_params(client=far, callbacks=[Meanwhile(moments)]).fit(*lazily([X, target], SIZES[7]))
    assert moments == {}
    assert model_bytes(remote) == model_bytes(local.fit(X, target))


def test_a_worker_that_is_killed_at_no_moment_in_particular(far, rows, is_in_parts):
    X, y = rows[:2]
    local, remote = boosting(n_estimators=150)
    begun = threading.Event()
    remote.set_params(client=far, callbacks=[lambda *_: begun.set()])

    def kill():
        begun.wait(30)
        time.sleep(0.2)
        kill_one(far)

    killing = threading.Thread(target=kill)
    killing.start()
    remote.fit(*lazily([X, y], SIZES[7]))
    killing.join()
    assert model_bytes(remote) == model_bytes(local.set_params(callbacks=[lambda *_: False]).fit(X, y))


def test_a_worker_that_is_added_changes_nothing(rows, is_in_parts):
    X, y = rows[:2]
    local, remote = boosting(n_estimators=8, callbacks=[lambda *_: False])
    with LocalCluster(n_workers=1, **NEAR) as cluster, Client(cluster, set_as_default=False) as client:

        def add():
            cluster.scale(2)
            client.wait_for_workers(2, timeout=120)
            client.rebalance()

        moments = {3: add}
        remote.set_params(client=client, callbacks=[Meanwhile(moments)]).fit(*lazily([X, y], SIZES[7]))
    assert moments == {}
    assert model_bytes(remote) == model_bytes(local.fit(X, y))


def kept_by(dask_worker):
    """Whatever of planewise is left in the memory of a worker."""
    return [str(key) for key in dask_worker.data if "planewise" in str(key)]


def left_on(client):
    tasks = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
    kept = client.run(kept_by).values()
    return [key for key in tasks if "planewise" in key] + [key for keys in kept for key in keys]


@pytest.mark.parametrize("ends", ["by itself", "by an error"])
def test_nothing_is_left_on_the_cluster(rows, ends, is_in_parts):
    def fail(number, losses):
        held.append(len(left_on(client)))
        if ends == "by an error" and number == 3:
            raise ZeroDivisionError

    held = []
    with LocalCluster(n_workers=2, **NEAR) as cluster, Client(cluster, set_as_default=False) as client:
        model = boosting(early_stopping=True, callbacks=[fail])[1].set_params(client=client)
        try:
            model.fit(*lazily(rows[:2], SIZES[7]))
        except ZeroDivisionError:
            assert ends == "by an error"
        assert min(held) > 0  # while it learns, there is something
        deadline = time.monotonic() + 10
        while left_on(client) and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.05)
        assert left_on(client) == []


# ------------------------------------------------------------------------------------------------------------ refusals
@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"loss": lambda y, score: (score - y, np.ones_like(score))}, "A custom loss needs all rows in one place"),
        ({"loss": "quantile", "alpha": 0.8}, "loss='quantile' needs all rows in one place"),
        ({"loss": "absolute_error"}, "loss='absolute_error' needs all rows in one place"),
        ({"loss": "huber"}, "loss='huber' needs all rows in one place"),
        ({"warm_start": True}, "warm_start=True is not possible beyond max_rows_per_tree rows in parts"),
    ],
    ids=["custom", "quantile", "absolute", "huber", "warm start"],
)
def test_what_needs_all_rows_in_one_place_is_refused_by_name(client, rows, parameters, told):
    remote = boosting("SLMBoostRegressor", **parameters)[1]
    with pytest.raises(ValueError, match=f"^{told}"):
        remote.fit(*lazily([rows[0], rows[2]], SIZES[3]))
    remote.set_params(max_rows_per_tree=N_ROWS).fit(*lazily([rows[0], rows[2]], SIZES[3]))
    assert remote.n_iter_ == 6


def test_callbacks_of_scikit_learn_and_offsets_are_refused(client, rows):
    X, y = lazily(rows[:2], SIZES[3])
    remote = boosting()[1]
    with pytest.raises(ValueError, match=r"^Offsets are not supported on a cluster"):
        remote.fit(X, y, offset=da.zeros(N_ROWS))
    with pytest.raises(ValueError, match=r"^Offsets are not supported on a cluster"):
        remote.fit(X, y, X_val=X, y_val=y, offset_val=da.zeros(N_ROWS))
