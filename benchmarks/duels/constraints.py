"""Constraints on interactions and on directions: quality beside scikit-learn's and LightGBM's.

    python benchmarks/duels/constraints.py [--rows 2000] [--seeds 5] [--constraints monotone] [--out FILE]

Generated truths of ten columns, with noise. Boosting has 100 rounds, learning rate 0.1 and otherwise its defaults, as
have trees and forests. Figures are the mean R2 (ROC AUC for classes) on 20,000 other rows, without constraints and with
them, and how far the constrained model is from its law: the largest step the wrong way along a constrained column, or
the largest joint effect of columns that must not meet.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import planewise as pw

N_TEST = 20_000
COLUMNS = 10
GROUPS = [[0, 1], [2, 3], [4], [5], [6, 7, 8, 9]]
SIGNS = [1, -1, 0, 0, 1, 0, 0, 0, 0, 0]


def interacting(X):
    """Products and oblique steps inside the groups."""
    return X[:, 0] * X[:, 1] + 1.5 * (X[:, 2] + X[:, 3] > 0.3) + np.sin(3 * X[:, 4]) + X[:, 5]


def additive(X):
    """Functions of single columns."""
    return np.sin(3 * X[:, 0]) + np.exp(X[:, 1]) + np.abs(X[:, 2]) * 2 + X[:, 3] ** 2 + X[:, 4]


def directed(X):
    """Up with the first, down with the second, up with the fifth; others do as they like."""
    return np.exp(X[:, 0]) - 2 * (X[:, 1] > 0.2 * X[:, 0]) + np.sin(3 * X[:, 2]) * X[:, 3] + X[:, 4] ** 3 + X[:, 5]


TRUTHS = {"groups": interacting, "pairwise": interacting, "no_interactions": additive, "monotone": directed}


def make_table(task, n_rows, kind, seed):
    rng = np.random.default_rng([seed, n_rows])
    X = rng.uniform(-1, 1, size=(n_rows + N_TEST, COLUMNS))
    y = TRUTHS[kind](X)
    y = (y - y.mean()) / y.std() + 0.5 * rng.standard_normal(len(y))
    if task == "classes":
        y = (y > 0).astype(int)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def contenders(task, kind, constrained):
    """Estimators by name, as far as they know this kind of constraint."""
    numbers = task == "numbers"
    rounds = {"n_estimators": 100, "learning_rate": 0.1}
    ours, hist, gbm = {}, {}, {"verbose": -1, "n_jobs": 2}
    if constrained and kind == "monotone":
        ours = hist = {"monotonic_cst": SIGNS}
        gbm |= {"monotone_constraints": SIGNS}
    elif constrained:
        words = GROUPS if kind == "groups" else kind
        pairs = [list(each) for each in combinations(range(COLUMNS), 2)]
        ours = hist = {"interaction_cst": words}
        lists = {"groups": GROUPS, "pairwise": pairs, "no_interactions": [[j] for j in range(COLUMNS)]}
        gbm |= {"interaction_constraints": lists[kind]}
    boost = pw.SLMBoostRegressor if numbers else pw.SLMBoostClassifier
    light = lightgbm.LGBMRegressor if numbers else lightgbm.LGBMClassifier
    their = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    found = {
        "planewise boosting": boost(**rounds, **ours, random_state=0),
        "HistGradientBoosting": their(max_iter=100, learning_rate=0.1, early_stopping=False, **hist, random_state=0),
        "LightGBM": light(**rounds, **gbm, random_state=0),
    }
    if kind == "monotone":
        if constrained:
            for method in ("intermediate", "advanced"):
                found[f"LightGBM, {method}"] = light(
                    **rounds, **gbm, monotone_constraints_method=method, random_state=0
                )
        found |= {
            "planewise tree": (pw.SLMRegressor if numbers else pw.SLMClassifier)(**ours, random_state=0),
            "DecisionTree": (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(**hist, random_state=0),
            "planewise forest": (pw.SLMForestRegressor if numbers else pw.SLMForestClassifier)(**ours, random_state=0),
            "RandomForest": (RandomForestRegressor if numbers else RandomForestClassifier)(**hist, random_state=0),
        }
    return found


def answers(model, X, task):
    return model.predict(X) if task == "numbers" else model.predict_proba(X)[:, 1]


def broken(model, X, task, kind):
    """How far the model is from its law, on 200 rows; scores of classes are compared as log odds."""

    def raw(rows):
        given = answers(model, rows, task)
        return given if task == "numbers" or kind == "monotone" else np.log(given) - np.log1p(-given)

    rows = X[:200]
    if kind == "monotone":
        worst = 0.0
        for column, sign in enumerate(SIGNS):
            grid = np.linspace(-1, 1, 41)
            ladder = rows.repeat(len(grid), axis=0)
            ladder[:, column] = np.tile(grid, len(rows))
            steps = sign * np.diff(raw(ladder).reshape(len(rows), len(grid)), axis=1)
            worst = max(worst, float(-steps.min()))
        return max(0.0, worst)
    apart = [(0, 2), (0, 5), (3, 4)] if kind != "no_interactions" else [(0, 1), (2, 3), (1, 4)]
    third = 6 if kind == "pairwise" else None
    worst = 0.0
    for first, second in apart:
        moved = [first, second] if third is None else [first, second, third]
        worst = max(worst, float(np.abs(mixed_difference(raw, rows, X[200:400], moved)).max()))
    return worst


def mixed_difference(raw, rows, other, columns):
    """The part of a function that needs all these columns: the alternating sum over which of them are moved."""
    total = 0.0
    for count in range(len(columns) + 1):
        for chosen in combinations(columns, count):
            here = rows.copy()
            here[:, list(chosen)] = other[:, list(chosen)]
            total = total + (-1) ** (len(columns) - count) * raw(here)
    return total


def duel(task, kind, n_rows, seeds):
    found: dict[str, dict[str, list[float]]] = {}
    measure = r2_score if task == "numbers" else roc_auc_score
    for seed in range(seeds):
        X, y, X_test, y_test = make_table(task, n_rows, kind, seed)
        for constrained in (False, True):
            for name, model in contenders(task, kind, constrained).items():
                model.fit(X, y)
                kept = found.setdefault(name, {"free": [], "held": [], "broken": []})
                kept["held" if constrained else "free"].append(measure(y_test, answers(model, X_test, task)))
                if constrained:
                    kept["broken"].append(broken(model, X_test, task, kind))
    return {
        name: {
            "free": float(np.mean(each["free"])) if each["free"] else None,
            "held": float(np.mean(each["held"])),
            "broken": float(np.max(each["broken"])),
        }
        for name, each in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--constraints", nargs="*", choices=TRUTHS, default=list(TRUTHS))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    results = []
    print("| constraint | target | model | free | constrained | furthest from the law |")
    print("|---|---|---|---|---|---|")
    for kind in args.constraints:
        for task in ("numbers", "classes"):
            found = duel(task, kind, args.rows, args.seeds)
            results.append(
                {"constraint": kind, "target": task, "rows": args.rows, "seeds": args.seeds, "models": found}
            )
            for name, each in found.items():
                free = "" if each["free"] is None else f"{each['free']:.4f}"
                print(f"| {kind} | {task} | {name} | {free} | {each['held']:.4f} | {each['broken']:.1e} |", flush=True)
    if args.out:
        args.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
