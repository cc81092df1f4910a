"""A review of 100,000 rows in Chromium: the first page beside the model's own explain, the next case, memory.

python benchmarks/review/scale.py --rows 100000 --families recip boost
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np


def make_table(n_rows: int, seed: int) -> Any:
    """Twenty columns, two of which decide together."""
    import polars as pl

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 20))
    kind = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n_rows) < 0.05), "spam", "ham")
    columns = {"id": [f"M-{k}" for k in range(n_rows)]} | {f"c{j}": X[:, j] for j in range(20)}
    return pl.DataFrame(columns | {"kind": kind})


def own_time(model: Any, table: Any) -> float:
    """What the model itself takes for all rows: explain, or predict_proba."""
    rows, estimator = model.read(table), model.estimator_
    ask = estimator.explain if hasattr(estimator, "explain") else estimator.predict_proba
    ask(rows[:100])
    begun = time.perf_counter()
    ask(rows)
    return time.perf_counter() - begun


def resident(pid: int) -> float:
    """Memory of a process in MB (Linux)."""
    words = Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()
    return int(words[0]) / 1024


def measure(family: str, n_rows: int, folder: Path, chromium: str) -> dict[str, Any]:
    """One family, through the browser."""
    from playwright.sync_api import expect, sync_playwright

    import planewise
    from planewise.table import TableModel

    model = TableModel(family, random_state=0).fit(make_table(3000, 1).drop("id"), "kind")
    planewise.save(model, folder / "model.planewise")
    table = make_table(n_rows, 2).drop("kind")
    table.write_parquet(folder / "cases.parquet")
    explained = own_time(model, table)
    call = [
        sys.executable,
        "-m",
        "planewise.cli",
        "review",
        "model.planewise",
        "cases.parquet",
        "--no-browser",
        "--id-column",
        "id",
    ]
    imports = _imports()
    begun = time.perf_counter()
    server = subprocess.Popen(
        call,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    try:
        address = next(found.group(0) for line in server.stdout if (found := re.search(r"http://\S+", line)))
        ready = time.perf_counter() - begun
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            asked = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("#accept")
            first = time.perf_counter() - asked
            steps, decisions = [], []
            for number in range(60):
                heading = page.locator("#case").inner_text()
                page.wait_for_timeout(300)  # a person looks at it; meanwhile the next one is made
                asked = time.perf_counter()
                page.keyboard.press("j" if number % 2 else "a")
                expect(page.locator("#case")).not_to_have_text(heading, timeout=20_000)
                (steps if number % 2 else decisions).append(time.perf_counter() - asked)
            asked = time.perf_counter()
            page.goto(page.url.split("/case")[0] + f"/queue?find=M-{n_rows - 1}")
            found = time.perf_counter() - asked
            browser.close()
        memory = resident(server.pid)
    finally:
        server.terminate()
        server.wait()
    return {
        "family": family,
        "rows": n_rows,
        "model's own time for all rows": round(explained, 3),
        "importing planewise and the server": round(imports, 3),
        "from the command to the address": round(ready, 3),
        "first page, then": round(first, 3),
        "next case, median": round(statistics.median(steps), 4),
        "next case, largest": round(max(steps), 4),
        "accept and next case, median": round(statistics.median(decisions), 4),
        "accept and next case, largest": round(max(decisions), 4),
        "search by id": round(found, 3),
        "memory of the server, MB": round(memory),
    }


def _imports() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import planewise.cli._app, planewise.app.server"], check=True)
    return time.perf_counter() - begun


def main() -> None:
    """Print a JSON text a family."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--families", nargs="+", default=["recip", "boost", "slm"])
    options.add_argument("--chromium", default="/usr/bin/chromium")
    given = options.parse_args()
    for family in given.families:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(family, given.rows, Path(folder), given.chromium), indent=2), flush=True)


if __name__ == "__main__":
    main()
