"""Explanations in notebooks: whole, escaped, and with styles that reach nothing else."""

from __future__ import annotations

import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from pages import read
from planewise import AdditiveRegressor, RECIPClassifier

NAMES = ["<script>alert(1)</script>", 'a"b', "</svg>", "d & e"]


@pytest.fixture(scope="module")
def explanations():
    iris = load_iris()
    labels = np.array(["<b>one</b>", "two", "three & more"])[iris.target]
    model = RECIPClassifier(projections=[(0, 3), (2, 3), (1,)], random_state=0)
    model.fit(pd.DataFrame(iris.data[1::2], columns=NAMES), labels[1::2])
    return model.explain(pd.DataFrame(iris.data[::2], columns=NAMES), units={NAMES[0]: "<cm>"})


def test_every_explanation_is_whole_and_escaped(explanations):
    for each in explanations[::9]:
        page = each._repr_html_()
        found = read(page)
        assert "<b>one" not in page and "<cm>" not in page and each.to_text() in found.text
        nearest = min((n for side in each.neighbours.values() for n in side), key=lambda n: n["distance"])
        own, first = found.rows[1:3]
        assert own[:2] == ["this row", str(each.prediction)]
        assert first[:2] == [", ".join(map(str, nearest["rows"])), nearest["label"]]
        assert float(first[2]) == pytest.approx(nearest["distance"], rel=0.01)


def test_what_an_output_holds_is_bound_to_it(explanations):
    one, again = (explanations[0]._repr_html_() for _ in range(2))
    assert one == again
    assert not re.findall(r'\b(?:id|name)="', one)  # several may be shown on one page
    assert one.count("<style>") == one.count('class="planewise-view"') == one.count("<img ") == 1
    assert len(one) < 400_000


def test_a_notebook_without_matplotlib_shows_text_and_tables(explanations, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    found = read(explanations[0]._repr_html_())
    assert explanations[0].to_text() in found.text and found.rows[1][0] == "this row"
    assert "img" not in {tag for tag, *_ in found.attributes}


def test_no_figure_stays_open(explanations):
    before = plt.get_fignums()
    explanations[0]._repr_html_()
    assert plt.get_fignums() == before


def test_numbers_and_cases_no_view_can_judge():
    data = load_diabetes()
    model = AdditiveRegressor(max_views=2, n_estimators=5, cv=2, random_state=0).fit(data.data[:150], data.target[:150])
    each = model.explain(data.data[150:151])[0]
    assert each.to_text() in read(each._repr_html_()).text
    iris = load_iris()
    blank = RECIPClassifier(max_projections=2, random_state=0).fit(iris.data, iris.target).explain([[np.nan] * 4])[0]
    assert blank.view is None
    page = blank._repr_html_()
    assert read(page).rows == [] and "no view can judge it" in page


def test_an_explanation_stays_true_when_the_model_is_fitted_again():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    model = RECIPClassifier(projections=[(0, 1), (2,)], random_state=0).fit(X, y)
    old, same = model.explain(X[:1])[0], model.explain(X[:1])[0]
    said = same.data(), same._repr_html_()
    rows = same.model._rows
    fewer = pd.DataFrame(rng.normal(size=(15, 4)), columns=list("abcd"))
    model.set_params(projections=[("b", "d")], k=2).fit(fewer, np.arange(15) % 2 + 7.0)
    assert (old.data(), old._repr_html_()) == said
    assert old.model._rows is rows  # kept, not copied
    assert model.explain(fewer[:1])[0].view["features"] == ["b", "d"]
