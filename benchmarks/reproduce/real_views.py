"""RECIP on the paper's real data: all projections where they can be tried, and which views are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .data import load
from .declaration import Data, Method, Metrics
from .methods import build
from .protocols import NestedFolds, folds

MOST_PROJECTIONS = 2048  # all subsets of eleven features
# Figure 1 of the paper, by columns of spambase: capital_run_length_total with .._longest, and with word_freq_your.
SPAM_VIEWS = ((55, 56), (20, 56))


@dataclass(frozen=True)
class AllProjections(NestedFolds):
    """Nested folds; published RECIP gets all projections, or those of up to two features and that of all features."""

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Accuracy of the tuned method on one outer fold."""
        if "d" in method.fixed:
            X, _ = load(data, 0, data_home)
            n_features = X.shape[1]
            every = {"d": n_features} if 2**n_features <= MOST_PROJECTIONS else {"d": 2, "all_features": True}
            method = replace(method, fixed={**method.fixed, **every})
        return super().run(data, method, seed, data_home)


@dataclass(frozen=True)
class KeptViews:
    """A seed is one of five folds: which views a method keeps, and how well rows are classified in some of them."""

    outer: int = 5

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """Numbers of views, and accuracy by view."""
        X, y = load(data, 0, data_home)
        train, test = list(folds(data, self.outer, 0).split(X, y))[seed]
        model = build(method, data, seed).fit(X[train], y[train])[-1]
        views, support = model.projections_, model.projection_support_
        report = list(model.views_report(X[test], y[test]))
        single = np.array([len(view) == 1 for view in views])
        found = {
            "accuracy": 100 * float(np.mean(model.predict(X[test]) == y[test])),
            "kept": float(len(views)),
            "of one feature": 100 * float(np.mean(single)),
            "rows in one feature": 100 * float(support[single].sum()),
            "all features": 100.0 * (tuple(range(X.shape[1])) in views),
            "rows in all features": 100 * sum(
                float(share) for view, share in zip(views, support, strict=True) if len(view) == X.shape[1]
            ),
            "both are the first two": 100.0 * (set(SPAM_VIEWS) == set(views[:2])),
        }  # fmt: skip
        in_figure = [row for view, row in zip(views, report, strict=True) if view in SPAM_VIEWS]
        for words, some in (("the first two", report[:2]), ("Figure 1", in_figure)):  # % of all test rows
            found[f"decided in {words}"] = 100 * float(sum(row["decides"] for row in some))
            found[f"right in {words}"] = 100 * float(
                sum(row["decides"] * row["accuracy"] for row in some if row["decides"])
            )
        for place, view in enumerate(SPAM_VIEWS, 1):
            found[f"view {place} kept"] = 100.0 * (view in views)
        return found
