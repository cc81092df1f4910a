"""RECIPClassifier: what it finds, what it answers, what it refuses."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from benchmarks.data import make_subspace_batches
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import planewise
from planewise import RECIPClassifier
from planewise.recip import candidates as _candidates
from planewise.recip import selection as _selection

PUBLISHED = {"estimate": "distances", "k": 1, "selection": "recip"}


def pairs_of(details):
    return sorted({tuple(pair) for pair in details.pairs.tolist()})


def same_model(a, b, X):
    assert a.projections_ == b.projections_
    assert np.array_equal(a.projection_support_, b.projection_support_)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize("parameters", [{}, PUBLISHED, PUBLISHED | {"lam": 5.0}, {"max_projections": 3}])
def test_the_views_of_every_batch_are_found(parameters):
    X, y, details = make_subspace_batches(3, batch_size=600, noise=0.1, return_details=True, random_state=1)
    model = RECIPClassifier(random_state=0, **parameters).fit(X[::2], y[::2])
    assert sorted(model.projections_) == pairs_of(details)
    clean = details.batch[1::2] >= 0
    accuracy = model.score(X[1::2][clean], y[1::2][clean])
    voting = RECIPClassifier(projections=model.projections_, decide="vote", random_state=0, **parameters)
    vote = voting.fit(X[::2], y[::2]).score(X[1::2][clean], y[1::2][clean])
    assert accuracy > 0.78 and accuracy > vote + 0.05


def test_fitted_attributes_are_aligned():
    X, y, _ = make_subspace_batches(3, batch_size=300, return_details=True, random_state=2)
    X = pd.DataFrame(X, columns=list("abcdefg"))
    model = RECIPClassifier(selection="recip", random_state=0).fit(X, y)
    n_views = len(model.projections_)
    assert model.projection_names_ == [tuple("abcdefg"[j] for j in view) for view in model.projections_]
    assert model.projection_support_.shape == model.projection_entropy_.shape == (n_views,)
    assert (np.diff(model.projection_support_) <= 0).all() and np.isclose(model.projection_support_.sum(), 1)
    assert model.lam_ in model.lam_losses_ and len(model.lam_losses_) == 4
    assert model.lam_losses_[model.lam_] == min(model.lam_losses_.values())
    assert model.optimality_gap_ >= 0 and model.n_candidates_ == 28
    assert (np.diff(model.objective_) <= 1e-9 * np.abs(model.objective_[1:])).all()


def test_the_gap_is_zero_when_every_candidate_is_kept():
    X, y = make_subspace_batches(1, batch_size=100, n_features=3, random_state=0)
    everything = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    assert RECIPClassifier(projections=everything).fit(X, y).optimality_gap_ == 0
    assert RECIPClassifier(max_projections=1).fit(X, y).optimality_gap_ > 0


@pytest.mark.parametrize("parameters", [{}, PUBLISHED, {"max_dim": 3, "max_candidates": 40}, {"selection": "greedy"}])
def test_any_number_of_threads_makes_the_same_model(parameters):
    X, y = make_subspace_batches(2, batch_size=150, noise=0.1, random_state=3)
    one, two = (RECIPClassifier(n_jobs=n, random_state=0, **parameters).fit(X, y) for n in (1, 3))
    same_model(one, two, X)


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.sampled_from(["counts", "distances"]), st.sampled_from(["recip", "answers"]))
def test_weights_equal_repeated_rows(seed, estimate, selection):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, size=(60, 4)) / 2 + random.choice([0.0, 0.1], size=(60, 4))
    X[random.random(X.shape) < 0.05] = np.nan
    y = random.integers(0, 3, 60)
    weight = random.integers(0, 4, 60)
    weight[:6] = 1
    y[:6] = [0, 0, 1, 1, 2, 2]
    settings_ = {"estimate": estimate, "selection": selection, "random_state": 0}
    weighted = RECIPClassifier(**settings_).fit(X, y, sample_weight=weight)
    order = random.permutation(np.repeat(np.arange(60), weight))
    repeated = RECIPClassifier(**settings_).fit(X[order], y[order])
    same_model(weighted, repeated, X)
    together = {(*np.nan_to_num(row, nan=-1.0), label): [] for row, label in zip(X, y, strict=True)}
    for place, original in enumerate(order):
        together[(*np.nan_to_num(X[original], nan=-1.0), y[original])].append(place)
    for neighbour in repeated.explain(X[:1])[0].neighbours["for"]:
        original = order[neighbour["rows"][0]]  # a neighbour is all rows of equal values and class
        assert sorted(neighbour["rows"]) == together[(*np.nan_to_num(X[original], nan=-1.0), y[original])]


@settings(max_examples=15)
@given(
    st.integers(0, 2**31),
    st.sampled_from(["recip", "answers"]),
    st.sampled_from([{0: 1, 1: 3, 2: 2}, {0: 2, 1: 0, 2: 1}]),
)
def test_class_weights_equal_repeated_rows(seed, selection, class_weight):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, size=(60, 4)) / 2 + random.choice([0.0, 0.1], size=(60, 4))
    X[random.random(X.shape) < 0.05] = np.nan
    y = np.concatenate([[0, 0, 1, 1, 2, 2], random.integers(0, 3, 54)])
    weight = np.concatenate([np.ones(6, dtype=int), random.integers(0, 3, 54)])
    settings_ = {"selection": selection, "random_state": 0}
    weighted = RECIPClassifier(class_weight=class_weight, **settings_).fit(X, y, sample_weight=weight)
    order = np.repeat(np.arange(60), weight * [class_weight[label] for label in y])
    repeated = RECIPClassifier(**settings_).fit(X[order], y[order])
    assert list(weighted.classes_) == [label for label in range(3) if class_weight[label]]
    same_model(weighted, repeated, X)


@pytest.mark.parametrize("decide", ["select", "vote"])
def test_balanced_classes_find_more_of_a_rare_class(decide):
    random = np.random.default_rng(0)
    y = (random.random(600) < 0.1).astype(int)
    X = random.normal(size=(600, 3)) + y[:, None] * [1.2, 0.6, 0]
    plain, balanced = (
        RECIPClassifier(class_weight=w, decide=decide, random_state=0).fit(X[::2], y[::2]) for w in (None, "balanced")
    )
    rare = y[1::2] == 1
    found, now = (model.predict(X[1::2])[rare].mean() for model in (plain, balanced))
    assert now > found + 0.2
    np.testing.assert_allclose(balanced._prior, [0.5, 0.5])


def test_sentences_say_the_weight_of_the_neighbours():
    random = np.random.default_rng(0)
    y = np.where(random.random(300) < 0.2, "ill", "well")
    X = random.normal(size=(300, 2)) + (y == "ill")[:, None]
    weighted = RECIPClassifier(class_weight="balanced", random_state=0).fit(X[1:], y[1:])
    explained = [each for each in weighted.explain(X[:50]) if each.prediction == "ill"]
    told = [each for each in explained if "of the weight" in each.sentence()]
    assert told
    sides = told[0].data()["neighbours"]
    near, far = (sum(each["weight"] for each in sides[side]) for side in ("for", "against"))
    assert f", with {100 * near / (near + far):.0f}% of the weight" in told[0].sentence()
    unweighted = RECIPClassifier(random_state=0).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert not any("weight" in each.sentence() for each in unweighted.explain(X[:50]))
    nothing = weighted.explain([[np.nan, np.nan]])[0]
    assert "the class of the largest weight is predicted" in nothing.sentence()
    assert "the most common class" in unweighted.explain([[np.nan, np.nan]])[0].sentence()


def test_class_weights_are_kept_in_files(tmp_path):
    X, y = make_subspace_batches(2, batch_size=100, random_state=0)
    model = RECIPClassifier(class_weight={0: 1.0, 1: 2.5}, random_state=0).fit(X, y)
    planewise.save(model, tmp_path / "views")
    again = planewise.load(tmp_path / "views")
    assert again.class_weight == {0: 1.0, 1: 2.5}
    same_model(model, again, X)
    assert again.explain(X[:1])[0].sentence() == model.explain(X[:1])[0].sentence()


def test_scaling_a_feature_changes_nothing():
    X, y = make_subspace_batches(2, batch_size=150, random_state=4)
    stretched = X * np.array([1, 2, 4, 8, 0.5, 0.25, 1024])
    a, b = (RECIPClassifier(random_state=0).fit(rows, y) for rows in (X, stretched))
    assert a.projections_ == b.projections_
    assert_array_equal(a.predict_proba(X), b.predict_proba(stretched))  # powers of two: exactly


@pytest.mark.parametrize("parameters", [{}, PUBLISHED])
def test_a_few_rows_can_choose_the_views_for_all(parameters):
    X, y, details = make_subspace_batches(2, batch_size=600, return_details=True, random_state=13)
    model = RECIPClassifier(max_rows=300, random_state=0, **parameters).fit(X, y)
    assert sorted(model.projections_) == pairs_of(details)
    assert len(model._points) == 1200  # and all rows answer


@pytest.mark.parametrize("parameters", [{}, PUBLISHED, {"decide": "vote"}])
def test_predict_is_the_argmax_of_the_probabilities(parameters):
    random = np.random.default_rng(5)
    X = random.integers(0, 3, size=(200, 4)).astype(float)  # many ties
    y = random.integers(0, 4, 200)
    model = RECIPClassifier(random_state=0, max_projections=3, **parameters).fit(X, y)
    probability = model.predict_proba(X)
    assert np.array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
    assert np.allclose(probability.sum(axis=1), 1)


def test_equal_ratios_go_to_the_farther_other_side():
    X = np.array([[0, 0], [0, 9], [5, 0], [9, 5.0], [9, 9.0], [5, 9]])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = RECIPClassifier(projections=[(0,), (1,)], scaling=None, **PUBLISHED).fit(X, y)
    # In x0 class 0 is at distance 0 and class 1 at 5; in x1 class 1 is at 0 and class 0 at 4: both ratios are 0.
    assert model.predict([[0.0, 5.0]])[0] == 0
    assert model.explain([[0.0, 5.0]])[0].view["columns"] == [0]


def test_a_tied_vote_goes_to_the_last_class_as_in_the_paper():
    X = np.array([[0, 0], [1, 1], [10, 10], [11, 11.0]])
    y = np.array([0, 0, 1, 1])
    model = RECIPClassifier(projections=[(0,), (1,)], decide="vote", **PUBLISHED).fit(X, y)
    assert model.predict([[0.0, 11.0]])[0] == 1
    assert np.allclose(model.predict_proba([[0.0, 11.0]]), 0.5)


def test_alpha_changes_no_answer_of_the_published_estimate():
    X, y = make_subspace_batches(2, batch_size=150, random_state=6)
    views = [(0, 1), (2, 3), (4, 5)]
    answers = [
        RECIPClassifier(projections=views, tsallis_order=alpha, **PUBLISHED).fit(X, y).predict(X) for alpha in (0, 0.9)
    ]
    assert np.array_equal(*answers)


@pytest.mark.parametrize("selection", ["lasso", "robust_lasso"])
def test_the_lassos_of_the_paper_find_a_view_that_decides_all(selection):
    X, y, details = make_subspace_batches(1, batch_size=400, return_details=True, random_state=7)
    model = RECIPClassifier(estimate="distances", selection=selection, max_projections=2, random_state=0).fit(X, y)
    assert set(pairs_of(details)) <= set(model.projections_) and len(model.projections_) <= 2


def test_all_features_are_a_candidate_on_request():
    random = np.random.default_rng(8)
    X = random.normal(size=(400, 5))
    y = X.sum(axis=1) > 0  # all five needed
    model = RECIPClassifier(include_all_features=True, random_state=0).fit(X, y)
    assert (0, 1, 2, 3, 4) in model.projections_
    assert model.score(X, y) > RECIPClassifier(random_state=0).fit(X, y).score(X, y)


def test_triples_are_found_when_wanted():
    random = np.random.default_rng(9)
    X = random.uniform(size=(800, 4))
    y = ((X[:, :3] > 0.5).sum(axis=1) % 2).astype(int)  # a parity of three: no pair says anything
    model = RECIPClassifier(3, random_state=0).fit(X, y)
    assert model.projections_[0] == (0, 1, 2)


def test_categories_and_ordered_categories_are_understood():
    random = np.random.default_rng(10)
    colour = random.choice(["red", "green", "blue"], 400)
    size = random.choice(["small", "medium", "large", "huge"], 400)
    frame = pd.DataFrame(
        {
            "noise": random.normal(size=400),
            "colour": pd.Categorical(colour),
            "size": pd.Categorical(size, categories=["small", "medium", "large", "huge"], ordered=True),
        }
    )
    y = (colour == "green") | (size == "huge")
    model = RECIPClassifier(random_state=0).fit(frame, y)
    assert model.projections_ == [(1, 2)]
    assert model.score(frame, y) > 0.97
    kinds = [scaling["kind"] for scaling in model.explain(frame[:1])[0].view["scaling"]]
    assert kinds == ["categories", "numbers"]
    assert model.explain(frame[:1])[0].query["size"] == size[0]
    order = pl.Enum(["small", "medium", "large", "huge"])
    polars = pl.DataFrame(
        {
            "noise": frame["noise"].to_numpy(),
            "colour": pl.Series(colour.tolist(), dtype=pl.Categorical),
            "size": pl.Series(size.tolist(), dtype=order),
        }
    )
    assert np.array_equal(RECIPClassifier(random_state=0).fit(polars, y).predict(polars), model.predict(frame))
    arrow = pa.Table.from_pandas(frame)
    assert arrow["size"].type.ordered
    by_arrow = RECIPClassifier(random_state=0).fit(arrow, y)
    assert by_arrow._ranks.keys() == {2}
    assert np.array_equal(by_arrow.predict(arrow), model.predict(frame))
    unseen = frame[:1].copy()
    unseen["colour"] = pd.Categorical(["violet"])
    assert model.predict(unseen).shape == (1,)
    assert "not seen" in model.explain(unseen)[0].query["colour"]


def test_a_two_valued_column_means_the_same_as_a_category_and_as_a_number():
    random = np.random.default_rng(11)
    flag, x = (random.random(200) < 0.2).astype(float), random.normal(size=200)
    y = (flag == 1) ^ (x > 0)
    X = np.column_stack([flag, x])
    number = RECIPClassifier(projections=[(0, 1)], categorical_features=None).fit(X, y)
    category = RECIPClassifier(projections=[(0, 1)], categorical_features=[0]).fit(X, y)
    assert np.allclose(number.predict_proba(X), category.predict_proba(X))


def test_the_report_says_what_each_view_decides_and_how_well():
    X, y = make_subspace_batches(2, batch_size=200, random_state=12)
    model = RECIPClassifier(random_state=0).fit(X, y)
    report = model.views_report(X[:200], y[:200])
    answers = model.explain(X[:200])
    for place, row in enumerate(report):
        mine = np.array([e.view["columns"] == list(model.projections_[place]) for e in answers])
        assert np.isclose(row["decides"], mine.mean())
        assert np.isclose(row["accuracy"], np.mean(model.predict(X[:200])[mine] == y[:200][mine]))
    own = model.views_report()
    assert np.isclose(sum(row["decides"] for row in own), 1)
    assert 0.7 < own[0]["accuracy"] < 1
    assert "accuracy" in str(own).splitlines()[0] and len(str(own).splitlines()) == len(own) + 1
    assert pd.DataFrame(own).shape == (len(own), len(own[0]))


def test_few_rows_of_a_class_are_said():
    X = np.arange(20.0)[:, None]
    y = np.repeat([0, 1, 2], [10, 8, 2])
    with pytest.warns(UserWarning, match="class 2 has 2 distinct"):
        model = RECIPClassifier(estimate="distances", k=3).fit(X, y)
    assert 2 not in model.predict(X)
    with pytest.raises(ValueError, match="Lower k"):
        RECIPClassifier(estimate="distances", k=9).fit(X, y)
    with pytest.raises(ValueError, match="Lower k"):
        RECIPClassifier(k=20).fit(X, y)
    assert 2 in RECIPClassifier(k=1).fit(X, y).predict(X)


def test_tables_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="Every column of X is constant"):
        RECIPClassifier().fit(np.ones((10, 3)), np.arange(10) % 2)
    with pytest.raises(ValueError, match="only one class among the rows that count: 'a'"):
        RECIPClassifier().fit(np.random.default_rng(0).normal(size=(10, 3)), np.repeat("a", 10))
    with pytest.raises(ValueError, match="only one class"):
        RECIPClassifier().fit([[1.0], [2.0]], [0, 1], sample_weight=[1, 0])


def test_one_feature_and_constant_columns_are_fine():
    X = np.linspace(0, 1, 50)
    y = X > 0.5
    assert RECIPClassifier().fit(X[:, None], y).projections_ == [(0,)]
    constant = np.column_stack([np.ones(50), X, np.full(50, np.nan)])
    assert RECIPClassifier().fit(constant, y).projections_ == [(1,)]


def test_too_many_candidates_for_memory_are_refused_with_an_estimate(monkeypatch):
    monkeypatch.setattr(_candidates, "memory_limit", lambda: 10_000)
    X, y = make_subspace_batches(1, batch_size=200, random_state=0)
    with pytest.raises(ValueError, match=r"GB.*max_candidates to 12 or less"):
        RECIPClassifier().fit(X, y)
    assert RECIPClassifier(max_candidates=12, random_state=0).fit(X, y).n_candidates_ == 12


def test_too_many_views_are_refused_before_they_are_listed():
    X, y = np.random.default_rng(0).normal(size=(100, 60)), np.arange(100) % 2
    words = r"about 6\.4e17 views of up to 30 of 60 features \(max_candidates allows 1,000,000,000 of them\)"
    with pytest.raises(ValueError, match=words):
        RECIPClassifier(30, max_candidates=10**9).fit(X, y)
    with pytest.raises(ValueError, match="more than 1e18 views of up to 60 of 60 features"):
        RECIPClassifier(60, max_candidates=10**9).fit(X, y)


def test_too_many_views_are_refused_with_the_number_of_features_that_would_fit(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(100, 12)), np.arange(100) % 2
    monkeypatch.setattr(_candidates, "memory_limit", lambda: 4 * 100 * 300)
    words = r"are 4,095 views of up to 12 of 12 features; .* Lower max_dim \(d in planewise\.published\) to 3, or set"
    with pytest.raises(ValueError, match=words):
        RECIPClassifier(12, max_candidates=10**9).fit(X, y)
    assert RECIPClassifier(3, max_candidates=10**9).fit(X, y).n_candidates_ == 12 + 66 + 220


@pytest.mark.parametrize("max_dim", [2, 3, 12])
def test_views_that_are_screened_need_no_memory(monkeypatch, max_dim):
    X, y = np.random.default_rng(0).normal(size=(100, 12)), np.arange(100) % 2
    monkeypatch.setattr(_candidates, "memory_limit", lambda: 4 * 100 * 60)
    assert RECIPClassifier(max_dim, max_candidates=60, random_state=0).fit(X, y).n_candidates_ == 60
    with pytest.raises(ValueError, match=r"[Ss]et max_candidates to 60 or less"):
        RECIPClassifier(max_dim, max_candidates=61).fit(X, y)
    with pytest.raises(ValueError, match="There are 78 views of up to 2 of 12 features"):
        RECIPClassifier(max_dim, max_candidates=None).fit(X, y)


@pytest.mark.parametrize("selection", ["lasso", "robust_lasso"])
def test_lassos_that_do_not_converge_are_one_warning_of_ours(monkeypatch, selection):
    X, y = make_subspace_batches(3, batch_size=100, random_state=3)
    parameters = {"estimate": "distances", "selection": selection, "unit_columns": False, "random_state": 0}
    RECIPClassifier(**parameters).fit(X, y)  # warnings are errors
    monkeypatch.setattr(_selection, "MOST_PASSES", 2)
    with pytest.warns(ConvergenceWarning) as heard:
        RECIPClassifier(**parameters).fit(X, y)
    assert len(heard) == 1
    words = rf"\d+ of \d+ lasso problems of selection='{selection}' did not converge.* Increase lam"
    assert re.match(words, str(heard[0].message))


def test_at_most_so_many_of_the_used_views_are_kept():
    X, y = make_subspace_batches(3, batch_size=200, random_state=3)
    parameters = PUBLISHED | {"lam": 5.0, "keep": "used"}
    everything = RECIPClassifier(**parameters).fit(X, y).projections_
    few = RECIPClassifier(max_projections=4, **parameters).fit(X, y).projections_
    assert len(everything) > 4 == len(few) and set(few) < set(everything)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"projections": []}, "projections is empty"),
        ({"projections": [()]}, "without features"),
        ({"projections": [(0, 9)]}, "has the feature 9"),
        ({"projections": [(0, 0)]}, "twice"),
        ({"projections": [("a",)]}, "X has no column names"),
        ({"projections": "ab"}, "'projections' of RECIPClassifier must be"),
        ({"k": 0}, "'k' of RECIPClassifier"),
        ({"tsallis_order": 1.0}, "'tsallis_order' of RECIPClassifier"),
        ({"lam": -1.0}, "'lam' of RECIPClassifier"),
        ({"selection": "answers", "lam": 1.0}, "would have no effect"),
        ({"selection": "best"}, "'selection' of RECIPClassifier"),
        ({"keep": "all"}, "'keep' of RECIPClassifier"),
        ({"keep": "used"}, "keep='used'.*chosen by 'answers'; give lam"),
        ({"keep": "used", "selection": "lasso"}, "chosen by 'lasso'; use selection='recip'"),
        ({"keep": "used", "selection": "recip", "max_projections": 2}, "chosen by 'greedy'; give lam"),
        ({"unit_columns": "no"}, "'unit_columns' of RECIPClassifier"),
        ({"decide": "guess"}, "'decide' of RECIPClassifier"),
        ({"scaling": "rank"}, "'scaling' of RECIPClassifier"),
        ({"max_dim": 0}, "'max_dim' of RECIPClassifier"),
        ({"class_weight": "even"}, "'class_weight' of RECIPClassifier"),
        ({"class_weight": {0: -1}}, "'class_weight' of RECIPClassifier"),
        ({"class_weight": {0: 0, 1: 0}}, "gives every class a weight of 0"),
        ({"class_weight": {0: 0}}, "only one class among the rows that count"),
        ({"class_weight": "balanced", "estimate": "distances"}, 'class_weight needs estimate="counts"'),
        ({"max_candidates": 0}, "'max_candidates' of RECIPClassifier"),
    ],
)
def test_wrong_parameters_are_named(wrong, message):
    X, y = make_subspace_batches(1, batch_size=30, n_features=4, random_state=0)
    with pytest.raises(ValueError, match=message):
        RECIPClassifier(**wrong).fit(X, y)


def test_unknown_feature_names_at_predict_are_refused():
    X, y = make_subspace_batches(1, batch_size=50, n_features=3, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = RECIPClassifier(projections=[("a", "b")]).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"c": "d"}))
    with pytest.raises(ValueError, match="not a column"):
        RECIPClassifier(projections=[("a", "z")]).fit(frame, y)


def test_a_fit_that_fails_leaves_the_old_model():
    X, y = make_subspace_batches(1, batch_size=100, random_state=0)
    model = RECIPClassifier(random_state=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="constant"):
        model.fit(np.ones((10, 7)), np.arange(10) % 2)
    assert np.array_equal(model.predict_proba(X), before)


def test_progress_is_shown_only_if_wanted(capsys):
    X, y = make_subspace_batches(1, batch_size=50, random_state=0)
    RECIPClassifier(random_state=0).fit(X, y)
    assert capsys.readouterr().err == ""
    RECIPClassifier(random_state=0, verbose=1).fit(X, y)
    assert "views [" in capsys.readouterr().err


def small_integers(seed, n=250):
    """Most rows have many others at the same distance in every view."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (n, 5)).astype(float)
    y = (X[:, 0] > 1).astype(int) + (X[:, 1] + X[:, 2] + random.normal(size=n) > 4)
    return X, y, random


def chosen_and_answered(X, y, queries, **parameters):
    model = RECIPClassifier(random_state=0, **parameters).fit(X, y)
    return model.projections_, model.predict(queries), model.predict_proba(queries)


@settings(max_examples=15)
@given(
    st.integers(0, 2**31),
    st.sampled_from([None, 1, 7]),
    st.sampled_from(["standard", None]),
    st.sampled_from(["select", "vote"]),
)
def test_neither_the_order_of_rows_nor_the_direction_of_columns_matters_where_many_rows_are_equally_far(
    seed, k, scaling, decide
):
    X, y, random = small_integers(seed)
    queries = random.integers(-1, 5, (100, 5)).astype(float)
    parameters = {"k": k, "scaling": scaling, "decide": decide}
    views, predicted, probability = chosen_and_answered(X, y, queries, **parameters)
    order = random.permutation(len(X))
    for same in (
        chosen_and_answered(X[order], y[order], queries, **parameters),
        chosen_and_answered(3 - X, y, 3 - queries, **parameters),
    ):
        assert same[0] == views
        assert np.array_equal(same[1], predicted)
        assert np.allclose(same[2], probability, rtol=1e-9, atol=0)


def seconds_since_1970(n, seed):
    rng = np.random.default_rng(seed)
    second, other = rng.integers(0, 3600, n), rng.normal(size=n)
    return np.column_stack([1.7e9 + second, other]), ((second > 1800) ^ (other > 0)).astype(int)


def test_columns_far_from_zero_count_and_are_shown_as_given():
    X, y = seconds_since_1970(600, 0)
    X_test, y_test = seconds_since_1970(200, 1)
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X, y)
    near_zero = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X - [1.7e9, 0], y)
    assert np.array_equal(model.predict(X_test), near_zero.predict(X_test - [1.7e9, 0]))
    assert model.score(X_test, y_test) > 0.9
    data = model.explain(X_test[:1])[0].data()
    assert data["query"]["x0"] == X_test[0, 0]
    for neighbour in data["neighbours"]["for"]:
        assert neighbour["values"]["x0"] == X[neighbour["rows"][0], 0]


def test_parameters_set_after_fit_change_no_answer_and_no_explanation():
    X, y = seconds_since_1970(300, 0)
    model = RECIPClassifier(random_state=0).fit(X, y)
    before, told = model.predict_proba(X), model.explain(X[:1])[0].data()
    model.set_params(estimate="distances", decide="vote", prior_weight=5.0)
    assert np.array_equal(model.predict_proba(X), before)
    assert model.explain(X[:1])[0].data() == told


def test_weights_that_add_up_to_one_are_told_of():
    X, y = seconds_since_1970(300, 0)
    with pytest.warns(UserWarning, match="multiply the weights"):
        RECIPClassifier(random_state=0).fit(X, y, np.full(300, 1 / 300))
