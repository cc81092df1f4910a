"""Models fitted with an offset, and rankers, at the command line: commands say what their predictions are."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import planewise as pw

REMARK = "planewise: the model was fitted with an offset; this predicts for an offset of zero."


@pytest.fixture
def table():
    rows = pl.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), schema=["a", "b", "c"])
    rows.with_columns(count=(pl.col("a").exp() * 2).cast(pl.Int64).clip(0, 4)).write_csv("rows.csv")
    return pl.read_csv("rows.csv").to_pandas()


@pytest.fixture
def with_offset(table):
    model = pw.SLMBoostRegressor(loss="poisson", n_estimators=3, random_state=0)
    pw.save(model.fit(table[["a", "b", "c"]], table["count"], offset=np.ones(80)), "m.planewise")


@pytest.fixture
def ranker(table):
    model = pw.SLMBoostRanker(n_estimators=3, random_state=0)
    pw.save(model.fit(table[["a", "b", "c"]], table["count"], group=[20] * 4), "m.planewise")


@pytest.mark.usefixtures("with_offset")
def test_commands_say_that_an_offset_is_missing(run):
    for command in (("predict",), ("explain", "--row", "1", "--html", "why.html")):
        done = run(command[0], "m.planewise", "rows.csv", *command[1:])
        assert done.exit_code == 0
        assert done.stderr.splitlines().count(REMARK) == 1
    with open("why.html", encoding="utf-8") as page:
        assert "this predicts for an offset of zero" in page.read()
    described = "offset   the model was fitted with one and does not store it; pass it to predict"
    assert described in run("describe", "m.planewise").output
    exported = run("export", "m.planewise", "--to", "c", "--out", "m.h")
    assert "fitted with an offset; this predicts for an offset of zero" in exported.output


@pytest.mark.usefixtures("ranker")
def test_a_ranker_predicts_scores_to_rank_by(run):
    assert "predicts (a score to rank the rows of a query by)" in run("describe", "m.planewise").output
    assert json.loads(run("describe", "m.planewise", "--json").output)["task"] == "ranking"
    assert run("predict", "m.planewise", "rows.csv").exit_code == 0


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(("setting", "hint"), [("loss=poisson", True), ("power=1.2", True), ("loss=poissn", False)])
def test_settings_for_numbers_of_a_target_taken_as_classes(run, setting, hint):
    refused = run("fit", "rows.csv", "--target", "count", "--model", "boosting", "--set", setting)
    words = "'count' was taken as classes; add --task regression to predict it as a number."
    assert refused.exit_code == 2
    assert (words in " ".join(refused.output.split())) is hint
