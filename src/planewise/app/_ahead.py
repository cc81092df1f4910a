"""Reasons of cases, remembered, and made ahead for the case that comes next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from planewise.app._why import Why

MOST_KEPT = 32


class Ahead:
    """Asks for each row's reasons once; one thread makes what will be needed soon."""

    def __init__(self, explain: Callable[[int], Why]) -> None:
        self._explain = explain
        self._kept: OrderedDict[int, Future[Why]] = OrderedDict()
        self._looking = threading.Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="planewise-ahead")

    def __call__(self, row: int) -> Why:
        """The reasons of a row; waits for them where they are being made."""
        try:
            return self._future(row).result()
        except BaseException:
            with self._looking:  # perhaps it works the next time
                self._kept.pop(row, None)
            raise

    def prepare(self, row: int | None) -> None:
        """Make the reasons of a row that is likely to be asked for."""
        if row is not None:
            self._future(row)

    def ask(self, question: Callable[[], Why]) -> Why:
        """Reasons that nobody will ask for again; in the same thread, so that one is made at a time."""
        return self._worker.submit(question).result()

    def _future(self, row: int) -> Future[Why]:
        with self._looking:
            found = self._kept.get(row)
            if found is None:
                found = self._kept[row] = self._worker.submit(self._explain, row)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(row)
            return found

    def close(self) -> None:
        """End the thread."""
        self._worker.shutdown(wait=True, cancel_futures=True)
