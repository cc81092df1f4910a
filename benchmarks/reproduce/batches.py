"""The RECIP paper's artificial data: how well the batches' pairs of features are found, and what they are good for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planewise import datasets

from .declaration import Data, Method, Metrics
from .methods import build

KNOWN = "known"  # stands for the batches' pairs in a method's parameters
QS = tuple(range(1, 8))
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2)


def batch_data(q: int, noise: float, batch_size: int = 650) -> Data:
    """So many rows a batch to learn from, and as many to test."""
    keywords = {"noise": noise, "batch_size": 2 * batch_size, "return_details": True}
    return Data(f"q={q}, noise={noise:g}", ("make_subspace_batches", q, keywords))


@dataclass(frozen=True)
class Batches:
    """A seed is a draw of the pairs and of the rows; half of the rows are tested."""

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracy on clean rows and on all, and how many of the pairs were found."""
        maker, q, keywords = data.source
        X, y, details = getattr(datasets, maker)(q, **keywords, random_state=seed)
        pairs = sorted({(int(u), int(v)) for u, v in details.pairs})
        half = len(X) // 2
        model = build(method, data, seed)
        if model[-1].get_params().get("projections") == KNOWN:
            model[-1].set_params(projections=pairs)
        right = model.fit(X[:half], y[:half]).predict(X[half:]) == y[half:]
        found = {"clean": float(np.mean(right[details.batch[half:] >= 0])), "all": float(np.mean(right))}
        kept = getattr(model[-1], "projections_", None)
        if kept is not None:
            hits = len(set(kept) & set(pairs))
            found |= {"precision": hits / len(kept), "recall": hits / len(pairs), "kept": float(len(kept))}
        return found
