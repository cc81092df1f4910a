"""The large-scale MCM beside an SVM and beside linear machines on a Nystroem map with as many features.

    python benchmarks/duels/large_scale_mcm.py DATA_DIR [--sets magic_gamma covertype:20000] [--seeds 3] [--out FILE]

The sets of the paper's table of large sets that are at hand, and the two largest classes of covertype (``:N`` after a
name takes N of its rows; a fifth is held out for testing). The SVM's scaling, C and gamma are tuned by three-fold
cross-validation on at most 4,000 training rows of each seed, which is not counted as its time; it sits out above
--svc-rows training rows. The Nystroem maps have the SVM's gamma (where there is none: the best of LinearSVC's own
search) and as many features as our machine begins with. Ours is as it comes. Everything runs in one process with BLAS
on one thread, the contenders taking turns seed by seed; times are the processor's, and the median counts. Sets in the
--out file are not run again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from planewise import LargeScaleMCMClassifier

SETS = (
    "german_numer",
    "pima_diabetes",
    "breast_cancer_wisconsin",
    "australian_credit",
    "fourclass",
    "phishing_websites",
    "phishing_libsvm68",
    "eeg_eye_state",
    "htru2",
    "magic_gamma",
    "default_credit_card",
    "a9a_adult_binary",
    "w4a_web",
    "covertype:20000",
    "covertype:50000",
    "covertype",
)
TUNED_BY = 4000
CONTENDERS = ("planewise", "planewise, map fixed", "SVC", "Nystroem + SGD", "Nystroem + LinearSVC")


def load(folder: Path, name: str, seed: int):
    """Training and test part; rows with gaps are left out, and of covertype all but the two largest classes."""
    name, _, n_rows = name.partition(":")
    frame = pl.read_parquet(folder / f"{name}.parquet").drop_nulls()
    target = "target" if "target" in frame.columns else frame.columns[-1]
    X, y = frame.drop(target).to_numpy().astype(np.float32), frame[target].to_numpy()
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[np.argsort(-counts)[:2]])
    X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(y))[: int(n_rows) if n_rows else None]
    return train_test_split(X[order], y[order], test_size=0.2, random_state=42 + seed, stratify=y[order])


def tune(X, y, machine):
    """The scaling, gamma and C that serve `machine(C, gamma)` best on some of the rows."""
    some = np.random.default_rng(0).permutation(len(y))[:TUNED_BY]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    width = X.shape[1]
    best = (-1.0, StandardScaler, 1 / width, 1.0)
    for scaler, times, C in itertools.product((StandardScaler, MinMaxScaler), (0.03, 0.1, 0.3, 1, 3, 10), (1, 10, 100)):
        # A column of two values has a standard deviation of at most half its range: 4 times the squared distances.
        gamma = times / width * (1 if scaler is StandardScaler else 4)
        score = cross_val_score(make_pipeline(scaler(), machine(C, gamma)), X[some], y[some], cv=folds).mean()
        best = max(best, (score, scaler, gamma, C), key=lambda each: each[0])
    return best[1:]


def svm(C, gamma):
    return SVC(C=C, gamma=gamma, cache_size=1000)


def nystroem_svm(n_components):
    """What is tuned where an SVM cannot be run."""

    def machine(C, gamma):
        return make_pipeline(Nystroem(gamma=gamma, n_components=n_components, random_state=0), LinearSVC(C=C))

    return machine


def contenders(scaler, gamma, C, n_components, with_svc, seed):
    def nystroem():
        return Nystroem(gamma=gamma, n_components=n_components, random_state=seed)

    yield "planewise", LargeScaleMCMClassifier(n_components=n_components, random_state=seed)
    yield (
        "planewise, map fixed",
        LargeScaleMCMClassifier(n_components=n_components, refine=False, random_state=seed),
    )
    if with_svc:
        yield "SVC", make_pipeline(scaler(), svm(C, gamma))
    yield "Nystroem + SGD", make_pipeline(scaler(), nystroem(), SGDClassifier(alpha=1e-5, random_state=seed))
    yield "Nystroem + LinearSVC", make_pipeline(scaler(), nystroem(), LinearSVC(C=C, random_state=seed))


def vectors(name, model, n_components) -> int:
    if name.startswith("planewise"):
        return model.n_support_
    return int(model[-1].n_support_.sum()) if name == "SVC" else n_components


def measure(model, X, y, X_test, y_test) -> dict:
    tick = time.process_time()
    model.fit(X, y)
    fit = time.process_time() - tick
    tick = time.process_time()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    return {"accuracy": accuracy, "fit": fit, "predict": time.process_time() - tick}


def duel(folder: Path, name: str, n_components: int, n_seeds: int, svc_rows: int) -> dict:
    found: dict[str, list[dict]] = {}
    tuned = []
    for seed in range(n_seeds):
        X, X_test, y, y_test = load(folder, name, seed)
        with_svc = len(y) <= svc_rows
        m = min(n_components, len(y))
        machine = svm if with_svc else nystroem_svm(m)
        chosen = tune(X, y, machine)
        tuned.append({"scaler": chosen[0].__name__, "gamma": chosen[1], "C": chosen[2]})
        for contender, model in contenders(*chosen, m, with_svc, seed):
            one = measure(model, X, y, X_test, y_test)
            one["vectors"] = vectors(contender, model, m)
            found.setdefault(contender, []).append(one)
    row = {"set": name, "rows": len(y), "columns": X.shape[1], "features": m, "tuned": tuned}
    row["contenders"] = {
        contender: {
            "accuracy": statistics.mean(one["accuracy"] for one in each),
            "accuracies": [one["accuracy"] for one in each],
            "fit": statistics.median(one["fit"] for one in each),
            "predict": statistics.median(one["predict"] for one in each),
            "vectors": statistics.mean(one["vectors"] for one in each),
        }
        for contender, each in found.items()
    }
    return row


def show(row: dict) -> None:
    """The table's line of one set."""
    found = row["contenders"]
    ours, svc = found["planewise"], found.get("SVC")
    cells = [row["set"], f"{row['rows']:,} × {row['columns']}", str(len(ours["accuracies"]))]
    cells += [f"{100 * found[name]['accuracy']:.2f}" if name in found else "–" for name in CONTENDERS]
    if svc:
        cells += [f"{100 * (ours['accuracy'] - svc['accuracy']):+.2f}", f"{ours['fit'] / svc['fit']:.2f}"]
        cells += [f"{ours['predict'] / svc['predict']:.3f}", f"{ours['vectors']:.0f} / {svc['vectors']:.0f}"]
    else:
        cells += ["–", f"{ours['fit']:.0f} s", "–", f"{ours['vectors']:.0f} / –"]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--svc-rows", type=int, default=60_000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    titles = ["set", "rows", "seeds", *CONTENDERS, "points over SVC", "fit / SVC's", "predict / SVC's", "vectors"]
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    table = json.loads(args.out.read_text()) if args.out and args.out.exists() else []
    done = {row["set"]: row for row in table}
    with threadpool_limits(1, user_api="blas"):
        for name in args.sets:
            if name not in done:
                done[name] = duel(args.folder, name, args.features, args.seeds, args.svc_rows)
                if args.out:
                    args.out.write_text(json.dumps(list(done.values()), indent=1) + "\n")
            show(done[name])


if __name__ == "__main__":
    main()
