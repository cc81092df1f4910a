"""Answers to many rows at once say the same as one explanation after another."""

from __future__ import annotations

import numpy as np
import pytest

from planewise import RECIPClassifier
from planewise.recip.fitted import triage


def rows(n, seed, gaps):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
        X[0] = np.nan
    return X


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("estimate", ["counts", "distances"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_undecided_where_their_explanations_are(gaps, estimate, n_classes):
    X = rows(150, 0, False)
    noise = np.random.default_rng(5).normal(0, 0.5, 150)
    y = np.array(["a", "b", "c"])[1 * (X[:, 0] + noise > 0) + (n_classes == 3) * (X[:, 1] * X[:, 2] > 0.3)]
    model = RECIPClassifier(estimate=estimate, random_state=0).fit(X, y)
    asked = rows(80, 1, gaps)
    found, explained = triage(model, asked), model.explain(asked)
    assert model.classes_[found.answer].tolist() == [each.prediction for each in explained]
    assert found.undecided.tolist() == [each.undecided for each in explained]
    assert found.probability.tolist() == [each.probability for each in explained]
    assert 0 < found.undecided.sum() < 80
