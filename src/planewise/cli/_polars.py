"""polars as the commands use it: with a Ctrl-C that is heard once, whatever polars does with it.

The handler that polars sets when it is imported raises some twice, so that the second breaks into what the first one
ends; and where polars asks Python about values, it drops what is raised meanwhile. So the handler is ours, and work
that goes on for long asks from time to time whether there was one.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

import polars as pl

__all__ = ["check_interrupted", "pl"]

_interrupted = threading.Event()


def check_interrupted() -> None:
    """Raise the Ctrl-C that there was and that somebody dropped."""
    if _interrupted.is_set():
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    raise KeyboardInterrupt


_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # and not ignored, as it is behind nohup
if _heard and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, _interrupt)
