"""Target statistics: beside a column of many categories, the mean target or share of a class of each category.

In the rows that trees read, the statistics of all such columns follow after the columns of X. The categories stay where
they are and are split into sets as well: sets are fitted to what other columns leave unexplained. With statistics
alone, the error on `fuel_economy` (3,198 car models) is 12% larger than with sets alone, with both 1%. On 2,000
categories with 15 rows each and a noisy target, sets reach an AUC of 0.684, statistics 0.767, both 0.766.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise._text import counted, one_line
from planewise.data.mapped import add_columns

MAX_CATEGORIES_OF_SETS = 50  # "auto": columns with more categories get target statistics
PRIOR_ROWS = 4.0  # a category with as many rows is believed as much as all rows together
N_FOLDS = 10
MAX_CLASSES = 8  # with more classes, only the most frequent have a statistic each

Floats = NDArray[np.float64]
Rows = NDArray[np.float32]

_OWN_STREAM = np.uint64(0x7461726765747331)  # folds must not repeat what the core draws from the same seed


@dataclass(frozen=True, eq=False, repr=False)
class TargetStatistics:
    """What is known of the target by category of one column.

    Attributes
    ----------
    values : float32 array of shape (n_categories, n_statistics)
        The weighted mean of the target, or the weighted share of a class, in the training rows of each category,
        shrunk towards `prior`.
    prior : float32 array of shape (n_statistics,)
        The same in all training rows. Categories not seen in ``fit`` have it.
    classes : int32 array of shape (n_statistics,) or None
        The class that each statistic is the share of, by its place in ``classes_``; None for a regressor.
    """

    values: NDArray[np.float32]
    prior: NDArray[np.float32]
    classes: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        for array in (self.values, self.prior, self.classes):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        statistics = "mean of target" if self.classes is None else counted(self.n_statistics, "share")
        return one_line(self, f"{counted(len(self.values), 'category')}, {statistics}")

    def __reduce__(self) -> tuple[Any, ...]:
        return TargetStatistics, (self.values, self.prior, self.classes)  # read-only again in the copy

    @property
    def n_statistics(self) -> int:
        """How many columns the trees read beside the categories."""
        return len(self.prior)

    @property
    def n_numbers(self) -> int:
        """How many numbers the statistics take."""
        return self.values.size + self.prior.size

    def equals(self, other: TargetStatistics) -> bool:
        """Whether the other has the same numbers of the same classes."""
        pairs = [(self.values, other.values), (self.prior, other.prior), (self.classes, other.classes)]
        return all(np.array_equal(a, b) if a is not None and b is not None else a is b for a, b in pairs)

    def names(self, classes: NDArray[Any] | None) -> list[str]:
        """What each statistic is, in words."""
        if self.classes is None or classes is None:
            return ["mean of target"]
        labels = [classes[place] for place in self.classes]
        return [f"share of '{each}'" if isinstance(each, str) else f"share of class {each}" for each in labels]

    def of_codes(self, code: NDArray[np.float32]) -> NDArray[np.float32]:
        """The statistics of categories given by their numbers: NaN stays NaN, an unknown number has the prior."""
        table = np.vstack([self.values, self.prior, np.full_like(self.prior, np.nan)])
        unseen = len(self.values)
        place = np.where(np.isnan(code), unseen + 1, np.minimum(code, unseen))
        return table[place.astype(np.intp)]


Statistics = Mapping[int, TargetStatistics]  # by column


# ------------------------------------------------------------------------------------------- columns that trees read
class Place(NamedTuple):
    """Where a statistic comes from."""

    source: int  # the column of X
    statistic: int  # its number among those of the column


def statistic_places(statistics: Statistics) -> list[Place]:
    """All statistics, in the order in which they follow the columns of X."""
    return [Place(source, k) for source in sorted(statistics) for k in range(statistics[source].n_statistics)]


def n_tree_columns(n_features: int, statistics: Statistics) -> int:
    """How many columns the rows have that trees read."""
    return n_features + len(statistic_places(statistics))


def added_to_sources(parts: Floats, n_features: int, statistics: Statistics) -> Floats:
    """Numbers by column that trees read (along the last axis) as numbers by column of X."""
    out = parts[..., :n_features].copy()
    for column, place in enumerate(statistic_places(statistics), start=n_features):
        out[..., place.source] += parts[..., column]
    return out


def with_statistics(rows: Rows, statistics: Statistics) -> Rows:
    """Encoded rows of X as trees read them, by the statistics of all training rows."""
    return add_columns(rows, [statistics[j].of_codes(rows[:, j]) for j in sorted(statistics)])


# -------------------------------------------------------------------------------------------------------- learning
class TargetLook(NamedTuple):
    """What some rows say of the target. Looks at the parts of a table are joined by `Targets.of`."""

    n_rows: int
    n_classes: int | None
    digits: Floats  # of exact sums: the weights of each class, or the weighted targets; then the weights
    low: Floats  # targets of numbers
    high: Floats
    largest_weight: float


def look_at_targets(target: Floats, weight: Floats, n_classes: int | None) -> TargetLook:
    """Look at the numbers to predict or, given how many there are, the classes 0, 1, ..."""
    if n_classes is None:
        terms = [target * weight]
        low, high = np.array([target.min(initial=np.inf)]), np.array([target.max(initial=-np.inf)])
    else:
        terms, low, high = [weight[target == k] for k in range(n_classes)], np.zeros(1), np.ones(1)
    digits = np.stack([_core.exact_sum(np.ascontiguousarray(each)) for each in (*terms, weight)])
    return TargetLook(len(target), n_classes, digits, low, high, float(weight.max(initial=0.0)))


@dataclass(frozen=True)
class Targets:
    """What all training rows say of the target, by which categories are judged."""

    classes: NDArray[np.int32] | None
    prior: Floats
    prior_weight: float
    grid: (
        Floats  # powers of two, for the weights and each statistic: sums of whole numbers do not depend on their order
    )

    @classmethod
    def of(cls, looks: Sequence[TargetLook]) -> Targets:
        """From looks at all parts of the rows."""
        sums = np.stack([look.digits for look in looks])
        *totals, weight = (_core.exact_total(np.ascontiguousarray(sums[:, k])) for k in range(sums.shape[1]))
        n_rows, n_classes = sum(look.n_rows for look in looks), looks[0].n_classes
        prior, classes = np.array(totals) / weight, None
        low, high = np.min([look.low for look in looks], axis=0), np.max([look.high for look in looks], axis=0)
        if n_classes is not None:
            classes = _chosen_classes(prior, n_classes)
            prior = prior[classes]
        largest = max(look.largest_weight for look in looks)
        apart = np.maximum(np.abs(high - prior), np.abs(low - prior)) * largest
        bits = 51 - int(np.ceil(np.log2(n_rows + 1)))
        exponent = np.frexp(np.concatenate([[largest], apart]))[1]
        # A row counts as `weight_of_a_row` of the core says.
        grid = np.ldexp(1.0, np.minimum(bits - exponent, 1000))
        return cls(classes, prior, PRIOR_ROWS * min(1.0, weight / n_rows), grid)

    def sums(
        self, target: Floats, weight: Floats, code: NDArray[np.float32], fold: NDArray[np.intp], n_categories: int
    ) -> Floats:
        """Weight and differences from the prior by fold and category: (1 + statistics, folds, categories).

        They are whole numbers, in units of the grid, and add up over parts of the rows.
        """
        told = target[:, None]
        if self.classes is not None:
            told = (told == self.classes).astype(np.float64)
        known = ~np.isnan(code)
        bins = fold[known] * n_categories + code[known].astype(np.intp)
        columns = np.column_stack([weight, (told - self.prior) * weight[:, None]])[known]
        found = [np.bincount(bins, each, N_FOLDS * n_categories) for each in np.rint(columns * self.grid).T]
        return np.stack(found).reshape(-1, N_FOLDS, n_categories).astype(np.float64, copy=False)

    def learn(self, sums: Floats) -> TargetStatistics:
        """The statistics of a column from the sums over all rows."""
        values = self._shrunk(sums.sum(axis=1))
        return TargetStatistics(np.ascontiguousarray(values.T), _to_float32(self.prior), self.classes)

    def out_of_fold(self, sums: Floats, code: NDArray[np.float32], fold: NDArray[np.intp]) -> Rows:
        """The statistics of each row's category from the rows of other folds: (rows, statistics)."""
        known = ~np.isnan(code)
        others = sums.sum(axis=1, keepdims=True) - sums
        out = np.full((len(code), len(self.prior)), np.nan, dtype=np.float32)
        out[known] = self._shrunk(others)[:, fold[known], code[known].astype(np.intp)].T
        return out

    def _shrunk(self, sums: Floats) -> NDArray[np.float32]:
        total = sums / self.grid.reshape(-1, *[1] * (sums.ndim - 1))
        prior = self.prior.reshape(-1, *[1] * (sums.ndim - 1))
        return _to_float32(prior + total[1:] / (total[0] + self.prior_weight))


def _chosen_classes(share: Floats, n_classes: int) -> NDArray[np.int32]:
    """The second of two classes; else all of them, or the most frequent."""
    if n_classes <= 2:
        return np.array([1], dtype=np.int32)
    return np.sort(np.argsort(-share, kind="stable")[:MAX_CLASSES]).astype(np.int32)


def _to_float32(values: Floats) -> NDArray[np.float32]:
    limit = float(np.finfo(np.float32).max)  # trees would take an infinity as beyond all numbers
    return np.clip(values, -limit, limit).astype(np.float32)


def columns_with_statistics(present: Mapping[int, int], most: Any) -> list[int]:
    """The categorical columns with more than so many categories among the training rows.

    `present` is the number of categories by column; `most` is "auto", a number or None.
    """
    limit = MAX_CATEGORIES_OF_SETS if most == "auto" else most
    return [] if limit is None else [j for j in sorted(present) if present[j] > limit]


def present_categories(rows: Rows, categories: Mapping[int, Any]) -> dict[int, NDArray[np.bool_]]:
    """By categorical column, which of its categories are there."""
    found = {}
    for j, names in categories.items():
        code = rows[:, j]
        found[j] = np.bincount(code[~np.isnan(code)].astype(np.intp), minlength=len(names)) > 0
    return found


def training_rows_with_statistics(
    rows: Rows, targets: Targets, sums: Mapping[int, Floats], seed: int, first: int = 0
) -> Rows:
    """Encoded training rows as trees read them: the row's own fold has no part in its statistics.

    `sums` are those of all rows, by column; `first` is the number of the first row.
    """
    fold = folds(len(rows), seed, first)
    return add_columns(rows, [targets.out_of_fold(sums[j], rows[:, j], fold) for j in sorted(sums)])


def folds(n_rows: int, seed: int, first: int = 0) -> NDArray[np.intp]:
    """The fold of each row, by a hash of the seed and its number: no stream that data may have been drawn from."""
    start = _mixed(np.array([seed], dtype=np.uint64) ^ _OWN_STREAM)
    number: NDArray[np.uint64] = np.arange(first, first + n_rows, dtype=np.uint64)
    noise = _mixed(_mixed(start + number))
    return ((noise >> np.uint64(32)) * np.uint64(N_FOLDS) >> np.uint64(32)).astype(np.intp)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output of splitmix64; overflow is meant."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
