"""Trees and forests of hyperplanes on a cluster."""

from __future__ import annotations

from functools import partial
from typing import Any

from distributed import Client

from planewise import trees
from planewise.dask.estimator import AnswersProbabilities, OnDask, on_worker_threads
from planewise.dask.gather import fit_on_worker, roomy_workers
from planewise.dask.look import Look
from planewise.dask.partitions import Partitions, Rows
from planewise.dask.some_trees import draw_spans, fit_some_trees, join_forests
from planewise.trees.forest import Span


class SLMClassifier(AnswersProbabilities, OnDask, trees.SLMClassifier):
    """`planewise.SLMClassifier` on a cluster: one tree, grown on one worker.

    The rows are brought to one worker, and the tree is the same to the bit as in memory. The worker needs twice the
    bytes of X and 4 bytes per row and column; if no worker may use so much, ``fit`` says so before it starts.

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
    bytes of X and 4 bytes per row and column; if no worker may use so much, ``fit`` says so before it starts.

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
    worker needs twice the bytes of X and 4 bytes per row and column; workers that may not use so much grow none, and if
    there is no other, ``fit`` says so before it starts. With `oob_score`, one worker grows all trees.

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
    worker needs twice the bytes of X and 4 bytes per row and column; workers that may not use so much grow none, and if
    there is no other, ``fit`` says so before it starts. With `oob_score`, one worker grows all trees.

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
