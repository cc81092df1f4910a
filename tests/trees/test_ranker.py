"""Ranking: what the loss means, what the model may not depend on, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import ndcg_score

from planewise import SLMBoostRanker, load, save
from planewise.evaluate import evaluate
from planewise.export import to_c, to_onnx, to_text
from planewise.plot import PartitionDisplay, TreeDisplay
from planewise.report import report


def queries(n_queries: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, grades 0 to 3 and the query of each row; one column is the same for the whole query."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(3, 20, n_queries))
    X = rng.standard_normal((len(qid), 5))
    X[:, 0] = rng.standard_normal(n_queries)[qid]
    worth = X[:, 1] * X[:, 0] + np.abs(X[:, 2] - X[:, 3]) + 0.3 * rng.standard_normal(len(qid))
    return X, np.digitize(worth, [0.5, 1.5, 2.5]), qid


def plain_ndcg(grade: np.ndarray, score: np.ndarray, qid: np.ndarray, at: int | None) -> float:
    """By scikit-learn, query by query, with gains 2^y - 1."""
    found = [
        ndcg_score([2.0 ** grade[rows] - 1], [score[rows]], k=at)
        for rows in (np.flatnonzero(qid == query) for query in np.unique(qid))
        if grade[rows].any()
    ]
    return float(np.mean(found))


@pytest.mark.parametrize("at", [None, 1, 5])
def test_the_score_is_scikit_learns_ndcg(at):
    X, y, qid = queries()
    model = SLMBoostRanker(n_estimators=5, ndcg_at=at, random_state=0).fit(X, y, qid=qid)
    rows = np.repeat(X[::3], 3, axis=0)[: len(X)]  # tied scores too
    assert model.score(rows, y, qid=qid) == pytest.approx(plain_ndcg(y, model.predict(rows), qid, at))


def test_the_linear_gain_is_the_grade():
    X, y, qid = queries()
    model = SLMBoostRanker(n_estimators=5, gain="linear", random_state=0).fit(X, y, qid=qid)
    by_hand = plain_ndcg(np.log2(y + 1.0), model.predict(X), qid, None)  # 2^g - 1 is y
    assert model.score(X, y, qid=qid) == pytest.approx(by_hand)
    assert SLMBoostRanker(n_estimators=5, gain="linear").fit(X, 100.0 * y, qid=qid).n_iter_ == 5


def test_it_ranks_better_than_numbers_do():
    from planewise import SLMBoostRegressor

    X, y, qid = queries(100)
    new_X, new_y, new_qid = queries(200, 1)
    shift = 3 * (qid % 5)  # what is relevant in one query is not in another: only differences within queries count
    ranker = SLMBoostRanker(random_state=0).fit(X, y + shift, qid=qid)
    numbers = SLMBoostRegressor(random_state=0).fit(X, y + shift)
    assert ranker.score(new_X, new_y, qid=new_qid) > 0.95
    assert ranker.score(new_X, new_y, qid=new_qid) > plain_ndcg(new_y, numbers.predict(new_X), new_qid, None) + 0.01


@settings(max_examples=15)
@given(seed=st.integers(0, 2**16))
def test_neither_the_order_of_rows_nor_the_names_of_queries_matter(seed):
    X, y, qid = queries(seed=1)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    names = np.array([f"query {number}" for number in rng.permutation(100)])
    quick = {"n_estimators": 6, "random_state": 0}
    one = SLMBoostRanker(**quick).fit(X, y, qid=qid)
    other = SLMBoostRanker(**quick, n_jobs=2).fit(X[order], y[order], qid=names[qid][order])
    np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-6)


def test_sizes_of_groups_are_queries():
    X, y, qid = queries()
    sizes = np.bincount(qid)
    one = SLMBoostRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid)
    other = SLMBoostRanker(n_estimators=5, random_state=0).fit(X, y, group=sizes)
    assert np.array_equal(one.predict(X), other.predict(X))
    assert one.score(X, y, qid=qid) == other.score(X, y, group=list(sizes))


def test_a_query_that_weighs_two_is_a_query_given_twice():
    X, y, qid = queries()
    twice = np.flatnonzero(qid < 10)
    more_X, more_y = np.vstack([X, X[twice]]), np.concatenate([y, y[twice]])
    more_qid = np.concatenate([qid, qid[twice] + 1000])
    quick = {"n_estimators": 5, "max_depth": 2, "smoothing": 1.0, "min_samples_leaf": 1, "noise_margin": 0}
    weight = np.where(qid < 10, 2.0, 1.0)
    weighted = SLMBoostRanker(**quick, random_state=0).fit(X, y, weight, qid=qid)
    repeated = SLMBoostRanker(**quick, random_state=0).fit(more_X, more_y, qid=more_qid)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)
    assert weighted.score(X, y, weight, qid=qid) == pytest.approx(weighted.score(more_X, more_y, qid=more_qid))


def test_early_stopping_sets_aside_queries_that_can_be_ranked():
    X, y, qid = queries(25)
    few = np.where(qid < 3, y, 0)  # all other queries have nothing to be ranked by
    for seed in range(4):
        model = SLMBoostRanker(n_estimators=8, early_stopping=True, random_state=seed).fit(X, few, qid=qid)
        assert -model.validation_score_[0] > 0
    with pytest.raises(ValueError, match="only one such query"):
        SLMBoostRanker(early_stopping=True).fit(X, np.where(qid == 3, y, 0), qid=qid)


def test_rows_that_weigh_nothing_are_not_there():
    X, y, qid = queries()
    weight = np.ones(len(y))
    weight[::4] = 0
    left = weight > 0
    one = SLMBoostRanker(n_estimators=5, random_state=0).fit(X, y, weight, qid=qid)
    other = SLMBoostRanker(n_estimators=5, random_state=0).fit(X[left], y[left], qid=qid[left])
    assert np.array_equal(one.predict(X), other.predict(X))
    assert one.score(X, y, weight, qid=qid) == one.score(X[left], y[left], qid=qid[left])
    rows = {"X_val": X, "y_val": y, "qid_val": qid, "sample_weight_val": weight}
    watched = SLMBoostRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid, **rows)
    assert -watched.validation_score_[-1] == pytest.approx(1 - watched.score(X[left], y[left], qid=qid[left]))


def test_whole_queries_are_set_aside_and_the_best_round_is_kept():
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((300, 3)), np.arange(300) % 30
    y = np.digitize(X[:, 0] + rng.standard_normal(300), [0, 1])
    model = SLMBoostRanker(n_estimators=60, early_stopping=True, refit=False, ndcg_at=3, random_state=0)
    model.fit(X, y, qid=qid)
    losses = -model.validation_score_
    assert model.n_iter_ == model.best_iteration_ == int(np.argmin(losses)) + 1
    # All queries are alike in size, so a query that is torn apart would show; and their losses are by query.
    assert model.forest_.n_samples[0] == 270
    aside = [set(part) for part in itertools.combinations(range(30), 3) if _last_loss(model, X, y, qid, part, losses)]
    assert len(aside) >= 1


def _last_loss(model, X, y, qid, part, losses):
    rows = np.isin(qid, part)
    return abs(1 - model.score(X[rows], y[rows], qid=qid[rows]) - min(losses)) < 1e-9


def test_validation_rows_are_judged_by_query():
    X, y, qid = queries()
    new_X, new_y, new_qid = queries(30, 1)
    order = np.random.default_rng(0).permutation(len(new_y))
    model = SLMBoostRanker(n_estimators=6, random_state=0).fit(
        X, y, qid=qid, X_val=new_X[order], y_val=new_y[order], qid_val=new_qid[order]
    )
    staged = [1 - plain_ndcg(new_y, score, new_qid, None) for score in model.staged_predict(new_X)]
    np.testing.assert_allclose(-model.validation_score_, staged)
    assert -model.train_score_[-1] == pytest.approx(1 - model.score(X, y, qid=qid))


def test_offsets_shift_scores_and_are_learned_around():
    X, y, qid = queries()
    X, known = X[:, :2], np.abs(X[:, 2] - X[:, 3])
    model = SLMBoostRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid, offset=known)
    assert np.array_equal(model.predict(X, offset=known), model.predict(X) + known)
    assert model.score(X, y, qid=qid, offset=known) > model.score(X, y, qid=qid)


def test_a_warm_start_continues():
    X, y, qid = queries()
    whole = SLMBoostRanker(n_estimators=8, random_state=0).fit(X, y, qid=qid)
    model = SLMBoostRanker(n_estimators=5, warm_start=True, random_state=0).fit(X, y, qid=qid)
    model.set_params(n_estimators=8).fit(X, y, qid=qid)
    assert np.array_equal(model.predict(X), whole.predict(X))
    assert np.array_equal(
        model.predict(X, n_rounds=5), clone(whole).set_params(n_estimators=5).fit(X, y, qid=qid).predict(X)
    )


def test_files_contributions_and_exports_know_it(tmp_path):
    X, y, qid = queries()
    model = SLMBoostRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid)
    save(model, tmp_path / "m.planewise")
    again = load(tmp_path / "m.planewise")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.score(X, y, qid=qid) == model.score(X, y, qid=qid)
    np.testing.assert_allclose(model.predict_contributions(X).sum(axis=1), model.predict(X), atol=1e-6)
    assert "static inline float model_predict" in to_c(model)
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    rows = X.astype(np.float32)
    answer = session.run(None, {session.get_inputs()[0].name: rows})[0]
    np.testing.assert_allclose(answer.ravel(), model.predict(rows), atol=1e-5)


def test_what_measures_numbers_refuses_it_by_name():
    X, y, qid = queries()
    ranker = SLMBoostRanker(n_estimators=3, random_state=0).fit(X, y, qid=qid)
    for measure in (
        lambda: evaluate(ranker, X, y),
        lambda: report(ranker, X, y),
        lambda: PartitionDisplay.from_estimator(ranker, X, y),
    ):
        with pytest.raises(ValueError, match=r"ranks the rows of queries: use model.score\(X, y, qid=...\)"):
            measure()
    assert "predicts: a score to rank the rows of a query by" in to_text(ranker)
    assert "added to the score:" in ranker.explain(X[:1])[0].table().heading
    assert "a score to rank the rows of a query by" in report(ranker)


def test_pictures_show_its_scores():
    X, y, qid = queries()
    ranker = SLMBoostRanker(n_estimators=3, random_state=0).fit(X, y, qid=qid)
    assert PartitionDisplay.from_estimator(ranker, X, features=(0, 1)).plot().figure_ is not None
    assert TreeDisplay.from_estimator(ranker).plot().figure_ is not None


def test_categories_and_their_statistics_are_those_of_grades():
    pl = pytest.importorskip("polars")
    X, y, qid = queries()
    town = np.array([f"t{k}" for k in range(60)])[(np.abs(X[:, 2]) * 20).astype(int) % 60]
    table = pl.DataFrame({"town": pl.Series(town, dtype=pl.Categorical), "x": X[:, 3]})
    model = SLMBoostRanker(n_estimators=5, target_statistics=10, random_state=0).fit(table, y, qid=qid)
    assert model.target_statistics_[0].values.shape[1] == 1
    np.testing.assert_allclose(model.target_statistics_[0].prior, [y.mean()], rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"qid": None}, "needs qid .* or group .*; got neither"),
        ({"group": [600]}, "got both"),
        ({"qid": None, "group": [3, 4]}, "group adds up to 7 rows"),
        ({"qid": None, "group": [0.5, 4]}, "whole numbers of at least 1"),
        ({"qid": None, "group": [100, np.inf]}, "whole numbers of at least 1"),
        ({"qid": [1, 2, 3]}, r"qid has shape \(3,\)"),
        ({"qid": np.array(["a", None] * 200, dtype=object)}, "qid is missing in row 1"),
        ({"y": -1}, r"grades from 0 to 31; one of them is -1.0"),
        ({"y": 40}, "gain='linear' has no upper limit"),
        ({"y": 1}, "no query has rows of different grades"),
        ({"qid_val": [1]}, "requires X_val and y_val"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_words(change, words):
    X, y, qid = queries()
    X, y, qid = X[:400], y[:400].astype(float), qid[:400]
    if isinstance(change.get("y"), int):
        y = np.full(400, float(change["y"]))
        change = {}
    with pytest.raises(ValueError, match=words):
        SLMBoostRanker(n_estimators=2).fit(X, y, **{"qid": qid} | change)


def test_searches_route_the_queries():
    from sklearn import config_context
    from sklearn.model_selection import GridSearchCV, GroupKFold

    X, y, qid = queries()
    with config_context(enable_metadata_routing=True):
        ranker = SLMBoostRanker(n_estimators=3, random_state=0)
        ranker.set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"max_depth": [1, 2]}, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
    assert search.best_score_ > 0.5
