"""One page about a model on data: what it is, how good, how it looks, and where it errs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from planewise.evaluate import Evaluation, calibration, evaluate, quality
from planewise.export._describe import describe
from planewise.export._files import write_whole
from planewise.export._models import fitted
from planewise.plot._style import require_matplotlib
from planewise.plot._tables import take
from planewise.report import _page
from planewise.report._mistakes import Mistake, worst_mistakes
from planewise.report._pictures import pictures
from planewise.report._quality import calibration_picture, calibration_table, quality_sections
from planewise.report._sections import has_views, reasons_shown, section, views_of_case
from planewise.report._view_scene import TrainingRows
from planewise.table import TableModel
from planewise.words import Limits, number


def report(
    model: Any,
    X: Any,
    y: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Any = None,
    title: str | None = None,
) -> str:
    """One page about a fitted model and how it does on given rows, in a file that loads nothing from elsewhere.

    What the model is and its size; quality with 95 % confidence intervals, beside the commonest class or the mean and a
    logistic or ridge regression; the pictures that suit it; whether probabilities can be believed; what it looks at
    (importances, vectors or views); and its worst mistakes, each with the reasons for the answer: of RECIP the views
    themselves, to be switched, with words under the mouse. The page can be sent by e-mail and printed, and follows the
    reader's choice of light or dark. Needs matplotlib.

    Parameters
    ----------
    model : fitted estimator
        Any of planewise, or a :class:`planewise.table.TableModel`.
    X, y : rows and their targets
        Data to measure the model on, best such as it has not seen. For a TableModel, X is the table; without y the
        column it predicts is read from there.
    path : path, default=None
        Where to write the page; an existing file is replaced in one step. None: nowhere.
    sample_weight : array of shape (n_rows,), default=None
        Weights of the rows in all measures; rows of weight 0 do not count. Only their ratios matter.
    title : str, default=None
        The page's title; the estimator's name if not given.

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.report import report
    >>> X, y = load_iris(return_X_y=True)
    >>> page = report(SLMClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> "<h2>Worst mistakes</h2>" in page
    True
    """
    plt = require_matplotlib()
    case = evaluate(model if isinstance(model, TableModel) else fitted(model), X, y, sample_weight)
    model = case.model
    about = describe(model, Limits(max_trees=0 if hasattr(model, "forest_") else 1))
    before = set(plt.get_fignums())
    with plt.ioff():
        try:
            body = [
                _page.heading(title or about.title, level=1),
                _page.facts(about.facts),
                *(section(each) for each in quality_sections(case, quality(case))),
                *_shown(pictures(case)),
                *_calibrated(case),
                *_mistaken(case, worst_mistakes(case, model.n_features_in_)),
                *(section(each) for each in about.sections),
                _page.footer(about.title),
            ]
        finally:
            for figure in set(plt.get_fignums()) - before:
                plt.close(figure)
    page = _page.page(title or about.title, body)
    if path is not None:
        write_whole(path, page)
    return page


def _shown(found: Iterable[tuple[str, Any]]) -> Iterator[str]:
    drawn = [_page.figure(caption, picture) for caption, picture in found]
    if drawn:
        yield _page.heading("Pictures")
        yield from drawn


def _calibrated(case: Evaluation) -> Iterator[str]:
    if case.classes is None or len(case.classes) == 1:
        return
    yield _page.heading("Calibration")
    found = calibration(case)
    if found is None:
        yield _page.paragraph("This model gives no probabilities.", note=True)
        return
    yield _page.paragraph(
        f"Rows are grouped by the predicted probability of {found.event}. On average over the rows, the predicted "
        f"probability and the observed frequency are {number(100 * found.error, 2)} percentage points apart."
    )
    yield _page.beside(
        _page.figure(
            "Observed frequency by predicted probability; equal on the dashed line.", calibration_picture(found)
        ),
        _page.table(*calibration_table(found)),
    )


def _mistaken(case: Evaluation, worst: list[Mistake]) -> Iterator[str]:
    yield _page.heading("Worst mistakes")
    if not worst:
        yield _page.paragraph("Every row is answered rightly.", note=True)
    views = has_views(case.model)
    training = TrainingRows.of(case.model) if views and worst else None
    for place, mistake in enumerate(worst):
        yield _page.heading(mistake.words, level=3)
        if mistake.reasons.why:
            yield _page.paragraph(mistake.reasons.sentence())
        yield _page.paragraph(f"{mistake.reasons.heading}:")
        yield reasons_shown(mistake.reasons)
        if training is not None:
            explanation = case.model.explain(take(case.X, np.array([mistake.row])))[0]
            yield views_of_case(explanation, training, ident=f"mistake-{place + 1}")
