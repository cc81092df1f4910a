"""The pictures that suit a model, each with a caption."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from planewise.data.tables import column_values, take
from planewise.evaluate.calibration import Calibration
from planewise.evaluate.evaluation import Evaluation
from planewise.plot.partition import PartitionDisplay
from planewise.plot.projection import ProjectionDisplay
from planewise.plot.style import COLOURS, GREY, colour, dress, key, new_axes, require_matplotlib
from planewise.plot.tree import TreeDisplay
from planewise.plot.views import ViewsDisplay
from planewise.recip.classifier import RECIPClassifier

MOST_ROWS = 3000  # for pictures that show rows or are costly by the row; quality is measured on all
MOST_VIEWS, VIEWS_OF_A_CASE = 12, 3  # of a sum of views that are drawn


def pictures_of(case: Evaluation) -> Iterator[tuple[str, Any]]:
    """Captions and figures; each figure is to be closed by the caller."""
    model, (X, y) = case.model, _some(case)
    if hasattr(model, "view_surface"):
        yield from _sum_of_views(model)
    elif hasattr(model, "tree_") or hasattr(model, "forest_"):
        yield from _trees(model)
    elif isinstance(model, RECIPClassifier):
        yield from _views(model, X, y)
    if model.n_features_in_ == 2 and _both_numeric(X):
        shown = PartitionDisplay.from_estimator(model, X, y).plot()
        yield "Predictions in the plane of the two columns, with the rows of this report.", shown.figure_
    if case.classes is None:
        yield "Predicted against true values; on the line they are equal.", _against_truth(case)


def _some(case: Evaluation) -> tuple[Any, Any]:
    n_rows = len(case.target)
    if n_rows <= MOST_ROWS:
        return case.X, case.target
    rows = np.linspace(0, n_rows - 1, MOST_ROWS).astype(np.intp)
    return take(case.X, rows), case.target[rows]


def _both_numeric(X: Any) -> bool:
    return all(column_values(X, place).dtype.kind in "iuf" for place in range(2))


def picture_of_case(explanation: Any) -> tuple[str, Any]:
    """Return a caption, and a figure of the row in the view in which it was predicted, with training rows.

    Parameters
    ----------
    explanation : ProjectionExplanation
        Its view is not None.
    """
    model = explanation.model
    if hasattr(model, "view_surface"):
        shown = ViewsDisplay.from_estimator(model, case=explanation, n_views=VIEWS_OF_A_CASE).plot()
        if len(shown.panels) == 1:
            return "The row (star) in the only view of the model.", shown.figure_
        return f"The row (star) in the {len(shown.panels)} views that add most to its prediction.", shown.figure_
    drawn = ProjectionDisplay.from_explanation(explanation, *_rows_of_the_fit(model)).plot()
    return "The row (star) in its view, joined to its nearest training rows.", drawn.figure_


@contextmanager
def figures_closed() -> Iterator[None]:
    """Neither show figures made inside nor leave them open."""
    plt = require_matplotlib()
    before = set(plt.get_fignums())
    with plt.ioff():
        try:
            yield
        finally:
            for figure in set(plt.get_fignums()) - before:
                plt.close(figure)


def _rows_of_the_fit(model: Any) -> tuple[Any, Any]:
    """Return the training rows and targets of RECIP, equal rows as often as there were."""
    known = model.fitted_rows()
    return np.repeat(known.values, known.n_repeats, axis=0), np.repeat(known.target, known.n_repeats)


def _trees(model: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(model, "forest_"):
        caption = "The tree: the planes of each node as formulas, ✓ where they hold; n is the number of training rows."
        yield caption, TreeDisplay.from_estimator(model).plot().figure_
        return
    yield f"The first of {model.forest_.n_trees} trees.", TreeDisplay.from_estimator(model, tree=0).plot().figure_
    if len(getattr(model, "train_score_", ())):
        best = "" if model.best_iteration_ is None else f" The line marks the best round, {model.best_iteration_}."
        yield f"What was monitored during the fit, by round.{best}", _by_round(model)


def _by_round(model: Any) -> Any:
    """Return a figure with the scores of the training rows and of the validation rows."""
    ax = new_axes(1, 1, size=(3.9, 3.2))[0][0]
    sign = -1 if model.scoring is None else 1  # the score is minus the loss
    names = [name for name in ("train", "validation") if len(getattr(model, f"{name}_score_"))]
    for place, name in enumerate(names):
        values = sign * getattr(model, f"{name}_score_")
        ax.plot(np.arange(1, len(values) + 1), values, color=colour(place), linewidth=1.4)
    if model.best_iteration_ is not None:
        ax.axvline(model.best_iteration_, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
    measure = "loss" if model.scoring is None else model.scoring if isinstance(model.scoring, str) else "score"
    dress(ax, "rounds", measure)
    key(ax, ax.get_lines()[: len(names)], names)
    return ax.get_figure()


def _views(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    asked = model.explain(X) if len(y) <= 500 else model.explain(take(X, np.arange(500)))
    if any(each.view is not None for each in asked):
        shown = ProjectionDisplay.from_estimator(model, *_rows_of_the_fit(model), X, y).plot()
        yield "Rows of this report among the training rows, in the views that decided most of them.", shown.figure_


def _sum_of_views(model: Any) -> Iterator[tuple[str, Any]]:
    n_views = len(model.projections_)
    if n_views:
        shown = ViewsDisplay.from_estimator(model, n_views=MOST_VIEWS).plot()
        which = f"The {MOST_VIEWS} most important of {n_views} views" if n_views > MOST_VIEWS else "The whole model"
        yield f"{which}: the score of each view, with training rows; all views are added up.", shown.figure_


def _against_truth(case: Evaluation) -> Any:
    ax = new_axes(size=(4.2, 3.8))[0, 0]
    span = [min(case.target.min(), case.predicted.min()), max(case.target.max(), case.predicted.max())]
    ax.plot(span, span, color=GREY, linewidth=0.8, linestyle="--")
    if len(case.target) > MOST_ROWS:
        ax.hexbin(case.target, case.predicted, gridsize=45, bins="log", mincnt=1, cmap="Blues", linewidths=0)
    else:
        ax.scatter(case.target, case.predicted, s=9, color=COLOURS[0], alpha=0.5, linewidths=0)
    dress(ax, "true", "predicted")
    return ax.get_figure()


def calibration_picture(found: Calibration) -> Any:
    """Predicted probability against observed frequency, with intervals."""
    ax = new_axes(size=(4.2, 3.8))[0, 0]
    predicted = np.array([group.predicted for group in found.groups])
    value, low, high = (
        np.array([getattr(group.observed, name) for group in found.groups]) for name in ("value", "low", "high")
    )
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    ax.errorbar(predicted, value, yerr=[value - low, high - value], color=COLOURS[0], marker="o", markersize=4,
                linewidth=1.0, elinewidth=0.8)  # fmt: skip
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    dress(ax, f"predicted probability of {found.event}", "observed frequency")
    return ax.get_figure()
