"""From the scores of two-class machines to the scores and the choice of classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from planewise.mcm._kernels import Matrix
from planewise.mcm._problem import Labels


def class_scores(raw: Matrix, n_classes: int, multi_class: str) -> Matrix:
    """Scores by class from those by machine; one column stays one column, the second class being above zero.

    One-versus-one counts won duels; sums of margins, squeezed below a third, only part equal counts. Scores are rounded
    to twelve decimals: classes whose machines have no vectors are equal, and rounding errors must not part them.
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


def choose_class(scores: Matrix) -> Labels:
    """The class of each row; among equals the first."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int32)
    return scores.argmax(axis=1).astype(np.int32)
