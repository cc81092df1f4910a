"""Reports on models of every family: whole, escaped, and with numbers that are right."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binomtest
from sklearn.base import is_regressor
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, root_mean_squared_error

from pages import read
from planewise import (
    AdditiveRegressor,
    DiscriminantFeatureTest,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.report import html, report
from planewise.table import TableModel

FAMILIES = {
    "tree": (SLMClassifier, {"random_state": 0}),
    "forest": (SLMForestClassifier, {"n_estimators": 5, "random_state": 0}),
    "boosting": (SLMBoostClassifier, {"n_estimators": 5, "random_state": 0}),
    "machine": (MCMClassifier, {"probability": True, "random_state": 0}),
    "machine without probabilities": (MCMClassifier, {}),
    "duels": (MCMClassifier, {"multi_class": "ovo"}),
    "linear machine": (MCMClassifier, {"kernel": "linear"}),
    "search": (MCMClassifierCV, {"mus": [0.1], "gammas": [0.1], "cv": 2, "n_repeats": 1, "random_state": 0}),
    "large machine": (LargeScaleMCMClassifier, {"n_components": 10, "max_iter": 5, "random_state": 0}),
    "views": (RECIPClassifier, {"max_projections": 3, "random_state": 0}),
    "tree of numbers": (SLMRegressor, {"random_state": 0}),
    "forest of numbers": (SLMForestRegressor, {"n_estimators": 5, "random_state": 0}),
    "boosting of numbers": (SLMBoostRegressor, {"n_estimators": 5, "random_state": 0}),
    "machine of numbers": (MCMRegressor, {}),
    "search of numbers": (MCMRegressorCV, {"mus": [0.1], "gammas": [0.1], "cv": 2, "random_state": 0}),
    "views of numbers": (AdditiveRegressor, {"max_views": 3, "n_estimators": 5, "cv": 2, "random_state": 0}),
}


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """What is tested is not how sharp they are."""
    monkeypatch.setattr(html, "DPI", 40)


def wine(n_columns=6):
    data = load_wine()
    y = data.target_names[data.target]
    X = data.data[:, :n_columns]
    return X[::2], y[::2], X[1::2], y[1::2]


def diabetes():
    data = load_diabetes()
    return data.data[:150], data.target[:150], data.data[150:300], data.target[150:300]


def rows_for(make):
    return diabetes() if is_regressor(make()) else wine()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_report(family, tmp_path):
    make, settings = FAMILIES[family]
    X, y, X_new, y_new = rows_for(make)
    model = make(**settings).fit(X, y)
    page = report(model, X_new, y_new, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    found = read(page)
    assert found.headings[0] == make.__name__ and {"Quality", "Worst mistakes", "Parameters"} <= set(found.headings)
    wrong = [each for each in found.headings if each.startswith("Row ")]
    assert wrong and len(wrong) <= 5
    if not is_regressor(model):
        accuracy = accuracy_score(y_new, model.predict(X_new))
        assert found.row("accuracy")[1].startswith(f"{100 * accuracy:.1f}%")
        assert ("no probabilities" in found.text) == (not hasattr(model, "predict_proba"))
    assert plt.get_fignums() == []


def test_measures_of_classes_are_those_of_scikit_learn():
    X, y, X_new, y_new = wine()
    model = SLMForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    found = read(report(model, X_new, y_new))
    hit = model.predict(X_new) == y_new
    bounds = binomtest(int(hit.sum()), len(hit)).proportion_ci(method="wilson")
    assert found.row("accuracy")[1] == f"{100 * hit.mean():.1f}% ({100 * bounds.low:.1f} to {100 * bounds.high:.1f})"
    commonest = np.mean(y_new == pd.Series(y_new).mode()[0])
    assert found.row("accuracy")[2].startswith(f"{100 * commonest:.1f}%")
    recall = balanced_accuracy_score(y_new, model.predict(X_new))
    assert found.row("balanced accuracy")[1].startswith(f"{100 * recall:.1f}%")
    chance = model.predict_proba(X_new).astype(float)
    loss = log_loss(y_new, chance / chance.sum(axis=1, keepdims=True))
    assert found.row("log loss")[1].startswith(f"{loss:.4g} (")


def test_measures_of_numbers_are_those_of_scikit_learn():
    X, y, X_new, y_new = diabetes()
    model = SLMBoostRegressor(n_estimators=20, random_state=0).fit(X, y)
    found, answer = read(report(model, X_new, y_new)), model.predict(X_new)
    assert found.row("RMSE")[1].startswith(f"{root_mean_squared_error(y_new, answer):.4g} (")
    assert found.row("RMSE")[2].startswith(f"{y_new.std():.4g} (")
    assert found.row("R²")[1].startswith(f"{r2_score(y_new, answer):.4g} (")
    worst = np.abs(answer - y_new).argmax()
    first = next(each for each in found.headings if each.startswith("Row "))
    assert first.startswith(f"Row {worst}: {answer[worst]:.4g} instead of {y_new[worst]:.4g}")


HOSTILE = ["<script>alert(1)</script>", 'a"onload="x', "</td></table>", "‮evil\x00", "שלום", "$x_1^$"]


@pytest.mark.parametrize("family", ["tree", "forest", "machine", "views"])
def test_nothing_in_the_data_acts_on_the_page(family):
    make, settings = FAMILIES[family]
    X, y, X_new, y_new = (np.asarray(each) for each in wine())
    labels = {"class_0": "<b>no</b>", "class_1": "a & </p>", "class_2": "<img src=x onerror=y>"}
    y, y_new = (np.array([labels[each] for each in part]) for part in (y, y_new))
    frame, new = (pd.DataFrame(part, columns=HOSTILE) for part in (X, X_new))
    page = report(make(**settings).fit(frame, y), new, y_new, title="<i>title</i>")
    found = read(page)
    for bad in ("<b>", "<img src=x", "<i>", "‮", "\x00"):
        assert bad not in page
    assert found.headings[0] == "<i>title</i>" and "<b>no</b>" in found.text
    assert any(name in found.text for name in HOSTILE)


def test_a_huge_and_a_broken_text_are_shown_short():
    X, y, *_ = wine(2)
    huge = "x" * 1_000_000
    frame = pd.DataFrame({"a": X[:, 0], "word": pd.Categorical([huge if each == "class_0" else "short" for each in y])})
    truth = np.where(y == "class_1", "half \ud800", y)
    wrong = np.where(np.arange(len(y)) % 7 == 0, "class_2", truth)
    page = report(SLMForestClassifier(n_estimators=3, random_state=0).fit(frame, truth), frame, wrong)
    read(page)
    assert len(page.encode("utf-8")) < 2_000_000 and "xxx…" in page and r"half \ud800" in page


def test_categories_gaps_and_two_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=120), "town": pd.Categorical(rng.choice(["Ulm", "Bonn"], 120))})
    frame.loc[::9, "size"] = np.nan
    frame.loc[::11, "town"] = None
    y = np.where((frame["size"].fillna(0) > 0) ^ (frame["town"] == "Ulm"), "yes", "no")
    y[::10] = "no"
    for family in ("tree", "boosting", "views"):
        make, settings = FAMILIES[family]
        read(report(make(**settings).fit(frame, y), frame, y))
    X, y, X_new, y_new = wine(2)
    page = read(report(SLMClassifier(random_state=0).fit(X, y), X_new, y_new))
    assert any("plane of the two columns" in (value or "") for _, name, value in page.attributes if name == "alt")


def test_a_model_of_a_table_finds_its_target():
    X, y, X_new, y_new = wine(3)
    table, new = (pl.DataFrame(dict(zip("abc", rows.T, strict=True))) for rows in (X, X_new))
    table, new = table.with_columns(kind=pl.Series(y.tolist())), new.with_columns(kind=pl.Series(y_new.tolist()))
    model = TableModel("tree", random_state=0).fit(table, "kind")
    assert report(model, new) == report(model, new.drop("kind"), y_new)
    with pytest.raises(ValueError, match="no column 'kind'"):
        report(model, new.drop("kind"))


@pytest.mark.parametrize("family", ["tree", "boosting", "recip"])
def test_a_model_of_a_table_is_described_and_its_mistakes_explained_by_the_table(family):
    rng = np.random.default_rng(0)
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, 90).astype("timedelta64[D]")
    late = (day > np.datetime64("2021-01-01")) ^ (rng.random(90) < 0.2)
    table = pl.DataFrame({"day": day, "age": rng.integers(18, 80, 90), "late": late})
    table = table.with_columns(late=pl.when(pl.int_range(pl.len()) > 2).then(pl.col("late")))
    model = TableModel(family, random_state=0).fit(table[:50], "late")
    page = read(report(model, table[:3].vstack(table[50:])))
    assert "Columns" in page.headings and page.text.count("target") and ["day", "date"] in page.rows
    assert "3 rows without a target were left out." in page.text
    mistakes = [int(each.split(":")[0].removeprefix("Row ")) for each in page.headings if each.startswith("Row ")]
    assert mistakes
    if family == "boosting":
        days = [row[1] for row in page.rows if row[0] == "day" and row[1] != "date" and "%" not in row[1]]
        given = table[:3].vstack(table[50:])
        assert days == [str(given["day"][row]) for row in mistakes]


def test_training_rows_are_for_measuring():
    X, y, *_ = wine(2)
    with pytest.raises(ValueError, match="pass X too"):
        report(SLMClassifier(random_state=0).fit(X, y), X_train=X, y_train=y)


def test_mistakes_of_views_are_drawn_with_their_nearest_rows():
    X, y, X_new, y_new = wine(4)
    model = RECIPClassifier(projections=[(0, 1), (2, 3), (1,)], random_state=0).fit(X, y)
    page = report(model, X_new, y_new)
    found = read(page)
    mistakes = [each for each in found.headings if each.startswith("Row ")]
    assert len(mistakes) > 1
    assert page.count("The row (star) in its view") == 2 * len(mistakes)  # as text and for those who do not see it
    assert sum(row[0] == "this row" for row in found.rows if row) == len(mistakes)


def test_training_rows_are_called_by_their_numbers_in_the_table_of_the_fit():
    """Some had no target and were left out: those after them keep their numbers."""
    X, y, X_new, y_new = wine(4)
    table, new = (pl.DataFrame(dict(zip("abcd", rows.T, strict=True))) for rows in (X, X_new))
    target = [None if row % 3 == 0 else str(label) for row, label in enumerate(y)]
    model = TableModel("recip", settings={"max_projections": 2}, random_state=0)
    model.fit(table.with_columns(kind=pl.Series(target)), "kind")
    page = report(model, new, y_new)
    tables = re.findall(r'aria-label="The nearest training rows">.*?</table>', page, re.S)
    named = {int(row) for each in tables for row in re.findall(r'<tr><td class="\w+" dir="auto">(\d+)<', each)}
    assert len(named) > 10 and all(row % 3 for row in named) and max(named) > 2 * len(y) // 3


def test_a_model_that_is_always_right_has_no_mistakes():
    X, y, *_ = wine(2)
    model = SLMClassifier(random_state=0).fit(X, y)
    page = read(report(model, X, model.predict(X)))
    assert "Every row is predicted correctly." in page.text
    assert page.row("accuracy")[1].startswith("100.0% (")


def test_a_kernel_given_as_a_matrix_names_the_rows_that_decide():
    X, y, X_new, y_new = wine()
    centre, spread = X.mean(axis=0), X.std(axis=0)
    rows, new = (X - centre) / spread, (X_new - centre) / spread
    model = MCMClassifier(kernel="precomputed").fit(rows @ rows.T, y)
    found = read(report(model, new @ rows.T, y_new))
    shown = [cell.split()[-1] for row in found.rows for cell in row if cell.startswith("row of the kernel")]
    assert shown and {int(number) for number in shown} <= set(model.support_.tolist())


def test_one_class_and_one_row_are_no_obstacle():
    X, y, *_ = wine(3)
    alike = np.zeros(len(X))
    assert "Confusion" not in read(report(SLMClassifier(random_state=0).fit(X, alike), X, alike)).headings
    model = SLMClassifier(random_state=0).fit(X, y)
    other = next(each for each in model.classes_ if each != model.predict(X[:1])[0])
    assert read(report(model, X[:1], [other])).row("accuracy")[1].startswith("0% (0.0 to ")


def test_what_cannot_be_reported_is_refused():
    X, y, X_new, y_new = wine()
    model = SLMClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y is missing"):
        report(model, X_new)
    with pytest.raises(ValueError, match="one target for each of the 89 rows"):
        report(model, X_new, y_new[1:])
    with pytest.raises(ValueError, match="the label 'cider', which is not a class of the model"):
        report(model, X_new, np.where(y_new == "class_0", "cider", y_new))
    with pytest.raises(ValueError, match="one weight for each of the 89 rows"):
        report(model, X_new, y_new, sample_weight=[1.0])
    with pytest.raises(ValueError, match="not all of them 0"):
        report(model, X_new, y_new, sample_weight=np.zeros(89))
    with pytest.raises(TypeError, match="is a class"):
        report(SLMClassifier, X_new, y_new)
    with pytest.raises(TypeError, match="DiscriminantFeatureTest makes no predictions"):
        report(DiscriminantFeatureTest().fit(X, y), X_new, y_new)
