"""From the scores of two-class machines to classes and probabilities."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax

from planewise import _core
from planewise.machines.kernels import Matrix


def class_scores(raw: Matrix, n_classes: int, multi_class: str) -> Matrix:
    """Scores by class from those by machine; one column stays one column, the second class being above zero.

    One-versus-one counts won duels; sums of margins, squeezed below a third, only break ties. Scores are rounded to
    twelve decimals: classes whose machines have no vectors are equal, and rounding errors must not separate them.
    """
    raw = raw.round(12)
    if n_classes == 2 or multi_class == "ovr":
        return raw
    votes, margins = np.zeros((len(raw), n_classes)), np.zeros((len(raw), n_classes))
    for machine, (a, b) in enumerate(combinations(range(n_classes), 2)):
        won = raw[:, machine] >= 0
        votes[:, a] += won
        votes[:, b] += ~won
        margins[:, a] += raw[:, machine]
        margins[:, b] -= raw[:, machine]
    return votes + margins / (3 * (np.abs(margins) + 1))


def choose_class(scores: Matrix) -> NDArray[np.int32]:
    """The class of each row; among equals the first."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int32)
    return scores.argmax(axis=1).astype(np.int32)


def probabilities(scores: Matrix, slope: float) -> Matrix:
    """A logistic function of the score without an intercept, or a softmax of several: both agree with the choice."""
    p = np.exp(_log_probabilities(scores, slope))
    chosen = choose_class(scores)
    lost = np.flatnonzero(p.argmax(axis=1) != chosen)  # scores whose difference rounding took away
    p[lost, chosen[lost]] = np.nextafter(p[lost].max(axis=1), 1.0)
    return p


def calibrate(scores: Matrix, label: NDArray[np.int32], weight: NDArray[np.float64]) -> float:
    """The slope a > 0 that makes held-out probabilities most likely.

    Two more rows, one right and one wrong by a usual margin, keep it finite where classes are separated perfectly.
    """
    return _core.calibration_slope(np.ascontiguousarray(scores, np.float64), label, np.ascontiguousarray(weight))


def log_losses(scores: Matrix, label: NDArray[np.int32], slope: float) -> NDArray[np.float64]:
    """Minus the logarithm of the probability of each row's own class."""
    return _core.log_losses(np.ascontiguousarray(scores, np.float64), label, slope)


def _log_probabilities(scores: Matrix, slope: float) -> Matrix:
    if scores.shape[1] == 1:
        return np.column_stack([log_expit(-slope * scores[:, 0]), log_expit(slope * scores[:, 0])])
    return np.asarray(log_softmax(slope * scores, axis=1))
