"""Every estimator says what it learned: as text, as data, and shortly."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.datasets import load_diabetes, load_iris

import planewise as pw
from planewise.explain import Description
from planewise.explain.describe import Limits

SMALL = {"random_state": 0}
ESTIMATORS = [
    pw.SLMClassifier(**SMALL),
    pw.SLMRegressor(**SMALL),
    pw.SLMForestClassifier(n_estimators=3, **SMALL),
    pw.SLMForestRegressor(n_estimators=3, **SMALL),
    pw.SLMBoostClassifier(n_estimators=3, **SMALL),
    pw.SLMBoostRegressor(n_estimators=3, **SMALL),
    pw.SLMBoostRanker(n_estimators=3, **SMALL),
    pw.DiscriminantFeatureTest(),
    pw.MCMClassifier(),
    pw.MCMClassifierCV(mus=[1.0], gammas=[0.1], cv=2, n_repeats=1, **SMALL),
    pw.MCMRegressor(),
    pw.MCMRegressorCV(mus=[0.1], gammas=[0.1], cv=2, **SMALL),
    pw.LargeScaleMCMClassifier(**SMALL),
    pw.ConformalKernel(),
    pw.RECIPClassifier(**SMALL),
    pw.AdditiveClassifier(n_estimators=3, cv=2, **SMALL),
    pw.AdditiveRegressor(n_estimators=3, cv=2, **SMALL),
]
IRIS, DIABETES = load_iris(), load_diabetes()


def fitted(estimator):
    if isinstance(estimator, pw.SLMBoostRanker):
        return estimator.fit(IRIS.data, IRIS.target, qid=np.arange(150) % 10)
    if is_regressor(estimator):
        return estimator.fit(DIABETES.data[:100], DIABETES.target[:100])
    return estimator.fit(IRIS.data[::2], IRIS.target_names[IRIS.target[::2]])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_a_description_is_printed_as_text_and_is_ready_for_json(estimator):
    about = fitted(estimator).describe()
    assert isinstance(about, Description)
    assert str(about) == about.to_text() and str(about).startswith(type(estimator).__name__ + "\n")
    assert repr(about).startswith("<Description of ") and len(repr(about)) < 100
    data = json.loads(json.dumps(about.data(), allow_nan=False))
    assert list(data) == ["title", "facts", "sections"] and data["facts"] == dict(about.facts)
    for section in data["sections"]:
        assert section["heading"] in str(about)
        assert set(section) in ({"heading", "columns", "rows", "note"}, {"heading", "lines"})
    assert len(data["facts"]) >= 2 and [section["heading"] for section in data["sections"]] != ["Parameters"]


def test_every_estimator_is_described():
    known = {name for name in pw.__all__ if isinstance(getattr(pw, name), type)}
    assert {type(each).__name__ for each in ESTIMATORS} == known - {"ProjectionExplanation"}


def test_a_feature_test_tells_its_scores_in_their_order_and_what_it_keeps():
    test = pw.DiscriminantFeatureTest(n_features_to_select=2).fit(IRIS.data, IRIS.target)
    about = test.describe().data()
    assert about["facts"]["features kept"] == "2" and about["facts"]["elbow"] == f"keeps {test.elbow_}"
    rows = about["sections"][0]["rows"]
    assert [row[0] for row in rows] == [f"x{j}" for j in test.order_]
    assert [float(row[1]) for row in rows] == pytest.approx(np.sort(test.scores_), rel=1e-3)
    assert [row[3] for row in rows] == ["yes", "yes", "no", "no"]
    assert "1 feature more" in test.describe(Limits(max_columns=3)).to_text()


def test_weights_of_many_pairs_of_classes_are_summed_by_class():
    random = np.random.default_rng(0)
    label = np.repeat(["a", "b", "c", "d"], 15)
    X = random.normal(size=(60, 2)) + 2 * np.array([[0, 0], [0, 2], [2, 0], [2, 2]]).repeat(15, axis=0)
    machine = pw.MCMClassifier().fit(X, label)
    assert machine.dual_coef_.shape[0] == 6  # one machine per pair
    table = next(each for each in machine.describe(Limits()).sections if each.heading == "Vectors")
    assert table.columns[:4] == ["weight: a", "weight: b", "weight: c", "weight: d"]
    # What a pair gives to one class it takes from the other, up to the rounding of what is shown.
    shown = np.array([[float(each.replace("−", "-")) for each in row[:4]] for row in table.rows])
    assert len(shown) == len(machine.support_)
    np.testing.assert_allclose(shown.sum(axis=1), 0, atol=2e-3 * np.abs(shown).max())
    assert "sums over its machines" in table.note
