"""Memory and time of every command on tables of a million rows, and of `predict` on twice as many.

python benchmarks/duels/command_line.py [--rows 1000000] [--out benchmarks/results/command_line.json]

Each command runs in a process of its own; memory is the largest resident set of that process, from the system's own
account. The table has 30 columns: numbers (one with gaps), a category and a truth value.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

CHUNK = 100_000


def write_table(path: Path, n_rows: int) -> None:
    """A part at a time, so that this process stays small."""
    with path.open("wb") as file:
        for start in range(0, n_rows, CHUNK):
            part(np.random.default_rng(start), min(CHUNK, n_rows - start)).write_csv(file, include_header=start == 0)


def part(rng: np.random.Generator, n: int) -> pl.DataFrame:
    columns = {f"x{j}": rng.normal(size=n).round(5) for j in range(27)}
    colour, flag = rng.choice(["red", "green", "blue"], n), rng.random(n) < 0.3
    score = columns["x0"] - 0.5 * columns["x1"] + (colour == "red") + 0.5 * flag + rng.normal(size=n) * 0.5
    table = pl.DataFrame(columns | {"colour": colour, "flag": flag, "count": rng.integers(0, 50, n)})
    gaps = pl.when(pl.Series(rng.random(n) < 0.05)).then(None).otherwise(pl.col("x3")).alias("x3")
    return table.with_columns(gaps, pl.Series("y", np.where(score > 0.3, "yes", "no")))


def measure(*args: str) -> dict[str, object]:
    """Run the command; its time and memory."""
    start = time.perf_counter()
    process = os.posix_spawn(sys.executable, [sys.executable, "-m", "planewise.cli", *args], os.environ)
    _, status, usage = os.wait4(process, 0)
    found = {
        "command": " ".join(Path(arg).name if os.sep in arg else arg for arg in args),
        "seconds": round(time.perf_counter() - start, 1),
        "cpu seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "megabytes": round(usage.ru_maxrss / 1024),
        "exit": os.waitstatus_to_exitcode(status),
    }
    print(found, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", nargs="*", default=["slm", "forest", "boost", "mcm", "recip", "auto"])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = {rows: folder / f"{rows}.csv" for rows in (args.rows // 10, args.rows, 2 * args.rows)}
        for rows, path in tables.items():
            write_table(path, rows)
        table = str(tables[args.rows])
        for family in args.models:
            model = str(folder / f"{family}.planewise")
            results.append(measure("fit", table, "--target", "y", "--model", family, "--out", model, "--json"))
        model = str(folder / f"{args.models[0]}.planewise")
        for path in tables.values():
            for ending in ("csv", "parquet"):
                out = str(folder / f"p.{ending}")
                results.append(measure("predict", model, str(path), "--proba", "--out", out, "--force"))
        results.append(measure("describe", model))
        results.append(measure("explain", model, table, "--row", str(args.rows - 1)))
        for form in ("c", "onnx", "text", "html"):
            results.append(measure("export", model, "--to", form, "--out", str(folder / f"e.{form}")))
    if args.out:
        args.out.write_text(json.dumps({"rows": args.rows, "columns": 30, "runs": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
