"""The neighbour engine beside a loop over SciPy's k-d trees: own and other class, in every pair of columns.

    python benchmarks/duels/neighbours.py --data DIRECTORY [--threads 2] [--out results.json]

First all 1,596 pairs of spambase (4,601 rows, standardised): for each row and pair the distance to the nearest other
row of its class and to the nearest of the other class. SciPy gets one tree for each class and pair, in float64, queried
with as many workers; both ways take turns, three times, and the best counts. SciPy walks a share of the pairs, evenly
spread, scaled up (`--every 1` for all of them). The answers are compared. Then 100 columns x 10,000 rows, normal and
with few values, all singles and pairs: time and peak memory, answers included.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from planewise.recip.neighbours import own_and_other_distances

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import load
from scale_boost import PeakMemory

ROUNDS = 3


def by_trees(points, labels, views, workers: int):
    same = np.empty((len(views), len(points)))
    other = np.empty_like(same)
    members = [np.flatnonzero(labels == c) for c in (0, 1)]
    for v, view in enumerate(views):
        parts = [np.ascontiguousarray(points[rows][:, view]) for rows in members]
        trees = [cKDTree(part) for part in parts]
        for c in (0, 1):
            same[v, members[c]] = trees[c].query(parts[c], k=[2], workers=workers)[0][:, 0]
            other[v, members[c]] = trees[1 - c].query(parts[c], k=[1], workers=workers)[0][:, 0]
    return same, other


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return answer, time.perf_counter() - wall, time.process_time() - cpu


def spambase_duel(folder: Path, threads: int, every: int) -> dict:
    table = load("spambase", data_home=folder)
    X = (table.data - table.data.mean(axis=0)) / table.data.std(axis=0)
    points = np.ascontiguousarray(X, np.float32)
    labels = np.unique(table.target, return_inverse=True)[1].astype(np.int32)
    views = list(combinations(range(points.shape[1]), 2))
    some = views[::every]
    rows = np.arange(len(points))
    ours, theirs = [], []
    for _ in range(ROUNDS):
        found, *seconds = timed(lambda: own_and_other_distances(points, labels, views, rows, 1, n_threads=threads))
        ours.append(seconds)
        wanted, *seconds = timed(lambda: by_trees(X, labels, some, threads))
        theirs.append([len(views) / len(some) * each for each in seconds])
    worst = max(float(np.max(np.abs(f[::every] - w) / (1 + w))) for f, w in zip(found, wanted, strict=True))
    queries = len(views) * len(points)
    planewise, scipy = ([min(each) for each in zip(*times, strict=True)] for times in (ours, theirs))
    return {
        "views": len(views),
        "rows": len(points),
        "threads": threads,
        "views_walked_by_scipy": len(some),
        "planewise_seconds": planewise[0],
        "scipy_seconds": scipy[0],
        "ratio": scipy[0] / planewise[0],
        "planewise_cpu_seconds": planewise[1],
        "scipy_cpu_seconds": scipy[1],
        "cpu_ratio": scipy[1] / planewise[1],
        "planewise_cpu_ns_a_query": 1e9 * planewise[1] / queries,
        "largest_relative_difference": worst,
    }


def many_views(kind: str, threads: int) -> dict:
    random = np.random.default_rng(0)
    points = random.normal(size=(10_000, 100)).astype(np.float32)
    if kind == "few values":
        points = np.round(2 * points) / 2
    labels = random.integers(0, 2, len(points)).astype(np.int32)
    views = [(j,) for j in range(100)] + list(combinations(range(100), 2))
    with PeakMemory() as memory:
        answer, seconds, cpu = timed(
            lambda: own_and_other_distances(points, labels, views, np.arange(len(points)), 1, n_threads=threads)
        )
    return {
        "kind": kind,
        "views": len(views),
        "rows": len(points),
        "threads": threads,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "cpu_ns_a_query": 1e9 * cpu / len(views) / len(points),
        "peak_bytes": memory.peak,
        "answer_bytes": sum(part.nbytes for part in answer),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the directory of data sets")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=int, default=8, help="SciPy walks every n-th pair")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    duel = spambase_duel(args.data, args.threads, args.every)
    print(
        f"spambase, {duel['views']:,} pairs: {duel['planewise_seconds']:.2f} s, SciPy {duel['scipy_seconds']:.1f} s: "
        f"{duel['ratio']:.0f} times (processor time {duel['cpu_ratio']:.0f} times, "
        f"{duel['planewise_cpu_ns_a_query']:.0f} ns a row and pair)"
    )
    scale = [many_views(kind, args.threads) for kind in ("normal", "few values")]
    for each in scale:
        print(
            f"{each['kind']}, {each['views']:,} views of {each['rows']:,} rows: {each['seconds']:.1f} s, "
            f"{each['cpu_ns_a_query']:.0f} ns of processor time a row and view, peak {each['peak_bytes'] / 1e6:.0f} MB "
            f"({each['answer_bytes'] / 1e6:.0f} MB of answers)"
        )
    if args.out:
        args.out.write_text(json.dumps({"spambase": duel, "many_views": scale}, indent=1) + "\n")


if __name__ == "__main__":
    main()
