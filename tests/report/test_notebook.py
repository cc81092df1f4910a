"""Explanations in notebooks: whole, escaped, and with styles that reach nothing else."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from pages import read
from sklearn.datasets import load_diabetes, load_iris

from planewise import RECIPClassifier, RECIPRegressor

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
        assert "<b>" not in page and each.to_text() in found.text
        nearest = min((n for side in each.neighbours.values() for n in side), key=lambda n: n["distance"])
        assert found.rows[2][0] == ", ".join(map(str, nearest["rows"])) and found.rows[2][1] == str(nearest["label"])


def test_the_picture_names_every_row_under_the_mouse(explanations):
    drawn = [each for each in explanations if len(each.view["features"]) == 2]
    assert drawn
    page = drawn[0]._repr_html_()
    near = drawn[0].neighbours
    assert page.count("<title>") == 1 + len(near["for"]) + len(near["against"])
    assert page.count('class="mark for"') == len(near["for"])
    assert page.count('class="mark against"') == len(near["against"])


def test_styles_reach_nothing_else(explanations):
    style = re.search("<style>(.*?)</style>", explanations[0]._repr_html_(), flags=re.S).group(1)
    selectors = [each for rule in re.findall(r"([^{}]+)\{", style) for each in rule.split(",")]
    assert selectors and all(each.strip().startswith(".planewise-view") for each in selectors)


def test_numbers_categories_and_cases_no_view_can_judge():
    data = load_diabetes()
    model = RECIPRegressor(max_projections=2, random_state=0).fit(data.data[:150], data.target[:150])
    each = model.explain(data.data[150:151])[0]
    assert each.to_text() in read(each._repr_html_()).text
    blank = model.explain(np.full((1, data.data.shape[1]), np.nan))[0]
    assert blank.view is None
    assert read(blank._repr_html_()).rows == []
