"""Figure 5 of the SLM paper: how quickly ensembles converge with the number of trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from .data import SLM_CLASSES, load
from .declaration import Data, Experiment, Method, Metrics
from .methods import build, fitted_model
from .results import Results

TREES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
SETS = dict(zip(("Wine", "B.C.W.", "Pima"), SLM_CLASSES[4:7], strict=True))
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


@dataclass(frozen=True)
class Curves:
    """The metrics are named by numbers of trees: accuracy in percent of forests, log-loss of boosting."""

    test_share: float = 0.4

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """One curve on one split."""
        X, y = load(data, seed, data_home)
        X, X_test, y, y_test = train_test_split(X, y, test_size=self.test_share, random_state=seed, stratify=y)
        model = fitted_model(build(method, data, seed).fit(X, y))
        if "Forest" in method.classifier:
            return {str(n): 100 * float(np.mean(p.argmax(axis=1) == y_test)) for n, p in _forest(model, X_test)}
        return {str(n): float(log_loss(y_test, p)) for n, p in _boosting(model, X_test)}


def _forest(model, X):
    """Probabilities of the first trees alone."""
    if hasattr(model, "estimators_"):
        each = np.cumsum([tree.predict_proba(X) for tree in model.estimators_], axis=0)
        yield from ((n, each[n - 1]) for n in TREES)
        return
    whole = model.forest_
    for n in TREES:
        model.forest_ = whole.head(n)
        yield n, model.predict_proba(X)


def _boosting(model, X):
    """Probabilities after so many rounds."""
    if hasattr(model, "staged_predict_proba"):
        staged = list(model.staged_predict_proba(X))
        yield from ((n, staged[min(n, len(staged)) - 1]) for n in TREES)
        return
    yield from ((n, model.predict_proba(X, iteration_range=(0, n)).astype(float)) for n in TREES)


CONVERGENCE = Experiment(
    "slm-convergence",
    Curves(),
    tuple(SETS.values()),
    (
        Method("random forest", "sklearn.ensemble.RandomForestClassifier", fixed={"n_estimators": 100}),
        Method("SLM Forest", "planewise.SLMForestClassifier", fixed={"n_estimators": 100}),
        Method(
            "SLM Forest, published",
            "planewise.SLMForestClassifier",
            fixed={"n_estimators": 100, "voting": "hard"} | PUBLISHED,
        ),
        Method("XGBoost", "xgboost.XGBClassifier", fixed={"learning_rate": 0.1, "n_jobs": 1}),
        Method("SLM Boost", "planewise.SLMBoostClassifier"),
        Method(
            "SLM Boost, published",
            "planewise.SLMBoostClassifier",
            fixed={"reg_lambda": 0.0, "base_score": 0.0} | PUBLISHED,
        ),
    ),
    seeds=10,
    quick_seeds=4,
)


def draw_curves(results: Results, path: str) -> None:
    """Two panels a data set, as in the paper."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(SETS), figsize=(4 * len(SETS), 6), sharex=True, layout="constrained")
    for column, title in enumerate(SETS):
        for method in CONVERGENCE.methods:
            forest = "Forest" in method.classifier
            entries = [results[f"{title}, {method.name}", str(n)] for n in TREES]
            if all(entry.values for entry in entries):
                axis = axes[0 if forest else 1][column]
                axis.plot(TREES, [entry.mean for entry in entries], marker=".", label=method.name)
        axes[0][column].set(title=title, xscale="log")
        axes[1][column].set(xlabel="trees")
    axes[0][0].set(ylabel="accuracy (%)")
    axes[1][0].set(ylabel="log-loss")
    for row in axes:
        row[0].legend(fontsize="small")
    figure.savefig(path, dpi=110)
    plt.close(figure)
