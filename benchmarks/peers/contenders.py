"""Who takes part: for each family our estimator and the peers, with the same rounds, learning rate and threads.

Everything that is not stated here is the default of the library.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

THREADS = 2
ROUNDS = {"n_estimators": 100, "learning_rate": 0.1}
MANY_ROUNDS = {"n_estimators": 1000, "learning_rate": 0.05}
PATIENCE = 30  # rounds without improvement
VALIDATION_SHARE = 0.2


@dataclass(frozen=True)
class Contender:
    """An estimator of some library.

    Attributes
    ----------
    label : str
        Its name in tables.
    path : str
        Where it is imported from; ``{}`` stands for Classifier or Regressor.
    settings : mapping
        Parameters that are not left at their defaults.
    seed, threads : str or None
        Names of these two parameters, if there are any.
    package : str
        What has to be installed; by default the first part of `path`.
    """

    label: str
    path: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: str | None = "random_state"
    threads: str | None = "n_jobs"
    package: str = ""

    @property
    def needs(self) -> str:
        """The package that has to be installed."""
        return self.package or self.path.partition(".")[0]

    def make(self, task: str, seed: int, **more: Any) -> Any:
        """A new estimator."""
        module, _, name = self.path.format("Regressor" if task == "regression" else "Classifier").rpartition(".")
        parameters = {**self.settings, **more}
        if self.seed:
            parameters[self.seed] = seed
        if self.threads:
            parameters[self.threads] = THREADS
        return getattr(importlib.import_module(module), name)(**parameters)


def searched_svc(n_jobs: int) -> Any:
    """An SVM with a Gaussian kernel, tuned by a grid of 16 points and three folds."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1, "scale"]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3, n_jobs=n_jobs)


def _boosting(rounds: Mapping[str, Any]) -> dict[str, Contender]:
    other_names = {"iterations": rounds["n_estimators"], "learning_rate": rounds["learning_rate"]}
    rounds_of_scikit_learn = {"max_iter": rounds["n_estimators"], "learning_rate": rounds["learning_rate"]}
    return {
        "planewise": Contender("planewise", "planewise.SLMBoost{}", rounds),
        "lightgbm": Contender("LightGBM", "lightgbm.LGBM{}", {**rounds, "verbose": -1}),
        "xgboost": Contender("XGBoost", "xgboost.XGB{}", rounds),
        "catboost": Contender(
            "CatBoost",
            "catboost.CatBoost{}",
            {**other_names, "verbose": 0, "allow_writing_files": False},
            seed="random_seed",
            threads="thread_count",
        ),
        "histgb": Contender(
            "scikit-learn",
            "sklearn.ensemble.HistGradientBoosting{}",
            {**rounds_of_scikit_learn, "early_stopping": False},
            threads=None,
        ),
    }


def _with(contender: Contender, **settings: Any) -> Contender:
    return replace(contender, settings={**contender.settings, **settings})


def _on_native_tables(boosting: dict[str, Contender]) -> dict[str, Contender]:
    """Category columns are announced where a library does not look for them by itself."""
    return boosting | {
        "xgboost": _with(boosting["xgboost"], enable_categorical=True),
        "histgb": _with(boosting["histgb"], categorical_features="from_dtype"),
    }


def _stopping_early(boosting: dict[str, Contender]) -> dict[str, Contender]:
    """Early stopping: ours and scikit-learn's set rows aside by themselves, the others get them in `fight.py`."""
    by_itself = {"early_stopping": True, "n_iter_no_change": PATIENCE, "validation_fraction": VALIDATION_SHARE}
    return boosting | {
        "planewise": _with(boosting["planewise"], **by_itself),
        "xgboost": _with(boosting["xgboost"], early_stopping_rounds=PATIENCE),
        "histgb": _with(boosting["histgb"], **by_itself),
    }


TREE = {
    "planewise": Contender("planewise", "planewise.SLM{}", threads=None),
    "decisiontree": Contender("decision tree", "sklearn.tree.DecisionTree{}", threads=None),
}
FOREST = {
    "planewise": Contender("planewise, 20 trees", "planewise.SLMForest{}", {"n_estimators": 20}),
    "planewise-100": Contender("planewise, 100 trees", "planewise.SLMForest{}", {"n_estimators": 100}),
    "randomforest": Contender("random forest", "sklearn.ensemble.RandomForest{}", {"n_estimators": 100}),
    "extratrees": Contender("Extra-Trees", "sklearn.ensemble.ExtraTrees{}", {"n_estimators": 100}),
    "treeple": Contender("treeple oblique", "treeple.ObliqueRandomForest{}", {"n_estimators": 100}),
    "ydf": Contender(
        "YDF oblique", "benchmarks.duels.ydf_oblique.ObliqueForest{}", {"n_estimators": 100}, package="ydf"
    ),
}
BOOST = _boosting(ROUNDS) | {
    "ydf": Contender(
        "YDF oblique", "benchmarks.duels.ydf_oblique.ObliqueBoosting{}", {"n_estimators": 100}, package="ydf"
    )
}
SVC = Contender("SVC", "benchmarks.peers.contenders.searched_svc", seed=None, package="sklearn")
SVM = {"planewise": Contender("planewise", "planewise.MCM{}CV", {"cv": 3}), "svc": SVC}
FIELD = _on_native_tables(_boosting(ROUNDS))
TUNED = _stopping_early(_on_native_tables(_boosting(MANY_ROUNDS)))
MACHINES = {"machine": SVM["planewise"], "svc": SVC}
