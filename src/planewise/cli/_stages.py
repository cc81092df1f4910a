"""What a command is doing, on the error stream: a bar on a terminal, else a line now and then.

The time left is stated only when a part of the work is done, and is that part's time times what is left.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from planewise._printable import shown
from planewise._progress import Listener, heard_by
from planewise.cli._everywhere import is_quiet, log

SECONDS_BETWEEN_LINES = 10.0
MIN_SECONDS = 2.0  # of work, before the time left is estimated


class Estimate:
    """How much of a stage is done, and how long the rest may take."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = self._since = self._last = clock()
        self._done, self._total = 0, None  # type: int, int | None

    def hear(self, done: int, total: int | None) -> None:
        """So many pieces are done; another total, or fewer pieces than before, is the beginning of further work."""
        if done < self._done or (self._done and total != self._total):
            self._since = self._last
        self._done, self._total, self._last = done, total, self._clock()

    def left(self) -> float | None:
        """Seconds, or None if too little is known."""
        worked = self._last - self._since
        if not self._total or not self._done or worked < MIN_SECONDS:
            return None
        return max(0.0, worked / self._done * (self._total - self._done) - (self._clock() - self._last))

    def in_words(self) -> str:
        """Such as "40 of 100, 12 s, about 18 s left"."""
        parts = [f"{self._done} of {self._total}"] if self._total and self._done else []
        left = self.left()
        so_far = duration(self._clock() - self._began)
        return ", ".join([*parts, so_far, *([] if left is None else [f"about {duration(left)} left"])])


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def stage(words: str, quiet: bool = False, *, listen: bool = False) -> Iterator[Listener]:
    """Say what is being done; yields what is to be told of done pieces. `listen`: estimators tell it themselves."""
    log(words)
    if quiet or is_quiet():
        yield lambda done, total: None
        return
    from rich.console import Console

    stream = Console(stderr=True)
    show = _bar(shown(words), stream) if stream.is_terminal else _lines(shown(words))
    with show as told:
        if not listen:
            yield told
            return
        with heard_by(told):
            yield told


@contextmanager
def _lines(words: str) -> Iterator[Listener]:
    estimate, written = Estimate(time.monotonic), time.monotonic()
    sys.stderr.write(f"{words} ...\n")

    def told(done: int, total: int | None) -> None:
        nonlocal written
        estimate.hear(done, total)
        now = time.monotonic()
        if now - written >= SECONDS_BETWEEN_LINES and done != total:
            written = now
            sys.stderr.write(f"{words}: {estimate.in_words()}\n")

    yield told


@contextmanager
def _bar(words: str, stream: Any) -> Iterator[Listener]:
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    estimate = Estimate(time.monotonic)

    class Time(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(estimate.in_words())

    whole = Column(no_wrap=True)  # in a narrow terminal, the bar gives way
    columns = SpinnerColumn(), TextColumn("{task.description}", table_column=whole), BarColumn(None), Time(whole)
    with Progress(*columns, console=stream, transient=True) as bar:
        task = bar.add_task(escape(words), total=None)

        def told(done: int, total: int | None) -> None:
            estimate.hear(done, total)
            bar.update(task, completed=done, total=total)

        yield told
