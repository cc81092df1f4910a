"""Boosting on a Dask cluster whose workers are killed, or joined by others, in the middle of fits.

    python benchmarks/duels/dask_chaos.py [--kills 50] [--additions 10] [--rows 20000] [--rounds 300] [--out chaos.json]

Each fit of the first kind loses one worker by SIGKILL at a random moment of the time that an undisturbed fit takes; a
nanny starts a new one. Each fit of the second kind gets one more worker, and some partitions move to it. Fits take
turns among two classes, five classes and numbers, with and without rows set aside for early stopping; half of them run
on two workers, half on three, in processes of their own. Every model is compared with that of the same table in memory,
byte by byte. Fits that ended before the worker was killed or added are compared, too, but counted as "too_late" only.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import signal
import statistics
import threading
import time
from pathlib import Path

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import planewise
import planewise.dask

N_COLUMNS, N_PARTS, ROWS_PER_TREE = 10, 9, 2048


def table(n_rows):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] + np.sin(3 * X[:, 3]) + 0.5 * rng.standard_normal(n_rows, dtype=np.float32)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, {
        "two classes": (score > 0).astype(int),
        "five classes": np.digitize(score, [-1.5, -0.5, 0.5, 1.5]),
        "numbers": score.astype(np.float64),
    }


def settings_of(task, stops, n_rounds):
    name = "SLMBoostRegressor" if task == "numbers" else "SLMBoostClassifier"
    rounds = n_rounds // 3 if task == "five classes" else n_rounds
    more = {"early_stopping": True, "n_iter_no_change": rounds} if stops else {}
    return name, {"n_estimators": rounds, "max_rows_per_tree": ROWS_PER_TREE, "random_state": 0} | more


def model_bytes(model):
    arrays = {**model.forest_.arrays(), "base": model.base_score_, "means": model.feature_means_}
    return {name: array.tobytes() for name, array in arrays.items()} | {"scores": model.validation_score_.tobytes()}


def process_of(dask_worker):
    return os.getpid()


class Chaos:
    """A cluster, what is done to it, and the models that come out of it."""

    def __init__(self, arguments):
        self.n_rounds = arguments.rounds
        self.X, self.targets = table(arguments.rows)
        self.random = random.Random(0)
        self.undisturbed = {}  # by task and whether it stops early: bytes, and seconds on the cluster

    def collections(self, task):
        X = da.from_array(self.X, chunks=(-(-len(self.X) // N_PARTS), N_COLUMNS))
        return X, da.from_array(self.targets[task], chunks=X.chunks[0])

    def fit(self, client, task, stops):
        name, settings = settings_of(task, stops, self.n_rounds)
        begun = time.perf_counter()
        model = getattr(planewise.dask, name)(**settings, client=client).fit(*self.collections(task))
        return model_bytes(model), time.perf_counter() - begun

    def measure(self, client, task, stops):
        """The bytes in memory, and the seconds of an undisturbed fit on the cluster, which gives the same."""
        name, settings = settings_of(task, stops, self.n_rounds)
        expected = model_bytes(getattr(planewise, name)(**settings).fit(self.X, self.targets[task]))
        found, seconds = zip(*(self.fit(client, task, stops) for _ in range(2)), strict=True)
        if any(each != expected for each in found):
            raise AssertionError(f"{task}: an undisturbed fit differs")
        self.undisturbed[task, stops] = expected, min(seconds)

    def disturbed(self, client, number, disturb):
        """One fit, disturbed at a random moment."""
        kinds = list(self.undisturbed)
        task, stops = kinds[number % len(kinds)]
        expected, usual = self.undisturbed[task, stops]
        moment, ended, hit = self.random.uniform(0, usual), threading.Event(), []

        def act():
            if not ended.wait(moment):
                disturb()
                hit.append(not ended.is_set())

        acting = threading.Thread(target=act)
        acting.start()
        found, seconds = self.fit(client, task, stops)
        ended.set()
        acting.join()
        return {"equal": found == expected, "hit": any(hit), "seconds": seconds, "usual": usual}

    def kill_one(self, client):
        address = self.random.choice(sorted(client.scheduler_info(n_workers=-1)["workers"]))
        os.kill(client.run(process_of, workers=[address])[address], signal.SIGKILL)


def run_on(chaos, cluster, client, n_kills, n_additions):
    """Fits on one cluster."""
    n_workers, fits = len(cluster.workers), {"killed": [], "added": []}

    def add():
        cluster.scale(n_workers + 1)
        client.wait_for_workers(n_workers + 1, timeout=60)
        client.rebalance()

    for task in chaos.targets:
        for stops in (False, True):
            chaos.measure(client, task, stops)
    for kind, count, disturb in (("killed", n_kills, lambda: chaos.kill_one(client)), ("added", n_additions, add)):
        while sum(fit["hit"] for fit in fits[kind]) < count:
            cluster.scale(n_workers)
            wait_for_exactly(client, n_workers)
            fits[kind].append(chaos.disturbed(client, len(fits[kind]), disturb))
            print(n_workers, "workers,", kind, fits[kind][-1], flush=True)
    return fits


def run(chaos, n_kills, n_additions):
    """Half of the fits on two workers, half on three."""
    fits = {"killed": [], "added": []}
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    for n_workers, half in ((2, 0), (3, 1)):
        with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster, set_as_default=False) as client:
            found = run_on(chaos, cluster, client, (n_kills + half) // 2, (n_additions + half) // 2)
            fits = {kind: fits[kind] + found[kind] for kind in fits}
    return fits


def wait_for_exactly(client, n_workers):
    while len(client.scheduler_info(n_workers=-1)["workers"]) != n_workers:
        time.sleep(0.1)


def summary(fits):
    too_late, fits = [fit for fit in fits if not fit["hit"]], [fit for fit in fits if fit["hit"]]
    return {
        "fits": len(fits),
        "equal": sum(fit["equal"] for fit in fits),
        "too_late": len(too_late),
        "too_late_equal": sum(fit["equal"] for fit in too_late),
        "seconds_undisturbed": round(statistics.median(fit["usual"] for fit in fits), 3),
        "seconds_disturbed": round(statistics.median(fit["seconds"] for fit in fits), 3),
        "seconds_disturbed_most": round(max(fit["seconds"] for fit in fits), 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--additions", type=int, default=10)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    fits = run(Chaos(arguments), arguments.kills, arguments.additions)
    found = {"rows": arguments.rows, "columns": N_COLUMNS, "partitions": N_PARTS, "rounds": arguments.rounds}
    found |= {kind: summary(each) for kind, each in fits.items() if each}
    print(json.dumps(found, indent=1))
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
