"""One SLM tree against scikit-learn's decision tree as rows grow: time ratios and losses, side by side.

    python benchmarks/duels/scale_trees.py [--rows 1000 10000 100000 1000000] [--out results.json]

Both take turns in one process and one thread; each fit is repeated while it is short, and the median counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from planewise import SLMClassifier, SLMRegressor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import make_half_oblique

REPEAT_BELOW_S = 5.0
MODELS = {
    "regression": (SLMRegressor, DecisionTreeRegressor),
    "classification": (SLMClassifier, DecisionTreeClassifier),
}


def loss_of(task, truth, answer):
    return float(np.sqrt(np.mean((answer - truth) ** 2)) if task == "regression" else np.mean(answer != truth))


def timed(call):
    tick = time.perf_counter()
    result = call()
    return result, time.perf_counter() - tick


def duel(task, n_rows, seed):
    X, y = make_half_oblique(n_rows + 20_000, task=task, random_state=seed)
    train, test = slice(0, n_rows), slice(n_rows, None)
    seconds = {"planewise": [], "scikit-learn": []}
    row = {"task": task, "rows": n_rows}
    ours, theirs = MODELS[task]
    for _ in range(3):
        for name, make in (("planewise", ours), ("scikit-learn", theirs)):
            model, fit = timed(lambda make=make: make(random_state=seed).fit(X[train], y[train]))
            seconds[name].append(fit)
            answer, predict = timed(lambda model=model: model.predict(X[test]))
            row[name] = {"loss": loss_of(task, y[test], answer), "predict": predict}
            if name == "planewise":
                row["parameters"] = model.n_parameters_
            else:
                row["their_parameters"] = 2 * int((model.tree_.children_left >= 0).sum())
        if min(seconds["planewise"][-1], seconds["scikit-learn"][-1]) > REPEAT_BELOW_S:
            break
    for name, values in seconds.items():
        row[name]["fit"] = statistics.median(values)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    table = []
    print("| task | rows | loss ours | loss theirs | fit ours / theirs | fit ours (s) | predict | parameters |")
    print("|---|---|---|---|---|---|---|---|")
    for task in MODELS:
        for n_rows in args.rows:
            row = duel(task, n_rows, args.seed)
            ours, theirs = row["planewise"], row["scikit-learn"]
            print(
                f"| {task} | {n_rows:,} | {ours['loss']:.4f} | {theirs['loss']:.4f} "
                f"| {ours['fit'] / theirs['fit']:.2f} | {ours['fit']:.2f} "
                f"| {ours['predict'] / theirs['predict']:.2f} | {row['parameters'] / row['their_parameters']:.2f} |",
                flush=True,
            )
            table.append(row)
    if args.out:
        args.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
