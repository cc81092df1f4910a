"""Answers to many queries at once, with how close each was: what a person should look at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from planewise._input import prediction_rows
from planewise.views._explain import CLOSE_ODDS, STRONG
from planewise.views._gains import Floats
from planewise.views._values import Leading, leading


@dataclass(frozen=True)
class Triage:
    """Of each query: the answer, whether its explanation calls it undecided, and how clear it was (0: not at all)."""

    answer: NDArray[Any]  # places among the classes, or numbers
    probability: Floats | None  # of the answer
    undecided: NDArray[np.bool_]
    clearness: Floats | None  # None: not known


def triage(estimator: Any, X: Any) -> Triage:
    """What ``explain`` says of all rows of X as arrays."""
    rows = prediction_rows(estimator, X)
    if not hasattr(estimator, "classes_"):
        return _numbers(estimator, estimator._view_scores(rows)[:, :, 0])
    if len(estimator.classes_) == 1:
        nothing = np.zeros(len(rows), np.intp)
        return Triage(nothing, np.ones(len(rows)), nothing > 0, np.ones(len(rows)))
    return _classes(leading(estimator._view_scores(rows), estimator.view_base_))


def _classes(found: Leading) -> Triage:
    each = np.arange(len(found.first))
    close = found.whole[each, found.first] - found.whole[each, found.second] < np.log(CLOSE_ODDS)
    probability = softmax(found.whole, axis=1)
    clear = probability[each, found.first] - probability[each, found.second]
    undecided = close | (found.alone != found.first) | _is_opposed(found.margins, found.lead)
    return Triage(found.first, probability[each, found.first], undecided, clear)


def _numbers(estimator: Any, scores: Floats) -> Triage:
    """`scores` are rows x views."""
    lead = np.abs(scores).argmax(axis=1)
    way = np.sign(scores[np.arange(len(scores)), lead])
    answer = estimator._loss.numbers((scores.sum(axis=1) + estimator.view_base_[0])[:, None])
    return Triage(answer, None, _is_opposed(way[:, None] * scores, lead), None)


def _is_opposed(margins: Floats, lead: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether another view speaks against the answer about as strongly as the leading one for it."""
    each = np.arange(len(margins))
    others = margins.copy()
    others[each, lead] = np.inf
    least = others.min(axis=1)
    return (least < 0) & (np.abs(least) >= STRONG * np.abs(margins[each, lead]))
