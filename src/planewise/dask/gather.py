"""Fits in one place: partitions are brought together, in order, and an ordinary estimator learns from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, get_worker
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from planewise.dask.look import Look
from planewise.dask.partitions import Partitions, Rows
from planewise.dask.waiting import finished


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of partitions, one after the other; what ``compute()`` of the collection gives."""
    return Rows(*(_concatenated([getattr(part, name) for part in parts]) for name in Rows._fields))


def _concatenated(pieces: list[Any]) -> Any:
    if pieces[0] is None or len(pieces) == 1:
        return pieces[0]
    if issparse(pieces[0]):
        return vstack(pieces, format="csr")
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    from dask.dataframe.dispatch import concat

    return concat(pieces)


def rows_as_they_are(rows: Rows, number: int) -> Rows:
    """A partition itself."""
    return rows


def some_rows(rows: Rows, number: int, places: NDArray[np.intp]) -> Rows:
    """The rows of a partition at these places in it."""

    def taken(value: Any) -> Any:
        return None if value is None else value.iloc[places] if hasattr(value, "iloc") else value[places]

    return Rows(*(taken(value) for value in rows))


def gathered(partitions: Partitions) -> Rows:
    """All rows, in this process."""
    return joined(partitions.ask("gather", rows_as_they_are))


def fit_on_worker(
    client: Client,
    partitions: Partitions,
    looks: Sequence[Look],
    jobs: Sequence[Any],
    *common: Any,
) -> list[Any]:
    """Bring the rows to workers and run jobs there.

    Parameters
    ----------
    client : Client
    partitions : Partitions
    looks : sequence of Look
        What is known of the partitions.
    jobs : sequence of functions
        Each is called as ``job(rows, *common)`` on one worker, with a task of its own.
    *common
        The same for all jobs.

    Returns
    -------
    results : list
        Of the jobs.
    """
    workers = roomy_workers(client, looks)
    pieces = partitions.submit("rows", rows_as_they_are)
    finished(client, pieces, partitions.name_of)  # errors name the partition
    name = f"planewise-fit-{uuid4().hex}"
    preferred = {"workers": workers, "allow_other_workers": True}  # others get it if these are lost
    futures = [
        client.submit(_run_job, job, pieces, *common, key=f"{name}-{k}", pure=False, **preferred)
        for k, job in enumerate(jobs)
    ]
    del pieces
    finished(client, futures, lambda k: "the fit", patient=True)
    return list(client.gather(futures))


def _run_job(job: Any, parts: Sequence[Rows], *common: Any) -> Any:
    return job(joined(parts), *common)


def worker_threads() -> int:
    """Number of task threads of the worker that this runs on."""
    return int(get_worker().state.nthreads)


def roomy_workers(client: Client, looks: Sequence[Look]) -> list[str]:
    """Return the workers that can hold the whole table, or raise an error if there is none."""
    n_rows = sum(look.n_rows for look in looks)
    n_columns = max(look.n_columns for look in looks)
    # The partitions, the table made of them, and its float32 rows.
    needed = 2 * sum(look.n_bytes for look in looks) + 4 * n_rows * n_columns
    workers: Mapping[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    limits = {address: about.get("memory_limit") or float("inf") for address, about in workers.items()}
    roomy = [address for address, limit in limits.items() if limit >= needed]
    if limits and not roomy:
        raise MemoryError(
            f"This fit brings all {n_rows} rows to one worker and needs about {needed / 2**20:,.0f} MiB there, but the "
            f"largest worker is limited to {max(limits.values()) / 2**20:,.0f} MiB. Give a worker more memory, or fit "
            "on fewer rows."
        )
    return roomy
