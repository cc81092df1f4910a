"""Estimators in notebooks: scikit-learn's diagram, and once fitted what was learned, escaped and small."""

from __future__ import annotations

import base64
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise
from pages import Balanced
from planewise import (
    AdditiveClassifier,
    AdditiveRegressor,
    ConformalKernel,
    DiscriminantFeatureTest,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMBoostRanker,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise._text import number

ESTIMATORS = [
    SLMClassifier(random_state=0),
    SLMRegressor(random_state=0),
    SLMForestClassifier(n_estimators=3, random_state=0),
    SLMForestRegressor(n_estimators=3, random_state=0),
    SLMBoostClassifier(n_estimators=3, random_state=0),
    SLMBoostRegressor(n_estimators=3, random_state=0),
    SLMBoostRanker(n_estimators=3, random_state=0),
    DiscriminantFeatureTest(),
    MCMClassifier(),
    MCMClassifier(kernel="linear"),
    MCMClassifierCV(n_repeats=1, cv=2, random_state=0),
    MCMRegressor(),
    MCMRegressorCV(cv=2, random_state=0),
    LargeScaleMCMClassifier(random_state=0),
    ConformalKernel(),
    RECIPClassifier(projections=[(0, 1), (2,)]),
    AdditiveClassifier(projections=[(0, 1), (2,)], n_estimators=3, cv=2, random_state=0),
    AdditiveRegressor(projections=[(0, 1), (2,)], n_estimators=3, cv=2, random_state=0),
]
NAMES = ["<script>alert(1)</script>", 'a" onload="x', "</svg>\u202e\x00", "n" * 10**6]
LABELS = np.array(["<img src=x onerror=alert(1)>", "שלום", "k" * 10**4], dtype=object)


@pytest.fixture(scope="module")
def table():
    iris = load_iris()
    rows = np.arange(0, 150, 2)
    return pd.DataFrame(iris.data[rows], columns=NAMES), iris.target[rows]


def _fitted(estimator, table):
    X, y = table
    if isinstance(estimator, SLMBoostRanker):
        return sklearn.clone(estimator).fit(X, y, group=[30, 45])
    numbers = getattr(estimator, "_estimator_type", None) == "regressor" or sklearn.base.is_regressor(estimator)
    return sklearn.clone(estimator).fit(X, y.astype(float) if numbers else LABELS[y].astype(str))


def _summary(model):
    whole = model._repr_html_()
    return whole[whole.index("<style>\n.planewise-view") :]


def _named(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'kernel', '')}"


def test_all_estimators_are_looked_at():
    known = {name for name in planewise.__all__ if isinstance(getattr(planewise, name), type)}
    assert {type(each).__name__ for each in ESTIMATORS} == known - {"ProjectionExplanation"}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=_named)
def test_what_was_learned_follows_the_diagram(estimator, table):
    model = _fitted(estimator, table)
    assert "sk-top-container" in model._repr_html_().partition(".planewise-view")[0]
    summary = _summary(model)
    assert model._repr_mimebundle_()["text/html"].endswith(summary)
    assert "could not be summarised" not in summary
    found = Balanced()
    found.feed(summary)
    found.close()
    assert found.open == [] and "columns" in found.text
    assert "<script" not in summary and summary.count("<img") == hasattr(model, "tree_")
    assert "\x00" not in summary and "\u202e" not in summary
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert len(summary) < 120_000
    summary.encode()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=_named)
def test_before_fit_there_is_the_diagram_alone(estimator):
    assert "planewise-view" not in estimator._repr_html_() and "sk-top-container" in estimator._repr_html_()


def test_the_display_setting_is_heeded(table):
    model = _fitted(SLMClassifier(random_state=0), table)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]
    assert hasattr(model, "_repr_html_")


def test_inside_of_a_pipeline_it_is_a_box_as_any_other(table):
    X, y = table
    pipeline = make_pipeline(StandardScaler(), SLMClassifier(random_state=0)).fit(X, y)
    page = pipeline._repr_html_()
    assert "SLMClassifier" in page and "planewise-view" not in page


def test_a_model_that_cannot_be_summed_up_says_so(table):
    model = _fitted(SLMClassifier(random_state=0), table)
    model.tree_ = "<b>no tree</b>"
    summary = _summary(model)
    assert "could not be summarised" in summary and "<b>no" not in summary


def test_vectors_views_and_importances_are_named():
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert "petal length (cm)" in _summary(SLMForestClassifier(n_estimators=3, random_state=0).fit(X, y))
    assert "<h4>Vectors</h4>" in _summary(MCMClassifier().fit(X, y))
    assert "<h4>Scores</h4>" in _summary(MCMClassifier(kernel="linear").fit(X, y))
    views = _summary(RECIPClassifier(projections=[(0, 1), (2, 3)]).fit(X, y))
    assert "petal length (cm) × petal width (cm)" in views and "decides" in views


def test_a_large_tree_is_folded():
    large = SLMRegressor(random_state=0).fit(*load_diabetes(return_X_y=True))
    n_nodes = len(large.tree_.plane_start) - 1
    picture = base64.b64decode(re.search(r'data:image/svg\+xml;base64,([^"]+)', _summary(large))[1]).decode()
    folded = [int(each) for each in re.findall(r">\+(\d+) nodes?<", picture)]
    assert folded and n_nodes - sum(folded) <= 15


def test_a_tree_of_one_leaf_is_drawn():
    assert "<img" in _summary(SLMRegressor().fit(np.zeros((5, 2)), np.ones(5)))


def test_a_feature_test_shows_its_losses_the_smallest_first():
    data = load_iris()
    X = pd.DataFrame(data.data, columns=["a", "b", "c", "d"])
    test = DiscriminantFeatureTest().fit(X, data.target)
    found = Balanced()
    found.feed(_summary(test))
    assert "The loss of the best split on each feature alone" in found.text
    for j, name in enumerate("abcd"):
        assert found.row(name)[1] == number(test.scores_[j])
    assert [row[0] for row in found.rows if row[0] in list("abcd")][-4:] == ["abcd"[j] for j in test.order_]
