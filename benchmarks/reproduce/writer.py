"""A filled table as text for the terminal, Markdown, JSON and HTML."""

from __future__ import annotations

import html
import json
from typing import Any

from .results import Entry, Results

MARK = "†"


def footnotes(results: Results) -> dict[str, int]:
    """Why printed figures cannot be right, and why figures are missing: each reason once, numbered."""
    reasons: dict[str, int] = {}
    for entry in results.entries.values():
        for reason in (entry.doubt if entry.printed else "", entry.why_none):
            if reason and reason != "not yet run":
                reasons.setdefault(reason, len(reasons) + 1)
    return reasons


def ours(entry: Entry) -> str:
    """Mean ± standard deviation (over more than one seed)."""
    if not entry.values:
        return "–"
    spread = f" ± {entry.std:.{entry.digits}f}" if len(entry.values) > 1 else ""
    return f"{entry.mean:.{entry.digits}f}{spread}"


def printed(entry: Entry, notes: dict[str, int]) -> str:
    """The paper's figure, marked where it cannot be right."""
    if entry.printed is None:
        return ""
    mark = f"{MARK}{notes[entry.doubt]}" if entry.doubt else ""
    spread = f" ± {entry.printed.std:.{entry.digits}f}" if entry.printed.std is not None else ""
    return f"{entry.printed.mean:.{entry.digits}f}{spread}{mark}"


def difference(entry: Entry) -> str:
    """Ours less the paper's."""
    return "" if entry.difference is None else f"{entry.difference:+.{entry.digits}f}"


def progress(results: Results) -> str:
    """How much of the table has been run."""
    return f"{results.finished} of {results.declared} cells finished."


def sentences(results: Results) -> list[str]:
    """Notes and claims, in reading order."""
    return [*results.table.notes, *(claim(results) for claim in results.table.claims), progress(results)]


def terminal(results: Results) -> str:
    """A block for each row: a line for each column, so that eighty characters are enough."""
    notes = footnotes(results)
    lines = [results.table.title, "=" * len(results.table.title)]
    width = max(len(column.title) for column in results.table.columns) + 2
    for row in results.table.rows:
        lines += ["", row.title, f"  {'':<{width}}{'paper':>18}  {'ours':>18}  {'difference':>10}"]
        for column in results.table.columns:
            entry = results[row.title, column.title]
            why = f"  {MARK}{notes[entry.why_none]}" if entry.why_none in notes else ""
            lines.append(
                f"  {column.title:<{width}}{printed(entry, notes) or '–':>18}  {ours(entry):>18}  "
                f"{difference(entry):>10}{why}".rstrip()
            )
    lines += ["", *(f"{MARK}{number} {reason}" for reason, number in notes.items()), "", *sentences(results)]
    return "\n".join(lines)


def markdown(results: Results, picture: str = "") -> str:
    """Each cell: ours, under it the paper's figure and the difference."""
    notes, table = footnotes(results), results.table
    lines = [f"## {table.title}", "", f"`{table.name}`. " + " ".join(table.notes), ""]
    if picture:
        lines += [f"![{table.title}]({picture})", ""]
    lines.append("| | " + " | ".join(column.title for column in table.columns) + " |")
    lines.append("|---" * (len(table.columns) + 1) + "|")
    for row in table.rows:
        cells = [_markdown_cell(results[row.title, column.title], notes) for column in table.columns]
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"{MARK}{number} {reason}.  " for reason, number in notes.items()]
    lines += [""] * bool(notes)
    lines += [f"- {claim(results)}" for claim in table.claims]
    lines += [f"- {progress(results)}"] if results.finished < results.declared else []
    return "\n".join(lines) + "\n"


def _markdown_cell(entry: Entry, notes: dict[str, int]) -> str:
    mine = ours(entry) + (f" {MARK}{notes[entry.why_none]}" if entry.why_none in notes else "")
    if entry.printed is None:
        return mine
    apart = f" ({difference(entry)})" if entry.values else ""
    return f"{mine}<br>paper {printed(entry, notes)}{apart}"


def as_json(results: Results) -> str:
    """Every figure, seed by seed."""
    notes = footnotes(results)

    def cell(entry: Entry) -> dict[str, Any]:
        return {
            "row": entry.row.title,
            "column": entry.column.title,
            "paper": None if entry.printed is None else {"mean": entry.printed.mean, "std": entry.printed.std},
            "ours": {"mean": entry.mean, "std": entry.std, "values": list(entry.values)} if entry.values else None,
            "difference": entry.difference,
            "cannot_be_right": entry.doubt if entry.printed else "",
            "why_none": entry.why_none,
        }

    content = {
        "name": results.table.name,
        "title": results.table.title,
        "notes": list(results.table.notes),
        "claims": [claim(results) for claim in results.table.claims],
        "footnotes": list(notes),
        "finished": results.finished,
        "declared": results.declared,
        "cells": [cell(entry) for entry in results.entries.values()],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; color: #1b1b1b }
.wide { overflow-x: auto } table { border-collapse: collapse } caption { text-align: left; font-weight: 600 }
th, td { border-bottom: 1px solid #ddd; padding: .35rem .7rem; text-align: right; white-space: nowrap }
th[scope=row] { text-align: left } small { color: #555; display: block } sup { color: #a00000 }
"""


def as_html(results: Results) -> str:
    """One page that needs no other file."""
    notes, table = footnotes(results), results.table
    head = "".join(f'<th scope="col">{html.escape(column.title)}</th>' for column in table.columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row.title)}</th>'
        + "".join(_html_cell(results[row.title, column.title], notes) for column in table.columns)
        + "</tr>\n"
        for row in table.rows
    )
    reasons = "".join(f"<li>{html.escape(reason)}</li>" for reason in notes)
    said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences(results))
    title = html.escape(table.title)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>\n'
        f"<h1>{title}</h1>\n"
        f'<div class="wide"><table><caption>Ours, and under it the paper\'s figure and the difference</caption>\n'
        f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        f"<ol>{reasons}</ol>\n{said}\n</html>\n"
    )


def _html_cell(entry: Entry, notes: dict[str, int]) -> str:
    why = f"<sup>{notes[entry.why_none]}</sup>" if entry.why_none in notes else ""
    below = ""
    if entry.printed is not None:
        mark = f"<sup>{notes[entry.doubt]}</sup>" if entry.doubt else ""
        figure = html.escape(printed(entry, notes).split(MARK)[0])
        apart = f" ({difference(entry)})" if entry.values else ""
        below = f"<small>paper {figure}{mark}{apart}</small>"
    return f"<td>{html.escape(ours(entry))}{why}{below}</td>"
