"""Simple models to compare with: the most common class or the mean, and a logistic or ridge regression."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from planewise.data.categories import as_label_array, is_missing
from planewise.data.problem import is_table
from planewise.data.tables import as_array
from planewise.evaluate.evaluation import Evaluation

N_FOLDS = 5
MIN_ROWS = 10  # for a linear model
MAX_ROWS = 20_000  # that a linear model is fitted on
MAX_CATEGORIES = 50  # of a column, the most common ones; the others are all zeros

Matrix = NDArray[np.float64]
Rows = NDArray[np.intp]


class Answers(NamedTuple):
    """Predictions and, for classes with probabilities, these."""

    predicted: NDArray[Any]
    probability: NDArray[Any] | None


def baselines(case: Evaluation, X_train: Any = None, y_train: Any = None) -> dict[str, Answers]:
    """What simple models answer to the rows, fitted on training rows if there are any, else on the rows themselves."""
    found = dict([_constant(case, y_train)])
    known = case.target[case.weight > 0] if y_train is None else as_label_array(y_train)
    if len(known) >= MIN_ROWS and (case.classes is None or len(np.unique(known)) > 1):
        name = "ridge_regression" if case.classes is None else "logistic_regression"
        found[name] = _linear(case, X_train, y_train)
    return found


def _constant(case: Evaluation, y_train: Any) -> tuple[str, Answers]:
    n_rows = len(case.target)
    known, weight = (case.target, case.weight) if y_train is None else (as_label_array(y_train), np.ones(len(y_train)))
    if case.classes is None:
        return "mean", Answers(np.full(n_rows, np.average(known, weights=weight)), None)
    shares = np.array([weight[known == each].sum() for each in case.classes]) / weight.sum()
    usual = np.repeat(case.classes[shares.argmax()], n_rows)
    return "most_common_class", Answers(usual, np.broadcast_to(shares, (n_rows, len(shares))))


def _linear(case: Evaluation, X_train: Any, y_train: Any) -> Answers:
    """Of a linear model; without training rows each fold is answered by the fit on the others."""
    columns, target, weight = _columns(case.X), case.target, case.weight
    parts: Iterable[tuple[Rows, Rows]]
    if y_train is None:
        counted = np.flatnonzero(weight)
        folds = KFold(N_FOLDS, shuffle=True, random_state=0).split(counted)
        parts = ((counted[train], counted[asked]) for train, asked in folds)
    else:
        before = len(y_train)
        columns = [np.concatenate(pair) for pair in zip(_columns(X_train), columns, strict=True)]
        target, weight = np.concatenate([y_train, target]), np.concatenate([np.ones(before), weight])
        parts = [(np.arange(before), np.arange(before, len(target)))]
    predicted = target.copy()  # rows of weight 0 are not asked, and do not count
    probability = None if case.classes is None else np.zeros((len(target), len(case.classes)))
    with threadpool_limits(limits=1):  # steps this small wait for threads longer than they work
        for train, asked in parts:
            if len(train) > MAX_ROWS:
                train = train[np.linspace(0, len(train) - 1, MAX_ROWS).astype(np.intp)]
            X, X_asked = _encoded(columns, train, asked)
            relative = weight[train] / weight[train].mean()
            answers = _fitted(X, target[train], relative, X_asked, case.classes)
            predicted[asked] = answers.predicted
            if probability is not None:
                probability[asked] = answers.probability
    n_rows = len(case.target)
    return Answers(predicted[-n_rows:], None if probability is None else probability[-n_rows:])


def _fitted(X: Matrix, y: NDArray[Any], weight: Matrix, asked: Matrix, classes: NDArray[Any] | None) -> Answers:
    if classes is None:
        return Answers(Ridge().fit(X, y, weight).predict(asked), None)
    probability = np.zeros((len(asked), len(classes)))
    known = np.unique(y)
    if len(known) == 1:
        probability[:, np.searchsorted(classes, known)] = 1.0
        return Answers(np.repeat(known, len(asked)), probability)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # for a baseline, near enough is good enough
        model = LogisticRegression(max_iter=300).fit(X, y, weight)
    probability[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(asked)
    return Answers(model.predict(asked), probability)


def _columns(X: Any) -> list[NDArray[Any]]:
    """The columns of a table: numbers as float64 with NaN for gaps, all else as text."""
    if not is_table(X):
        return list(as_array(X).astype(np.float64).T)
    frame, columns = nw.from_native(X, eager_only=True), []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            columns.append(np.array([np.nan if is_missing(v) else float(v) for v in column.to_list()]))
        else:
            columns.append(np.array(["" if is_missing(v) else str(v) for v in column.to_list()], dtype=object))
    return columns


def _encoded(columns: list[NDArray[Any]], train: Rows, asked: Rows) -> tuple[Matrix, Matrix]:
    """Both as standardised numbers, by the training rows: gaps become medians, common texts columns of 0 and 1."""
    pairs: list[tuple[Matrix, Matrix]] = []
    for column in columns:
        if column.dtype != object:
            known = column[train][np.isfinite(column[train])]
            filled = np.where(np.isnan(column), np.median(known) if len(known) else 0.0, column)
            if np.isinf(filled).any():  # a linear model takes the farthest numbers instead
                filled = np.clip(filled, *((known.min(), known.max()) if len(known) else (0.0, 0.0)))
            pairs.append((filled[train], filled[asked]))
            continue
        for value, _ in Counter(column[train].tolist()).most_common(MAX_CATEGORIES):
            same = (column == value).astype(np.float64)
            pairs.append((same[train], same[asked]))
    scaler = StandardScaler().fit(X := np.column_stack([pair[0] for pair in pairs]))
    return scaler.transform(X), scaler.transform(np.column_stack([pair[1] for pair in pairs]))
