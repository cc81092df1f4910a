"""Labels and cells that spreadsheets would run as formulas, in the files that commands write."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from planewise.answers import Ledger, Record, reviewed_table, table_bytes


@pytest.fixture
def model(run):
    x = np.random.default_rng(0).normal(size=60).round(4)
    labels = np.where(x > 0, "=1+1", "no")
    pl.DataFrame({"x": x, "@id": [f"+{k}a" for k in range(60)], "y": labels}).write_csv("t.csv")
    done = run("fit", "t.csv", "--target", "y", "--model", "slm", "--drop", "@id", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    return "m.planewise"


def test_predictions_are_no_formulas_unless_the_exact_text_is_asked_for(run, model):
    ask = ["predict", model, "t.csv", "--keep", "@id", "--keep", "x"]
    safe, exact = run(*ask).stdout, run(*ask, "--no-safe-csv").stdout
    assert safe.startswith("'@id,x,prediction\n'+0a,0.1257,'=1+1\n'+1a,-0.1321,no\n")
    assert exact.startswith("@id,x,prediction\n+0a,0.1257,=1+1\n+1a,-0.1321,no\n")
    for name, more, text in (("a.tsv", [], safe.replace(",", "\t")), ("b.csv", ["--no-safe-csv"], exact)):
        assert run(*ask, "--out", name, *more).exit_code == 0
        assert Path(name).read_text() == text
    assert run(*ask, "--out", "c.parquet").exit_code == 0
    assert pl.read_parquet("c.parquet")["prediction"][0] == "=1+1"


def test_corrections_read_what_an_export_made_safe(run, model):
    rows = pl.read_csv("t.csv", infer_schema=False)
    how = ("no", "override", "=1+1", "", "=Ada", "2026-01-01", None)
    decided = [Record(f"{row:032x}", row, None, "f", *how) for row in (1, 3)]
    found = reviewed_table(rows, Ledger(rows.height, decided), ["no"] * rows.height, None)
    content = table_bytes(found, "csv")
    assert b"'=1+1" in content and b"'=Ada" in content and b"=1+1" in table_bytes(found, "csv", safe_csv=False)
    Path("r.csv").write_bytes(content)
    fit = ["fit", "t.csv", "--target", "y", "--model", "slm", "--drop", "@id", "--json", "--corrections", "r.csv"]
    done = run(*fit, "--corrections-by", "=Ada")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["corrections"]["n_decided"] == 2 and sorted(answer["classes"]) == ["=1+1", "no"]


def test_columns_that_only_an_apostrophe_tells_apart_are_named(run, model):
    """As --no-safe-csv can write them: --corrections cannot know that."""
    Path("r.csv").write_text("=a,'=a,review_label\n1,2,no\n")
    done = run("fit", "t.csv", "--target", "y", "--model", "slm", "--drop", "@id", "--corrections", "r.csv")
    assert done.exit_code == 2 and "'r.csv': The columns '=a' and \"'=a\" have the same name" in done.stderr
