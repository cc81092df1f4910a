"""The generated data of the paper on RECIP: its Tables 1, 2, 4 and 5, beside the printed figures.

    python benchmarks/papers/recip_tables.py [--repetitions 7] [--out results.json]

For q = 1 ... 7 batches and noise 0 ... 0.2 (a share of one batch), each repetition draws its own pairs of features. The
views are learned on one sample and judged on another of the same pairs: precision and recall of the pairs (Table 1),
accuracy on clean rows by selection (Table 2) and by voting (Table 4) with learned and with known views, accuracy on all
rows of nearest neighbours on all features (Table 5). "published" is k = 1, distances, Algorithm 1 with lam = 5; "ours"
are the defaults.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state

from planewise import RECIPClassifier
from planewise.datasets import make_subspace_batches

NOISE = (0, 0.02, 0.05, 0.1, 0.2)
BATCHES = range(1, 8)
PUBLISHED = {"estimate": "distances", "k": 1, "selection": "recip", "lam": 5.0}

# The paper's means, rows q = 1 ... 7, columns noise.
PAPER = {
    "precision": [[1, 1, 1, 0.9286, 0.9286]] + [[1] * 5] * 6,
    "recall": [
        [1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1],
        [1, 1, 0.9524, 0.9524, 1],
        [0.9643, 0.9643, 0.9643, 0.9643, 0.9286],
        [0.7714, 0.7429, 0.8286, 0.8571, 0.7714],
        [0.6429, 0.6905, 0.6905, 0.6905, 0.6905],
        [0.6327, 0.5918, 0.5918, 0.5714, 0.551],
    ],
    "accuracy": [
        [0.9751, 0.9731, 0.9686, 0.9543, 0.9420],
        [0.9333, 0.9297, 0.9227, 0.9067, 0.8946],
        [0.9053, 0.8967, 0.8764, 0.8640, 0.8618],
        [0.8725, 0.8685, 0.8589, 0.8454, 0.8187],
        [0.8113, 0.8009, 0.8105, 0.8105, 0.7782],
        [0.7655, 0.7739, 0.7669, 0.7632, 0.7511],
        [0.7534, 0.7399, 0.7347, 0.7278, 0.7205],
    ],
    "accuracy, known views": [
        [0.9751, 0.9731, 0.9686, 0.9637, 0.9514],
        [0.9333, 0.9297, 0.9227, 0.9067, 0.8946],
        [0.9053, 0.8967, 0.8914, 0.8777, 0.8618],
        [0.8820, 0.8781, 0.8657, 0.8541, 0.8331],
        [0.8714, 0.8641, 0.8523, 0.8429, 0.8209],
        [0.8566, 0.8497, 0.8377, 0.8285, 0.8074],
        [0.8429, 0.8371, 0.8256, 0.8122, 0.7988],
    ],
    "voting": [
        [0.9751, 0.9731, 0.9686, 0.9317, 0.9226],
        [0.7360, 0.7354, 0.7331, 0.7303, 0.7257],
        [0.7290, 0.7266, 0.7163, 0.7166, 0.7212],
        [0.6934, 0.6931, 0.6932, 0.6904, 0.6867],
        [0.6715, 0.6602, 0.6745, 0.6688, 0.6581],
        [0.6410, 0.6541, 0.6460, 0.6529, 0.6512],
        [0.6392, 0.6342, 0.6268, 0.6251, 0.6294],
    ],
    "nearest neighbours": [
        [0.7909, 0.7843, 0.7747, 0.7652, 0.7412],
        [0.7940, 0.7911, 0.7861, 0.7790, 0.7655],
        [0.7964, 0.7939, 0.7901, 0.7854, 0.7756],
        [0.7990, 0.7972, 0.7942, 0.7904, 0.7828],
        [0.8038, 0.8024, 0.8002, 0.7970, 0.7905],
        [0.8043, 0.8032, 0.8015, 0.7987, 0.7930],
        [0.8054, 0.8044, 0.8028, 0.8004, 0.7955],
    ],
}


def halves(q, noise, seed):
    """A sample of twice the size, dealt out in two, so that both have the same pairs."""
    X, y, details = make_subspace_batches(
        q, batch_size=1300, noise=noise, return_details=True, random_state=check_random_state(seed)
    )
    return (
        (X[::2], y[::2]),
        (X[1::2], y[1::2], details.batch[1::2] >= 0),
        {tuple(pair) for pair in details.pairs.tolist()},
    )


def measure(q, noise, repetition):
    (X, y), (X_test, y_test, clean), pairs = halves(q, noise, 1000 * q + 100 * NOISE.index(noise) + repetition)
    out = {}

    def judge(name, **parameters):
        model = RECIPClassifier(random_state=0, n_jobs=-1, **parameters).fit(X, y)
        found = set(model.projections_)
        out[f"precision, {name}"] = len(found & pairs) / len(found)
        out[f"recall, {name}"] = len(found & pairs) / len(pairs)
        for decide, title in (("select", "accuracy"), ("vote", "voting")):
            known = RECIPClassifier(**parameters | {"selection": "auto", "lam": None})
            known.set_params(projections=sorted(pairs), decide=decide).fit(X, y)
            out[f"{title}, known views, {name}"] = known.score(X_test[clean], y_test[clean])
            learned = clone(model).set_params(decide=decide, projections=model.projections_).fit(X, y)
            out[f"{title}, {name}"] = learned.score(X_test[clean], y_test[clean])

    judge("published", **PUBLISHED)
    judge("ours")
    out["nearest neighbours"] = KNeighborsClassifier(5).fit(X, y).score(X_test, y_test)
    return out


def table(title, ours, paper):
    print(f"\n{title} (q by noise; ours, then the paper's)")
    for place, q in enumerate(BATCHES):
        mine = "  ".join(f"{value:.3f}" for value in ours[place])
        theirs = "  ".join(f"{value:.3f}" for value in paper[place]) if paper else ""
        print(f"  {q}   {mine}   |   {theirs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    start, cells = time.perf_counter(), {}
    for q in BATCHES:
        for noise in NOISE:
            runs = [measure(q, noise, repetition) for repetition in range(args.repetitions)]
            for name in runs[0]:
                values = np.array([run[name] for run in runs])
                cells.setdefault(name, {})[f"{q}, {noise}"] = {"mean": values.mean(), "variance": values.var()}
        print(f"q = {q}: {time.perf_counter() - start:.0f} s", flush=True)
    means = {
        name: [[cell[f"{q}, {noise}"]["mean"] for noise in NOISE] for q in BATCHES] for name, cell in cells.items()
    }
    for name, ours in means.items():
        table(name, ours, PAPER.get(name.removesuffix(", published").removesuffix(", ours")))
    print()
    bars = {}
    for name in ("published", "ours"):
        precision, recall = np.mean(means[f"precision, {name}"]), np.mean(means[f"recall, {name}"])
        short = np.array(means[f"accuracy, known views, {name}"]) - means[f"accuracy, {name}"]
        ahead = np.array(means[f"accuracy, {name}"])[1:] - np.array(means[f"voting, {name}"])[1:]
        bars[name] = {
            "mean precision": precision,
            "mean recall": recall,
            "most that learned views lose to known ones, mean of a cell": short.max(),
            "least that selection gains over voting for q >= 2": ahead.min(),
        }
        print(name, {title: round(float(value), 4) for title, value in bars[name].items()})
    if args.out:
        args.out.write_text(
            json.dumps({"repetitions": args.repetitions, "bars": bars, "cells": cells}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
