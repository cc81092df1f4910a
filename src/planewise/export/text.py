"""A model as readable text."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from planewise._atomic import write_whole
from planewise.explain.describe import Limits, describe


def to_text(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    max_depth: int | None = None,
    max_nodes: int = 200,
    max_trees: int = 1,
    max_vectors: int = 20,
    max_columns: int = 10,
) -> str:
    """Describe a fitted model in words and numbers that a person can check, in the units and names of the data.

    A tree is written as nested rules, with the mix of classes (or the number) and the training rows of each leaf; a
    forest or boosting as a summary and its first trees; a minimal complexity machine as its vectors and their weights,
    or its weights by column if it is linear; a sum of views as the first trees of each view; RECIP as its views. The
    largest weight of a plane is brought to one.

    Parameters
    ----------
    model : fitted estimator
        Any of planewise.
    path : path, default=None
        Where to write the text; an existing file is replaced in one step. None: nowhere.
    max_depth : int or None, default=None
        Maximum depth to show; "…" stands for what is below. None: all of the tree.
    max_nodes : int, default=200
        Maximum number of inner nodes of a tree to show.
    max_trees : int, default=1
        Number of trees of a forest or boosting, or of each view, to show.
    max_vectors : int, default=20
        Maximum number of vectors of a machine to show, those with the largest weights first.
    max_columns : int, default=10
        Maximum number of columns in tables of importances and of vectors.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.export import to_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(to_text(SLMClassifier(max_depth=1, max_planes=1, random_state=0).fit(X, y)))  # doctest: +ELLIPSIS
    SLMClassifier
    columns: 4
    classes: 3: 0, 1, 2
    ...
    """
    limits = _checked_limits(max_depth, max_nodes, max_trees, max_vectors, max_columns)
    text = describe(model, limits).to_text()
    if path is not None:
        write_whole(path, text)
    return text


def _checked_limits(
    max_depth: int | None, max_nodes: int, max_trees: int, max_vectors: int, max_columns: int
) -> Limits:
    given = {"max_nodes": max_nodes, "max_trees": max_trees, "max_vectors": max_vectors, "max_columns": max_columns}
    given |= {} if max_depth is None else {"max_depth": max_depth}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
            raise ValueError(f"{name} must be an integer of at least 0; got {value!r}.")
    return Limits(max_depth, max_nodes, max_trees, max_vectors, max_columns)
