"""What an ensemble would answer with its first trees alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

Answers = Iterator[tuple[int, NDArray[Any]]]


def n_trees_of(model: Any) -> int:
    """Trees, or rounds of boosting."""
    if hasattr(model, "staged_predict"):
        for name in ("n_iter_", "n_estimators_"):
            if hasattr(model, name):
                return int(getattr(model, name))
        return len(model.estimators_)
    if hasattr(model, "forest_"):
        return int(model.forest_.n_trees)
    if hasattr(model, "estimators_"):
        return len(model.estimators_)
    raise TypeError(
        f"{type(model).__name__} has no trees to count; pass fitted forests or boosting of planewise or scikit-learn, "
        "or the curves themselves."
    )


def first_trees(model: Any, X: Any, counts: Sequence[int], chances: bool) -> Answers:
    """Probabilities (`chances`) or predictions of the first trees, for each of these ascending counts."""
    wanted = set(counts)
    staged = "staged_predict_proba" if chances else "staged_predict"
    if hasattr(model, staged):
        for n_trees, answer in enumerate(getattr(model, staged)(X), start=1):
            if n_trees in wanted:
                yield n_trees, np.array(answer)
    elif hasattr(model, "forest_"):
        part = copy(model)
        for n_trees in counts:
            part.forest_ = model.forest_.head(n_trees)
            yield n_trees, part.predict_proba(X) if chances else part.predict(X)
    else:
        yield from _means(model, X, wanted, chances)


def _means(model: Any, X: Any, wanted: set[int], chances: bool) -> Answers:
    """Forests of scikit-learn: the mean of the trees' answers."""
    rows = np.asarray(X, dtype=np.float32)
    total: Any = 0
    for n_trees, tree in enumerate(model.estimators_, start=1):
        total = total + (tree.predict_proba(rows) if is_classifier(model) else tree.predict(rows))
        if n_trees in wanted:
            mean = total / n_trees
            yield n_trees, mean if chances or not is_classifier(model) else model.classes_[mean.argmax(axis=1)]
