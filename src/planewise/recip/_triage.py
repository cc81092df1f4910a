"""Answers to many queries at once, with how close each was: what a person should look at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.recip._class_explanation import CLEAR_ODDS, NEAR_ONE
from planewise.recip._number_explanation import APART, AS_GOOD
from planewise.recip._rows import Vector


@dataclass(frozen=True)
class Triage:
    """Of each query: the answer, whether its explanation calls it undecided, and how clear it was (0: not at all)."""

    answer: NDArray[Any]  # places among the classes, or numbers
    probability: Vector | None  # of the answer
    undecided: NDArray[np.bool_]
    clearness: Vector


def triage(estimator: Any, X: Any) -> Triage:
    """What ``explain`` says of all rows of X as arrays: a hundred times quicker than one explanation after another."""
    values = estimator._query_values(X)
    return _classes(estimator, values) if hasattr(estimator, "classes_") else _numbers(estimator, values)


def _classes(estimator: Any, values: Any) -> Triage:
    labels, probabilities, undecided, clearness = [], [], [], []
    for _, ratios, _, decided in estimator._blocks(values):
        label, view = decided.label, decided.view
        queries = np.arange(len(label))
        own = np.where(view >= 0, ratios.ratio[view, queries, label], np.inf)
        others = ratios.ratio.copy()
        others[:, queries, label] = np.inf
        against = others.min(axis=(0, 2))
        close = (view < 0) | (own > NEAR_ONE) | ((against < 1) & (against < CLEAR_ODDS * own))
        top_two = np.sort(decided.probability, axis=1)[:, -2:]
        labels.append(label)
        probabilities.append(decided.probability[queries, label])
        undecided.append(close)
        clearness.append(np.where(view < 0, 0.0, top_two[:, 1] - top_two[:, 0]))
    answer, probability = np.concatenate(labels), np.concatenate(probabilities)
    return Triage(answer, probability, np.concatenate(undecided), np.concatenate(clearness))


def _numbers(estimator: Any, values: Any) -> Triage:
    predictions, undecided, clearness = [], [], []
    for _, answers in estimator._answers(values):
        view, prediction = answers.chosen(None, estimator._mean)
        queries = np.arange(len(view))
        error = np.where(view >= 0, answers.expected[view, queries], np.inf)
        with np.errstate(invalid="ignore"):
            apart = np.abs(answers.answer - prediction) > APART * error
            rival = np.isfinite(answers.expected) & (answers.expected <= AS_GOOD * error) & apart
        rival[view, queries] = False
        predictions.append(prediction)
        undecided.append((view < 0) | rival.any(axis=0))
        clearness.append(1 / (1 + error))  # the larger the error of rows around it, the sooner it is looked at
    return Triage(np.concatenate(predictions), None, np.concatenate(undecided), np.concatenate(clearness))
