"""One self-contained page about a model."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Sequence
from html import escape
from typing import Any

import planewise
from planewise.export._describe import Limits, TableSection, TextSection, describe
from planewise.export._files import write_whole
from planewise.export._models import fitted
from planewise.export._quality import quality

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #fff; --line: #d5dae0; --band: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --soft: #9aa4af; --paper: #15181c; --line: #343a42; --band: #1e2329; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.25rem; margin: 1rem 0 0; }
dt, .note, footer { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1rem;
  overflow-x: auto; font: 13px/1.55 ui-monospace, monospace; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; background: #fff; border-radius: 6px; }
footer { margin-top: 3rem; font-size: .85rem; }
"""


def to_html(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    X: Any = None,
    y: Any = None,
    *,
    pictures: Sequence[tuple[str, Any]] = (),
    title: str | None = None,
) -> str:
    """One plain page about a fitted model: what it is, its size, what it looks at, and how well it does.

    The page is one file that loads nothing from elsewhere, and follows the reader's choice of light or dark.

    Parameters
    ----------
    model : fitted estimator
        Any of planewise.
    path : path, default=None
        Where to write the page; an existing file is replaced in one step. None: nowhere.
    X, y : rows and their targets, default=None
        Data to measure the model on, best such as it has not seen: accuracy or errors beside the simplest answer.
    pictures : list of (caption, picture), default=()
        Pictures to put into the page: figures of matplotlib, or the bytes of PNG files.
    title : str, default=None
        The page's title; the estimator's name if not given.

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.export import to_html
    >>> X, y = load_iris(return_X_y=True)
    >>> page = to_html(SLMClassifier(random_state=0).fit(X[::2], y[::2]), X=X[1::2], y=y[1::2])
    >>> "<h2>Quality</h2>" in page
    True
    """
    if (X is None) != (y is None):
        raise ValueError("X and y go together: give both or neither.")
    about = describe(model, Limits(max_trees=3))
    sections: list[TableSection | TextSection] = [] if X is None else [*quality(fitted(model), X, y)]
    shown = [_table(each) if isinstance(each, TableSection) else _text(each) for each in sections + about.sections]
    measured = len(sections)
    body = [
        f"<h1>{escape(title or about.title)}</h1>",
        f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(value)}</dd>' for name, value in about.facts)}</dl>",
        *shown[:measured],
        *(_figure(caption, picture) for caption, picture in pictures),
        *shown[measured:],
        f"<footer>{escape(about.title)}, planewise {escape(planewise.__version__)}</footer>",
    ]
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title or about.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )
    if path is not None:
        write_whole(path, page)
    return page


def _text(section: TextSection) -> str:
    lines = "\n".join(escape(line) for line in section.lines)
    return f"<h2>{escape(section.heading)}</h2>\n<pre>{lines}</pre>"


def _table(section: TableSection) -> str:
    out = [f"<h2>{escape(section.heading)}</h2>"]
    if section.rows:
        head = "".join(f"<th>{escape(each)}</th>" for each in section.columns)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in section.rows)
        out.append(f'<div class="wide"><table>\n<tr>{head}</tr>\n{rows}</table></div>')
    if section.note:
        out.append(f'<p class="note">{escape(section.note)}</p>')
    return "\n".join(out)


def _figure(caption: str, picture: Any) -> str:
    """A picture inside the page: the one place where pictures come in."""
    if hasattr(picture, "savefig"):
        stream = io.BytesIO()
        picture.savefig(stream, format="png", dpi=150, bbox_inches="tight")
        picture = stream.getvalue()
    if not isinstance(picture, bytes) or not picture.startswith(b"\x89PNG"):
        raise TypeError(
            f"The picture {caption!r} must be a figure of matplotlib or the bytes of a PNG file; got "
            f"{type(picture).__name__}."
        )
    data = base64.b64encode(picture).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
