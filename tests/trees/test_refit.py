"""Boosting after an early stop: the same number of rounds from all rows."""

import numpy as np
import pytest
from benchmarks.data import make_friedman

from planewise import SLMBoostClassifier, SLMBoostRegressor

COMMON = {"n_estimators": 60, "early_stopping": True, "n_iter_no_change": 5, "random_state": 0}


def numbers(n=400, seed=0):
    X, y = make_friedman(1, n_samples=n, random_state=seed)
    return X, y + np.random.default_rng(seed).normal(size=n) * 3


def labels(n=400, n_classes=3):
    X, y = numbers(n)
    return X, np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))


@pytest.mark.parametrize("make", [SLMBoostRegressor, SLMBoostClassifier])
def test_it_is_a_fit_of_the_best_number_of_rounds_on_all_rows(make):
    X, y = numbers() if make is SLMBoostRegressor else labels()
    model = make(**COMMON).fit(X, y)
    assert model.n_iter_ == model.best_iteration_
    plain = make(n_estimators=model.n_iter_, random_state=0).fit(X, y)
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert np.array_equal(model.base_score_, plain.base_score_)
    assert model.forest_.n_samples[0] == len(X)


def test_losses_are_those_of_the_first_pass():
    X, y = numbers()
    twice, once = (SLMBoostRegressor(refit=refit, **COMMON).fit(X, y) for refit in (True, False))
    assert np.array_equal(twice.validation_score_, once.validation_score_)
    assert twice.best_iteration_ == once.best_iteration_
    assert once.forest_.n_samples[0] < len(X)


@pytest.mark.parametrize("change", [{"warm_start": True}, {"callbacks": [lambda number, losses: number == 4]}])
def test_a_warm_start_keeps_its_trees_and_a_callback_ends_the_fit(change):
    X, y = numbers()
    model = SLMBoostRegressor(**COMMON, **change).fit(X, y)
    assert model.forest_.n_samples[0] < len(X)


def test_no_rows_were_set_aside_where_others_are_given():
    X, y = numbers()
    X_val, y_val = numbers(200, seed=1)
    given = [SLMBoostRegressor(refit=refit, **COMMON).fit(X, y, X_val=X_val, y_val=y_val) for refit in (True, False)]
    assert np.array_equal(given[0].predict(X), given[1].predict(X))


def test_threads_change_nothing():
    X, y = labels()
    one, two = (SLMBoostClassifier(n_jobs=n_jobs, **COMMON).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("first", [{"early_stopping": True}, {"early_stopping": False}])
def test_a_warm_start_does_not_validate_on_rows_it_was_grown_from(first):
    X, y = numbers()
    model = SLMBoostRegressor(n_estimators=20, random_state=0, **first).fit(X, y)
    model.set_params(warm_start=True, early_stopping=True, n_estimators=40)
    with pytest.raises(ValueError, match="X_val and y_val"):
        model.fit(X, y)
    X_val, y_val = numbers(200, seed=1)
    assert model.fit(X, y, X_val=X_val, y_val=y_val).n_iter_ >= 1


def test_a_warm_start_goes_on_with_the_same_rows_set_aside():
    X, y = numbers()
    parts = SLMBoostRegressor(warm_start=True, **COMMON | {"n_estimators": 5}).fit(X, y).set_params(n_estimators=60)
    assert parts.fit(X, y).forest_.n_samples[0] < len(X)
