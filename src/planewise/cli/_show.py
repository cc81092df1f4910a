"""How answers look: tables for people and JSON for programs on the standard output, progress on the error stream."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from planewise.words import shown


def console() -> Console:
    """The standard output; lines are not cut where nobody looks at them, and names of the user's stay as they are."""
    looked_at = sys.stdout.isatty()
    width = None if looked_at else 1_000_000
    return Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=not looked_at, width=width)


def say(*lines: str) -> None:
    """Lines for people, as they are; what a terminal would obey in names is only shown, and none makes a line more."""
    console().print("\n".join(map(shown, lines)), markup=False)


def show_table(title: str, header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> None:
    """A table below an empty line and a title; columns of words, by their numbers, are on the left, others right."""
    say("")
    table = Table(title=_cell(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(_cell(name), justify="left" if number in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(cell) for cell in row))
    console().print(table)


def _cell(text: str) -> str:
    return escape(shown(text))


def show_json(answer: Any) -> None:
    """One JSON text; numbers that JSON does not know are null."""
    sys.stdout.write(json.dumps(_plain(answer), indent=2, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def working(words: str, quiet: bool = False) -> Iterator[None]:
    """Say what takes time while it does, on the error stream: a spinner on a terminal, else a line."""
    if quiet:
        yield
        return
    words = shown(words)
    stream = Console(stderr=True)
    if not stream.is_terminal:
        sys.stderr.write(f"{words} ...\n")
        yield
        return
    with stream.status(escape(words)):
        yield


def size_in_words(n_bytes: float) -> str:
    """Bytes, kB or MB."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
