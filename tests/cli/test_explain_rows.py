"""What a row is explained by: vectors by their values, and whether the fit had the row; contributions in a sentence."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planewise as pw


@pytest.fixture
def numbers():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 3)).round(4)
    table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": np.where(x[:, 0] * x[:, 1] > 0, "u", "v")})
    table.write_csv("numbers.csv")
    return table


def every_key(data):
    if isinstance(data, dict):
        return set(data).union(*(every_key(value) for value in data.values()))
    return set().union(*(every_key(value) for value in data)) if isinstance(data, list) else set()


def test_vectors_have_values_and_no_row_numbers(run, numbers):
    grid = ["--set", "mus=10,1", "--set", "gammas=0.2,1"]
    run("fit", "numbers.csv", "--target", "y", "--model", "kernel", "--out", "m.planewise", *grid)
    vectors = pw.load("m.planewise").estimator_.support_vectors_
    own = numbers.select("a", "b", "c").to_numpy()
    inside = [row for row in range(120) if (vectors == own[row]).all(axis=1).any()]
    outside = next(row for row in range(120) if row not in inside)
    told = json.loads(run("explain", "m.planewise", "numbers.csv", "--row", inside[0], "--json").stdout)["explanation"][
        "vectors"
    ]
    assert "row" not in every_key(told)
    assert [list(each["values"].values()) for each in told if each["same_values"]] == [own[inside[0]].tolist()]
    for row, says in ((inside[0], True), (outside, False)):
        shown = run("explain", "m.planewise", "numbers.csv", "--row", row, "--html", f"{row}.html").stdout
        assert ("A training row has the same values" in shown) == says
        assert ("A training row has the same values" in Path(f"{row}.html").read_text(encoding="utf-8")) == says
        assert "row of the fit  " not in shown


def test_a_row_that_the_fit_had_is_told_to_be_so(run, numbers):
    path = "m.planewise"
    assert run("fit", "numbers.csv", "--target", "y", "--model", "recip", "--out", path).exit_code == 0
    known = pw.load(path).estimator_._rows.values
    says = {}
    for row in range(120):
        told = json.loads(run("explain", path, "numbers.csv", "--row", row, "--json").stdout)["explanation"]
        says[told["same_values_in_fit"]] = row
        if len(says) == 2:
            break
    assert set(says) == {True, False} and len(known) == 96
    assert "A training row has" in run("explain", path, "numbers.csv", "--row", says[True]).stdout
    assert "A training row has" not in run("explain", path, "numbers.csv", "--row", says[False]).stdout


@pytest.mark.parametrize("target", ["class", "price"])
def test_what_columns_added_is_told_in_the_sentence(fitted, run, target):
    path = fitted("boosting", target, "--set", "n_estimators=10", "--set", "learning_rate=0.3")
    shown = run("explain", path, "towns.csv", "--row", "3", "--html", "why.html").stdout
    told = json.loads(run("explain", path, "towns.csv", "--row", "3", "--json").stdout)
    sentence = told["sentence"]
    assert f"{told['explanation']['parts'][0]['column']} is " in sentence and sentence in " ".join(shown.split())
    assert f"<p>{escape(sentence)}</p>" in Path("why.html").read_text(encoding="utf-8")
