"""Small tables, and an estimator of every kind that fits them in milliseconds; for soak.py and race.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

import planewise as pw


class Table(NamedTuple):
    """Rows, and a target of each kind."""

    X: NDArray[Any]
    classes: NDArray[Any]
    numbers: NDArray[Any]


def table(n_rows: int, n_classes: int, noise: float = 0.0) -> Table:
    """Rows whose target depends on two of four columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    numbers = X[:, 0] + X[:, 1] + noise * rng.normal(size=n_rows)
    return Table(X, np.digitize(numbers, np.linspace(-1, 1, n_classes + 1)[1:-1]), numbers)


SMALL = table(120, 2)

MAKERS: dict[str, Callable[..., Any]] = {
    "tree": lambda **more: pw.SLMClassifier(random_state=0, **more),
    "forest": lambda **more: pw.SLMForestClassifier(n_estimators=6, random_state=0, **more),
    "boosting": lambda **more: pw.SLMBoostClassifier(n_estimators=6, random_state=0, **more),
    "ranker": lambda **more: pw.SLMBoostRanker(n_estimators=6, random_state=0, **more),
    "views": lambda **more: pw.AdditiveClassifier(n_estimators=6, max_views=2, cv=2, random_state=0, **more),
    "recip": lambda **more: pw.RECIPClassifier(**more),
    "machine": lambda **more: pw.MCMClassifier(kernel="rbf", **more),
    "large-scale": lambda **more: pw.LargeScaleMCMClassifier(
        n_components=8, gamma=0.2, max_iter=3, random_state=0, **more
    ),
    "feature-test": lambda **more: pw.DiscriminantFeatureTest(n_features_to_select=2, **more),
    "conformal": lambda **more: pw.ConformalKernel(**more),
    "tree-numbers": lambda **more: pw.SLMRegressor(random_state=0, **more),
    "forest-numbers": lambda **more: pw.SLMForestRegressor(n_estimators=6, random_state=0, **more),
    "boosting-numbers": lambda **more: pw.SLMBoostRegressor(n_estimators=6, random_state=0, **more),
    "views-numbers": lambda **more: pw.AdditiveRegressor(n_estimators=6, max_views=2, cv=2, random_state=0, **more),
    "machine-numbers": lambda **more: pw.MCMRegressor(kernel="rbf", **more),
}

# The core starts no thread for less work than waking one costs (`worth_waking` in native/parallel.hpp), which most
# families reach with these many rows only; race.py looks whether they do. The others would take too long.
ROWS = 5_000
FEWER_ROWS = {
    **dict.fromkeys(("forest", "forest-numbers"), 1_200),  # predictions of forests use threads as well
    **dict.fromkeys(("views", "views-numbers", "recip"), 400),
    **dict.fromkeys(("machine", "machine-numbers", "conformal"), 150),
    "large-scale": 400,
}


def large_table(name: str) -> Table:
    """Rows of three classes, as many as a family needs to use several threads of the core."""
    return table(FEWER_ROWS.get(name, ROWS), 3, noise=0.5)


def fit(model: Any, rows: Table = SMALL) -> Any:
    """Fit the estimator; a ranker gets queries of ten rows."""
    y = rows.numbers if is_regressor(model) else rows.classes
    if isinstance(model, pw.SLMBoostRanker):
        return model.fit(rows.X, rows.classes, qid=np.arange(len(y)) // 10)
    return model.fit(rows.X, y)


def answer(model: Any, rows: Table = SMALL) -> NDArray[Any]:
    """What the fitted estimator says of the rows: probabilities, scores, predictions, or the rows transformed."""
    asked = ("predict_proba", "decision_function", "predict", "transform")
    return getattr(model, next(name for name in asked if hasattr(model, name)))(rows.X)
