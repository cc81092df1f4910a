"""How large a model is, as the SLM paper counts (eqs 36 and 37, and its appendix)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .declaration import Metrics


def slm(model: Any, rows: int, columns: int) -> Metrics:
    """eq. 37: planes times (D0 + 1); and, honestly, the numbers that are stored."""
    found = {"parameters": float(model.n_parameters_), "stored": float(model.n_stored_numbers_)}
    return found | ({"depth": float(model.depth_)} if hasattr(model, "depth_") else {})


def decision_tree(model: Any, rows: int, columns: int) -> Metrics:
    """Two for each split."""
    return {"parameters": 2.0 * _splits(model), "depth": float(model.get_depth())}


def random_forest(model: Any, rows: int, columns: int) -> Metrics:
    """The same, for all trees."""
    return {"parameters": 2.0 * sum(_splits(tree) for tree in model.estimators_)}


def support_vector_machine(model: Any, rows: int, columns: int) -> Metrics:
    """eq. 36: L + 1 + (D + 2) for each support vector."""
    vectors = len(model.support_)
    return {"vectors": float(vectors), "parameters": float(rows + 1 + (columns + 2) * vectors)}


def network(model: Any, rows: int, columns: int) -> Metrics:
    """Weights and biases of all neurons."""
    return {"parameters": float(sum(map(np.size, (*model.coefs_, *model.intercepts_))))}


def minimal_complexity_machine(model: Any, rows: int, columns: int) -> Metrics:
    """The vectors kept and, with a conformal kernel, these together with the cores of r, which prediction needs too."""
    found = {"vectors": float(len(model.support_)), "with cores": float(len(model.support_))}
    factor = model._factor
    if factor is not None and factor.shrinkage > 0:
        kept = np.vstack([factor.cores, model._scaling(model.support_vectors_)])
        found["with cores"] = float(len(np.unique(kept.round(9), axis=0)))
    return found | {"% of rows": 100 * found["with cores"] / rows}


def separability_gained(machine: Any, X: Any, y: Any) -> float:
    """By what the factor r multiplies the scatter between the classes, divided by that within, of these rows."""
    rows = machine._scaling(X)
    K, r = machine._trained_settings.kernel(rows, rows), machine._factor(rows)
    return _separability(K * np.outer(r, r), y) / _separability(K, y)


def _separability(K: Any, y: Any) -> float:
    """Of rows in the space of a kernel matrix: means of its blocks are inner products of the classes' means."""
    of_classes = sum(K[np.ix_(y == c, y == c)].sum() / (y == c).sum() for c in np.unique(y))
    return float((of_classes - K.sum() / len(y)) / (K.trace() - of_classes))


def large_scale_machine(model: Any, rows: int, columns: int) -> Metrics:
    """The prototypes kept."""
    return {"vectors": float(model.n_support_)}


def _splits(tree: Any) -> int:
    return int((tree.tree_.children_left >= 0).sum())
