"""Boosting against LightGBM as rows grow: time, peak memory and loss, side by side.

    python benchmarks/duels/scale_boost.py [--rows 10000 100000 1000000] [--covertype DATA_DIR] [--out results.json]

100 rounds, learning rate 0.1, two threads. Each contender has a process of its own and they take turns; short fits are
repeated, and the median counts. Memory is the largest anonymous resident set during the fit, the caller's own table (as
float32) included; "float32 twice + 200 MB" is what we allow ourselves.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import load, make_half_oblique

THREADS = 2
REPEAT_BELOW_S = 20.0
N_TEST = 20_000


def make_table(task: str, n_rows: int, folder: Path | None):
    if task != "covertype":
        X, y = make_half_oblique(n_rows + N_TEST, 28, task=task)
        return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
    data = load("covertype", data_home=folder)
    X, y = np.asarray(data.data, dtype=np.float32), np.unique(data.target, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[: len(y) // 5], order[len(y) // 5 :]
    return np.ascontiguousarray(X[train]), y[train], X[test], y[test]


def make_model(name: str, task: str):
    regression = task == "regression"
    if name == "planewise":
        import planewise as pw

        make = pw.SLMBoostRegressor if regression else pw.SLMBoostClassifier
        return make(n_estimators=100, learning_rate=0.1, n_jobs=THREADS, random_state=0)
    import lightgbm

    make = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    return make(n_estimators=100, learning_rate=0.1, n_jobs=THREADS, random_state=0, verbose=-1)


class PeakMemory:
    """The largest anonymous resident set of this process while the block runs, in bytes."""

    def __enter__(self):
        self.peak, self.over = self.now(), threading.Event()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.watcher.join()

    def watch(self):
        while not self.over.wait(0.005):
            self.peak = max(self.peak, self.now())

    @staticmethod
    def now() -> int:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return 1024 * int(line.split()[1])
        raise RuntimeError("this system does not tell its anonymous memory")


def serve(pipe, name, task, n_rows, folder):
    X, y, X_test, y_test = make_table(task, n_rows, folder)
    make_model(name, task).fit(X[:500], y[:500])  # imports and first calls
    while pipe.recv():
        model = make_model(name, task)
        with PeakMemory() as memory:
            tick = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - tick
        if task == "regression":
            loss = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
        else:
            loss = float(log_loss(y_test, model.predict_proba(X_test)))
        pipe.send({"fit": seconds, "peak": memory.peak, "table": X.nbytes, "rows": len(X), "loss": loss})


def duel(task: str, n_rows: int, folder: Path | None) -> dict:
    context = multiprocessing.get_context("spawn")
    corners = {}
    for name in ("planewise", "lightgbm"):
        ours, theirs = context.Pipe()
        context.Process(target=serve, args=(theirs, name, task, n_rows, folder), daemon=True).start()
        corners[name] = ours
    answers = {name: [] for name in corners}
    for _ in range(3):
        for name, pipe in corners.items():
            pipe.send(True)
            answers[name].append(pipe.recv())
        if min(each[-1]["fit"] for each in answers.values()) > REPEAT_BELOW_S:
            break
    for pipe in corners.values():
        pipe.send(False)
    row = {"task": task, "rows": answers["planewise"][0]["rows"], "table": answers["planewise"][0]["table"]}
    for name, each in answers.items():
        row[name] = {
            "fit": statistics.median(a["fit"] for a in each),
            "peak": max(a["peak"] for a in each),
            "loss": each[0]["loss"],
        }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--covertype", type=Path, metavar="DATA_DIR", help="the full covertype set, from this folder")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    jobs = [(task, n) for task in ("regression", "classification") for n in args.rows]
    if args.covertype:
        jobs.append(("covertype", 0))
    print(
        "| task | rows | loss ours | theirs | fit ours (s) | theirs | ours / theirs | peak MB ours | theirs | allowed |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    table = []
    for task, n_rows in jobs:
        row = duel(task, n_rows, args.covertype)
        ours, theirs = row["planewise"], row["lightgbm"]
        allowed = 2 * row["table"] + 200e6
        print(
            f"| {task} | {row['rows']:,} | {ours['loss']:.4f} | {theirs['loss']:.4f} | {ours['fit']:.2f} "
            f"| {theirs['fit']:.2f} | {ours['fit'] / theirs['fit']:.2f} | {ours['peak'] / 1e6:.0f} "
            f"| {theirs['peak'] / 1e6:.0f} | {allowed / 1e6:.0f} |",
            flush=True,
        )
        table.append(row)
    if args.out:
        args.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
