"""Declarations of RECIP."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from planewise.data.scaling import Scaling
from planewise.recip.classifier import RECIPClassifier
from planewise.recip.estimates import Counts, Distances
from planewise.recip.rows import Coordinates, DistinctRows
from planewise.store.arrays import ArrayReader, ArrayWriter
from planewise.store.declaration import CATEGORIES, Declaration, check_length
from planewise.store.errors import require
from planewise.store.kinds import (
    Integer,
    Kind,
    Labels,
    Maybe,
    Number,
    Numbers,
    OneKindOf,
    Plain,
    Record,
    Several,
    Truth,
    Word,
    unpack_parts,
)

_VECTOR, _SHORT_VECTOR = Numbers("float64"), Numbers("float32")
_COUNT = Integer(1, 2**31 - 1)


class _Coordinates:
    """The scaling of all columns as one record; tails that are left as they are have a mean of 0 and a spread of 1."""

    _parts: dict[str, Kind] = {  # noqa: RUF012
        **{name: _VECTOR for name in ("centre", "spread", "tail_centre", "tail_spread")},
        "drawn_in": Truth(),
        "gap": _SHORT_VECTOR,
    }

    def pack(self, value: Coordinates, arrays: ArrayWriter) -> Any:
        scaling, n_features = value.scaling, len(value.gap)
        tails = scaling.tails or Scaling(np.zeros(n_features), np.ones(n_features))
        values = [scaling.mean, scaling.spread, tails.mean, tails.spread, scaling.tails is not None, value.gap]
        return {name: kind.pack(each, arrays) for (name, kind), each in zip(self._parts.items(), values, strict=True)}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Coordinates:
        found = unpack_parts(self._parts, packed, arrays, where)
        tails = Scaling(found["tail_centre"], found["tail_spread"]) if found["drawn_in"] else None
        return Coordinates(Scaling(found["centre"], found["spread"], tails), found["gap"])


_ROWS = Record(
    DistinctRows,
    {
        "values": Numbers("float64", ndim=2),
        "target": Numbers("int32"),
        "weight": _VECTOR,
        "origin": Numbers("int64"),
        "origin_start": Numbers("int64"),
    },
)


class _Ranks:
    """Of ordered categories, by column."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return [[int(column), _SHORT_VECTOR.pack(ranks, arrays)] for column, ranks in value.items()]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[int, Any]:
        require(
            isinstance(packed, list)
            and all(isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int for pair in packed),
            f"has invalid {where}",
        )
        return {column: _SHORT_VECTOR.unpack(ranks, arrays, where) for column, ranks in packed}


_ESTIMATE = OneKindOf(
    {
        "counts": (
            Counts,
            Record(
                Counts,
                {"k": _COUNT, "tsallis_order": Number(), "prior_weight": Number(0), "share": _VECTOR},
            ),
        ),
        "distances": (
            Distances,
            Record(Distances, {"k": _COUNT, "tsallis_order": Number()}),
        ),
    }
)


def _check(model: Any) -> None:
    n, rows, views = model.n_features_in_, model._rows, model.projections_
    require(
        len(views) >= 1 and all(view and all(a < b for a, b in pairwise(view)) and view[-1] < n for view in views),
        "has projections_ with an invalid view",
    )
    for name in ("projection_support_", "projection_entropy_", "_overall_entropy"):
        check_length(getattr(model, name), len(views), name)
    coordinates = model._scaling
    for scaling in (coordinates.scaling, coordinates.scaling.tails):
        if scaling is not None:
            check_length(scaling.mean, n, "_scaling.centre")
            check_length(scaling.spread, n, "_scaling.spread")
    check_length(coordinates.gap, n, "_scaling.gap")
    require(((coordinates.gap >= 0) & (coordinates.gap <= 1e17)).all(), "has an invalid _scaling.gap")
    n_rows = len(rows.values)
    require(n_rows >= 2, "has too few rows")
    check_length(rows.values, (n_rows, len({j for view in views for j in view})), "_rows.values")
    check_length(rows.target, n_rows, "_rows.target")
    check_length(rows.weight, n_rows, "_rows.weight")
    check_length(rows.origin_start, n_rows + 1, "_rows.origin_start")
    start = rows.origin_start
    require(start[0] == 0 and (np.diff(start) >= 0).all() and start[-1] == len(rows.origin), "has invalid row numbers")
    require(model.k_ < n_rows, "asks for more neighbours than it has rows")
    for column, ranks in model._ranks.items():
        require(column in model.categories_, "has ranks of a column that has no categories")
        check_length(ranks, len(model.categories_[column]), "_ranks")
    n_classes, target = len(model.classes_), rows.target
    require(n_classes >= 2, "has too few classes")
    check_length(model._prior, n_classes, "_prior")
    require(((target >= 0) & (target < n_classes)).all(), "has a row of a class that it does not have")
    require(model._estimate.k == model.k_, "has a k_ that does not match its estimate")
    if isinstance(model._estimate, Counts):
        check_length(model._estimate.share, n_classes, "_estimate.share")


def _derive(model: Any) -> None:
    """The columns of the kept views, and the coordinates of the rows in them."""
    model._columns = sorted({j for view in model.projections_ for j in view})
    place = {j: at for at, j in enumerate(model._columns)}
    model._views = [tuple(place[j] for j in view) for view in model.projections_]
    model._derive()
    known = model._points[~np.isnan(model._points)]
    require((np.abs(known) <= 1e17).all(), "has rows with values that are too large")


MODELS = [
    Declaration(
        RECIPClassifier,
        CATEGORIES
        | {
            "_ranks": _Ranks(),
            "_scaling": _Coordinates(),
            "k_": _COUNT,
            "projections_": Several(Several(Integer(0, 2**31 - 1), as_tuple=True)),
            "projection_support_": _VECTOR,
            "projection_entropy_": _VECTOR,
            "optimality_gap_": Number(finite=False),
            "n_candidates_": Integer(),
            "lam_": Maybe(Number()),
            "lam_losses_": Maybe(Plain(dict)),
            "objective_": _VECTOR,
            "_overall_entropy": _VECTOR,
            "classes_": Labels(),
            "_prior": _VECTOR,
            "_estimate": _ESTIMATE,
            "_decide": Word(("select", "vote")),
            "_rows": _ROWS,
        },
        _check,
        derive=_derive,
    ),
]
