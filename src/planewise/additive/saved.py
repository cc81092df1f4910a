"""Declarations of sums of views: boosting whose trees are kept by view, what is moved between views, and kept rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from planewise.additive.classifier import AdditiveClassifier
from planewise.additive.kept_rows import KeptRows
from planewise.additive.purify import ColumnBins, Move, Purification
from planewise.additive.regressor import AdditiveRegressor
from planewise.data.categories import MOST_CATEGORIES
from planewise.store.declaration import Declaration, check_length
from planewise.store.errors import require
from planewise.store.kinds import ByColumn, Integer, Kind, Labels, Number, Numbers, Record, Several
from planewise.trees.arrays import Forest
from planewise.trees.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from planewise.trees.saved import boosted, check_boosted

_VECTOR, _SHORT_VECTOR, _SHORT_TABLE = Numbers("float64"), Numbers("float32"), Numbers("float32", ndim=2)
_COLUMN = _PLACE = Integer(0, 2**31 - 1)

_BINS = Record(
    ColumnBins,
    {
        "edges": _SHORT_VECTOR,
        "n_categories": Integer(0, MOST_CATEGORIES),
        "points": _SHORT_VECTOR,
        "share": _VECTOR,
    },
)
_MOVE = Record(Move, {"column": _COLUMN, "source": _PLACE, "target": _PLACE, "values": _SHORT_TABLE})
_SHARED: dict[str, Kind] = {
    "projections_": Several(Several(_COLUMN, as_tuple=True)),
    "projection_importance_": _VECTOR,
    "depth_": Integer(),
    "validation_loss_": Number(finite=False),
    "_purified": Record(Purification, {"bins": ByColumn(_BINS), "moves": Several(_MOVE), "centre": _SHORT_TABLE}),
    "_kept": Record(
        KeptRows,
        {
            "columns": Several(_COLUMN),
            "values": _SHORT_TABLE,
            "target": _VECTOR,
            "weight": _VECTOR,
            "number": Numbers("int64"),
            "centre": _VECTOR,
            "spread": _VECTOR,
            "n_rows": Integer(),
        },
    ),
}


def _check(model: Any) -> None:
    views = model.projections_
    _check_views(views, model.n_features_in_)
    check_boosted(model, len(views))
    learned = model._loss.core != "constant"
    require((len(views) >= 1) == (model.n_iter_ >= 1) == learned, "has a number of views that does not match its loss")
    require(np.isfinite(model.base_score_).all(), "has a base_score_ that is not finite")
    _check_trees_of_views(model.forest_, views)
    check_length(model.projection_importance_, len(views), "projection_importance_")
    require(_are_sizes(model.projection_importance_), "has a projection_importance_ that is not allowed")
    _check_moves(model)
    _check_kept(model)


def _check_views(views: list[tuple[int, ...]], n_features: int) -> None:
    for view in views:
        rising = all(a < b for a, b in pairwise(view))
        require(1 <= len(view) <= 2 and rising and view[-1] < n_features, "has projections_ with an invalid view")
    require(len(set(views)) == len(views), "has projections_ with a view twice")


def _check_trees_of_views(forest: Forest, views: list[tuple[int, ...]]) -> None:
    """Trees read the columns of their own view only: the scores of views would mean nothing otherwise."""
    if not views:
        return
    per_view = forest.n_trees // len(views)
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_start))
    plane = np.repeat(tree, np.diff(forest.plane_start))
    place = np.repeat(plane, np.diff(forest.term_start)) // per_view
    first, last = np.array([view[0] for view in views])[place], np.array([view[-1] for view in views])[place]
    own = (forest.term_feature == first) | (forest.term_feature == last)
    require(bool(own.all()), "has a forest_ with a tree that reads columns of another view")


def _check_moves(model: Any) -> None:
    views, bins, moves = model.projections_, model._purified.bins, model._purified.moves
    n_outputs, centre = len(model.base_score_), model._purified.centre
    check_length(centre, (len(views), n_outputs), "_purified.centre")
    require(np.isfinite(centre).all(), "has a _purified.centre that is not finite")
    require(set(bins) == {move.column for move in moves}, "has _purified.bins of other columns than those of its moves")
    for column, each in bins.items():
        _check_bins(each, len(model.categories_.get(column, ())))
    for move in moves:
        places = move.source, move.target
        fitting = move.source != move.target and all(
            place < len(views) and move.column in views[place] for place in places
        )
        require(fitting, "has _purified.moves between views that do not share the column")
        check_length(move.values, (len(bins[move.column].points), n_outputs), "_purified.moves.values")
        require(np.isfinite(move.values).all(), "has _purified.moves with values that are not finite")


def _check_bins(bins: ColumnBins, n_categories: int) -> None:
    edges, points, share = bins.edges, bins.points, bins.share
    require(bins.n_categories == n_categories, "has _purified.bins that do not match the categories of their column")
    n_bins = n_categories or len(edges) + 1
    check_length(points, n_bins + 1, "_purified.bins.points")  # and one for missing values
    check_length(share, n_bins + 1, "_purified.bins.share")
    rising = np.isfinite(edges).all() and (np.diff(edges) >= 0).all() and (n_categories == 0 or len(edges) == 0)
    require(bool(rising), "has _purified.bins with edges that are not in order")
    known = np.isfinite(points[:-1]).all() and np.isnan(points[-1])
    if n_categories:
        known = known and np.array_equal(points[:-1], np.arange(n_categories))
    require(bool(known), "has _purified.bins with points that are not allowed")
    require(_are_sizes(share), "has _purified.bins with shares that are not allowed")


def _check_kept(model: Any) -> None:
    kept, n_kept = model._kept, len(model._kept.values)
    used = sorted({column for view in model.projections_ for column in view})
    require(kept.columns == used, "has _kept.columns that are not those of its views")
    check_length(kept.values, (n_kept, len(used)), "_kept.values")
    for name in ("target", "weight", "number"):
        check_length(getattr(kept, name), n_kept, f"_kept.{name}")
    for name in ("centre", "spread"):
        check_length(getattr(kept, name), len(used), f"_kept.{name}")
    require(n_kept <= kept.n_rows, "keeps more rows than it was fitted on")
    require((kept.number >= 0).all(), "has invalid row numbers")
    require(_are_sizes(kept.weight) and (kept.weight > 0).all(), "has a _kept.weight that is not allowed")
    scaled = np.isfinite(kept.centre).all() and _are_sizes(kept.spread) and (kept.spread > 0).all()
    require(bool(scaled), "has a _kept.centre or _kept.spread that is not allowed")
    require(not np.isinf(kept.values).any(), "has _kept.values that are not finite")
    for place, column in enumerate(used):
        if column in model.categories_:
            code = kept.values[:, place]
            code = code[~np.isnan(code)]
            known = (code >= 0) & (code < len(model.categories_[column])) & (code == np.floor(code))
            require(known.all(), "has a kept row with a category that its column does not have")
    target = kept.target
    if hasattr(model, "classes_"):
        known = (target >= 0) & (target < len(model.classes_)) & (target == np.floor(target))
        require(known.all(), "has a kept row of a class that it does not have")
    require(np.isfinite(target).all(), "has a kept row whose target is not finite")


def _are_sizes(values: Any) -> bool:
    return bool((np.isfinite(values) & (values >= 0)).all())


def _derive(model: Any) -> None:
    """What boosting has, and sums of views never fill."""
    model.target_statistics_ = {}


MODELS = [
    Declaration(
        AdditiveClassifier,
        boosted(CLASSIFICATION_LOSSES) | _SHARED | {"classes_": Labels()},
        _check,
        derive=_derive,
    ),
    Declaration(AdditiveRegressor, boosted(REGRESSION_LOSSES) | _SHARED, _check, derive=_derive),
]
