"""Labels and cells that spreadsheets would run as formulas, in the files that commands write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest


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
