"""Target statistics of boosting: what takes the place of many categories, and that no row sees its own target."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plain_walk import assert_same_model, raw_scores
from sklearn.base import clone
from sklearn.metrics import log_loss

from planewise import SLMBoostClassifier, SLMBoostRegressor
from planewise.trees import target_statistics as statistics_module
from planewise.trees.arrays import tree_rows
from planewise.trees.target_statistics import N_FOLDS, PRIOR_ROWS, folds

law = settings(max_examples=5)

TASKS = ["two", "three", "numbers"]
ALL_TASKS = pytest.mark.parametrize("task", TASKS)


def towns(task="two", n=1200, n_towns=80, seed=0, missing=0.0, effect=1.5, noise=0.5):
    """A frame with a column of many categories that matter, between two of numbers, and a target."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, n_towns, n)
    size = rng.normal(size=n)
    score = effect * rng.normal(size=n_towns)[town] + size + noise * rng.normal(size=n)
    names = np.array([f"town {k}" for k in range(n_towns)], dtype=object)[town]
    names[rng.random(n) < missing] = None
    frame = pd.DataFrame({"size": size, "town": pd.Categorical(names), "noise": rng.normal(size=n)})
    y = {"two": np.where(score > 0, "yes", "no"), "three": np.digitize(score, [-1, 1]), "numbers": 10 + 3 * score}
    return frame, y[task]


def boosting(task, **parameters):
    make = SLMBoostRegressor if task == "numbers" else SLMBoostClassifier
    return make(**{"n_estimators": 12, "random_state": 0, **parameters})


def held_out_loss(model, X, y):
    if isinstance(model, SLMBoostRegressor):
        return np.mean((model.predict(X) - y) ** 2)
    return log_loss(y, model.predict_proba(X), labels=model.classes_)


# -------------------------------------------------------------------------------------------------- what they are worth
@ALL_TASKS
def test_many_categories_are_learned(task):
    X, y = towns(task, n=16000, n_towns=800, noise=2.0)
    learn = np.arange(len(y)) < 12000
    loss = {
        most: held_out_loss(
            boosting(task, n_estimators=60, target_statistics=most).fit(X[learn], y[learn]), X[~learn], y[~learn]
        )
        for most in ("auto", None)
    }
    assert loss["auto"] < 0.975 * loss[None]


@law
@given(seed=st.integers(0, 2**31 - 1))
def test_categories_without_meaning_do_no_harm(seed):
    rng = np.random.default_rng(seed)
    X, y = towns("two", n=3000, seed=seed, effect=0.0)
    learn = np.arange(len(y)) < 1500
    X["town"] = pd.Categorical(rng.integers(0, 300, len(y)).astype(str))
    with_them = boosting("two", n_estimators=50).fit(X[learn], y[learn])
    without = boosting("two", n_estimators=50).fit(X.drop(columns="town")[learn], y[learn])
    loss = held_out_loss(with_them, X[~learn], y[~learn])
    assert loss < held_out_loss(without, X.drop(columns="town")[~learn], y[~learn]) + 0.02
    assert with_them.feature_importances_[1] < 0.1


@ALL_TASKS
def test_a_column_of_identifiers_is_not_used(task):
    X, y = towns(task, effect=0.0)
    learn = np.arange(len(y)) < 800
    X["town"] = pd.Categorical([f"id {k}" for k in range(len(y))])
    model, without = (boosting(task, target_statistics=most).fit(X[learn], y[learn]) for most in ("auto", None))
    assert list(model.target_statistics_) == [1]
    assert model.feature_importances_[1] == 0
    loss, other = (held_out_loss(each, X[~learn], y[~learn]) for each in (model, without))
    assert loss < 1.05 * other  # other planes are drawn where there is one column more


# ----------------------------------------------------------------------------------------------------- what they are
def plain_statistics(category, told, weight, others_than=None):
    """Row by row: the mean target of each row's category, shrunk; of the rows of other folds, where folds are given."""
    prior = np.average(told, weights=weight)
    strength = PRIOR_ROWS * min(1.0, weight.mean())
    out = np.full(len(category), np.nan)
    for row, own in enumerate(category):
        if own is None or own != own:
            continue
        alike = np.array([each == own for each in category])
        if others_than is not None:
            alike &= others_than != others_than[row]
        out[row] = (weight[alike] @ told[alike] + strength * prior) / (weight[alike].sum() + strength)
    return out


@pytest.mark.parametrize("weights", ["none", "large", "small"])
@ALL_TASKS
def test_they_are_shrunk_means_of_the_other_folds(task, weights, monkeypatch):
    X, y = towns(task, n=300, n_towns=60, missing=0.1)
    weight = np.random.default_rng(3).uniform(0.5, 3, len(y)) * {"none": 1, "large": 10, "small": 1e-6}[weights]
    if weights == "none":
        weight = np.ones(len(y))
    read = []
    learn = statistics_module.training_rows_with_statistics
    monkeypatch.setattr(
        "planewise.trees.boosting.training_rows_with_statistics", lambda *given: read.append(learn(*given)) or read[-1]
    )
    model = boosting(task, n_estimators=2).fit(X, y, sample_weight=weight)
    of_class = {"two": ["yes"], "three": [0, 1, 2]}.get(task)
    told = [y] if of_class is None else [(y == label).astype(float) for label in of_class]
    town = X["town"].astype(object).to_numpy()
    fold = folds(len(y), model._seed)
    assert read[0].shape == (len(y), 3 + len(told))
    code = X["town"].cat.codes.to_numpy(np.float32)
    assert_array_equal(read[0][:, 1], np.where(code < 0, np.nan, code))
    assert_array_equal(read[0][:, [0, 2]], X[["size", "noise"]].to_numpy(np.float32))
    for column, each in enumerate(told, start=3):
        assert_allclose(read[0][:, column], plain_statistics(town, each, weight, fold), rtol=1e-5)
        assert_allclose(tree_rows(model, X)[:, column], plain_statistics(town, each, weight), rtol=1e-5)


def test_folds_are_even_and_are_no_stream_of_numpy():
    of_seed = [folds(20_000, seed) for seed in range(6)]
    for number, fold in enumerate(of_seed):
        assert_allclose(np.bincount(fold, minlength=N_FOLDS) / len(fold), 1 / N_FOLDS, atol=0.015)
        streams = [np.random.default_rng(number).integers(0, N_FOLDS, 20_000), np.arange(20_000) % N_FOLDS]
        for other in [*streams, np.roll(fold, 1), *of_seed[:number]]:
            assert abs((fold == other).mean() - 1 / N_FOLDS) < 0.015


def test_which_columns_get_them():
    X, y = towns(n_towns=60)
    X["town 2"] = pd.Categorical(np.arange(len(y)) % 50)
    assert list(boosting("two").fit(X, y).target_statistics_) == [1]
    assert list(boosting("two", target_statistics=49).fit(X, y).target_statistics_) == [1, 3]
    assert list(boosting("two", target_statistics=60).fit(X, y).target_statistics_) == []
    assert list(boosting("two", target_statistics=None).fit(X, y).target_statistics_) == []
    few = boosting("two", target_statistics=0).fit(X[["town 2", "size"]], y)
    assert list(few.target_statistics_) == [0]


def test_only_the_most_frequent_of_many_classes_have_one():
    X, _ = towns()
    y = np.random.default_rng(0).choice(10, len(X), p=[0.02, 0.08, *[0.9 / 7] * 7, 0.0]) + 5
    known = boosting("two", n_estimators=2).fit(X, y).target_statistics_[1]
    assert known.classes.tolist() == list(range(1, 9))
    assert known.values.shape == (80, 8)
    y[:200] = 14  # now the ninth, at the end
    known = boosting("two", n_estimators=2).fit(X, y).target_statistics_[1]
    assert known.classes.tolist() == list(range(2, 10))


@pytest.mark.parametrize("wrong", [-1, 2.5, "often", True])
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ValueError, match="target_statistics"):
        boosting("two", target_statistics=wrong).fit(*towns())


def test_other_columns_can_be_monotone_but_not_a_categorical_one():
    X, y = towns("numbers")
    model = boosting("numbers", monotonic_cst={"size": 1}).fit(X, y)
    lower, higher = X.assign(size=X["size"] - 1), X.assign(size=X["size"] + 1)
    assert (model.predict(lower) <= model.predict(higher)).all()
    with pytest.raises(ValueError, match="monotonic_cst constrains column 'town', which is categorical"):
        boosting("two", monotonic_cst=[0, 1, 0]).fit(*towns())


def test_huge_targets_do_not_overflow():
    X, y = towns("numbers")
    model = boosting("numbers").fit(X, y * 1e35)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.target_statistics_[1].values).all()


# --------------------------------------------------------------------------------------------------- how rows are read
@ALL_TASKS
def test_predictions_are_those_of_a_plain_walk(task):
    X, y = towns(task, missing=0.1)
    model = boosting(task).fit(X, y)
    assert_allclose(model._raw(X), raw_scores(model, tree_rows(model, X)), rtol=1e-12)


@ALL_TASKS
def test_an_unseen_category_has_the_prior_and_a_missing_one_is_missing(task):
    X, y = towns(task, missing=0.1)
    model = boosting(task).fit(X, y)
    known = model.target_statistics_[1]
    new, gone = X.assign(town=pd.Categorical(["nowhere"] * len(X))), X.assign(town=pd.Categorical([None] * len(X)))
    assert_array_equal(tree_rows(model, new)[:, 3:], np.tile(known.prior, (len(X), 1)))
    assert np.isnan(tree_rows(model, gone)[:, [1, *range(3, 3 + known.n_statistics)]]).all()
    assert np.isfinite(model._raw(new)).all() and np.isfinite(model._raw(gone)).all()


def test_all_kinds_of_tables_give_the_same_model():
    X, y = towns(missing=0.05)
    model = boosting("two").fit(X, y)
    as_polars = pl.from_pandas(X.astype({"town": object})).with_columns(pl.col("town").cast(pl.Categorical))
    assert_same_model(model, boosting("two").fit(as_polars, y))
    as_text = X.astype({"town": object})
    assert_same_model(model, boosting("two", categorical_features=["town"]).fit(as_text, y))
    assert_array_equal(model.predict_proba(as_polars), model.predict_proba(X))
    numbered = np.column_stack([X["size"], X["town"].cat.codes, X["noise"]])
    numbered[numbered[:, 1] < 0, 1] = np.nan
    in_array = boosting("two", categorical_features=[1]).fit(numbered, y)
    assert_array_equal(in_array.predict_proba(numbered), model.predict_proba(X))


@ALL_TASKS
def test_contributions_and_importances_are_those_of_the_columns(task):
    X, y = towns(task, missing=0.1)
    model = boosting(task).fit(X, y)
    parts, raw = model.predict_contributions(X[:100]), model._raw(X[:100])
    assert parts.shape[-1] == 4
    assert_allclose(parts.sum(axis=-1).reshape(raw.shape), raw, atol=1e-9)
    for kind in ("gain", "split", "cover"):
        shares = model.get_feature_importances(kind)
        assert shares.shape == (3,)
        assert_allclose(shares.sum(), 1)
    assert model.feature_importances_[1] > 0.3
    assert len(model.feature_means_) == 3 + model.target_statistics_[1].n_statistics
    assert_allclose(model.feature_means_[3:], model.target_statistics_[1].prior, rtol=0.1)


# -------------------------------------------------------------------------------------------------- the same every time
@ALL_TASKS
def test_the_same_model_for_any_number_of_threads(task):
    X, y = towns(task, missing=0.1)
    one, many = (boosting(task, n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    assert_same_model(one, many)
    assert one.target_statistics_[1].values.tobytes() == many.target_statistics_[1].values.tobytes()
    assert_same_model(one, clone(one).fit(X, y))


@ALL_TASKS
def test_a_weight_of_zero_is_as_if_the_row_was_not_there(task):
    X, y = towns(task)
    kept = np.arange(len(y)) % 3 > 0
    left_out = boosting(task).fit(X, np.where(kept, y, y[0]), sample_weight=kept.astype(float))
    without = boosting(task).fit(X[kept], y[kept])
    assert_array_equal(left_out._raw(X), without._raw(X))


def test_zero_weights_do_not_make_a_column_one_of_many_categories():
    X, y = towns(n_towns=40)
    X["town"] = X["town"].astype(object)
    X.loc[:199, "town"] = [f"elsewhere {k}" for k in range(200)]
    X["town"] = X["town"].astype("category")
    assert boosting("two").fit(X, y, sample_weight=np.arange(len(y)) >= 200).target_statistics_ == {}


@pytest.mark.parametrize("early_stopping", [False, True])
@ALL_TASKS
def test_a_warm_start_gives_the_model_of_one_fit(task, early_stopping):
    X, y = towns(task, missing=0.1)
    parameters = {"early_stopping": early_stopping, "n_iter_no_change": 30, "warm_start": True}
    in_one = boosting(task, **parameters).fit(X, y)
    in_two = boosting(task, **parameters).set_params(n_estimators=5).fit(X, y).set_params(n_estimators=12).fit(X, y)
    assert_same_model(in_one, in_two)
    assert_array_equal(in_one.feature_means_, in_two.feature_means_)


def test_a_warm_start_on_other_rows_keeps_the_tables():
    X, y = towns(n=2000)
    first, second = np.arange(2000) < 1000, np.arange(2000) >= 1000
    model = boosting("two", n_estimators=5, warm_start=True).fit(X[first], y[first])
    tables = model.target_statistics_
    model.set_params(n_estimators=10, target_statistics=None).fit(X[second], y[second])
    assert model.target_statistics_ is tables
    assert model.n_iter_ == 10


def test_a_warm_start_on_other_rows_reads_them_as_prediction_will():
    """Statistics of the new targets would be other numbers than those that prediction uses."""
    X, y = towns("numbers", n=4000)
    first, second = np.arange(4000) < 2000, np.arange(4000) >= 2000
    model = boosting("numbers", n_estimators=40, warm_start=True).fit(X[first], y[first])
    model.set_params(n_estimators=80).fit(X[second], y[second] + 10)
    new, target = towns("numbers", n=4000)
    assert model.score(new, target + 10) > 0.9


def test_validation_rows_are_read_as_new_rows_are():
    X, y = towns(n=2000)
    learn = np.arange(2000) < 1500
    model = boosting("two").fit(X[learn], y[learn], X_val=X[~learn], y_val=y[~learn])
    assert_allclose(-model.validation_score_[-1], held_out_loss(model, X[~learn], y[~learn]), rtol=1e-6)
    stopped = boosting("two", early_stopping=True, n_iter_no_change=30).fit(X, y)
    assert -stopped.validation_score_[-1] < 0.69


def test_copies_and_pickles_say_the_same():
    X, y = towns("three")
    model = boosting("three").fit(X, y)
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        with pytest.raises(ValueError, match="read-only"):
            other.target_statistics_[1].values[0] = 0


def test_one_class_needs_none():
    X, y = towns()
    model = boosting("two").fit(X, np.full(len(y), "all"))
    assert model.target_statistics_ == {}
    assert_array_equal(model.predict(X), np.full(len(y), "all"))


# ------------------------------------------------------------------------------------------------------------ in words
def test_an_explanation_says_what_is_read_in_place_of_the_category():
    X, y = towns()
    model = boosting("two").fit(X, y)
    reason = model.explain(X[:1])[0]
    town = next(part for part in reason.parts if part.column == "town")
    assert town.value == X["town"].iloc[0]
    share = tree_rows(model, X[:1])[0, 3]
    assert town.in_words() == f"town is {town.value} (share of 'yes' {share:.4g})"
    assert town.in_words().removeprefix("town is ") in reason.to_text()
    assert town.data()["target_statistic"] == {"name": "share of 'yes'", "value": float(share)}
    new = X[:1].assign(town=pd.Categorical(["nowhere"]))
    town = next(part for part in model.explain(new)[0].parts if part.column == "town")
    assert town.in_words().startswith("town is nowhere (new category, share of 'yes' 0.")
    gone = X[:1].assign(town=pd.Categorical([None]))
    town = next(part for part in model.explain(gone)[0].parts if part.column == "town")
    assert town.in_words() == "town is missing"


def test_an_explanation_of_many_classes_has_the_share_of_the_predicted_one():
    X, y = towns("three")
    model = boosting("three").fit(X, y)
    for reason in model.explain(X[:5]):
        town = next(part for part in reason.parts if part.column == "town")
        assert town.statistic.name == f"share of class {reason.prediction}"


@pytest.mark.parametrize(
    ("task", "words"),
    [("two", "town (share of 'yes')"), ("three", "(share of class 2)"), ("numbers", "(mean of target)")],
)
def test_planes_name_the_statistic(task, words):
    X, y = towns(task)
    model = boosting(task).fit(X, y)
    assert words in str(model.describe())
