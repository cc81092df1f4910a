"""Deviances compared with those of LightGBM and XGBoost.

    python benchmarks/duels/losses.py [--rows 6000] [--seeds 5] [--out benchmarks/results/losses.json]

100 rounds, learning rate 0.1, one thread, all else at the defaults; as many test rows as training rows. Two truths:
"additive" is Friedman's first function, "oblique" has steps along single columns and along differences of columns.
Deviances are those of `sklearn.metrics.mean_tweedie_deviance`; "exposure" is Poisson with counts over times between
0.1 and 10, whose logarithm is planewise's offset, LightGBM's init_score and XGBoost's base_margin.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import lightgbm
import numpy as np
import xgboost
from sklearn.metrics import mean_tweedie_deviance

from planewise import SLMBoostRegressor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.data import make_friedman, make_half_oblique

COMMON = {"n_estimators": 100, "learning_rate": 0.1, "n_jobs": 1}
POWERS = {"poisson": 1.0, "exposure": 1.0, "gamma": 2.0, "tweedie": 1.5}


def table(truth: str, n_rows: int, seed: int):
    """Rows, and a score per row with mean 0 and standard deviation 1."""
    if truth == "additive":
        X, score = make_friedman(1, n_samples=n_rows, noise=0.0, random_state=seed)
    else:
        X, score = make_half_oblique(n_rows, 12, noise=0.0, random_state=seed)
    return X, (score - score.mean()) / score.std()


def targets(task: str, X, score, rng, exposure):
    mean = np.exp(0.8 * score)
    if task in ("poisson", "exposure"):
        return rng.poisson(mean * exposure).astype(float)
    if task == "gamma":
        return rng.gamma(2.0, mean / 2)
    amounts = rng.poisson(mean / 2)  # a Poisson number of amounts, as claims are
    return np.array([rng.gamma(2.0, 1.0, size=n).sum() for n in amounts])


def contenders(task: str, seed: int):
    """By name, the models of a task: objects with fit and predict."""
    if task == "exposure":
        return {name: WithExposure(name, model) for name, model in contenders("poisson", seed).items()}
    theirs = {"objective": task} | ({"tweedie_variance_power": 1.5} if task == "tweedie" else {})
    objective = {"poisson": "count:poisson", "gamma": "reg:gamma", "tweedie": "reg:tweedie"}[task]
    return {
        "planewise": SLMBoostRegressor(loss=task, random_state=seed, **COMMON),
        "lightgbm": lightgbm.LGBMRegressor(random_state=seed, verbose=-1, **theirs, **COMMON),
        "xgboost": xgboost.XGBRegressor(random_state=seed, **theirs | {"objective": objective}, **COMMON),
    }


class WithExposure:
    """A model of counts per time; X has the exposure as an additional last column."""

    def __init__(self, library: str, model) -> None:
        self.library, self.model = library, model

    def fit(self, X, y):
        name = {"planewise": "offset", "lightgbm": "init_score", "xgboost": "base_margin"}[self.library]
        self.model.fit(X[:, :-1], y, **{name: np.log(X[:, -1])})
        return self

    def predict(self, X):
        if self.library == "lightgbm":  # adds nothing in predict
            return self.model.predict(X[:, :-1]) * X[:, -1]
        name = {"planewise": "offset", "xgboost": "base_margin"}[self.library]
        return self.model.predict(X[:, :-1], **{name: np.log(X[:, -1])})


def duel(task: str, truth: str, n_rows: int, seed: int) -> dict[str, dict[str, float]]:
    X, score = table(truth, 2 * n_rows, seed)
    X = np.ascontiguousarray(X, dtype=np.float32)
    rng = np.random.default_rng([seed, 7])
    exposure = np.exp(rng.uniform(np.log(0.1), np.log(10), len(X))) if task == "exposure" else np.ones(len(X))
    y = targets(task, X, score, rng, exposure)
    if task == "exposure":
        X = np.column_stack([X, exposure])
    found = {}
    for name, model in contenders(task, seed).items():
        tick = time.perf_counter()
        model.fit(X[:n_rows], y[:n_rows])
        seconds = time.perf_counter() - tick
        deviance = mean_tweedie_deviance(y[n_rows:], model.predict(X[n_rows:]), power=POWERS[task])
        found[name] = {"deviance": deviance, "fit": seconds}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "results" / "losses.json")
    args = parser.parse_args()
    rows = []
    print("| task | truth | model | measures, mean over seeds (standard error) | fit (s) |\n|---|---|---|---|---|")
    for task in POWERS:
        for truth in ("additive", "oblique"):
            runs = [duel(task, truth, args.rows, seed) for seed in range(args.seeds)]
            for name in runs[0]:
                values = {each: [run[name][each] for run in runs] for each in runs[0][name]}
                rows.append({"task": task, "truth": truth, "model": name, "n_rows": args.rows} | values)
                words = ", ".join(
                    f"{each} {np.mean(v):.4f} ({np.std(v, ddof=1) / np.sqrt(len(v)):.4f})" if len(v) > 1 else f"{v[0]}"
                    for each, v in values.items()
                    if each != "fit"
                )
                print(f"| {task} | {truth} | {name} | {words} | {np.median(values['fit']):.2f} |", flush=True)
    versions = {"lightgbm": lightgbm.__version__, "xgboost": xgboost.__version__}
    args.out.write_text(json.dumps({"versions": versions, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
