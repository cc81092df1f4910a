"""The vectors of a kernel machine that decide a case: numbered, with what each adds, beside the case's own values."""

from __future__ import annotations

from typing import Any

from planewise.app._review import in_words
from planewise.report._page import bar, paragraph, said
from planewise.report._reasons import Reasons
from planewise.words import number, signed

MOST_VECTORS = 10
MOST_COLUMNS = 6  # beside what is said of a vector; all of them are a click away


def vectors_sentence(given: Reasons, answer: Any, share: float | None, n_classes: int, duels: bool = False) -> str:
    """What the vectors add up to; of several classes the one with the highest score is answered, or won its duels."""
    about, vectors = given.data[0], given.data[1:]
    words = in_words(answer)
    if given.of is None:  # a number
        added, start = signed(about["score"] - about["intercept"], 3), number(about["intercept"])
        return f"{words}, because {len(vectors)} vectors add {added} to {start}"
    sure = "" if share is None else f" ({100 * share:.0f} %)"
    for_it = sum(each["added"] for each in vectors if each["added"] > 0)
    against = -sum(each["added"] for each in vectors if each["added"] < 0)
    score, start = number(about["score"], 3), number(about["intercept"], 3)
    what = f"its score is {score}, "
    if n_classes <= 2:
        what += "above 0" if round(about["score"], 12) > 0 else "not below 0"
    elif duels:
        what = f"no other class wins more duels (its scores in them add up to {score})"
    else:
        what += "the highest of the classes' scores"
    return (
        f"{words}{sure}, because {what}: vectors near it add "
        f"{number(for_it, 3)} for {words} and {number(against, 3)} against it, from {start} on"
    )


def vectors_listed(given: Reasons, own: dict[str, Any]) -> str:
    """A table of the vectors that add most; `own` are the case's values by the machine's columns."""
    vectors = given.data[1 : MOST_VECTORS + 1]
    if not vectors:
        return paragraph("The machine has no vectors: every case gets the same answer.")
    names = telling_columns(given)
    left = len(given.data) - 1 - len(vectors)
    parts = [
        paragraph(
            "Vectors are rows that the machine kept from the fit. Nearness is 1 at the same place and falls to 0 far "
            "away; nearness × weight is what a vector adds.",
            note=True,
        ),
        _table(vectors, names[:MOST_COLUMNS], own, bars=True, label=given.of),
    ]
    if left > 0:
        parts.append(paragraph(f"{left} more vectors add less each.", note=True))
    if len(names) > MOST_COLUMNS:
        whole = _table(vectors, names, own, bars=False, label=given.of)
        parts.append(f"<details><summary>All {len(names)} columns of these vectors</summary>{whole}</details>")
    return "".join(parts)


def telling_columns(given: Reasons) -> list[str]:
    """Columns by how far the vectors lie apart in them, relative to where they lie."""
    vectors = [each["vector"] for each in given.data[1 : MOST_VECTORS + 1]]
    if not vectors:
        return []

    def spread(name: str) -> float:
        values = [vector[name] for vector in vectors]
        return (max(values) - min(values)) / (max(map(abs, values)) or 1.0)

    return sorted(vectors[0], key=lambda name: -spread(name))


def _table(vectors: list[dict[str, Any]], names: list[str], own: dict[str, Any], *, bars: bool, label: Any) -> str:
    longest = max(abs(each["added"]) for each in vectors)
    header = ["vector", "adds", *([""] if bars else []), "nearness", "weight", *names]
    if label is not None:
        header[1] = f"adds to {in_words(label)}"
    head = "".join(f'<th scope="col" dir="auto">{said(each)}</th>' if each else "<td></td>" for each in header)
    gap = "<td></td>" * (len(header) - 1 - len(names))
    lines = [f'<tr class="own"><th scope="row">this case</th>{gap}{_cells([own.get(name) for name in names])}</tr>\n']
    for place, each in enumerate(vectors, 1):
        drawn = f"<td>{bar(each['added'], 2 * longest)}</td>" if bars else ""
        numbers = _cells([each["kernel"], each["weight"], *(each["vector"][name] for name in names)])
        lines.append(
            f'<tr><th scope="row">{place}</th><td>{said(signed(each["added"], 3))}</td>{drawn}{numbers}</tr>\n'
        )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Vectors">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody>\n</table></div>"
    )


def _cells(values: list[Any]) -> str:
    shown = [number(each) if isinstance(each, (int, float)) else "" if each is None else each for each in values]
    return "".join(f'<td dir="auto">{said(each)}</td>' for each in shown)
