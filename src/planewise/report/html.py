"""Pages of HTML: their style, their parts, and how text from data gets into them safely."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from planewise._text import shown
from planewise.explain.describe import TableSection, TextSection
from planewise.explain.reasons import Reason

DPI = 120  # of what is rasterised in figures
MOST_MARKS = 100  # of a collection; as vectors, each mark is an element of about 150 bytes
PIXELS_AN_INCH = 115  # of a page, for figures: type of 8 points is as large as the text around it
BROAD = 600  # pixels of a figure that a phone would make unreadable
BAR = 192.0  # pixels that the bars of a table take
MOST_TIMES = 4  # the start or end of a sum beside its largest part, in one scale
LONG = 40  # letters of a text that needs room
LONGEST_VALUE = 300  # letters of a value from the data; a cell may hold megabytes

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"[+\u2212\d][\d.,:e+\u2212 %-]{0,20}")

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #fff; --line: #d5dae0; --band: #f4f6f8;
  --for: #0072b2; --against: #d55e00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --soft: #a5afba; --paper: #15181c; --line: #343a42; --band: #1e2329;
    --for: #56b4e9; --against: #e69f00; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
h2, h3 { break-after: avoid; overflow-wrap: anywhere; } p { margin: .5rem 0; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(0, max-content) minmax(0, 1fr); gap: .15rem 1.25rem;
  margin: 1rem 0 0; }
dt, .note, figcaption, footer { color: var(--soft); } dt, dd { margin: 0; overflow-wrap: anywhere; }
/* what scrolls sideways has a shadow at each end beyond which there is more */
.wide, pre { overflow-x: auto; --cover: var(--paper);
  background: linear-gradient(to right, var(--cover) 30%, #0000) 0 0 / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--cover) 30%, #0000) 100% 0 / 3rem 100% no-repeat local,
    linear-gradient(to right, #888b, #0000) 0 0 / .8rem 100% no-repeat scroll,
    linear-gradient(to left, #888b, #0000) 100% 0 / .8rem 100% no-repeat scroll; }
.wide:focus-visible, pre:focus-visible, figure:focus-visible { outline: 2px solid var(--for); outline-offset: 2px; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: center; }
.beside > div { min-width: 0; max-width: 100%; }
table { width: max-content; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
  max-width: 26rem; overflow-wrap: break-word; }
th { font-weight: 600; } tr { break-inside: avoid; } table.figures, .number { white-space: nowrap; }
td.bars { padding: 0; vertical-align: middle; } .pw-bar { display: block; height: 2rem; }
.pw-bar .for { fill: var(--for); } .pw-bar .against { fill: var(--against); } .end td { font-weight: 600; }
pre { background-color: var(--band); --cover: var(--band); border: 1px solid var(--line); border-radius: 6px;
  padding: .9rem 1rem; font: 13px/1.55 ui-monospace, monospace; }
figure { margin: 1.25rem 0; break-inside: avoid; }
figure img { max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
footer { margin-top: 3rem; font-size: .85rem; }
@media screen and (max-width: 40rem) {
  figure { overflow-x: auto; } figure img.broad { max-width: none; }
  figure[tabindex] figcaption::before { content: "Scroll the picture sideways. "; font-weight: 600; }
  table { font-size: .9rem; } th, td { max-width: 13rem; }
  table.barred { width: 100%; } .barred th, .barred td { padding-right: .6rem; }
  .barred td:not(.number, .bars) { min-width: 4.5rem; overflow-wrap: anywhere; } .barred td.long { min-width: 11rem; }
  .barred .number, .barred .bars { width: 1%; } .pw-bar { width: 5rem; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --band: #f4f6f8;
    --for: #0072b2; --against: #d55e00; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; } footer { margin-top: 1.5rem; break-before: avoid; }
  .wide, pre { overflow: visible; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .wide, .beside { break-inside: avoid; } .beside img { max-width: 9cm; } h3 + p { break-after: avoid; }
  table { width: auto; } th, td { max-width: none; overflow-wrap: anywhere; } .number { white-space: normal; }
  .wide, pre { background: none; } .pw-bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def said(value: Any, most: int | None = LONGEST_VALUE) -> str:
    """Any value as text that is only text in a page: escaped, of bounded length, without letters that act on others.

    >>> said("<b>"), said("a" * 9, most=5)
    ('&lt;b&gt;', 'aaaa…')
    """
    text = str(value)
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    return escape(shown(text, breaks="\n\t"))


def breakable(value: Any) -> str:
    """The same, which may be broken into lines after hyphens, slashes and underscores, unless it is a number or date.

    >>> breakable("date_of_birth"), breakable("2024-03-09")
    ('date_<wbr>of_<wbr>birth', '2024-03-09')
    """
    text = said(value)
    return text if _NUMBER.fullmatch(text) else re.sub(r"(?<=[-/_])(?=[^-/_])", "<wbr>", text)


def page(title: str, body: Iterable[str]) -> str:
    """The whole page around parts that are HTML already.

    Its policy lets the browser load, send and run nothing, and use no styles but those written here.
    """
    rules = f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src '{_digest(STYLE)}'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{said(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _digest(text: str) -> str:
    """By which a policy names a text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def footer(words: str) -> str:
    """The last line of a page: what made it."""
    import planewise

    return f"<footer>{said(words)}, planewise {said(planewise.__version__)}</footer>"


def heading(words: Any, level: int = 2) -> str:
    """A heading, the page's own being of level 1."""
    return f"<h{level}>{said(words)}</h{level}>"


def paragraph(words: Any, note: bool = False) -> str:
    """A paragraph, or a note in softer ink."""
    style = ' class="note"' if note else ""
    return f"<p{style}>{said(words, most=2000)}</p>"


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values, one pair per line."""
    shown = "".join(f'<dt>{said(name)}</dt><dd dir="auto">{said(value, most=2000)}</dd>' for name, value in pairs)
    return f"<dl>{shown}</dl>"


def lines(text: Iterable[str], label: str = "Text") -> str:
    """Lines as they are, spaces too."""
    shown = chr(10).join(said(line, most=2000) for line in text)
    return f'<pre tabindex="0" role="region" aria-label="{said(label)}">{shown}</pre>'


def table(
    columns: Sequence[Any],
    rows: Sequence[Sequence[Any]],
    weights: Sequence[float] = (),
    ends: Sequence[int] = (),
    *,
    label: str = "Table",
) -> str:
    """A table that scrolls where it is too wide; with `weights`, one per row, each row ends with a bar (see `bars`)."""
    head = "".join(f'<th scope="col">{breakable(each)}</th>' for each in columns) + ("<td></td>" if weights else "")
    drawn, out = bars(weights, ends), []
    for place, row in enumerate(rows):
        cells = "".join(f'<td class="{_kind_of(cell)}" dir="auto">{breakable(cell)}</td>' for cell in row)
        if weights:
            cells += f'<td class="bars">{drawn[place]}</td>'
        kind = ' class="end"' if place in ends else ""
        out.append(f"<tr{kind}>{cells}</tr>\n")
    kind = ' class="barred"' if weights else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{said(label)}">\n<table{kind}>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(out)}</tbody>\n</table></div>"
    )


def _kind_of(cell: Any) -> str:
    """Numbers and dates are not broken into lines, and long texts not into too many."""
    text = str(cell)
    return "number" if _NUMBER.fullmatch(text) else "long" if len(text) > LONG else "text"


def bars(weights: Sequence[float], ends: Sequence[int] = ()) -> list[str]:
    """Bars on either side of a line at zero: positive weights to the right, negative ones to the left.

    `ends` are the rows where a sum starts and ends. Where these are so large that the parts could not be seen, they are
    drawn shorter, with a gap that says so.
    """
    parts = max((abs(weight) for place, weight in enumerate(weights) if place not in ends), default=0.0)
    longest = max(map(abs, weights), default=0.0)
    reach = parts if longest > MOST_TIMES * parts > 0 else longest
    shown = [min(max(weight, -reach), reach) for weight in weights]
    left, right = max(0.0, -min(shown, default=0.0)), max(shown, default=0.0)
    scale = BAR / ((left + max(right, 0.0)) or 1.0)
    return [
        _bar(weight, each * scale, left * scale, each != weight) for weight, each in zip(weights, shown, strict=True)
    ]


def _bar(weight: float, length: float, zero: float, shorter: bool) -> str:
    """One bar, from the line at zero."""
    words, start = f"{weight:+.4g}", zero + min(length, 0.0)
    side, fill = ("for", "#0072b2") if weight >= 0 else ("against", "#d55e00")  # style= is against the page's policy
    pieces = [(start, abs(length))]
    if shorter:
        words += ", drawn shorter"
        near, far = 0.72 * abs(length), 0.78 * abs(length)  # of zero, where the gap is
        pieces = [(zero, near), (zero + far, abs(length) - far)]
        if length < 0:
            pieces = [(zero - near, near), (start, abs(length) - far)]
    drawn = "".join(
        f'<rect class="{side}" fill="{fill}" x="{x:.1f}" y="7" width="{width:.1f}" height="12"/>' for x, width in pieces
    )
    return (
        f'<svg class="pw-bar" viewBox="-1 0 {BAR + 2:g} 26" preserveAspectRatio="none" width="{BAR + 2:g}" height="26" '
        f'role="img" aria-label="{words}"><title>{words}</title>{drawn}'
        f'<path class="zero" stroke="currentColor" d="M{zero:.1f} 0v26"/></svg>'
    )


def beside(*parts: str) -> str:
    """Parts next to one another where the page is wide enough."""
    return f'<div class="beside">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def figure(caption: str, picture: Any) -> str:
    """Return a plot as part of a page: a figure of matplotlib, as SVG, or the bytes of a PNG file.

    An image has styles and identifiers of its own, so that several plots and the page do not affect one another.
    """
    size, scrolls, kind = "", "", "png"
    if hasattr(picture, "savefig"):
        width = PIXELS_AN_INCH * picture.get_figwidth()
        size = f' width="{width:.0f}"'
        if width > BROAD:  # on a phone it keeps its size, and is moved
            size += ' class="broad"'
            scrolls = ' tabindex="0"'
        picture, kind = _svg(picture), "svg+xml"
    elif not isinstance(picture, bytes) or not picture.startswith(b"\x89PNG"):
        raise TypeError(
            f"The picture {caption!r} must be a figure of matplotlib or the bytes of a PNG file; got "
            f"{type(picture).__name__}."
        )
    data = base64.b64encode(picture).decode("ascii")
    return (
        f'<figure{scrolls}><img alt="{said(caption)}"{size} src="data:image/{kind};base64,{data}">'
        f"<figcaption>{said(caption)}</figcaption></figure>"
    )


def _svg(figure: Any) -> bytes:
    """Return a figure as SVG, the same bytes every time; crowds of marks are rasterised to keep it small."""
    import matplotlib as mpl
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

    for marks in (*figure.findobj(PathCollection), *figure.findobj(Line2D)):
        places: Any = marks.get_offsets() if isinstance(marks, PathCollection) else marks.get_xdata()
        if len(places) > MOST_MARKS and (isinstance(marks, PathCollection) or marks.get_marker() != "None"):
            marks.set_rasterized(True)
    stream = io.BytesIO()
    box = None if figure.get_layout_engine() is not None else "tight"  # such a figure fits already
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "planewise"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the reader's browser has other fonts
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", dpi=DPI, bbox_inches=box, metadata=nothing)
    text = _NOT_IN_XML.sub("\ufffd", stream.getvalue().decode("utf-8"))
    return text.replace("<text ", '<text xml:space="preserve" ').encode("utf-8")  # for indented lines of formulas


def section(each: TableSection | TextSection, level: int = 2) -> str:
    """A section with its heading."""
    out = [heading(each.heading, level)]
    if isinstance(each, TextSection):
        return "\n".join([*out, lines(each.lines, each.heading)])
    if each.rows:
        out.append(table(each.columns, each.rows, each.weights, each.ends, label=each.heading))
    if each.note:
        out.append(paragraph(each.note, note=True))
    return "\n".join(out)


def reason(given: Reason) -> str:
    """The details of a reason: a table with bars, or its sentence where there is nothing else."""
    details = given.table()
    if len(details.columns) == 1:
        out = [paragraph(words) for row in details.rows for words in row]
    else:
        out = [table(details.columns, details.rows, details.weights, details.ends, label=details.heading)]
    return "\n".join([*out, *([paragraph(details.note, note=True)] if details.note else [])])
