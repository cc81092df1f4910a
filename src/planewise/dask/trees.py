"""Trees and forests of hyperplanes on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any

from distributed import Client

from planewise import trees
from planewise.dask.estimator import AnswersProbabilities, OnDask, on_worker_threads
from planewise.dask.gather import fit_on_worker, roomy_workers
from planewise.dask.look import Look
from planewise.dask.partitions import Partitions, Rows
from planewise.trees.arrays import Forest
from planewise.trees.forest import Span
from planewise.trees.growth import most_terms


class SLMClassifier(AnswersProbabilities, OnDask, trees.SLMClassifier):
    """`planewise.SLMClassifier` on a cluster: one tree, grown on one worker.

    The rows are brought to one worker, and the tree is the same to the bit as in memory. The worker needs twice the
    bytes of X and 4 bytes per row and column; if no worker has that much memory, ``fit`` raises a `MemoryError` before
    it starts.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.SLMClassifier`. `n_jobs=None` uses all threads of the worker.

    See Also
    --------
    planewise.SLMClassifier : Parameters and attributes.
    """


class SLMRegressor(OnDask, trees.SLMRegressor):
    """`planewise.SLMRegressor` on a cluster: one tree, grown on one worker.

    The rows are brought to one worker, and the tree is the same to the bit as in memory. The worker needs twice the
    bytes of X and 4 bytes per row and column; if no worker has that much memory, ``fit`` raises a `MemoryError` before
    it starts.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.SLMRegressor`. `n_jobs=None` uses all threads of the worker.

    See Also
    --------
    planewise.SLMRegressor : Parameters and attributes.
    """


class _ForestOnDask(OnDask):
    """What both forests share: every worker grows some of the trees."""

    def _fitted_on(self, client: Client, partitions: Partitions, looks: list[Look]) -> Any:
        local = self.to_local()
        if local.oob_score:  # judged by all trees
            return super()._fitted_on(client, partitions, looks)
        spans = draw_spans(local, max(1, len(roomy_workers(client, looks))))
        jobs = [partial(_grow_some, span=span) for span in spans]
        return join_forests(fit_on_worker(client, partitions, looks, jobs, local))


def _grow_some(rows: Rows, forest: Any, *, span: Span) -> Any:
    with_threads = on_worker_threads(forest)
    made = fit_some_trees(with_threads, span, *rows)
    made.n_jobs = forest.n_jobs
    return made


class SLMForestClassifier(AnswersProbabilities, _ForestOnDask, trees.SLMForestClassifier):
    """`planewise.SLMForestClassifier` on a cluster: every worker grows some of the trees.

    The rows are brought to each worker that grows trees, and the forest is the same to the bit as in memory. Such a
    worker needs twice the bytes of X and 4 bytes per row and column; workers with less memory grow none, and if
    there is no other, ``fit`` raises a `MemoryError` before it starts. With `oob_score`, one worker grows all trees.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.SLMForestClassifier`. `n_jobs=None` uses all threads of the workers.

    See Also
    --------
    planewise.SLMForestClassifier : Parameters and attributes.
    """


class SLMForestRegressor(_ForestOnDask, trees.SLMForestRegressor):
    """`planewise.SLMForestRegressor` on a cluster: every worker grows some of the trees.

    The rows are brought to each worker that grows trees, and the forest is the same to the bit as in memory. Such a
    worker needs twice the bytes of X and 4 bytes per row and column; workers with less memory grow none, and if
    there is no other, ``fit`` raises a `MemoryError` before it starts. With `oob_score`, one worker grows all trees.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.SLMForestRegressor`. `n_jobs=None` uses all threads of the workers.

    See Also
    --------
    planewise.SLMForestRegressor : Parameters and attributes.
    """


AnyForest = trees.SLMForestClassifier | trees.SLMForestRegressor


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
