"""How answers look: tables for people and JSON for programs on the standard output, progress on the error stream.

Libraries are imported where they are used: every command imports this module, and ``planewise --help`` must be quick.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

TABLE_HELP = "CSV, TSV, Parquet or Arrow file; a folder of such files, or a pattern in quotes."


def console() -> Console:
    """The standard output; without a terminal, lines are never cut. Names from the user's data stay as they are."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    width = None if terminal else 1_000_000
    return Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=not terminal, width=width)


def say(*lines: str) -> None:
    """Print lines for people; control characters in names are shown, never obeyed, and add no lines."""
    from planewise.words import shown

    console().print("\n".join(map(shown, lines)), markup=False)


def tell_of_offset(estimator: Any) -> None:
    """A line on the error stream if the model's predictions miss an offset, which a command cannot be given."""
    from planewise.cli._streams import tell
    from planewise.words import WITHOUT_OFFSET, fitted_with_offset

    if fitted_with_offset(estimator):
        tell(f"the model was {WITHOUT_OFFSET}.")


def show_table(title: str, header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> None:
    """Print a table below an empty line and a title; the columns numbered in `left` are left-aligned, others right."""
    from rich.table import Table

    say("")
    table = Table(title=_cell(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(_cell(name), justify="left" if number in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(cell) for cell in row))
    console().print(table)


def show_leading(features: Mapping[str, float]) -> None:
    """Print the columns that matter most, if the model says which they are."""
    if features:
        rows = [[name, f"{100 * share:.1f} %"] for name, share in features.items()]
        show_table("leading features", ["column", "importance"], rows)


def _cell(text: str) -> str:
    from rich.markup import escape

    from planewise.words import shown

    return escape(shown(text))


def show_json(answer: Any) -> None:
    """Print one JSON document; numbers that JSON cannot express are null."""
    sys.stdout.write(json.dumps(_plain(answer), indent=2, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return _plain(value.tolist())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def working(words: str, quiet: bool = False) -> Iterator[None]:
    """Say what is being done on the error stream: with a spinner on a terminal, else in a line."""
    from rich.console import Console
    from rich.markup import escape

    from planewise.words import shown

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
