"""Boosting on a Dask cluster of two workers with one thread each: planewise, XGBoost and LightGBM.

    python benchmarks/duels/dask_boost.py [--rows 1000000] [--rounds 100] [--parts 8] [--repeats 3] [--out results.json]

The table has 28 columns of normal numbers and is generated in parts on the workers, which hold it in memory before the
clock starts. All libraries have a learning rate of 0.1 and else their defaults; they take turns. "one process" is
planewise with two threads on the same rows in memory: its seconds over those of the cluster are the efficiency. The
log-loss is of 200,000 rows that no model has seen. "worker_mb" is the largest growth of a worker's anonymous memory
during a fit of planewise, and "allowed_mb" the float32 part once, 24 bytes and 8 per output for each row, and 300 MB.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import threading
import time
from pathlib import Path

import dask.array as da
import lightgbm
import numpy as np
import xgboost
import xgboost.dask
from dask.distributed import Client, LocalCluster, wait
from sklearn.metrics import log_loss

import dask
import planewise
import planewise.dask

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import N_COLUMNS, labels_of, normal_features


def collections(n_rows, n_parts):
    size = n_rows // n_parts
    blocks = [dask.delayed(normal_features)(seed, size) for seed in range(n_parts)]
    targets = [dask.delayed(labels_of)(block, seed) for seed, block in enumerate(blocks)]
    X = da.concatenate([da.from_delayed(block, (size, N_COLUMNS), np.float32) for block in blocks])
    return X, da.concatenate([da.from_delayed(target, (size,), np.int64) for target in targets])


def anonymous_mb():
    """Anonymous memory of this process."""
    text = Path("/proc/self/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) / 1024


class PeakMemory:
    """The largest anonymous memory of each worker, looked at every 50 ms."""

    def __init__(self, client):
        self.client, self.most, self.done = client, {}, threading.Event()

    def __enter__(self):
        self.first = self.client.run(anonymous_mb)
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def look(self):
        while not self.done.wait(0.05):
            for worker, now in self.client.run(anonymous_mb).items():
                self.most[worker] = max(now, self.most.get(worker, 0))

    def growth(self):
        return max(self.most[worker] - first for worker, first in self.first.items())


def models(client, n_rounds):
    lgb = lightgbm.DaskLGBMClassifier(client=client, n_estimators=n_rounds, learning_rate=0.1, verbose=-1)
    xgb = xgboost.dask.DaskXGBClassifier(n_estimators=n_rounds, learning_rate=0.1)
    xgb.client = client
    return {
        "planewise": planewise.dask.SLMBoostClassifier(n_estimators=n_rounds, random_state=0, client=client),
        "xgboost": xgb,
        "lightgbm": lgb,
    }


def seconds_of(fit):
    gc.collect()
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def run(args, client):
    X, y = client.persist(list(collections(args.rows, args.parts)))
    wait([X, y])
    X_test = normal_features(9_999, 200_000)
    y_test = labels_of(X_test, 9_999)
    seconds = {}
    losses = {}
    for _ in range(args.repeats):
        for name, model in models(client, args.rounds).items():
            seconds.setdefault(name, []).append(seconds_of(lambda model=model: model.fit(X, y)))
            local = model.to_local() if name != "xgboost" else None
            proba = (
                xgboost.XGBClassifier.predict_proba(_local_xgboost(model), X_test)
                if local is None
                else local.predict_proba(X_test)
            )
            losses[name] = log_loss(y_test, proba[:, -1])
        here = dask.compute(X, y)
        one = planewise.SLMBoostClassifier(n_estimators=args.rounds, n_jobs=2, random_state=0)
        seconds.setdefault("one process", []).append(seconds_of(lambda one=one, here=here: one.fit(*here)))
        del here
    with PeakMemory(client) as memory:
        models(client, args.rounds)["planewise"].fit(X, y)
    rows_per_worker = args.rows / 2
    allowed = rows_per_worker * (4 * N_COLUMNS + 24 + 8) / 2**20 + 300
    return seconds, losses, memory.growth(), allowed


def _local_xgboost(model):
    made = xgboost.XGBClassifier()
    made._Booster, made.n_classes_ = model.get_booster(), 2
    made.objective = "binary:logistic"
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0)
    with cluster, Client(cluster) as client:
        seconds, losses, growth, allowed = run(args, client)
    median = {name: statistics.median(each) for name, each in seconds.items()}
    answer = {
        "rows": args.rows,
        "rounds": args.rounds,
        "parts": args.parts,
        "seconds": {name: [round(each, 2) for each in every] for name, every in seconds.items()},
        "log_loss": {name: round(each, 5) for name, each in losses.items()},
        "efficiency": round(median["one process"] / median["planewise"], 3),
        "time_over_xgboost": round(median["planewise"] / median["xgboost"], 3),
        "time_over_lightgbm": round(median["planewise"] / median["lightgbm"], 3),
        "worker_mb": round(growth),
        "allowed_mb": round(allowed),
        "versions": {"dask": dask.__version__, "xgboost": xgboost.__version__, "lightgbm": lightgbm.__version__},
    }
    print(json.dumps(answer, indent=2))
    if args.out is not None:
        args.out.write_text(json.dumps(answer, indent=2) + "\n")


if __name__ == "__main__":
    main()
