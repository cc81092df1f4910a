"""planewise commands in processes of their own, and cases to predict: what the other tools share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

KEPT = ("PATH", "HOME", "TMPDIR", "LD_PRELOAD", "TSAN_OPTIONS")


def clean_environment(**more: str) -> dict[str, str]:
    """The environment of a new shell, and what is given."""
    return {name: os.environ[name] for name in KEPT if name in os.environ} | {"LANG": "C.UTF-8"} | more


def start(*args: object, **how: Any) -> subprocess.Popen[str]:
    """Start a command as a new shell would."""
    call = [sys.executable, "-c", "from planewise.cli import main; main()", *map(str, args)]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "env": clean_environment()}
    return subprocess.Popen(call, **(given | how))


def write_cases(folder: Path, n_rows: int, copies: int = 1) -> None:
    """A model of a table, and cases to predict, which are all rows so many times."""
    import polars as pl

    import planewise
    from planewise.table import TableModel

    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"size": rng.normal(50, 10, n_rows).round(2), "town": rng.choice(["Bonn", "Ulm"], n_rows)})
    label = pl.when(pl.col("size") > 50).then(pl.lit("dear")).otherwise(pl.lit("cheap")).alias("y")
    planewise.save(
        TableModel("boosting", random_state=0).fit(rows.with_columns(label), "y"), folder / "model.planewise"
    )
    pl.concat([rows] * copies).write_csv(folder / "cases.csv")
