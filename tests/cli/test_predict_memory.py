"""`planewise predict` holds a chunk of the rows at a time, whatever the length of the table."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from clean_shell import PEAK_MEMORY
from planewise import save
from planewise.table import TableModel

FEW, MANY, N_COLUMNS = 50_000, 400_000, 10
TABLE_MB = MANY * N_COLUMNS * 8 / 1e6  # as numbers; as text it is more than twice that

PREDICT = (
    PEAK_MEMORY
    + """
import sys
from pathlib import Path
from planewise.data import InputTable
from planewise.data.files import lines, tables, text

lines.CHUNK_BYTES, text.BLOCK_BYTES, tables.CHUNK_ROWS = 1 << 20, 1 << 20, 5_000
from planewise.cli.predict import predict

form = sys.argv[1]
for table in ("few", "many"):
    given = InputTable([f"{table}.{form}"])
    predict.__wrapped__(Path("model"), given, Path(f"{table}-answers.{form}"), proba=True)
    print(peak_memory() / 1e6)
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    values = np.random.default_rng(0).normal(size=(MANY, N_COLUMNS)).astype(np.float32).astype(np.float64)
    table = pl.DataFrame(values, schema=[f"x{j}" for j in range(N_COLUMNS)])
    labelled = table[:300].with_columns((pl.col("x0") > 0).alias("y"))
    save(TableModel("tree", random_state=0).fit(labelled, "y"), folder / "model")
    for name, rows in (("few", FEW), ("many", MANY)):
        table[:rows].write_csv(folder / f"{name}.csv")
        table[:rows].write_parquet(folder / f"{name}.parquet", row_group_size=5_000)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's peak memory from /proc")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_memory_of_predict_does_not_grow_with_the_rows(folder, form):
    done = subprocess.run([sys.executable, "-c", PREDICT, form], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *_, few, _, many = done.stdout.splitlines()
    assert float(many) - float(few) < TABLE_MB / 2
    answers = pl.scan_csv if form == "csv" else pl.scan_parquet
    assert answers(folder / f"many-answers.{form}").select(pl.len()).collect().item() == MANY
