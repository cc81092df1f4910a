"""The vectors of a kernel machine that decide a case: numbered, with what each adds, beside the case's own values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planewise.report.html import bars as drawn_bars
from planewise.report.html import paragraph, said
from planewise.words import Vectors, entry_in_words, signed, value_in_words

MAX_VECTORS = 10
MAX_COLUMNS = 6  # beside what is said of a vector; all of them are a click away


def vectors_listed(reason: Vectors) -> str:
    """A table of the vectors that add most, below the case's own values."""
    if not reason.vectors:
        return paragraph("The machine has no vectors: every case gets the same answer.")
    names = differing_columns(reason)
    left = len(reason.vectors) - MAX_VECTORS
    parts = [
        paragraph(
            "Vectors are training rows that the machine kept. Nearness is 1 at the same place and falls to 0 far away; "
            "nearness × weight is what a vector adds.",
            note=True,
        ),
        _table(reason, names[:MAX_COLUMNS], bars=True),
    ]
    if left > 0:
        parts.append(paragraph(f"{left} more vectors add less each.", note=True))
    if len(names) > MAX_COLUMNS:
        whole = _table(reason, names, bars=False)
        parts.append(f"<details><summary>All {len(names)} columns of these vectors</summary>{whole}</details>")
    return "".join(parts)


def differing_columns(reason: Vectors) -> list[str]:
    """Columns by how far the vectors listed lie apart in them, relative to where they lie."""
    vectors = [each.values for each in reason.vectors[:MAX_VECTORS]]
    if not vectors:
        return []

    def spread(name: str) -> float:
        values = [vector[name] for vector in vectors]
        numbers = [each for each in values if isinstance(each, float)]
        if len(numbers) < len(values):  # categories, or missing: how many of them are different
            return (len(set(values)) - 1) / len(values)
        return (max(numbers) - min(numbers)) / (max(map(abs, numbers)) or 1.0)

    return sorted(vectors[0], key=lambda name: -spread(name))


def _table(reason: Vectors, names: Sequence[str], *, bars: bool) -> str:
    vectors = reason.vectors[:MAX_VECTORS]
    drawn = drawn_bars([each.added for each in vectors])
    header = ["vector", "adds", *([""] if bars else []), "nearness", "weight", *names]
    if reason.of is not None:
        header[1] = f"adds to {value_in_words(reason.of)}"
    head = "".join(f'<th scope="col" dir="auto">{said(each)}</th>' if each else "<td></td>" for each in header)
    gap = "<td></td>" * (len(header) - 1 - len(names))
    own = "".join(_value(reason.row.get(name)) for name in names)
    lines = [f'<tr class="own"><th scope="row">this case</th>{gap}{own}</tr>\n']
    for place, each in enumerate(vectors, 1):
        bar = f'<td class="bars">{drawn[place - 1]}</td>' if bars else ""
        numbers = "".join(map(_value, [each.nearness, each.weight, *(each.values[name] for name in names)]))
        lines.append(f'<tr><th scope="row">{place}</th><td>{said(signed(each.added, 3))}</td>{bar}{numbers}</tr>\n')
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Vectors">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody>\n</table></div>"
    )


def _value(value: Any) -> str:
    return f'<td dir="auto">{said(entry_in_words(value))}</td>'
