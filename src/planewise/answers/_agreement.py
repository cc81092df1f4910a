"""How far two reviewers of the same cases agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from planewise.answers._decisions import Decisions, same_label


@dataclass(frozen=True)
class ClassAgreement:
    """Two reviewers' classes for the cases that both decided."""

    n_both: int
    n_equal: int
    kappa: float | None  # Cohen's; None where it is not defined: no case, or one class for all
    classes: list[Any]
    counts: list[list[int]]  # by class of the first (rows) and of the second reviewer (columns)
    disagreements: list[int]  # rows of the table

    @property
    def share_equal(self) -> float | None:
        """Of the cases that both decided."""
        return self.n_equal / self.n_both if self.n_both else None

    def data(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self) | {"share_equal": self.share_equal}


@dataclass(frozen=True)
class NumberAgreement:
    """Two reviewers' numbers for the cases that both decided."""

    n_both: int
    n_equal: int
    mean_difference: float | None  # the mean absolute difference; None without a case
    largest_difference: float | None
    concordance: float | None  # Lin's coefficient; None where it is not defined
    disagreements: list[int]  # rows of the table, the largest difference first

    @property
    def share_equal(self) -> float | None:
        """Of the cases that both decided."""
        return self.n_equal / self.n_both if self.n_both else None

    def data(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self) | {"share_equal": self.share_equal}


def agreement(one: Decisions, other: Decisions, classes: Sequence[Any] | None) -> ClassAgreement | NumberAgreement:
    """Compare the decisions of two reviewers; `classes` is None where numbers are predicted."""
    both = np.flatnonzero((one.status != 0) & (other.status != 0)).tolist()
    first = [one.decided(row).label for row in both]  # type: ignore[union-attr]
    second = [other.decided(row).label for row in both]  # type: ignore[union-attr]
    equal = [same_label(*pair) for pair in zip(first, second, strict=True)]
    if classes is None:
        return _of_numbers(both, np.array(first, dtype=float), np.array(second, dtype=float))
    pairs = Counter(zip(map(list(classes).index, first), map(list(classes).index, second), strict=True))
    counts = [[pairs[row, column] for column in range(len(classes))] for row in range(len(classes))]
    apart = [row for row, same in zip(both, equal, strict=True) if not same]
    return ClassAgreement(len(both), sum(equal), cohens_kappa(counts), list(classes), counts, apart)


def cohens_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Agreement beyond chance: 1 if all labels are equal, 0 if no more are than independent reviewers would have."""
    table = np.asarray(counts, dtype=float)
    total = table.sum()
    if not total:
        return None
    observed = np.trace(table) / total
    chance = float(table.sum(axis=1) @ table.sum(axis=0)) / total**2
    return None if math.isclose(chance, 1.0) else float((observed - chance) / (1 - chance))


def _of_numbers(both: list[int], first: Any, second: Any) -> NumberAgreement:
    if not both:
        return NumberAgreement(0, 0, None, None, None, [])
    apart = np.abs(first - second)
    spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    concordance = float(2 * np.mean((first - first.mean()) * (second - second.mean())) / spread) if spread > 0 else None
    order = [int(place) for place in np.argsort(-apart, kind="stable") if apart[place] > 0]
    n_equal = len(both) - len(order)
    return NumberAgreement(
        len(both), n_equal, float(apart.mean()), float(apart.max()), concordance, [both[place] for place in order]
    )
