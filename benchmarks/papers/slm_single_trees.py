"""One SLM or SLR tree against a decision tree on the SLM paper's fifteen data sets, over seeded 60/40 splits.

    python benchmarks/papers/slm_single_trees.py [--data DIR] [--splits 30] [--out results.json]

Both with their defaults (the decision tree with entropy, as in the paper; no depth limit). The printed figures stand
beside ours: accuracy or RMSE, model size as the paper counts it (eq. 37; twice the splits for a decision tree), depth.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from planewise import SLMClassifier, SLMRegressor, datasets

# name: (title, how to get it, the paper's (tree, SLM) score, (size, depth) of both; None where it gives none)
CLASSES = {
    "circle-and-ring": (("circle_and_ring",), (85.00, 88.25), (350, 14), (39, 4)),
    "2-new-moons": (("new_moons", 2), (87.25, 91.50), (286, 15), (42, 4)),
    "4-new-moons": (("new_moons", 4), (94.63, 95.63), (298, 11), (93, 5)),
    "Iris": (("load", "iris", None), (98.33, 98.33), (34, 6), (20, 3)),
    "Wine": (("load", "wine", None), (95.83, 98.61), (26, 4), (99, 2)),
    "B.C.W.": (("load", "breast_cancer_wdbc", None), (94.74, 97.23), (54, 7), (126, 4)),
    "Pima": (("load", "pima_diabetes", "slm"), (77.07, 77.71), (130, 8), (55, 3)),
    "Ionosphere": (("load", "ionosphere", "slm"), (89.36, 90.07), (50, 10), (78, 2)),
    "Banknote": (("load", "banknote_authentication", None), (98.00, 99.09), (78, 7), (40, 3)),
}
NUMBERS = {
    "Friedman 1": (("friedman", 1), (3.10, 2.89)),
    "Friedman 2": (("friedman", 2), (33.57, 31.28)),
    "Friedman 3": (("friedman", 3), (0.11, 0.11)),
    "Boston": (("load", "boston_housing", None), (4.75, 4.42)),
    "California": (("load", "california_housing", None), (0.74, 0.69)),
    "Diabetes": (("load", "diabetes_sklearn", None), (76.56, 56.05)),
}


def get(source, data_home, seed):
    kind, *rest = source
    if kind == "load":
        bunch = datasets.load(rest[0], variant=rest[1], data_home=data_home)
        return bunch.data, bunch.target
    if kind == "circle_and_ring":
        return datasets.make_circle_and_ring(random_state=seed)
    if kind == "new_moons":
        return datasets.make_new_moons(n_moons=rest[0], random_state=seed)
    return datasets.make_friedman(rest[0], random_state=seed)


def describe(model):
    if hasattr(model, "n_parameters_"):
        return model.n_parameters_, model.get_depth()
    return 2 * int((model.tree_.children_left >= 0).sum()), model.get_depth()


def compare(source, data_home, splits, make, score, stratified):
    results = {name: [] for name in make}
    for seed in range(splits):
        X, y = get(source, data_home, seed)
        Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y if stratified else None)
        for name, new in make.items():
            model = new(seed).fit(Xa, ya)
            results[name].append((score(yb, model.predict(Xb)), *describe(model)))
    return {name: np.array(rows) for name, rows in results.items()}


def accuracy(truth, answer):
    return 100 * float(np.mean(truth == answer))


def rmse(truth, answer):
    return float(np.sqrt(np.mean((truth - answer) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="directory of data sets (else PLANEWISE_DATA, scikit-learn or OpenML)")
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    table, won = [], 0
    print("| data | tree | SLM | paper: tree, SLM | size tree, SLM | paper | depth tree, SLM | paper |")
    print("|---|---|---|---|---|---|---|---|")
    jobs = [(name, entry, True) for name, entry in CLASSES.items()] + [
        (name, entry, False) for name, entry in NUMBERS.items()
    ]
    for name, (source, printed, *sizes), classes in jobs:
        make = (
            {
                "tree": lambda seed: DecisionTreeClassifier(criterion="entropy", random_state=seed),
                "slm": lambda seed: SLMClassifier(random_state=seed),
            }
            if classes
            else {
                "tree": lambda seed: DecisionTreeRegressor(random_state=seed),
                "slm": lambda seed: SLMRegressor(random_state=seed),
            }
        )
        rows = compare(source, args.data, args.splits, make, accuracy if classes else rmse, classes)
        mean = {who: values.mean(axis=0) for who, values in rows.items()}
        std = {who: values[:, 0].std() for who, values in rows.items()}
        better = mean["slm"][0] >= mean["tree"][0] if classes else mean["slm"][0] <= mean["tree"][0]
        won += bool(better)
        (their_size, their_depth), (our_size, our_depth) = sizes or ((None, None), (None, None))
        digits = 2 if classes or mean["tree"][0] > 1 else 3
        print(
            f"| {name}{'' if better else ' (behind)'} "
            f"| {mean['tree'][0]:.{digits}f} ± {std['tree']:.{digits}f} "
            f"| {mean['slm'][0]:.{digits}f} ± {std['slm']:.{digits}f} "
            f"| {printed[0]:.2f}, {printed[1]:.2f} "
            f"| {mean['tree'][1]:.0f}, {mean['slm'][1]:.0f} | {their_size or '–'}, {our_size or '–'} "
            f"| {mean['tree'][2]:.1f}, {mean['slm'][2]:.1f} | {their_depth or '–'}, {our_depth or '–'} |",
            flush=True,
        )
        table.append({"name": name, **{who: values.tolist() for who, values in rows.items()}})
    print(f"\nbetter or equal mean on {won} of {len(jobs)}")
    if args.out:
        args.out.write_text(json.dumps(table) + "\n")


if __name__ == "__main__":
    main()
