"""How small a model of equal accuracy is in C: ours beside emlearn's and m2cgen's.

    python benchmarks/duels/c_size.py [--data FOLDER] [--seeds 3] [--out results.json]

Every contender has a ladder of settings. On two thirds of the rows each setting is judged by held-out rows, and of
those that reach a scikit-learn forest of 100 trees less half a point the one with the smallest model is taken (the most
accurate if none does); it is fitted on all of these rows, written as C, and compiled with -Os into an object file whose
code and constants are added up (sections .text, .rodata and .data), with one function that answers with the class. The
last third gives the accuracies. emlearn gets its smallest form (a table of nodes, columns brought to 16-bit integers
beforehand, whose code is not counted) and its plain one (float); m2cgen a scikit-learn forest and LightGBM. Sizes of
Cortex-M4 code are stated where arm-none-eabi-gcc is at hand.

Where --out names a file of an earlier run, its other data sets are kept. Data sets are found as
`benchmarks.data.load` finds them: give a folder by --data, or the environment variable.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline

from planewise import MCMClassifier, SLMBoostClassifier, SLMClassifier, SLMForestClassifier
from planewise.export import to_c

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import load

warnings.filterwarnings("ignore")
SETS = ("breast_cancer_wdbc", "ionosphere", "waveform5000", "spambase", "optdigits")
TOLERANCE = 0.005
MOST_ROWS_FOR_MCM = 2000
ROUNDS = ((5, 0.5), (10, 0.3), (20, 0.3), (40, 0.2), (80, 0.1))  # trees and learning rate
COMPILERS = {"x86-64": ["gcc"], "cortex-m4": ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"]}


# ------------------------------------------------------------------------------------------ ladders: (name, estimator)
def ours(seed: int, n_rows: int) -> list:
    trees = [SLMClassifier(noise_margin=margin, random_state=seed) for margin in (0.75, 0.4, 0.2)]
    forests = [
        SLMForestClassifier(n_estimators=n, min_samples_leaf=leaf, random_state=seed)
        for n in (3, 5, 10, 20, 40)
        for leaf in (3, 10)
    ]
    boosts = [
        SLMBoostClassifier(n_estimators=n, learning_rate=rate, max_depth=depth, random_state=seed)
        for n, rate in ROUNDS
        for depth in (1, 2)
    ]
    machines = [MCMClassifier(**how, relaxation=1.0) for how in ({"kernel": "linear"}, {}, {"mu": 2.0})]
    return trees + forests + boosts + (machines if n_rows <= MOST_ROWS_FOR_MCM else [])


def forests(seed: int, _: int) -> list:
    return [
        RandomForestClassifier(n, max_leaf_nodes=leaves, random_state=seed)
        for n in (1, 3, 5, 10, 20, 40, 100)
        for leaves in (None, 64, 16)
    ]


def lightgbms(seed: int, _: int) -> list:
    from lightgbm import LGBMClassifier

    return [
        LGBMClassifier(n_estimators=n, learning_rate=rate, num_leaves=leaves, random_state=seed, verbose=-1, n_jobs=1)
        for n, rate in ROUNDS
        for leaves in (4, 8, 31)
    ]


def nodes_of(model) -> int:
    """How large a peer's model is before it is written as C."""
    if hasattr(model, "estimators_"):
        return sum(tree.tree_.node_count for tree in model.estimators_)
    return len(model.booster_.trees_to_dataframe())


def table_bytes(model) -> int:
    return int(to_c(model, values="compact").split("Tables: ")[1].split()[0])


# ----------------------------------------------------- exports: the source, and what says the same as it from Python
def planewise_source(model, *_):
    header = to_c(model, values="compact")
    return header + "\nint answer(const float *x);\nint answer(const float *x) { return model_predict(x); }\n", model


def emlearn_table_source(model, X, y):
    import emlearn

    scaler = ToInteger16().fit(X)
    again = make_pipeline(scaler, clone(model)).fit(X, y)
    made = emlearn.convert(again[-1], method="loadable", dtype="int16_t", leaf_bits=0)
    return made.save(name="m", format="c", include_proba=False), Through(scaler, made)


def emlearn_float_source(model, *_):
    import emlearn

    made = emlearn.convert(model, method="inline", dtype="float", leaf_bits=0)
    return made.save(name="m", format="c", include_proba=False), made


def m2cgen_source(model, *_):
    import m2cgen

    n = len(model.classes_)
    source = "#include <math.h>\n" + m2cgen.export_to_c(model)
    if "double score(" in source:  # two classes of LightGBM: one probability
        return source + "\nint answer(double *x) { return score(x) > 0.5; }\n", model
    if n == 2 and "LGBM" in type(model).__name__:
        return source + "\nint answer(double *x) { double p[2]; score(x, p); return p[1] > p[0]; }\n", model
    return source + (
        f"\nint answer(double *x) {{ double p[{n}]; int k, b = 0; score(x, p); "
        f"for (k = 1; k < {n}; ++k) if (p[k] > p[b]) b = k; return b; }}\n"
    ), model


class ToInteger16(BaseEstimator, TransformerMixin):
    """Columns brought to the range of 16-bit integers, as a user of integer trees has to."""

    def fit(self, X, y=None):
        self.low_, high = X.min(axis=0), X.max(axis=0)
        self.range_ = np.where(high > self.low_, high - self.low_, 1)
        return self

    def transform(self, X):
        return np.clip(np.floor((X - self.low_) / self.range_ * 65534 - 32767), -32767, 32767).astype(np.float32)


class Through:
    """What a converted model says of columns that were scaled first."""

    def __init__(self, scaler, model) -> None:
        self.scaler, self.model = scaler, model

    def predict(self, X):
        return self.model.predict(self.scaler.transform(X).astype(np.int16))


CONTENDERS = {
    "planewise": (ours, table_bytes, planewise_source, None),
    "emlearn table int16": (forests, nodes_of, emlearn_table_source, "emlearn"),
    "emlearn inline float": (forests, nodes_of, emlearn_float_source, "emlearn"),
    "m2cgen forest": (forests, nodes_of, m2cgen_source, "m2cgen"),
    "m2cgen LightGBM": (lightgbms, nodes_of, m2cgen_source, "m2cgen"),
}


def object_bytes(source: str, compiler: list[str]) -> int:
    """Bytes of code and constants in the object file."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "model.c").write_text(source)
        include = []
        if importlib.util.find_spec("emlearn"):
            import emlearn

            include = ["-I", emlearn.includedir]
        flags = ["-std=gnu99", "-Os", "-w", "-ffunction-sections", "-c", *include]
        subprocess.run([*compiler, *flags, "model.c", "-o", "model.o"], cwd=place, check=True)
        size = shutil.which(compiler[0].replace("gcc", "size"))
        listed = subprocess.run([size, "-A", "model.o"], cwd=place, check=True, capture_output=True, text=True).stdout
    kept = (".text", ".rodata", ".data")
    return sum(int(line.split()[1]) for line in listed.splitlines() if line.startswith(kept))


def judged(model, X, y, n_folds: int = 3) -> float:
    """Accuracy on rows held out: all of them in turn, or, where rows are many, a third."""
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
    folds = folds if len(X) < 1000 else folds[:1]
    right = [model.fit(X[train], y[train]).predict(X[test]) == y[test] for train, test in folds]
    return float(np.concatenate(right).mean())


def choose(ladder: list, size_of, X, y, target: float):
    """The smallest of those that reach the target, fitted on all rows; the most accurate if none does."""
    scores = [judged(model, X, y) for model in ladder]
    reached = [model.fit(X, y) for model, score in zip(ladder, scores, strict=True) if score >= target]
    if not reached:
        return ladder[int(np.argmax(scores))].fit(X, y)
    return min(reached, key=size_of)


def one_split(X, y, seed: int) -> dict:
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
    target = judged(RandomForestClassifier(100, random_state=seed), X, y) - TOLERANCE
    out, chosen = {"target": target}, {}
    for name, (ladder, size_of, source_of, package) in CONTENDERS.items():
        if package and not importlib.util.find_spec(package):
            continue
        if ladder not in chosen:
            chosen[ladder] = choose(ladder(seed, len(X)), size_of, X, y, target)
        model = chosen[ladder]
        what = f"{type(model).__name__} {' '.join(f'{k}={v}' for k, v in model.get_params().items() if k in SHOWN)}"
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # emlearn leaves files where it works
            source, says = source_of(model, X, y)
            right = says.predict(X_test) == y_test
        sizes = {
            machine: object_bytes(source, compiler)
            for machine, compiler in COMPILERS.items()
            if shutil.which(compiler[0])
        }
        out[name] = {"model": what, "accuracy": float(np.mean(right)), "bytes": sizes}
    return out


SHOWN = ("n_estimators", "max_leaf_nodes", "num_leaves", "learning_rate", "max_depth", "kernel", "noise_margin", "mu")


def summary(results: dict) -> dict:
    """Geometric mean over data sets and seeds of each peer's size by ours, and mean accuracies."""
    rows = [split for splits in results.values() for split in splits]
    out = {}
    for name in CONTENDERS:
        if any(name not in row for row in rows):
            continue
        out[name] = {"accuracy": float(np.mean([row[name]["accuracy"] for row in rows]))}
        for machine in rows[0]["planewise"]["bytes"]:
            ratio = [row[name]["bytes"][machine] / row["planewise"]["bytes"][machine] for row in rows]
            out[name][f"times our size, {machine}"] = float(np.exp(np.mean(np.log(ratio))))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=SETS)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    results = json.loads(args.out.read_text())["splits"] if args.out and args.out.exists() else {}
    for name in args.only:
        found = load(name, data_home=args.data)
        X, y = np.asarray(found.data, np.float32), np.unique(found.target, return_inverse=True)[1]
        results[name] = [one_split(X, y, seed) for seed in range(args.seeds)]
        for row in results[name]:
            cells = [
                f"{who} {100 * each['accuracy']:.1f}% {each['bytes']}"
                for who, each in row.items()
                if isinstance(each, dict)
            ]
            print(f"{name:<20} " + " | ".join(cells) + f"   ({row['planewise']['model']})", flush=True)
        if args.out:
            args.out.write_text(json.dumps({"summary": summary(results), "splits": results}, indent=1) + "\n")
    print(json.dumps(summary(results), indent=1))


if __name__ == "__main__":
    main()
