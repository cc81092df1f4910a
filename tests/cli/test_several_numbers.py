"""Models of several quantiles or targets at the command line: predicted and described, else refused by name."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import planewise as pw

ROWS = pl.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), schema=["a", "b", "c"])


@pytest.fixture
def table():
    ROWS.write_csv("rows.csv")
    return "rows.csv"


def saved(Y, **parameters):
    model = pw.SLMBoostRegressor(n_estimators=4, random_state=0, **parameters).fit(ROWS.to_pandas(), Y)
    pw.save(model, "m.planewise")
    return model


@pytest.mark.parametrize("quantiles", [True, False])
def test_predict_writes_one_column_for_each(run, table, quantiles):
    y = ROWS["a"].to_numpy()
    if quantiles:
        model, names = saved(y, loss="quantile", alpha=[0.1, 0.9]), ["prediction_0.1", "prediction_0.9"]
    else:
        model, names = saved(np.column_stack([y, -y])), ["prediction_0", "prediction_1"]
    assert run("predict", "m.planewise", table, "--out", "p.csv", "--keep", "a").exit_code == 0
    found = pl.read_csv("p.csv")
    assert found.columns == ["a", *names]
    np.testing.assert_allclose(found.select(names).to_numpy(), model.predict(ROWS.to_pandas()), rtol=1e-9)
    assert "2 numbers" in run("describe", "m.planewise").output


def test_explain_needs_one_number_per_row(run, table):
    saved(ROWS["a"].to_numpy(), loss="quantile", alpha=[0.1, 0.9])
    refused = run("explain", "m.planewise", table, "--row", "0")
    assert refused.exit_code == 2
    assert "needs a model with one prediction per row" in " ".join(refused.output.split())


def test_fit_takes_new_losses_and_one_level(run, table):
    ROWS.with_columns(t=pl.col("a").exp()).write_csv("rows.csv")
    fitted = run(
        "fit", table, "--target", "t", "--model", "boost", "--set", "loss=tweedie", "--set", "power=1.3", "--json"
    )
    assert fitted.exit_code == 0
    refused = run("fit", table, "--target", "t", "--model", "boost", "--set", "loss=quantile", "--set", "alpha=0.1,0.9")
    assert refused.exit_code == 2
    assert "one quantile level" in " ".join(refused.output.split())
