"""One self-contained page about a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from planewise.export._describe import describe
from planewise.export._files import write_whole
from planewise.export._models import fitted
from planewise.words import Limits


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
    # Reports know exports, not the other way round: only here, when one is asked for, does an export know reports.
    from planewise.evaluate import evaluate, quality
    from planewise.report import _page
    from planewise.report._quality import quality_sections
    from planewise.report._sections import section

    if (X is None) != (y is None):
        raise ValueError("X and y go together: give both or neither.")
    about = describe(model, Limits(max_trees=3))
    measured = []
    if X is not None:
        case = evaluate(fitted(model), X, y)
        measured = quality_sections(case, quality(case))
    body = [
        _page.heading(title or about.title, level=1),
        _page.facts(about.facts),
        *(section(each) for each in measured),
        *(_page.figure(caption, picture) for caption, picture in pictures),
        *(section(each) for each in about.sections),
        _page.footer(about.title),
    ]
    page = _page.page(title or about.title, body)
    if path is not None:
        write_whole(path, page)
    return page
