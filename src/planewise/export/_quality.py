"""How well a model does on given rows, beside the simplest answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from planewise.export._describe import TableSection
from planewise.export._words import number, percent

MOST_CLASSES = 20  # of which the confusion is shown


def quality(model: Any, X: Any, y: Any) -> list[TableSection]:
    """Tables of what was measured on these rows."""
    predicted = np.asarray(model.predict(X))
    target = np.asarray(y)
    if target.shape != predicted.shape:
        raise ValueError(
            f"y must have one target for each of the {len(predicted)} rows of X; got shape {target.shape}."
        )
    if hasattr(model, "classes_"):
        return _classes(model, X, target, predicted)
    target = target.astype(np.float64)
    mean = np.full(len(target), target.mean())
    rows = [["root mean squared error", number(root_mean_squared_error(target, predicted))]]
    rows[0].append(number(root_mean_squared_error(target, mean)))
    rows.append(["mean absolute error", *(number(mean_absolute_error(target, each)) for each in (predicted, mean))])
    if len(target) > 1:
        rows.append(["R²", number(r2_score(target, predicted)), "0"])
    return [TableSection("Quality", ["measure", "model", "always the mean"], rows, f"Measured on {len(target)} rows.")]


def _classes(model: Any, X: Any, target: Any, predicted: Any) -> list[TableSection]:
    classes = model.classes_
    unknown = np.setdiff1d(target, classes)
    if unknown.size:
        raise ValueError(f"y has the label {unknown[0]!r}, which the model does not know.")
    values, counts = np.unique(target, return_counts=True)
    usual = np.full(len(target), values[counts.argmax()])
    rows = [["accuracy", percent_of(accuracy_score(target, predicted)), percent_of(accuracy_score(target, usual))]]
    rows.append(["mean recall of classes", percent_of(balanced_accuracy_score(target, predicted)),
                 percent_of(1 / len(values))])  # fmt: skip
    if hasattr(model, "predict_proba") and len(classes) > 1:
        share = np.array([np.mean(target == each) for each in classes])
        probability = model.predict_proba(X)
        always = np.tile(share, (len(target), 1))
        rows.append(["log-loss", *(number(log_loss(target, each, labels=classes)) for each in (probability, always))])
    note = f"Measured on {len(target)} rows."
    tables = [TableSection("Quality", ["measure", "model", "always the commonest class"], rows, note)]
    if len(classes) <= MOST_CLASSES:
        matrix = confusion_matrix(target, predicted, labels=classes)
        lines = [[str(label), *(str(count) for count in row)] for label, row in zip(classes, matrix, strict=True)]
        columns = ["true class", *(f"predicted {label}" for label in classes)]
        tables.append(TableSection("Confusion", columns, lines))
    return tables


def percent_of(share: float) -> str:
    """A quality in per cent, with one decimal."""
    return percent(share) if share == 0 else f"{100 * share:.1f} %"
