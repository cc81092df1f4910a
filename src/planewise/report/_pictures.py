"""The pictures that suit a model, each with a caption."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from planewise._tables import column_values, take
from planewise.evaluate import Calibration, Evaluation
from planewise.mcm import MCMClassifier, MCMClassifierCV
from planewise.plot import (
    ConvergenceDisplay,
    EmbeddingDisplay,
    PartitionDisplay,
    ProjectionDisplay,
    TreeDisplay,
    ViewsDisplay,
)
from planewise.plot.style import COLOURS, GREY, dress, new_axes
from planewise.recip import RECIPClassifier, RECIPRegressor

MOST_ROWS = 3000  # for pictures that show rows or are costly by the row; quality is measured on all


def pictures_of(case: Evaluation) -> Iterator[tuple[str, Any]]:
    """Captions and figures; each figure is to be closed by the caller."""
    model, (X, y) = case.model, _some(case)
    if hasattr(model, "view_surface"):
        yield from _sum_of_views(model)
    elif hasattr(model, "tree_") or hasattr(model, "forest_"):
        yield from _trees(model, X, y)
    elif isinstance(model, (RECIPClassifier, RECIPRegressor)):
        yield from _views(model, X, y)
    elif isinstance(model, (MCMClassifier, MCMClassifierCV)):
        yield from _kernel(model, X, y)
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


def _trees(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(model, "forest_"):
        caption = "The tree: the planes of each node as formulas, ✓ where they hold; n is the number of training rows."
        yield caption, TreeDisplay.from_estimator(model).plot().figure_
        return
    n_trees = model.forest_.n_trees
    yield f"The first of {n_trees} trees.", TreeDisplay.from_estimator(model, tree=0).plot().figure_
    if n_trees > 1:
        curves = ConvergenceDisplay.from_estimators({type(model).__name__: model}, X, y).plot()
        yield "Quality by number of trees, on the rows of this report.", curves.figure_
    if len(getattr(model, "train_score_", ())):
        shown = ConvergenceDisplay.from_history(model).plot()
        name = "Loss" if shown.measure == "loss" else f"The score {shown.measure}"
        best = "" if shown.best is None else f" The line marks the best round, {shown.best}."
        yield f"{name} by round, as monitored during the fit.{best}", shown.figure_


def _views(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    known = model.fitted_rows()
    rows, target = (np.repeat(each, known.n_repeats, axis=0) for each in (known.values, known.target))
    asked = model.explain(X) if len(y) <= 500 else model.explain(take(X, np.arange(500)))
    if any(each.view is not None for each in asked):
        shown = ProjectionDisplay.from_estimator(model, rows, target, X, y).plot()
        yield "Rows of this report among the training rows, in the views that decided most of them.", shown.figure_


def _sum_of_views(model: Any) -> Iterator[tuple[str, Any]]:
    if model.projections_:
        shown = ViewsDisplay.from_estimator(model).plot()
        yield "The whole model: the score of each view, with training rows; all views are added up.", shown.figure_


def _kernel(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    kernel = getattr(model, "kernel", "rbf")
    if callable(kernel) or kernel in ("precomputed", "linear"):
        return
    shown = EmbeddingDisplay.from_estimator(model, X, y).plot()
    yield "The rows of this report along the leading components of the data and of the kernel.", shown.figure_


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
