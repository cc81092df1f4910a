"""Small fitted models of every kind, and rows that try them: what all tests of exports share."""

from __future__ import annotations

from functools import cache
from itertools import cycle

import numpy as np
import pandas as pd

from planewise import (
    AdditiveClassifier,
    AdditiveRegressor,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

N_ROWS, N_COLUMNS = 300, 5


def table(kind, seed=0):
    """Rows of numbers, of numbers with gaps, or of numbers and categories with gaps (a data frame)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
    X[:, 1] = 1000 + 5 * X[:, 1]
    X[:, 2] = np.round(3 * X[:, 2])
    score = X[:, 0] + (X[:, 1] - 1000) / 5 - 0.3 * X[:, 2] + 0.3 * rng.normal(size=N_ROWS)
    if kind == "numbers":
        return X, score
    X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "gaps":
        return X, score
    colour = rng.choice(["blue", "green", 'r"e\\d', "grün ??/"], N_ROWS)
    size = rng.integers(0, 40, N_ROWS)
    score = score + np.where(colour == "blue", 2.0, 0.0) + np.where(size % 3 == 0, 1.5, 0.0)
    frame = pd.DataFrame(X, columns=["width", "year */", "count", "x y", "last"])
    frame["colour"] = pd.Categorical(colour)
    frame["size"] = pd.Categorical(size)
    frame.loc[::17, "colour"] = None
    return frame, score


def targets(task, score):
    if task == "two":
        return np.where(score > np.median(score), "yes", "no")
    if task == "three":
        return np.digitize(score, np.quantile(score, [0.3, 0.6])) * 10 - 10
    if task == "counts":
        return np.round(np.exp(score - score.max() + 2))
    if task == "positive":
        return np.exp(score / 2)
    return 500 + 20 * score


TREES = {
    "tree-two": (SLMClassifier, {"max_depth": 4}, "two"),
    "tree-three": (SLMClassifier, {"max_planes": 3, "min_samples_leaf": 3}, "three"),
    "tree-numbers": (SLMRegressor, {}, "numbers"),
    "forest-two": (SLMForestClassifier, {"n_estimators": 6}, "two"),
    "forest-three": (SLMForestClassifier, {"n_estimators": 6, "max_planes": 2}, "three"),
    "forest-hard": (SLMForestClassifier, {"n_estimators": 7, "voting": "hard"}, "three"),
    "forest-numbers": (SLMForestRegressor, {"n_estimators": 6, "min_samples_leaf": 10}, "numbers"),
    "boost-two": (SLMBoostClassifier, {"n_estimators": 8}, "two"),
    "boost-three": (SLMBoostClassifier, {"n_estimators": 5}, "three"),
    "boost-numbers": (SLMBoostRegressor, {"n_estimators": 8, "loss": "huber", "alpha": 0.9}, "numbers"),
    "boost-two-statistics": (SLMBoostClassifier, {"n_estimators": 8, "target_statistics": 5}, "two"),
    "boost-three-statistics": (SLMBoostClassifier, {"n_estimators": 5, "target_statistics": 3}, "three"),
    "boost-numbers-statistics": (SLMBoostRegressor, {"n_estimators": 8, "target_statistics": 0}, "numbers"),
    "boost-counts": (SLMBoostRegressor, {"n_estimators": 8, "loss": "poisson"}, "counts"),
    "boost-gamma": (SLMBoostRegressor, {"n_estimators": 8, "loss": "gamma"}, "positive"),
    "views-two": (AdditiveClassifier, {"n_estimators": 8, "cv": 2, "max_views": 4}, "two"),
    "views-three": (AdditiveClassifier, {"n_estimators": 5, "cv": 2, "max_views": 3}, "three"),
    "views-numbers": (AdditiveRegressor, {"n_estimators": 8, "cv": 2, "max_views": 4}, "numbers"),
    "views-counts": (AdditiveRegressor, {"n_estimators": 8, "cv": 2, "loss": "poisson"}, "counts"),
}
KINDS = ("numbers", "gaps", "categories")


@cache
def fitted_tree(which, kind):
    """A fitted model and the table it was fitted on."""
    make, params, task = TREES[which]
    X, score = table(kind)
    model = make(**params, random_state=0).fit(X, targets(task, score))
    return model, X


def trial_rows(model, X, seed=1):
    """Rows like those of the fit, stranger ones, and gaps; for data frames the encoded form beside them."""
    rng = np.random.default_rng(seed)
    if isinstance(X, pd.DataFrame):
        shown = X.sample(400, replace=True, random_state=seed).reset_index(drop=True)
        columns = shown.columns[:N_COLUMNS]
        shown[columns] = shown[columns] + rng.normal(size=(400, N_COLUMNS)).astype(np.float32)
        shown[columns] = shown[columns].astype(np.float32)
        new = shown["colour"].astype(object)
        new[::11] = "never seen"
        shown["colour"] = pd.Categorical(new)
        return shown, encoded(model, shown)
    rows = np.repeat(X, 2, axis=0)
    rows = rows + (rng.normal(size=rows.shape) * [1, 5, 1, 1, 1]).astype(np.float32)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    far = np.full((6, X.shape[1]), np.nan, np.float32)
    far[1], far[2], far[3], far[4], far[5] = 0, 1e30, -1e30, 1e-40, -0.0
    rows = np.vstack([X, rows, far]).astype(np.float32)
    return rows, rows


def near_a_plane(model, rows, share):
    """Rows with some |a.x - t| below a share of its scale: another way to add up may send them to either side."""
    forest = model.forest_ if hasattr(model, "forest_") else model.tree_
    near = np.zeros(len(rows), dtype=bool)
    for column, known in sorted(getattr(model, "target_statistics_", {}).items()):
        place, unseen = rows[:, column], len(known.values)
        seen = np.isnan(place) | ((place == np.floor(place)) & (place >= 0) & (place < unseen))
        rows = np.column_stack([rows, known.of_codes(np.where(seen, place, unseen))])
    for plane in range(forest.n_planes):
        terms = slice(*forest.term_start[plane : plane + 2])
        if forest.set_start[plane] < forest.set_start[plane + 1]:
            continue
        with np.errstate(invalid="ignore"):
            parts = rows[:, forest.term_feature[terms]].astype(np.float64) * forest.term_weight[terms]
            scale = np.abs(parts).sum(axis=1) + np.abs(forest.threshold[plane])
            near |= np.abs(parts.sum(axis=1) - forest.threshold[plane]) < share * scale
    return near


def encoded(model, frame):
    """What a header or an ONNX model gets: categories by their places in ``categories_``."""
    out = np.empty(frame.shape, np.float32)
    for j, column in enumerate(frame.columns):
        if j not in model.categories_:
            out[:, j] = frame[column].to_numpy(np.float32)
            continue
        place = {value: k for k, value in enumerate(model.categories_[j].tolist())}
        values = frame[column].tolist()
        unseen = cycle([len(place), 0.5, -1, 1.25, 1e9])  # any number that is no place is a category not seen
        out[:, j] = [np.nan if pd.isna(v) else place[v] if v in place else next(unseen) for v in values]
    return out


MACHINES = {
    "two": (MCMClassifier, {"probability": True}, "two"),
    "two-scores": (MCMClassifier, {"scaling": None, "gamma": 0.02}, "two"),
    "three": (MCMClassifier, {"probability": True}, "three"),
    "three-duels": (MCMClassifier, {"probability": True, "multi_class": "ovo"}, "three"),
    "linear": (MCMClassifier, {"kernel": "linear", "probability": True}, "three"),
    "linear-duels": (MCMClassifier, {"kernel": "linear", "multi_class": "ovo"}, "three"),
    "poly": (MCMClassifier, {"kernel": "poly", "coef0": 1.0, "probability": True}, "three"),
    "signed": (MCMClassifier, {"conformal": "signed", "probability": True}, "two"),
    "printed": (MCMClassifier, {"conformal": "printed", "slack": "sum", "C": 5.0}, "three"),
    "shrunk": (MCMClassifier, {"conformal": "shrunk", "shrinkage": 0.5, "probability": True}, "three"),
    "search": (MCMClassifierCV, {"mus": [1.0, 0.1], "gammas": [0.1], "cv": 3, "n_repeats": 1}, "two"),
    "numbers": (MCMRegressor, {}, "numbers"),
    "numbers-search": (MCMRegressorCV, {"mus": [0.1, 0.01], "gammas": [0.1], "cv": 3}, "numbers"),
    "numbers-linear": (MCMRegressor, {"kernel": "linear"}, "numbers"),
    "numbers-poly": (MCMRegressor, {"kernel": "poly", "scaling": "standard"}, "numbers"),
    "large": (LargeScaleMCMClassifier, {"n_components": 12, "max_iter": 5}, "two"),
    "large-three": (LargeScaleMCMClassifier, {"n_components": 12, "max_iter": 5, "conformal": "signed"}, "three"),
    "large-poly": (LargeScaleMCMClassifier, {"n_components": 12, "max_iter": 5, "kernel": "poly"}, "three"),
}
# On tables with gaps, and with categories as well.
GAPPY_MACHINES = ["two", "two-scores", "three-duels", "linear-duels", "poly", "signed", "search"]
GAPPY_MACHINES += ["numbers", "numbers-search", "numbers-linear", "large", "large-three", "large-poly"]


@cache
def fitted_machine(which, kind="numbers"):
    """A fitted machine and the table it was fitted on."""
    make, params, task = MACHINES[which]
    X, score = table(kind)
    seeded = {} if make is MCMRegressor else {"random_state": 0}
    return make(**params, **seeded).fit(X, targets(task, score)), X


def machine_rows(X, seed=1):
    """Rows like those of the fit and farther ones."""
    rng = np.random.default_rng(seed)
    return np.vstack([X, X + 2 * X.std(axis=0) * rng.normal(size=X.shape)]).astype(np.float32)


def gappy_rows(model, X):
    """Rows with gaps and new categories, for ``predict`` and for an export."""
    if isinstance(X, pd.DataFrame):
        return trial_rows(model, X)
    rows = np.where(np.arange(X.size).reshape(X.shape) % 6 == 1, np.nan, X).astype(np.float32)
    return np.vstack([X, rows]), np.vstack([X, rows])
