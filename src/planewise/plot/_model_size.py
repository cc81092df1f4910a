"""How large a fitted model is: support vectors, or the numbers that prediction needs."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"vectors": "support vectors", "parameters": "parameters"}


def model_size(model: Any, kind: str) -> float:
    """Of a model of planewise or scikit-learn; of a pipeline, its last step counts."""
    if kind not in SIZES:
        raise ValueError(f"size must be 'vectors', 'parameters' or a function of a model; got {kind!r}.")
    if hasattr(model, "steps"):
        model = model.steps[-1][1]
    if hasattr(model, "best_estimator_") and not hasattr(model, "support_"):
        model = model.best_estimator_
    found = _vectors(model) if kind == "vectors" else _parameters(model)
    if found is None:
        raise TypeError(f"{type(model).__name__} has no count of {SIZES[kind]}; pass a function of a model as size.")
    return found


def _vectors(model: Any) -> float | None:
    vectors = getattr(model, "support_", None)
    return None if vectors is None or np.asarray(vectors).dtype == bool else float(len(vectors))


def _parameters(model: Any) -> float | None:
    if hasattr(model, "n_stored_numbers_"):
        return float(model.n_stored_numbers_)
    if hasattr(model, "forest_"):
        return float(model.forest_.stored_numbers())
    if hasattr(model, "support_vectors_"):
        dual = getattr(model, "coef_", model.dual_coef_) if model.kernel == "linear" else model.dual_coef_
        vectors = 0 if model.kernel == "linear" else np.size(model.support_vectors_)
        return float(vectors + np.size(dual) + np.size(model.intercept_))
    if hasattr(model, "tree_"):
        return float(_of_sklearn_tree(model.tree_))
    if hasattr(model, "estimators_"):
        members = np.ravel(np.asarray(model.estimators_, dtype=object))
        return float(sum(_of_sklearn_tree(member.tree_) for member in members if hasattr(member, "tree_")))
    if hasattr(model, "_predictors"):  # histogram boosting of scikit-learn
        leaf = [tree.nodes["is_leaf"].astype(bool) for stage in model._predictors for tree in stage]
        return float(sum(2 * (~part).sum() + part.sum() for part in leaf))
    if hasattr(model, "coef_"):
        return float(np.size(model.coef_) + np.size(model.intercept_))
    return None


def _of_sklearn_tree(tree: Any) -> int:
    """A feature and a threshold a split, and the values of the leaves."""
    leaves = int((tree.children_left < 0).sum())
    return 2 * (tree.node_count - leaves) + leaves * int(np.prod(tree.value.shape[1:]))
