"""What the parts of a table tell of its columns, each on its own, and what follows for the table as a whole.

A table in parts is read as if it were in one piece: the same categories, origins and float32 bytes. Each part gives a
small `PartSurvey`; all of them joined are the `Survey` by which every part is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _get_feature_names

from planewise.data.categories import Categories, learn_categories
from planewise.data.float32 import Origins, Spread, fill, origin_of, spreads
from planewise.data.frames import block, coded, column_at, numbers_in, plain_columns, what_it_holds, what_to_do
from planewise.data.problem import (
    array_column,
    categorical_in_array,
    categorical_in_frame,
    holds_words,
    is_table,
    numbers_of,
    prediction_rows,
    without_words,
)
from planewise.data.tables import n_rows

FloatArray = NDArray[np.float32]

LARGEST_EXACT = 2**53  # up to here, float64 holds every whole number


# ----------------------------------------------------------------------------------------------------------- one part
@dataclass(frozen=True, eq=False)
class ColumnSurvey:
    """What some rows tell of one column.

    Attributes
    ----------
    kind : {"missing", "numbers", "categories", "other"}
        What the column holds; "missing" if nothing.
    part : str
        The first part in which it holds that.
    dtype : numpy.dtype
        The type in which its values are read.
    holds : str
        The same in words, with an example.
    categories : array or None
        The values of a categorical column, sorted.
    whole, floats : Spread or None
        Of numbers: as whole numbers, if all of them are, and as float64.
    is_categorical : bool
        Whether the column's type or its name says that it is categorical.
    advice : str
        What to do with a column that is neither numbers nor categories.
    """

    kind: str
    part: str
    dtype: np.dtype[Any]
    holds: str = "numbers"
    categories: NDArray[Any] | None = None
    whole: Spread | None = None
    floats: Spread | None = None
    is_categorical: bool = False
    advice: str = ""

    def joined(self, other: ColumnSurvey, name: Any) -> ColumnSurvey:
        """The same of the rows of both; ValueError if they disagree."""
        first, second = (other, self) if self.kind == "missing" else (self, other)
        dtype = np.result_type(self.dtype, other.dtype)
        if second.kind == "missing":
            is_categorical = first.is_categorical and (first.kind != "missing" or second.is_categorical)
            return replace(
                first, dtype=dtype, whole=first.whole if dtype.kind in "biu" else None, is_categorical=is_categorical
            )
        if first.kind != second.kind or _is_text(first) != _is_text(second):
            raise ValueError(
                f"Column {name!r} holds {first.holds} in {first.part}, but {second.holds} in {second.part}; give it "
                "the same type everywhere."
            )
        if first.kind == "categories":
            return replace(first, dtype=dtype, categories=_united(first, second, dtype, str(name)))
        return replace(
            first, dtype=dtype, whole=_both(first.whole, second.whole), floats=_both(first.floats, second.floats)
        )

    def origin(self) -> float | None:
        """The number to subtract from the column before it becomes float32."""
        spread = self.whole if self.dtype.kind in "iu" and self.whole is not None else self.floats
        return None if self.kind != "numbers" or spread is None else origin_of(spread)


def _is_text(column: ColumnSurvey) -> bool:
    return column.categories is not None and isinstance(column.categories.tolist()[0], str)


def _united(first: ColumnSurvey, second: ColumnSurvey, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    ours, theirs = (each.categories.astype(dtype) for each in (first, second) if each.categories is not None)
    return ours if np.array_equal(ours, theirs) else learn_categories(np.concatenate([ours, theirs]), name)


def _both(first: Spread | None, second: Spread | None) -> Spread | None:
    return None if first is None or second is None else first.joined(second)


@dataclass(frozen=True, eq=False)
class PartSurvey:
    """What one part of a table, or several, tell of its columns; small, and can be pickled.

    Attributes
    ----------
    part : str
        What errors call the part, such as "partition 3".
    n_rows : int
        Number of rows.
    labels : list or None
        The names of the columns; None for an array.
    names : array of str or None
        The same as scikit-learn's ``feature_names_in_``: None unless they are strings.
    columns : list of ColumnSurvey
        What each column holds; empty if there are no rows.
    """

    part: str
    n_rows: int
    labels: list[Any] | None = None
    names: NDArray[Any] | None = None
    columns: tuple[ColumnSurvey, ...] = ()

    def joined(self, other: PartSurvey) -> PartSurvey:
        """The same of the rows of both; ValueError, naming part and column, if they disagree."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        self._require_same_columns(other)
        pairs = zip(self.columns, other.columns, strict=True)
        columns = tuple(ours.joined(theirs, self.name_of(j)) for j, (ours, theirs) in enumerate(pairs))
        return replace(self, n_rows=self.n_rows + other.n_rows, columns=columns)

    def name_of(self, place: int) -> Any:
        """What errors call a column."""
        return place if self.labels is None else self.labels[place]

    def _require_same_columns(self, other: PartSurvey) -> None:
        ours, theirs = self.labels, other.labels
        if ours == theirs and len(self.columns) == len(other.columns):
            return
        here, there = self.part, _as_start(other.part)
        if ours is None and theirs is None:
            raise ValueError(f"{there} has {len(other.columns)} columns, but {here} has {len(self.columns)}.")
        if ours is None or theirs is None:
            named, plain = (other.part, self.part) if ours is None else (self.part, other.part)
            raise ValueError(f"The columns of {named} have names, but those of {plain} have none.")
        lacking, further = [each for each in ours if each not in theirs], [each for each in theirs if each not in ours]
        if lacking:
            raise ValueError(f"{there} has no column {lacking[0]!r}, which {here} has.")
        if further:
            raise ValueError(f"{there} has a column {further[0]!r}, which {here} does not have.")
        place = next(j for j, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1])
        raise ValueError(
            f"{there} has its columns in a different order than {here}: column {place} is {theirs[place]!r} "
            f"instead of {ours[place]!r}."
        )


def _as_start(part: str) -> str:
    return part[:1].upper() + part[1:]


@contextmanager
def naming(part: str) -> Iterator[None]:
    """Let errors begin with the part that they are about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise type(error)(f"{_as_start(part)}: {error}") from error


class TableReader(BaseEstimator):
    """What reads tables in place of an estimator that is fitted later."""

    def __init__(self, categorical_features: Any = None) -> None:
        self.categorical_features = categorical_features


def survey_part(
    rows: Any, categorical_features: Any, part: str, *, counts: NDArray[np.bool_] | None = None
) -> PartSurvey:
    """What one part of a table tells of its columns.

    Parameters
    ----------
    rows : data frame (pandas, polars, Arrow) or array
        The part.
    categorical_features
        As in the estimators.
    part : str
        What errors call it, such as "partition 3".
    counts : bool array, default=None
        The rows that count, that is, have a weight above zero; others do not matter to origins.

    Returns
    -------
    survey : PartSurvey
    """
    length = n_rows(rows)
    if not length:
        return PartSurvey(part, 0)
    with naming(part):
        reader = TableReader(categorical_features)
        if not is_table(rows):
            return PartSurvey(part, length, columns=tuple(_array_columns(reader, rows, part, counts)))
        frame = nw.from_native(rows, eager_only=True)
        names, found = _get_feature_names(rows), _frame_columns(reader, frame, part, counts)
        return PartSurvey(part, length, list(frame.columns), names, tuple(found[j] for j in range(frame.shape[1])))


def _array_columns(
    reader: TableReader, rows: Any, part: str, counts: NDArray[np.bool_] | None
) -> Iterator[ColumnSurvey]:
    numbers = numbers_of(reader, without_words(reader, rows, True), True, np.float32)
    chosen = set(categorical_in_array(reader, numbers.shape[1], True))
    others = _number_columns(numbers, part, counts)
    for j, column in enumerate(others):
        if j in chosen:
            values = rows[:, j] if holds_words(rows, j) else array_column(numbers, j)
            column = _category_column(values, str(j), part)
        yield column


def _frame_columns(
    reader: TableReader, frame: nw.DataFrame[Any], part: str, counts: NDArray[np.bool_] | None
) -> dict[int, ColumnSurvey]:
    plain = plain_columns(frame)
    chosen = categorical_in_frame(reader, frame, plain)
    names = frame.columns
    found = {j: _category_column(coded(column_at(frame, j)).distinct, str(names[j]), part) for j in chosen}
    for places in plain.values():
        wanted = [j for j in places if j not in found]
        if wanted:
            found |= dict(zip(wanted, _number_columns(block(frame, wanted), part, counts), strict=True))
    for j in range(frame.shape[1]):
        if j not in found:
            found[j] = _other_column(column_at(frame, j), part, counts)
    return found


def _category_column(values: NDArray[Any], name: str, part: str) -> ColumnSurvey:
    known = learn_categories(values, name)
    if not len(known):
        return ColumnSurvey("missing", part, np.dtype(np.float64), is_categorical=True)
    holds = f"categories such as {known.tolist()[0]!r}"
    return ColumnSurvey("categories", part, values.dtype, holds, categories=known, is_categorical=True)


def _number_columns(values: Any, part: str, counts: NDArray[np.bool_] | None) -> list[ColumnSurvey]:
    """Columns of an array or a CSR table of one number type."""
    found = spreads(values, counts)
    if values.dtype.kind == "f":
        return [
            ColumnSurvey("numbers" if _has_values(spread, values, j) else "missing", part, values.dtype, floats=spread)
            for j, spread in enumerate(found)
        ]
    floats = [spread.as_floats() for spread in found]
    large = [j for j, spread in enumerate(found) if spread.low is not None and is_inexact(spread)]
    for j in large:
        floats[j] = spreads(array_column(values, j).astype(np.float64)[:, None], counts)[0]
    both = zip(found, floats, strict=True)
    return [ColumnSurvey("numbers", part, values.dtype, whole=whole, floats=real) for whole, real in both]


def _has_values(spread: Spread, values: Any, j: int) -> bool:
    return spread.low is not None or not np.isnan(array_column(values, j)).all()


def is_inexact(spread: Spread) -> bool:
    """Whether there are whole numbers that float64 may not hold."""
    return bool(max(abs(spread.low), abs(spread.high)) > LARGEST_EXACT)


def _other_column(column: nw.Series[Any], part: str, counts: NDArray[np.bool_] | None) -> ColumnSurvey:
    """A column that is not plain numbers: with missing values, of objects, or of what no tree can read."""
    is_categorical = column.dtype in (nw.Categorical, nw.Enum)
    values = numbers_in(column, np.float64)
    if values is None:
        advice = what_to_do(column.dtype, "a planewise tree", takes_categories=True)
        return ColumnSurvey("other", part, np.dtype(np.float64), what_it_holds(column), advice=advice)
    return replace(_number_columns(values[:, None], part, counts)[0], is_categorical=is_categorical)


# ------------------------------------------------------------------------------------------------------ the whole table
@dataclass(frozen=True, eq=False)
class Survey:
    """What the parts together tell of the columns of a table: all that is needed to read any of its rows.

    Origins and categories are those of the table in one piece; no part has to be looked at a second time.

    Attributes
    ----------
    n_rows : int
        Number of rows of all parts.
    labels : list or None
        The names of the columns; None for arrays.
    names : array of str or None
        The same as scikit-learn's ``feature_names_in_``: None unless they are strings.
    dtypes : list of numpy.dtype
        The type that each column has in the table in one piece.
    categories : dict from column to array
        The values of categorical columns, sorted: ``categories_`` of the estimators.
    origins : dict from column to float
        What is subtracted from columns that float32 cannot resolve: ``feature_origins_`` of the estimators.
    """

    n_rows: int
    labels: list[Any] | None
    names: NDArray[Any] | None
    dtypes: list[np.dtype[Any]]
    categories: Categories
    origins: Origins

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.dtypes)

    def reader(self) -> TableReader:
        """What reads parts as an estimator would that was fitted on the table."""
        reader = TableReader()
        learn_columns(reader, self)
        return reader


def join_surveys(parts: Iterable[PartSurvey]) -> Survey:
    """What the parts of a table together tell of its columns.

    Parts without rows agree with any others, and so does a column without values. Whole numbers, floats and booleans
    agree with each other. Categories may differ; those of all parts are united.

    Parameters
    ----------
    parts : iterable of PartSurvey
        From `survey_part`.

    Returns
    -------
    survey : Survey

    Raises
    ------
    ValueError
        If parts disagree in their columns, the order of these or what they hold, if a column cannot be read, or if
        there are no rows. The message names the part and the column.
    """
    return survey_of(reduce(PartSurvey.joined, parts, PartSurvey("", 0)))


def survey_of(part: PartSurvey) -> Survey:
    """The survey of a table of which this is all."""
    if not part.n_rows or not part.columns:
        what = "sample(s)" if not part.n_rows else "feature(s)"
        raise ValueError(f"Found a table with 0 {what} while a minimum of 1 is required.")
    for j, column in enumerate(part.columns):
        if column.kind == "other":
            raise ValueError(
                f"Column {part.name_of(j)!r} holds {column.holds} in {column.part}; {column.advice}, or leave it out."
            )
    found = {j: column.origin() for j, column in enumerate(part.columns)}
    return Survey(
        part.n_rows,
        part.labels,
        part.names,
        [column.dtype for column in part.columns],
        {j: _categories_of(c, part.labels is None) for j, c in enumerate(part.columns) if c.is_categorical},
        {j: origin for j, origin in found.items() if origin is not None},
    )


def _categories_of(column: ColumnSurvey, in_array: bool) -> NDArray[Any]:
    """The categories; of arrays of numbers as float32, if that keeps them apart."""
    known = np.empty(0, column.dtype) if column.categories is None else column.categories
    if not in_array or known.dtype.kind == "O":
        return known
    with np.errstate(over="ignore"):
        rounded = np.unique(known.astype(np.float32))
    return rounded if len(rounded) == len(known) else known


def learn_columns(estimator: Any, survey: Survey) -> None:
    """Set what ``fit`` learns of columns: ``n_features_in_``, names, categories and origins."""
    estimator.n_features_in_ = survey.n_columns
    if survey.names is not None:
        estimator.feature_names_in_ = survey.names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.categories_ = dict(survey.categories)
    estimator.feature_origins_ = dict(survey.origins)


def read_part(part: Any, survey: Survey) -> FloatArray:
    """One part as float32 rows (C order): the bytes that its rows have when the table is read in one piece.

    Parameters
    ----------
    part : data frame or array
        Any rows of the table.
    survey : Survey
        Of all parts.
    """
    if not n_rows(part):
        return np.empty((0, survey.n_columns), dtype=np.float32)
    rows = prediction_rows(survey.reader(), part)
    for j, values in _long_numbers(part):
        if j not in survey.categories and survey.dtypes[j].kind == "f":  # rounded twice, as in one piece
            origins = {0: survey.origins[j]} if j in survey.origins else {}
            fill(rows, [j], values.astype(survey.dtypes[j])[:, None], origins)
    return rows


def _long_numbers(part: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """The columns of 64-bit whole numbers, of which float64 does not hold every one."""
    if is_table(part):
        frame = nw.from_native(part, eager_only=True)
        plain = plain_columns(frame)
        for j in sorted([*plain.get("int64", []), *plain.get("uint64", [])]):
            yield j, block(frame, [j])[:, 0]
    elif getattr(part, "dtype", None) in (np.int64, np.uint64):
        yield from ((j, array_column(part, j)) for j in range(part.shape[1]))
