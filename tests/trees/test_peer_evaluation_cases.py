"""Cases that LightGBM and XGBoost test: scores, start scores, leaves, constraints, sparse tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from quick_boosting import CANCER, IRIS, NUMBERS, classifier, halves, regressor
from sklearn.metrics import log_loss, make_scorer, mean_squared_error

from planewise import SLMBoostRanker, SLMBoostRegressor


# ----------------------------------------------------------------------------------------------------------- scores
def test_a_custom_score_equals_the_loss_it_computes():
    X, y, X_val, y_val = halves(IRIS)
    weight, weight_val = 1.0 + np.arange(75) % 2, 1.0 + np.arange(75) % 3
    given = {"sample_weight": weight, "X_val": X_val, "y_val": y_val, "sample_weight_val": weight_val}
    own = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
    by_score, by_loss = classifier(scoring=own).fit(X, y, **given), classifier().fit(X, y, **given)
    assert_allclose(by_score.validation_score_, by_loss.validation_score_)
    assert_allclose(by_score.train_score_, by_loss.train_score_)


def test_a_custom_loss_stops_by_a_score():
    X, y, X_val, y_val = halves(NUMBERS)

    def squared_error(y_true, score):
        return score - y_true, np.ones_like(score)

    model = regressor(loss=squared_error, n_estimators=80, early_stopping=True, scoring="neg_mean_squared_error")
    model.fit(X, y, X_val=X_val, y_val=y_val)
    errors = -model.validation_score_
    assert errors[model.best_iteration_ - 1] == errors.min()
    assert errors.min() == pytest.approx(mean_squared_error(y_val, model.predict(X_val)))


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
def test_the_first_rounds_alone():
    X, y = NUMBERS
    model = regressor().fit(X, y)
    for n_rounds, stage in enumerate(model.staged_predict(X), start=1):
        assert_allclose(model.predict(X, n_rounds=n_rounds), stage)
    assert_array_equal(model.predict(X, n_rounds=None), model.predict(X))
    with pytest.raises(ValueError, match="n_rounds must be an integer from 1 to n_iter_, 5; got 6"):
        model.predict(X, n_rounds=6)
    several = classifier().fit(*IRIS)
    assert several.decision_function(IRIS[0], n_rounds=1).shape == (150, 3)


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


def test_a_ranker_stops_at_its_best_ndcg():
    X, y, sizes = graded()
    X_val, y_val, sizes_val = graded(seed=1)
    model = ranker(n_estimators=60, ndcg_at=3, early_stopping=True, n_iter_no_change=5)
    model.fit(X, y, group=sizes, X_val=X_val, y_val=y_val, qid_val=np.repeat(np.arange(30), sizes_val))
    losses = -model.validation_score_
    assert losses[model.best_iteration_ - 1] == min(losses)
    assert 1 - min(losses) == pytest.approx(model.score(X_val, y_val, group=sizes_val))
    assert model.score(X_val, y_val, group=sizes_val) > 0.8


def test_queries_in_any_kind_of_column():
    X, y, sizes = graded()
    expected = ranker().fit(X, y, group=sizes).predict(X)
    assert expected.dtype == np.float64
    for kind in (list, pd.Series, pa.array, lambda values: pa.chunked_array([values]), lambda values: values * 1.0):
        assert_array_equal(ranker().fit(X, y, group=kind(sizes)).predict(X), expected)
        assert_array_equal(ranker().fit(X, y, qid=kind(np.repeat(np.arange(30), sizes))).predict(X), expected)
    assert_array_equal(ranker().fit(pd.DataFrame(X), pd.Series(y), group=sizes).predict(X), expected)


def test_a_ranker_asks_for_the_queries_of_all_rows():
    X, y, sizes = graded()
    with pytest.raises(ValueError, match=r"Ranking needs qid .* or group .*; got neither"):
        ranker().fit(X, y)
    with pytest.raises(ValueError, match="X_val needs qid_val"):
        ranker().fit(X, y, group=sizes, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="qid_val requires X_val and y_val"):
        ranker().fit(X, y, group=sizes, qid_val=np.zeros(300))
    with pytest.raises(ValueError, match="group adds up to 10 rows, but there are 300"):
        ranker().fit(X, y, group=[10])


# ---------------------------------------------------------------------------------------- constraints, sparse tables
def test_columns_that_may_not_meet():
    X, y = NUMBERS
    model = regressor(interaction_cst=[[0, 1], [2, 3, 4]], max_depth=3).fit(X, y)
    X = np.tile(X[:1], (4, 1))
    X[1, 2] += 1.0
    X[2, 8] += 1.0
    X[3, [2, 8]] += 1.0
    same, first, second, both = model.predict(X)
    assert first - same == pytest.approx(both - second, abs=1e-3)  # no interaction of columns of different groups


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_tables_are_the_dense_ones(kind):
    X, y = IRIS
    X = np.where(X < 1.6, 0.0, X)
    sparse = scipy.sparse.csr_array(X).asformat(kind)
    dense, model = classifier().fit(X, y), classifier().fit(sparse, y)
    assert_array_equal(model.predict_proba(sparse), dense.predict_proba(X))
    assert_array_equal(model.predict_contributions(sparse), dense.predict_contributions(X))
    assert SLMBoostRegressor().__sklearn_tags__().input_tags.sparse
