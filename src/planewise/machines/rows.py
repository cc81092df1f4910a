"""Rows with their labels and weights: equal ones merged, and some of them chosen evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.machines.kernels import Matrix

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows with their labels and weights, and the distinct points among them that may be support vectors.

    Rows are in the order of their values, so that neither the order nor the repetition of the user's rows matters.
    """

    rows: Matrix
    label: Labels
    weight: Vector
    centres: Matrix
    origin: Indices  # the user's row of each centre
    centre_of_row: Indices


def distinct_rows(X: Matrix, label: Labels, weight: Vector, origin: Indices) -> DistinctRows:
    """Rows equal in x and label become one, weights added; rows equal in x only share the column."""
    key = np.where(np.isnan(X), np.inf, X) if np.isnan(X).any() else X  # missing values equal one another
    centres, first, centre = np.unique(key, axis=0, return_index=True, return_inverse=True)
    centre, centres = centre.reshape(-1), centres if key is X else X[first]
    n_labels = int(label.max()) + 1
    pair, member = np.unique(centre * n_labels + label, return_inverse=True)
    total = np.bincount(member.reshape(-1), weights=weight).astype(np.float64, copy=False)
    centre_of_row = pair // n_labels
    return DistinctRows(
        centres[centre_of_row], (pair % n_labels).astype(np.int32), total, centres, origin[first], centre_of_row
    )


def plain_rows(X: Matrix, label: Labels, weight: Vector, origin: Indices) -> DistinctRows:
    """Rows as they are, each a centre: for kernels given as a matrix."""
    return DistinctRows(X, label, weight, X, origin, np.arange(len(X)))


def balanced_draw(label: NDArray[np.int32], n_drawn: int, rng: np.random.Generator) -> Indices:
    """Rows drawn so that the classes have equal shares, as far as their rows allow."""
    order = rng.permutation(len(label))
    return order[balanced(label[order], np.zeros(len(order)), n_drawn)]


def balanced(belongs: NDArray[Any], importance: NDArray[Any], most: int) -> Indices:
    """The most important items, as evenly from the groups they belong to as these allow; in their own order."""
    order = np.argsort(-np.asarray(importance, dtype=np.float64), kind="stable")
    rank = np.empty(len(belongs), dtype=np.intp)
    for group in np.unique(belongs):
        mine = order[belongs[order] == group]
        rank[mine] = np.arange(len(mine))
    return np.sort(order[np.argsort(rank[order], kind="stable")][:most])
