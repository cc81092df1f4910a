"""From scores to probabilities that agree with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax

STEEPEST = 12.0  # bound of the logarithm of the slope

Numbers = NDArray[np.float64]


def probabilities(scores: Numbers, slope: float) -> Numbers:
    """A logistic function of the score without an intercept, or a softmax of several: both agree with the choice."""
    p = np.exp(_log_probabilities(scores, slope))
    chosen = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
    lost = np.flatnonzero(p.argmax(axis=1) != chosen)  # scores whose difference rounding took away
    p[lost, chosen[lost]] = np.nextafter(p[lost].max(axis=1), 1.0)
    return p


def calibrate(scores: Numbers, label: NDArray[np.int32], weight: Numbers) -> float:
    """The slope a > 0 that makes held-out probabilities most likely.

    Two rows more, one right and one wrong by a usual margin, keep it finite where classes are parted perfectly.
    """
    usual = float(weight @ np.abs(scores).mean(axis=1) / weight.sum()) or 1.0

    def loss(log_slope: float) -> float:
        slope = float(np.exp(log_slope))
        log_p = _log_probabilities(scores, slope)
        prior = -log_expit(slope * usual) - log_expit(-slope * usual)
        return float(-(weight @ log_p[np.arange(len(label)), label]) + prior)

    found = minimize_scalar(loss, bounds=(-STEEPEST, STEEPEST), method="bounded")
    return float(np.exp(found.x))


def _log_probabilities(scores: Numbers, slope: float) -> Numbers:
    if scores.shape[1] == 1:
        return np.column_stack([log_expit(-slope * scores[:, 0]), log_expit(slope * scores[:, 0])])
    return np.asarray(log_softmax(slope * scores, axis=1))
