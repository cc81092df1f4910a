"""How long one row takes: predict of a fitted model of 100 rounds, called from Python, one thread.

    python benchmarks/duels/latency.py [--calls 2000] [--out results.json]

The peers take turns; the median of all calls counts. Peers that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

warnings.filterwarnings("ignore")
TABLES = {
    "two classes": load_breast_cancer,
    "ten classes": load_digits,
    "regression": load_diabetes,
}
PEERS = {
    "planewise": ("planewise", "SLMBoost{}", {"n_estimators": 100, "n_jobs": 1, "random_state": 0}),
    "lightgbm": ("lightgbm", "LGBM{}", {"n_estimators": 100, "n_jobs": 1, "verbose": -1}),
    "xgboost": ("xgboost", "XGB{}", {"n_estimators": 100, "n_jobs": 1}),
    "catboost": (
        "catboost",
        "CatBoost{}",
        {"iterations": 100, "thread_count": 1, "verbose": 0, "allow_writing_files": False},
    ),
    "scikit-learn": ("sklearn.ensemble", "HistGradientBoosting{}", {"max_iter": 100}),
}


def fitted(X, y, kind):
    models = {}
    for name, (module, make, parameters) in PEERS.items():
        try:
            models[name] = getattr(importlib.import_module(module), make.format(kind))(**parameters).fit(X, y)
        except ImportError:
            print(f"(no {name})")
    return models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    table = {}
    for what, load in TABLES.items():
        X, y = load(return_X_y=True)
        models = fitted(X, y, "Regressor" if what == "regression" else "Classifier")
        times = {name: [] for name in models}
        for call in range(args.calls):
            row = X[call % len(X)][None]
            for name, model in models.items():
                tick = time.perf_counter()
                model.predict(row)
                times[name].append(time.perf_counter() - tick)
        table[what] = {name: 1e6 * float(np.median(each)) for name, each in times.items()}
        print(f"{what:<12} " + "  ".join(f"{name} {micro:.0f} us" for name, micro in table[what].items()), flush=True)
    if args.out:
        args.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
