"""Two reviewers: kappa as scikit-learn computes it, differences of numbers, the cases they disagree about."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from planewise.answers import Decisions, Record, agreement

CLASSES = ["a", "b", "c"]


def decided(labels):
    """The decisions of a reviewer: a label per row, None where there is none."""
    out = Decisions(len(labels))
    for row, label in enumerate(labels):
        if label is not None:
            out.add(Record(f"{row:032x}", row, None, "f", "a", "override", label, "", "Ada", "2026", None))
    return out


LABELS = st.sampled_from([*CLASSES, None])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
@settings(max_examples=200)
def test_kappa_is_that_of_scikit_learn(pairs):
    first, second = (list(each) for each in zip(*pairs, strict=True))
    found = agreement(decided(first), decided(second), CLASSES)
    both = [pair for pair in pairs if None not in pair]
    assert found.n_both == len(both) and found.n_equal == sum(one == other for one, other in both)
    assert found.disagreements == [
        row for row, (one, other) in enumerate(pairs) if None not in (one, other) and one != other
    ]
    if not both or len({label for pair in both for label in pair}) == 1:
        assert found.kappa is None
        return
    one, other = zip(*both, strict=True)
    assert found.counts == confusion_matrix(one, other, labels=CLASSES).tolist()
    assert found.kappa == pytest.approx(cohen_kappa_score(one, other, labels=CLASSES), abs=1e-12)
    assert found.data()["share_equal"] == found.n_equal / found.n_both


def test_truth_values_and_numbers_are_different_labels():
    found = agreement(decided([True, 1]), decided([True, 1]), [1, 2])
    assert found.n_equal == 2
    assert agreement(decided([True]), decided([1]), [1, 2]).n_equal == 0


def test_numbers_are_compared_by_their_differences():
    first, second = [1.0, 2.0, 3.0, None, 9.0], [1.0, 2.5, 7.0, 4.0, None]
    found = agreement(decided(first), decided(second), None)
    assert (found.n_both, found.n_equal, found.disagreements) == (3, 1, [2, 1])
    assert found.mean_difference == pytest.approx(1.5) and found.largest_difference == 4.0
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 7.0])
    lin = 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert found.concordance == pytest.approx(lin)
    assert agreement(decided(first), decided(first), None).concordance == pytest.approx(1.0)
    assert agreement(decided([None]), decided([1.0]), None).data()["mean_difference"] is None
    assert agreement(decided([2.0, 2.0]), decided([2.0, 2.0]), None).concordance is None
