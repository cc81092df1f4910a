"""How long prediction takes: planewise, LightGBM, XGBoost and CatBoost on the same generated tables.

    python benchmarks/duels/predict.py [--rows 1 1000 10000 1000000] [--columns 10 28 100] [--out results.json]

Models of 100 rounds with the defaults of each library, fitted on 10,000 rows. Every library has a process of its own;
they take turns, and the shortest call of each counts. Ratios are our time divided by theirs: below 1 we are faster.
Libraries that are not installed are left out. On a machine that does other work too, --cpu measures processor time, of
all threads together.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import multiprocessing
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import make_half_oblique

ROUNDS = 100
N_TRAIN = 10_000
SECONDS = 3.0  # for all calls of a cell, which has between FEWEST_CALLS and MOST_CALLS of each library
FEWEST_CALLS, MOST_CALLS = 3, 300
TASKS = {"regression": 0, "2 classes": 2, "10 classes": 10}
PEERS = ("lightgbm", "xgboost", "catboost")


def make_table(n_rows: int, n_columns: int, n_classes: int):
    X, score = make_half_oblique(n_rows, n_columns)
    if n_classes == 0:
        return X, score
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def make_model(name: str, n_classes: int):
    kind = "Classifier" if n_classes else "Regressor"
    if name == "planewise":
        import planewise

        return getattr(planewise, f"SLMBoost{kind}")(n_estimators=ROUNDS, n_jobs=1, random_state=0)
    if name == "lightgbm":
        import lightgbm

        return getattr(lightgbm, f"LGBM{kind}")(n_estimators=ROUNDS, n_jobs=1, verbose=-1)
    if name == "xgboost":
        import xgboost

        return getattr(xgboost, f"XGB{kind}")(n_estimators=ROUNDS, n_jobs=1)
    import catboost

    make = getattr(catboost, f"CatBoost{kind}")
    return make(iterations=ROUNDS, thread_count=1, verbose=0, allow_writing_files=False)


def predictor(name: str, model, n_threads: int):
    """A function of X that predicts with so many threads."""
    if name == "catboost":
        return lambda X: model.predict(X, thread_count=n_threads)
    model.set_params(n_jobs=n_threads)
    return model.predict


def serve(pipe, name: str, n_columns: int, n_classes: int, by_cpu: bool) -> None:
    """Answer each (rows, type, threads) with the seconds of one call; a call for another table makes it first."""
    model = make_model(name, n_classes).fit(*make_table(N_TRAIN, n_columns, n_classes))
    table, X, predict = None, None, None
    clock = time.process_time if by_cpu else time.perf_counter
    while (cell := pipe.recv()) is not None:
        if cell != table:
            table, (n_rows, dtype, n_threads) = cell, cell
            X = np.random.default_rng(1).standard_normal((n_rows, n_columns), dtype=np.float32).astype(dtype)
            predict = predictor(name, model, n_threads)
            predict(X[:1000])  # first calls prepare
        tick = clock()
        predict(X)
        pipe.send(clock() - tick)


def duel(pipes, cell) -> dict[str, float]:
    """The shortest call of each library, in seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in pipes}
    begin = time.perf_counter()
    for call in range(MOST_CALLS):
        if call >= FEWEST_CALLS and time.perf_counter() - begin > SECONDS:
            break
        for name, pipe in pipes.items():
            pipe.send(cell)
            seconds[name].append(pipe.recv())
    return {name: min(each) for name, each in seconds.items()}


def start(names, n_columns: int, n_classes: int, by_cpu: bool):
    context = multiprocessing.get_context("spawn")
    pipes = {}
    for name in names:
        pipes[name], theirs = context.Pipe()
        context.Process(target=serve, args=(theirs, name, n_columns, n_classes, by_cpu), daemon=True).start()
    return pipes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[1, 1000, 10_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="*", default=[10, 28, 100])
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=list(TASKS))
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--types", nargs="*", default=["float32", "float64"])
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock on the wall")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    peers = [name for name in PEERS if importlib.util.find_spec(name)]
    print("| task | columns | rows | type | threads | ms | " + " | ".join(f"/ {name}" for name in peers) + " |")
    print("|---" * (6 + len(peers)) + "|")
    table = []
    for task, n_columns in itertools.product(args.tasks, args.columns):
        pipes = start(["planewise", *peers], n_columns, TASKS[task], args.cpu)
        for n_rows, dtype, n_threads in itertools.product(args.rows, args.types, args.threads):
            seconds = duel(pipes, (n_rows, dtype, n_threads))
            ratios = [f"{seconds['planewise'] / seconds[name]:.2f}" for name in peers]
            print(
                f"| {task} | {n_columns} | {n_rows:,} | {dtype} | {n_threads} | {1e3 * seconds['planewise']:.3f} | "
                + " | ".join(ratios)
                + " |",
                flush=True,
            )
            key = {"task": task, "columns": n_columns, "rows": n_rows, "type": dtype, "threads": n_threads}
            table.append(key | {"seconds": seconds})
        for pipe in pipes.values():
            pipe.send(None)
    for name in peers:
        ratios = [row["seconds"]["planewise"] / row["seconds"][name] for row in table]
        print(f"planewise / {name}: median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")
    if args.out:
        args.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
