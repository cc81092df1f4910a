"""Cases that LightGBM and XGBoost test: scores, start scores, leaves, ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from quick_boosting import CANCER, IRIS, NUMBERS, classifier, halves, regressor
from sklearn.metrics import log_loss, make_scorer

from planewise import SLMBoostRanker


# ----------------------------------------------------------------------------------------------------------- scores
def test_a_custom_score_equals_the_loss_it_computes():
    X, y, X_val, y_val = halves(IRIS)
    weight, weight_val = 1.0 + np.arange(75) % 2, 1.0 + np.arange(75) % 3
    given = {"sample_weight": weight, "X_val": X_val, "y_val": y_val, "sample_weight_val": weight_val}
    own = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
    by_score, by_loss = classifier(scoring=own).fit(X, y, **given), classifier().fit(X, y, **given)
    assert_allclose(by_score.validation_score_, by_loss.validation_score_)
    assert_allclose(by_score.train_score_, by_loss.train_score_)


# ------------------------------------------------------------------------------------------------------ start scores
@pytest.mark.parametrize("as_frame", [False, True])
def test_a_fit_from_the_scores_of_another_goes_on_from_there(as_frame):
    X, y = CANCER
    first = classifier(n_estimators=4).fit(X, y)
    score = first.decision_function(X)
    offset = pd.Series(score) if as_frame else score
    second = classifier(n_estimators=4, base_score=0.0).fit(X, y, offset=offset)
    both = second.predict_proba(X, offset=offset)
    assert log_loss(y, both) < log_loss(y, first.predict_proba(X))
    assert_allclose(second.decision_function(X, offset=offset), second.decision_function(X) + score)


def test_start_scores_of_several_classes():
    X, y = IRIS
    score = classifier(n_estimators=4).fit(X, y).decision_function(X)
    second = classifier(n_estimators=4, base_score=0.0).fit(X, y, offset=score)
    assert_allclose(second.decision_function(X, offset=score), second.decision_function(X) + score)
    assert log_loss(y, second.predict_proba(X, offset=score)) < 0.5


# -------------------------------------------------------------------------------------------- leaves and first rounds
def test_leaves_of_boosting():
    X, y = IRIS
    model = classifier().fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (150, 15)  # a tree for each class and round
    assert leaves.dtype == np.int32
    assert_array_equal(model.apply(X, n_rounds=2), leaves[:, :6])
    frame = pd.DataFrame({"word": pd.Categorical(list("abcde") * 20), "x": np.arange(100.0)})
    assert regressor().fit(frame, np.arange(100.0)).apply(frame).shape == (100, 5)
    recoded = frame.assign(word=frame["word"].cat.reorder_categories(list("edcba")))
    model = regressor().fit(frame, np.arange(100.0))
    assert_array_equal(model.apply(recoded), model.apply(frame))


def test_contributions_of_the_first_rounds():
    X, y = NUMBERS
    model = regressor().fit(X, y)
    assert_allclose(model.predict_contributions(X, n_rounds=2).sum(axis=1), model.predict(X, n_rounds=2))


# ----------------------------------------------------------------------------------------------------------- ranking
def graded(n_queries=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10 * n_queries, 4))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=len(X)), [-1, 0, 1]), np.repeat(10, n_queries)


def ranker(**parameters):
    return SLMBoostRanker(**{"n_estimators": 5, "random_state": 0} | parameters)


def test_queries_in_any_kind_of_column():
    X, y, sizes = graded()
    expected = ranker().fit(X, y, group=sizes).predict(X)
    assert expected.dtype == np.float64
    for kind in (list, pd.Series, pa.array, lambda values: pa.chunked_array([values]), lambda values: values * 1.0):
        assert_array_equal(ranker().fit(X, y, group=kind(sizes)).predict(X), expected)
        assert_array_equal(ranker().fit(X, y, qid=kind(np.repeat(np.arange(30), sizes))).predict(X), expected)
    assert_array_equal(ranker().fit(pd.DataFrame(X), pd.Series(y), group=sizes).predict(X), expected)
