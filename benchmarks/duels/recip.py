"""RECIP beside nearest neighbours, a small tree and an explainable boosting machine, on the paper's real sets and more.

    python benchmarks/duels/recip.py [--data DIR] [--folds 5] [--max-rows 2000] [--only a,b]
        [--contenders "RECIP;EBM"] [--out results.json]

The file of results is added to: an expensive contender (an EBM takes a hundred times RECIP's time) can run by itself.

Accuracy by stratified cross-validation; whatever is tuned is tuned inside the training part of a fold (nested): the k
of nearest neighbours by three inner folds, RECIP's views by its own rule. Categories reach nearest neighbours and the
tree one-hot, numbers standardised for neighbours, gaps filled by medians; RECIP takes the table as it is. "published"
(the key in the file of results) is k = 1, distances, Algorithm 1 with lam by cross-validation, but on standardised
columns and with the main views only (keep="best"): not planewise.published.recip. "All features too" has the view of
all features as one more candidate; "tuned" chooses that and k from 1, 5 and the default by three inner folds. For RECIP
also: how many views are kept, and which share of the queries the two leading ones decide. For the sum of views: in
which share of the queries the leading view alone gives the same answer.
Table 3 of the paper does not say how its sets were split, so its figures stand beside ours for orientation only.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from planewise import AdditiveClassifier, RECIPClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import load

try:
    from interpret.glassbox import ExplainableBoostingClassifier
except ImportError:
    ExplainableBoostingClassifier = None

TABLE_3 = {  # name: the paper's (nearest neighbours, RECIP)
    "breast_cancer_wisconsin": (0.8415, 0.8275),
    "breast_cancer_wpbc": (None, None),
    "breast_tissue": (1.0, 1.0),
    "spambase": (0.7680, 0.7680),
    "vowel": (0.9839, 0.9839),
}
MORE = [
    "banknote_authentication",
    "wine",
    "seeds",
    "ionosphere",
    "pima_diabetes",
    "mammographic_masses",
    "tic_tac_toe",
    "waveform5000",
]
LEAKING = {"breast_cancer_wpbc": ["time"]}  # said by the registry to give the target away


def table(name, data_home, max_rows):
    bunch = load(name, data_home=data_home, as_frame="pandas")
    X, y = bunch.data, np.asarray(bunch.target)
    X = X.drop(columns=[column for column in LEAKING.get(name, []) if column in X.columns])
    for column in X.columns:
        if X[column].dtype.kind not in "ifb":
            X[column] = X[column].astype("category")
    rows = np.random.RandomState(0).permutation(len(y))[:max_rows]
    return X.iloc[rows].reset_index(drop=True), y[rows]


def as_numbers():
    return make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
            make_column_selector(dtype_exclude="category"),
        ),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_include="category")),
    )


def contenders(n_classes=2):
    neighbours = make_pipeline(as_numbers(), KNeighborsClassifier())
    tuned = {"k": [1, 5, None], "include_all_features": [False, True]}
    made = {
        "sum of views": AdditiveClassifier(n_jobs=-1, random_state=0),
        "RECIP": RECIPClassifier(n_jobs=-1, random_state=0),
        "RECIP, all features too": RECIPClassifier(include_all_features=True, n_jobs=-1, random_state=0),
        "RECIP, published": RECIPClassifier(estimate="distances", k=1, selection="recip", n_jobs=-1, random_state=0),
        "RECIP, tuned": GridSearchCV(RECIPClassifier(n_jobs=-1, random_state=0), tuned, cv=3),
        "nearest neighbours": GridSearchCV(
            neighbours, {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25]}, cv=3
        ),
        "tree of depth 3": make_pipeline(as_numbers(), DecisionTreeClassifier(max_depth=3, random_state=0)),
    }
    if ExplainableBoostingClassifier is not None:
        # Four bags instead of fourteen, for time; no pairs for several classes, where the machine cannot show them.
        pairs = {} if n_classes == 2 else {"interactions": 0}
        made["EBM"] = ExplainableBoostingClassifier(outer_bags=4, random_state=0, n_jobs=1, **pairs)
    return made


def duel(name, data_home, folds, max_rows, wanted):
    X, y = table(name, data_home, max_rows)
    y = np.unique(y, return_inverse=True)[1]
    out = {
        "rows": len(y),
        "features": X.shape[1],
        "folds": folds,
        "accuracy": {},
        "views": {},
        "two_leading": {},
        "alone": {},
        "leading": [],
    }
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        for who, model in contenders(len(np.unique(y))).items():
            if who not in wanted:
                continue
            model.fit(X.iloc[train], y[train])
            out["accuracy"].setdefault(who, []).append(float(np.mean(model.predict(X.iloc[test]) == y[test])))
            if isinstance(model, AdditiveClassifier):
                report = model.views_report(X.iloc[test], y[test])
                out["views"].setdefault(who, []).append(len(report))
                alone = sum(row["leads"] * row["alone_agrees"] for row in report if row["leads"])
                out["alone"].setdefault(who, []).append(alone)
            if isinstance(model, RECIPClassifier):
                report = model.views_report(X.iloc[test], y[test])
                leading = sorted((row["decides"] for row in report), reverse=True)[:2]
                out["views"].setdefault(who, []).append(len(report))
                out["two_leading"].setdefault(who, []).append(sum(leading))
                if who == "RECIP":
                    out["leading"].append([list(names) for names in model.projection_names_[:2]])
    return out


def merged(old, new):
    """What was measured before and what is new; the same rows and folds, or nothing to keep."""
    if old is None or old["rows"] != new["rows"] or old["folds"] != new["folds"]:
        return new
    for part in ("accuracy", "views", "two_leading", "alone"):
        new[part] = old.get(part, {}) | new[part]
    new["leading"] = new["leading"] or old["leading"]
    return new


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="directory of data sets (else PLANEWISE_DATA, scikit-learn or OpenML)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--max-rows", type=int, default=2000, help="larger sets are sampled")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--contenders", default="", help="those to run, separated by semicolons; all by default")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if ExplainableBoostingClassifier is None:
        print("interpret-core is not installed: no explainable boosting machine in this run")
    names = args.only.split(",") if args.only else [*TABLE_3, *MORE]
    wanted = args.contenders.split(";") if args.contenders else list(contenders())
    results = json.loads(args.out.read_text())["sets"] if args.out and args.out.exists() else {}
    who = [each for each in contenders() if each in wanted or any(each in old["accuracy"] for old in results.values())]
    print("| data | rows | " + " | ".join(who) + " | views | two leading | paper: neighbours, RECIP |")
    print("|---" * (len(who) + 5) + "|")
    for name in names:
        found = merged(results.get(name), duel(name, args.data, args.folds, args.max_rows, wanted))
        results[name] = found
        cells = " | ".join(f"{np.mean(found['accuracy'].get(each, np.nan)):.3f}" for each in who)
        theirs = ", ".join("–" if value is None else f"{value:.3f}" for value in TABLE_3.get(name, (None, None)))
        print(
            f"| {name} | {found['rows']} | {cells} | {np.mean(found['views'].get('RECIP', np.nan)):.1f} "
            f"| {np.mean(found['two_leading'].get('RECIP', np.nan)):.2f} | {theirs} |",
            flush=True,
        )
        if args.out:
            args.out.write_text(json.dumps({"sets": results}, indent=1) + "\n")
    means = {
        each: float(np.mean([np.mean(found["accuracy"].get(each, np.nan)) for found in results.values()]))
        for each in who
    }
    print("| mean |  | " + " | ".join(f"{means[each]:.3f}" for each in who) + " |  |  |  |")


if __name__ == "__main__":
    main()
