"""Some trees of a forest at a time, as when several workers share them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any

from planewise.trees.arrays import Forest
from planewise.trees.forest import SLMForestClassifier, SLMForestRegressor, Span
from planewise.trees.growth import most_terms

__all__ = ["Span", "draw_spans", "fit_some_trees", "join_forests"]

AnyForest = SLMForestClassifier | SLMForestRegressor


def draw_spans(forest: AnyForest, n_spans: int) -> list[Span]:
    """The trees of a forest in about equal shares, with a seed drawn as ``fit`` draws it."""
    n_trees, seed = forest.n_estimators, forest._new_seed()
    bounds = [n_trees * k // n_spans for k in range(n_spans + 1)]
    return [Span(first, last, seed) for first, last in pairwise(bounds) if first < last]


def fit_some_trees(forest: AnyForest, span: Span, X: Any, y: Any, sample_weight: Any) -> AnyForest:
    """A fitted copy of the forest that has the trees of the span only; not with `oob_score`."""
    made = copy(forest)
    made._span = span
    made.fit(X, y, sample_weight)
    del made._span
    return made


def join_forests(parts: Sequence[AnyForest]) -> AnyForest:
    """The whole forest from parts of `fit_some_trees`, in the order of their trees."""
    whole = copy(parts[0])
    whole.forest_ = Forest.joined([part.forest_ for part in parts])
    whole.n_planes_ = whole.forest_.n_planes
    whole.n_parameters_ = whole.n_planes_ * (most_terms(whole) + 1)
    return whole
