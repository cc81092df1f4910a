"""Plots in pages: the same bytes every time, small, and with what they should show."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from pages import read
from planewise import AdditiveClassifier, AdditiveRegressor, RECIPClassifier, SLMBoostClassifier
from planewise.report import html, report


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def pictures(page):
    """The plots of a page, as text of SVG."""
    return [base64.b64decode(each).decode() for each in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)]


def scatter(n_rows, title=""):
    figure, ax = plt.subplots()
    ax.scatter(*np.random.default_rng(0).normal(size=(2, n_rows)))
    ax.set_title(title)
    return figure


def test_a_report_has_the_same_bytes_again():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = AdditiveClassifier(max_views=2, random_state=0).fit(X[::2], y[::2])
    assert report(model, X[1::2], y[1::2]) == report(model, X[1::2], y[1::2])


def test_a_picture_does_not_grow_with_its_rows():
    few, many = (pictures(html.figure("rows", scatter(n_rows)))[0] for n_rows in (90, 5000))
    assert few.count("<use") > 90 > many.count("<use")
    assert "<image" in many and "<image" not in few
    assert len(many) < 100_000


def test_letters_of_any_script_are_text_in_a_picture():
    (drawn,) = pictures(html.figure("letters", scatter(3, "価格 <b> & שלום")))
    assert "価格 <b> & שלום" in ElementTree.fromstring(drawn).itertext()


def test_letters_that_xml_forbids_do_not_break_a_picture():
    (drawn,) = pictures(html.figure("letters", scatter(3, "a\x00b\x1b[31m \ufffe\uffff")))
    assert "a\ufffdb\ufffd[31m \ufffd\ufffd" in ElementTree.fromstring(drawn).itertext()


def test_only_figures_and_png_are_pictures():
    assert "data:image/png;base64," in html.figure("bytes", b"\x89PNG...")
    with pytest.raises(TypeError, match="must be a figure of matplotlib or the bytes of a PNG file; got str"):
        html.figure("words", "picture.png")


@pytest.mark.parametrize(("scoring", "measure"), [(None, "loss"), ("accuracy", "accuracy")])
def test_what_boosting_monitored_is_drawn(scoring, measure):
    X, y = load_wine(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=4, scoring=scoring, random_state=0)
    model.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    page = report(model, X[1::2], y[1::2])
    (drawn,) = [each for each in pictures(page) if ">rounds<" in each]
    assert all(f">{word}<" in drawn for word in (measure, "train", "validation"))
    assert f"The line marks the best round, {model.best_iteration_}." in page


@pytest.mark.parametrize("numbers", [False, True])
def test_the_nearest_rows_are_listed_with_their_values(numbers):
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    if numbers:
        model = AdditiveRegressor(projections=[("bmi", "s5")], random_state=0).fit(X[:150], y[:150])
    else:
        model = RECIPClassifier(max_projections=2, random_state=0).fit(X[:150], y[:150] > 150)
    each = model.explain(X[200:201], units={"bmi": "kg/m²"})[0]
    near = each.neighbours if numbers else [*each.neighbours["for"], *each.neighbours["against"]]
    found = read(each._repr_html_())
    n_lines = min(len(near), 12)
    lines = found.rows[2 : 2 + n_lines]
    distances = [float(line[2]) for line in lines]
    assert distances == sorted(distances)
    named = [name.partition(" (")[0] for name in found.rows[0][3:]]
    for line in lines:
        row = X.iloc[int(line[0].partition(",")[0])]
        assert [float(cell) for cell in line[3:]] == pytest.approx(row[named].tolist(), rel=0.001)


def test_rows_beyond_the_listed_ones_are_counted():
    X = pd.DataFrame({"a": [0.0] * 40, "b": [1.0] * 40})
    X["c"] = np.arange(40.0)
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X, np.arange(40) % 2)
    each = model.explain(X[:1])[0]
    left = sum(map(len, each.neighbours.values())) - 12
    assert (f"{left} more rows are not listed." in read(each._repr_html_()).text) == (left > 1)


def test_a_case_of_a_sum_of_views_is_drawn_where_most_is_added():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = AdditiveClassifier(max_views=5, random_state=0).fit(X[::2], y[::2])
    each = model.explain(X[1:2])[0]
    (drawn,) = pictures(each._repr_html_())
    most = sorted(each.contributions, key=lambda view: -abs(view["score"]))
    assert len(most) > 3
    for view in most[:3]:
        assert all(f">{name}<" in drawn for name in view["features"])
