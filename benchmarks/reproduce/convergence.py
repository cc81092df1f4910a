"""Figure 5 of the SLM paper: how quickly ensembles converge with the number of trees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from planewise.plot import ConvergenceDisplay, Curve

from .data import SLM_CLASSES, load
from .declaration import Data, Experiment, Method, Metrics
from .methods import build, fitted_model
from .pictures import save
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
    seeds=5,
    quick_seeds=2,
)


def draw_curves(results: Results, path: Path, data_home: str | None) -> None:
    """Two panels a data set, as in the paper: forests, and under them boosting."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(SETS), figsize=(4 * len(SETS), 7), layout="constrained")
    for row, (kind, measure) in enumerate((("Forest", "accuracy (%)"), ("Boost", "log_loss"))):
        for column, title in enumerate(SETS):
            curves = {
                method.name: _curve(results, f"{title}, {method.name}")
                for method in CONVERGENCE.methods
                if ("Forest" in method.classifier) == (kind == "Forest")
            }
            curves = {name: curve for name, curve in curves.items() if curve.values.size}
            if curves:
                ConvergenceDisplay(curves, measure).plot(axes[row, column], title=title, with_key=column == 0)
    save(figure, path)


def _curve(results: Results, row: str) -> Curve:
    """Means and spread of the seeds that are finished."""
    return Curve(np.array(TREES), np.array([results[row, str(trees)].values for trees in TREES]).T)
