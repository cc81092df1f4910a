"""One contender on one split: its loss, its times and the size of its model."""

from __future__ import annotations

import pickle
import statistics
import time
import zlib
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from .contenders import PATIENCE, VALIDATION_SHARE, Contender
from .data import Split
from .families import Family

REPEATED_BELOW = 2.0  # seconds; longer fits are timed once
REPEATS = 3
MOST_CATEGORIES = 250  # scikit-learn accepts a few more, minus those it keeps for missing values


def fight(contender: Contender, family: Family, seed: int, rows: Split) -> dict[str, float]:
    """Fit and judge; short fits are repeated, and the median counts."""
    X, X_test = (_as_wanted(contender, rows.categories, each) for each in (rows.X, rows.X_test))
    fits: list[float] = []
    while not fits or (fits[-1] < REPEATED_BELOW and len(fits) < REPEATS):
        model = _make(contender, family, seed, rows)
        start = time.perf_counter()
        _fit(contender, family, model, X, rows)
        fits.append(time.perf_counter() - start)
    predicts = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        predicted = model.predict(X_test)
        predicts.append(time.perf_counter() - start)
    return {
        "loss": loss(family, rows, predicted, model, X_test),
        "fit": statistics.median(fits),
        "predict": statistics.median(predicts),
        "bytes": len(zlib.compress(pickle.dumps(model), 1)),
        **_counts(family, model),
    }


def loss(family: Family, rows: Split, predicted: Any, model: Any, X_test: Any) -> float:
    """RMSE, log-loss, or the error rate with one error added, so that no ratio has a zero below the line."""
    predicted = np.asarray(predicted).ravel()
    if rows.task == "regression":
        return float(np.sqrt(np.mean((predicted.astype(float) - rows.y_test) ** 2)))
    if family.by_probability:
        return float(log_loss(rows.y_test, np.clip(model.predict_proba(X_test), 1e-7, 1), labels=rows.classes))
    return float((np.sum(predicted != rows.y_test) + 1) / len(rows.y_test))


def _make(contender: Contender, family: Family, seed: int, rows: Split) -> Any:
    # CatBoost is told which columns are categories; all others see it by their type.
    told = {"cat_features": list(rows.categories)} if family.native and contender.needs == "catboost" else {}
    return contender.make(rows.task, seed if family.seeded else 0, **told)


def _as_wanted(contender: Contender, categories: tuple[str, ...], X: Any) -> Any:
    """Category columns as the documentation of each library asks for them."""
    if not categories or contender.needs not in ("catboost", "sklearn"):
        return X
    X = X.copy()
    for column in categories:
        if contender.needs == "catboost":
            X[column] = X[column].astype(object).where(X[column].notna(), "missing").astype(str)
        elif len(X[column].cat.categories) > MOST_CATEGORIES:
            X[column] = X[column].cat.codes.astype(float)
    return X


def _fit(contender: Contender, family: Family, model: Any, X: Any, rows: Split) -> None:
    if not family.stops_early or "early_stopping" in contender.settings:
        model.fit(X, rows.y)
        return
    classes = None if rows.task == "regression" else rows.y
    X, X_later, y, y_later = train_test_split(X, rows.y, test_size=VALIDATION_SHARE, random_state=1, stratify=classes)
    model.fit(X, y, eval_set=[(X_later, y_later)], **_how_to_stop(contender))


def _how_to_stop(contender: Contender) -> dict[str, Any]:
    if contender.needs == "lightgbm":
        import lightgbm

        return {"callbacks": [lightgbm.early_stopping(PATIENCE, verbose=False)]}
    if contender.needs == "catboost":
        return {"early_stopping_rounds": PATIENCE, "use_best_model": True}
    return {"verbose": False}  # XGBoost has its patience as a parameter


def _counts(family: Family, model: Any) -> dict[str, int]:
    """Parameters of a tree as the SLM paper counts them; support vectors of a machine."""
    if family.key == "tree":
        if hasattr(model, "n_parameters_"):
            return {"parameters": int(model.n_parameters_)}
        return {"parameters": 2 * int(np.sum(model.tree_.children_left >= 0))}
    if family.kind in ("svm", "machines"):
        best = getattr(model, "best_estimator_", model)
        return {"vectors": len((best[-1] if hasattr(best, "steps") else best).support_)}
    return {}
