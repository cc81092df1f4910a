"""A filled table as text for the terminal, Markdown, JSON and HTML."""

from __future__ import annotations

import json
from typing import Any

from planewise.report import html

from .declaration import NOT_YET_RUN, PaperClaim, Settled
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
    """How much of the table has been run, and how many seeds are behind its figures."""
    counts = sorted({len(entry.seeds) for entry in results.entries.values() if entry.seeds})
    few_to_many = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else ""
    each = f" Each figure is based on {few_to_many} seeds or folds." if counts and counts[-1] > 1 else ""
    return f"{results.finished} of {results.declared} cells finished.{each}"


def verdicts(results: Results) -> list[str]:
    """What was meant and what came out, why, and how much has been run."""
    if not results.table.rows:
        return []
    claims = [claim(results) for claim in results.table.claims]
    if not results.is_final:
        word = "So far" if results.finished < results.declared else "With a few seeds"
        return [*(f"{word}: {claim.sentence}" for claim in claims), progress(results)]
    return [*map(str, claims), *explanations(results), progress(results)]


def settled(results: Results) -> list[tuple[PaperClaim, Settled]]:
    """What the table's experiment says about the paper's claims, once all of it has been run."""
    return [(claim, claim.settle(results) if results.is_final else NOT_YET_RUN) for claim in results.table.paper_claims]


def explanations(results: Results) -> list[str]:
    """What is behind missed claims, as long as the figures are those it was written for."""
    if not results.is_final:
        return []
    said = " ".join(claim(results).sentence for claim in results.table.claims)
    return [
        why.text
        for why in results.table.why
        if all(part in said for part in why.claims)
        and all(f"{results[place].mean:.{results[place].digits}f}" == mean for place, mean in why.figures.items())
    ]


def sentences(results: Results) -> list[str]:
    """Notes and claims, in reading order."""
    about_the_paper = [
        f"{claim.where}: {claim.claim} {outcome.words[0].upper()}{outcome.words[1:]}. {outcome.evidence}"
        for claim, outcome in settled(results)
    ]
    return [*results.table.notes, *about_the_paper, *verdicts(results)]


def terminal(results: Results) -> str:
    """A block for each row: a line for each column, so that eighty characters are enough."""
    notes = footnotes(results)
    lines = [results.table.title, "=" * len(results.table.title)]
    width = max((len(column.title) for column in results.table.columns), default=0) + 2
    for row in results.table.rows:
        lines += ["", row.title, f"  {'':<{width}}{'paper':>18}  {'ours':>18}  {'difference':>10}"]
        for column in results.table.columns:
            entry = results[row.title, column.title]
            why = f"  {MARK}{notes[entry.why_none]}" if entry.why_none in notes else ""
            lines.append(
                f"  {column.title:<{width}}{printed(entry, notes) or '–':>18}  {ours(entry):>18}  "
                f"{difference(entry):>10}{why}".rstrip()
            )
    if notes:
        lines += ["", *(f"{MARK}{number} {reason}" for reason, number in notes.items())]
    return "\n".join([*lines, "", *sentences(results)])


def markdown(results: Results, picture: str = "") -> str:
    """Each cell: ours, under it the paper's figure and the difference."""
    notes, table = footnotes(results), results.table
    lines = [f"## {table.title}", "", f"`{table.name}`. " + " ".join(table.notes), ""]
    if picture:
        lines += [f"![{table.title}]({picture})", ""]
    if not table.rows:
        return "\n".join(lines)
    lines.append("| | " + " | ".join(column.title for column in table.columns) + " |")
    lines.append("|---" * (len(table.columns) + 1) + "|")
    for row in table.rows:
        cells = [_markdown_cell(results[row.title, column.title], notes) for column in table.columns]
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"{MARK}{number} {reason}.  " for reason, number in notes.items()]
    lines += [""] * bool(notes)
    return "\n".join([*lines, *(f"- {sentence}" for sentence in verdicts(results))]) + "\n"


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
        "claims": [
            vars(claim(results)) | ({} if results.is_final else {"met": None}) for claim in results.table.claims
        ],
        "why": explanations(results),
        "paper_claims": [
            {"where": claim.where, "claim": claim.claim} | vars(outcome) for claim, outcome in settled(results)
        ],
        "footnotes": list(notes),
        "finished": results.finished,
        "declared": results.declared,
        "cells": [cell(entry) for entry in results.entries.values()],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_html(results: Results, picture: bytes | None = None) -> str:
    """One page that needs no other file."""
    notes, table = footnotes(results), results.table
    head = "".join(f'<th scope="col">{html.said(column.title)}</th>' for column in table.columns)
    body = "".join(
        f'<tr><th scope="row">{html.said(row.title)}</th>'
        + "".join(_html_cell(results[row.title, column.title], notes) for column in table.columns)
        + "</tr>\n"
        for row in table.rows
    )
    parts = [
        html.heading(table.title, level=1),
        *(html.paragraph(note.replace("`", ""), note=True) for note in table.notes),
    ]
    if picture:
        parts.append(html.figure(table.title, picture))
    if table.rows:
        parts.append(
            html.paragraph("Each table entry shows our figure and, below it, the paper's figure and the difference.")
        )
        parts.append(
            '<div class="wide" tabindex="0"><table class="figures">\n'
            f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
        )
    if notes:
        parts.append(f"<ol>{''.join(f'<li>{html.said(reason)}</li>' for reason in notes)}</ol>")
    parts += [html.paragraph(sentence) for sentence in verdicts(results)]
    return html.page(table.title, [*parts, html.footer(f"python -m benchmarks.reproduce {table.name}")])


def _html_cell(entry: Entry, notes: dict[str, int]) -> str:
    why = f"<sup>{notes[entry.why_none]}</sup>" if entry.why_none in notes else ""
    below = ""
    if entry.printed is not None:
        mark = f"<sup>{notes[entry.doubt]}</sup>" if entry.doubt else ""
        figure = html.said(printed(entry, notes).split(MARK)[0])
        apart = f" ({difference(entry)})" if entry.values else ""
        below = f"<br><small>paper {figure}{mark}{apart}</small>"
    return f"<td>{html.said(ours(entry))}{why}{below}</td>"
