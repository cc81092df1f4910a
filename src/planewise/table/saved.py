"""The record of a fit, and the errors on held-out rows, that a table model keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from planewise.data.columns import COLUMN_KINDS, Column, LeftOut
from planewise.store.arrays import ArrayReader, ArrayWriter
from planewise.store.declaration import Declaration
from planewise.store.errors import require
from planewise.store.kinds import (
    Integer,
    Kind,
    Maybe,
    Number,
    Numbers,
    Plain,
    Record,
    Several,
    Truth,
    Word,
    unpack_parts,
)
from planewise.store.nested import Nested
from planewise.table.families import ESTIMATORS
from planewise.table.intervals import HeldOutErrors
from planewise.table.model import TableModel
from planewise.table.record import SPLITS


@dataclass(frozen=True)
class Fields:
    """A dict with these keys."""

    parts: Mapping[str, Kind]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(value[name], arrays) for name, kind in self.parts.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[str, Any]:
        return unpack_parts(self.parts, packed, arrays, where)


@dataclass(frozen=True)
class ByName:
    """A dict with any names, all of one kind."""

    kind: Kind

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {str(name): self.kind.pack(each, arrays) for name, each in value.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[str, Any]:
        require(isinstance(packed, dict), f"has a {where} that is not a table of names")
        return {name: self.kind.unpack(each, arrays, f"{where}.{name[:40]}") for name, each in packed.items()}


_COUNT = Integer()
_ROWS = Fields({"read": _COUNT, "with_target": _COUNT, "fitted": _COUNT, "held_out": _COUNT})
_SPLIT = Fields({"kind": Word(tuple(SPLITS)), "column": Maybe(Plain(str)), "share": Number(0.0)})
_MEASURED = Fields(dict.fromkeys(("value", "low", "high"), Number(finite=False)))
_WORDS = Several(Plain(str))
_READING = Fields(
    {
        "missing": _WORDS,
        "not_missing": _WORDS,
        "date_formats": ByName(Plain(str)),
        "decimals": ByName(Word((".", ","))),
        "categories": _WORDS,
    }
)
RECORD = Fields(
    {
        "date": Plain(str),
        "planewise": Plain(str),
        "files": Several(Plain(str)),
        "n_files": _COUNT,
        "rows": Maybe(_ROWS),
        "split": Maybe(_SPLIT),
        "seed": _COUNT,
        "quality": Maybe(ByName(ByName(_MEASURED))),
        "linear_is_as_good": Maybe(Truth()),
        "reading": Maybe(_READING),
    }
)
HELD_OUT_ERRORS = Record(HeldOutErrors, {"n_rows": Integer(1), "ranks": Numbers("int64"), "errors": Numbers("float64")})


def check_records(model: Any) -> None:
    """An error where what a table model keeps about its fit does not fit together."""
    kept, record = model.held_out_errors_, model.record_
    if kept is not None:
        require(model.task_ == "regression", "has prediction intervals, but predicts classes")
        require(
            len(kept.ranks) == len(kept.errors) > 0
            and kept.ranks[0] >= 1
            and bool((np.diff(kept.ranks) > 0).all())
            and kept.ranks[-1] == kept.n_rows
            and bool((kept.errors >= 0).all() and np.isfinite(kept.errors).all() and (np.diff(kept.errors) >= 0).all()),
            "has errors on held-out rows that are not in order",
        )
    if record is not None and record["quality"] is not None:
        known = record["quality"].get("model") and record["rows"] is not None
        require(known, "has a record_ without the model's quality, or without the number of rows")


_COLUMN = Record(
    Column,
    {
        "name": Plain(str),
        "kind": Word(tuple(COLUMN_KINDS)),
        "usual": Number(),
        "categories": Several(Plain(str), as_tuple=True),
        "missing": Truth(),
        "clock": Maybe(Plain(str)),
    },
)
_FITTED: dict[str, Kind] = {
    "target_": Plain(str),
    "task_": Word(("classification", "regression")),
    "columns_": Several(_COLUMN),
    "left_out_": Several(Record(LeftOut, {"name": Plain(str), "why": Plain(str)})),
    "estimator_": Nested(*chain.from_iterable(ESTIMATORS.values())),
}


def _check(model: Any) -> None:
    names = [column.name for column in model.columns_]
    require(
        len(names) == model.n_features_in_
        and hasattr(model, "feature_names_in_")
        and names == model.feature_names_in_.tolist()
        and len(set(names)) == len(names),
        "has columns_ that do not agree with its names",
    )
    estimator = model.estimator_
    require(hasattr(estimator, "classes_") == (model.task_ == "classification"), "has an estimator for the wrong task")
    require(type(estimator).__name__ in ESTIMATORS[model.family], "has an estimator that does not belong to its family")
    require(
        hasattr(estimator, "feature_names_in_") and estimator.feature_names_in_.tolist() == names,
        "has an estimator whose columns do not match the table's",
    )
    check_records(model)


_OPTIONAL: dict[str, Kind] = {"held_out_errors_": Maybe(HELD_OUT_ERRORS), "record_": Maybe(RECORD)}

MODELS = [Declaration(TableModel, _FITTED, _check, _OPTIONAL, derive=TableModel.tell_estimator)]
