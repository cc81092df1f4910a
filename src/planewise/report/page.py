"""One page about a model: what it is and, on given rows, how good it is, how it looks, and where it is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from planewise._atomic import write_whole
from planewise._text import number, percent, shorten
from planewise.evaluate.calibration import calibration
from planewise.evaluate.confusion import confusion
from planewise.evaluate.evaluation import Evaluation, evaluate, worst_rows
from planewise.evaluate.quality import Quality, quality
from planewise.explain.describe import Description, Limits, TableSection, describe, fitted_model
from planewise.explain.reasons import View
from planewise.report import html
from planewise.report.case import case_parts
from planewise.report.pictures import calibration_picture, figures_closed, pictures_of

MAX_MISTAKES = 5
MAX_CLASSES = 20  # for which the whole confusion is shown
TREES_DESCRIBED = 3  # where there is nothing else on the page


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Any = None,
    X_train: Any = None,
    y_train: Any = None,
    pictures: Sequence[tuple[str, Any]] = (),
    title: str | None = None,
) -> str:
    """One page about a fitted model, and how it does on given rows, in a file that loads nothing from elsewhere.

    What the model is, its size, and what it looks at (importances, vectors or views). With rows to measure it on, also:
    quality with 95% confidence intervals, beside the most common class or the mean and a logistic or ridge regression;
    the pictures that suit the model; whether its probabilities can be trusted; and its worst mistakes, each with the
    reasons for the answer. The page can be sent by e-mail and printed, and follows the reader's choice of light or
    dark.

    Parameters
    ----------
    model : fitted estimator
        Any of planewise, or a :class:`planewise.table.TableModel`.
    X, y : rows and their targets, default=None
        Data to measure the model on, preferably data it has not seen; needs matplotlib. For a TableModel, X is the
        table; without y, the target column is read from there. None: the page says only what the model is.
    path : path, default=None
        Where to write the page; an existing file is replaced in one step. None: nowhere.
    sample_weight : array of shape (n_rows,), default=None
        Weights of the rows in all measures; rows of weight 0 do not count. Only their ratios matter.
    X_train, y_train : rows and their targets, default=None
        What the model was fitted on: the simple models beside it are then fitted on these rows too, as in ``planewise
        fit``. For a TableModel, X_train is the training table with its target column. None: they are fitted on X and y
        in five folds.
    pictures : list of (caption, picture), default=()
        More pictures to put into the page: figures of matplotlib, or the bytes of PNG files.
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
    model = fitted_model(model)
    if X is None:
        if any(each is not None for each in (y, sample_weight, X_train, y_train)):
            raise ValueError("y, sample_weight, X_train and y_train are for measuring the model: pass X too.")
        about = describe(model, Limits(max_trees=TREES_DESCRIBED))
        measured = _measured_by_fit(model)
    else:
        case = evaluate(model, X, y, sample_weight)
        about = describe(model, Limits(max_trees=0 if hasattr(case.model, "forest_") else 1))
        with figures_closed():
            measured = list(_measured(case, quality(case, X_train, y_train)))
    more = _drawn(pictures, "Pictures" if X is None else "More pictures")
    page = _page(about, title or about.title, [*measured, *more])
    if path is not None:
        write_whole(path, page)
    return page


def _page(about: Description, title: str, parts: Iterable[str]) -> str:
    body = [
        html.heading(title, level=1),
        html.facts(about.facts),
        *parts,
        *(html.section(each) for each in about.sections),
        html.footer(about.title),
    ]
    return html.page(title, body)


def _measured_by_fit(model: Any) -> list[str]:
    """The quality that a table model's file keeps."""
    record = getattr(model, "record_", None)
    if record is None or record["quality"] is None:
        return []
    found = Quality.of_record(record)
    return [html.section(TableSection("Quality on held-out rows, measured by fit", *found.table(), found.note))]


def _measured(case: Evaluation, found: Quality) -> Iterator[str]:
    yield html.section(TableSection("Quality", *found.table(), found.note))
    for sentence in found.sentences():
        yield html.paragraph(sentence, note=True)
    confused = confusion(case)
    if confused is not None:
        yield html.section(confused.section(MAX_CLASSES))
    yield from _drawn(pictures_of(case), "Pictures")
    yield from _calibrated(case)
    yield from _mistaken(case)


def _drawn(found: Iterable[tuple[str, Any]], heading: str) -> Iterator[str]:
    drawn = [html.figure(caption, picture) for caption, picture in found]
    if drawn:
        yield html.heading(heading)
        yield from drawn


# ------------------------------------------------------------------------------------------------------ calibration
def _calibrated(case: Evaluation) -> Iterator[str]:
    if case.classes is None or len(case.classes) == 1:
        return
    yield html.heading("Calibration")
    found = calibration(case)
    if found is None:
        yield html.paragraph("This model gives no probabilities.", note=True)
        return
    yield html.paragraph(found.sentence())
    caption = "Observed frequency by predicted probability; on the dashed line they are equal."
    yield html.beside(html.figure(caption, calibration_picture(found)), html.table(*found.table(), label="Calibration"))


# --------------------------------------------------------------------------------------------------------- mistakes
def _mistaken(case: Evaluation) -> Iterator[str]:
    """The worst mistakes, each with the reasons for the answer."""
    yield html.heading("Worst mistakes")
    worst = worst_rows(case)[:MAX_MISTAKES]
    if not len(worst):
        yield html.paragraph("Every row is predicted correctly.", note=True)
        return
    yield html.paragraph("Rows are counted from 0.", note=True)
    for row, why in zip(worst, case.explain(worst), strict=True):
        yield html.heading(_mistake_in_words(case, int(row)), level=3)
        if isinstance(why, View):
            yield html.reason(why)
            yield from case_parts(why)
            continue
        yield html.paragraph(why.sentence())
        yield html.paragraph(f"{why.table().heading}:")
        yield html.reason(why)


def _mistake_in_words(case: Evaluation, row: int) -> str:
    if case.classes is None:
        off = case.predicted[row] - case.target[row]
        return (
            f"Row {case.row_number[row]}: {number(case.predicted[row])} instead of {number(case.target[row])}, "
            f"{number(abs(off))} too {'high' if off > 0 else 'low'}"
        )
    sure = ""
    if case.probability is not None:
        at = [int(np.searchsorted(case.classes, each[row])) for each in (case.predicted, case.target)]
        sure = f", {percent(case.probability[row, at[0]], 1)} against {percent(case.probability[row, at[1]], 1)}"
    return f"Row {case.row_number[row]}: {shorten(case.predicted[row])} instead of {shorten(case.target[row])}{sure}"
