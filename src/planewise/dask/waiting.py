"""Waiting for a cluster, with an error in place of waiting forever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dask.utils import parse_timedelta
from distributed import Client, Future

import dask
from planewise.dask.errors import (
    LostSchedulerError,
    LostWorkersError,
    PartitionError,
    WrongPartitionError,
)

LOOK_EVERY = 0.5  # seconds
LOST = (
    "The client has lost its scheduler{where} (its status is {status!r}); the fit cannot go on. Connect a new client, "
    "and fit again."
)


def timeout() -> float:
    """Seconds without progress that end a fit: the setting ``planewise.timeout`` of dask's configuration."""
    return float(parse_timedelta(dask.config.get("planewise.timeout", "300s")))


def settings_hint() -> str:
    """How to wait longer."""
    return f"To wait longer than {timeout():g} s: dask.config.set({{'planewise.timeout': '1h'}})."


def finished(
    client: Client, futures: Sequence[Future], name_of: Callable[[int], str], *, patient: bool = False
) -> None:
    """Wait until all futures are finished.

    Parameters
    ----------
    client : Client
    futures : sequence of Future
    name_of : function of int
        What the future with this place computes, such as "partition 3", for errors.
    patient : bool, default=False
        Whether a task may take as long as it likes, as long as its worker is alive.
    """
    client.sync(_finished, client, list(futures), name_of, patient, asynchronous=False)


async def _finished(client: Client, futures: list[Future], name_of: Callable[[int], str], patient: bool) -> None:
    clock = Clock(client, patient)
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()
    for future in futures:
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(changed.set))
    while True:
        changed.clear()
        waiting = [future for future in futures if future.status != "finished"]
        for place, future in enumerate(futures):
            if future.status in ("error", "cancelled"):  # those that are lost are computed again
                await _raise(client, future, name_of(place))
        if not waiting:
            return
        clock.check(len(waiting), name_of(futures.index(waiting[0])), await workers_of(client))
        try:
            await asyncio.wait_for(changed.wait(), LOOK_EVERY)
        except TimeoutError:
            continue


async def _raise(client: Client, future: Future, name: str) -> None:
    """The error of a future that cannot finish any more."""
    if future.status != "error":
        require_scheduler(client)
        raise LostSchedulerError(
            f"The cluster no longer computes {name}: it was cancelled, for example by Client.cancel or Client.restart, "
            "or it was scattered to a worker that is gone, and dask cannot compute it again."
        )
    error = await future.exception()
    if isinstance(error, WrongPartitionError):
        raise ValueError(str(error)) from error
    raise PartitionError(f"Computing {name} failed with {type(error).__name__}: {error}") from error


class Clock:
    """When there was progress last, and whether there can be more."""

    def __init__(self, client: Client, patient: bool = False) -> None:
        self._client, self._patient = client, patient
        self._left, self._since, self._seen = -1, time.monotonic(), time.monotonic()

    def check(self, n_left: int, name: str, workers: Mapping[str, Any]) -> None:
        """An error if too long nothing has happened; `n_left` is what is still to be done."""
        require_scheduler(self._client)
        now = time.monotonic()
        if n_left != self._left:
            self._left, self._since = n_left, now
        if workers:
            self._seen = now
        if now - self._seen > timeout():
            raise LostWorkersError(
                f"The cluster has had no workers for {timeout():g} s, and {name} is not computed. Start workers, and "
                f"fit again. {settings_hint()}"
            )
        if now - self._since <= timeout():
            return
        silent = [address for address, about in workers.items() if time.time() - about["last_seen"] > timeout()]
        if silent or not self._patient:
            what = f"; no sign of life from {', '.join(silent)}" if silent else ""
            raise LostWorkersError(f"No progress for {timeout():g} s while computing {name}{what}. {settings_hint()}")


async def workers_of(client: Client) -> Mapping[str, Any]:
    """What the scheduler knows now of its workers, by address; an error if it is gone."""
    require_scheduler(client)
    try:
        return (await client.scheduler.identity(n_workers=-1))["workers"]
    except OSError:
        raise LostSchedulerError(LOST.format(where="", status="closed")) from None


def require_scheduler(client: Client) -> None:
    """An error if the scheduler cannot be reached."""
    if client.status not in ("running", "newly-connected"):
        address = getattr(client.scheduler, "address", None)
        where = f" {address}" if address else ""
        raise LostSchedulerError(LOST.format(where=where, status=client.status))
