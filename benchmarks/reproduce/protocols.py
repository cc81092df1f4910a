"""How a cell is run: which rows are tested, and what is tuned on the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ParameterGrid,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.model_selection import train_test_split as split_rows

from . import sizes
from .data import Table, load, shape
from .declaration import Data, Method, Metrics
from .methods import build, fitted_model, grid


@dataclass(frozen=True)
class SeededSplits:
    """A seed is a split, and a draw of generated data. Tuning sees the training part alone.

    Attributes
    ----------
    test_share : float
        Share of the rows tested.
    folds : int
        Folds of the training part that choose among a grid's points.
    most_tuning_rows : int
        Of a larger training part so many rows do; the chosen point is then fitted on all of it.
    first_seed : int
        The seed of the first split.
    """

    test_share: float
    folds: int = 3
    most_tuning_rows: int = 3000
    first_seed: int = 0

    @property
    def test_by_train(self) -> float:
        """Rows tested by rows to learn from."""
        return self.test_share / (1 - self.test_share)

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Score and sizes of the tuned method on one split."""
        seed += self.first_seed
        X, y = load(data, seed, data_home)
        labels = y if data.task == "classification" else None
        X, X_test, y, y_test = split_rows(X, y, test_size=self.test_share, random_state=seed, stratify=labels)
        model = fit_tuned(
            method, data, (X, y), seed, folds(data, self.folds, seed, method.repeats), self.most_tuning_rows
        )
        return judge(method, data, model, X, (X_test, y_test))


@dataclass(frozen=True)
class SearchOnTest:
    """As a paper that searches on its one test part: of all points of the grid, the best there, and the first."""

    test_share: float = 0.4

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracy of the first point of the grid and of the best one."""
        X, y = load(data, seed, data_home)
        X, X_test, y, y_test = split_rows(X, y, test_size=self.test_share, random_state=seed, stratify=y)
        right = [
            100 * float(np.mean(build(method, data, seed).set_params(**point).fit(X, y).predict(X_test) == y_test))
            for point in ParameterGrid(grid(method, data))
        ]
        return {"first": right[0], "best": max(right)}


@dataclass(frozen=True)
class NestedFolds:
    """A seed is an outer fold; inner folds of the others (of at most so many rows) choose among a grid's points."""

    outer: int = 5
    inner: int = 3
    most_tuning_rows: int = 3000

    @property
    def test_by_train(self) -> float:
        """Rows tested by rows to learn from."""
        return 1 / (self.outer - 1)

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Score and sizes of the tuned method on one outer fold."""
        X, y = load(data, 0, data_home)
        train, test = list(folds(data, self.outer, 0).split(X, y))[seed]
        inner = folds(data, self.inner, seed, method.repeats)
        model = fit_tuned(method, data, (X[train], y[train]), seed, inner, self.most_tuning_rows)
        return judge(method, data, model, X[train], (X[test], y[test]))


@dataclass(frozen=True)
class InsideAndOnTestFolds:
    """Nested folds, and beside them, as the MCM paper chose, the point that is best on the test fold itself.

    A seed is an outer fold. "accuracy" is that of the point chosen on inner folds of the training part, "on test" that
    of the point chosen on the test fold. A machine with a conformal factor has several gamma_c to choose from, and with
    each of them as many points as a machine without: "best, mean of gamma_c" is the best point on the test fold, and
    "best less average" how far the average point is behind it there, both found for each gamma_c and averaged.
    """

    outer: int = 5
    inner: int = 3

    @property
    def test_by_train(self) -> float:
        """Rows tested by rows to learn from."""
        return 1 / (self.outer - 1)

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracies by both choices, and what the chosen machine needs and does."""
        X, y = load(data, 0, data_home)
        train, test = list(folds(data, self.outer, 0).split(X, y))[seed]
        model = fit_tuned(method, data, (X[train], y[train]), seed, folds(data, self.inner, seed, method.repeats))
        found = judge(method, data, model, X[train], (X[test], y[test]))
        on_test = self._on_test(method, data, model, (X, y), seed, [(train, test)])
        by_point = 100 * on_test["mean_test_score"]
        sets = [by_point]
        if "param_gamma_conformal" in on_test:
            times = (on_test["param_gamma_conformal"] / on_test["param_gamma"]).round(6)
            sets = [by_point[times == each] for each in np.unique(times)]
        best, average = (np.array([of(each) for each in sets]) for of in (np.max, np.mean))
        found |= {
            "on test": float(best.max()),
            "best, mean of gamma_c": float(best.mean()),
            "best less average": float((best - average).mean()),
        }
        machine = fitted_model(model)
        if getattr(machine, "_factor", None) is not None:
            parts = [("training", X[train], y[train]), ("held-out", X[test], y[test])]
            found |= {
                f"{part} separability": sizes.separability_gained(machine, model[:-1].transform(rows), label)
                for part, rows, label in parts
            }
        return found

    @staticmethod
    def _on_test(method: Method, data: Data, fitted: Any, rows: Table, seed: int, fold: list[Any]) -> Any:
        """The results of every point on the test fold, after gaps are filled from the training part."""
        X, y = rows
        if not method.searches_itself:
            search = GridSearchCV(build(method, data, seed), grid(method, data), cv=fold, refit=False)
            return search.fit(X, y).cv_results_
        search = clone(fitted_model(fitted)).set_params(cv=fold, refit=False)
        return search.fit(fitted[:-1].transform(X), y).cv_results_


@dataclass(frozen=True)
class InsideTraining:
    """Nested folds inside the training part of one split, whose test part is never looked at: grids may be chosen here.

    A seed is an outer fold; `most_rows` of the training part are used.
    """

    test_share: float = 0.4
    most_rows: int = 600
    outer: int = 3
    inner: int = 3

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Score and sizes of the tuned method on one outer fold."""
        X, y = load(data, 0, data_home)
        share = min(self.most_rows / len(X), 1 - self.test_share)
        labels = y if data.task == "classification" else None
        X, _, y, _ = split_rows(X, y, train_size=share, test_size=self.test_share, random_state=0, stratify=labels)
        train, test = list(folds(data, self.outer, 0).split(X, y))[seed]
        inner = folds(data, self.inner, seed, method.repeats)
        model = fit_tuned(method, data, (X[train], y[train]), seed, inner)
        return judge(method, data, model, X[train], (X[test], y[test]))


@dataclass(frozen=True)
class ValidationPart:
    """A seed is a split; a part of the training rows chooses among a grid's points."""

    test_share: float = 0.2
    validation_share: float = 0.2
    most_tuning_rows: int = 4000
    first_seed: int = 42

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Score and sizes of the tuned method on one split."""
        seed += self.first_seed
        X, y = load(data, seed, data_home)
        X, X_test, y, y_test = split_rows(X, y, test_size=self.test_share, random_state=seed)
        kind = StratifiedShuffleSplit if data.task == "classification" else ShuffleSplit
        part = kind(1, test_size=self.validation_share, random_state=seed)
        model = fit_tuned(method, data, (X, y), seed, part, self.most_tuning_rows)
        return judge(method, data, model, X, (X_test, y_test))


@dataclass(frozen=True)
class Shapes:
    """Nothing is learned: how many rows and columns a data set has."""

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Rows and columns."""
        rows, columns = shape(data, data_home)
        return {"samples": float(rows), "features": float(columns)}


def folds(data: Data, number: int, seed: int, repeats: int = 1) -> Any:
    """Shuffled folds, of equal class shares where there are classes, drawn so many times."""
    with_classes = data.task == "classification"
    if repeats > 1:
        many = RepeatedStratifiedKFold if with_classes else RepeatedKFold
        return many(n_splits=number, n_repeats=repeats, random_state=seed)
    kind = StratifiedKFold if with_classes else KFold
    return kind(number, shuffle=True, random_state=seed)


def fit_tuned(method: Method, data: Data, rows: Table, seed: int, cv: Any, most_tuning_rows: int | None = None) -> Any:
    """The method fitted on all rows, at the point of its grid that `cv` finds best."""
    X, y = rows
    estimator, points = build(method, data, seed), grid(method, data)
    if points:
        X_few, y_few = X, y
        if most_tuning_rows is not None and len(X) > most_tuning_rows:
            labels = y if data.task == "classification" else None
            X_few, _, y_few, _ = split_rows(X, y, train_size=most_tuning_rows, random_state=seed, stratify=labels)
        score = "accuracy" if data.task == "classification" else "neg_root_mean_squared_error"
        search = GridSearchCV(estimator, points, scoring=score, cv=cv, refit=False, error_score="raise")
        estimator = estimator.set_params(**search.fit(X_few, y_few).best_params_)
    return estimator.fit(X, y)


def judge(method: Method, data: Data, model: Any, X_train: Any, test: Table) -> Metrics:
    """Accuracy in percent or RMSE, and the sizes the method has."""
    X, y = test
    answer = model.predict(X)
    if data.task == "classification":
        found = {"accuracy": 100 * float(np.mean(answer == y))}
    else:
        found = {"rmse": float(np.sqrt(np.mean((answer - y) ** 2)))}
    if method.size:
        found |= getattr(sizes, method.size)(fitted_model(model), *X_train.shape)
    return found
