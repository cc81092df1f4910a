"""A sum of views beside an explainable boosting machine and LightGBM, on larger tables: loss and time.

    python benchmarks/views.py [--data DIR] [--only a,b] [--contenders "views;lightgbm;ebm"] [--out results.json]

Each set is split 60/40 once; losses are log-loss or root mean squared error on the 40%. Contenders take turns with two
threads each, at their defaults. "made" sets are 100,000 and 1,000,000 rows of Friedman's first function as classes. The
file of results is added to: an expensive contender can run by itself. What is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.data import load, make_friedman
from planewise import AdditiveClassifier, AdditiveRegressor

THREADS = 2
SETS = [
    "adult",
    "magic_gamma",
    "california_housing",
    "default_credit_card",
    "made, 100,000 rows",
    "made, 1,000,000 rows",
]


def table(name, data_home):
    """X as a data frame, y, and whether y holds numbers."""
    if name.startswith("made"):
        n_rows = int(name.split(" ")[1].replace(",", ""))
        X, y = make_friedman(1, n_samples=n_rows, random_state=0)
        return X.astype(np.float32), (y > np.median(y)).astype(int), False
    bunch = load(name, data_home=data_home, as_frame="pandas")
    X, y = bunch.data, np.asarray(bunch.target)
    for column in X.columns:
        if X[column].dtype.kind not in "ifb":
            X[column] = X[column].astype("category")
    numbers = y.dtype.kind == "f"
    return X, y if numbers else np.unique(y, return_inverse=True)[1], numbers


def contender(name, numbers):
    if name == "views":
        kind = AdditiveRegressor if numbers else AdditiveClassifier
        return kind(n_jobs=THREADS, random_state=0)
    if name == "lightgbm":
        import lightgbm

        kind = lightgbm.LGBMRegressor if numbers else lightgbm.LGBMClassifier
        return kind(n_jobs=THREADS, random_state=0, verbose=-1)
    from interpret import glassbox

    kind = glassbox.ExplainableBoostingRegressor if numbers else glassbox.ExplainableBoostingClassifier
    return kind(n_jobs=THREADS, random_state=0)


def fight(model, X, y, numbers):
    learn, test = train_test_split(np.arange(len(y)), test_size=0.4, random_state=0, stratify=None if numbers else y)
    part = (lambda rows: X[rows]) if isinstance(X, np.ndarray) else (lambda rows: X.iloc[rows])
    start = time.perf_counter()
    model.fit(part(learn), y[learn])
    seconds = time.perf_counter() - start
    if numbers:
        loss = float(np.sqrt(np.mean((model.predict(part(test)) - y[test]) ** 2)))
    else:
        loss = float(log_loss(y[test], model.predict_proba(part(test))))
    return {"loss": loss, "fit": seconds, "views": len(getattr(model, "projections_", ()))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="directory of data sets (else PLANEWISE_DATA, scikit-learn or OpenML)")
    parser.add_argument("--only", default="", help="names, separated by semicolons")
    parser.add_argument("--contenders", default="views;lightgbm;ebm")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    results = json.loads(args.out.read_text())["sets"] if args.out and args.out.exists() else {}
    for name in args.only.split(";") if args.only else SETS:
        X, y, numbers = table(name, args.data)
        found = results.setdefault(name, {"rows": len(y), "columns": X.shape[1]})
        for who in args.contenders.split(";"):
            try:
                found[who] = fight(contender(who, numbers), X, y, numbers)
            except ImportError as error:
                print(f"{who} is left out: {error}")
                continue
            print(f"{name}: {who} {found[who]['loss']:.4f} in {found[who]['fit']:.1f} s", flush=True)
            if args.out:
                args.out.write_text(json.dumps({"sets": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
