"""YDF's boosting with sparse oblique splits, behind scikit-learn's interface: the nearest peer to our own boosting."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _Boosting(BaseEstimator):
    def __init__(self, n_estimators: int = 100, random_state: int = 0) -> None:
        self.n_estimators, self.random_state = n_estimators, random_state

    def _train(self, X: Any, y: Any, task: str) -> None:
        import ydf

        ydf.verbose(0)
        self.model_ = ydf.GradientBoostedTreesLearner(
            label="y",
            task=getattr(ydf.Task, task),
            num_trees=self.n_estimators,
            validation_ratio=0.0,
            split_axis="SPARSE_OBLIQUE",
            sparse_oblique_num_projections_exponent=1.0,
            sparse_oblique_normalization="MIN_MAX",
            num_threads=1,
            random_seed=self.random_state,
        ).train(_columns(X) | {"y": y})

    def __getstate__(self) -> dict[str, Any]:
        """What the library itself would write, so that its size can be told."""
        with tempfile.TemporaryDirectory() as folder:
            self.model_.save(f"{folder}/model")
            return {"files": [path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()]}


class ObliqueBoostingClassifier(ClassifierMixin, _Boosting):
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


class ObliqueBoostingRegressor(RegressorMixin, _Boosting):
    """For numbers."""

    def fit(self, X: Any, y: Any) -> ObliqueBoostingRegressor:
        """Train on rows and numbers."""
        self._train(X, y, "REGRESSION")
        return self

    def predict(self, X: Any) -> Any:
        """A number a row."""
        return self.model_.predict(_columns(X))


def _columns(X: Any) -> dict[str, Any]:
    return {f"f{place}": np.ascontiguousarray(X[:, place], dtype=np.float32) for place in range(X.shape[1])}
