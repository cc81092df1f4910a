"""Columns may have names that polars would take for patterns: * is a name everywhere, ^a$ is refused in words."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from planewise import SLMClassifier
from planewise.data import from_batches
from planewise.table import TableModel

NAMES = ["*", "b", "c", "t"]


def with_names(names):
    numbers = np.random.default_rng(0).random((60, 3)).round(4)
    target = pl.Series(names[-1], np.where(numbers[:, 0] > numbers[:, 1], "p", "q"))
    frame = pl.DataFrame([pl.Series(name, column) for name, column in zip(names, numbers.T, strict=False)] + [target])
    frame.write_csv("t.csv")
    frame.write_parquet("t.parquet")
    frame.write_excel("t.xlsx")
    return frame


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("target", ["t", "*"])
def test_a_star_is_a_name_in_every_command(run, ending, target):
    table, features = with_names(NAMES), [name for name in NAMES if name != target]
    done = run("fit", f"t.{ending}", "--target", target, "--model", "tree", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    about = json.loads(run("describe", "m.planewise", "--json").stdout)
    assert about["target"] == target and [each["name"] for each in about["columns"]] == features
    done = run("predict", "m.planewise", f"t.{ending}", "--keep", "*", "--out", f"p.{ending}")
    assert done.exit_code == 0, done.stderr
    written = pl.read_csv("p.csv") if ending == "csv" else pl.read_parquet("p.parquet")
    assert written.columns == ["*", "prediction"] and written["*"].cast(pl.Float64).to_list() == table["*"].to_list()
    assert run("explain", "m.planewise", f"t.{ending}", "--row", 0).exit_code == 0


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_name_that_is_a_pattern_is_refused_in_words(run, ending):
    table = with_names(["^a$", "b", "c", "t"])
    words = r"has a column '^a$': polars, which reads it, takes names that begin with ^ and end with $ for patterns"
    done = run("fit", f"t.{ending}", "--target", "t", "--model", "tree", "--out", "m.planewise")
    assert done.exit_code == 2 and f"'t.{ending}' {words}. Rename it." in done.stderr
    features, target = table.drop("t"), table["t"]
    with pytest.raises(ValueError, match=r"^X has a column '\^a\$'"):
        SLMClassifier().fit(features, target)
    with pytest.raises(ValueError, match=r"^the table has a column '\^a\$'"):
        TableModel("tree").fit(table, "t")
    with pytest.raises(ValueError, match=r": the table has a column '\^a\$'"):
        from_batches([table], target="t")
    model = SLMClassifier(random_state=0).fit(features.to_pandas(), target.to_list())  # which is no matter elsewhere
    assert model.feature_names_in_[0] == "^a$"
