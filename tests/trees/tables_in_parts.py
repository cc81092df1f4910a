"""Boosting on rows in parts of this process, and parts that lose what fits keep beside them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd

from local_parts import LocalParts
from planewise import SLMBoostClassifier, SLMBoostRegressor
from planewise.data.chunks import Part
from planewise.data.survey import join_surveys, learn_columns, read_part, survey_part
from planewise.trees.chunked import BoostsParts, class_loss_of, number_loss_of


class ForgetfulParts(LocalParts):
    """Parts that come without their states now and then, as after the loss of a worker."""

    def __init__(self, parts, n_threads=1, *, random, share=0.2):
        super().__init__(parts, n_threads)
        self._random, self._share = random, share

    def ask(self, question, *common, each=None):
        for k, part in enumerate(self._parts):
            if self._random.random() < self._share:
                if self._random.random() < 0.5:
                    part.states.clear()
                else:
                    self._parts[k] = pickle.loads(pickle.dumps(part))
        return super().ask(question, *common, each=each)

    def derive(self, make, *common, each):
        made = super().derive(make, *common, each=each)
        return ForgetfulParts(made._parts, random=self._random, share=self._share)


def pieces(table, sizes):
    ends = np.cumsum(sizes)
    take = table.iloc if hasattr(table, "iloc") else table
    return [take[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def parts_of(X, y, weight, sizes, survey, make=LocalParts):
    """The rows as float32, with targets and weights."""
    y, weight = np.asarray(y, dtype=np.float64), np.ones(len(y)) if weight is None else np.asarray(weight)
    columns = zip(pieces(X, sizes), pieces(y, sizes), pieces(weight, sizes), np.cumsum([0, *sizes]), strict=False)
    return make([Part(read_part(rows, survey), target, mine, int(first)) for rows, target, mine, first in columns])


class InParts(BoostsParts):
    """Boosting whose fit cuts a table in memory into parts of these sizes."""

    def fit_parts(self, X, y, weight=None, *, sizes, validation=None, make=LocalParts):
        named = self.categorical_features
        survey = join_surveys([survey_part(rows, named, f"partition {k}") for k, rows in enumerate(pieces(X, sizes))])
        learn_columns(self, survey)
        y = self._numbers_of(y, learns=True)
        parts, rows = parts_of(X, y, weight, sizes, survey, make), None
        if validation is not None:
            X_val, y_val, *rest = validation
            half = len(y_val) // 2
            given = X_val, self._numbers_of(y_val, learns=False), *(rest or [None])
            rows = parts_of(*given, [half, 0, len(y_val) - half], survey, make)
        self._learn_in_parts(parts, rows, self._loss_of(parts))
        return self


class ClassifierInParts(InParts, SLMBoostClassifier):
    def _numbers_of(self, y, *, learns):
        if learns:
            self.classes_ = np.unique(y)
        return np.searchsorted(self.classes_, y)

    def _loss_of(self, parts):
        return class_loss_of(self, len(self.classes_))


class RegressorInParts(InParts, SLMBoostRegressor):
    def _numbers_of(self, y, *, learns):
        return y

    def _loss_of(self, parts):
        return number_loss_of(self, parts)


def both(task, **parameters):
    """The estimator in memory, and the same in parts, beyond its number of rows per tree."""
    settings = {"n_estimators": 10, "max_rows_per_tree": 256, "random_state": 0} | parameters
    classes = [SLMBoostRegressor, RegressorInParts] if task == "numbers" else [SLMBoostClassifier, ClassifierInParts]
    return [make(**settings) for make in classes]


def a_table(n_rows=600, seed=0):
    """Numbers, some of them missing, with targets of all kinds, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    targets = {
        "two": np.where(score > 0, "yes", "no"),
        "ten": np.digitize(score, np.linspace(-2, 2, 9)),
        "numbers": score.astype(np.float64),
        "counts": rng.poisson(np.exp(score / 2)).astype(np.float64),
    }
    return X, targets, rng.uniform(0.5, 2, n_rows)


def a_frame(n_categories, n_rows=600, seed=0):
    """The same as a data frame with a column of categories between numbers."""
    X, targets, weight = a_table(n_rows, seed)
    rng = np.random.default_rng(seed + 1)
    place = rng.integers(0, n_categories, n_rows)
    names = np.array([f"town {k}" for k in range(n_categories)], dtype=object)[place]
    names[rng.random(n_rows) < 0.03] = None
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame.insert(1, "town", pd.Categorical(names))
    effect = rng.normal(size=n_categories)[place]
    targets["two"] = np.where(np.nan_to_num(X[:, 0]) + effect > 0, "yes", "no")
    targets["ten"] = np.digitize(np.nan_to_num(X[:, 0]) + effect, np.linspace(-2, 2, 9))
    targets["numbers"] = targets["numbers"] + effect
    return frame, targets, weight
