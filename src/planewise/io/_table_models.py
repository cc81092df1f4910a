"""Declaration of the model of a table."""

from __future__ import annotations

from typing import Any

from planewise.io._declaration import Declaration
from planewise.io._errors import require
from planewise.io._kinds import Kind, Maybe, Number, Plain, Record, Several, Truth, Word
from planewise.io._nested import Nested
from planewise.io._records import HELD_OUT_ERRORS, RECORD, check_records
from planewise.table import COLUMN_KINDS, FAMILIES, Column, LeftOut, TableModel, can_predict, estimator_name

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
_ESTIMATORS = {
    estimator_name(family, task, n_rows)
    for family in FAMILIES
    for task in ("classification", "regression")
    for n_rows in (1, 10**9)
    if can_predict(family, task)
}
_FITTED: dict[str, Kind] = {
    "target_": Plain(str),
    "task_": Word(("classification", "regression")),
    "columns_": Several(_COLUMN),
    "left_out_": Several(Record(LeftOut, {"name": Plain(str), "why": Plain(str)})),
    "estimator_": Nested(*sorted(_ESTIMATORS)),
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
    require(can_predict(model.family, model.task_), "has a family that cannot predict its target")
    allowed = {estimator_name(model.family, model.task_, n_rows) for n_rows in (1, 10**9)}
    require(type(estimator).__name__ in allowed, "has an estimator that does not belong to its family")
    require(
        hasattr(estimator, "feature_names_in_") and estimator.feature_names_in_.tolist() == names,
        "has an estimator whose columns do not match the table's",
    )
    check_records(model)


_OPTIONAL: dict[str, Kind] = {"held_out_errors_": Maybe(HELD_OUT_ERRORS), "record_": Maybe(RECORD)}

MODELS = [Declaration(TableModel, _FITTED, _check, _OPTIONAL, derive=TableModel.tell_estimator)]
