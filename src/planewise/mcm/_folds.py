"""Which rows are held out when: for calibration, for the shrinkage of a conformal kernel, and for the search."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, check_random_state

from planewise.mcm._kernels import Matrix
from planewise.mcm._linear_program import Indices
from planewise.mcm._problem import Labels

Folds = list[tuple[Indices, Indices]]


def stratified_folds(n_folds: int, label: Labels, random_state: Any) -> Folds:
    """Shuffled folds with equal shares of each class; the only row of a class is never held out."""
    random = check_random_state(random_state)
    fold = np.full(len(label), -1)
    start = 0
    for c in np.unique(label):
        members = random.permutation(np.flatnonzero(label == c))
        if len(members) > 1:
            fold[members] = (start + np.arange(len(members))) % n_folds
            start += len(members)
    if (fold < 0).all():
        raise ValueError(
            "No class has two distinct rows, so that none can be held out: probability=True, conformal='shrunk' and "
            "MCMClassifierCV need some."
        )
    held = [np.flatnonzero(fold == k) for k in range(n_folds)]
    return [(np.setdiff1d(np.arange(len(label)), rows), rows) for rows in held if len(rows)]


def given_folds(cv: Any, X: Matrix, label: Labels, kept: Indices, groups: Any = None) -> Folds:
    """The folds of a splitter or a list of (train, test) rows of X, as places among the rows that count."""
    groups = None if groups is None else np.asarray(groups)
    check_consistent_length(X, groups)
    place = np.full(len(X), -1)
    place[kept] = np.arange(len(kept))
    labels = np.zeros(len(X), dtype=np.int32)
    labels[kept] = label
    folds = []
    try:
        pairs = list(check_cv(cv, labels, classifier=True).split(X, labels, groups))
    except ValueError as error:
        if groups is None and "'groups'" in str(error):
            raise ValueError(f"cv={cv!r} needs the group of every row: pass them as fit(X, y, groups=...).") from error
        raise
    for train, held in pairs:
        pair = [place[rows][place[rows] >= 0] for rows in (np.arange(len(X))[train], np.arange(len(X))[held])]
        if len(np.unique(label[pair[0]])) < len(np.unique(label)):
            raise ValueError("The training part of a fold of 'cv' lacks a class; use stratified folds.")
        if len(pair[1]) == 0:
            raise ValueError("A fold of 'cv' holds out no row that counts.")
        folds.append((pair[0], pair[1]))
    return folds
