"""One way to measure: scikit-learn's values, intervals that hold what they promise, and the same figures everywhere."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, mean_absolute_error, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from planewise import SLMBoostRegressor, SLMClassifier, SLMForestClassifier, SLMRegressor, load
from planewise.cli.app import app
from planewise.evaluate import calibration, evaluate, quality, worst_rows
from planewise.evaluate import measures as _measured
from planewise.evaluate.importance import leading_features
from planewise.evaluate.quality import MEASURES, measures
from planewise.report import report
from planewise.table import TableModel


def wine():
    data = load_wine()
    y = data.target_names[data.target]
    X = data.data[:, :6]
    return X[::2], y[::2], X[1::2], y[1::2]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2, :5], y[::2], X[1::2, :5], y[1::2]


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def test_measures_of_two_classes_are_those_of_scikit_learn():
    X, y, X_new, y_new = cancer()
    model = SLMForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    case = evaluate(model, X_new, y_new)
    found, answer, chance = measures(case), model.predict(X_new), model.predict_proba(X_new).astype(float)
    assert list(found) == ["accuracy", "balanced_accuracy", "log_loss", "roc_auc"]
    assert found["accuracy"].value == pytest.approx(accuracy_score(y_new, answer))
    assert found["balanced_accuracy"].value == pytest.approx(balanced_accuracy_score(y_new, answer))
    assert found["log_loss"].value == pytest.approx(log_loss(y_new, chance), rel=1e-4)
    assert found["roc_auc"].value == pytest.approx(roc_auc_score(y_new, chance[:, 1]))
    assert all(each.low < each.value < each.high for each in found.values())
    assert set(found) <= set(MEASURES)


@pytest.mark.parametrize("sure", [0.5, 1.5, 3.0])
def test_the_interval_of_an_auc_holds_what_it_promises(sure):
    """Of normal scores the true area is known; near 1, where usual intervals fail, few rows are enough."""
    rng, truth, inside = np.random.default_rng(0), norm.cdf(sure / np.sqrt(2)), 0
    positive = np.arange(90) < 30
    for _ in range(400):
        found = _measured.area(rng.normal(size=90) + sure * positive, positive, rng.uniform(0.8, 1.2, 90))
        inside += found.low <= truth <= found.high
    assert 0.92 < inside / 400 < 0.99, inside


def test_a_perfect_auc_has_an_interval_and_that_of_a_constant_none():
    positive, ones = np.arange(20) < 8, np.ones(20)
    perfect = _measured.area(positive.astype(float), positive, ones)
    assert perfect.value == perfect.high == 1 and 0.6 < perfect.low < 0.95
    worst = _measured.area(1 - positive.astype(float), positive, ones)
    assert worst.value == worst.low == 0 and worst.high == pytest.approx(1 - perfect.low)
    assert _measured.area(ones, positive, ones) == _measured.Measured(0.5, 0.5, 0.5)


def test_intervals_hold_what_they_promise():
    rng = np.random.default_rng(0)
    inside = {"share": 0, "mean": 0, "explained": 0}
    for _ in range(400):
        x, noise, weight = rng.normal(size=150), rng.normal(size=150), rng.uniform(0.5, 1.5, 150)
        found = {
            "share": (0.2, _measured.share(rng.random(150) < 0.2, weight)),
            "mean": (0.0, _measured.mean(noise, weight)),
            "explained": (0.5, _measured.explained(x + noise, x, weight)),
        }
        for name, (truth, each) in found.items():
            inside[name] += each.low <= truth <= each.high
    assert all(0.92 < count / 400 < 0.98 for count in inside.values()), inside


def test_weights_count_rows_and_zero_leaves_them_out():
    X, y, X_new, y_new = wine()
    model = SLMClassifier(random_state=0).fit(X, y)
    weight = np.where(np.arange(len(y_new)) % 3 == 0, 0.0, 1.0)
    weighted = evaluate(model, X_new, y_new, weight)
    kept = evaluate(model, X_new[weight > 0], y_new[weight > 0])
    assert quality(weighted).table() == quality(kept).table()
    assert quality(evaluate(model, X_new, y_new, 17 * weight)).table() == quality(weighted).table()
    assert calibration(weighted) == calibration(kept)
    assert worst_rows(weighted).size and (weight[worst_rows(weighted)] > 0).all()


def test_calibration_groups_every_row_once_and_compares_with_what_was_observed():
    X, y, X_new, y_new = wine()
    two, new = y == "class_0", y_new == "class_0"
    model = SLMForestClassifier(n_estimators=5, random_state=0).fit(X, two)
    found, chance = calibration(evaluate(model, X_new, new)), model.predict_proba(X_new)[:, 1]
    rows = [group.n_rows for group in found.groups]
    assert sum(rows) == len(new)
    order = np.argsort(chance, kind="stable")
    for part, group in zip(np.split(order, np.cumsum(rows)[:-1]), found.groups, strict=True):
        assert group.predicted == pytest.approx(chance[part].mean())
        assert group.observed.value == pytest.approx(new[part].mean())


def test_baselines_are_fitted_on_the_training_rows_where_these_are_given():
    X, y, X_new, y_new = wine()
    found = quality(evaluate(SLMClassifier(random_state=0).fit(X, y), X_new, y_new), X, y)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(X, y)
    constant = DummyClassifier(strategy="prior").fit(X, y)
    for name, model in (("logistic_regression", linear), ("most_common_class", constant)):
        assert found.found[name]["accuracy"].value == pytest.approx(model.score(X_new, y_new))
        loss = log_loss(y_new, model.predict_proba(X_new))
        assert found.found[name]["log_loss"].value == pytest.approx(loss, rel=1e-6)
    assert "The most common class and the logistic regression were fitted on the training rows." in found.note


def test_baselines_of_numbers_are_fitted_on_the_training_rows_too():
    X, y, X_new, y_new = diabetes()
    found = quality(evaluate(SLMBoostRegressor(n_estimators=5, random_state=0).fit(X, y), X_new, y_new), X, y)
    linear = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    assert found.found["ridge_regression"]["r2"].value == pytest.approx(linear.score(X_new, y_new))
    assert found.found["mean"]["mae"].value == pytest.approx(mean_absolute_error(y_new, np.full(len(y_new), y.mean())))


def test_without_training_rows_no_row_is_judged_by_a_baseline_that_was_fitted_on_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 55)), rng.integers(0, 2, 60)  # a line fits so many columns of noise without an error
    model = DummyClassifier().fit(X, y)
    assert LogisticRegression().fit(X, y).score(X, y) == 1
    found = quality(evaluate(model, X, y))
    assert (
        found.found["logistic_regression"]["accuracy"].low < 0.5 < found.found["logistic_regression"]["accuracy"].high
    )
    assert "five folds" in found.note


def test_categories_and_gaps_of_a_table_are_read_as_in_training():
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Ulm", "Köln"], 300)
    frame = pd.DataFrame({"town": pd.Categorical(town), "x": np.where(rng.random(300) < 0.2, np.nan, rng.random(300))})
    y = np.where(town == "Ulm", "a", "b")
    model = SLMClassifier(random_state=0).fit(frame[:200], y[:200])
    new = frame[200:].assign(town=pd.Categorical(["Rome", *town[201:]]))  # one that training has not seen
    found = quality(evaluate(model, new, y[200:]), frame[:200], y[:200])
    assert found.found["logistic_regression"]["accuracy"].value >= 0.98


@pytest.mark.parametrize(("target", "model"), [("kind", "tree"), ("kind", "kernel"), ("price", "boosting")])
def test_fit_and_report_state_the_same_figures_for_the_same_rows(target, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 3)).round(3)
    price = x[:, 0] - x[:, 1] + rng.normal(size=300)
    table = pl.DataFrame(dict(zip("abc", x.T, strict=True))).with_columns(
        pl.Series("price", price) if target == "price" else pl.Series("kind", np.where(price > 0, "up", "down"))
    )
    table.write_csv("t.csv")
    call = ["fit", "t.csv", "--target", target, "--model", model, "--out", "m.planewise"]
    small = ["--set", "mus=1", "--set", "gammas=0.1"] if model == "kernel" else []
    told = json.loads(CliRunner().invoke(app, [*call, *small, "--json"]).stdout)
    printed = CliRunner().invoke(app, [*call, *small, "--force"]).stdout

    from sklearn.model_selection import train_test_split

    strata = None if target == "price" else table[target].to_numpy()
    train, test = train_test_split(np.arange(300), test_size=0.2, random_state=0, stratify=strata)
    train.sort()
    test.sort()
    fitted = load("m.planewise")
    case = evaluate(fitted, table[test])
    found = quality(case)
    assert found.data()["model"] == told["quality"]["model"]
    page = re.sub(r"<[^>]+>", " ", report(fitted, table[test]))
    for _, own, *_ in found.table()[1]:
        assert own in page and own in printed
    beside = quality(case, table[train])
    assert beside.data() == told["quality"]
    page = re.sub(r"<[^>]+>", " ", report(fitted, table[test], X_train=table[train]))
    for row in beside.table()[1]:
        assert all(each in page and each in printed for each in row)
    assert beside.note in html.unescape(page)
    assert list(found.found) == list(beside.found)


def test_leading_features_by_importance_and_by_shuffling():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    table = pl.DataFrame({"useful": x[:, 0], "useless": x[:, 1], "y": np.where(x[:, 0] > 0, "a", "b")})
    for family, settings in (("tree", {}), ("kernel", {"mus": [1.0], "gammas": [0.1]})):
        model = TableModel(family, settings=settings, random_state=0).fit(table, "y")
        found = leading_features(model, table)
        assert next(iter(found)) == "useful" and found["useful"] > 0.7 and sum(found.values()) == pytest.approx(1)
    assert leading_features(model) == {}  # a machine says nothing without rows


def test_what_cannot_be_measured_is_refused():
    X, y, X_new, y_new = wine()
    model = SLMClassifier(random_state=0).fit(X, y)
    for call, words in (
        ((model, X_new), "y is missing"),
        ((model, X_new, y_new[1:]), "one target for each of the 89 rows"),
        ((model, X_new, np.where(y_new == "class_0", "cider", y_new)), "the label 'cider', which is not a class"),
        ((model, X_new, y_new, [1.0]), "one weight for each of the 89 rows"),
        ((model, X_new, y_new, np.zeros(89)), "not all of them 0"),
    ):
        with pytest.raises(ValueError, match=words):
            evaluate(*call)


def visits(n_rows=80):
    rng = np.random.default_rng(0)
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows).astype("timedelta64[D]")
    late = (day > np.datetime64("2021-01-01")) ^ (rng.random(n_rows) < 0.1)
    return pl.DataFrame({"day": day, "age": rng.integers(18, 80, n_rows), "late": np.where(late, "yes", "no")})


def test_rows_of_a_table_without_a_target_are_left_out_as_in_fit():
    table = visits()
    gaps = table.with_columns(
        late=pl.when(pl.int_range(pl.len()).is_in([0, 1, 5])).then(None).otherwise(pl.col("late"))
    )
    model = TableModel("tree", random_state=0).fit(gaps, "late")
    known = gaps.filter(pl.col("late").is_not_null())
    case, same = evaluate(model, gaps), evaluate(model, known)
    assert case.n_without_target == 3 and same.n_without_target == 0
    assert quality(case).data() == quality(same).data()
    assert "3 rows without a target were left out." in quality(case).note
    assert case.row_number.tolist() == [row for row in range(80) if row not in (0, 1, 5)]
    weight = np.arange(80.0)
    assert evaluate(model, gaps, sample_weight=weight).weight.tolist() == weight[case.row_number].tolist()
    assert quality(evaluate(model, known), gaps).data() == quality(evaluate(model, known), known).data()
    with pytest.raises(ValueError, match="'late' is missing in every row"):
        evaluate(model, gaps[:2])
    assert evaluate(model, known.filter(pl.col("late") == "yes")).target.tolist()  # one class is enough to measure


def test_a_table_model_that_is_not_fitted_cannot_be_measured():
    with pytest.raises(NotFittedError):
        evaluate(TableModel("tree"), visits())


def test_training_rows_and_their_targets_go_together():
    X, y, X_new, y_new = wine()
    case = evaluate(SLMClassifier(random_state=0).fit(X, y), X_new, y_new)
    with pytest.raises(ValueError, match="y_train is missing"):
        quality(case, X)
    with pytest.raises(ValueError, match="X_train is missing"):
        quality(case, y_train=y)
    with pytest.raises(ValueError, match="one target for each of the 89 rows"):
        quality(case, X, y[:5])


@pytest.mark.parametrize("measure", [quality, measures, calibration, worst_rows])
def test_a_model_is_not_an_evaluation(measure):
    words = rf"^{measure.__name__} takes what evaluate\(model, X, y\) returns; got SLMRegressor"
    with pytest.raises(TypeError, match=words):
        measure(SLMRegressor())
