"""Public objects as the last line of a notebook's cell: one line that says what they are, whatever they hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer

import planewise as pw
from planewise.evaluate import calibration, evaluate, quality
from planewise.table import TableModel


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def tree(data):
    return pw.SLMClassifier(random_state=0).fit(*data)


def in_one_line(thing, longest=120):
    line = repr(thing)
    assert len(line) <= longest
    assert line.isprintable()
    assert line.startswith(f"<{type(thing).__name__}: ")
    assert "array(" not in line
    return line


def many_cities(n_rows=400, n_cities=80):
    city = np.arange(n_rows) % n_cities
    return pl.DataFrame({"city": [f"city {k}" for k in city], "size": np.arange(n_rows) / 7, "buys": city % 2 == 0})


@pytest.mark.parametrize(
    "estimator",
    [
        pw.SLMClassifier(random_state=0),
        pw.SLMForestClassifier(n_estimators=3, random_state=0),
        pw.SLMBoostClassifier(n_estimators=3, random_state=0),
        pw.MCMClassifier(random_state=0),
        pw.MCMClassifierCV(gammas=[0.01], mus=[1.0], cv=2),
        pw.MCMRegressorCV(gammas=[0.01], mus=[0.01], cv=2),
        pw.LargeScaleMCMClassifier(random_state=0),
        pw.RECIPClassifier(max_projections=1, random_state=0),
        pw.ConformalKernel(),
        pw.DiscriminantFeatureTest(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_fitted_estimator_shows_its_parameters_only(estimator, data):
    X, y = data
    before = repr(estimator)
    assert repr(estimator.fit(X[::4], y[::4])) == before
    assert len(before) < 120


def test_trees_and_forests(data, tree):
    assert in_one_line(tree.tree_) == f"<Forest: n_planes={tree.n_planes_}, n_leaves={tree.get_n_leaves()}>"
    forest = pw.SLMForestClassifier(n_estimators=5, random_state=0).fit(*data)
    assert "n_trees=5, " in in_one_line(forest.forest_)


def test_what_boosting_keeps():
    table = many_cities().to_pandas().astype({"city": "category"})
    boost = pw.SLMBoostClassifier(n_estimators=3, random_state=0).fit(table[["city", "size"]], table["buys"])
    assert repr(boost.target_statistics_) == "{0: <TargetStatistics: 80 categories, 1 share>}"
    boost = pw.SLMBoostRegressor(n_estimators=3, random_state=0).fit(table[["city", "size"]], table["buys"] * 1.5)
    assert repr(boost.target_statistics_) == "{0: <TargetStatistics: 80 categories, mean of target>}"
    in_one_line(boost._trials)


def test_tables():
    model = TableModel("boosting", settings={"n_estimators": 3}, random_state=0).fit(many_cities(), "buys")
    assert repr(model) == "TableModel(random_state=0, settings={'n_estimators': 3})"
    assert repr(model.columns_) == "[<Column: city, categorical>, <Column: size, numeric>]"
    gaps = many_cities().with_columns(pl.when(pl.col("size") > 3).then("size").alias("a\n" * 500)).drop("size")
    model.fit(gaps, "buys")
    assert in_one_line(model.columns_[1]).endswith("numeric, with missing values>")


def test_reasons_and_what_they_are_made_of(data, tree):
    X, y = data
    machine = pw.MCMClassifier(mu=10.0).fit(X, y)
    views = pw.RECIPClassifier(random_state=0).fit(X, y)
    boost = pw.SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    for model in (tree, boost, machine, views):
        reason = model.explain(X[:1])[0]
        assert in_one_line(reason, 400) == f"<{type(reason).__name__}: {reason.sentence()}>"
    assert "30 columns" in in_one_line(machine.explain(X[:1])[0].vectors[0])
    assert in_one_line(views.fitted_rows()) == "<FittedRows: 569 distinct rows of 569, 30 features>"


def test_long_names_and_control_characters_do_not_fill_the_screen():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a\n\x1b[31m" * 200, "b" * 3000])
    boost = pw.SLMBoostRegressor(n_estimators=3, random_state=0).fit(X, X.sum(axis=1))
    in_one_line(boost.explain(X[:1])[0], 400)


def test_descriptions_and_their_sections(tree):
    about = tree.describe()
    assert repr(about) == "<Description of SLMClassifier: 6 facts, 3 sections>"
    for section in about.sections:
        assert section.heading in in_one_line(section)


def test_evaluations(data, tree):
    X, y = data
    case = evaluate(tree, X, y)
    assert in_one_line(case) == "<Evaluation: SLMClassifier, 569 rows>"
    found = quality(case)
    assert in_one_line(found).startswith("<Quality: accuracy 97")
    assert in_one_line(found).endswith("beside most common class, logistic regression>")
    judged = calibration(case)
    assert f"{len(judged.groups)} groups" in in_one_line(judged)
