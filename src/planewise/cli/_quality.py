"""How good predictions are, and what simple models reach on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from planewise.table import TableModel
from planewise.table._columns import for_machines
from planewise.table._model import target_values

MOST_ROWS_OF_A_BASELINE = 100_000


def quality(task: str, truth: NDArray[Any], answer: NDArray[Any], proba: Any, classes: Any) -> dict[str, float]:
    """The measures of a task; the first is the one that is compared."""
    if task == "regression":
        error = answer - truth
        return {
            "R2": float(r2_score(truth, answer)),
            "RMSE": float(np.sqrt(np.mean(error**2))),
            "MAE": float(np.mean(np.abs(error))),
        }
    found = {"accuracy": float(accuracy_score(truth, answer))}
    if proba is not None:
        found["log-loss"] = float(log_loss(truth, proba, labels=classes))
        if len(classes) == 2 and len(np.unique(truth)) == 2:
            found["AUC"] = float(roc_auc_score(truth == classes[1], proba[:, 1]))
    return found


def quality_of(model: TableModel, table: Any) -> dict[str, float]:
    """Of a model on rows it has not seen."""
    truth = target_values(table[model.target_], model.task_)
    if model.task_ == "regression":
        return quality(model.task_, truth, model.predict(table), None, None)
    proba = model.predict_proba(table)
    return quality(model.task_, truth, model.classes_[proba.argmax(axis=1)], proba, model.classes_)


def baselines(model: TableModel, train: Any, test: Any) -> dict[str, dict[str, float]]:
    """What the commonest class or the mean reaches, and a linear model on the same columns."""
    task = model.task_
    if train.height > MOST_ROWS_OF_A_BASELINE:
        train = train.sample(MOST_ROWS_OF_A_BASELINE, seed=0)
    y, truth = target_values(train[model.target_], task), target_values(test[model.target_], task)
    X, X_test = (for_machines(table, model.columns_).to_numpy() for table in (train, test))
    if task == "regression":
        mean = np.full(len(truth), y.mean())
        ridge = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
        return {
            "mean": quality(task, truth, mean, None, None),
            "ridge": quality(task, truth, ridge.predict(X_test), None, None),
        }
    classes, counts = np.unique(y, return_counts=True)
    share = np.tile(counts / counts.sum(), (len(truth), 1))
    majority = quality(task, truth, np.repeat(classes[counts.argmax()], len(truth)), share, classes)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X, y)
    proba = logistic.predict_proba(X_test)
    return {
        "majority": majority,
        "logistic": quality(task, truth, logistic.classes_[proba.argmax(axis=1)], proba, logistic.classes_),
    }


def leading_features(model: TableModel, table: Any, most: int = 10) -> list[tuple[str, float]]:
    """The columns that matter most: by the trees' gain, or by how much shuffling one changes a machine's answers."""
    estimator = model.estimator_
    if hasattr(estimator, "feature_importances_"):
        worth = estimator.feature_importances_
    else:
        worth = _by_shuffling(model, table.head(2000))
    order = np.argsort(-worth, kind="stable")[:most]
    return [(model.columns_[j].name, float(worth[j])) for j in order if worth[j] > 0]


def _by_shuffling(model: TableModel, table: Any) -> NDArray[np.float64]:
    """The mean change of the scores when a column's values trade places, as shares of one."""

    def scores(rows: Any) -> NDArray[np.float64]:
        return model.predict_proba(rows) if model.task_ == "classification" else model.predict(rows)[:, None]

    before = scores(table)
    worth = np.array(
        [
            np.abs(scores(table.with_columns(table[column.name].shuffle(seed=0))) - before).mean()
            for column in model.columns_
        ]
    )
    return worth / worth.sum() if worth.sum() > 0 else worth
