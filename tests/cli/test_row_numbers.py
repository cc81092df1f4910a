"""A training row is called by its number in the user's file, whatever the fit left out, held out or drew."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planewise as pw
from planewise.report import report

SAMPLE = 90


@pytest.fixture(params=["kind", "price"])
def fitted_on_some(request, run, monkeypatch):
    """A file of which every fifth row has no target, and a model of a sample of the rest without those held out."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(300, 3)).round(6)
    price = (x[:, 0] * x[:, 1] + 0.1 * x[:, 2]).round(6)
    targets = {"kind": np.where(price > 0, "up", "down").tolist(), "price": price.tolist()}
    target = [None if row % 5 == 0 else value for row, value in enumerate(targets[request.param])]
    pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], request.param: target}).write_csv("all.csv")
    monkeypatch.setattr("planewise.cli.fit.max_rows", lambda family, task: SAMPLE)
    family = "recip" if request.param == "kind" else "additive"
    call = ["fit", "all.csv", "--target", request.param, "--model", family, "--out", "m.planewise", "--json"]
    assert json.loads(run(*call).stdout)["rows"]["not_used"] > 0
    return request.param, pl.read_csv("all.csv")


def neighbours(told):
    near = told["neighbours"]
    return near if isinstance(near, list) else [*near["for"], *near["against"]]


def assert_true_in_page(page, table, target):
    """Every row of every table of neighbours holds what the file has in the row it names."""
    found = 0
    for head, body in re.findall(r"<thead><tr>(.*?)</tr></thead>\n<tbody>\n(.*?)</tbody>", page, re.S):
        names = re.findall(r"<th[^>]*>(.*?)</th>", head)
        if names[0] != "training row (from 0)":
            continue
        for line in re.findall(r"<tr>.*?</tr>", body, re.S):  # "this row" has a class of its own
            cells = [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", line, re.S)]
            told = dict(zip(names, cells, strict=True))
            row = table.row(int(told["training row (from 0)"]), named=True)
            assert row[target] is not None
            if target == "kind":
                assert told["class"] == row["kind"]
            for name in set(told) & {"a", "b", "c"}:
                assert float(told[name].replace("−", "-")) == pytest.approx(row[name], abs=1e-3, rel=1e-3)
            found += 1
    assert found >= 5


def test_neighbours_are_the_rows_of_the_file_that_they_are_called(run, fitted_on_some):
    target, table = fitted_on_some
    for row in (0, 1, 150, 299):
        call = ["explain", "m.planewise", "all.csv", "--row", row]
        for each in neighbours(json.loads(run(*call, "--json").stdout)["explanation"]):
            assert len(each["rows"]) == 1
            own = table.row(each["rows"][0], named=True)
            assert {name: own[name] for name in each["values"]} == each["values"]
            assert own[target] == each["label" if target == "kind" else "target"]
    run(*call, "--html", "why.html")
    assert_true_in_page(Path("why.html").read_text(encoding="utf-8"), table, target)


def test_a_report_calls_rows_as_the_file_does(fitted_on_some):
    target, table = fitted_on_some
    model = pw.load("m.planewise")
    rows = table.filter(pl.col(target).is_not_null())
    assert_true_in_page(report(model, rows.drop(target), rows[target].to_numpy()), table, target)


@pytest.mark.usefixtures("fitted_on_some")
@pytest.mark.parametrize("fitted_on_some", ["kind"], indirect=True)
def test_the_numbers_take_no_more_room():
    """They are in the place of the rows' places in the fit: nothing is kept beside them."""
    origin = pw.load("m.planewise").estimator_._rows.origin
    assert len(origin) == SAMPLE and set(origin.tolist()) <= {row for row in range(300) if row % 5}
