"""The exact minimal complexity machine beside scikit-learn's SVC as rows grow: time, vectors, accuracy, memory.

    python benchmarks/duels/scale_mcm.py [--rows 500 1000 2000 5000 10000] [--out results.json]

Two moons with noise, turned into ten dimensions among noise; 5,000 further rows judge. C and gamma of SVC, and mu of
the machine, are chosen by three folds of 1,000 rows beforehand and are the same at every size (mu falls with the square
root of the rows, as the noise of its prices does). Each contender has a process of its own and one thread, they take
turns; short fits are repeated, and the median counts. Memory is what the fit adds to the anonymous resident set at its
peak. Then the prediction time of 5,000 rows and the bytes of the model, as a pickle.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pickle
import statistics
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from sklearn.datasets import make_moons  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scale_boost import PeakMemory  # noqa: E402

N_TEST = 5_000
N_FEATURES = 10
TUNING_ROWS = 1_000
REPEAT_BELOW_S = 5.0


def make_table(n_rows: int, seed: int):
    """Standardised rows, shuffled moons mixed into all columns by one fixed rotation."""
    random = np.random.default_rng(seed)
    moons, y = make_moons(n_rows, noise=0.25, random_state=seed)
    X = np.hstack([2 * moons, random.normal(size=(n_rows, N_FEATURES - 2))])
    rotation = np.linalg.qr(np.random.default_rng(99).normal(size=(N_FEATURES, N_FEATURES)))[0]
    return X @ rotation, y


def tune() -> dict:
    X, y = make_table(TUNING_ROWS, 1)
    scaled = StandardScaler().fit_transform(X)
    svc = GridSearchCV(SVC(), {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.03, 0.1, "scale"]}, cv=3).fit(scaled, y)
    from planewise import MCMClassifierCV

    machine = MCMClassifierCV(cv=3, random_state=0).fit(X, y)
    return {"svc": svc.best_params_, "planewise": machine.best_params_}


def make_model(name: str, known: dict, n_rows: int):
    if name == "svc":
        return SVC(**known)
    from planewise import MCMClassifier

    mu = known["mu"] * np.sqrt(TUNING_ROWS / n_rows)
    return MCMClassifier(known["C"], mu, gamma=known["gamma"])


def serve(pipe, name: str, known: dict, n_rows: int) -> None:
    X, y = make_table(n_rows, 2)
    X_test, y_test = make_table(N_TEST, 3)
    if name == "svc":
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    make_model(name, known, n_rows).fit(X[:200], y[:200])  # imports and first calls
    while pipe.recv():
        model = make_model(name, known, n_rows)
        start = PeakMemory.now()
        with PeakMemory() as memory:
            tick = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - tick
        predictions = []
        for _ in range(5):
            tick = time.perf_counter()
            answer = model.predict(X_test)
            predictions.append(time.perf_counter() - tick)
        pipe.send(
            {
                "fit": seconds,
                "peak": memory.peak - start,
                "vectors": len(model.support_),
                "accuracy": float(np.mean(answer == y_test)),
                "predict": min(predictions),
                "bytes": len(pickle.dumps(model)),
                "gap": float(model.gap_.max()) if name == "planewise" else None,
            }
        )


def duel(known: dict, n_rows: int) -> dict:
    context = multiprocessing.get_context("spawn")
    corners = {}
    for name in ("planewise", "svc"):
        ours, theirs = context.Pipe()
        context.Process(target=serve, args=(theirs, name, known[name], n_rows), daemon=True).start()
        corners[name] = ours
    answers: dict[str, list] = {name: [] for name in corners}
    for _ in range(3):
        for name, pipe in corners.items():
            pipe.send(True)
            answers[name].append(pipe.recv())
        if min(each[-1]["fit"] for each in answers.values()) > REPEAT_BELOW_S:
            break
    for pipe in corners.values():
        pipe.send(False)
    return {"rows": n_rows} | {
        name: each[0] | {"fit": statistics.median(a["fit"] for a in each), "peak": max(a["peak"] for a in each)}
        for name, each in answers.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 1_000, 2_000, 5_000, 10_000])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    known = tune()
    print(known)
    print(
        "| rows | fit (s) | SVC's | ratio | vectors | SVC's | accuracy | SVC's | MB | SVC's | predict | bytes | gap |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    table = []
    for n_rows in args.rows:
        row = duel(known, n_rows)
        ours, theirs = row["planewise"], row["svc"]
        print(
            f"| {n_rows:,} | {ours['fit']:.2f} | {theirs['fit']:.2f} | {ours['fit'] / theirs['fit']:.1f} "
            f"| {ours['vectors']} | {theirs['vectors']} | {ours['accuracy']:.4f} | {theirs['accuracy']:.4f} "
            f"| {ours['peak'] / 1e6:.0f} | {theirs['peak'] / 1e6:.0f} | {ours['predict'] / theirs['predict']:.3f} "
            f"| {ours['bytes'] / theirs['bytes']:.3f} | {ours['gap']:.0e} |",
            flush=True,
        )
        table.append(row)
    if args.out:
        args.out.write_text(json.dumps({"chosen": known, "table": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
