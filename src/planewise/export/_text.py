"""A model as readable text."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from planewise._letters import shown
from planewise.export._describe import Limits, TableSection, TextSection, describe
from planewise.export._files import write_whole
from planewise.export._words import short

LONGEST_CELL = 200  # letters, to which all cells of its column are filled up


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
    """A fitted model in words and numbers a person can check, in the units and names of the data.

    A tree is written as nested rules, with the mix of classes (or the number) and the training rows of each leaf; a
    forest or boosting as a summary and its first trees; a minimal complexity machine as its vectors and their weights,
    or its weights by column if it is linear; RECIP as its views. Of a plane the largest weight is brought to one.

    Parameters
    ----------
    model : fitted estimator
        Any of planewise.
    path : path, default=None
        Where to write the text; an existing file is replaced in one step. None: nowhere.
    max_depth : int or None, default=None
        Levels of a tree that are shown; "…" stands for what is below. None: all.
    max_nodes : int, default=200
        Inner nodes of a tree that are shown.
    max_trees : int, default=1
        Trees of a forest or boosting that are shown, the first ones.
    max_vectors : int, default=20
        Vectors of a machine that are shown, those of the largest weights.
    max_columns : int, default=10
        Columns in tables of importances and of vectors.

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
    about = describe(model, limits)
    blocks = ["\n".join([about.title, *(shown(f"{name}: {value}") for name, value in about.facts)])]
    blocks += [_table(each) if isinstance(each, TableSection) else _text(each) for each in about.sections]
    text = "\n\n".join(blocks) + "\n"
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
            raise ValueError(f"{name} must be a whole number of zero or more; got {value!r}.")
    return Limits(max_depth, max_nodes, max_trees, max_vectors, max_columns)


def _text(section: TextSection) -> str:
    return "\n".join([section.heading, *(f"  {shown(line)}" for line in section.lines)])


def _table(section: TableSection) -> str:
    lines = [section.columns, *section.rows] if section.rows else []
    lines = [[short(shown(cell), LONGEST_CELL) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
    return "\n".join([section.heading, *rows, *([f"  {shown(section.note)}"] if section.note else [])])
