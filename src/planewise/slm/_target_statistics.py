"""Target statistics: beside a column of many categories, the mean target or share of a class of each category.

In the rows that trees read, the statistics of all such columns follow after the columns of X. The categories stay where
they are and are split into sets as well: sets are fitted to what other columns leave unexplained. With statistics
alone, the error on `fuel_economy` (3,198 car models) is 12 % larger than with sets alone, with both 1 %. On 2,000
categories with 15 rows each and a noisy target, sets reach an AUC of 0.684, statistics 0.767, both 0.766.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise._mapped import add_columns
from planewise.words import counted, one_line

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
        The weighted mean of each target, or the weighted share of a class, in the training rows of each category,
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
            count = self.n_statistics
            return ["mean of target"] if count == 1 else [f"mean of target {k}" for k in range(count)]
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
class Targets:
    """Targets of training rows, ready to be averaged by category."""

    def __init__(self, target: Floats, weight: Floats, n_classes: int | None) -> None:
        """The numbers to predict, one or several per row, or (given their number) the classes 0, 1, ..."""
        self.classes = None if n_classes is None else _chosen_classes(target, weight, n_classes)
        told = target.reshape(len(target), -1)
        if self.classes is not None:
            told = (told == self.classes).astype(np.float64)
        self.weight = weight
        self.prior: Floats = np.average(told, axis=0, weights=weight)
        self.prior_weight = PRIOR_ROWS * min(1.0, float(weight.mean()))  # in rows, as `weight_of_a_row` of the core
        self._apart = (told - self.prior) * weight[:, None]

    def learn(self, code: NDArray[np.float32], n_categories: int) -> TargetStatistics:
        """The statistics of a column from all rows."""
        known = ~np.isnan(code)
        total = self._sums(known, code[known].astype(np.intp), n_categories)
        return TargetStatistics(np.ascontiguousarray(self._shrunk(total).T), _to_float32(self.prior), self.classes)

    def out_of_fold(self, code: NDArray[np.float32], n_categories: int, fold: NDArray[np.intp]) -> Rows:
        """The statistics of each row's category from the rows of other folds: (rows, statistics)."""
        known = ~np.isnan(code)
        fold, place = fold[known], code[known].astype(np.intp)
        by_fold = self._sums(known, fold * n_categories + place, N_FOLDS * n_categories)
        by_fold = by_fold.reshape(-1, N_FOLDS, n_categories)
        # Added, not subtracted from the total: what no other fold has seen must be the prior to the last bit.
        others = np.stack([np.delete(by_fold, k, axis=1).sum(axis=1) for k in range(N_FOLDS)], axis=1)
        out = np.full((len(code), len(self.prior)), np.nan, dtype=np.float32)
        out[known] = self._shrunk(others)[:, fold, place].T
        return out

    def _sums(self, known: NDArray[np.bool_], bins: NDArray[np.intp], n_bins: int) -> Floats:
        """Weight and differences from the prior, added up by bin in the order of the rows."""
        columns = [self.weight, *self._apart.T]
        return np.stack([np.bincount(bins, weights=each[known], minlength=n_bins) for each in columns])

    def _shrunk(self, total: Floats) -> NDArray[np.float32]:
        prior = self.prior.reshape(-1, *[1] * (total.ndim - 1))
        return _to_float32(prior + total[1:] / (total[0] + self.prior_weight))


def _chosen_classes(label: Floats, weight: Floats, n_classes: int) -> NDArray[np.int32]:
    """The second of two classes; else all of them, or the most frequent."""
    if n_classes <= 2:
        return np.array([1], dtype=np.int32)
    share = np.bincount(label.astype(np.intp), weights=weight, minlength=n_classes)
    return np.sort(np.argsort(-share, kind="stable")[:MAX_CLASSES]).astype(np.int32)


def _to_float32(values: Floats) -> NDArray[np.float32]:
    limit = float(np.finfo(np.float32).max)  # trees would take an infinity as beyond all numbers
    return np.clip(values, -limit, limit).astype(np.float32)


def columns_with_statistics(rows: Rows, categories: Mapping[int, Any], most: Any) -> list[int]:
    """The categorical columns with more than so many categories in these rows; `most` is "auto", a number or None."""
    limit = statistics_limit(most)
    if limit is None:
        return []
    return [j for j in sorted(categories) if len(categories[j]) > limit and _n_present(rows[:, j]) > limit]


def statistics_limit(most: Any) -> int | None:
    """Columns with more categories have target statistics; `most` is "auto", a number or None."""
    return MAX_CATEGORIES_OF_SETS if most == "auto" else most


def _n_present(code: NDArray[np.float32]) -> int:
    return int(np.count_nonzero(np.bincount(code[~np.isnan(code)].astype(np.intp))))


def training_rows_with_statistics(rows: Rows, targets: Targets, statistics: Statistics, seed: int) -> Rows:
    """Encoded training rows as trees read them: the row's own fold has no part in its statistics."""
    fold = folds(len(rows), seed)
    further = [targets.out_of_fold(rows[:, j], len(statistics[j].values), fold) for j in sorted(statistics)]
    return add_columns(rows, further)


def folds(n_rows: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row, by a hash of the seed and its number: no stream that data may have been drawn from."""
    start = _mixed(np.array([seed], dtype=np.uint64) ^ _OWN_STREAM)
    number: NDArray[np.uint64] = np.arange(n_rows, dtype=np.uint64)
    noise = _mixed(_mixed(start + number))
    return ((noise >> np.uint64(32)) * np.uint64(N_FOLDS) >> np.uint64(32)).astype(np.intp)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output of splitmix64; overflow is meant."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
