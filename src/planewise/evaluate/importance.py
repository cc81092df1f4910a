"""The columns that matter most to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.evaluate.evaluation import estimator_in

MAX_ROWS = 2000  # that are shuffled


def leading_features(model: Any, table: Any = None, limit: int = 10) -> dict[str, float]:
    """Columns and their share of the importance, the largest first; empty if the model does not say.

    By ``feature_importances_`` where the estimator has them. Else, if a polars table is given to a TableModel, by how
    much the predictions change when a column is shuffled.
    """
    worth = getattr(estimator_in(model), "feature_importances_", None)
    if worth is None:
        if table is None:
            return {}
        worth = _by_shuffling(model, table.head(MAX_ROWS))
    names = getattr(model, "feature_names_in_", range(len(worth)))
    order = np.argsort(-worth, kind="stable")[:limit]
    return {str(names[j]): float(worth[j]) for j in order if worth[j] > 0}


def _by_shuffling(model: Any, table: Any) -> NDArray[np.float64]:
    """The mean change of the predictions when the values of a column trade places, as shares of one."""

    def answers(rows: Any) -> NDArray[np.float64]:
        return model.predict_proba(rows) if model.task_ == "classification" else model.predict(rows)[:, None]

    before = answers(table)
    worth = np.array(
        [
            np.abs(answers(table.with_columns(table[column.name].shuffle(seed=0))) - before).mean()
            for column in model.columns_
        ]
    )
    return worth / worth.sum() if worth.sum() > 0 else worth
