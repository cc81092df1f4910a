"""A first look at every partition: what its columns hold, and whether rows, targets and weights go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from planewise.dask.errors import WrongPartitionError
from planewise.dask.partitions import Partitions, Rows
from planewise.data.categories import is_missing
from planewise.data.problem import LARGEST_WEIGHT
from planewise.data.survey import PartSurvey, join_surveys, survey_part


@dataclass(frozen=True)
class Look:
    """What is known of a partition.

    Attributes
    ----------
    n_rows, n_counting, n_columns, n_bytes : int
        Of X; rows that count have a weight above zero.
    survey : PartSurvey or None
        What its columns hold; None for validation rows.
    labels : dict or None
        Of a classifier: how many rows of each class count.
    """

    n_rows: int
    n_counting: int
    n_columns: int
    n_bytes: int
    survey: PartSurvey | None = None
    labels: dict[Any, int] | None = None
    label_type: np.dtype[Any] | None = None


@dataclass(frozen=True)
class _Wanted:
    """What to look for."""

    names: Rows
    columns: list[Any] | None
    surveys: bool
    classes: bool
    categorical_features: Any
    class_weight: Any


def look_at(partitions: Partitions, estimator: Any, *, surveys: bool = False) -> list[Look]:
    """Look at all partitions; an error names the partition, and the column or row, that is wrong."""
    wanted = _Wanted(
        partitions.names,
        partitions.columns,
        surveys,
        is_classifier(estimator),
        getattr(estimator, "categorical_features", None),
        getattr(estimator, "class_weight", None),
    )
    looks: list[Look] = partitions.ask("look", _look, wanted)
    names = partitions.names
    if sum(look.n_rows for look in looks) == 0:
        raise ValueError(f"All {len(looks)} partitions of {names.X} are empty: there are no rows.")
    if sum(look.n_counting for look in looks) == 0:
        raise ValueError(f"{names.sample_weight} is zero for every row; at least one row must count.")
    if surveys:
        join_surveys([look.survey for look in looks if look.survey is not None])  # an error if they disagree
    return looks


def _look(rows: Rows, number: int, wanted: _Wanted) -> Look:
    X, names, n_rows = rows.X, wanted.names, int(rows.X.shape[0])
    _require_columns(X, number, names.X, wanted.columns)
    for name, value in zip(names[1:], rows[1:], strict=True):
        if value is not None and len(value) != n_rows:
            raise WrongPartitionError(
                f"Partition {number} has {n_rows} rows in {names.X}, but {len(value)} in {name}. Make both from the "
                "same partitions, or repartition them alike."
            )
    _require_targets(np.asarray(rows.y), number, names.y)
    if rows.sample_weight is not None:
        _require_weights(rows.sample_weight, number, names.sample_weight)
    counts = rows_that_count(rows, wanted.class_weight)
    survey = _survey(X, number, wanted, counts) if wanted.surveys else None
    y = np.asarray(rows.y)[counts] if wanted.classes else None
    labels, kind = (None, None) if y is None else (_label_counts(y), y.dtype)
    return Look(n_rows, int(np.count_nonzero(counts)), int(X.shape[1]), _n_bytes(X), survey, labels, kind)


def _survey(X: Any, number: int, wanted: _Wanted, counts: NDArray[np.bool_]) -> PartSurvey:
    try:
        return survey_part(
            X, wanted.categorical_features, f"partition {number}", counts=None if counts.all() else counts
        )
    except (ValueError, TypeError) as error:
        raise WrongPartitionError(str(error)) from error


def rows_that_count(rows: Rows, class_weight: Any = None) -> NDArray[np.bool_]:
    """Which rows have a weight above zero; a class may have none."""
    n_rows = int(rows.X.shape[0])
    weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, dtype=np.float64).ravel()
    counts = np.ones(n_rows, dtype=bool) if weight is None else weight > 0
    if isinstance(class_weight, Mapping) and n_rows:
        nothing = [label for label, weight in class_weight.items() if weight == 0]
        counts &= ~np.isin(np.asarray(rows.y).ravel(), nothing) if nothing else True
    return counts


def _label_counts(y: NDArray[Any]) -> dict[Any, int]:
    labels, counts = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


def _require_columns(X: Any, number: int, name: str, columns: list[Any] | None) -> None:
    if X.ndim != 2:
        raise WrongPartitionError(f"Partition {number} of {name} has {X.ndim} dimension(s); a table has 2.")
    if columns is None or list(X.columns) == columns:
        return
    raise WrongPartitionError(f"Partition {number} of {name} {difference(list(X.columns), columns)}.")


def difference(found: list[Any], expected: list[Any]) -> str:
    """In what columns differ, as the end of a sentence."""
    missing, further = (
        [each for each in expected if each not in found],
        [each for each in found if each not in expected],
    )
    if missing:
        return f"lacks the column {missing[0]!r}"
    return f"has a further column {further[0]!r}" if further else f"has its columns in a different order: {found}"


def _require_targets(y: NDArray[Any], number: int, name: str) -> None:
    if y.ndim > 1 and y.shape[1:] != (1,):
        raise WrongPartitionError(f"Partition {number} of {name} has shape {y.shape}; y must have one dimension.")
    if y.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(y))
    elif y.dtype.kind == "O":
        wrong = np.array([row for row, value in enumerate(y.ravel()) if is_missing(value)])
    else:
        return
    if len(wrong):
        raise WrongPartitionError(f"Partition {number} of {name}: row {wrong[0]} has no finite target.")


def _require_weights(sample_weight: Any, number: int, name: str) -> None:
    try:
        weight = np.asarray(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise WrongPartitionError(f"Partition {number} of {name} must hold numbers.") from None
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        raise WrongPartitionError(
            f"Partition {number} of {name}: row {wrong[0]} has the weight {weight[wrong[0]]}; weights must be finite "
            "and at least 0."
        )
    large = np.flatnonzero(weight > LARGEST_WEIGHT)
    if len(large):
        raise WrongPartitionError(
            f"Partition {number} of {name}: row {large[0]} has the weight {weight[large[0]]:.3g}; weights on a cluster "
            f"must be at most {LARGEST_WEIGHT:.2g}. Divide all weights by a constant."
        )


def _n_bytes(X: Any) -> int:
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False, deep=True).sum())
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
