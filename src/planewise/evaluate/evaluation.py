"""Rows with known targets and what a model answers to them: what every measure starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, one_line
from planewise.data.categories import as_label_array
from planewise.data.tables import take
from planewise.evaluate.measures import Vector
from planewise.explain.describe import require_no_offset, require_no_ranking
from planewise.explain.reasons import Reason


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Rows with their targets and weights, and a fitted estimator's predictions for them.

    Attributes
    ----------
    model : fitted estimator
        Of a TableModel, its estimator.
    X : rows as the estimator takes them
    target, predicted : array of shape (n_rows,)
    weight : array of shape (n_rows,)
    probability : array of shape (n_rows, n_classes) or None
        None if the model predicts numbers or has no probabilities.
    table_model : TableModel or None
        The model that was given, if it is one; ``table`` holds its rows.
    row_number : array of shape (n_rows,)
        The places of the rows among those that were given: rows without a target are left out of tables.
    n_without_target : int
        How many were left out.
    """

    model: Any
    X: Any
    target: NDArray[Any]
    weight: Vector
    predicted: NDArray[Any]
    probability: NDArray[Any] | None
    row_number: NDArray[np.intp]
    n_without_target: int = 0
    table_model: Any = None
    table: Any = None

    def explain(self, rows: NDArray[np.intp]) -> list[Reason]:
        """Why the model answers as it does to some of the rows; of a table, with the table's own values."""
        if self.table_model is not None:
            return self.table_model.explain(take(self.table, rows))
        reasons: list[Reason] = self.model.explain(take(self.X, rows))
        return reasons

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes of the model; None if it predicts numbers."""
        return getattr(self.model, "classes_", None)

    def __repr__(self) -> str:
        return one_line(self, f"{type(self.model).__name__}, {counted(len(self.target), 'row')}")


class Case(NamedTuple):
    """What a model is measured on."""

    model: Any  # an estimator
    X: Any
    y: Any
    places: NDArray[np.intp] | None = None  # of the rows among those that were given; None: all of them
    n_given: int | None = None
    table_model: Any = None  # the model of a table that was given, and the rows of its table
    table: Any = None


@singledispatch
def case_of(model: Any, X: Any, y: Any) -> Case:
    """Return the estimator of a model with the rows that it takes; models of tables register their own."""
    return Case(model, X, y)


@singledispatch
def estimator_in(model: Any) -> Any:
    """Return the estimator that a model of a table holds, and any other model as it is."""
    return model


def evaluate(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Evaluation:
    """Predict rows whose targets are known, once, for all measures.

    Parameters
    ----------
    model : fitted estimator or TableModel
    X : rows
        For a TableModel, a table.
    y : targets, default=None
        Only a TableModel can do without: it then reads its target column from the table, and leaves out rows whose
        target is missing, as in ``fit``.
    sample_weight : array of shape (n_rows,), default=None
        Weights of the rows. Only their ratios matter; rows of weight 0 do not count.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.evaluate import evaluate, quality
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> found = quality(evaluate(model, X[1::2], y[1::2]), X[::2], y[::2])
    >>> list(found.found)
    ['model', 'most_common_class', 'logistic_regression']
    """
    case = case_of(model, X, y)
    model, X, y = case.model, case.X, case.y
    if not hasattr(model, "predict"):
        raise TypeError(f"{type(model).__name__} makes no predictions, so there is nothing to measure.")
    require_no_ranking(model, "evaluate")
    require_no_offset(model, "evaluate")
    if y is None:
        raise ValueError("y is missing: a model is measured on rows whose targets are known.")
    predicted, target = np.asarray(model.predict(X)), as_label_array(y)
    if target.shape != predicted.shape:
        raise ValueError(
            f"y must have one target for each of the {len(predicted)} rows of X; got shape {target.shape}."
        )
    classes, probability = getattr(model, "classes_", None), None
    if classes is None:
        target = target.astype(np.float64)
        if not np.isfinite(target).all():
            raise ValueError("y must hold finite numbers; leave out rows without a known target.")
    else:
        known = set(classes.tolist())
        unknown = [label for label in dict.fromkeys(target.tolist()) if label not in known]
        if unknown:
            raise ValueError(f"y contains the label {unknown[0]!r}, which is not a class of the model.")
        if hasattr(model, "predict_proba") and len(classes) > 1:
            probability = model.predict_proba(X)
    n_given = len(predicted) if case.n_given is None else case.n_given
    places = np.arange(len(predicted)) if case.places is None else case.places
    weight, left_out = _weights(sample_weight, n_given)[places], n_given - len(predicted)
    return Evaluation(model, X, target, weight, predicted, probability, places, left_out, case.table_model, case.table)


def _weights(given: Any, n_rows: int) -> Vector:
    if given is None:
        return np.ones(n_rows)
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one weight for each of the {n_rows} rows; got shape {weight.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError("sample_weight must contain finite numbers of at least 0, not all of them 0.")
    return weight


def require_evaluation(case: Any, what: str) -> None:
    """TypeError that names `what` if it was given something else, such as the model itself."""
    if not isinstance(case, Evaluation):
        raise TypeError(f"{what} takes what evaluate(model, X, y) returns; got {type(case).__name__}.")


def worst_rows(case: Evaluation) -> NDArray[np.intp]:
    """The rows that are predicted wrongly, the worst first: the least probable truth, or the largest error."""
    require_evaluation(case, "worst_rows")
    rows = np.flatnonzero((case.predicted != case.target) & (case.weight > 0))
    if rows.size == 0:
        return rows
    badness = np.abs(case.target - case.predicted) if case.classes is None else _surprise(case)
    return rows[np.argsort(-badness[rows], kind="stable")]


def _surprise(case: Evaluation) -> NDArray[np.float64]:
    """How much the model preferred another class to the true one."""
    assert case.classes is not None
    rows, place = np.arange(len(case.target)), np.searchsorted(case.classes, case.target)
    if case.probability is not None:
        return 1 - case.probability[rows, place].astype(np.float64)
    scores = np.asarray(case.model.decision_function(case.X), dtype=np.float64)
    if scores.ndim == 1 or scores.shape[1] == 1:
        return np.abs(scores).reshape(len(rows))
    if scores.shape[1] == len(case.classes):
        return scores.max(axis=1) - scores[rows, place]
    return np.abs(scores).min(axis=1)  # one machine per pair of classes: how clear the closest of them was
