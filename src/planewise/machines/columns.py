"""Columns with missing values and categories, as the numbers that a kernel compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._text import feature_names
from planewise.data.problem import precise_rows, values_as_given
from planewise.data.scaling import (
    MEASURED_BY,
    TAIL_FACTOR,
    Scaling,
    ScalingToFloat32,
    find_scaling,
    no_scaling,
    robust_scaling,
)
from planewise.data.values import Columns, indicator, kinds_of

Rows = NDArray[Any]  # in the columns of X: NaN where missing, categories by their places in ``categories_``
Vector = NDArray[np.float64]

NUMBER, MISSING = -1, -2  # what a prepared column holds, if it does not stand for a category
MOST_LEVELS = 50  # categories of a column that have a prepared column of their own
# A column of 0 and 1 is scaled by half the distance of its values, however rare the 1 is. Two categories differ in two
# such columns: with this spread they are as far apart as the two values of one.
INDICATOR_SPREAD, LEVEL_SPREAD = 0.5, float(np.sqrt(0.5))
OTHER_CATEGORY = "another category"


@dataclass(frozen=True)
class Preparation:
    """Which numbers a kernel gets for a row.

    A number is itself, the median if it is missing, and has one more column, 1 where it is missing, if it was missing
    in ``fit``. A category has one column of 0 and 1 for each of its most frequent levels, and one for missing values if
    there were some. A column of X without any value has none.
    """

    n_features: int
    source: NDArray[np.int64]  # by prepared column: the column of X it is made of
    level: NDArray[np.int64]  # by prepared column: the category that makes it 1, or NUMBER or MISSING
    fill: Vector  # by prepared column: the number in place of a missing one; NaN: not known

    @classmethod
    def of_numbers(cls, n_features: int, fill: Vector | None = None) -> Preparation:
        """Columns as they are."""
        unknown = np.full(n_features, np.nan)
        return cls(n_features, np.arange(n_features), np.full(n_features, NUMBER), unknown if fill is None else fill)

    # What follows from these, and is asked for every block of rows.
    is_plain: bool = field(init=False)  # whether every column of X is one number
    numbers: NDArray[np.intp] = field(init=False)  # the prepared columns that hold numbers of X

    def __post_init__(self) -> None:
        numbers = np.flatnonzero(self.level == NUMBER)
        is_plain = len(numbers) == len(self.source) == self.n_features
        known = {"is_plain": is_plain, "numbers": numbers}
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def __call__(self, X: Rows) -> Rows:
        """Prepared rows, in the type of X; X itself where nothing is to be done."""
        if self.is_plain:
            return self._filled(X, self.fill)
        values = X.take(self.source, axis=1)
        gaps = np.isnan(values)
        known = np.where(self.level == NUMBER, self._filled(values, self.fill), values == self.level)
        return np.where(self.level == MISSING, gaps, known).astype(X.dtype, copy=False)

    def numbers_of(self, X: Rows) -> Rows:
        """Only the columns that hold numbers."""
        if self.is_plain:
            return self._filled(X, self.fill)
        return self._filled(X.take(self.source[self.numbers], axis=1), self.fill[self.numbers])

    def _filled(self, values: Rows, fill: Vector) -> Rows:
        with np.errstate(invalid="ignore", over="ignore"):
            if not np.isnan(np.add.reduce(values, axis=None)):  # one pass finds most tables complete
                return values
        return np.where(np.isnan(values), fill.astype(values.dtype), values)

    def shares(self, X: Rows, weight: Vector) -> Vector:
        """The mean of each prepared column that does not hold numbers; 0 for the others."""
        share, total = np.zeros(len(self.source)), weight.sum()
        for at in np.flatnonzero(self.level != NUMBER):
            column = X[:, self.source[at]]
            is_one = np.isnan(column) if self.level[at] == MISSING else column == self.level[at]
            share[at] = weight[is_one].sum() / total
        return share

    @property
    def gappy(self) -> NDArray[np.bool_]:
        """By prepared column: whether it holds numbers of which some were missing in ``fit``."""
        return (self.level == NUMBER) & np.isin(self.source, self.source[self.level == MISSING])

    def with_medians_of_gappy(self, X: Rows, weight: Vector) -> Preparation:
        """With the medians of these rows where values are missing; a column without any keeps the number it had."""
        if self.is_plain:
            return self
        fill = self.fill.copy()
        for at in np.flatnonzero(self.gappy):
            column = X[:, self.source[at]]
            known = ~np.isnan(column)
            if known.any():
                fill[at] = _medians(column[known, None], weight[known])[0]
        return replace(self, fill=fill)

    def with_medians_of_complete(self, X: Rows, weight: Vector) -> Preparation:
        """With the medians of these rows where none are missing, for rows to come."""
        places = np.flatnonzero((self.level == NUMBER) & ~self.gappy)
        fill = self.fill.copy()
        fill[places] = _medians(X if self.is_plain else X[:, self.source[places]], weight)
        return replace(self, fill=fill)

    def names(self, of_columns: list[str], categories: Mapping[int, NDArray[Any]]) -> list[str]:
        """Such as "age", "age is missing" and "town=Ulm"."""

        def name(source: int, level: int) -> str:
            if level == NUMBER:
                return of_columns[source]
            if level == MISSING:
                return f"{of_columns[source]} is missing"
            return f"{of_columns[source]}={categories[source][level]}"

        return [name(*each) for each in zip(self.source.tolist(), self.level.tolist(), strict=True)]

    def terms(self, columns: Columns) -> tuple[list[str], Vector]:
        """What the weights of a sum are multiplied by, in words, and what was subtracted from each prepared column.

        Such as "age", "(age is missing)", "(town is Ulm)" and "(days from 2024-03-09 to admitted)".
        """
        words, starts = [], np.zeros(len(self.source))
        for at, (source, level) in enumerate(zip(self.source.tolist(), self.level.tolist(), strict=True)):
            name, kind = columns.names[source], columns.kinds.get(source)
            if level == MISSING:
                words.append(indicator(name, "missing"))
            elif level != NUMBER:
                words.append(indicator(name, columns.categories[source][level]))
            else:
                words.append(name if kind is None else kind.term(name))
                starts[at] = 0.0 if kind is None else kind.offset
        return words, starts

    def by_column(self, values: Vector) -> Vector:
        """One number per prepared column, added up by column of X."""
        if self.is_plain:
            return values
        out = np.zeros(self.n_features)
        np.add.at(out, self.source, values)  # unlike np.bincount, never writes outside for a column of 2**63 - 1
        return out

    def nearest(self, prepared: Rows, n_levels: Mapping[int, int]) -> Rows:
        """The row of X nearest to each prepared row, which may lie between the values that rows of X can have."""
        out = np.full((len(prepared), self.n_features), np.nan, prepared.dtype)
        out[:, self.source[self.numbers]] = prepared[:, self.numbers]
        for j, count in n_levels.items():
            places = np.flatnonzero((self.source == j) & (self.level >= 0))
            if len(places):
                best = prepared[:, places].argmax(axis=1)
                reached = prepared[np.arange(len(prepared)), places[best]] > 0.5
                out[:, j] = np.where(reached, self.level[places[best]], count)
        for at in np.flatnonzero(self.level == MISSING):
            out[prepared[:, at] > 0.5, self.source[at]] = np.nan
        return out


def find_preparation(X: Rows, weight: Vector, n_levels: Mapping[int, int]) -> Preparation:
    """Of the rows that count; `n_levels` says how many categories each categorical column has. Medians come later."""
    with np.errstate(invalid="ignore", over="ignore"):
        complete = not np.isnan(np.add.reduce(X, axis=None))
    if complete and not n_levels:
        return Preparation.of_numbers(X.shape[1])
    gaps = np.asarray(np.isnan(X))
    some, every = np.asarray(gaps.any(axis=0)), np.asarray(gaps.all(axis=0))
    made: list[tuple[int, int]] = []
    for j in np.flatnonzero(~every).tolist():
        levels = [NUMBER]
        if j in n_levels:
            known = ~gaps[:, j]
            total = np.bincount(X[known, j].astype(np.intp), weights=weight[known], minlength=n_levels[j])
            frequent = np.argsort(-total[: n_levels[j]], kind="stable")[:MOST_LEVELS]
            levels = sorted(int(level) for level in frequent if total[level] > 0)
        made += [(j, level) for level in [*levels, *([MISSING] if some[j] else [])]]
    if not made:
        raise ValueError("Every value of X is missing in the rows that count; give the machine a column with values.")
    source, level = np.array(made, dtype=np.int64).T
    return Preparation(X.shape[1], source, level, np.where(level == NUMBER, np.nan, 0.0))


def _medians(X: Rows, weight: Vector) -> Vector:
    """By column, so that a weight of two is the row twice: the mean of the two middle values if there are two."""
    if X.shape[1] == 0:
        return np.zeros(0)
    if weight.min() == weight.max():
        return np.median(X, axis=0).astype(np.float64)
    order = np.argsort(X, axis=0, kind="stable")
    reached = np.cumsum(weight[order], axis=0)
    half = reached[-1] / 2
    low, high = (reached < half).sum(axis=0), (reached <= half).sum(axis=0)
    columns = np.arange(X.shape[1])
    last = len(X) - 1
    ends = [X[order[np.minimum(place, last), columns], columns].astype(np.float64) for place in (low, high)]
    return ends[0] / 2 + ends[1] / 2


@dataclass(frozen=True)
class PreparedScaling:
    """From rows in the user's columns to what a kernel takes: prepared, then scaled."""

    preparation: Preparation
    scaling: Scaling  # of the prepared columns

    @property
    def mean(self) -> Any:
        """Of the prepared columns, as is the rest."""
        return self.scaling.mean

    @property
    def spread(self) -> Any:
        return self.scaling.spread

    @property
    def tails(self) -> Scaling | None:
        return self.scaling.tails

    def __call__(self, X: Rows) -> Any:
        """Scaled rows."""
        return self.scaling(self.preparation(X))

    def inverse(self, Z: Rows, n_levels: Mapping[int, int]) -> Any:
        """Rows in the user's columns; where scaled rows lie between categories, the nearest one."""
        prepared = self.scaling.inverse(Z)
        return prepared if self.preparation.is_plain else self.preparation.nearest(prepared, n_levels)


def find_prepared_scaling(
    X: Rows,
    weight: Vector,
    wanted: str | None,
    preparation: Preparation,
    *,
    complete: bool = True,
    to_float32: bool = False,
) -> PreparedScaling:
    """How these rows, which count, become what a kernel takes; `wanted` is the parameter ``scaling``.

    `complete`: whether to know medians of columns without missing values too, for rows to come. `to_float32` is for
    machines of many rows: medians of columns without missing values are those of evenly spread rows.
    """
    prepared = preparation.with_medians_of_gappy(X, weight)
    if complete:
        step = -(-len(X) // MEASURED_BY) if to_float32 else 1
        prepared = prepared.with_medians_of_complete(X[::step], weight[::step])
    numbers = prepared.numbers_of(X)
    scaling = (
        _scale_to_float32(prepared, numbers, weight, wanted) if to_float32 else find_scaling(numbers, weight, wanted)
    )
    if not prepared.is_plain:
        scaling = _with_made_columns(scaling, prepared, prepared.shares(X, weight), wanted)
    return PreparedScaling(prepared, scaling)


def _scale_to_float32(preparation: Preparation, numbers: Rows, weight: Vector, wanted: str | None) -> Scaling:
    """Of columns of numbers; by column, so that only one of them is held in float64."""
    if wanted is None:
        return no_scaling(numbers.shape[1], numbers.dtype)
    if wanted == "robust":
        return robust_scaling(numbers, weight, preparation.source[preparation.numbers].tolist())
    found = [find_scaling(numbers[:, [j]].astype(np.float64), weight, wanted) for j in range(numbers.shape[1])]
    joined = _joined(found, numbers.dtype)
    tails = [each.tails for each in found if each.tails is not None]
    if tails:
        joined = replace(joined, tails=_joined(tails, numbers.dtype))
    return ScalingToFloat32(joined.mean, joined.spread, joined.tails) if numbers.dtype == np.float64 else joined


def _joined(parts: list[Scaling], dtype: Any) -> Scaling:
    """The scaling of the columns of all parts."""
    mean = np.concatenate([np.zeros(0), *(part.mean for part in parts)])
    spread = np.concatenate([np.zeros(0), *(part.spread for part in parts)])
    return Scaling(mean.astype(dtype), spread.astype(dtype))


def _with_made_columns(numbers: Scaling, preparation: Preparation, share: Vector, wanted: str | None) -> Scaling:
    """The scaling of all prepared columns, from that of numbers."""
    made = preparation.level != NUMBER
    of_category = np.isin(preparation.source, preparation.source[preparation.level >= 0])
    mean = np.where(made & (wanted is not None), share, 0.0)
    spread = np.where(of_category, LEVEL_SPREAD, INDICATOR_SPREAD) if wanted is not None else np.ones(len(share))
    tails = None
    if numbers.tails is not None:
        # A line through two points: 0 and 1 are what they were before arcsinh.
        z, z_one = (-mean / spread, (1 - mean) / spread)
        low, high = np.arcsinh(TAIL_FACTOR * z), np.arcsinh(TAIL_FACTOR * z_one)
        tail_spread = (high - low) / (z_one - z)
        tails = Scaling(
            _placed(low - z * tail_spread, numbers.tails.mean, preparation),
            _placed(tail_spread, numbers.tails.spread, preparation),
        )
    return replace(
        numbers,
        mean=_placed(mean, numbers.mean, preparation),
        spread=_placed(spread, numbers.spread, preparation),
        tails=tails,
    )


def _placed(of_made: Vector, of_numbers: Rows, preparation: Preparation) -> Rows:
    out = of_made.astype(of_numbers.dtype)
    out[preparation.numbers] = of_numbers
    return out


# ------------------------------------------------------------------------------------------------------- estimators
def machine_rows(machine: Any, X: Any, *, reset: bool = True) -> NDArray[np.float64]:
    """X as an exact machine takes it: values as given, or a kernel matrix without missing values."""
    if machine.kernel != "precomputed":
        return values_as_given(machine, X, reset=reset)
    if reset:
        _refuse_categories_of_matrix(machine)
        machine.categories_ = {}
    return precise_rows(machine, X, reset=reset)


def _refuse_categories_of_matrix(machine: Any) -> None:
    given = np.asarray([] if machine.categorical_features is None else machine.categorical_features)
    if given.ndim == 1 and (given.any() if given.dtype.kind == "b" else given.size):
        raise ValueError(
            "categorical_features needs the columns of a table, but with kernel='precomputed' X holds kernel values; "
            "leave it out."
        )


def level_counts(machine: Any) -> dict[int, int]:
    """Return the number of categories of each categorical column of a fitted machine."""
    return {j: len(known) for j, known in getattr(machine, "categories_", {}).items()}


ScalingOfRows = Callable[[Rows, Vector], PreparedScaling]


def scaling_of_folds(machine: Any, X: Rows, weight: Vector, wanted: str | None) -> ScalingOfRows:
    """What finds the scaling of some rows of X: which columns there are is known from all of X, their medians are not.

    Columns that have no missing values in X need no medians.
    """
    preparation = find_preparation(X, weight, level_counts(machine)).with_medians_of_gappy(X, weight)
    return lambda rows, weights: find_prepared_scaling(rows, weights, wanted, preparation, complete=False)


def scaling_of_machine(machine: Any, X: Rows, weight: Vector, wanted: str | None) -> PreparedScaling:
    """Of the rows of X that count; for a kernel matrix, which has no columns to scale, a scaling that does nothing."""
    if machine.kernel == "precomputed":
        return PreparedScaling(Preparation.of_numbers(X.shape[1]), find_scaling(X, weight, None))
    return find_prepared_scaling(X, weight, wanted, find_preparation(X, weight, level_counts(machine)))


def scaling_to_float32(machine: Any, X: Rows, weight: Vector, wanted: str | None) -> PreparedScaling:
    """The same for machines that compute in float32."""
    preparation = find_preparation(X, weight, level_counts(machine))
    return find_prepared_scaling(X, weight, wanted, preparation, to_float32=True)


class PreparesColumns:
    """A mixin for machines that fill missing values and encode categories themselves."""

    _scaling: Any
    categories_: dict[int, NDArray[Any]]
    n_features_in_: int

    @property
    def prepared_feature_names_(self) -> NDArray[Any]:
        """Names of the columns that the kernel compares: of X, of missing values ("age is missing"), of categories."""
        check_is_fitted(self)
        names = self._scaling.preparation.names(feature_names(self), getattr(self, "categories_", {}))
        return np.array(names, dtype=object)


def shown_values(machine: Any, rows: Rows) -> list[list[Any]]:
    """Rows in the user's columns as people read them: categories by their names, dates, None where missing."""
    columns: list[list[Any]] = []
    known, kinds = getattr(machine, "categories_", {}), kinds_of(machine)
    for j in range(rows.shape[1]):
        values = rows[:, j].astype(np.float64).tolist()
        if j in known:
            words = [*known[j].tolist(), OTHER_CATEGORY]
            columns.append([None if each != each else words[min(int(each), len(words) - 1)] for each in values])
        else:
            kind = kinds.get(j)
            columns.append([None if each != each else each if kind is None else kind.value(each) for each in values])
    return [list(row) for row in zip(*columns, strict=True)]
