"""The linear model that a report puts beside ours: fitted to the report's own rows in folds, judged on the rest."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from planewise._categories import is_missing
from planewise._input import is_table

N_FOLDS = 5
MOST_ROWS = 10_000  # a fold's fit takes no more: a line is known well before
MOST_CATEGORIES = 20  # of a column, the commonest; the others are all zeros


def linear_answers(
    X: Any, target: NDArray[Any], weight: NDArray[np.float64], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Answers and, for classes, probabilities, each from the fold in which the row was not fitted."""
    rows = as_numbers(X)
    probability = None if classes is None else np.zeros((len(rows), len(classes)))
    predicted = np.empty_like(target)
    with threadpool_limits(limits=1):  # steps this small wait for threads longer than they work
        for train, test in KFold(N_FOLDS, shuffle=True, random_state=0).split(rows):
            train = train[weight[train] > 0]
            if len(train) > MOST_ROWS:
                train = train[np.linspace(0, len(train) - 1, MOST_ROWS).astype(np.intp)]
            if len(train) > 0:
                _answer_fold(rows, target, weight, classes, train, test, predicted, probability)
    return predicted, probability


def _answer_fold(
    rows: NDArray[np.float64],
    target: NDArray[Any],
    weight: NDArray[np.float64],
    classes: NDArray[Any] | None,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    predicted: NDArray[Any],
    probability: NDArray[np.float64] | None,
) -> None:
    middle = np.array([np.median(known) if len(known := column[~np.isnan(column)]) else 0 for column in rows[train].T])
    filled = np.where(np.isnan(rows), middle, rows)
    scaled = StandardScaler().fit(filled[train]).transform(filled)
    if classes is None:
        predicted[test] = Ridge().fit(scaled[train], target[train], weight[train]).predict(scaled[test])
        return
    assert probability is not None
    known = np.unique(target[train])
    if len(known) == 1:
        predicted[test] = known[0]
        probability[np.ix_(test, np.searchsorted(classes, known))] = 1.0
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a baseline, near enough is good enough
        model = LogisticRegression(max_iter=300).fit(scaled[train], target[train], weight[train])
    predicted[test] = model.predict(scaled[test])
    probability[np.ix_(test, np.searchsorted(classes, model.classes_))] = model.predict_proba(scaled[test])


def as_numbers(X: Any) -> NDArray[np.float64]:
    """A table as numbers; of other columns, a column of 0 and 1 for each of the commonest values."""
    if not is_table(X):
        return np.asarray(X, dtype=np.float64)
    frame = nw.from_native(X, eager_only=True)
    columns: list[NDArray[np.float64]] = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            columns.append(np.array([np.nan if is_missing(v) else float(v) for v in column.to_list()]))
            continue
        words = ["" if is_missing(v) else str(v) for v in column.to_list()]
        for value, _ in Counter(words).most_common(MOST_CATEGORIES):
            columns.append(np.array([word == value for word in words], dtype=np.float64))
    return np.column_stack(columns)
