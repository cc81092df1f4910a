"""A plain estimator that was fitted on a data frame, as a model of tables."""

from __future__ import annotations

from typing import Any

from planewise.table._columns import Column
from planewise.table._model import TableModel


def as_table_model(model: Any, named: str = "The model") -> TableModel:
    """A TableModel as it is; an estimator that knows the names of its columns, wrapped.

    Raises
    ------
    ValueError
        If it predicts nothing, or was fitted without names, by which a table could be matched to it.
    """
    if isinstance(model, TableModel):
        return model
    kind = type(model).__name__
    if not hasattr(model, "predict"):
        raise ValueError(f"{named} holds a {kind}, which predicts nothing.")
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(
            f"{named} holds a {kind} that was fitted on an array without column names; a table cannot be matched "
            "to it. Fit it on a data frame, or with planewise fit."
        )
    categories = getattr(model, "categories_", {})
    if any(known.dtype.kind in "iuf" for known in categories.values()):
        raise ValueError("the model has categories that are numbers; files of tables can only name them by text.")
    trees, views = hasattr(model, "tree_") or hasattr(model, "forest_"), hasattr(model, "projections_")
    wrapped = TableModel("recip" if views else "boost" if trees else "mcm")
    wrapped.estimator_ = model
    wrapped.target_ = "prediction"
    wrapped.task_ = "classification" if hasattr(model, "classes_") else "regression"
    wrapped.columns_ = [
        Column(name, "category" if j in categories else "number")
        for j, name in enumerate(model.feature_names_in_.tolist())
    ]
    wrapped.left_out_ = []
    wrapped.n_features_in_, wrapped.feature_names_in_ = model.n_features_in_, model.feature_names_in_
    return wrapped
