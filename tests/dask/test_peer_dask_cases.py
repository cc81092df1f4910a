"""Cases of XGBoost's and LightGBM's Dask tests that no other test here covers."""

from __future__ import annotations

import inspect
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client
from dask_partitions import frame, model_bytes
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import estimator_checks

import planewise
import planewise.dask as on_dask

ROOT = Path(__file__).resolve().parents[2]
NAMES = [name for name in on_dask.__all__ if hasattr(getattr(on_dask, name), "to_local")]
SIZES = [200, 400]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_the_ordinary_estimator_and_the_client(name):
    mine, theirs = inspect.signature(getattr(on_dask, name)), inspect.signature(getattr(planewise, name))
    assert dict(mine.parameters) == {**theirs.parameters, "client": mine.parameters["client"]}
    assert mine.parameters["client"].default is None
    assert getattr(on_dask, name)().get_params() == {**getattr(planewise, name)().get_params(), "client": None}


@pytest.mark.parametrize("name", NAMES)
def test_fit_takes_what_the_ordinary_estimator_takes(name):
    mine, theirs = (inspect.signature(getattr(module, name).fit) for module in (on_dask, planewise))
    assert mine.parameters.keys() == theirs.parameters.keys()


def test_the_client_is_the_current_one_or_set_at_any_time(cluster, client, table):
    X, y = frame(table[0], SIZES), frame(table[1], SIZES)
    by_default = on_dask.SLMClassifier(random_state=0).fit(X, y)
    assert by_default.client is None
    with Client(cluster, set_as_default=False) as other:
        later = on_dask.SLMClassifier(random_state=0).set_params(client=other).fit(X, y)
        assert later.client is other
    assert model_bytes(later) == model_bytes(by_default)


def test_answers_before_fit_are_refused(client, table):
    with pytest.raises(NotFittedError):
        on_dask.SLMBoostClassifier().predict(frame(table[0], SIZES))


def test_workers_without_data(client, table):
    local = planewise.SLMForestRegressor(n_estimators=3, random_state=0).fit(table[0], table[2])
    remote = on_dask.SLMForestRegressor(n_estimators=3, random_state=0).fit(
        frame(table[0], [600]), frame(table[2], [600])
    )
    assert model_bytes(remote) == model_bytes(local)


def squared(y, score):
    return score - y, np.ones_like(score)


def off_by(estimator, X, y):
    return -float(np.mean(np.abs(y - estimator.predict(X))))


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": squared},
        {"loss": "quantile", "alpha": 0.8},
        {"loss": "absolute_error"},
        {"scoring": off_by, "early_stopping": True, "n_iter_no_change": 2},
        {"callbacks": [lambda number, losses: number == 3]},
    ],
    ids=["custom loss", "quantile", "absolute", "custom metric", "callback"],
)
def test_losses_metrics_and_callbacks_are_those_of_the_ordinary_estimator(client, table, settings):
    X, _, y, _ = table
    made = [module.SLMBoostRegressor(n_estimators=8, random_state=0, **settings) for module in (planewise, on_dask)]
    local = made[0].fit(X, y)
    remote = made[1].fit(frame(X, SIZES), frame(y, SIZES))
    assert remote.n_iter_ == local.n_iter_ and np.array_equal(remote.validation_score_, local.validation_score_)
    assert np.array_equal(remote.predict(X), local.predict(X))


@pytest.mark.filterwarnings("ignore:A column-vector y was passed:sklearn.exceptions.DataConversionWarning")
def test_a_column_as_target(client, table):
    with pytest.warns(DataConversionWarning):
        on_dask.SLMBoostClassifier(n_estimators=2).fit(frame(table[0], SIZES), frame(table[1].to_frame(), SIZES))


def test_missing_values_in_one_partition_only(client, table):
    X = table[0][["a", "c"]].copy()
    X.loc[X.index < 200, "a"] = np.nan
    local = planewise.SLMBoostClassifier(n_estimators=4, random_state=0).fit(X, table[1])
    remote = on_dask.SLMBoostClassifier(n_estimators=4, random_state=0).fit(frame(X, SIZES), frame(table[1], SIZES))
    assert model_bytes(remote) == model_bytes(local)


def test_categories_that_fit_has_not_seen(client, table):
    X = table[0][["a", "kind"]]
    model = on_dask.SLMBoostClassifier(n_estimators=4, random_state=0).fit(frame(X, SIZES), frame(table[1], SIZES))
    new = X.assign(kind=pd.Categorical(["new"] * 600))
    assert np.array_equal(model.predict(frame(new, SIZES)).compute(), model.to_local().predict(new))


def test_labels_keep_their_type(client, table):
    for labels in (table[1].to_numpy(), (table[1] == "yes").to_numpy(), np.where(table[1] == "yes", 7, -3)):
        y = da.from_array(labels, chunks=300)
        X = da.from_array(table[0][["a", "c"]].to_numpy(), chunks=(300, 2))
        model = on_dask.SLMBoostClassifier(n_estimators=2, random_state=0).fit(X, y)
        assert model.classes_.tolist() == np.unique(labels).tolist()
        assert model.predict(X).dtype == model.classes_.dtype == model.predict(X).compute().dtype


def test_a_warm_start(client, table):
    X, y = frame(table[0], SIZES), frame(table[1], SIZES)
    more = on_dask.SLMBoostClassifier(n_estimators=4, random_state=0, warm_start=True).fit(X, y)
    more.set_params(n_estimators=6).fit(X, y)
    whole = planewise.SLMBoostClassifier(n_estimators=6, random_state=0).fit(*table[:2])
    assert np.array_equal(more.predict_proba(table[0]), whole.predict_proba(table[0]))


def test_one_class_and_constant_targets(client, table):
    X = frame(table[0], SIZES)
    one = on_dask.SLMBoostClassifier().fit(X, frame(pd.Series(["a"] * 600), SIZES))
    assert set(one.predict(X).compute()) == {"a"}
    constant = on_dask.SLMBoostRegressor(n_estimators=2).fit(X, frame(pd.Series([2.5] * 600), SIZES))
    assert np.allclose(constant.predict(X).compute(), 2.5)


@pytest.mark.parametrize("check", ["tags", "params_invariance", "set_params", "default_constructible"])
@pytest.mark.parametrize("name", NAMES)
def test_checks_of_scikit_learn_that_need_no_fit(name, check):
    checks = {
        "tags": estimator_checks.check_estimator_tags_renamed,
        "params_invariance": estimator_checks.check_get_params_invariance,
        "set_params": estimator_checks.check_set_params,
        "default_constructible": estimator_checks.check_parameters_default_constructible,
    }
    checks[check](name, getattr(on_dask, name)())


def test_a_metric_that_is_no_sum_over_rows(client, table):
    X, y = table[:2]
    made = [
        module.SLMBoostClassifier(n_estimators=4, random_state=0, scoring="roc_auc") for module in (planewise, on_dask)
    ]
    made[0].fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    made[1].fit(
        frame(X[:400], SIZES[:1] * 2),
        frame(y[:400], SIZES[:1] * 2),
        X_val=frame(X[400:], [0, 200]),
        y_val=frame(y[400:], [0, 200]),
    )
    assert np.array_equal(made[1].validation_score_, made[0].validation_score_) and len(made[0].validation_score_) == 4


def test_several_classes(client, table):
    X, y = table[0][["a", "c"]], pd.Series(np.digitize(table[2], [-0.5, 0.5]))
    settings = {"n_estimators": 4, "random_state": 0}
    local = planewise.SLMBoostClassifier(**settings).fit(X, y)
    remote = on_dask.SLMBoostClassifier(**settings).fit(frame(X, SIZES), frame(y, SIZES))
    assert model_bytes(remote) == model_bytes(local)


def test_one_row_to_learn_from_and_more_to_validate_on(client, table):
    X, y = table[0][["a", "c"]], table[2]
    model = on_dask.SLMBoostRegressor(n_estimators=2, random_state=0)
    model.fit(frame(X[:1], [1, 0]), frame(y[:1], [1, 0]), X_val=frame(X, SIZES), y_val=frame(y, SIZES))
    assert np.allclose(model.predict(frame(X, SIZES)).compute(), y[0])
    assert len(model.validation_score_) == 2


def test_a_model_that_cannot_split_predicts_the_share_of_classes(client, table):
    X, y = frame(table[0], SIZES), frame(table[1], SIZES)
    model = on_dask.SLMBoostClassifier(n_estimators=3, min_samples_leaf=1000, random_state=0).fit(X, y)
    assert np.allclose(model.predict_proba(X)["yes"].compute(), (table[1] == "yes").mean())


def test_categories_in_another_order(client, table):
    X = table[0][["a", "kind"]]
    other = X.assign(kind=X["kind"].cat.reorder_categories(["w", "u", "v"]))
    model = on_dask.SLMBoostClassifier(n_estimators=4, random_state=0).fit(frame(X, SIZES), frame(table[1], SIZES))
    assert np.array_equal(model.predict(frame(other, SIZES)).compute(), model.predict(X))


def fit_in_a_task(seed, X, y):
    return on_dask.SLMForestClassifier(n_estimators=3, random_state=seed).fit(X.value, y.value).to_local()


class Kept:
    """A collection that is passed to a task as it is, and not computed."""

    def __init__(self, value):
        self.value = value


def test_fits_in_tasks_on_the_workers(client, table):
    X, y = Kept(frame(table[0], SIZES)), Kept(frame(table[1], SIZES))
    made = client.gather([client.submit(fit_in_a_task, seed, X, y) for seed in range(3)])
    for seed, model in enumerate(made):
        local = planewise.SLMForestClassifier(n_estimators=3, random_state=seed).fit(*table[:2])
        assert model_bytes(model) == model_bytes(local)
