"""A progress line on stderr for long work; nothing else is printed. Others may listen to it instead."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Self, TextIO

Listener = Callable[[int, int | None], None]  # of how many pieces are done, of how many
_LISTENER: ContextVar[Listener | None] = ContextVar("planewise progress", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tell the listener of each piece of all work inside, whether or not a line is shown."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def is_heard() -> bool:
    """Return whether a progress listener is registered."""
    return _LISTENER.get() is not None


class Progress:
    """``with Progress(100, "boosting") as bar: bar.step("loss 0.31")``; drawn at most ten times a second.

    Work that continues an earlier run counts from `first`, the number of pieces done by then. If `total` is None, the
    number of pieces is not known.
    """

    def __init__(
        self, total: int | None, title: str, *, first: int = 0, shown: bool = True, stream: TextIO | None = None
    ) -> None:
        self.total, self.title, self.first, self.shown = total, title, first, shown
        self.stream = stream or sys.stderr
        self.done = first
        self._drawn_at = 0.0
        self._start = time.monotonic()
        self._listener = _LISTENER.get()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown and self.done > self.first:
            self.stream.write("\n")
            self.stream.flush()

    def step(self, note: str = "") -> None:
        """One more piece is done."""
        self.done += 1
        if self._listener is not None:
            self._listener(self.done - self.first, None if self.total is None else self.total - self.first)
        now = time.monotonic()
        if not self.shown or (self.done != self.total and now - self._drawn_at < 0.1):
            return
        self._drawn_at = now
        self.stream.write(f"\r{self.title} {self._bar(now, note)}")
        self.stream.flush()

    def _bar(self, now: float, note: str) -> str:
        if self.total is None:
            return f"{self.done}  {note} "
        filled = 24 * self.done // max(1, self.total)
        left = (now - self._start) / (self.done - self.first) * (self.total - self.done)
        return f"[{'#' * filled}{'.' * (24 - filled)}] {self.done}/{self.total}  {note}  {left:.0f} s left "
