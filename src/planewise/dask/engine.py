"""Parts on the workers of a cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from planewise.dask.errors import LostWorkersError
from planewise.dask.gather import worker_threads
from planewise.dask.waiting import (
    LOOK_EVERY,
    finished,
    require_scheduler,
    settings_hint,
    timeout,
    workers_of,
)
from planewise.data.chunks import Part, Question, TakenRows, gather_rows

logger = logging.getLogger("planewise.dask")
# Not the threads of the worker's tasks: a question would wait for whatever task they are busy with.
_QUESTIONS = ThreadPoolExecutor(32, "planewise-question")


class _Asked(NamedTuple):
    """A part that a worker is asked about."""

    number: int
    key: Any  # of its future
    own: tuple[Any, ...]  # what is meant for it alone


@dataclass(frozen=True)
class _Answers:
    """What one worker answers: by part, its answer, or the error that the question raised."""

    given: dict[int, Any]
    failed: dict[int, Exception]


class DaskParts:
    """Parts that workers hold as the results of ordinary tasks.

    A question goes to every worker once, for all its parts, and runs there in a thread of its own with as many native
    threads as the worker has task threads. It is not a task of its own: the scheduler passes it on directly,
    which takes a tenth of the time. If a worker is lost, dask computes its parts again elsewhere, and these are asked
    again.

    Parameters
    ----------
    client : Client
    futures : list of Future
        Of `Part`, in the order of their rows.
    sizes : list of int
        Number of rows of each.
    """

    def __init__(self, client: Client, futures: list[Future], sizes: list[int]) -> None:
        self._client, self._futures, self.sizes = client, futures, sizes
        self._holder: dict[int, str] = {}  # by part: the address of the worker that is asked
        self._derived: list[DaskParts] = []

    def ask(self, question: Question, *common: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """The answers of all parts, in their order; see `planewise.data.chunks.Parts.ask`."""
        left, answers = set(range(len(self._futures))), dict[int, Any]()
        since = time.monotonic()
        while left:
            self._find_holders()
            found = self._client.sync(self._ask_workers, question, common, each, left, asynchronous=False)
            answers |= found
            if found:
                since = time.monotonic()
            left -= found.keys()
            if left:
                self._forget(left, since)
        return [answers[k] for k in range(len(self._futures))]

    def gather_rows(self, rows: NDArray[np.intp]) -> TakenRows:
        """The rows with these numbers in the whole table, which ascend."""
        return gather_rows(self, rows)

    def derive(self, make: Question, *common: Any, each: Sequence[Any]) -> DaskParts:
        """Parts made from these by ordinary tasks, where these are."""
        name = f"planewise-{make.__name__}-{uuid4().hex}"
        self._find_holders()
        futures = []
        for k, (future, one) in enumerate(zip(self._futures, each, strict=True)):
            there: dict[str, Any] = {}
            if k in self._holder:  # not if its worker was lost this moment
                there = {"workers": [self._holder[k]], "allow_other_workers": True}
            futures.append(self._client.submit(_made, make, future, *common, one, key=f"{name}-{k}", **there))
        made = DaskParts(self._client, futures, [0] * len(futures))
        self._derived.append(made)
        made.sizes = made.ask(_size_of)
        return made

    def release(self) -> None:
        """Let the cluster forget the parts, and those derived from them."""
        for each in self._derived:
            each.release()
        self._futures, self.sizes, self._holder, self._derived = [], [], {}, []

    def _find_holders(self) -> None:
        """Find out where the parts are, unless that is known; parts that were lost are computed first."""
        if len(self._holder) == len(self._futures):
            return
        finished(self._client, self._futures, lambda k: f"partition {k}")
        holders = self._client.who_has(self._futures)
        for k, future in enumerate(self._futures):
            addresses = holders.get(future.key, ())
            if addresses and self._holder.get(k) not in addresses:
                self._holder[k] = sorted(addresses)[0]

    def _forget(self, parts: set[int], since: float) -> None:
        """These parts gave no answer: look for them again."""
        require_scheduler(self._client)
        lost = sorted({self._holder[k] for k in parts if k in self._holder})
        if time.monotonic() - since > timeout():
            raise LostWorkersError(
                f"No answer for {timeout():g} s from {', '.join(lost) or 'any worker'} about {len(parts)} of "
                f"{len(self._futures)} partitions. {settings_hint()}"
            )
        if lost:
            logger.warning("no answer from %s; asking again about %d partitions", ", ".join(lost), len(parts))
        for k in parts:
            self._holder.pop(k, None)
        time.sleep(0.02)  # until the scheduler knows, too

    async def _ask_workers(
        self, question: Question, common: tuple[Any, ...], each: Sequence[Any] | None, parts: set[int]
    ) -> dict[int, Any]:
        """What the workers answer that do; the first error that a question raised."""
        asked: dict[str, list[_Asked]] = {}
        for k in sorted(parts & self._holder.keys()):
            own = () if each is None else (each[k],)
            asked.setdefault(self._holder[k], []).append(_Asked(k, self._futures[k].key, own))
        # One message to all workers, unless it would have what is meant for others.
        messages = [asked] if each is None else [{address: mine} for address, mine in asked.items()]
        calls = {}
        for message in messages:
            call = self._client.run(_answer_here, message, question, common, workers=list(message), on_error="return")
            calls[asyncio.ensure_future(call)] = set(message)
        found: dict[int, Any] = {}
        for reply in await self._replies(calls):
            for k, error in reply.failed.items():
                error.add_note(f"in partition {k}")
                raise error
            found |= reply.given
        return found

    async def _replies(self, calls: dict[asyncio.Future[Any], set[str]]) -> list[_Answers]:
        """The replies of the workers that are still there."""
        left, since = set(calls), time.monotonic()
        while left:
            done, left = await asyncio.wait(left, timeout=LOOK_EVERY)
            since = time.monotonic() if done else since
            if not left or done:
                continue
            there = (await workers_of(self._client)).keys()
            give_up = time.monotonic() - since > timeout()
            for call in [call for call in left if give_up or not calls[call] <= there]:
                call.cancel()
                left.discard(call)
        found: list[_Answers] = []
        for call in calls:
            if not call.done() or call.cancelled():
                continue
            error = call.exception()
            for answer in [error] if error is not None else call.result().values():
                if isinstance(answer, _Answers):
                    found.append(answer)
                elif not isinstance(answer, OSError):  # the connection of a lost worker
                    raise answer
        return found


def _made(make: Question, part: Part, *given: Any) -> Part:
    """On a worker: a part from another one."""
    made: Part = make(part, *given, n_threads=worker_threads())
    return made


async def _answer_here(
    message: dict[str, list[_Asked]], question: Question, common: tuple[Any, ...], dask_worker: Any = None
) -> _Answers:
    """On a worker: ask the parts that it holds."""
    data = dask_worker.data
    held = [(asked, data[asked.key]) for asked in message[dask_worker.address] if asked.key in data]
    work = partial(_answer_all, held, question, common, dask_worker.state.nthreads)
    return await asyncio.get_running_loop().run_in_executor(_QUESTIONS, work)


def _answer_all(
    held: list[tuple[_Asked, Part]], question: Question, common: tuple[Any, ...], n_threads: int
) -> _Answers:
    answers = _Answers({}, {})
    for asked, part in held:
        try:
            with part.lock:
                answers.given[asked.number] = question(part, *common, *asked.own, n_threads=n_threads)
        except Exception as error:
            answers.failed[asked.number] = _as_sent(error)
            break
    return answers


def _as_sent(error: Exception) -> Exception:
    """An error that can be sent to the client; not every one survives being pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _size_of(part: Part, *, n_threads: int) -> int:
    return len(part)
