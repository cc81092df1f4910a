"""Boosting of a few rounds, and data that comes with scikit-learn."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from planewise import SLMBoostClassifier, SLMBoostRegressor

IRIS, CANCER, NUMBERS = (load(return_X_y=True) for load in (load_iris, load_breast_cancer, load_diabetes))


def classifier(**parameters):
    return SLMBoostClassifier(**{"n_estimators": 5, "random_state": 0} | parameters)


def regressor(**parameters):
    return SLMBoostRegressor(**{"n_estimators": 5, "random_state": 0} | parameters)


def halves(data):
    X, y = data
    return X[::2], y[::2], X[1::2], y[1::2]
