"""How answers look: tables for people and JSON for programs on the standard output, progress on the error stream.

Libraries are imported where they are used: every command imports this module, and ``planewise --help`` must be quick.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planewise._json import plain
from planewise._printable import shown, shown_json

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """The standard output; without a terminal, lines are never cut. Names from the user's data stay as they are."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    width = None if terminal else 1_000_000
    return Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=not terminal, width=width)


def say(*lines: str) -> None:
    """Print lines for people; control characters in names are shown, never obeyed, and add no lines."""
    console().print("\n".join(map(shown, lines)), markup=False)


def tell_of_offset(estimator: Any) -> None:
    """A line on the error stream if the model's predictions miss an offset, which a command cannot be given."""
    from planewise.cli._streams import note
    from planewise.words import WITHOUT_OFFSET, fitted_with_offset

    if fitted_with_offset(estimator):
        note(f"the model was {WITHOUT_OFFSET}.")


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

    return escape(shown(text))


def show_json(answer: Any) -> None:
    """Print one JSON document; numbers that JSON cannot express are null, control characters are escaped."""
    from planewise.cli._streams import has_unicode

    document = json.dumps(plain(answer), indent=2, ensure_ascii=not has_unicode(sys.stdout))
    sys.stdout.write(shown_json(document) + "\n")


def print_page(page: str, as_json: bool) -> None:
    """Print an HTML page in place of everything else."""
    from planewise.cli._mistakes import MistakeError
    from planewise.cli._streams import print_bytes

    if as_json:
        raise MistakeError("--json and --html - would both print; choose one.")
    print_bytes(page)


def size_in_words(n_bytes: float) -> str:
    """Bytes, kB or MB."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
