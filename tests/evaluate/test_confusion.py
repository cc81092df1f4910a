"""Confusion counts every row once; the most frequent mistakes are listed where classes are many."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from planewise import SLMClassifier, SLMRegressor
from planewise.evaluate import calibration, confusion, evaluate


def case(n_classes=3, weight=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    y = np.array([f"c{k:02}" for k in range(n_classes)])[
        (np.abs(X[:, 0] * 3 + rng.normal(size=400)) % n_classes).astype(int)
    ]
    model = SLMClassifier(random_state=0).fit(X[:200], y[:200])
    known = np.isin(y[200:], model.classes_)
    return evaluate(model, X[200:][known], y[200:][known], weight)


def test_counts_sum_to_the_held_out_rows_and_are_those_of_scikit_learn():
    found = confusion(some := case())
    assert found.counts.sum() == len(some.target)
    assert found.counts.tolist() == confusion_matrix(some.target, some.predicted).tolist()
    assert found.data()["counts"] == found.counts.tolist()


def test_pairs_are_the_mistakes_the_most_frequent_first():
    found = confusion(some := case(6))
    pairs = found.pairs()
    assert sum(pair.rows for pair in pairs) == np.sum(some.target != some.predicted)
    assert [pair.rows for pair in pairs] == sorted((pair.rows for pair in pairs), reverse=True)
    first = pairs[0]
    assert first.rows == np.sum((some.target == first.true) & (some.predicted == first.predicted))


def test_few_classes_are_shown_whole_and_of_many_the_most_confused():
    found = confusion(case(6))
    whole, some = found.section(6), found.section(5)
    assert whole.columns == ["true class", *found.classes]
    assert [row[0] for row in whole.rows] == list(found.classes)
    assert some.columns == ["true class", "predicted as", "rows"] and len(some.rows) == 10
    n_more = len(found.pairs()) - 10
    rows = sum(int(pair.rows) for pair in found.pairs()[10:])
    assert some.note == f"And {n_more} pairs more, with {rows} rows in all."
    assert found.data()["n_more_pairs"] == n_more


def test_weights_are_summed():
    weight = np.random.default_rng(1).random(200)
    found = confusion(case(2, weight))
    assert found.counts.sum() == pytest.approx(weight.sum())


def test_numbers_have_no_confusion():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert confusion(evaluate(SLMRegressor(random_state=0).fit(X, X[:, 0]), X, X[:, 0])) is None


def test_the_calibration_error_of_right_probabilities_is_what_chance_explains():
    rng = np.random.default_rng(0)
    errors, expected = [], []

    class Right:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return (X[:, 0] > 0.5).astype(int)

        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    for _ in range(100):
        X = rng.random((300, 1))
        found = calibration(evaluate(Right(), X, (rng.random(300) < X[:, 0]).astype(int)))
        assert sum(group.n_rows for group in found.groups) == 300
        errors.append(found.error)
        expected.append(found.error_by_chance)
    assert np.mean(errors) == pytest.approx(np.mean(expected), rel=0.1)


def test_calibration_in_words_and_for_programs():
    found = calibration(case(2))
    data = found.data()
    assert data["expected_calibration_error"] == found.error
    assert sum(group["rows"] for group in data["groups"]) == 200
    assert "percentage points apart. With 200 rows, chance alone puts them about" in found.sentence()
    assert len(found.table()[1]) == len(data["groups"])
