"""One quick estimator of every class, and tables to fit it to."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

import planewise as pw

FEW = {"n_estimators": 5, "random_state": 0}
VIEWS = {"n_estimators": 6, "max_views": 4, "cv": 2, "random_state": 0}
SEARCH = {"cv": 2, "gammas": [0.2], "mus": [1.0], "random_state": 0}

CLASSIFIERS = {
    "SLMClassifier": pw.SLMClassifier(random_state=0),
    "SLMForestClassifier": pw.SLMForestClassifier(**FEW),
    "SLMBoostClassifier": pw.SLMBoostClassifier(**FEW),
    "MCMClassifier": pw.MCMClassifier(random_state=0),
    "MCMClassifierCV": pw.MCMClassifierCV(**SEARCH),
    "LargeScaleMCMClassifier": pw.LargeScaleMCMClassifier(n_components=12, max_iter=4, random_state=0),
    "RECIPClassifier": pw.RECIPClassifier(random_state=0),
    "AdditiveClassifier": pw.AdditiveClassifier(**VIEWS),
}
REGRESSORS = {
    "SLMRegressor": pw.SLMRegressor(random_state=0),
    "SLMForestRegressor": pw.SLMForestRegressor(**FEW),
    "SLMBoostRegressor": pw.SLMBoostRegressor(**FEW, learning_rate=0.5),
    "MCMRegressor": pw.MCMRegressor(),
    "MCMRegressorCV": pw.MCMRegressorCV(**SEARCH),
    "AdditiveRegressor": pw.AdditiveRegressor(**VIEWS),
}


@functools.cache
def numbers():
    """Iris as an array, with two classes and a number to predict."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return X, np.where(y == 2, "virginica", "other"), X[:, 0] * 1.5 + y


@functools.cache
def table():
    """The same as a data frame with a column of words."""
    X, classes, target = numbers()
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    rng = np.random.default_rng(1)
    frame["colour"] = np.where(rng.random(len(X)) < 0.8, np.where(target > 9, "blue", "white"), "red")
    return frame, classes, target


def problem(name, of=numbers):
    """Rows and the target that the estimator of this name predicts."""
    X, classes, target = of()
    return X, classes if name in CLASSIFIERS else target
