"""Threads that predict, so that the event loop can go on, and a bounded queue in front of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from planewise.serve._errors import RefusedError
from planewise.serve._limits import Limits

Found = TypeVar("Found")


class Work:
    """Runs functions in threads; refuses at once what would wait behind too many others."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._threads = ThreadPoolExecutor(limits.n_threads, thread_name_prefix="planewise-serve")
        self._n_accepted = 0  # running and waiting

    @property
    def n_waiting(self) -> int:
        """How many wait for a thread."""
        return max(0, self._n_accepted - self.limits.n_threads)

    @property
    def is_full(self) -> bool:
        """Whether the next one would be refused."""
        return self._n_accepted >= self.limits.n_threads + self.limits.waiting

    async def run(self, function: Callable[[], Found]) -> Found:
        """What the function returns; an error if that takes too long.

        A thread cannot be stopped: one that takes too long keeps its place until it has ended, so that work does not
        pile up behind the answers that clients no longer wait for. What still waits then is never begun.
        """
        if self.is_full:
            raise RefusedError(503, "too many requests are waiting; try again later.", headers={"retry-after": "1"})
        self._n_accepted += 1
        running = self._threads.submit(function)
        loop = asyncio.get_running_loop()
        running.add_done_callback(lambda _: self._tell(loop))
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.wrap_future(running)
        except TimeoutError:
            raise RefusedError(
                503,
                f"the request took more than {self.limits.seconds:g} seconds; send fewer rows, or try again later.",
                headers={"retry-after": "1"},
            ) from None

    def _tell(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        self._n_accepted -= 1

    def close(self) -> None:
        """Begin nothing more; what runs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
