"""Figure 5 of the SLM paper: how quickly ensembles converge with the number of trees.

    python benchmarks/papers/slm_convergence.py [--data DIR] [--seeds 20] [--out results.json]

SLM Forest against a random forest (test accuracy), SLM Boost against XGBoost (test log-loss), on Wine, breast cancer
(Wisconsin) and Pima, 60/40 splits, mean over seeds. "ours" is this library's default, "published" has the
published options. The paper's claim: both need fewer trees than the axis-parallel ensembles.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from planewise import SLMBoostClassifier, SLMForestClassifier, datasets

SETS = {"Wine": ("wine", None), "B.C.W.": ("breast_cancer_wdbc", None), "Pima": ("pima_diabetes", "slm")}
TREES = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100]
PUBLISHED = {
    "max_planes": 2,
    "plane_choice": "cosine",
    "subspace": "node",
    "refine_thresholds": False,
    "min_samples_leaf": 1,
    "max_rows_per_node": None,
    "noise_margin": 0.0,
    "smoothing": 0.0,
}


def forests(seed):
    return {
        "random forest": RandomForestClassifier(100, random_state=seed),
        "SLM forest, ours": SLMForestClassifier(random_state=seed),
        "SLM forest, published": SLMForestClassifier(random_state=seed, voting="hard", **PUBLISHED),
    }


def accuracies(model, X, y):
    """Test accuracy of the first trees alone."""
    if isinstance(model, RandomForestClassifier):
        each = np.stack([tree.predict_proba(X) for tree in model.estimators_])
        mean = np.cumsum(each, axis=0) / np.arange(1, 101)[:, None, None]
        return [float(np.mean(model.classes_[mean[n - 1].argmax(axis=1)] == y)) for n in TREES]
    whole, out = model.forest_, []
    for n in TREES:
        model.forest_ = whole.head(n)
        out.append(float(model.score(X, y)))
    model.forest_ = whole
    return out


def losses(name, seed, X, y, X_test, y_test):
    """Test log-loss by number of rounds."""
    labels = np.unique(y)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=100, learning_rate=0.1, n_jobs=1, random_state=seed).fit(X, y)
        return [log_loss(y_test, model.predict_proba(X_test, iteration_range=(0, n)), labels=labels) for n in TREES]
    published = PUBLISHED | {"reg_lambda": 0.0, "base_score": 0.0} if name.endswith("published") else {}
    model = SLMBoostClassifier(random_state=seed, **published).fit(X, y)
    staged = list(model.staged_predict_proba(X_test))
    return [log_loss(y_test, staged[min(n, len(staged)) - 1], labels=labels) for n in TREES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the data sets; else they come from OpenML")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result = {"trees": TREES, "seeds": args.seeds, "accuracy": {}, "log_loss": {}}
    for title, (name, variant) in SETS.items():
        data = datasets.load(name, variant=variant, data_home=args.data)
        X, y = np.asarray(data.data, dtype=float), np.unique(data.target, return_inverse=True)[1]
        accuracy, loss = {}, {}
        for seed in range(args.seeds):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
            for method, model in forests(seed).items():
                accuracy.setdefault(method, []).append(accuracies(model.fit(X_train, y_train), X_test, y_test))
            for method in ("XGBoost", "SLM boost, ours", "SLM boost, published"):
                loss.setdefault(method, []).append(losses(method, seed, X_train, y_train, X_test, y_test))
        for what, found in (("accuracy", accuracy), ("log_loss", loss)):
            result[what][title] = {method: np.mean(curves, axis=0).tolist() for method, curves in found.items()}
            print(f"\n{title}, {what} by trees\n{'':<24}" + " ".join(f"{n:>6}" for n in TREES))
            for method, curve in result[what][title].items():
                print(f"{method:<24}" + " ".join(f"{value:6.3f}" for value in curve), flush=True)
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
