"""A model file as a model of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planewise.cli._mistakes import MistakeError
from planewise.io import load
from planewise.table import TableModel
from planewise.table._columns import Column


def load_table_model(path: Path) -> TableModel:
    """What `planewise fit` wrote; or an estimator that was fitted on a data frame and saved, whose names it knows."""
    model = load(path)
    if isinstance(model, TableModel):
        return model
    name = type(model).__name__
    if not hasattr(model, "predict"):
        raise MistakeError(f"{str(path)!r} holds a {name}, which predicts nothing.")
    if not hasattr(model, "feature_names_in_"):
        raise MistakeError(
            f"{str(path)!r} holds a {name} that was fitted on an array without column names; a table cannot be matched "
            "to it. Fit it on a data frame, or with planewise fit."
        )
    return _wrapped(model)


def _wrapped(estimator: Any) -> TableModel:
    categories = getattr(estimator, "categories_", {})
    trees = hasattr(estimator, "tree_") or hasattr(estimator, "forest_")
    if any(known.dtype.kind in "iuf" for known in categories.values()):
        raise MistakeError("the model has categories that are numbers; files of tables can only name them by text.")
    views = hasattr(estimator, "projections_")
    wrapped = TableModel("recip" if views else "boost" if trees else "mcm")
    wrapped.estimator_ = estimator
    wrapped.target_ = "prediction"
    wrapped.task_ = "classification" if hasattr(estimator, "classes_") else "regression"
    wrapped.columns_ = [
        Column(name, "category" if j in categories else "number")
        for j, name in enumerate(estimator.feature_names_in_.tolist())
    ]
    wrapped.left_out_ = []
    wrapped.n_features_in_, wrapped.feature_names_in_ = estimator.n_features_in_, estimator.feature_names_in_
    return wrapped
