"""Prediction intervals of MAPIE around every regressor."""

from __future__ import annotations

import numpy as np
import pytest
from examples_to_fit import REGRESSORS, problem
from mapie.regression import SplitConformalRegressor
from sklearn.base import clone


@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals_contain_as_many_rows_as_asked_for(name):
    X, y = problem(name)
    model = clone(REGRESSORS[name]).fit(X[:70], y[:70])
    intervals = SplitConformalRegressor(model, confidence_level=0.8).conformalize(X[70:], y[70:])
    predicted, bounds = intervals.predict_interval(X[70:])
    np.testing.assert_array_equal(predicted, model.predict(X[70:]))
    assert ((bounds[:, 0, 0] <= y[70:]) & (y[70:] <= bounds[:, 1, 0])).mean() >= 0.8
