"""Partitions read as parts: float32 rows, targets as numbers and weights, which stay on the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets

from planewise.dask.engine import DaskParts
from planewise.dask.errors import WrongPartitionError
from planewise.dask.gather import some_rows
from planewise.dask.look import Look, rows_that_count
from planewise.dask.partitions import Partitions, Rows
from planewise.data.chunks import Part
from planewise.data.problem import IN_FLOAT32, near_one, weights_by_class
from planewise.data.survey import Survey, join_surveys, read_part


@dataclass(frozen=True)
class ReadTable:
    """A table on a cluster, as boosting learns from it.

    Attributes
    ----------
    parts : DaskParts
        The rows that count; targets are numbers, or the places of classes in `classes`; weights include class weights.
    validation : DaskParts or None
        The validation rows, all of them.
    survey : Survey
        Of the columns; `planewise.data.survey.learn_columns` gives an estimator what it says.
    classes : array or None
        The class labels, sorted.
    """

    parts: DaskParts
    validation: DaskParts | None
    survey: Survey
    classes: NDArray[Any] | None


@dataclass(frozen=True)
class _Reading:
    """How the partitions of one table are read."""

    survey: Survey
    names: Rows
    classes: NDArray[Any] | None
    by_class: NDArray[np.float64] | None  # class weights
    class_weight: Any
    drops: bool  # rows without a weight


def read_table(
    client: Client,
    partitions: Partitions,
    looks: list[Look],
    validation: tuple[Partitions, list[Look]] | None,
    estimator: Any,
) -> ReadTable:
    """Read all partitions where they are; from `looks` with surveys."""
    survey = join_surveys([look.survey for look in looks if look.survey is not None])
    class_weight = getattr(estimator, "class_weight", None)
    classes = find_classes(looks) if is_classifier(estimator) else None
    by_class = None if classes is None else _class_weights(class_weight, classes, looks)
    reading = _Reading(survey, partitions.names, classes, by_class, class_weight, drops=True)
    parts = _submit(client, partitions, reading, [look.n_counting for look in looks])
    theirs = None
    if validation is not None:
        reading = _Reading(survey, validation[0].names, classes, None, None, drops=False)
        theirs = _submit(client, validation[0], reading, [look.n_rows for look in validation[1]])
    return ReadTable(parts, theirs, survey, classes)


def _submit(client: Client, partitions: Partitions, reading: _Reading, sizes: list[int]) -> DaskParts:
    firsts = np.cumsum([0, *sizes])[:-1].tolist()
    return DaskParts(client, partitions.submit("read", _read, reading, each=firsts), sizes)


def find_classes(looks: list[Look]) -> NDArray[Any]:
    """The classes of all rows that count, sorted; ValueError if partitions disagree in what labels are."""
    kinds: dict[bool, int] = {}
    for number, look in enumerate(looks):
        for label in look.labels or ():
            kinds.setdefault(isinstance(label, str), number)
    if len(kinds) > 1:
        raise ValueError(
            f"The classes are text in partition {kinds[True]} of y, but not in partition {kinds[False]}; make them all "
            "text, or all numbers."
        )
    labels = [label for look in looks for label in look.labels or ()]
    types = [look.label_type for look in looks if look.labels and look.label_type is not None]
    kind = np.result_type(*types) if types else None  # as in memory, where all labels are in one array
    classes = np.unique(np.array(labels, dtype=kind))
    check_classification_targets(classes)
    return classes


def _class_weights(class_weight: Any, classes: NDArray[Any], looks: list[Look]) -> NDArray[np.float64] | None:
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        present = {label: weight for label, weight in class_weight.items() if weight != 0}
        return near_one(weights_by_class(present, classes))
    counts = np.array([sum((look.labels or {}).get(label, 0) for look in looks) for label in classes.tolist()])
    return np.asarray(counts.sum() / (len(classes) * counts))


def _read(rows: Rows, number: int, reading: _Reading, first: int) -> Part:
    """One partition as a part of the table."""
    if reading.drops:
        counts = rows_that_count(rows, reading.class_weight)
        rows = rows if counts.all() else some_rows(rows, number, np.flatnonzero(counts))
    try:
        X = read_part(rows.X, reading.survey)
    except (ValueError, TypeError) as error:
        raise WrongPartitionError(f"Partition {number} of {reading.names.X}: {error}") from error
    n_rows = len(X)
    weight = np.ones(n_rows) if rows.sample_weight is None else np.array(rows.sample_weight, dtype=np.float64).ravel()
    if reading.classes is None:
        return Part(X, _numbers(rows.y, number, reading.names.y), weight, first)
    label = _places(np.asarray(rows.y).ravel(), reading.classes, number, reading.names.y)
    if reading.by_class is not None:
        weight = weight * reading.by_class[label]
    return Part(X, label.astype(np.float64), weight, first)


def _numbers(y: Any, number: int, name: str) -> NDArray[np.float64]:
    try:
        target = np.array(y, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise WrongPartitionError(f"Partition {number} of {name} must hold numbers.") from None
    wrong = np.flatnonzero(np.abs(target) > IN_FLOAT32.largest)
    if len(wrong):
        row = wrong[0]
        raise WrongPartitionError(
            f"Partition {number} of {name}: row {row} has the target {target[row]:.3g}; boosting "
            f"{IN_FLOAT32.why} and accepts at most {IN_FLOAT32.largest:.2g} in size. Divide the targets by a constant."
        )
    return target


def _places(y: NDArray[Any], classes: NDArray[Any], number: int, name: str) -> NDArray[np.intp]:
    """The place of each label among the classes."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    labels, inverse = np.unique(y, return_inverse=True)
    strange = [label for label in labels.tolist() if label not in place]
    if strange:
        raise WrongPartitionError(
            f"Partition {number} of {name} has the class {strange[0]!r}, which no training row has. Remove these rows."
        )
    return np.array([place[label] for label in labels.tolist()], dtype=np.intp)[inverse]
