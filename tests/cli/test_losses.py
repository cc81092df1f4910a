"""Losses of boosting at the command line."""

from __future__ import annotations

import numpy as np
import polars as pl


def test_fit_takes_a_loss_with_its_parameter(run):
    rows = pl.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), schema=["a", "b", "c"])
    rows.with_columns(t=pl.col("a").exp()).write_csv("rows.csv")
    fitted = run(
        "fit",
        "rows.csv",
        "--target",
        "t",
        "--model",
        "boosting",
        "--set",
        "loss=tweedie",
        "--set",
        "power=1.3",
        "--json",
    )
    assert fitted.exit_code == 0
