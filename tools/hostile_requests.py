"""Send hostile requests to planewise serve: what schemathesis makes from the service's own OpenAPI document.

    python tools/hostile_requests.py [--examples 500] [--seed 0]

Fits models of classes and of numbers to a small table with all kinds of columns, serves each, and fails if a request
gets a 5xx or an answer that the document does not describe, or if a request that the document does not allow is
accepted. One check is left out: the document cannot say that lists of columns must have the same length. ``make
fuzz-serve`` installs schemathesis and calls this.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl


def write_models(folder: Path) -> list[str]:
    from planewise import save
    from planewise.table import TableModel

    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "size": [None if k % 7 == 0 else float(k) for k in rng.integers(0, 90, 200)],
            "town": rng.choice(["Bonn", "Köln", "Ulm"], 200),
            "new": rng.random(200) < 0.5,
            "sold": np.array("2020-01-01", dtype="M8[D]") + rng.integers(0, 900, 200),
            "price": rng.normal(100, 20, 200),
            "class": rng.choice(["cheap", "dear"], 200),
        }
    )
    table.write_csv(folder / "cases.csv")
    models = []
    for family, target, other in (("boost", "class", "price"), ("mcm", "price", "class")):
        save(TableModel(family, random_state=0).fit(table.drop(other), target), folder / f"{family}.planewise")
        models.append(f"{family}.planewise")
    return models


def attack(folder: Path, model: str, examples: int, seed: int) -> int:
    """The exit code of schemathesis against a service of the model."""
    call = [sys.executable, "-m", "planewise.cli", "serve", model, "--port", "0", "--rate", "0"]
    with subprocess.Popen(call, cwd=folder, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", service.stdout.readline())
            assert found
            command = [Path(sys.executable).with_name("schemathesis"), "run", f"{found.group()}/openapi.json"]
            options = [
                "--exclude-checks",
                "positive_data_acceptance",
                "--max-examples",
                str(examples),
                "--seed",
                str(seed),
                "--mode",
                "all",
            ]
            return subprocess.run([*command, *options], cwd=folder, check=False).returncode
        finally:
            service.terminate()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        codes = [attack(Path(name), model, given.examples, given.seed) for model in write_models(Path(name))]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
