"""YDF's boosting and forests with sparse oblique splits, behind scikit-learn's interface: our nearest peers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _Oblique(BaseEstimator):
    learner = "GradientBoostedTreesLearner"
    options: ClassVar[dict[str, Any]] = {"validation_ratio": 0.0}  # all rows for training, as our boosting does

    def __init__(self, n_estimators: int = 100, random_state: int = 0, n_jobs: int = 1) -> None:
        self.n_estimators, self.random_state, self.n_jobs = n_estimators, random_state, n_jobs

    def _train(self, X: Any, y: Any, task: str) -> None:
        import ydf

        ydf.verbose(0)
        self.model_ = getattr(ydf, self.learner)(
            label="y",
            task=getattr(ydf.Task, task),
            num_trees=self.n_estimators,
            split_axis="SPARSE_OBLIQUE",
            sparse_oblique_num_projections_exponent=1.0,
            sparse_oblique_normalization="MIN_MAX",
            num_threads=self.n_jobs,
            random_seed=self.random_state,
            **self.options,
        ).train(_columns(X) | {"y": y})

    def __getstate__(self) -> dict[str, Any]:
        """What the library itself would write, so that its size can be told."""
        with tempfile.TemporaryDirectory() as folder:
            self.model_.save(f"{folder}/model")
            return {"files": [path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()]}


class ObliqueBoostingClassifier(ClassifierMixin, _Oblique):
    """For classes."""

    def fit(self, X: Any, y: Any) -> ObliqueBoostingClassifier:
        """Train on rows and classes."""
        self.classes_ = np.unique(y)
        self._train(X, y, "CLASSIFICATION")
        return self

    def predict_proba(self, X: Any) -> Any:
        """A column for each class."""
        chances = self.model_.predict(_columns(X))
        return np.c_[1 - chances, chances] if chances.ndim == 1 else chances

    def predict(self, X: Any) -> Any:
        """The likeliest class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class ObliqueBoostingRegressor(RegressorMixin, _Oblique):
    """For numbers."""

    def fit(self, X: Any, y: Any) -> ObliqueBoostingRegressor:
        """Train on rows and numbers."""
        self._train(X, y, "REGRESSION")
        return self

    def predict(self, X: Any) -> Any:
        """One number per row."""
        return self.model_.predict(_columns(X))


class _Forest:
    learner = "RandomForestLearner"
    options: ClassVar[dict[str, Any]] = {"compute_oob_performances": False}


class ObliqueForestClassifier(_Forest, ObliqueBoostingClassifier):
    """For classes."""


class ObliqueForestRegressor(_Forest, ObliqueBoostingRegressor):
    """For numbers."""


def _columns(X: Any) -> dict[str, Any]:
    return {f"f{place}": np.ascontiguousarray(X[:, place], dtype=np.float32) for place in range(X.shape[1])}
