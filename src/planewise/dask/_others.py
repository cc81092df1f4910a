"""Machines and views on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from planewise import mcm, recip
from planewise.dask._estimator import AnswersProbabilities, AnswersScores, fit_ordinary
from planewise.dask._gather import fit_on_worker
from planewise.dask._look import Look, rows_that_count
from planewise.dask._partitions import Partitions, Rows
from planewise.table import max_rows


class LargeScaleMCMClassifier(AnswersProbabilities, AnswersScores, mcm.LargeScaleMCMClassifier):
    """`planewise.LargeScaleMCMClassifier` on a cluster: fitted on one worker.

    The rows are brought to one worker, and the machine is the same to the bit as in memory. The worker needs twice the
    bytes of X and 4 bytes per row and column; if no worker may use so much, ``fit`` says so before it starts. To learn
    from more rows, call ``partial_fit`` of the ordinary estimator with one partition after another.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.LargeScaleMCMClassifier`. `n_jobs=None` uses all threads of the worker.

    See Also
    --------
    planewise.LargeScaleMCMClassifier : Parameters and attributes.
    """


class RECIPClassifier(AnswersProbabilities, recip.RECIPClassifier):
    """`planewise.RECIPClassifier` on a cluster: learns from a sample on one worker.

    The model keeps its rows, so it learns from at most 20,000 of those with a weight above zero, drawn at random by
    their numbers in the whole table: the sample does not depend on the partitions. Up to 20,000 rows, the model is the
    same to the bit as in memory. Rows in explanations have the numbers of the whole table.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.RECIPClassifier`. `n_jobs=None` uses all threads of the worker.

    See Also
    --------
    planewise.RECIPClassifier : Parameters and attributes.
    """

    def _fitted_on(self, client: Client, partitions: Partitions, looks: list[Look]) -> Any:
        limit, n_counting = max_rows("recip", "classification"), sum(look.n_counting for look in looks)
        if limit is None or n_counting <= limit:
            return super()._fitted_on(client, partitions, looks)
        random = check_random_state(self.random_state)
        drawn = np.sort(random.choice(n_counting, limit, replace=False))
        ends = np.cumsum([look.n_counting for look in looks])
        shares = [
            part - start
            for part, start in zip(np.split(drawn, np.searchsorted(drawn, ends[:-1])), [0, *ends], strict=False)
        ]
        counting: list[NDArray[np.intp]] = partitions.ask("count", _counting, self.class_weight)
        places = [rows[share] for rows, share in zip(counting, shares, strict=True)]
        [made] = fit_on_worker(client, partitions, looks, [fit_ordinary], self.to_local(), taken=places)
        starts = np.cumsum([0, *(look.n_rows for look in looks)])
        made.renumber_rows(np.concatenate([own + start for own, start in zip(places, starts, strict=False)]))
        return made


def _counting(rows: Rows, number: int, class_weight: Any) -> NDArray[np.intp]:
    """The places of the rows that count."""
    return np.flatnonzero(rows_that_count(rows, class_weight))
