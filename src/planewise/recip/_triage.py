"""Answers to many queries at once, with how close each was: what a person should look at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.recip._class_explanation import CLEAR_ODDS, NEAR_ONE
from planewise.recip._rows import Vector


@dataclass(frozen=True)
class Triage:
    """Of each query: the answer, whether its explanation calls it undecided, and how clear it was (0: not at all)."""

    answer: NDArray[Any]  # places among the classes
    probability: Vector  # of the answer
    undecided: NDArray[np.bool_]
    clearness: Vector


def triage(estimator: Any, X: Any) -> Triage:
    """Return what ``explain`` says of all rows of X as arrays, a hundred times faster than explanations one by one."""
    labels, probabilities, undecided, clearness = [], [], [], []
    for _, ratios, _, decided in estimator._blocks(estimator._query_values(X)):
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
