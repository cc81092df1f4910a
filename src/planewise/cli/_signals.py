"""SIGTERM and SIGHUP end a command in good order, as Ctrl-C does."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

interrupted = threading.Event()  # polars drops some interrupts; long work asks this (`check_interrupted`)
_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}
_number = int(signal.SIGINT)


def listen() -> None:
    """Handle signals that would kill the process; those that are ignored stay so, as behind nohup."""
    global _number
    _number = int(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do, also where that is ignored."""
    global _number
    _number = number
    interrupted.set()
    processes = sys.modules.get("multiprocessing")  # Ctrl-C reaches the processes of a terminal, a signal only one
    for child in processes.active_children() if processes else ():
        child.terminate()
    heard: Any = signal.getsignal(signal.SIGINT)
    if not callable(heard):
        raise KeyboardInterrupt
    heard(number, frame)


def is_asked_to_end() -> bool:
    """Whether SIGTERM or SIGHUP came."""
    return _number != signal.SIGINT


def exit_code() -> int:
    """128 and the number of the signal, as shells have it: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
    return 128 + _number


def in_words() -> str:
    """What happened."""
    return f"{_WORDS[signal.Signals(_number).name]}; no half-written file was left."
