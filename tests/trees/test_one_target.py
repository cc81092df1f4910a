"""Models predict one number or class per row; several targets need several models."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import d2_pinball_score
from sklearn.multioutput import MultiOutputRegressor

from planewise import (
    MCMRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestRegressor,
    SLMRegressor,
)


def table(n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, np.column_stack([X[:, 0] + rng.normal(size=n_rows), np.sin(2 * X[:, 2]), X[:, 0] * X[:, 3]])


@pytest.mark.parametrize("make", [SLMRegressor, SLMForestRegressor, SLMBoostRegressor, MCMRegressor])
def test_several_targets_are_refused_with_the_name_of_what_takes_them(make):
    X, Y = table()
    with pytest.raises(ValueError, match=r"1d array.*\(60, 3\).*sklearn\.multioutput\.MultiOutputRegressor"):
        make().fit(X, Y)
    assert MultiOutputRegressor(make()).fit(X, Y[:, :2]).predict(X).shape == (60, 2)


@pytest.mark.parametrize("make", [SLMClassifier, SLMBoostClassifier])
def test_several_labels_are_refused_with_the_name_of_what_takes_them(make):
    with pytest.raises(ValueError, match=r"sklearn\.multioutput\.MultiOutputClassifier"):
        make().fit(np.zeros((6, 2)), np.zeros((6, 2), dtype=int))


def test_one_column_warns_as_in_scikit_learn_and_predicts_numbers():
    X, Y = table()
    model = SLMBoostRegressor(n_estimators=3, random_state=0)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model.fit(X, Y[:, :1])
    alone = SLMBoostRegressor(n_estimators=3, random_state=0).fit(X, Y[:, 0])
    assert_array_equal(model.predict(X), alone.predict(X))


@pytest.mark.parametrize("alpha", [[0.1, 0.9], [0.5], [], "0.5", -0.1, 1.5])
def test_a_level_is_one_number(alpha):
    X, Y = table()
    with pytest.raises(ValueError, match=r"'alpha' of SLMBoostRegressor must be a number .* fit one model per level"):
        SLMBoostRegressor(loss="quantile", alpha=alpha).fit(X, Y[:, 0])


def test_the_score_of_a_quantile_is_that_of_its_level():
    X, Y = table(300)
    weight = np.random.default_rng(1).uniform(size=300)
    model = SLMBoostRegressor(loss="quantile", alpha=0.8, n_estimators=5, random_state=0).fit(X, Y[:, 0])
    expected = d2_pinball_score(Y[:, 0], model.predict(X), alpha=0.8, sample_weight=weight)
    assert model.score(X, Y[:, 0], weight) == pytest.approx(expected)
