"""A duel: planewise and a peer take turns on the same rows, so that times are ratios of one run."""

from __future__ import annotations

import pickle
import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.reproduce.data import load
from benchmarks.reproduce.declaration import Data, Method, Metrics
from benchmarks.reproduce.protocols import fit_tuned, folds
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class Turns:
    """A seed is a split; the larger sets are sampled.

    Attributes
    ----------
    ours : Method
        Who a peer meets. Its own cell has its loss alone.
    by_chances : bool
        Classes are judged by log-loss instead of the share of wrong answers (plus one row, so that none is zero).
    repeated_below : float
        Seconds: if both fits together are shorter, they are timed three times.
    """

    ours: Method
    by_chances: bool = False
    test_share: float = 0.4
    most_rows: int = 5000
    repeated_below: float = 1.0

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Loss of the method; of a peer also our time and size, divided by its."""
        X, y = load(data, seed, data_home)
        labels = y if data.task == "classification" else None
        train, test = (share * min(1.0, self.most_rows / len(X)) for share in (1 - self.test_share, self.test_share))
        rows = train_test_split(X, y, train_size=train, test_size=test, random_state=seed, stratify=labels)
        duel = Duel(data, seed, rows)
        if method == self.ours:
            return {"loss": self._loss(duel, duel.fit(method)[0])}
        timed: dict[str, list[tuple[Any, float, float]]] = {"ours": [], "theirs": []}
        while len(timed["ours"]) < 3:
            timed["theirs"].append(duel.fit(method))
            timed["ours"].append(duel.fit(self.ours))
            if timed["ours"][-1][1] + timed["theirs"][-1][1] > self.repeated_below:
                break
        ours, theirs = (np.median([times for _, *times in timed[side]], axis=0) for side in ("ours", "theirs"))
        model = timed["theirs"][0][0]
        fit, predict = ours / theirs
        return {
            "loss": self._loss(duel, model),
            "fit": float(fit),
            "predict": float(predict),
            "size": _size(timed["ours"][0][0]) / _size(model),
        }

    def _loss(self, duel: Duel, model: Any) -> float:
        _, X, _, y = duel.rows
        if duel.data.task == "regression":
            return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
        if self.by_chances:
            return float(log_loss(y, np.clip(model.predict_proba(X), 1e-7, 1), labels=np.unique(y)))
        return float((np.sum(model.predict(X) != y) + 1) / len(y))


@dataclass(frozen=True)
class Duel:
    """The rows of one split: X to learn from and to test, y likewise."""

    data: Data
    seed: int
    rows: tuple[Any, Any, Any, Any]

    def fit(self, method: Method) -> tuple[Any, float, float]:
        """The fitted (and tuned) method, and its seconds for that and for the test rows."""
        X, X_test, y, _ = self.rows
        start = time.perf_counter()
        model = fit_tuned(method, self.data, (X, y), self.seed, folds(self.data, 3, self.seed))
        fitted = time.perf_counter()
        model.predict(X_test)
        return model, fitted - start, time.perf_counter() - fitted


def _size(model: Any) -> int:
    """Bytes of the compressed pickle."""
    return len(zlib.compress(pickle.dumps(model), 1))
