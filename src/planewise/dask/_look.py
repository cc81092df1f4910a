"""A first look at every partition: how large it is, and whether rows, targets and weights go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._categories import is_missing
from planewise.dask._errors import WrongPartitionError
from planewise.dask._partitions import Partitions, Rows


@dataclass(frozen=True)
class Look:
    """What is known of a partition."""

    n_rows: int
    n_counting: int  # rows with a weight above zero
    n_columns: int
    n_bytes: int


def look_at(partitions: Partitions) -> list[Look]:
    """Look at all partitions; an error names the partition, and the column or row, that is wrong."""
    looks: list[Look] = partitions.ask("look", _look, partitions.names, partitions.columns)
    if sum(look.n_rows for look in looks) == 0:
        raise ValueError(f"All {len(looks)} partitions of {partitions.names.X} are empty: there are no rows to fit on.")
    if sum(look.n_counting for look in looks) == 0:
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return looks


def _look(rows: Rows, number: int, names: Rows, columns: list[Any] | None) -> Look:
    X, n_rows = rows.X, int(rows.X.shape[0])
    _require_columns(X, number, names.X, columns)
    for name, value in zip(names[1:], rows[1:], strict=True):
        if value is not None and len(value) != n_rows:
            raise WrongPartitionError(
                f"Partition {number} has {n_rows} rows in {names.X}, but {len(value)} in {name}. Make both from the same "
                "partitions, or repartition them alike."
            )
    _require_targets(np.asarray(rows.y), number, names.y)
    n_counting = n_rows if rows.sample_weight is None else _n_counting(rows.sample_weight, number, names.sample_weight)
    return Look(n_rows, n_counting, int(X.shape[1]), _n_bytes(X))


def _require_columns(X: Any, number: int, name: str, columns: list[Any] | None) -> None:
    if X.ndim != 2:
        raise WrongPartitionError(f"Partition {number} of {name} has {X.ndim} dimension(s); a table has 2.")
    found = list(X.columns) if columns is not None else None
    if columns is None or found == columns:
        return
    assert found is not None
    missing, further = [each for each in columns if each not in found], [each for each in found if each not in columns]
    if missing or further:
        what = f"lacks the column {missing[0]!r}" if missing else f"has a column {further[0]!r}, which others lack"
    else:
        what = f"has its columns in another order: {found}"
    raise WrongPartitionError(f"Partition {number} of {name} {what}.")


def _require_targets(y: NDArray[Any], number: int, name: str) -> None:
    if y.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(y.reshape(len(y), -1)).all(axis=1))
    elif y.dtype.kind == "O":
        wrong = np.array([row for row, value in enumerate(y.ravel()) if is_missing(value)])
    else:
        return
    if len(wrong):
        raise WrongPartitionError(f"Partition {number} of {name}: row {wrong[0]} has no target, or not a finite one.")


def _n_counting(sample_weight: Any, number: int, name: str) -> int:
    try:
        weight = np.asarray(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise WrongPartitionError(f"Partition {number} of {name} must hold numbers.") from None
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        raise WrongPartitionError(
            f"Partition {number} of {name}: row {wrong[0]} has the weight {weight[wrong[0]]}; weights must be finite and "
            "at least 0."
        )
    return int(np.count_nonzero(weight))


def _n_bytes(X: Any) -> int:
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False, deep=True).sum())
    if hasattr(X, "nbytes"):
        return int(X.nbytes)
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) if hasattr(X, "indptr") else 0
