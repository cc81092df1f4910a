"""Tables that are hard to read: seconds since 1970, infinities, sparse one-hot columns; planewise and LightGBM.

    python benchmarks/duels/unusual_tables.py [--out results.json]

Accuracy on rows that no model has seen, and seconds to fit, one thread each, in turns. "seconds" has one column, the
time over ten minutes, and a class that changes every minute; "infinities" has a column in which a fifth of the values
are infinite, with a class of their own; "one-hot" has 20,000 rows and 500 columns of zeros and ones in a sparse
table, fifty columns with one of ten values each.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import lightgbm
import numpy as np
from scipy.sparse import csr_matrix

from planewise import SLMBoostClassifier


def seconds(rng):
    passed = rng.uniform(0, 600, 6000)
    return 1.7e9 + passed[:, None], (passed // 60).astype(int) % 2


def infinities(rng):
    X = rng.normal(size=(6000, 4))
    X[rng.random(6000) < 0.1, 0] = np.inf
    X[rng.random(6000) < 0.1, 0] = -np.inf
    return X, np.where(np.isinf(X[:, 0]), X[:, 0] > 0, X[:, 0] * X[:, 1] > 0).astype(int)


def one_hot(rng):
    values = rng.integers(0, 10, (40_000, 50))
    rows, columns = np.indices(values.shape)
    worth = rng.normal(size=(50, 10)) * (np.arange(50) < 10)[:, None]
    score = worth[columns, values].sum(axis=1) + rng.logistic(size=len(values))
    places = (columns * 10 + values).ravel()
    X = csr_matrix((np.ones(values.size), (rows.ravel(), places)), shape=(len(values), 500))
    return X, (score > 0).astype(int)


def models():
    return {
        "planewise": SLMBoostClassifier(n_jobs=1, random_state=0),
        "lightgbm": lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for make in (seconds, infinities, one_hot):
        X, y = make(np.random.default_rng(0))
        half = X.shape[0] // 2
        for name, model in models().items():
            tick = time.perf_counter()
            model.fit(X[:half], y[:half])
            took = time.perf_counter() - tick
            accuracy = float(np.mean(model.predict(X[half:]) == y[half:]))
            rows.append({"table": make.__name__, "model": name, "accuracy": accuracy, "fit": took})
            print(f"{make.__name__:12} {name:10} accuracy {accuracy:.4f}  fit {took:.2f} s", flush=True)
    if args.out is not None:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
