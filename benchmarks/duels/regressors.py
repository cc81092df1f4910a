"""Kernel regressors: the minimal complexity machine beside scikit-learn's SVR and KernelRidge, at defaults and tuned.

    python benchmarks/duels/regressors.py --data DIRECTORY [DIRECTORY ...] [--seeds 3] [--out results.json]

A directory has an index.csv with the columns "name" and "file", and one parquet file per set with the column "target".
Of each set at most 2,000 rows are drawn, numeric columns and rows without gaps only: 60% to learn from, 40% to test.
A seed is a draw and a split. SVR and KernelRidge get standardised columns and, where the table says so, a standardised
target. All models of a kind take turns on the same rows. The error is the root mean squared error on the test rows; a
KernelRidge keeps all rows as vectors. "Ratio" is the geometric mean over sets and seeds of ours divided by theirs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import polars as pl  # noqa: E402
from sklearn.compose import TransformedTargetRegressor  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.svm import SVR  # noqa: E402

from planewise import MCMRegressor, MCMRegressorCV  # noqa: E402

SETS = ["california_housing", "cpu_act", "abalone", "concrete_strength", "beijing_pm25", "communities_crime"]
MAX_ROWS = 2_000
TRAIN_SHARE = 0.6
SVR_GRID = {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.03, 0.1, "scale"], "epsilon": [0.01, 0.1, 0.3]}
RIDGE_GRID = {"alpha": [0.001, 0.01, 0.1, 1, 10], "gamma": [0.003, 0.01, 0.03, 0.1, 0.3]}
OURS = {"defaults": "MCMRegressor", "tuned": "MCMRegressorCV"}


def find_file(name: str, folders: list[Path]) -> Path:
    for folder in folders:
        with (folder / "index.csv").open(newline="") as lines:
            for row in csv.DictReader(lines):
                if row["name"] == name:
                    return folder / row["file"]
    raise SystemExit(f"There is no data set {name!r} in {', '.join(map(str, folders))}.")


def draw(path: Path, seed: int):
    """Rows to learn from and their targets, rows to test and theirs."""
    table = pl.read_parquet(path)
    y = table["target"].to_numpy().astype(np.float64)
    columns = [column for column in table.columns if column != "target" and table[column].dtype.is_numeric()]
    X = table.select(columns).to_numpy().astype(np.float64)
    whole = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(y))
    rows = np.random.default_rng(seed).permutation(whole)[:MAX_ROWS]
    train, test = np.split(rows, [int(TRAIN_SHARE * len(rows))])
    return X[train], y[train], X[test], y[test]


def standardised(model, *, target: bool = True, compressed: bool = False):
    tails = [FunctionTransformer(compress_tails), StandardScaler()] if compressed else []
    scaled = make_pipeline(StandardScaler(), *tails, model)
    return TransformedTargetRegressor(scaled, transformer=StandardScaler()) if target else scaled


def compress_tails(z):
    return np.arcsinh(2 * z)  # as our machines do


def searched(model, grid: dict, n_jobs: int, *, compressed: bool):
    step = type(model).__name__.lower()
    named = {f"regressor__{step}__{name}": values for name, values in grid.items()}
    return GridSearchCV(
        standardised(model, compressed=compressed), named, cv=3, scoring="neg_mean_squared_error", n_jobs=n_jobs
    )


def contenders(kind: str, seed: int, n_jobs: int, compressed: bool) -> dict:
    if kind == "defaults":
        return {
            "MCMRegressor": MCMRegressor(),
            "SVR": standardised(SVR(), compressed=compressed),
            "SVR, y as it is": standardised(SVR(), target=False, compressed=compressed),
            "KernelRidge": standardised(KernelRidge(kernel="rbf"), compressed=compressed),
        }
    return {
        "MCMRegressorCV": MCMRegressorCV(n_jobs=n_jobs, random_state=seed),
        "SVR": searched(SVR(), SVR_GRID, n_jobs, compressed=compressed),
        "KernelRidge": searched(KernelRidge(kernel="rbf"), RIDGE_GRID, n_jobs, compressed=compressed),
    }


def n_vectors(model, n_rows: int) -> int:
    model = getattr(model, "best_estimator_", model)
    model = getattr(model, "regressor_", model)
    model = model[-1] if hasattr(model, "steps") else model
    return len(model.support_) if hasattr(model, "support_") else n_rows


def duel(path: Path, kind: str, seed: int, n_jobs: int, compressed: bool) -> dict:
    X, y, X_test, y_test = draw(path, seed)
    answers = {}
    for name, model in contenders(kind, seed, n_jobs, compressed).items():
        start = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        predicted = model.predict(X_test)
        answers[name] = {
            "error": float(np.sqrt(np.mean((predicted - y_test) ** 2))),
            "vectors": n_vectors(model, len(X)),
            "fit": fitted - start,
            "predict": time.perf_counter() - fitted,
        }
    return answers


def ratio(cells: list[dict], ours: str, theirs: str, what: str) -> float:
    return float(np.exp(np.mean([np.log(max(cell[ours][what], 1e-9) / cell[theirs][what]) for cell in cells])))


def show(kind: str, results: dict[str, list[dict]]) -> None:
    """One row per set, means over seeds; then the ratios."""
    ours = OURS[kind]
    cells = [cell for each in results.values() for cell in each]
    names = list(cells[0])
    print(f"\n{kind}\n\n| data | " + " | ".join(f"error, {name} | vectors" for name in names) + " |")
    print("|---" * (1 + 2 * len(names)) + "|")
    for data, each in results.items():
        means = [
            f"{np.mean([cell[name]['error'] for cell in each]):.4g} | "
            f"{np.mean([cell[name]['vectors'] for cell in each]):.0f}"
            for name in names
        ]
        print(f"| {data} | {' | '.join(means)} |")
    print("\n| ratio to | error | vectors | fit | predict |\n|---|---|---|---|---|")
    for theirs in names[1:]:
        figures = [f"{ratio(cells, ours, theirs, what):.3f}" for what in ("error", "vectors", "fit", "predict")]
        print(f"| {theirs} | {' | '.join(figures)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="directories of data sets")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="threads or processes of the searches")
    parser.add_argument(
        "--compressed", action="store_true", help="compress the tails of columns for all, not for us only"
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    paths = {name: find_file(name, args.data) for name in args.sets}
    table = {}
    for kind in OURS:
        table[kind] = {
            name: [duel(path, kind, seed, args.jobs, args.compressed) for seed in range(args.seeds)]
            for name, path in paths.items()
        }
        show(kind, table[kind])
    if args.out:
        args.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
