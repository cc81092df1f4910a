"""BLAS on one thread while machines are fitted, and as it was afterwards."""

from __future__ import annotations

import functools
import os
import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

LIMIT = 1


@functools.cache
def _libraries() -> list[Any]:
    # Looks through all loaded libraries: a few milliseconds, once.
    found: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def _has_limits_per_thread(library: Any) -> bool:
    return getattr(library, "threading_layer", None) == "openmp"


def _set(library: Any, n_threads: int) -> None:
    """From any thread: newer versions of threadpoolctl ignore all threads but the one that first changed OpenBLAS."""
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is None:
        library.set_num_threads(n_threads)
        return
    clear(force=True)
    try:
        library.set_num_threads(n_threads)
    finally:
        clear(force=True)


class _Process:
    """The limit of the whole process: the first to come in sets it, and the last to go out takes it back.

    Limits that each thread sets and takes back by itself would leave BLAS at one thread for good: whoever comes second
    finds one thread, and restores that when the first has gone.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # Python may throw away a context at any moment, also in the midst of another
        self.inside: dict[int, int] = {}  # contexts that were entered, with their threads
        self.before: list[tuple[Any, int]] = []  # libraries and their threads before the first came in

    def enter(self, context: int) -> None:
        with self.lock:
            self.inside[context] = threading.get_ident()
            if not self.before:
                shared = [library for library in _libraries() if not _has_limits_per_thread(library)]
                self.before = [(library, library.num_threads) for library in shared]
            for library, _ in self.before:
                _set(library, LIMIT)

    def leave(self, context: int) -> None:
        """May come several times, and go on where an interrupt ended it."""
        with self.lock:
            self.inside.pop(context, None)
            self._restore()

    def forget_other_threads(self) -> None:
        """In a forked process, where only the thread that forked goes on."""
        self.lock, this = threading.RLock(), threading.get_ident()
        self.inside = {context: thread for context, thread in self.inside.items() if thread == this}
        self._restore()

    def _restore(self) -> None:
        if self.inside:
            return
        for library, before in self.before:
            if library.num_threads == LIMIT:  # or else somebody has set another limit meanwhile, which then holds
                _set(library, before)
        self.before = []


_process = _Process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.forget_other_threads)


class _OneBlasThread(AbstractContextManager[None]):
    """One use of the limit; what an interrupt leaves undone is done when Python throws it away."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, int]] = []  # libraries that have a limit for each thread

    def __enter__(self) -> None:
        _process.enter(id(self))
        self._before = [(each, each.num_threads) for each in _libraries() if _has_limits_per_thread(each)]
        for library, _ in self._before:
            library.set_num_threads(LIMIT)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for library, before in self._before:
            library.set_num_threads(before)
        self._before = []
        _process.leave(id(self))

    def __del__(self) -> None:
        self.__exit__(None, None, None)


def one_blas_thread() -> AbstractContextManager[None]:
    """A context in which BLAS runs on the calling thread: for small problems, waking more costs more than it saves."""
    return _OneBlasThread()
