"""How well a model does on given rows, beside the simplest answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from planewise.report import _intervals
from planewise.report._intervals import Measured, Vector
from planewise.report._linear import linear_answers
from planewise.words import TableSection, number, percent

MOST_CLASSES = 20  # of which the confusion is shown


@dataclass(frozen=True)
class Evaluation:
    """Rows with their truth and weights, and a fitted model's answers to them."""

    model: Any
    X: Any
    target: NDArray[Any]
    weight: Vector
    predicted: NDArray[Any]
    probability: NDArray[Any] | None

    @property
    def classes(self) -> NDArray[Any] | None:
        """Of the model; None if it predicts numbers."""
        return getattr(self.model, "classes_", None)


def evaluate(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Ask the model about rows, once; refuse targets that do not fit."""
    if not hasattr(model, "predict"):
        raise TypeError(f"{type(model).__name__} predicts nothing, so that there is nothing to measure.")
    predicted = np.asarray(model.predict(X))
    target = np.asarray(y)
    if target.shape != predicted.shape:
        raise ValueError(
            f"y must have one target for each of the {len(predicted)} rows of X; got shape {target.shape}."
        )
    classes = getattr(model, "classes_", None)
    probability = None
    if classes is None:
        target = target.astype(np.float64)
        if not np.isfinite(target).all():
            raise ValueError("y must hold finite numbers; leave out rows whose target is not known.")
    else:
        known = set(classes.tolist())
        unknown = [label for label in dict.fromkeys(target.tolist()) if label not in known]
        if unknown:
            raise ValueError(f"y has the label {unknown[0]!r}, which the model does not know.")
        if hasattr(model, "predict_proba") and len(classes) > 1:
            probability = model.predict_proba(X)
    return Evaluation(model, X, target, _weights(sample_weight, len(predicted)), predicted, probability)


def _weights(given: Any, n_rows: int) -> Vector:
    if given is None:
        return np.ones(n_rows)
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one weight for each of the {n_rows} rows; got shape {weight.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError("sample_weight must hold finite numbers of at least 0, not all of them 0.")
    return weight


def quality(case: Evaluation, linear: bool = False) -> list[TableSection]:
    """Tables of what was measured: the model, the simplest answer, and on request a linear model."""
    rows = f"{len(case.target):,} rows" + (", weighted" if np.ptp(case.weight) > 0 else "")
    note = f"Measured on {rows}; in brackets 95 % confidence intervals."
    answers = [("model", case.predicted, case.probability), _simplest(case)]
    fitted_to_all = case.classes is None or len(np.unique(case.target)) > 1
    if linear and fitted_to_all and len(case.target) >= 10:
        name = "ridge regression" if case.classes is None else "logistic regression"
        answers.append((name, *linear_answers(case.X, case.target, case.weight, case.classes)))
        note += f" The {name} is fitted by us to these rows, in five folds, and judged on the rows left out of its fit."
    found = [_numbers(case, p) if case.classes is None else _classes(case, p, q) for _, p, q in answers]
    table = [
        [name, *(_shown(each[name], share=name in SHARES) if name in each else "" for each in found)]
        for name in found[0]
    ]
    sections = [TableSection("Quality", ["measure", *(name for name, *_ in answers)], table, note)]
    if case.classes is not None and 2 <= len(case.classes) <= MOST_CLASSES:
        sections.append(_confusion(case))
    return sections


SHARES = ("accuracy", "mean recall of classes")


def _simplest(case: Evaluation) -> tuple[str, NDArray[Any], NDArray[Any] | None]:
    n_rows = len(case.target)
    if case.classes is None:
        return "always the mean", np.full(n_rows, np.average(case.target, weights=case.weight)), None
    shares = np.array([case.weight[case.target == each].sum() for each in case.classes]) / case.weight.sum()
    usual = np.repeat(case.classes[shares.argmax()], n_rows)
    return "always the commonest class", usual, np.broadcast_to(shares, (n_rows, len(shares)))


def _numbers(case: Evaluation, predicted: NDArray[Any]) -> dict[str, Measured]:
    error = case.target - predicted
    found = {
        "root mean squared error": _intervals.root_mean(error**2, case.weight),
        "mean absolute error": _intervals.mean(np.abs(error), case.weight),
    }
    if np.ptp(case.target[case.weight > 0]) > 0:
        found["R²"] = _intervals.explained(case.target, predicted, case.weight)
    return found


def _classes(case: Evaluation, predicted: NDArray[Any], probability: NDArray[Any] | None) -> dict[str, Measured]:
    hit, classes = predicted == case.target, case.classes
    assert classes is not None
    places = [(case.target == label) & (case.weight > 0) for label in classes]
    recalls = [_intervals.share(hit[here], case.weight[here]) for here in places if here.any()]
    found = {
        "accuracy": _intervals.share(hit, case.weight),
        "mean recall of classes": _intervals.mean_of_shares(recalls),
    }
    if probability is not None:
        given = probability[np.arange(len(hit)), np.searchsorted(classes, case.target)]
        loss = -np.log(np.clip(given, np.finfo(given.dtype).eps, 1)).astype(np.float64)
        found["log-loss"] = _intervals.mean(loss, case.weight)
    return found


def _shown(found: Measured, share: bool) -> str:
    if found.low == found.high:  # by definition, as the mean's R²
        return number(found.value)
    if share:
        return f"{percent(found.value, 1)} ({100 * found.low:.1f} to {100 * found.high:.1f})"
    return f"{number(found.value)} ({number(found.low, 3)} to {number(found.high, 3)})"


def _confusion(case: Evaluation) -> TableSection:
    weighted = np.ptp(case.weight) > 0
    weight = case.weight if weighted else None
    matrix = confusion_matrix(case.target, case.predicted, labels=case.classes, sample_weight=weight)
    assert case.classes is not None
    rows = [
        [str(label), *(number(count) if weighted else str(count) for count in row)]
        for label, row in zip(case.classes, matrix, strict=True)
    ]
    note = "A row for each true class, a column for each predicted one."
    return TableSection("Confusion", ["true class", *map(str, case.classes.tolist())], rows, note)
