"""The RECIP paper's artificial data: how well the batches' pairs of features are found, and what they are good for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data as datasets
from planewise import RECIPClassifier
from planewise.published import recip, recip_known
from planewise.recip import local_entropy

from .declaration import Data, Method, Metrics
from .methods import build

KNOWN = "known"  # stands for the batches' pairs in a method's parameters
QS = tuple(range(1, 8))
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2)


def batch_data(q: int, noise: float, batch_size: int = 650, **more: Any) -> Data:
    """So many rows a batch to learn from, and as many to test."""
    keywords = {"noise": noise, "batch_size": 2 * batch_size, "return_details": True, **more}
    return Data(f"q={q}, noise={noise:g}", ("make_subspace_batches", q, keywords))


def main_views(*, voting: bool = False, **settings: Any) -> RECIPClassifier:
    """RECIP as published, but a view must be the largest part of a row for more than 1% of the rows to be kept."""
    return recip(**settings).set_params(keep="best", decide="vote" if voting else "select")


@dataclass(frozen=True)
class Drawn:
    """A draw of pairs and rows, half of them to learn from."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    clean: NDArray[np.bool_]  # which of the tested rows are of a batch
    batch_pairs: list[tuple[int, int]]  # one per batch

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Each once."""
        return sorted(set(self.batch_pairs))


def drawn(data: Data, seed: int) -> Drawn:
    """The rows of a data set and seed."""
    maker, q, keywords = data.source
    X, y, details = getattr(datasets, maker)(q, **keywords, random_state=seed)
    half = len(X) // 2
    pairs = [(int(u), int(v)) for u, v in details.pairs]
    return Drawn(X[:half], y[:half], X[half:], y[half:], details.batch[half:] >= 0, pairs)


def recovered(kept: list[Any], pairs: list[tuple[int, int]]) -> Metrics:
    """How many of the kept views are informative, and how many of the informative are kept."""
    hits = len(set(kept) & set(pairs))
    return {
        "precision": hits / len(kept),
        "recall": hits / len(pairs),
        "kept": float(len(kept)),
        "informative": float(hits),
    }


@dataclass(frozen=True)
class Batches:
    """A seed is a draw of the pairs and of the rows; half of the rows are tested."""

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracy on clean rows and on all, and how many of the pairs were found."""
        rows = drawn(data, seed)
        model = build(method, data, seed)
        if model[-1].get_params().get("projections") == KNOWN:
            model[-1].set_params(projections=rows.pairs)
        right = model.fit(rows.X, rows.y).predict(rows.X_test) == rows.y_test
        found = {"clean": float(np.mean(right[rows.clean])), "all": float(np.mean(right))}
        kept = getattr(model[-1], "projections_", None)
        return found if kept is None else found | recovered(kept, rows.pairs)


@dataclass(frozen=True)
class Recovery:
    """Which views RECIP keeps, by both rules, and on request how accurate they are."""

    predict: bool = False

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Precision and recall of the views that any row uses, and of the main ones."""
        rows = drawn(data, seed)
        model = build(method, data, seed)[-1]
        found = {}
        for rule, words in (("used", "any row"), ("best", "main views")):
            kept = model.set_params(keep=rule).fit(rows.X, rows.y).projections_
            found |= {f"{name}, {words}": value for name, value in recovered(kept, rows.pairs).items()}
            if self.predict:
                right = model.predict(rows.X_test) == rows.y_test
                found[f"clean, {words}"] = float(np.mean(right[rows.clean]))
        return found


@dataclass(frozen=True)
class PenaltyShares:
    """Batches, with the penalty of a lasso given as a `share` of the smallest one at which all coefficients are 0.

    If t is "pairs", as many views are kept as there are informative pairs.
    """

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracy and how many of the pairs were found."""
        settings = dict(method.fixed)
        share = settings.pop("share", None)
        if share is None:
            return Batches().run(data, method, seed, data_home)
        rows = drawn(data, seed)
        n_features = rows.X.shape[1]
        views = [view for size in (1, 2) for view in combinations(range(n_features), size)]
        Z = np.column_stack([local_entropy(rows.X, rows.y, view, scaling=None) for view in views])
        best = Z.min(axis=1)
        lam = share * float((best @ Z).max() / np.linalg.norm(best))
        more = {"t": len(rows.pairs)} if "t" in settings else {}
        return Batches().run(data, replace(method, fixed=settings | {"lam": lam} | more), seed, data_home)


@dataclass(frozen=True)
class KnownVotes:
    """The batches' pairs vote, counted in several ways, because the paper does not say how."""

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracy on clean rows: each pair once or once per batch, ties to a class or at random."""
        rows = drawn(data, seed)
        answer = {}
        for pair in rows.pairs:
            model = recip_known([pair], **method.fixed).fit(rows.X, rows.y)
            answer[pair] = model.predict(rows.X_test[rows.clean])
        truth = rows.y_test[rows.clean]
        once = np.mean([answer[pair] for pair in rows.pairs], axis=0)  # share of the votes for class 1
        by_batch = np.mean([answer[pair] for pair in rows.batch_pairs], axis=0)
        coin = np.random.default_rng(seed).integers(0, 2, len(truth))
        found = {
            "once": once >= 0.5,
            "once, ties to class 0": once > 0.5,
            "once, ties at random": np.where(once == 0.5, coin, once > 0.5),
            "once per batch": by_batch >= 0.5,
        }
        return {name: float(np.mean(label == truth)) for name, label in found.items()}
