"""What a round of boosting costs on rows in parts: the model of docs/scale.md, its constants, and a check.

    python benchmarks/duels/dask_costs.py [--rows 1000000] [--out results.json]

Constants are measured first: nanoseconds per row for the two questions of a round, milliseconds to grow a tree from
65,536 rows (one thread), and the milliseconds that a question takes by number of workers, on this machine. Then rounds
are run on a cluster of two workers, with every question delayed as a slower network would: by a latency, and by its
bytes over a bandwidth. The seconds per round that the model says stand beside those measured. Last, what the model says
for larger clusters of 10^9 rows, with workers of eight threads.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster, wait
from dask_boost import collections
from generated_parts import N_COLUMNS, features, labels

import dask
import planewise.dask
from planewise.dask._engine import DaskParts
from planewise.parts import LocalParts, Part
from planewise.slm._rounds_in_parts import BoostingInParts
from planewise.slm.in_parts import BoostsParts, class_loss_of

ROUNDS_PER_SAMPLE = 8
SAMPLE = 65_536
LOCAL_BANDWIDTH = 3.5e8  # bytes per second between processes, through the scheduler


class InThisProcess(BoostsParts, planewise.SLMBoostClassifier):
    """Boosting on parts in this process."""

    def fit_parts(self, parts):
        self.categories_, self.n_features_in_, self.classes_ = {}, N_COLUMNS, np.array([0, 1])
        self._learn_in_parts(parts, {}, class_loss_of(self, 2), self._tasks(None, None, None))
        return self


def timed_asks(kind, seconds, delay=None):
    """Let an engine count the seconds of each question; `delay` of an answer's bytes is waited for."""
    plain = kind.ask

    def ask(self, question, *common, each=None):
        start = time.perf_counter()
        answers = plain(self, question, *common, each=each)
        if delay is not None and question.__name__ in ("prepare", "route"):
            time.sleep(delay(len(pickle.dumps((common, answers), protocol=5))))
        seconds[question.__name__].append(time.perf_counter() - start)
        return answers

    kind.ask = ask
    return plain


def nothing(part, *, n_threads):
    return None


def constants(n_rows):
    """Nanoseconds per row of the two questions, and milliseconds to grow a tree, with one thread."""
    X = features(0, n_rows)
    parts = LocalParts([Part(X, labels(X, 0).astype(float), np.ones(n_rows))])
    seconds = defaultdict(list)
    plain = timed_asks(LocalParts, seconds)
    start = time.perf_counter()
    InThisProcess(n_estimators=40, n_jobs=1, random_state=0).fit_parts(parts)
    LocalParts.ask = plain
    rounds = time.perf_counter() - start - sum(map(sum, seconds.values()))
    return {
        "prepare_ns_per_row": float(np.median(seconds["prepare"]) / n_rows * 1e9),
        "route_ns_per_row": float(np.median(seconds["route"]) / n_rows * 1e9),
        "grow_ms": 1e3 * rounds / 40,
    }


def seconds_of_a_question(n_workers):
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        rows = np.zeros((10, 2), np.float32)
        futures = client.map(lambda k: Part(rows, np.zeros(10), np.ones(10), 10 * k), range(2 * n_workers), pure=False)
        wait(futures)
        parts = DaskParts(client, futures, [10] * len(futures))
        spent = []
        for _ in range(60):
            start = time.perf_counter()
            parts.ask(nothing)
            spent.append(time.perf_counter() - start)
        return float(np.median(spent[10:]))


def seconds_per_round(known, n_rows, n_threads, question, grow_threads, latency=0.0, bandwidth=np.inf):
    """The model. `n_threads` are those of all workers together, `question` is what one takes without a network.

    With `grow_threads=0` the client has no cores of its own: growing and preparing share those of the workers.
    """
    ask = question + latency
    prepare = known["prepare_ns_per_row"] * 1e-9 * n_rows / n_threads + ask
    route = known["route_ns_per_row"] * 1e-9 * n_rows / n_threads + ask
    grow = known["grow_ms"] * 1e-3
    both = max(prepare, grow / grow_threads) if grow_threads else prepare + grow / n_threads
    sample = SAMPLE * (4 * N_COLUMNS + 24) / min(bandwidth, LOCAL_BANDWIDTH) / ROUNDS_PER_SAMPLE
    return both + route + sample


def measured(client, X, y, latency, bandwidth):
    seconds, spent = defaultdict(list), []
    plain = timed_asks(DaskParts, seconds, lambda size: latency + size / bandwidth)
    one_round = BoostingInParts._round

    def timed_round(self):
        start = time.perf_counter()
        one_round(self)
        spent.append(time.perf_counter() - start)

    BoostingInParts._round = timed_round
    planewise.dask.SLMBoostClassifier(n_estimators=48, random_state=0, client=client).fit(X, y)
    DaskParts.ask, BoostingInParts._round = plain, one_round
    return float(np.mean(spent))


def checks(args, known, question):
    found = []
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
    with cluster, Client(cluster) as client:
        X, y = client.persist(list(collections(args.rows, 8)))
        wait([X, y])
        for latency, bandwidth in ((0, np.inf), (0.005, 1.25e9), (0.02, 1.25e8), (0.1, 1.25e7)):
            said = seconds_per_round(known, args.rows, 2, question[2], 0, latency, bandwidth)
            saw = measured(client, X, y, latency, bandwidth)
            found.append({"latency_ms": 1e3 * latency, "gbit_per_s": bandwidth * 8e-9,
                          "model_ms": round(1e3 * said, 1), "measured_ms": round(1e3 * saw, 1)})  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    known = constants(500_000)
    question = {n: seconds_of_a_question(n) for n in (1, 2, 4, 8)}
    per_worker = (question[8] - question[2]) / 6
    large = []
    for n_workers in (10, 100, 1000):
        asked = question[2] + per_worker * (n_workers - 2)
        each = seconds_per_round(known, 1e9, 8 * n_workers, asked, 8, latency=0.0005, bandwidth=1.25e9)
        large.append({"workers": n_workers, "seconds_per_round": round(each, 3)})
    answer = {
        "constants": {name: round(value, 2) for name, value in known.items()},
        "question_ms": {n: round(1e3 * value, 2) for n, value in question.items()},
        "question_ms_per_worker": round(1e3 * per_worker, 3),
        "checks": checks(args, known, question),
        "a_billion_rows": large,
        "versions": {"dask": dask.__version__},
    }
    text = json.dumps(answer, indent=2).replace("Infinity", "null")
    print(text)
    if args.out is not None:
        args.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
