"""Machines for many rows, tuned in two stages as the MCM paper does: C and gamma first, then gamma_c alone."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import ParameterGrid, StratifiedShuffleSplit
from sklearn.model_selection import train_test_split as split_rows


class StagedMachine(ClassifierMixin, BaseEstimator):
    """A plain machine tuned on a part of the training rows, then one with a conformal factor at the point found.

    Parameters
    ----------
    plain, conformal : str
        Where they are made: "package.module.name", a class or a function.
    factor : dict
        What makes the second one conformal.
    first, then : dict
        Parameter: values, for the two stages; `then` starts from the best point of `first`. The first of equally good
        points is taken.
    validation_share : float
        Share of the rows that judge.
    most_tuning_rows : int
        Of more rows so many are drawn for both stages.
    random_state : int
        Seed of the parts and of the machines.
    """

    def __init__(
        self,
        plain: str = "planewise.LargeScaleMCMClassifier",
        conformal: str = "planewise.LargeScaleMCMClassifier",
        factor: Mapping[str, Any] | None = None,
        first: Mapping[str, Any] | None = None,
        then: Mapping[str, Any] | None = None,
        validation_share: float = 0.2,
        most_tuning_rows: int = 4000,
        random_state: int = 0,
    ) -> None:
        self.plain, self.conformal, self.factor = plain, conformal, factor
        self.first, self.then = first, then
        self.validation_share, self.most_tuning_rows = validation_share, most_tuning_rows
        self.random_state = random_state

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Both stages, then the machine at the point chosen, on all rows."""
        few = (X, y)
        if len(X) > self.most_tuning_rows:
            X_few, _, y_few, _ = split_rows(
                X, y, train_size=self.most_tuning_rows, random_state=self.random_state, stratify=y
            )
            few = (X_few, y_few)
        chosen = self._best(self.plain, {}, self.first or {}, few)
        chosen = self._best(self.conformal, chosen | dict(self.factor or {}), self.then or {}, few)
        self.best_params_ = chosen
        self.machine_ = self._made(self.conformal, chosen).fit(X, y)
        self.classes_, self.n_support_ = self.machine_.classes_, self.machine_.n_support_
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The class of each row."""
        return self.machine_.predict(X)

    def _best(self, path: str, fixed: dict[str, Any], grid: Mapping[str, Any], rows: tuple[Any, Any]) -> dict[str, Any]:
        X, y = rows
        part = StratifiedShuffleSplit(1, test_size=self.validation_share, random_state=self.random_state)
        learned, judged = next(part.split(X, y))
        points = [fixed | point for point in ParameterGrid(dict(grid))]
        if len(points) == 1:
            return points[0]
        scores = [self._made(path, point).fit(X[learned], y[learned]).score(X[judged], y[judged]) for point in points]
        return points[int(np.argmax(scores))]

    def _made(self, path: str, parameters: dict[str, Any]) -> Any:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)(**parameters, random_state=self.random_state)
