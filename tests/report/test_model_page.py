"""Pages about models: whole, escaped, and loading nothing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, root_mean_squared_error
from tests.export.fitted import fitted_machine, fitted_tree, machine_rows, table, targets, trial_rows
from tests.report.pages import read

from planewise import SLMClassifier
from planewise.report import html, report


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """What is tested is not how sharp they are."""
    monkeypatch.setattr(html, "DPI", 40)


def test_without_rows_the_page_says_what_the_model_is(tmp_path):
    model, _ = fitted_tree("forest-numbers", "numbers")
    page = report(model, path=tmp_path / "page.html", title="A forest")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    headings = read(page).headings
    assert headings[0] == "A forest" and "Importances" in headings and "Tree 3 of" in " ".join(headings)
    assert "Quality" not in headings and "Worst mistakes" not in headings


@pytest.mark.parametrize("which", ["tree-three", "forest-numbers", "boost-two", "two", "linear", "numbers"])
def test_the_page_is_whole_and_loads_nothing(which, tmp_path):
    if "-" in which:
        model, X = fitted_tree(which, "categories")
        rows, _ = trial_rows(model, X)
    else:
        model, X = fitted_machine(which)
        rows = machine_rows(X)
    y = model.predict(rows)
    page = report(model, rows, y, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    parser = read(page)
    assert "prefers-color-scheme: dark" in page
    assert type(model).__name__ in "".join(parser.words)


def test_names_and_labels_are_escaped():
    X, score = table("numbers")
    frame = pd.DataFrame(X, columns=["<script>alert(1)</script>", "a&b", '"q"', "</pre>", "e"])
    labels = np.where(score > 0, "<b>yes</b>", "no & </td>")
    model = SLMClassifier(random_state=0).fit(frame, labels)
    page = report(model, X=frame, y=labels, title="<i>title</i>")
    assert "<script>" not in page and "<b>yes" not in page and "<i>" not in page
    words = "".join(read(page).words)
    assert "<script>alert(1)</script>" in words and "<b>yes</b>" in words and "<i>title</i>" in words


def test_quality_is_what_was_measured():
    model, X = fitted_tree("boost-three", "numbers")
    score = table("numbers")[1]
    y = targets("three", np.roll(score, 3))
    words = "".join(read(report(model, X=X, y=y)).words)
    assert f"{100 * accuracy_score(y, model.predict(X)):.1f}%" in words
    assert f"{100 * np.mean(y == pd.Series(y).mode()[0]):.1f}%" in words
    number, X = fitted_tree("tree-numbers", "numbers")
    words = "".join(read(report(number, X=X, y=score)).words)
    assert f"{root_mean_squared_error(score, number.predict(X)):.4g}" in words
    assert f"{score.std():.4g}" in words


def test_wrong_data_is_refused():
    model, X = fitted_tree("tree-two", "numbers")
    with pytest.raises(ValueError, match="y is missing"):
        report(model, X)
    with pytest.raises(ValueError, match="pass X too"):
        report(model, y=["yes"])
    with pytest.raises(ValueError, match=r"one target for each of the 300 rows"):
        report(model, X=X, y=["yes"])
    with pytest.raises(ValueError, match="label 'maybe', which is not a class of the model"):
        report(model, X=X, y=np.full(len(X), "maybe"))


def test_pictures_are_part_of_the_page():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    figure.subplots().plot([1, 2])
    model, _ = fitted_tree("tree-two", "numbers")
    page = report(model, pictures=[("one < two", figure)])
    assert re.search(
        r'<img alt="one &lt; two" width="\d+" class="broad" src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]+">', page
    )
    with pytest.raises(TypeError, match="picture 'this' must be a figure of matplotlib"):
        report(model, pictures=[("this", "that.png")])
