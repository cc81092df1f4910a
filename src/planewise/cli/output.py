"""The output of commands: tables for people and JSON for programs on the standard output, progress on the error stream.

Names and values from files may hold escape sequences. Everything here prints them through `shown`, so that a terminal
displays them and does not obey them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from planewise._progress import Listener, heard_by
from planewise._text import shown, shown_json
from planewise.data.values import plain_data


def _console() -> Console:
    """Return the standard output; without a terminal, lines are never cut."""
    terminal = sys.stdout.isatty()
    width = None if terminal else 1_000_000
    return Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=not terminal, width=width)


def say(*lines: str) -> None:
    """Print lines for people."""
    _console().print("\n".join(map(shown, lines)), markup=False)


def note(words: str) -> None:
    """Print a line on the error stream."""
    print(f"planewise: {shown(words)}", file=sys.stderr)


def show_table(title: str, header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> None:
    """Print a table below an empty line and a title; the columns numbered in `left` are left-aligned, others right."""
    say("")
    table = Table(title=_cell(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(_cell(name), justify="left" if number in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    _console().print(table)


def _cell(text: str) -> str:
    return escape(shown(text))


def show_leading(features: Mapping[str, float]) -> None:
    """Print the columns that matter most, if the model says which they are."""
    if features:
        rows = [[name, f"{100 * fraction:.1f}%"] for name, fraction in features.items()]
        show_table("leading features", ["column", "importance"], rows)


def show_json(answer: Any) -> None:
    """Print one JSON document; numbers that JSON cannot express are null."""
    is_utf8 = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(shown_json(json.dumps(plain_data(answer), indent=2, ensure_ascii=not is_utf8)))


def print_data(content: str | bytes) -> None:
    """Print what programs read, in UTF-8 whatever the encoding of the terminal."""
    data = content.encode() if isinstance(content, str) else content
    if sys.stdout.isatty():
        sys.stdout.write(shown(data.decode(), breaks="\n\t"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def print_page(page: str, as_json: bool) -> None:
    """Print an HTML page instead of everything else."""
    if as_json:
        raise ValueError("--json and --html - would both print; choose one.")
    print_data(page)


def is_stdout(path: Path | None) -> bool:
    """Return whether an option means the standard output: ``-``; a file of this name is ``./-``."""
    return path is not None and str(path) == "-"


@contextmanager
def stage(words: str, quiet: bool, *, listen: bool = False) -> Iterator[Listener]:
    """Print what is being done: a progress bar on a terminal, else a line. Yield a function that moves the bar.

    With `listen`, estimators that are fitted inside the block move it.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        if not quiet:
            print(f"{shown(words)} ...", file=sys.stderr)
        yield lambda done, total: None
        return
    counts = MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *counts
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(_cell(words), total=None)

        def move(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        with heard_by(move) if listen else nullcontext():
            yield move


def size_in_words(n_bytes: float) -> str:
    """Return a size in bytes, kB or MB."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
